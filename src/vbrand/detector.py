"""VBrand, the detector: validates, calls, stores."""

import warnings
from collections.abc import Iterator
from dataclasses import fields, replace
from functools import partial
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from vbrand.coordinates import Coordinates
from vbrand.discovery import Discovery, discovery_of, labels_of
from vbrand.explain import Yardstick
from vbrand.inference.kernel import Rows
from vbrand.inference.search import Effort, Found, Search, find
from vbrand.io.labels import read_labels
from vbrand.io.table import checked_rows, column_list
from vbrand.known import learn_modes
from vbrand.labelling import Memberships, memberships
from vbrand.model.posterior import Posterior, before_rows
from vbrand.model.predictive import log_predictive, log_predictive_parts
from vbrand.model.prior import Beliefs, Prior, elicit
from vbrand.paper import paper_settings
from vbrand.parameters import check_choice, check_number, check_whole
from vbrand.progress import shown
from vbrand.reduction import Reduction, columns_wanted, reduce_columns
from vbrand.robust.classes import KnownClasses, check_sizes, learn_classes
from vbrand.robust.mrcd import constant_columns
from vbrand.types import BoolArray, FloatArray, IntArray

Kernel = Literal["student", "gaussian", "auto"]
# degrees of freedom that a kernel stands for
_TAILS: dict[str, tuple[float, ...]] = {"student": (15.0,), "gaussian": (np.inf,), "auto": (15.0, 5.0, 40.0, np.inf)}


class VBrand(BaseEstimator):  # type: ignore[misc]
    """Finds known classes and novel groups in unlabelled rows.

    `fit` learns the known classes robustly; `discover` shares the unlabelled rows out among them and a
    Dirichlet-process mixture of novel groups, by variational Bayes. The number of novel groups is an answer, not a
    setting.

    Parameters
    ----------
    kernel : "student", "gaussian" or "auto", default "student"
        Rows of a class or group follow a Student t (with 15 degrees of freedom), whose tails real classes have, or a
        Gaussian. "auto" fits with 5, 15 and 40 degrees of freedom and a Gaussian, and the bound picks.
    scatter : "modes", "mrcd", "mcd" or "empirical", default "modes"
        How stage 1 learns a known class. "modes": as one to `max_modes` components in coordinates whitened within
        classes; outliers and rows with a wrong label are set aside, and scatters are drawn to their average as far as
        they are alike. The others give one component a class: its MRCD, its reweighted MCD, its mean and covariance.
    support_fraction : float in [0.5, 1], default 0.75
        Share of the rows of a class that MRCD and MCD rest on; the others may be outliers or mislabelled.
    max_modes : int, default 4
        The largest number of components of a known class (`scatter="modes"`).
    reduce : "auto", int or None, default "auto"
        Number of principal components that columns are reduced to, with the size of what they leave over as one more
        column. "auto" reduces where there are more columns than half of the rows of an average class, to
        that many. None never does, nor does "auto" when `novel_mean` or `novel_scale` is given or `scatter` is not
        "modes".
    max_novel : int, default 20
        The largest number of novel components (truncation): a cap, not a guess. A warning says if it is reached.
    search : "moves", "restarts" or "none", default "moves"
        "moves" starts from the known classes and one novel component and grows: births, merges, releases and
        deletions of components, each kept only if the bound rises. "restarts" is the paper's protocol, made for its
        priors: the best of `n_starts` runs from k-means of all rows, with multipliers from a Latin hypercube. "none"
        is one plain run from one novelty.
    n_starts : int, default 200
        Number of starts of `search="restarts"`.
    init : one label per row of `discover`, optional
        Where to start instead of any search; a known class, or any other value for a novel group each.
    tol, max_iter : float, int
        An ascent ends when the bound gains less than `tol`, relatively, or after `max_iter` sweeps.
    threshold : float, default 0.5
        A row is novel when its probability of novelty exceeds this.
    update_known : bool, default True
        Whether unlabelled rows may refine the known classes. False keeps stage 1 as it is (inductive).
    min_group : int, optional
        Novel groups of fewer rows are outlier groups. By default 5, or 0.5 % of the rows if that is more.
    n_jobs : int, optional
        Classes and starts in parallel; the answer does not depend on it.
    random_state : int, RandomState or None
    verbose : bool, default False
        Show progress.
    known_mean_strength, known_scatter_strength : float, optional
        Rows that the centre and the scatter of a known component are worth; by default ten times its labelled rows.
    known_scatter_factor : float, default 1
        What the robust scatter is multiplied by.
    known_weight, novel_weight : float, default 1
        Dirichlet weights of each known class and of novelty.
    novel_mean : array of shape (p,), optional
        Where novel classes are expected; by default the average centre of the known ones.
    novel_mean_strength : float, default 0.01
        Rows that this expectation is worth: the smaller, the farther novel classes may lie.
    novel_dof : float, optional
        Degrees of freedom of the scatter of a novel class; by default it is as alike to the average known scatter as
        known ones are, and at the most p + 30.
    novel_scale : array of shape (p, p), optional
        Its scale matrix; by default such that its expectation is the average scatter of a known class.
    concentration : float or (shape, rate), default (1, 1)
        Of the Dirichlet process: larger expects more novel groups. A pair is a Gamma distribution, which the rows
        refine.

    Attributes
    ----------
    classes_ : the known labels
    known_classes_ : KnownClasses, what stage 1 learned, in the user's units
    discovery_ : Discovery of the last `discover`

    Examples
    --------
    >>> import numpy as np
    >>> from vbrand import VBrand
    >>> rng = np.random.default_rng(0)
    >>> known = np.vstack([rng.normal(0, 1, (50, 2)), rng.normal(8, 1, (50, 2))])
    >>> unknown = np.vstack([rng.normal(0, 1, (40, 2)), rng.normal(-8, 1, (30, 2))])
    >>> detector = VBrand(random_state=0).fit(known, ["oat"] * 50 + ["rye"] * 50)
    >>> detector.discover(unknown)
    40 rows belong to the 2 known classes, 30 to 1 novel group, 0 look like outliers.
    """

    def __init__(
        self,
        *,
        kernel: Kernel = "student",
        scatter: Literal["modes", "mrcd", "mcd", "empirical"] = "modes",
        support_fraction: float = 0.75,
        max_modes: int = 4,
        reduce: Literal["auto"] | int | None = "auto",
        max_novel: int = 20,
        search: Search = "moves",
        n_starts: int = 200,
        init: Any = None,
        tol: float = 1e-9,
        max_iter: int = 1_000,
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
        self.kernel = kernel
        self.scatter = scatter
        self.support_fraction = support_fraction
        self.max_modes = max_modes
        self.reduce = reduce
        self.max_novel = max_novel
        self.search = search
        self.n_starts = n_starts
        self.init = init
        self.tol = tol
        self.max_iter = max_iter
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

    @classmethod
    def paper(cls, X: Any, study: str = "statlog", **changes: Any) -> Self:
        """Return a detector with the settings of the paper, derived from the labelled rows X as in one of its studies.

        One Gaussian a class, its MCD, the study's priors, 200 restarts. "statlog", the real-data study, is the one for
        tables of your own: its priors come from the mean and covariance of X. The others are "ss1", "ss2" and "ss3".
        `changes` are settings of VBrand that should be different.
        """
        check_choice("study", study, ("statlog", "ss1", "ss2", "ss3"))
        settings = {"search": "restarts", **paper_settings(study, np.asarray(X, dtype=np.float64)), **changes}
        return cls(**settings)

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the known classes from labelled rows.

        Rows labelled -1, None or NaN are unlabelled; if there are any, they are discovered at once.
        """
        self._check_parameters()
        if y is None:
            raise ValueError("VBrand requires y to be passed, but the target y is None: give one label for each row.")
        rows = checked_rows(self, X, reset=True, least_rows=3)
        labels, given = read_labels(y)
        check_consistent_length(rows, labels)
        kept = self._varying_columns(rows[given])
        labelled = rows[given][:, kept].astype(np.float64)
        reduction, labelled = self._reduced(labelled, labels[given])
        coordinates = Coordinates.of(labelled)
        inner = coordinates.inward(labelled)
        views = tuple((tail, self._learned(inner, labels[given], tail)) for tail in _TAILS[self.kernel])
        tail, known = views[0]
        prior = elicit(known, self._beliefs(kept, coordinates, tail), 1, update_known=self.update_known)
        # all went well: now, and at once, forget what was known before
        self._kept, self._reduction, self._coordinates, self._views = kept, reduction, coordinates, views
        self._prior, self._posterior = prior, before_rows(prior)
        self.classes_ = known.labels
        self.known_classes_ = self._outward(known)
        self.__dict__.pop("discovery_", None)
        if not given.all():
            self._discover(rows[~given])
        return self

    def discover(self, X: Any) -> Discovery:
        """Share the rows of X out among the known classes and novel groups; later predictions use what was found."""
        check_is_fitted(self)
        self._check_parameters()
        return self._discover(checked_rows(self, X, reset=False))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the known label of each row, or -1 ("novel" where labels are text)."""
        parts = [labels_of(part, self.classes_, self.threshold) for _, part in self._memberships(X)]
        return np.concatenate(parts)

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probabilities of the known classes, in the order of `classes_`, and of novelty (last)."""
        parts = [np.column_stack([np.exp(part.known), part.novelty_probability]) for _, part in self._memberships(X)]
        return np.concatenate(parts)

    def novelty_score(self, X: Any) -> FloatArray:
        """Return how novel each row is: log-odds of novelty above those of the threshold."""
        return np.concatenate([part.novelty_score(self.threshold) for _, part in self._memberships(X)])

    def decision_function(self, X: Any) -> FloatArray:
        """Return minus the novelty score: 0 and above is known."""
        return -self.novelty_score(X)

    def score_samples(self, X: Any) -> FloatArray:
        """Return the log posterior predictive density of each row."""
        check_is_fitted(self)
        rows = self._rows(X)
        parts = [log_predictive(rows.working(block), self._posterior) for block in rows.blocks()]
        return np.concatenate(parts) + self._coordinates.log_volume

    def _discover(self, rows: NDArray[Any]) -> Discovery:
        generator = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        working = self._coordinates.view(self._columns(rows))
        effort = Effort(self.search, self.n_starts, self.tol, self.max_iter, self.n_jobs)
        best: tuple[Found, Prior, KnownClasses] | None = None
        for tail, known in self._views:
            beliefs = self._beliefs(self._kept, self._coordinates, tail)
            prior = elicit(known, beliefs, self.max_novel, update_known=self.update_known)
            with shown(self.verbose) as progress:
                start = self._initial_components(working, prior)
                found = find(working, prior, effort, generator, component=start, progress=progress)
            if best is None or found.best.bound.total > best[0].best.bound.total:
                best = found, prior, known
        assert best is not None
        found, prior, known = best
        if found.full:
            warnings.warn(
                f"all {self.max_novel} places for novel groups are in use: raise max_novel, there may be more of them.",
                UserWarning,
                stacklevel=3,
            )
        volume = rows.shape[0] * self._coordinates.log_volume
        discovery = discovery_of(
            rows,
            partial(memberships, working, found.best.posterior, prior.class_of),
            found.best.posterior,
            prior.class_of,
            classes=self.classes_,
            threshold=self.threshold,
            min_group=max(5, int(np.ceil(0.005 * rows.shape[0]))) if self.min_group is None else self.min_group,
            generator=generator,
            elbo=found.best.bound.total + volume,
            bound=found.best.bound,
            traces=[trace + volume for trace in found.traces],
            history=tuple(replace(move, bound=move.bound + volume) for move in found.history),
            stopped=found.best.stopped,
            columns=tuple(str(name) for name in getattr(self, "feature_names_in_", range(rows.shape[1]))),
            notes=self._notes(prior),
            yardstick=self._yardstick(prior, found.best.posterior),
        )
        self._prior, self._posterior = prior, found.best.posterior
        self.known_classes_ = self._outward(known)
        self.discovery_ = discovery
        return discovery

    def _learned(self, rows: FloatArray, labels: NDArray[Any], tail: float) -> KnownClasses:
        if self.scatter == "modes":
            return learn_modes(
                rows,
                labels,
                tail=tail,
                support_fraction=self.support_fraction,
                max_modes=self.max_modes,
                n_jobs=self.n_jobs,
            )
        return learn_classes(
            rows, labels, scatter=self.scatter, support_fraction=self.support_fraction, n_jobs=self.n_jobs
        )

    def _reduced(self, rows: FloatArray, labels: NDArray[Any]) -> tuple[Reduction | None, FloatArray]:
        """Return the reduction of a wide table, and the labelled rows in it."""
        classes, member = np.unique(labels, return_inverse=True)
        wanted = self.reduce
        if wanted == "auto":
            given = self.novel_mean is not None or self.novel_scale is not None or self.scatter != "modes"
            wanted = None if given else columns_wanted(rows.shape[0], classes.size)
        if wanted is None or rows.shape[1] <= wanted:
            return None, rows
        check_sizes(classes, np.bincount(member))
        return reduce_columns(rows, member, wanted)

    def _yardstick(self, prior: Prior, posterior: Posterior) -> Yardstick:
        plain = (f"column {j}" for j in range(self.n_features_in_))
        names = tuple(str(name) for name in getattr(self, "feature_names_in_", plain))
        return Yardstick(
            components=posterior.components.reordered(np.arange(prior.known)),
            class_of=prior.class_of,
            classes=self.classes_,
            columns=names,
            kept=self._kept,
            coordinates=self._coordinates,
            reduction=self._reduction,
        )

    def _notes(self, prior: Prior) -> tuple[str, ...]:
        """Return what was done to the table, in sentences."""
        notes = list[str]()
        if self._reduction is not None:
            notes.append(
                f"{self._reduction.axes.shape[1]} columns were reduced to {self._reduction.axes.shape[0]} principal "
                "components and the size of what they leave over."
            )
        modes = np.bincount(prior.class_of)
        if (modes > 1).any():
            several = ", ".join(f"{self.classes_[j]!s} ({modes[j]})" for j in np.flatnonzero(modes > 1))
            notes.append(f"known classes with several modes: {several}.")
        tail = prior.components.tail[0]
        notes.append("tails: Gaussian." if np.isinf(tail) else f"tails: Student t, {tail:g} degrees of freedom.")
        return tuple(notes)

    def _outward(self, known: KnownClasses) -> KnownClasses:
        """Return known classes in the user's units (of a reduced table what its components can show)."""
        outer = self._coordinates.classes_outward(known)
        return outer if self._reduction is None else self._reduction.classes_outward(outer)

    def _memberships(self, X: Any) -> Iterator[tuple[slice, Memberships]]:
        check_is_fitted(self)
        return memberships(self._rows(X), self._posterior, self._prior.class_of)

    def _rows(self, X: Any) -> Rows:
        return self._coordinates.view(self._columns(checked_rows(self, X, reset=False)))

    def _columns(self, rows: NDArray[Any]) -> NDArray[Any]:
        kept = rows if self._kept.all() else rows[:, self._kept]
        return kept if self._reduction is None else self._reduction.inward(kept)

    def _varying_columns(self, rows: FloatArray) -> BoolArray:
        constant = constant_columns(rows)
        if constant.all():
            raise ValueError("every column has the same value in all labelled rows: there is nothing to learn from.")
        if constant.any():
            names = column_list(self, np.flatnonzero(constant))
            warnings.warn(f"dropped {names}: the same value in all labelled rows.", UserWarning, stacklevel=3)
        return ~constant

    def _beliefs(self, kept: BoolArray, coordinates: Coordinates, tail: float) -> Beliefs:
        """Return the hyperparameters in working coordinates."""
        given = {field.name: getattr(self, field.name) for field in fields(Beliefs) if field.name != "tail"}
        p = self.n_features_in_
        if given["novel_mean"] is not None:
            given["novel_mean"] = _array("novel_mean", given["novel_mean"], (p,))[kept]
        if given["novel_scale"] is not None:
            scale = _array("novel_scale", given["novel_scale"], (p, p))
            if not np.allclose(scale, scale.T, rtol=1e-9) or not np.linalg.eigvalsh(scale)[0] > 0.0:
                raise ValueError("novel_scale must be a symmetric, positive definite matrix, as a covariance is.")
            given["novel_scale"] = scale[np.ix_(kept, kept)]
        columns = coordinates.centre.size
        if self.novel_dof is not None:
            check_number("novel_dof", self.novel_dof, columns - 1.0, open_low=True)
        return coordinates.beliefs_inward(Beliefs(**given, tail=tail))

    def _initial_components(self, rows: Rows, prior: Prior) -> IntArray | None:
        """Return the component that each row starts in, from the labels in `init`; of a class its likeliest one."""
        if self.init is None:
            return None
        labels = [label if label == label else None for label in self.init]  # NaN is not equal to itself
        if len(labels) != len(rows):
            raise ValueError(f"init has {len(labels)} labels; one for each of the {len(rows)} rows is expected.")
        place = {label: k for k, label in enumerate(self.classes_.tolist())}
        for label in labels:
            place.setdefault(label, len(place))
        classes = self.classes_.size
        if len(place) - classes > self.max_novel:
            raise ValueError(
                f"init has {len(place) - classes} novel groups, more than max_novel={self.max_novel}. Raise max_novel."
            )
        group = np.array([place[label] for label in labels])
        component = np.empty(len(rows), dtype=np.int64)
        for block in rows.blocks():
            likely = log_predictive_parts(rows.working(block), before_rows(prior))[:, : prior.known]
            likely[group[block, None] != prior.class_of] = -np.inf
            component[block] = np.where(
                group[block] < classes, likely.argmax(axis=1), prior.known + group[block] - classes
            )
        return component

    def _check_parameters(self) -> None:
        check_choice("kernel", self.kernel, tuple(_TAILS))
        check_choice("scatter", self.scatter, ("modes", "mrcd", "mcd", "empirical"))
        if self.reduce is not None and self.reduce != "auto":
            check_whole("reduce", self.reduce, 1)
        check_choice("search", self.search, ("moves", "restarts", "none"))
        check_number("support_fraction", self.support_fraction, 0.5, 1.0)
        check_number("tol", self.tol, 0.0)
        check_number("threshold", self.threshold, 0.0, 1.0)
        if self.threshold in (0.0, 1.0):
            raise ValueError(f"threshold is {self.threshold!r}; it must lie between 0 and 1.")
        for name in ("max_novel", "max_modes", "n_starts", "max_iter"):
            check_whole(name, getattr(self, name), 1)
        if self.min_group is not None:
            check_whole("min_group", self.min_group, 1)
        for name in ("known_mean_strength", "known_scatter_strength"):
            if getattr(self, name) is not None:
                check_number(name, getattr(self, name), 0.0, open_low=True)
        for name in ("known_scatter_factor", "known_weight", "novel_weight", "novel_mean_strength"):
            check_number(name, getattr(self, name), 0.0, open_low=True)
        for value in self.concentration if isinstance(self.concentration, tuple) else (self.concentration,):
            check_number("concentration", value, 0.0, open_low=True)
        if isinstance(self.concentration, tuple) and len(self.concentration) != 2:
            raise ValueError(f"concentration is {self.concentration!r}; it must be a number, or shape and rate.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def _array(name: str, value: Any, shape: tuple[int, ...]) -> FloatArray:
    array = np.asarray(value, dtype=np.float64)
    if array.shape != shape or not np.isfinite(array).all():
        raise ValueError(f"{name} has the shape {array.shape}; finite numbers of the shape {shape} are expected.")
    return array
