"""BrandSampler, the exact posterior by slice sampling: validates, calls, stores."""

import warnings
from dataclasses import astuple
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from vbrand.checks import brief, check_choice, check_number, check_whole
from vbrand.discovery.chains import Chains
from vbrand.discovery.draw_store import DrawStore, fingerprint, stored_seed
from vbrand.discovery.sampled import Draws, clusters_of, disagreement, sampled_discovery_of
from vbrand.estimators.base import Shell
from vbrand.estimators.fitted import Fitted, Learned, Views
from vbrand.estimators.learning import known_classes
from vbrand.estimators.notes import notes_on
from vbrand.estimators.progress import counted, shown
from vbrand.estimators.settings import MOST_PLACES, MOST_SWEEPS
from vbrand.estimators.starting import components_of_labels
from vbrand.inference.kernel import statistics_of_labels
from vbrand.inference.rows import Rows
from vbrand.inference.sampler import Leg, Schedule, Target, run_chains
from vbrand.inference.search import Effort, find
from vbrand.io.tables.categories import Wanted
from vbrand.io.tables.likeness import Given, Likeness
from vbrand.model.components import Components, posterior_from
from vbrand.model.kernels import Gaussian
from vbrand.model.posterior import before_rows
from vbrand.model.predictive import log_predictive_parts
from vbrand.stage1.passage import Passage
from vbrand.types import FloatArray, IntArray, Labels

# novel components at the most of a variational start, and novel groups of a random one
_MOST_NOVEL = 20
_RANDOM_GROUPS = 5
# above it a row may go to thousands of novel components
_LARGEST_KAPPA = 0.99


class BrandSampler(Shell):
    """Samples the exact posterior that `VBrand` approximates: known classes and novel groups, one draw after another.

    The model of Brand (Denti, Cappozzo and Greselin 2021): one Gaussian a known class, a Dirichlet process of Gaussians
    for novel ones, no truncation. Use it to check a variational fit, or where rows are few; it takes as long as a few
    thousand sweeps of `VBrand`. Words are those of `VBrand` where they mean the same:
    `VBrand(kernel="gaussian", scatter="mrcd")` has the same prior. Missing cells (NaN) are drawn with all else.

    Parameters
    ----------
    scatter : "mrcd", "mcd" or "empirical", default "mrcd"
        How stage 1 learns a known class.
    support_fraction : float in [0.5, 1], default 0.75
        Share of the rows of a class that MRCD and MCD rest on.
    reduce : int, optional
        Number of principal components that columns are reduced to, with the size of what they leave over as one more.
    categories : "auto", list of columns or None, default "auto"
        Columns whose values are names of levels, as in `VBrand`. Sweeps over tables with categories are slower.
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
    40 rows belong to the 2 known classes, 30 to 1 novel group.
    """

    max_modes = 1  # one component a known class

    def __init__(
        self,
        *,
        scatter: Literal["mrcd", "mcd", "empirical"] = "mrcd",
        support_fraction: float = 0.75,
        reduce: int | None = None,
        categories: Wanted = "auto",
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
        self.categories = categories
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

    def _views_of(self, rows: FloatArray, labels: NDArray[Any], passage: Passage) -> Views:
        return ((Gaussian(), known_classes(self, rows, labels, Gaussian(), passage, None)),)

    def _discovered(self, fitted: Fitted, table: Given) -> Fitted:
        folder = None if self.store is None else _folder(self.store)
        learned = fitted.learned
        rows = learned.passage.rows(table.rows)
        seed = self._seed(folder)
        target = self._target(learned)
        starts = self._starts(fitted, rows, seed)
        chains = Chains(self._sampled(folder, rows, target, starts, seed), target.prior.known)

        clusters = clusters_of(chains, self.threshold, self.n_jobs, seed)
        known, class_of = _known_given(rows, target, clusters), target.prior.class_of
        notes = notes_on(learned, target.prior, [], table)
        discovery = sampled_discovery_of(
            self._context(learned, table, known, class_of, notes),
            chains,
            clusters,
            learned.passage.coordinates.outward(chains.known_means),
            learned.passage.working_columns,
        )
        sentence = disagreement(discovery)
        if sentence is not None:
            warnings.warn(sentence, UserWarning, stacklevel=3)
        return Fitted(learned, fitted.finding, Draws(rows, target, chains), discovery)

    def _given(self, table: NDArray[Any], likeness: Likeness, samples: IntArray | None, known: Learned) -> Given:
        if samples is not None:
            raise ValueError(
                "BrandSampler counts every unlabelled row: give it one row per sample, such as the mean of its "
                "replicates, or use VBrand."
            )
        return Given(table, likeness)

    def _sampled(
        self, folder: Path | None, rows: Rows, target: Target, starts: list[Labels], seed: int
    ) -> list[list[Leg]]:
        """Return the legs of all chains, those that the store holds and those that are run now."""
        schedule = Schedule(int(self.n_draws), int(self.n_burn), int(self.thin))
        store = None if folder is None else _opened(folder, rows, target, starts, schedule, seed)
        with counted(self.verbose, schedule.sweeps * self.n_chains, "sampling") as progress:
            return run_chains(
                rows,
                target,
                starts,
                schedule,
                seed,
                jobs=self.n_jobs,
                recall=None if store is None else store.recall,
                keep=None if store is None else store.keep,
                progress=progress,
                tuning=self._tuning.sampler,
            )

    def _seed(self, folder: Path | None) -> int:
        """Return the seed of the run; without `random_state` that of the run that the store holds, if there is one."""
        stored = None if folder is None else stored_seed(folder)
        if self.random_state is None and stored is not None:
            return stored
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _target(self, learned: Learned) -> Target:
        value = self.concentration
        concentration = (float(value[0]), float(value[1])) if isinstance(value, tuple) else float(value)
        return Target(self._prior(learned, 0, novel=1), concentration, float(self.kappa))

    def _starts(self, fitted: Fitted, rows: Rows, seed: int) -> list[Labels]:
        """Return the labels that each chain starts from."""
        prior = fitted.finding.prior
        if not isinstance(self.init, str):
            return [components_of_labels(fitted.learned.classes, self.init, rows, prior)] * self.n_chains
        if self.init == "random":
            generator = np.random.default_rng(seed)
            return [generator.integers(0, prior.known + _RANDOM_GROUPS, len(rows)) for _ in range(self.n_chains)]
        if self.init == "known":
            before = before_rows(prior)
            best = [log_predictive_parts(rows.working(block), before).argmax(axis=1) for block in rows.blocks()]
            return [np.concatenate(best)] * self.n_chains

        with shown(self.verbose) as progress:
            effort = Effort("moves", jobs=self.n_jobs)
            prior = self._prior(fitted.learned, 0, novel=_MOST_NOVEL)
            found = find(rows, prior, effort, np.random.default_rng(seed), progress=progress)
        return [found.best.winners] * self.n_chains

    def _check_dof(self, columns: int) -> None:
        super()._check_dof(columns)
        if self.novel_dof is not None and not self.novel_dof >= columns:
            raise ValueError(
                f"novel_dof is {self.novel_dof!r}; a scatter of {columns} columns can only be drawn with at least "
                f"{columns} degrees of freedom. Raise it, or leave it out."
            )

    def _check_parameters(self) -> None:
        check_choice("scatter", self.scatter, ("mrcd", "mcd", "empirical"))
        for name, most in (("n_draws", MOST_SWEEPS), ("thin", MOST_SWEEPS), ("n_chains", MOST_PLACES)):
            check_whole(name, getattr(self, name), 1, most)
        check_whole("n_burn", self.n_burn, 0, MOST_SWEEPS)
        check_number("kappa", self.kappa, 0.0, _LARGEST_KAPPA, open_low=True)
        if isinstance(self.init, str) and self.init not in ("variational", "known", "random"):
            raise ValueError(
                f"init is {brief(self.init)}; it must be 'variational', 'known', 'random' or one label for each row."
            )
        if self.reduce is not None:
            check_whole("reduce", self.reduce, 1)
        super()._check_parameters()


def _known_given(rows: Rows, target: Target, clusters: IntArray) -> Components:
    """Return the known components given which rows are theirs."""
    known = target.prior.known
    statistics = statistics_of_labels(rows, np.minimum(clusters, known), known + 1)
    return posterior_from(target.prior.components, statistics).reordered(np.arange(known))


def _folder(store: Any) -> Path:
    """Return the folder of the draws; it is where it is, wherever the process goes."""
    try:
        folder = Path(store).expanduser().resolve()
    except TypeError:
        raise ValueError(f"store is {brief(store)}; it must be the name of a folder.") from None
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"store is {folder}, which is a file; give the name of a folder.")
    return folder


def _opened(folder: Path, rows: Rows, target: Target, starts: list[Labels], schedule: Schedule, seed: int) -> DrawStore:
    components = target.prior.components
    believed = [components.mean, components.precision, components.dof, components.scale]
    believed += [] if components.levels is None else [components.levels.counts]
    settings = target.prior.weights.dirichlet, target.concentration, target.kappa, astuple(schedule), seed
    return DrawStore.open(
        folder, fingerprint([rows.table, rows.centre, rows.multiplier, *believed, *settings, *starts]), seed
    )
