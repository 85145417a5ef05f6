"""The tuned numbers of stage 1, each with its unit and what speaks for it.

Three of them (`strength`, `columns_per_row`, and the degrees of freedom of the default kernel) were chosen on the eight
first sets of the benchmark: benchmarks/real.py --choose prints the grid and what is left when a set had no say. The
others were set by reasoning or on simulated tables.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Stage1Tuning:
    """What labelled rows are believed to say."""

    # --- how much a known class is worth ---
    # rows per parameter of a component below which it is worth more than its labelled rows, and how many times more at
    # the most: there a novel component costs more than a known one that wanders off to a novel class near by
    strength: float = 10.0
    # rows; scatters of different classes are never believed to be more alike than so many rows would make them. More
    # would say that a novel class has just the scatter of the known ones
    most_alike: float = 29.0
    # values between 1 and `most_alike` that are tried, evenly in the logarithm
    alike_steps: int = 20

    # --- whitening: the scatter within classes that all of them share ---
    # rows; the pooled scatter is that of the rows and of so many spherical ones, so that it can be inverted
    spherical_rows: float = 5.0
    # rows; what the pooled centre is believed to be worth: nothing, but for the arithmetic
    no_belief: float = 1e-6
    # share of a Student t with `outlier_dof` degrees of freedom beyond which a row does not take part: tails that heavy
    # are ordinary in real classes
    outlying: float = 0.999
    outlier_dof: float = 5.0
    # column scales from the median at which rows are cut where most of a class lies on one point or in one plane
    far_out: float = 10.0

    # --- modes of a class ---
    # components for them and for outliers
    most_components: int = 8
    # share of a class; less of it is no mode, unless it has as many rows as make a group of stage 2 more than outliers,
    # and a smaller share. Of peaked classes modes under a tenth are up to two fifths of the rows, and stage 2 calls
    # novel what stage 1 has left out
    least_share: float = 0.1
    least_rows: int = 5
    least_share_of_many: float = 0.05
    # rows that the belief about a mode's place, and about its scatter being the average one, are worth
    vague: float = 0.01
    mode_alike: float = 9.0
    # share of a class; a smaller mode is doubted. It is dropped if the logarithm of its variance per column exceeds
    # that of the class by `much_wider` (outliers that found together), or if it is as small a share of another class's
    # mode, and most of its rows lie nearer to the centre of that than the share `within` of its own do (wrong labels)
    doubted_share: float = 0.25
    much_wider: float = 2.0
    within: float = 0.99

    # --- columns of categories ---
    # share of labels that may be wrong: a row that is far likelier in another class than in its own hardly counts
    wrong_labels: float = 0.05
    # turns between what levels are like and which rows count for them: shares settle in two or three
    level_steps: int = 3

    # --- wide tables ---
    # columns that a row of an average class can speak for; more are reduced
    columns_per_row: float = 0.5
    # two would hardly tell classes apart: with 3 or 5 rows of a class, on sets that had no say, five find more novel
    # rows and get more known ones right
    fewest_columns: int = 5
    # folds by which what the components leave over of labelled rows is measured: their own axes would leave too little
    folds: int = 5
    # scales from the median of its class beyond which a value counts as so far when axes are chosen
    farthest_for_axes: float = 30.0
    # turns between axes and what they lead to expect in missing cells: a tenth of the cells settles in ten
    turns_for_axes: int = 10
    # one of so many cells is hidden to find out how many axes tell it best, and the turns for each number of axes
    hidden_cells: int = 10
    turns_of_axes: int = 3
    # share of the largest size below which that of an axis is rounding
    rounding: float = 1e-6
    # of a column's scale: where columns add up to others finer differences are arithmetic; with less, wild rows leave
    # no digits across the plane
    finest: float = 1e-3
    # share of labelled rows that leave so little over that it counts as more: less than that is nothing new
    little: float = 0.1

    # --- columns whose classes are skewed ---
    # how far from the end of a column its scale may be straight before it bends, of the range: from hardly bent at all
    # to powers and logarithms over three decades
    reaches: tuple[float, ...] = tuple(4.0**-k for k in range(7))
    # powers of the distance from there, 0 for its logarithm: that of a Gamma is 1/3
    powers: tuple[float, ...] = (0.0, 1 / 3, 2 / 3)
    # share of the values of a class at either end that have no say
    outermost: float = 0.025
    # share of a class; a value that more of its rows have is a level of its own, as "none" is, and says nothing of the
    # scale
    atom: float = 0.1
    # rows of a class that are asked
    rows_for_skew: int = 250


TUNED = Stage1Tuning()
