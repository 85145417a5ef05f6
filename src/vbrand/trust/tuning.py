"""The tuned numbers of what components mean, set by reasoning on simulated tables."""

from dataclasses import dataclass


@dataclass(frozen=True)
class MeaningTuning:
    """When a novel component is taken for a known class, or for a piece of one."""

    # probability; labelled rows that are less unusual as a sample of a component could be one
    unusual: float = 1e-4
    # factor of variances; sizes of scatters that differ by less, or by what chance makes of so few rows, are the same
    same_size: float = 1.5
    # the scatter that n rows show of p columns is too small by up to this times p / n, in the logarithm
    too_small: float = 2.0
    # probability; rows of a piece are at least so likely to be of the class as stage 1 learned it
    least_part: float = 0.4
    # rows drawn from a component to learn that
    draws: int = 1_000
    # centres that lie so many times farther from a class than its farthest rows are those of no piece of it; these lie
    # at sqrt(p) and `beyond` standard deviations
    far: float = 2.0
    beyond: float = 3.0
    # rows; a component that holds less is empty
    least_rows: float = 1.0
    # share of the rows of a class and a component together that the component has at the most: a class that has no rows
    # here is not to be found in whatever lies near it
    largest_share: float = 0.5


TUNED = MeaningTuning()
