"""The tuned numbers of the check, each with its unit and what speaks for it.

They were set while looking at plain splits of the benchmark, where answers hardly change within a factor of two of any
of them: `benchmarks/real.py --choose` prints that, and what is left when a set had no say.
"""

from dataclasses import dataclass

from vbrand.inference.tuning import TUNED as SEARCH


@dataclass(frozen=True)
class CheckTuning:
    """How labelled rows are hidden, and what is believed before they are seen again."""

    # --- hiding ---
    # parts of the labelled rows, hidden one after the other: a tenth weakens stage 1 little
    folds: int = 10
    # rows; a class with fewer keeps them all. Two that are left of three share their scatter with the other classes,
    # and answers that nothing checks are worse: most rows of a class with three labelled ones were called novel
    fewest_rows: int = 3
    # labelled rows per class that are kept for checks: beyond that shares are known to a few per cent
    witnesses: int = 1_000
    # unlabelled rows that a fold runs over; of more an even sample
    rows: int = 20_000
    # relative gain of the bound below which the ascent of a fold ends, and its sweeps at the most
    loose: float = 1e-6
    sweeps: int = 200
    # nats, times the square root of its rows: what a novel component may be worth and still be doubted in folds. The
    # search takes as much for chance when it goes on from a sample to all rows
    much: float = SEARCH.much

    # --- cells: components, cut by how unlike the labelled rows a row is ---
    # cells of the known components together, and of a novel component, at the most
    cells: int = 8
    # unlabelled rows, and hidden ones, per cell at the least
    cell_rows: int = 30
    cell_witnesses: int = 10

    # --- trees that tell unlabelled from labelled rows ---
    # rows of either kind that they are grown from, at the most, and in a leaf at the least
    tree_rows: int = 5_000
    leaf_rows: int = 5

    # --- beliefs about the table of cells ---
    # rows that the belief about where a class's rows fall is worth, spread evenly over all cells
    vague: float = 1.0
    # shape of the Gamma that the size of a class is believed to have about its labelled share: sizes may well differ by
    # half, and hardly by a factor of five
    shift: float = 5.0
    # steps towards the shares of classes that the fit has
    share_steps: int = 50
    # share of the rows that novelty in a cell is expected to have, if there is any
    novel_share: float = 0.1
    # probability that there is none in the known components; that of novel ones is learned from all of them
    nothing_in_known: float = 0.9
    # chains, sweeps of each, and how many of them are left out; chains run side by side: many short ones cost less
    chains: int = 40
    table_sweeps: int = 75
    warm_up: int = 25


TUNED = CheckTuning()
