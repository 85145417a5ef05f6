"""The tuned numbers of the search and of the sampler, each with its unit and what speaks for it.

Those of the search change what is tried and how long, never what is better: the bound alone decides.
benchmarks/search.py judges them together: on its 65 sets the bound of the search is at most .1 nats below that of a
start at the true labels.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class SearchTuning:
    """How long, how often and where the search looks."""

    # --- one ascent ---
    # relative gain of the bound below which an ascent within the search ends; a move must gain more. The last ascent
    # goes on to the user's tolerance, so this is only the precision of comparisons: .01 nats at a bound of -10,000
    loose: float = 1e-6
    # relative fall of the bound that the rounding of sums over many rows can make
    rounding: float = 1e-8
    # an ascent is hopeless when it is behind by more than so many times its last gain: gains shrink geometrically, and
    # a rate of .95 per sweep leaves 20 times the last one to come
    far_behind: float = 20.0
    # sweeps before it is judged: the first gains are those of a start, not of a rate
    sweeps_to_judge: int = 3

    # --- what is tried ---
    # rows; a novel component that holds less is empty, for no row is more likely in it than out of it
    empty: float = 0.5
    # share of its rows, beside one row, by which a component may change and count as the same
    same_rows: float = 0.03
    # standard deviations by which its centre may move, root mean square over columns
    same_place: float = 0.1
    # nats; births and resplits that promise less are not tried: the fit on a component's rows is too low by entropy
    least_hope: float = -2.0
    # nats; a merge or a release may gain more than its statistics say, for rows find better places afterwards
    hidden_gain: float = 10.0
    # nats that known components must have paid on average to leave their priors (6.7), before they begin again there or
    # are split again with novel ones: with `VBrand()` most pay 1 to 10, on Statlog with the paper's priors 250
    least_moved: float = 10.0
    # proposals; an end for tables that never come to rest: Shuttle (2,000 rows), with the most groups, has 90
    most_proposals: int = 1_000
    # pairs of novel components that are split again together, the nearest ones
    pairs: int = 3
    # rows; longer tables are searched through at most `sample` of them first, evenly: of a group of .1 % about 20
    many_rows: int = 100_000
    sample: int = 20_000
    # nats per square root of the rows that a move is about; one that loses more on the sample is not tried over all
    # rows: what a row adds to a gain differs by a few nats from row to row, so this is some three standard deviations
    much: float = 10.0

    # --- fits on the rows of one component ---
    # rows by which a birth is judged, an even sample of the component's
    local_rows: int = 4_000
    # guesses that are refined, of about thirty: those with the highest bound before any sweep
    local_starts: int = 6
    # nats; guesses whose values are nearer than this are one guess: rounding makes less, another row in a piece more
    same_guess: float = 1e-6
    # sweeps of each: they rank the guesses, and sweeps over all rows finish the best
    local_sweeps: int = 15
    # rows; components with fewer are neither split nor released
    fewest_rows: int = 4
    # rows; a piece of a split that holds less is none
    fewest_in_piece: float = 1.0
    # nats; splits whose bounds are nearer than this are one split
    same_split: float = 0.05

    # --- guesses ---
    # pieces of k-means at the most, and its steps
    most_blobs: int = 5
    lloyd_steps: int = 10
    # axes of lowest kurtosis along which k-means is tried: clusters apart make flat or two-humped axes
    flattest: int = 2
    # shells: shares of rows that lie within
    within: tuple[float, ...] = (0.5, 0.8, 0.95)
    # cores: shares of rows in the densest place, looked for around so many rows
    cores: tuple[float, ...] = (0.15, 0.35)
    looked_at: int = 200
    # crossings: pairs of axes at either end of the list
    crossings: int = 3
    # share of the largest standard deviation below which that of an axis is rounding
    no_spread: float = 1e-7

    # --- starts of the paper's protocol ---
    # factors of novelty weight, degrees of freedom and mean strength: the range of the paper's Latin hypercube
    lowest_multipliers: tuple[float, float, float] = (0.1, 1.0, 1.0)
    highest_multipliers: tuple[float, float, float] = (1.0, 10.0, 10.0)
    # rows of a long table that k-means sees: the centre of 10,000 is known to 1 % of a standard deviation
    rows_for_k_means: int = 50_000


@dataclass(frozen=True)
class SamplerTuning:
    """How often splits and merges are tried: they change how fast chains mix, never what they sample.

    benchmarks/sampler.py has the evidence: on wine, chains without them disagree about the number of groups.
    """

    # operations that a move may always cost: next to nothing beside a sweep
    cheap: float = 20_000.0
    # share of the rows that a move may always take; longer ones are tried less often
    largest_part: float = 1 / 8
    # operations per row of a move: p^2 of a triangular system, and these
    beside_columns: float = 20.0
    # share of the rows that a move is reckoned to take
    usual_part: float = 0.25
    # moves per sweep at the most; 0 leaves sweeps alone
    most_moves: int = 3


TUNED = SearchTuning()
TUNED_SAMPLER = SamplerTuning()
