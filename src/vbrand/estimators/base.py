"""What VBrand and BrandSampler share: validate, learn the known classes, predict. Each finds novelty in its own way."""

import warnings
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import fields
from numbers import Real
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from vbrand.checks import check_number, check_whole
from vbrand.discovery.base import Discovery
from vbrand.discovery.memberships import Memberships, label_names, memberships
from vbrand.facts.explain import Yardstick
from vbrand.inference.rows import Rows
from vbrand.io.tables.labels import read_labels
from vbrand.io.tables.validated import checked_rows, column_list
from vbrand.model.components import Components
from vbrand.model.kernels import Kernel
from vbrand.model.posterior import before_rows
from vbrand.model.predictive import log_predictive_parts
from vbrand.model.prior import Prior
from vbrand.robust.columns import constant_columns
from vbrand.stage1.classes import KnownClasses, check_sizes
from vbrand.stage1.coordinates import Coordinates
from vbrand.stage1.elicit import Beliefs, elicit
from vbrand.stage1.reduction import Reduction, columns_wanted, reduce_columns
from vbrand.types import BoolArray, FloatArray, IntArray


class Shell(BaseEstimator):  # type: ignore[misc]
    """The scikit-learn side of a detector of novelty."""

    scatter: Any
    support_fraction: float
    reduce: Literal["auto"] | int | None
    threshold: float
    update_known: bool
    min_group: int | None
    n_jobs: int | None
    known_mean_strength: float | None
    known_scatter_strength: float | None
    known_scatter_factor: float
    known_weight: float
    novel_weight: float
    novel_mean: Any
    novel_mean_strength: float
    novel_dof: float | None
    novel_scale: Any
    concentration: float | tuple[float, float]

    @abstractmethod
    def _views_of(self, rows: FloatArray, labels: NDArray[Any]) -> tuple[tuple[Kernel, KnownClasses], ...]:
        """Return what stage 1 learns from labelled rows in working coordinates, for each kernel to try."""

    @abstractmethod
    def _discover(self, rows: NDArray[Any]) -> Discovery:
        """Find known classes and novel groups in rows, and store what was found."""

    @abstractmethod
    def _log_parts(self, rows: FloatArray) -> FloatArray:
        """Return the log density of rows jointly with each component, known ones first, (n, K)."""

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the known classes from labelled rows.

        Rows labelled -1, None or NaN are unlabelled; if there are any, they are discovered at once.
        """
        self._check_parameters()
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None: give one label for each row."
            )
        rows = checked_rows(self, X, reset=True, least_rows=3)
        labels, given = read_labels(y)
        check_consistent_length(rows, labels)
        kept = self._varying_columns(rows[given])
        labelled = rows[given][:, kept].astype(np.float64)
        reduction, labelled = self._reduced(labelled, labels[given])
        coordinates = Coordinates.of(labelled)
        views = self._views_of(coordinates.inward(labelled), labels[given])
        kernel, known = views[0]
        prior = elicit(known, self._beliefs(kept, coordinates, kernel), 1, update_known=self.update_known)
        # all went well: now, and at once, forget what was known before
        self._kept, self._reduction, self._coordinates, self._views = kept, reduction, coordinates, views
        self._prior = prior
        self._chosen = 0
        self.classes_ = known.labels
        for name in ("discovery_", "_posterior", "_places", "_meaning", "_facts"):
            self.__dict__.pop(name, None)
        if not given.all():
            self._discover(rows[~given])
        return self

    def discover(self, X: Any) -> Any:
        """Share the rows of X out among the known classes and novel groups; later predictions use what was found."""
        check_is_fitted(self)
        self._check_parameters()
        return self._discover(checked_rows(self, X, reset=False))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the known label of each row, or -1 ("novel" where labels are text)."""
        check_is_fitted(self)
        names = label_names(self.classes_)
        best = [
            np.where(part.is_novel(self.threshold), self.classes_.size, part.best_class)
            for _, part in self._memberships(X)
        ]
        return np.asarray(names[np.concatenate(best)])

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
        parts = [logsumexp(self._log_parts_known_so_far(rows.working(block)), axis=1) for block in rows.blocks()]
        return np.concatenate(parts) + self._coordinates.log_volume

    def _log_parts_known_so_far(self, rows: FloatArray) -> FloatArray:
        """Return `_log_parts`, or before any discovery those of the prior."""
        if self._has_discovered:
            return self._log_parts(rows)
        return log_predictive_parts(rows, before_rows(self._prior))

    @property
    def _has_discovered(self) -> bool:
        return hasattr(self, "discovery_")

    @property
    def known_classes_(self) -> KnownClasses:
        """Return what stage 1 learned, in the user's units (of a reduced table what its components can show)."""
        check_is_fitted(self)
        _, known = self._views[self._chosen]
        outer = self._coordinates.classes_outward(known)
        return outer if self._reduction is None else self._reduction.classes_outward(outer)

    def _memberships(self, X: Any) -> Iterator[tuple[slice, Memberships]]:
        check_is_fitted(self)
        return memberships(self._rows(X), self._log_parts_known_so_far, self._meaning_so_far())

    def _meaning_so_far(self) -> IntArray:
        """Return the known class of each part of `_log_parts`, -1 for novelty."""
        return np.append(self._prior.class_of, np.full(self._prior.opened, -1))

    def _rows(self, X: Any) -> Rows:
        return self._coordinates.view(self._columns(checked_rows(self, X, reset=False)))

    def _columns(self, rows: NDArray[Any]) -> NDArray[Any]:
        kept = rows if self._kept.all() else rows[:, self._kept]
        return kept if self._reduction is None else self._reduction.inward(kept)

    def _column_names(self) -> tuple[str, ...]:
        return tuple(str(name) for name in getattr(self, "feature_names_in_", range(self.n_features_in_)))

    def _smallest_group(self, rows: int) -> int:
        return max(5, int(np.ceil(0.005 * rows))) if self.min_group is None else self.min_group

    def _varying_columns(self, rows: FloatArray) -> BoolArray:
        constant = constant_columns(rows)
        if constant.all():
            raise ValueError("every column has the same value in all labelled rows: there is nothing to learn from.")
        if constant.any():
            names = column_list(self, np.flatnonzero(constant))
            warnings.warn(f"dropped {names}: the same value in all labelled rows.", UserWarning, stacklevel=3)
        return ~constant

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

    def _beliefs(self, kept: BoolArray, coordinates: Coordinates, kernel: Kernel) -> Beliefs:
        """Return the hyperparameters in working coordinates."""
        given = {field.name: getattr(self, field.name) for field in fields(Beliefs) if field.name != "kernel"}
        p = self.n_features_in_
        if given["novel_mean"] is not None:
            given["novel_mean"] = _array("novel_mean", given["novel_mean"], (p,))[kept]
        if given["novel_scale"] is not None:
            scale = _array("novel_scale", given["novel_scale"], (p, p))
            if not np.allclose(scale, scale.T, rtol=1e-9) or not np.linalg.eigvalsh(scale)[0] > 0.0:
                raise ValueError("novel_scale must be a symmetric, positive definite matrix, as a covariance is.")
            given["novel_scale"] = scale[np.ix_(kept, kept)]
        if self.novel_dof is not None:
            self._check_dof(coordinates.centre.size)
        return coordinates.beliefs_inward(Beliefs(**given, kernel=kernel))

    def _check_dof(self, columns: int) -> None:
        check_number("novel_dof", self.novel_dof, columns - 1.0, open_low=True)

    def _yardstick(self, known: Components, class_of: IntArray) -> Yardstick:
        plain = (f"column {j}" for j in range(self.n_features_in_))
        names = tuple(str(name) for name in getattr(self, "feature_names_in_", plain))
        return Yardstick(
            components=known,
            class_of=class_of,
            classes=self.classes_,
            columns=names,
            kept=self._kept,
            coordinates=self._coordinates,
            reduction=self._reduction,
        )

    def _notes(self, prior: Prior, meaning: IntArray | None = None) -> tuple[str, ...]:
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
        pieces = [] if meaning is None else meaning[prior.known :][meaning[prior.known :] >= 0].tolist()
        if pieces:
            several = ", ".join(f"{self.classes_[j]!s} ({pieces.count(j)})" for j in dict.fromkeys(sorted(pieces)))
            notes.append(f"components that were taken for pieces of known classes: {several}.")
        notes.append(f"tails: {prior.components.kernels[0].sentence}")
        return tuple(notes)

    def _components_of_labels(self, given: Any, rows: Rows, prior: Prior) -> IntArray:
        """Return the component that each row starts in, from labels in `init`; of a class its likeliest one.

        Labels that are no known class are novel groups: J, J + 1, ...
        """
        labels = [None if _is_missing(label) else label for label in given]
        if len(labels) != len(rows):
            raise ValueError(f"init has {len(labels)} labels; one for each of the {len(rows)} rows is expected.")
        place = {label: k for k, label in enumerate(self.classes_.tolist())}
        for label in labels:
            place.setdefault(label, len(place))
        classes = self.classes_.size
        if not set(labels) & set(self.classes_.tolist()):
            warnings.warn(
                "no label in init is a known class, so all rows start as novel; the known classes are "
                f"{', '.join(repr(name) for name in self.classes_.tolist()[:5])}{', ...' if classes > 5 else ''}.",
                UserWarning,
                stacklevel=5,
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
        check_number("support_fraction", self.support_fraction, 0.5, 1.0)
        if self.reduce is not None and not (isinstance(self.reduce, str) and self.reduce == "auto"):
            check_whole("reduce", self.reduce, 1)
        check_number("threshold", self.threshold, 0.0, 1.0)
        if self.threshold in (0.0, 1.0):
            raise ValueError(f"threshold is {self.threshold!r}; it must lie between 0 and 1.")
        if self.min_group is not None:
            check_whole("min_group", self.min_group, 1)
        for name in ("known_mean_strength", "known_scatter_strength"):
            if getattr(self, name) is not None:
                check_number(name, getattr(self, name), 0.0, open_low=True)
        for name in ("known_scatter_factor", "known_weight", "novel_weight", "novel_mean_strength"):
            check_number(name, getattr(self, name), 0.0, open_low=True)
        value = self.concentration
        pair = value if isinstance(value, tuple) and len(value) == 2 else (value,)
        if not all(isinstance(each, Real) and 0.0 < float(each) < np.inf for each in pair):
            raise ValueError(
                f"concentration is {value!r}; it must be a number above 0, or a tuple of two: shape and rate."
            )
        if not isinstance(self.update_known, bool | np.bool_):
            raise ValueError(f"update_known is {self.update_known!r}; it must be True or False.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def _is_missing(label: Any) -> bool:
    """Return whether a label is None, NaN or NA: none of them equals itself, or says whether it does."""
    try:
        return label is None or bool(label != label)
    except TypeError:
        return True


def _array(name: str, value: Any, shape: tuple[int, ...]) -> FloatArray:
    array = np.asarray(value, dtype=np.float64)
    if array.shape != shape or not np.isfinite(array).all():
        raise ValueError(f"{name} has the shape {array.shape}; finite numbers of the shape {shape} are expected.")
    return array
