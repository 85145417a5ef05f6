"""How many rows of each cell are novel: draws, given where unlabelled rows and hidden labelled ones fell.

    t_c ~ Poisson(sum_j N_j q_jc + nu_c)          unlabelled rows in cell c
    b_j ~ Multinomial(q_j),  q_j ~ Dirichlet      hidden rows of class j by cell
    N_j ~ Gamma about s w_j                       its rows; w: shares as labelled, or as the fit has them
    nu_c: nothing, or exponential                 novelty; of one component's cells the more, the more unlike they are

Hidden rows and unlabelled rows of one class are exchangeable, so whatever the fit does to one kind it does to the
other, however wrong its kernel is.
"""

import itertools
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.special import expit, gammaincc, gammainccinv, gammaln

from vbrand.trust.tuning import CheckTuning
from vbrand.types import FloatArray, IntArray

_TINY = 1e-300
# classes whose rows agree in so many digits tie: the others are rounding
_DIGITS = 6


@dataclass(frozen=True)
class Counts:
    """The table: unlabelled rows by cell, hidden rows by class and cell, and which cells are of one component."""

    unlabelled: IntArray  # (C,)
    hidden: FloatArray  # (J, C)
    starts: IntArray  # the first cell of the known components together, of each novel one, and the number of cells
    shares: FloatArray  # (2, J) of the classes among known rows: as the fit has them, and as labelled
    rows_worth: FloatArray  # (2, J) k: the rows that each of these shares is worth
    before: float = 0.0  # rows of earlier batches, if the table is of the last one

    @cached_property
    def worth(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return k, log Gamma(k) and k log k, (2, 1, J)."""
        k = self.rows_worth[:, None]
        return k, gammaln(k), k * np.log(k)


@dataclass(frozen=True)
class Shares:
    """What the rows of each cell are, as means over draws, and draws of how many are novel."""

    classes: FloatArray  # (C, J)
    novel: FloatArray  # (C,)
    novel_rows: IntArray  # (draws, C)


def draw_shares(counts: Counts, generator: np.random.Generator, tuning: CheckTuning) -> Shares:
    """Return what the rows of each cell are, by Gibbs sweeps of several chains side by side.

    Classes are drawn in the order of what they hold: other names for them give the same draws.
    """
    order = np.lexsort(np.round(np.vstack([counts.hidden.T, counts.shares]), _DIGITS))
    shares, worth = counts.shares[:, order], counts.rows_worth[:, order]
    drawn = _drawn(replace(counts, hidden=counts.hidden[order], shares=shares, rows_worth=worth), generator, tuning)
    classes = np.empty_like(drawn.classes)
    classes[:, order] = drawn.classes
    return replace(drawn, classes=classes)


def _drawn(counts: Counts, generator: np.random.Generator, tuning: CheckTuning) -> Shares:
    t, (classes, cells), chains = counts.unlabelled, counts.hidden.shape, tuning.chains
    total = max(int(t.sum()), 1)
    so_far = total + counts.before
    belief = counts.hidden + tuning.vague / cells  # (J, C)
    of_known = np.arange(cells) < counts.starts[1]
    nothing = np.where(of_known, tuning.nothing_in_known, tuning.nothing_in_novel)
    # (14.10)  P(novelty of a cell begins in the last batch) = P(there is any) n_b / n
    nothing = 1.0 - (1.0 - nothing) * total / so_far

    # shares as the fit has them come first: from those as labelled, chains would not find a class that grew tenfold
    usual, shape = (
        np.broadcast_to(given[0], (chains, classes)) for given in (counts.shares, counts.rows_worth)
    )  # w, k
    size = np.full(chains, float(total))  # s
    rows = total * usual  # N
    places = _dirichlet(np.broadcast_to(belief, (chains, classes, cells)), generator)  # q
    found, novel_rows = np.zeros((cells, classes + 1)), list[IntArray]()
    beyond = novelty_beyond(t, nothing, tuning.novel_share * so_far)
    several = [slice(*ends) for ends in itertools.pairwise(counts.starts.tolist()) if ends[1] > ends[0] + 1]
    to_deal = np.broadcast_to(t, (chains, cells))

    for step in range(tuning.table_sweeps):
        known = np.maximum(rows[:, :, None] * places, _TINY)  # (chains, J, C)
        known_rows = known.sum(axis=1)
        novelty = beyond.draw(known_rows, generator)
        for own_cells in several:
            novelty[:, own_cells] = _rising(novelty[:, own_cells], known_rows[:, own_cells])
        rates = np.concatenate([known, novelty[:, None]], axis=1).transpose(0, 2, 1)  # (chains, C, J + 1)
        rates /= rates.sum(axis=2, keepdims=True)
        # (9.8)  z_c | .. ~ Multinomial(t_c; N_j q_jc, nu_c)
        dealt = generator.multinomial(to_deal, rates)
        if step >= tuning.warm_up:
            found += rates.sum(axis=0)
            novel_rows.append(dealt[:, :, -1])

        own = dealt[:, :, :-1].transpose(0, 2, 1)  # (chains, J, C)
        held = own.sum(axis=2)
        usual, shape = _draw_usual(counts, held, size, generator)
        # (9.10)  q_j | .. ~ Dirichlet(a / C + b_j + z_j),  N_j | .. ~ Gamma(k + sum z_j, 1 + k / (s w_j))
        places = _dirichlet(belief + own, generator)
        rate = 1.0 + shape / (size[:, None] * usual)
        rows = np.maximum(generator.standard_gamma(shape + held) / rate, _TINY)
        # (9.11)  1 / s | .. ~ Gamma(sum_j k_j, sum_j k_j N_j / w_j), between 1 and all rows
        inverse = generator.standard_gamma(shape.sum(axis=1)) / (shape * rows / usual).sum(axis=1)
        size = np.minimum(np.maximum(1.0 / np.maximum(inverse, _TINY), 1.0), total)

    found /= found.sum(axis=1, keepdims=True)
    return Shares(found[:, :-1].copy(), found[:, -1].copy(), np.concatenate(novel_rows))


def rows_of_classes(
    held: FloatArray, fell: FloatArray, hidden: FloatArray, usual: FloatArray, tuning: CheckTuning
) -> FloatArray:
    """Return how many unlabelled rows each class has, (J,): hidden rows say which components take which of them.

    `held` are rows of the components of each class, `fell` hidden rows by class and by class of component, of as many
    as are `hidden`, and `usual` what one more hidden row would say.
    """
    each = 1.0 / (hidden + 1.0)
    rows, share = usual, fell * each[:, None]  # N, P
    for _ in range(tuning.share_steps):
        # (9.4)  N_j = sum_i H_i N_j P_ji / sum_l N_l P_li / sum_i P_ji
        taken = rows * (share @ (held / np.maximum(rows @ share, np.finfo(np.float64).tiny)))
        rows = (taken + usual * each) / (share.sum(axis=1) + each)
    return rows


def _draw_usual(
    counts: Counts, held: IntArray, size: FloatArray, generator: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Return which kind of class shares each chain believes in, and how firmly, given the rows of each class.

    Shares, the rows that they are worth, and the rows are (chains, J).

    (9.9)  P(w, k | z, s) ~ prod_j int Poisson(z_j; N) Gamma(N; k_j, k_j / (s w_j)) dN
                          ~ prod_j Gamma(k_j + z_j) / Gamma(k_j) k_j^k_j (s w_j)^z_j / (k_j + s w_j)^(k_j + z_j)
    """
    k, log_gamma, log_power = counts.worth  # (2, 1, J)
    mean = size[:, None] * counts.shares[:, None]  # (2, chains, J)
    both = k + held
    log_odds = gammaln(both) - log_gamma + log_power + held * np.log(mean) - both * np.log(k + mean)
    by_kind = log_odds.sum(axis=2)  # (2, chains)
    as_labelled = (generator.random(size.size) < expit(by_kind[1] - by_kind[0])).astype(np.int64)
    return counts.shares[as_labelled], counts.rows_worth[as_labelled]


def _rising(novelty: FloatArray, known: FloatArray) -> FloatArray:
    """Return the novelty of cells, (chains, C), so that its share rises from cell to cell.

    Novelty shows in rows that are unlike the labelled ones. Too many rows that are like them is something else: copies
    of labelled rows, for one.

    (9.7)  nu_c / l_c = max_{a <= c} min_{b >= c} sum_{a..b} nu / sum_{a..b} l:  the closest shares that rise
    """
    cells = known.shape[1]
    within = np.triu(np.ones((cells, cells), dtype=bool))[:, None]  # (a, 1, C): the cells from a on
    above, below = (np.where(within, rows, 0.0).cumsum(axis=2) for rows in (novelty, known))  # (a, chains, C), to b
    shares = np.divide(above, below, out=np.full(above.shape, np.inf), where=within)
    least = np.minimum.accumulate(shares[:, :, ::-1], axis=2)[:, :, ::-1]
    return np.asarray(np.where(within, least, 0.0).max(axis=0) * known)


@dataclass(frozen=True)
class _Novelty:
    """What chances of the novelty of cells are made of, but for the rates of known rows.

    (9.5)  nu_c = 0 with probability `nothing`, else exponential with this mean
    """

    rows: IntArray  # (C,) t
    shape: FloatArray  # (C,) t + 1
    mean: float  # m
    stretch: float  # 1 + 1 / m
    log_none: FloatArray  # (C,) log of the chance of nothing
    log_factorial: FloatArray  # (C,) log t!
    log_some: FloatArray  # (C,) log of the chance of something, over m
    log_stretch: FloatArray  # (C,) (t + 1) log(1 + 1 / m)

    def draw(self, known: FloatArray, generator: np.random.Generator) -> FloatArray:
        """Return draws of nu given the rates of known rows, both (chains, C)."""
        known = np.maximum(known, _TINY)
        log_none = self.log_none + self.rows * np.log(known) - known - self.log_factorial
        # (9.6)  int Poisson(t; l + nu) exp(-nu / m) / m dnu = e^(l / m) / m (1 + 1/m)^-(t + 1) Q(t + 1, l (1 + 1 / m))
        above = gammaincc(self.shape, known * self.stretch)
        log_some = self.log_some + known / self.mean - self.log_stretch
        log_some = log_some + np.log(np.maximum(above, _TINY))

        some = np.nonzero(generator.random(known.shape) < expit(log_some - log_none))
        # (l + nu)(1 + 1 / m) is a Gamma(t + 1) above l (1 + 1 / m)
        share = np.maximum(above * generator.random(known.shape), _TINY)[some]
        novelty = np.zeros(known.shape)
        drawn = gammainccinv(self.shape[some[1]], share)
        novelty[some] = np.maximum(drawn / self.stretch - known[some], 0.0)
        return novelty


def novelty_beyond(t: IntArray, nothing: FloatArray, mean: float) -> _Novelty:
    """Return what novelty is drawn from, for so many rows in each cell, (C,)."""
    mean = max(mean, 1.0)
    stretch, shape = 1.0 + 1.0 / mean, np.asarray(t + 1.0, dtype=np.float64)
    log_some = np.log1p(-nothing) - np.log(mean)
    return _Novelty(
        t, shape, mean, stretch, np.log(nothing), gammaln(shape), log_some, np.asarray(shape * np.log(stretch))
    )


def _dirichlet(parameters: FloatArray, generator: np.random.Generator) -> FloatArray:
    """Return one draw per vector along the last axis."""
    drawn = generator.standard_gamma(parameters) + _TINY
    return np.asarray(drawn / drawn.sum(axis=-1, keepdims=True))
