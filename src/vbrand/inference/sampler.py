"""The slice sampler of Brand (Denti, Cappozzo and Greselin 2021; Kalli, Griffin and Walker 2011).

The exact model without truncation. Between two sweeps the state of a chain is who lies with whom, the concentration and
cells that are missing; all else is drawn anew from its conditional in every sweep. Sweeps come in legs: a leg starts
from those alone and has random numbers of its own, so a chain that was stopped goes on from its last leg as if it had
not been.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray

from vbrand.inference.cells import Absent, begun, draw_rows, filled
from vbrand.inference.kernel import Slices, draw, statistics_of_labels
from vbrand.inference.rows import Rows
from vbrand.inference.split_merge import moves_per_sweep, reseated
from vbrand.inference.tuning import TUNED_SAMPLER, SamplerTuning
from vbrand.model.components import posterior_from, stacked
from vbrand.model.conditionals import (
    Drawn,
    draw_components,
    draw_concentration,
    draw_depths,
    draw_log_weights,
    draw_places,
    slice_scores,
)
from vbrand.model.prior import Prior, with_novelties
from vbrand.model.statistics import Statistics
from vbrand.threads import one_thread
from vbrand.types import FloatArray, IntArray, Labels, SmallInts

# a run has about so many legs, of at most so many sweeps
_LEGS = 100
_LONGEST_LEG = 1_000
# places on the stick that a sweep may look at
_MOST_PLACES = 10_000


@dataclass(frozen=True)
class Target:
    """What is sampled: the posterior under this prior."""

    prior: Prior  # the known components and one novel one, which stands for all
    concentration: float | tuple[float, float]  # a number, or shape and rate of its Gamma
    kappa: float  # of the slice sequence: larger allows a row more novel components in a sweep

    @property
    def mean_concentration(self) -> float:
        """Return the concentration that is expected before any row is seen."""
        value = self.concentration
        return value[0] / value[1] if isinstance(value, tuple) else value


@dataclass(frozen=True)
class State:
    """Where a chain is: everything that the next sweep needs."""

    labels: NDArray[np.int32]  # (n,) 0..J-1 known components, J.. novel clusters, all of which hold rows
    concentration: float
    statistics: Statistics  # of the rows of each
    cells: FloatArray | None = None  # (cells,) that are missing, row after row, as drawn last


@dataclass(frozen=True)
class Sample:
    """What a sweep drew on its way."""

    weights: FloatArray  # (J + 1,) novelty last
    components: Drawn  # known ones, then all places on the stick
    places: NDArray[np.int32]  # (n,) the component of each row among them


@dataclass(frozen=True)
class Schedule:
    """How many sweeps, and which of them are kept."""

    draws: int
    burn: int
    thin: int

    @property
    def sweeps(self) -> int:
        """Return the number of sweeps of a chain."""
        return self.burn + self.draws * self.thin

    @property
    def legs(self) -> list[range]:
        """Return the sweeps of each leg."""
        length = min(_LONGEST_LEG, -(-self.sweeps // _LEGS))
        return [range(first, min(first + length, self.sweeps)) for first in range(0, self.sweeps, length)]

    def keeps(self, sweep: int) -> bool:
        """Return whether the draws of a sweep are kept."""
        return sweep >= self.burn and (sweep - self.burn) % self.thin == self.thin - 1


@dataclass(frozen=True)
class Leg:
    """The kept draws of some sweeps in a row, and where the chain was at their end."""

    kept_labels: SmallInts | Path  # (draws, n) in as few bytes as there are components; or the file that holds them
    weights: FloatArray  # (draws, J + 1) novelty last
    concentration: FloatArray  # (draws,)
    known_means: FloatArray  # (draws, J, p) in working coordinates
    last_labels: NDArray[np.int32]  # (n,)
    last_concentration: float
    last_cells: FloatArray | None = None  # that are missing, row after row

    @property
    def draws(self) -> int:
        """Return the number of kept draws."""
        return self.concentration.size

    @property
    def labels(self) -> SmallInts:
        """Return the labels of the rows in each kept draw, (draws, n); those on disk are mapped, not read."""
        if not isinstance(self.kept_labels, Path):
            return self.kept_labels
        try:
            mapped: SmallInts = np.load(self.kept_labels, mmap_mode="r" if self.draws else None)
        except FileNotFoundError:
            raise FileNotFoundError(
                f"{self.kept_labels.parent} no longer holds the draws of this discovery; keep the folder as long as "
                "they are needed."
            ) from None
        return mapped


# what is remembered of a leg, if it has been done before; and a place to keep it
Recall = Callable[[int, int], Leg | None]
Keep = Callable[[int, int, Leg], Leg]


def state_of(rows: Rows, known: int, labels: Labels, concentration: float, cells: FloatArray | None = None) -> State:
    """Return the state in which rows lie together as these labels say; novel ones may be any numbers from J up.

    Missing cells are as given, or as in the middle of their components.
    """
    novel = labels >= known
    dense = labels.astype(np.int32)
    names, dense[novel] = np.unique(labels[novel], return_inverse=True)
    dense[novel] += known
    count = known + names.size
    cells = begun(rows, dense, count) if cells is None else cells
    return State(dense, concentration, statistics_of_labels(filled(rows, cells), dense, count), cells)


def step(
    rows: Rows,
    target: Target,
    state: State,
    generator: np.random.Generator,
    threads: int = 1,
    tuning: SamplerTuning = TUNED_SAMPLER,
) -> tuple[State, Sample]:
    """Return the state after one sweep, and what it drew on its way."""
    prior, known = target.prior, target.prior.known
    whole, absent = filled(rows, state.cells), Absent.of(rows)
    for _ in range(moves_per_sweep(len(rows), rows.columns, tuning)):
        moved = reseated(whole, prior, state.labels, state.concentration, generator, tuning)
        if moved is not None:
            state = state_of(rows, known, moved, state.concentration, state.cells)

    counts = state.statistics.counts.astype(np.int64)
    clusters = counts.size - known

    # given the partition: concentration, places on the stick, slices, weights, components
    concentration = draw_concentration(
        target.concentration, state.concentration, clusters, int(counts[known:].sum()), generator
    )
    places = draw_places(counts[known:], concentration, generator)
    depths = draw_depths(np.append(np.full(known, -1), places)[state.labels], target.kappa, generator)
    held = np.zeros(_checked(depths.max(initial=0)), dtype=np.int64)  # rows of each place that some row may go to
    held[places] = counts[known:]
    weights, log_weights = draw_log_weights(prior.weights.dirichlet, counts[:known], held, concentration, generator)
    drawn = _draw_all(prior, state.statistics, places, held.size, generator)

    # given those: where each row goes
    at = np.append(np.arange(known), known + places).astype(np.int32)[state.labels]
    slices = Slices(known, depths, generator.random(len(rows)))
    scores = slice_scores(drawn, log_weights, known, target.kappa)
    cells = state.cells
    if absent is None or absent.places.size < len(rows):
        swept = draw(whole, scores, at, slices, threads)
        winners, statistics = swept.winners, swept.statistics
    if absent is not None:
        others, drawn_cells = draw_rows(absent, scores, slices, generator)
        winners = others.astype(np.int32) if others.size == len(rows) else winners
        winners[absent.places] = others
        cells = None if cells is None else drawn_cells
        statistics = statistics_of_labels(filled(rows, cells), winners, known + held.size)

    kept = np.append(np.arange(known), known + np.flatnonzero(statistics.counts[known:]))
    number = np.zeros(known + held.size, dtype=np.int32)
    number[kept] = np.arange(kept.size)
    new = State(number[winners], concentration, statistics.reordered(kept), cells)
    return new, Sample(weights, drawn, winners)


def _checked(deepest: int) -> int:
    if deepest > _MOST_PLACES:
        raise ValueError(
            f"rows may go to {deepest:,} novel components, more than the {_MOST_PLACES:,} there is room for. A smaller "
            "concentration or a smaller kappa needs fewer."
        )
    return deepest


def _draw_all(
    prior: Prior, statistics: Statistics, places: IntArray, deepest: int, generator: np.random.Generator
) -> Drawn:
    """Return means and covariances of known components and all places; empty ones come from the base measure."""
    posterior = posterior_from(with_novelties(prior, places.size).components, statistics)
    base = prior.components.reordered(np.array([prior.known]))
    last = prior.known + places.size  # the base measure, after all that hold rows
    order = np.append(np.arange(prior.known), np.full(deepest, last))
    order[prior.known + places] = prior.known + np.arange(places.size)
    factor = np.concatenate([posterior.factor, prior.components.factor[[prior.known]]])
    return draw_components(stacked(posterior, base).reordered(order), factor[order], generator)


def run_chains(
    rows: Rows,
    target: Target,
    starts: list[Labels],
    schedule: Schedule,
    seed: int,
    *,
    jobs: int | None = None,
    recall: Recall | None = None,
    keep: Keep | None = None,
    progress: Callable[[int], None] | None = None,
    tuning: SamplerTuning = TUNED_SAMPLER,
) -> list[list[Leg]]:
    """Return the legs of chains, one from each start (labels of the rows); legs that `recall` knows are not run again.

    Chains run side by side in processes, leg by leg; workers beyond them go to the rows of each. The draws do not
    depend on the number of workers.
    """
    workers = effective_n_jobs(jobs)
    threads = max(1, workers // len(starts))
    chains: list[list[Leg]] = [[] for _ in starts]

    with Parallel(n_jobs=min(workers, len(starts))) as parallel:
        for number, sweeps in enumerate(schedule.legs):
            keeps = [schedule.keeps(sweep) for sweep in sweeps]
            known = [None if recall is None else recall(chain, number) for chain in range(len(starts))]
            missing = [chain for chain, leg in enumerate(known) if leg is None]
            begins = {chain: _end_of(chains[chain], starts[chain], target) for chain in missing}
            run = parallel(
                delayed(_run_leg)(rows, target, *begins[chain], keeps, (seed, chain, number), threads, tuning)
                for chain in missing
            )

            for chain, leg in zip(missing, run, strict=True):
                known[chain] = leg if keep is None else keep(chain, number, leg)
            for chain, done in enumerate(known):
                assert done is not None
                chains[chain].append(done)
            if progress is not None:
                progress(len(sweeps) * len(starts))
    return chains


def _end_of(legs: list[Leg], start: Labels, target: Target) -> tuple[Labels, float, FloatArray | None]:
    """Return labels, concentration and missing cells that a chain goes on from."""
    if not legs:
        return start, target.mean_concentration, None
    return legs[-1].last_labels, legs[-1].last_concentration, legs[-1].last_cells


def _run_leg(
    rows: Rows,
    target: Target,
    labels: Labels,
    concentration: float,
    cells: FloatArray | None,
    keeps: list[bool],
    seed: tuple[int, int, int],
    threads: int,
    tuning: SamplerTuning,
) -> Leg:
    """Return the kept draws of so many sweeps from labels; `seed` names the run, the chain and the leg."""
    generator = np.random.default_rng(np.random.SeedSequence(seed[0], spawn_key=seed[1:]))
    with one_thread():  # the same draws for any number of workers
        state = state_of(rows, target.prior.known, labels, concentration, cells)
        draws, known = sum(keeps), target.prior.known
        kept_labels: SmallInts = np.empty((draws, len(rows)), np.uint8)
        weights, concentrations = np.empty((draws, known + 1)), np.empty(draws)
        means = np.empty((draws, known, rows.columns))

        draw_number = 0
        for kept in keeps:
            state, sample = step(rows, target, state, generator, threads, tuning)
            if kept:
                if state.statistics.counts.size > np.iinfo(kept_labels.dtype).max:
                    kept_labels = kept_labels.astype(np.uint32)
                kept_labels[draw_number] = state.labels
                weights[draw_number], concentrations[draw_number] = sample.weights, state.concentration
                means[draw_number] = sample.components.mean[:known]
                draw_number += 1
    return Leg(kept_labels, weights, concentrations, means, state.labels, state.concentration, state.cells)
