"""What the sampler found: the interface of Discovery, from draws of the posterior."""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from vbrand.discovery.base import Discovery
from vbrand.discovery.chains import Chains
from vbrand.discovery.context import Context
from vbrand.discovery.diagnostics import effective_size, split_rhat
from vbrand.discovery.memberships import label_names
from vbrand.discovery.summary import Summary
from vbrand.facts.groups import INTERVAL, GroupCount, describe_groups
from vbrand.inference.cells import filled
from vbrand.inference.kernel import statistics_of_labels
from vbrand.inference.rows import Rows
from vbrand.inference.sampler import Target
from vbrand.model.components import posterior_from
from vbrand.model.predictive import log_component_densities, log_urn_weights
from vbrand.model.prior import with_novelties
from vbrand.partition.points import best_partition
from vbrand.sums import log_sum
from vbrand.trust.meaning import Meaning
from vbrand.types import FloatArray, IntArray

# draws that the partition and the probabilities of its groups rest on
DRAWS_FOR_PARTITION = 2_000
# draws over which predictions for new rows are averaged
_DRAWS_FOR_PREDICTION = 100
# chains whose R-hat is above this disagree
_DISAGREE = 1.05


@dataclass(frozen=True)
class Diagnosis:
    """One quantity over all draws: where it lies, how many independent draws it is worth, whether chains agree."""

    name: str
    mean: float
    sd: float
    low: float  # 90 % interval
    high: float
    effective_size: float
    rhat: float


@dataclass(frozen=True, eq=False)
class Draws:
    """What predicts new rows after the sampler has run: an average over its draws."""

    rows: Rows  # that were discovered
    target: Target
    chains: Chains

    @property
    def meaning(self) -> Meaning:
        """Return what the columns of `log_parts` are: the known classes, and novelty (-1)."""
        return Meaning(np.append(self.target.prior.class_of, -1))

    def log_parts(self, rows: FloatArray) -> FloatArray:
        """Return log densities jointly with each known class and with novelty, averaged over draws, (n, J + 1)."""
        prior, known = self.target.prior, self.target.prior.known
        total = np.full((rows.shape[0], known + 1), -np.inf)
        count = 0
        for labels, gamma, seen in self._drawn():
            count += 1
            clusters = max(known, int(labels.max()) + 1) - known
            statistics = statistics_of_labels(seen, labels, known + clusters + 1)  # and an empty cluster
            components = posterior_from(with_novelties(prior, clusters + 1).components, statistics)
            weights = log_urn_weights(prior.weights.dirichlet, statistics.counts[:-1], gamma)
            parts = weights + log_component_densities(rows, components)
            parts = np.column_stack([parts[:, :known], log_sum(parts[:, known:], axis=1)])
            np.logaddexp(total, parts, out=total)

        return np.asarray(total - np.log(count))

    def _drawn(self) -> Iterator[tuple[IntArray, float, Rows]]:
        """Return draws of labels, concentration and rows; where cells are missing those that end legs, with theirs."""
        if not self.rows.gapped:
            chosen = self.chains.chosen(_DRAWS_FOR_PREDICTION)
            concentration = self.chains.concentration.ravel()[chosen]
            for small, gamma in zip(self.chains.labels(chosen), concentration, strict=True):
                yield small.astype(np.int64), gamma, self.rows
        else:
            for leg in self.chains.ends(_DRAWS_FOR_PREDICTION):
                yield leg.last_labels.astype(np.int64), leg.last_concentration, filled(self.rows, leg.last_cells)


@dataclass(frozen=True, eq=False, repr=False)
class SampledDiscovery(Discovery):
    """The answer of `BrandSampler.discover`.

    Probabilities are shares of draws. A row is novel if it was novel in more than `threshold` of them; otherwise it
    belongs to the known class that it was in most often. Novel rows are grouped by the partition with the least
    expected variation of information. The probability of novelty is shared out among the groups by how often the row
    lay in one cluster with their rows. `novelty_score` takes the share of n draws as (novel + threshold) / (n + 1), so
    that it is finite.
    """

    chains: Chains
    diagnostics: tuple[Diagnosis, ...]
    known_means: FloatArray  # (chains, draws, J, columns that vary) in the user's units
    _mean_columns: tuple[str, ...]

    @cached_property
    def class_probabilities(self) -> FloatArray:
        """Return probabilities of the known classes and of novelty (last), (n, J + 1); rows sum to 1."""
        return self.chains.votes / (self.chains.count * self.chains.draws)

    @cached_property
    def probabilities(self) -> FloatArray:
        """Return probabilities of known classes and novel groups, (n, J + groups); rows sum to 1."""
        known, groups = self.classes.size, len(self.groups) - self.classes.size
        shares = self.class_probabilities
        if groups == 0:
            total = shares[:, :-1].sum(axis=1, keepdims=True)
            # rows that were novel in every draw belong to no class: they get equal shares
            return np.where(total > 0.0, shares[:, :-1] / np.where(total > 0.0, total, 1.0), 1.0 / known)
        beside = self._beside_groups(groups)
        beside *= (shares[:, -1] / beside.sum(axis=1))[:, None]
        return np.column_stack([shares[:, :-1], beside])

    def _beside_groups(self, groups: int) -> FloatArray:
        """Return how often each row, in draws where it was novel, lay with the rows of each group, (n, groups)."""
        known = self.classes.size
        sizes = np.array([group.rows for group in self.groups[known:]])
        beside = np.zeros((self.labels.size, groups))
        members = self.clusters >= known

        for small in self.chains.labels(self.chains.chosen(DRAWS_FOR_PARTITION)):
            drawn = small.astype(np.int64)
            novel = drawn >= known
            both = novel & members
            width = int(drawn.max()) + 1
            pairs = np.bincount((self.clusters[both] - known) * width + drawn[both], minlength=groups * width)
            # the share of a group's rows that lie in a cluster of this draw
            inside = (pairs.reshape(groups, width) / sizes[:, None]).T  # (clusters, groups)
            beside[novel] += inside[drawn[novel]]

        # rows that never lay with any group are shared out by the sizes of the groups
        return np.where(beside.sum(axis=1, keepdims=True) > 0.0, beside, sizes / sizes.sum())

    def label_draws(self, n_draws: int = 1_000, random_state: Any = None) -> IntArray:
        """Return at most `n_draws` draws of the labels, (draws, n), spread evenly over all chains.

        Known classes are 0..J-1; the numbers of novel clusters mean nothing from one draw to the next. They are the
        draws of the sampler, so `random_state` is not used.
        """
        return self.chains.labels(self.chains.chosen(n_draws)).astype(np.int64)

    def summary(self) -> Summary:
        """Return a table of the groups, and below it how well the chains mixed: ESS and R-hat."""
        width = max(len(each.name) for each in self.diagnostics)
        lines = [f"{'':{width}}  {'mean':>8}  {'sd':>8}  {'90 % interval':>19}  {'ESS':>7}  {'R-hat':>5}"]
        lines += [
            f"{d.name:{width}}  {d.mean:>8.4g}  {d.sd:>8.3g}  {f'{d.low:.4g} to {d.high:.4g}':>19}"
            f"  {d.effective_size:>7,.0f}  {d.rhat:>5.2f}{' !' if d.rhat > _DISAGREE else ''}"
            for d in self.diagnostics
        ]
        sentence = disagreement(self)
        notes = (*self.notes, *lines, *([] if sentence is None else [f"! {sentence}"]))
        return replace(super().summary(), notes=notes)

    def to_arviz(self) -> Any:
        """Return the draws of label-invariant quantities as ArviZ holds them: weights, groups, concentration, means.

        An InferenceData, or with ArviZ 1.0 and later a DataTree.
        """
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FutureWarning)  # ArviZ 0.23 announces its successor
                import arviz
        except ImportError:
            raise ImportError("to_arviz needs the package arviz: pip install 'vbrand[arviz]'") from None

        names = [str(name) for name in self.classes]
        posterior = {
            "weights": self.chains.weights,
            "concentration": self.chains.concentration,
            "novel_clusters": self.chains.novel_groups(),
            "novel_groups": self.chains.novel_groups(self.min_group),
            "novel_rows": self.chains.novel_rows(),
            "known_means": self.known_means,
        }

        coords = {"component": [*names, "novelty"], "known_class": names, "column": list(self._mean_columns)}
        dims = {"weights": ["component"], "known_means": ["known_class", "column"]}

        if int(arviz.__version__.split(".")[0]) >= 1:
            return arviz.from_dict({"posterior": posterior}, coords=coords, dims=dims)
        return arviz.from_dict(posterior=posterior, coords=coords, dims=dims)


def sampled_discovery_of(
    context: Context, chains: Chains, clusters: IntArray, known_means: FloatArray, mean_columns: tuple[str, ...]
) -> SampledDiscovery:
    """Return the discovery for rows in the user's units, of which `clusters` is the point partition.

    `known_means` are draws of the means of the known classes, in the user's units of `mean_columns`.
    """
    total = chains.count * chains.draws
    classes, threshold, min_group = context.classes, context.threshold, context.min_group
    novel = chains.votes[:, -1]

    return SampledDiscovery(
        context=context,
        labels=label_names(classes)[np.minimum(clusters, classes.size)],
        clusters=clusters,
        novelty_probability=novel / total,
        novelty_score=logit((novel + threshold) / (total + 1.0)) - logit(threshold),
        groups=describe_groups(
            context.table, clusters, _weights(chains, clusters), novel / total, classes, min_group, context.yardstick
        ),
        n_groups=GroupCount.of(chains.novel_groups(min_group).ravel()),
        chains=chains,
        diagnostics=diagnose(chains, classes, min_group),
        known_means=known_means,
        _mean_columns=mean_columns,
    )


def clusters_of(chains: Chains, threshold: float, n_jobs: int | None, random_state: int) -> IntArray:
    """Return the point partition: known classes by majority of all draws, novel rows by variation of information."""
    clusters: IntArray = chains.votes[:, :-1].argmax(axis=1)
    novel = chains.votes[:, -1] > threshold * chains.count * chains.draws
    draws = chains.labels(chains.chosen(DRAWS_FOR_PARTITION), novel)
    best = best_partition(draws, n_jobs=n_jobs, random_state=random_state)
    clusters[novel] = chains.known + best.labels
    return clusters


def _weights(chains: Chains, clusters: IntArray) -> FloatArray:
    """Return the mean weights of known classes, and that of novelty shared out by the sizes of its groups."""
    mean = chains.weights.mean(axis=(0, 1))
    rows = np.bincount(clusters[clusters >= chains.known] - chains.known)
    return np.append(mean[:-1], mean[-1] * rows / max(1, rows.sum()))


def diagnose(chains: Chains, classes: NDArray[Any], min_group: int) -> tuple[Diagnosis, ...]:
    """Return mean, spread, effective size and R-hat of the label-invariant quantities."""
    quantities: dict[str, NDArray[Any]] = {
        f"weight of {name}": chains.weights[:, :, k] for k, name in enumerate(classes)
    }
    quantities |= {
        "weight of novelty": chains.weights[:, :, -1],
        "novel rows": chains.novel_rows(),
        "novel groups": chains.novel_groups(min_group),
        "clusters, any size": chains.novel_groups(),
        "concentration": chains.concentration,
    }
    return tuple(_diagnosis(name, np.asarray(draws, dtype=np.float64)) for name, draws in quantities.items())


def _diagnosis(name: str, draws: FloatArray) -> Diagnosis:
    low, high = np.quantile(draws, INTERVAL)
    return Diagnosis(
        name,
        float(draws.mean()),
        float(draws.std()),
        float(low),
        float(high),
        effective_size(draws),
        split_rhat(draws),
    )


def disagreement(found: SampledDiscovery) -> str | None:
    """Return a sentence if the chains, or the two halves of a single chain, disagree."""
    diagnostics = found.diagnostics
    apart = sorted((each for each in diagnostics if each.rhat > _DISAGREE), key=lambda each: -each.rhat)
    if not apart:
        return None
    names = ", ".join(f"{each.name} (R-hat {each.rhat:.3g})" for each in apart)
    which = "chains disagree" if found.chains.count > 1 else "two halves of the chain disagree"
    return (
        f"the {which} about: {names}. They have not mixed, or the posterior has several modes between which they do "
        "not move. Raise n_burn and n_draws, and start with init='random' to see other modes."
    )
