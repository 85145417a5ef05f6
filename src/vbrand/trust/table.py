"""How many rows of each cell are novel: draws, given where unlabelled rows and hidden labelled ones fell.

    t_c ~ Poisson(sum_j N_j q_jc + nu_c)          unlabelled rows in cell c
    b_j ~ Multinomial(q_j),  q_j ~ Dirichlet      hidden rows of class j by cell
    N_j ~ Gamma about s w_j                       its rows; w: shares as labelled, or as the fit has them
    nu_c: nothing, or exponential                 novelty; of one component's cells the more, the more unlike they are
    P(any nu_c > 0) = min(p, 1/2),  p ~ U(0, 1)   of a novel component: pieces of classes make others doubtful

Hidden rows and unlabelled rows of one class are exchangeable, so whatever the fit does to one kind it does to the
other, however wrong its kernel is.
"""

from dataclasses import dataclass, replace
from functools import cache, cached_property

import numpy as np
from scipy.special import betainc, betaincinv, betaln, expit, gammaincc, gammainccinv, gammaln

from vbrand.sums import log_sum
from vbrand.trust.tuning import CheckTuning
from vbrand.types import BoolArray, FloatArray, IntArray

_TINY = 1e-300
# the chance of novelty in a novel component, at the least and at the most
_RARE, _EVEN = 1e-9, 0.5
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


@dataclass(frozen=True)
class _State:
    """What one sweep of all chains leaves to the next."""

    known: FloatArray  # (chains, J, C) N_j q_jc
    usual: FloatArray  # (chains, J) w
    worth: FloatArray  # (chains, J) k
    size: FloatArray  # (chains,) s
    chance: FloatArray  # (chains, T + 1) that the known components, or a novel one, hold novelty, pi


def _drawn(counts: Counts, generator: np.random.Generator, tuning: CheckTuning) -> Shares:
    classes, cells = counts.hidden.shape
    belief = counts.hidden + tuning.vague / cells  # (J, C) a / C + b
    # no belief in the size of a class is worth more rows than what is known of where they fall: (9.26)
    counts = replace(counts, rows_worth=np.minimum(counts.rows_worth, belief.sum(axis=1)))
    total = max(int(counts.unlabelled.sum()), 1)
    beyond = novelty_beyond(counts.unlabelled, counts.starts, tuning.novel_share * (total + counts.before))
    several = _by_width(counts.starts)
    to_deal = np.broadcast_to(counts.unlabelled, (tuning.chains, cells))

    state = _begun(counts, belief, total, generator, tuning)
    found, novel_rows = np.zeros((cells, classes + 1)), list[IntArray]()
    for step in range(tuning.table_sweeps):
        known, weighed = _cells_anew(state, belief, beyond, generator)
        novelty = beyond.draw(weighed, generator)
        chance = _draw_chance(state.chance, novelty[:, beyond.last] > 0.0, counts, generator)
        for own_cells in several:
            novelty[:, own_cells] = _rising(novelty[:, own_cells], weighed.known[:, own_cells])
        rates = np.concatenate([known, novelty[:, None]], axis=1).transpose(0, 2, 1)  # (chains, C, J + 1)
        rates /= rates.sum(axis=2, keepdims=True)
        # (9.8)  z_c | .. ~ Multinomial(t_c; N_j q_jc, nu_c)
        dealt = generator.multinomial(to_deal, rates)
        if step >= tuning.warm_up:
            found += rates.sum(axis=0)
            novel_rows.append(dealt[:, :, -1])
        own = dealt[:, :, :-1].transpose(0, 2, 1)  # (chains, J, C)
        state = _classes_anew(replace(state, chance=chance), counts, belief, own, generator)

    found /= found.sum(axis=1, keepdims=True)
    return Shares(found[:, :-1].copy(), found[:, -1].copy(), np.concatenate(novel_rows))


def _begun(
    counts: Counts, belief: FloatArray, total: int, generator: np.random.Generator, tuning: CheckTuning
) -> _State:
    """Return where chains begin: all rows are known, in the shares of classes that the fit has."""
    chains, (classes, cells) = tuning.chains, belief.shape
    usual, worth = (np.broadcast_to(given[0], (chains, classes)) for given in (counts.shares, counts.rows_worth))
    places = _dirichlet(np.broadcast_to(belief, (chains, classes, cells)), generator)  # q
    chance = np.append(1.0 - tuning.nothing_in_known, np.full(counts.starts.size - 2, _EVEN))
    # (14.10)  P(novelty of a component begins in the last batch) = P(there is any) n_b / n
    chance = np.broadcast_to(chance * total / (total + counts.before), (chains, chance.size))
    return _State(total * usual[:, :, None] * places, usual, worth, np.full(chains, float(total)), chance)


def _cells_anew(
    state: _State, belief: FloatArray, beyond: "_Novelty", generator: np.random.Generator
) -> tuple[FloatArray, "_Weighed"]:
    """Return the known rows of each cell, (chains, J, C), and what they weigh, drawn anew where that is likely.

    Where a class has few hidden rows much of a component may be known or novel: chains that draw only given the
    rows dealt out would wander from the one to the other for thousands of sweeps.
    """
    rows = np.maximum(state.known.sum(axis=2), _TINY)
    # (9.26)  x_j | .. ~ Gamma(A_j - k_j, N_j),  A_j = a + sum_c b_jc
    #         N_j q_jc | x ~ Gamma(a / C + b_jc, k_j / (s w_j) + x_j)
    apart = generator.standard_gamma(np.maximum(belief.sum(axis=1) - state.worth, 0.0)) / rows
    rate = state.worth / (state.size[:, None] * state.usual) + apart
    drawn = generator.standard_gamma(np.broadcast_to(belief, state.known.shape)) / rate[:, :, None]

    # (9.27)  l_c = sum_j N_j q_jc in the cells of a component are replaced with probability f(l') / f(l),  f = (9.6)
    both = beyond.weigh(np.stack([state.known.sum(axis=1), drawn.sum(axis=1)]), state.chance)
    gain = both.log_likely[1] - both.log_likely[0]  # (chains, G)
    better = np.log(generator.random(gain.shape)) < gain
    cells = better[:, beyond.group]  # (chains, C)
    return np.where(cells[:, None], np.maximum(drawn, _TINY), state.known), both.second_where(better, cells)


def _draw_chance(chance: FloatArray, some: BoolArray, counts: Counts, generator: np.random.Generator) -> FloatArray:
    """Return the chance of novelty, (chains, T + 1): in the known components as it is, in novel ones drawn.

    That others are pieces of classes speaks against novelty; that others are novel does not speak for it.
    """
    novel = some.shape[1] - 1
    total = max(int(counts.unlabelled.sum()), 1)
    lately = total / (total + counts.before)
    # novelty that began in an earlier batch is none of this one, and counts
    own = chance[:, 1:]
    earlier = generator.random(own.shape) < own * (1.0 / lately - 1.0) / (1.0 - own)
    held = (some[:, 1:] | earlier).sum(axis=1)
    # (9.25)  pi = min(p, 1/2),  p | .. ~ p^g (1 - p)^(n - g) below 1/2 and 2^-n above,  g of n components with novelty
    shape = 1.0 + held, 1.0 + novel - held
    low = betainc(*shape, _EVEN)
    log_odds = betaln(*shape) + np.log(low) + (novel + 1.0) * np.log(2.0)
    drawn = betaincinv(*shape, generator.random(held.size) * low)
    drawn = np.where(generator.random(held.size) < expit(log_odds), np.clip(drawn, _RARE, _EVEN), _EVEN) * lately
    return np.concatenate([chance[:, :1], np.broadcast_to(drawn[:, None], own.shape)], axis=1)


def _classes_anew(
    state: _State, counts: Counts, belief: FloatArray, own: IntArray, generator: np.random.Generator
) -> _State:
    """Return the state with shares, sizes and places of classes drawn, given the rows dealt to them, (chains, J, C)."""
    held = own.sum(axis=2)
    usual, worth = _draw_usual(counts, held, state.size, generator)
    # (9.10)  q_j | .. ~ Dirichlet(a / C + b_j + z_j),  N_j | .. ~ Gamma(k + sum z_j, 1 + k / (s w_j))
    places = _dirichlet(belief + own, generator)
    rate = 1.0 + worth / (state.size[:, None] * usual)
    rows = np.maximum(generator.standard_gamma(worth + held) / rate, _TINY)
    size = _draw_size(worth.sum(axis=1), (worth * rows / usual).sum(axis=1), counts, generator)
    known = np.maximum(rows[:, :, None] * places, _TINY)
    return replace(state, known=known, usual=usual, worth=worth, size=size)


def _draw_size(shape: FloatArray, rate: FloatArray, counts: Counts, generator: np.random.Generator) -> FloatArray:
    """Return the number of known rows that sizes of classes are shares of, (chains,)."""
    total = max(float(counts.unlabelled.sum()), 1.0)
    # (9.11)  1 / s | .. ~ Gamma(sum_j k_j, sum_j k_j N_j / w_j), between 1 and all rows
    high, low = gammaincc(shape, rate / total), gammaincc(shape, rate)
    inverse = gammainccinv(shape, low + (high - low) * generator.random(shape.size)) / rate
    # less than a row in all: there the tail is beyond what numbers can tell
    return np.asarray(1.0 / np.where(rate > shape, np.clip(inverse, 1.0 / total, 1.0), 1.0))


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


def _by_width(starts: IntArray) -> list[IntArray]:
    """Return the cells of components that have several, (components, cells), one array for each number of cells."""
    width = np.diff(starts)
    return [starts[:-1][width == cells][:, None] + np.arange(cells) for cells in np.unique(width[width > 1])]


def _rising(novelty: FloatArray, known: FloatArray) -> FloatArray:
    """Return the novelty of the cells of components, (.., C), so that its share rises from cell to cell.

    Novelty shows in rows that are unlike the labelled ones. Too many rows that are like them is something else: copies
    of labelled rows, for one.

    (9.7)  nu_c / l_c = max_{a <= c} min_{b >= c} sum_{a..b} nu / sum_{a..b} l:  the closest shares that rise
    """
    within = _from_each_on(known.shape[-1])  # (a, C)
    above, below = (np.where(within, rows[..., None, :], 0.0).cumsum(axis=-1) for rows in (novelty, known))  # to b
    shares = np.divide(above, below, out=np.full(above.shape, np.inf), where=within)  # (.., a, C)
    least = np.minimum.accumulate(shares[..., ::-1], axis=-1)[..., ::-1]
    return np.asarray(np.where(within, least, 0.0).max(axis=-2) * known)


@cache
def _from_each_on(cells: int) -> BoolArray:
    """Return which cells come after each, or are it."""
    return np.triu(np.ones((cells, cells), dtype=bool))


@dataclass(frozen=True)
class _Weighed:
    """Rates of known rows, and how likely the rows of cells are beside them."""

    known: FloatArray  # (.., chains, C) l
    above: FloatArray  # (.., chains, C) Q(t + 1, l (1 + 1 / m))
    steps: FloatArray  # (.., chains, G, m + 1) log P(rows of a group), novelty beginning at each place or nowhere
    log_likely: FloatArray  # (.., chains, G) of all of these

    def second_where(self, groups: BoolArray, cells: BoolArray) -> "_Weighed":
        """Return, of two for each group, the second where it is chosen, (chains, G), and else the first.

        `cells` are those of the chosen groups, (chains, C).
        """
        parts, chosen = (self.known, self.above, self.steps, self.log_likely), (cells, cells, groups[..., None], groups)
        return _Weighed(*(np.where(which, part[1], part[0]) for part, which in zip(parts, chosen, strict=True)))


@dataclass(frozen=True)
class _Novelty:
    """What chances of the novelty of cells are made of, but for the rates of known rows.

    The cells of the known components are one group, and those of each novel component.

    (9.5)  no cell of a group holds novelty, or with probability pi the last of them, or the last two, .., each as
           likely, but of several cells of the known components never the first: nu_c is exponential with this mean
    """

    rows: IntArray  # (C,) t
    shape: FloatArray  # (C,) t + 1
    mean: float  # m
    stretch: float  # 1 + 1 / m
    log_factorial: FloatArray  # (C,) log t!
    log_slab: FloatArray  # (C,) -log m - (t + 1) log(1 + 1 / m)
    group: IntArray  # (C,) the group of each cell
    place: IntArray  # (C,) and its place there, of as many as the largest has; the last cell has the last one
    last: IntArray  # (G,) the last cell of each group
    log_begins: FloatArray  # (G, m) how likely novelty begins at each place, if there is any

    def weigh(self, known: FloatArray, chance: FloatArray) -> _Weighed:
        """Return how likely rows are, given known rates, (.., chains, C), and chances of novelty, (chains, G)."""
        known = np.maximum(known, _TINY)
        log_none = self.rows * np.log(known) - known - self.log_factorial
        # (9.6)  int Poisson(t; l + nu) exp(-nu / m) / m dnu = e^(l / m) / m (1 + 1/m)^-(t + 1) Q(t + 1, l (1 + 1 / m))
        above = gammaincc(self.shape, known * self.stretch)
        log_some = self.log_slab + known / self.mean + np.log(np.maximum(above, _TINY))
        steps = self._steps(log_none, log_some, chance)
        return _Weighed(known, above, steps, log_sum(steps, axis=-1))

    def draw(self, weighed: _Weighed, generator: np.random.Generator) -> FloatArray:
        """Return draws of nu, (chains, C)."""
        up_to = np.exp(weighed.steps - weighed.log_likely[:, :, None]).cumsum(axis=2)
        begins = (generator.random(weighed.log_likely.shape)[:, :, None] > up_to).sum(axis=2)  # (chains, G)
        some = np.nonzero(self.place >= begins[:, self.group])
        # (l + nu)(1 + 1 / m) is a Gamma(t + 1) above l (1 + 1 / m)
        share = np.maximum(weighed.above * generator.random(weighed.known.shape), _TINY)[some]
        novelty = np.zeros(weighed.known.shape)
        drawn = gammainccinv(self.shape[some[1]], share)
        novelty[some] = np.maximum(drawn / self.stretch - weighed.known[some], _TINY)
        return novelty

    def _steps(self, log_none: FloatArray, log_some: FloatArray, chance: FloatArray) -> FloatArray:
        """Return how likely novelty is that begins at each place of a group, or (last) nowhere, (.., G, m + 1)."""
        groups, places = self.log_begins.shape
        none, some = (np.zeros((*log_none.shape[:-1], groups, places)) for _ in range(2))
        none[..., self.group, self.place], some[..., self.group, self.place] = log_none, log_some
        steps = np.zeros((*log_none.shape[:-1], groups, places + 1))
        steps[..., 1:] = none.cumsum(axis=-1)
        steps[..., :-1] += some[..., ::-1].cumsum(axis=-1)[..., ::-1] + np.log(chance)[:, :, None] + self.log_begins
        steps[..., -1] += np.log1p(-chance)
        return steps


def novelty_beyond(t: IntArray, starts: IntArray, mean: float) -> _Novelty:
    """Return what novelty is drawn from, for so many rows in each cell, (C,), and first cells of components."""
    mean = max(mean, 1.0)
    stretch, shape = 1.0 + 1.0 / mean, np.asarray(t + 1.0, dtype=np.float64)
    log_slab = np.asarray(-np.log(mean) - shape * np.log(stretch))

    width = np.diff(starts)
    group, most = np.repeat(np.arange(width.size), width), int(width.max())
    place = np.arange(t.size) - starts[1:][group] + most
    # among the known components rows that are most like the labelled ones are known: others are compared with them
    may = width - (np.arange(width.size) == 0) * (width > 1)
    log_begins = np.where(np.arange(most) >= most - may[:, None], -np.log(may)[:, None], -np.inf)
    return _Novelty(t, shape, mean, stretch, gammaln(shape), log_slab, group, place, starts[1:] - 1, log_begins)


def _dirichlet(parameters: FloatArray, generator: np.random.Generator) -> FloatArray:
    """Return one draw per vector along the last axis."""
    drawn = generator.standard_gamma(parameters) + _TINY
    return np.asarray(drawn / drawn.sum(axis=-1, keepdims=True))
