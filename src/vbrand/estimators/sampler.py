"""BrandSampler, the exact posterior by slice sampling: validates, calls, stores."""

import warnings
from dataclasses import astuple
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp
from sklearn.utils import check_random_state

from vbrand.checks import check_choice, check_number, check_whole
from vbrand.discovery.chains import Chains
from vbrand.discovery.draw_store import DrawStore, fingerprint, stored_seed
from vbrand.discovery.sampled import SampledDiscovery, clusters_of, disagreement, sampled_discovery_of
from vbrand.estimators.base import Shell
from vbrand.estimators.progress import counted, shown
from vbrand.inference.kernel import statistics_of_labels
from vbrand.inference.rows import Rows
from vbrand.inference.sampler import Schedule, Target, run_chains
from vbrand.inference.search import Effort, find
from vbrand.model.components import Components, posterior_from
from vbrand.model.kernels import Gaussian, Kernel
from vbrand.model.posterior import before_rows
from vbrand.model.predictive import log_component_densities, log_predictive_parts, log_urn_weights
from vbrand.model.prior import with_novelties
from vbrand.stage1.classes import KnownClasses, learn_classes
from vbrand.stage1.elicit import elicit
from vbrand.types import FloatArray, Labels

# places for novel components of a variational start, and novel groups of a random one
_PLACES = 20
_RANDOM_GROUPS = 5
# above it a row may go to thousands of novel components
_LARGEST_KAPPA = 0.99
# draws over which predictions for new rows are averaged
_DRAWS_FOR_PREDICTION = 100


class BrandSampler(Shell):
    """Samples the exact posterior that `VBrand` approximates: known classes and novel groups, one draw after another.

    The model of Brand (Denti, Cappozzo and Greselin 2021): one Gaussian a known class, a Dirichlet process of Gaussians
    for novel ones, no truncation. Use it to check a variational fit, or where rows are few; it takes as long as a few
    thousand sweeps of `VBrand`. Words are those of `VBrand` where they mean the same:
    `VBrand(kernel="gaussian", scatter="mrcd")` has the same prior.

    Parameters
    ----------
    scatter : "mrcd", "mcd" or "empirical", default "mrcd"
        How stage 1 learns a known class.
    support_fraction : float in [0.5, 1], default 0.75
        Share of the rows of a class that MRCD and MCD rest on.
    reduce : int, optional
        Number of principal components that columns are reduced to, with the size of what they leave over as one more.
    n_draws, n_burn, thin : int, default 2000, 1000, 1
        Draws kept of each chain, sweeps before the first of them, and sweeps for each.
    n_chains : int, default 4
        Chains, each with its own random numbers.
    kappa : float, above 0 and up to 0.99, default 0.25
        Of the slice sequence (1 - kappa) kappa^(t-1): larger lets rows choose among more novel groups in a sweep. The
        answer does not depend on it.
    init : "variational", "known", "random" or one label per row of `discover`, default "variational"
        Where chains start: from a variational fit with the same prior; from stage 1 (each row in its likeliest known
        class, the others in one novel group); every chain at random; or as labels say, where a value that is no known
        class is a novel group. Chains that start together may miss a mode together: start at random to see whether they
        find the same.
    store : str or Path, optional
        A folder for the draws, instead of memory. A run that was stopped goes on from there, given the same rows and
        settings, and gives the same draws as one that was not. The discovery reads draws from the folder when it needs
        them, so keep it. One folder holds one run.
    threshold : float, default 0.5
        A row is novel when its probability of novelty exceeds this.
    update_known : bool, default True
        Whether unlabelled rows may refine the known classes (transductive). False keeps stage 1 as it is (inductive).
    min_group : int, optional
        Novel groups of fewer rows are outlier groups. By default 5, or 0.5 % of the rows if that is more.
    n_jobs : int, optional
        Chains in parallel; the draws do not depend on it.
    random_state : int, RandomState or None
    verbose : bool, default False
        Show progress.
    known_mean_strength, known_scatter_strength, known_scatter_factor, known_weight, novel_weight, novel_mean,
    novel_mean_strength, novel_dof, novel_scale, concentration :
        The prior, as in `VBrand`. A draw of a scatter needs a `novel_dof` of at least the number of columns.

    Attributes
    ----------
    classes_ : the known labels
    known_classes_ : KnownClasses, what stage 1 learned, in the user's units
    discovery_ : SampledDiscovery of the last `discover`

    Notes
    -----
    `predict` and its kin treat rows as new ones, also those that were discovered: near a border it may differ from
    `discovery_.labels`, which are the ones to use for those.

    Examples
    --------
    >>> import numpy as np
    >>> from vbrand import BrandSampler
    >>> rng = np.random.default_rng(0)
    >>> known = np.vstack([rng.normal(0, 1, (50, 2)), rng.normal(8, 1, (50, 2))])
    >>> unknown = np.vstack([rng.normal(0, 1, (40, 2)), rng.normal(-8, 1, (30, 2))])
    >>> sampler = BrandSampler(n_draws=1_000, n_burn=100, n_chains=2, random_state=0)
    >>> sampler.fit(known, ["oat"] * 50 + ["rye"] * 50).discover(unknown)
    40 rows belong to the 2 known classes, 30 to 1 novel group, 0 look like outliers.
    """

    def __init__(
        self,
        *,
        scatter: Literal["mrcd", "mcd", "empirical"] = "mrcd",
        support_fraction: float = 0.75,
        reduce: int | None = None,
        n_draws: int = 2_000,
        n_burn: int = 1_000,
        thin: int = 1,
        n_chains: int = 4,
        kappa: float = 0.25,
        init: Any = "variational",
        store: Any = None,
        threshold: float = 0.5,
        update_known: bool = True,
        min_group: int | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
        known_mean_strength: float | None = None,
        known_scatter_strength: float | None = None,
        known_scatter_factor: float = 1.0,
        known_weight: float = 1.0,
        novel_weight: float = 1.0,
        novel_mean: Any = None,
        novel_mean_strength: float = 0.01,
        novel_dof: float | None = None,
        novel_scale: Any = None,
        concentration: float | tuple[float, float] = (1.0, 1.0),
    ) -> None:
        self.scatter = scatter
        self.support_fraction = support_fraction
        self.reduce = reduce
        self.n_draws = n_draws
        self.n_burn = n_burn
        self.thin = thin
        self.n_chains = n_chains
        self.kappa = kappa
        self.init = init
        self.store = store
        self.threshold = threshold
        self.update_known = update_known
        self.min_group = min_group
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.known_mean_strength = known_mean_strength
        self.known_scatter_strength = known_scatter_strength
        self.known_scatter_factor = known_scatter_factor
        self.known_weight = known_weight
        self.novel_weight = novel_weight
        self.novel_mean = novel_mean
        self.novel_mean_strength = novel_mean_strength
        self.novel_dof = novel_dof
        self.novel_scale = novel_scale
        self.concentration = concentration

    def _views_of(self, rows: FloatArray, labels: NDArray[Any]) -> tuple[tuple[Kernel, KnownClasses], ...]:
        known = learn_classes(
            rows, labels, scatter=self.scatter, support_fraction=self.support_fraction, n_jobs=self.n_jobs
        )
        return ((Gaussian(), known),)

    def _discover(self, rows: NDArray[Any]) -> SampledDiscovery:
        folder = None if self.store is None else _folder(self.store)
        working = self._coordinates.view(self._columns(rows))
        seed = self._seed(folder)
        target = self._target()
        starts = self._starts(working, seed)
        schedule = Schedule(int(self.n_draws), int(self.n_burn), int(self.thin))
        store = None if folder is None else _opened(folder, working, target, starts, schedule, seed)
        with counted(self.verbose, schedule.sweeps * self.n_chains, "sampling") as progress:
            legs = run_chains(
                working,
                target,
                starts,
                schedule,
                seed,
                jobs=self.n_jobs,
                recall=None if store is None else store.recall,
                keep=None if store is None else store.keep,
                progress=progress,
            )
        chains = Chains(legs, target.prior.known)
        clusters = clusters_of(chains, self.threshold, self.n_jobs, seed)
        known = self._known_given(working, target, clusters)
        means = chains.known_means * self._coordinates.unit + self._coordinates.centre
        discovery = sampled_discovery_of(
            rows,
            chains,
            clusters,
            classes=self.classes_,
            threshold=self.threshold,
            min_group=self._smallest_group(rows.shape[0]),
            yardstick=self._yardstick(known, target.prior.class_of),
            columns=self._column_names(),
            notes=self._notes(target.prior),
            known_means=means,
            _mean_columns=self._working_columns(),
        )
        self._sampled = working, target
        self.discovery_ = discovery
        sentence = disagreement(discovery)
        if sentence is not None:
            warnings.warn(sentence, UserWarning, stacklevel=3)
        return discovery

    def _log_parts(self, rows: FloatArray) -> FloatArray:
        """Return log densities jointly with each known class and with novelty, averaged over draws, (n, J + 1)."""
        table, target = self._sampled
        chains, known = self.discovery_.chains, target.prior.known
        chosen = chains.chosen(_DRAWS_FOR_PREDICTION)
        concentration = chains.concentration.ravel()[chosen]
        total = np.full((rows.shape[0], known + 1), -np.inf)
        for small, gamma in zip(chains.labels(chosen), concentration, strict=True):
            labels = small.astype(np.int64)
            clusters = max(known, int(labels.max()) + 1) - known
            statistics = statistics_of_labels(table, labels, known + clusters + 1)  # and one cluster without rows
            components = posterior_from(with_novelties(target.prior, clusters + 1).components, statistics)
            weights = log_urn_weights(target.prior.weights.dirichlet, statistics.counts[:-1], gamma)
            parts = weights + log_component_densities(rows, components)
            parts = np.column_stack([parts[:, :known], logsumexp(parts[:, known:], axis=1)])
            np.logaddexp(total, parts, out=total)
        return np.asarray(total - np.log(chosen.size))

    def _seed(self, folder: Path | None) -> int:
        """Return the seed of the run; without `random_state` that of the run that the store holds, if there is one."""
        stored = None if folder is None else stored_seed(folder)
        if self.random_state is None and stored is not None:
            return stored
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _target(self) -> Target:
        kernel, known = self._views[0]
        beliefs = self._beliefs(self._kept, self._coordinates, kernel)
        prior = elicit(known, beliefs, 1, update_known=self.update_known)
        value = self.concentration
        concentration = (float(value[0]), float(value[1])) if isinstance(value, tuple) else float(value)
        return Target(prior, concentration, float(self.kappa))

    def _starts(self, rows: Rows, seed: int) -> list[Labels]:
        """Return the labels that each chain starts from."""
        known = self._prior.known
        if not isinstance(self.init, str):
            return [self._components_of_labels(self.init, rows, self._prior)] * self.n_chains
        if self.init == "random":
            generator = np.random.default_rng(seed)
            return [generator.integers(0, known + _RANDOM_GROUPS, len(rows)) for _ in range(self.n_chains)]
        if self.init == "known":
            before = before_rows(self._prior)
            best = [log_predictive_parts(rows.working(block), before).argmax(axis=1) for block in rows.blocks()]
            return [np.concatenate(best)] * self.n_chains
        kernel, classes = self._views[0]
        beliefs = self._beliefs(self._kept, self._coordinates, kernel)
        prior = elicit(classes, beliefs, _PLACES, update_known=self.update_known)
        with shown(self.verbose) as progress:
            effort = Effort("moves", jobs=self.n_jobs)
            found = find(rows, prior, effort, np.random.default_rng(seed), progress=progress)
        return [found.best.winners] * self.n_chains

    def _known_given(self, rows: Rows, target: Target, clusters: NDArray[np.int64]) -> Components:
        """Return the known components given which rows are theirs."""
        known = target.prior.known
        statistics = statistics_of_labels(rows, np.minimum(clusters, known), known + 1)
        return posterior_from(target.prior.components, statistics).reordered(np.arange(known))

    def _working_columns(self) -> tuple[str, ...]:
        """Return names of the columns that the model works on."""
        if self._reduction is not None:
            return (*(f"component {i + 1}" for i in range(self._reduction.axes.shape[0])), "left over")
        return tuple(name for name, kept in zip(self._column_names(), self._kept, strict=True) if kept)

    def _check_dof(self, columns: int) -> None:
        if self.novel_dof is not None and not self.novel_dof >= columns:
            raise ValueError(
                f"novel_dof is {self.novel_dof!r}; a scatter of {columns} columns can only be drawn with at least "
                f"{columns} degrees of freedom. Raise it, or leave it out."
            )
        super()._check_dof(columns)

    def _check_parameters(self) -> None:
        check_choice("scatter", self.scatter, ("mrcd", "mcd", "empirical"))
        for name in ("n_draws", "thin", "n_chains"):
            check_whole(name, getattr(self, name), 1)
        check_whole("n_burn", self.n_burn, 0)
        check_number("kappa", self.kappa, 0.0, _LARGEST_KAPPA, open_low=True)
        if isinstance(self.init, str) and self.init not in ("variational", "known", "random"):
            raise ValueError(
                f"init is {self.init!r}; it must be 'variational', 'known', 'random' or one label for each row."
            )
        if self.reduce is not None:
            check_whole("reduce", self.reduce, 1)
        super()._check_parameters()


def _folder(store: Any) -> Path:
    """Return the folder of the draws; it is where it is, wherever the process goes."""
    try:
        folder = Path(store).expanduser().resolve()
    except TypeError:
        raise ValueError(f"store is {store!r}; it must be the name of a folder.") from None
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"store is {folder}, which is a file; give the name of a folder.")
    return folder


def _opened(folder: Path, rows: Rows, target: Target, starts: list[Labels], schedule: Schedule, seed: int) -> DrawStore:
    components = target.prior.components
    believed = components.mean, components.precision, components.dof, components.scale
    settings = target.prior.weights.dirichlet, target.concentration, target.kappa, astuple(schedule), seed
    return DrawStore.open(
        folder, fingerprint([rows.table, rows.centre, rows.unit, *believed, *settings, *starts]), seed
    )
