"""What VBrand and BrandSampler share: validate, learn the known classes, predict. Each finds novelty in its own way."""

import warnings
from abc import abstractmethod
from contextlib import nullcontext
from dataclasses import fields, replace
from functools import partial
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_consistent_length

from vbrand.checks import (
    brief,
    check_choice,
    check_engine,
    check_flag,
    check_jobs,
    check_number,
    check_seed,
    check_whole,
)
from vbrand.discovery.context import Context
from vbrand.estimators.cautions import on_columns, ranges_of
from vbrand.estimators.fitted import Fitted, Learned, Views, before_discovery
from vbrand.estimators.gaps import has_cells, notes_on_classes
from vbrand.estimators.predicting import Predictor
from vbrand.estimators.progress import compilation_told, passes_shown
from vbrand.estimators.repeated import given_rows, labelled_rows, samples_of
from vbrand.estimators.settings import LARGEST, as_numbers, check_beliefs, extremes_told, plain
from vbrand.estimators.tuning import TUNED, Tuning
from vbrand.estimators.way_in import way_in
from vbrand.facts.explain import Yardstick
from vbrand.io.files.provenance import kept_settings
from vbrand.io.sources.opened import is_source, open_labelled, open_rows
from vbrand.io.sources.scratch import Scratch
from vbrand.io.tables.categories import Categories, Wanted, coded, recoded, renumbered, settled
from vbrand.io.tables.ids import columns_like_ids
from vbrand.io.tables.labels import names_alike, read_labels
from vbrand.io.tables.likeness import Given, Likeness
from vbrand.io.tables.validated import Columns, first_rows, more_rows
from vbrand.model.components import Components
from vbrand.model.kernels import Kernel
from vbrand.model.prior import Prior
from vbrand.robust.columns import constant_columns
from vbrand.samples import by_content
from vbrand.stage1.elicit import Beliefs, elicit
from vbrand.stage1.passage import Passage
from vbrand.types import BoolArray, FloatArray, IntArray


class Shell(Predictor, BaseEstimator):  # type: ignore[misc]
    """The scikit-learn side of a detector of novelty."""

    scatter: Any
    support_fraction: float
    reduce: Literal["auto"] | int | None
    update_known: bool
    min_group: int | None
    n_jobs: int | None
    random_state: Any
    verbose: bool
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
    categories: Wanted = None

    transforms: Literal["auto"] | None = None
    engine: Any = None  # a client of Dask, for rows that are on a cluster
    _takes_sources = False  # whether rows may lie on disk
    _tuning: Tuning = TUNED

    @classmethod
    def tuned(cls, tuning: Tuning, **settings: Any) -> Self:
        """Return a detector with other tuned numbers than those it comes with: for benchmarks, not for tables.

        A clone of it, or one that is loaded from a file, has the usual numbers.

        Parameters
        ----------
        tuning : Tuning
            The numbers, as in `vbrand.estimators.tuning.TUNED`.
        **settings
            Those of the detector.

        Returns
        -------
        detector
            Not fitted yet.

        Examples
        --------
        >>> from dataclasses import replace
        >>> from vbrand.estimators.tuning import TUNED
        >>> VBrand.tuned(replace(TUNED, outlier_rows=3), random_state=0)
        VBrand(random_state=0)
        """
        detector = cls(**settings)
        detector._tuning = tuning
        return detector

    @abstractmethod
    def _views_of(self, rows: FloatArray, labels: NDArray[Any], passage: Passage) -> Views:
        """Return what stage 1 learns from labelled rows in working coordinates, for each kernel to try."""

    @abstractmethod
    def _discovered(self, fitted: Fitted, table: Given) -> Fitted:
        """Return the state after a discovery of the rows of a table; nothing is stored yet."""

    def fit(self, X: Any, y: Any = None, groups: Any = None, *, store: Any = None) -> Self:
        """Learn the known classes from labelled rows.

        A fit that is refused leaves the detector as it was. VBrand also takes tables that do not fit into memory.

        Parameters
        ----------
        X : table of shape (n, p)
            numpy, pandas or polars; or the name of a file, a folder or a pattern (docs/scale.md).
        y : labels of shape (n,)
            Rows labelled -1, None, NaN or "" are unlabelled; if there are any, they are discovered at once. Of a file,
            the name of the column of labels.
        groups : array of shape (n,), optional
            The sample that each row is of: replicates count once.
        store : path, optional
            As in `discover`.

        Returns
        -------
        self
            The detector, which now has `classes_`.

        Examples
        --------
        >>> VBrand(random_state=0).fit(known, ["oat"] * 50 + ["rye"] * 50).classes_
        array(['oat', 'rye'], dtype='<U3')
        """
        self._check_parameters()
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None: give one label for each row."
            )
        opened = None
        if self._is_source(X, groups):
            with passes_shown(self.verbose, Scratch(store), "reading") as scratch:
                opened = open_labelled(X, y, scratch, self.engine, self.categories)
            table, labels, columns, numbered = opened.rows, opened.labels, opened.columns, opened.categories
            given, samples = np.ones(labels.size, dtype=bool), None
        else:
            coded_table, numbered = coded(X, self.categories)
            table, columns = first_rows(self, coded_table, 3)
            labels, given = read_labels(y)
            check_consistent_length(table, labels)
            samples = samples_of(groups, table.shape[0])
            _warn_of_ids(table[given], columns, {one.column for one in numbered})
        taught = given & has_cells(table)
        if not taught.any():
            raise ValueError("no labelled row has any value: there is nothing to learn from.")
        table, categories = settled(table, numbered, taught)
        rows, known = table[taught], labels[taught]

        with compilation_told(self.verbose), extremes_told():
            own = labelled_rows(rows, known, None if samples is None else samples[taught], categories)
            learned = self._learned(own.rows, own.labels, columns, categories)
            notes = (*learned.notes, *own.notes)
            learned = replace(learned, prints=own.prints, notes=notes, replicates=own.replicates)
            fitted = Fitted(learned, before_discovery(self._prior(learned, 0, novel=1)))
            if opened is not None and len(opened.rest):
                recode = partial(renumbered, before=numbered, after=categories)
                rest = opened.rest.mapped(recode) if categories else opened.rest
                fitted = self._in_store(fitted, Given(rest, Likeness()))
            elif opened is None and not given.all():
                others, like = None if samples is None else samples[~given], Likeness.of(X).of_rows(~given)
                fitted = self._in_store(fitted, self._given(table[~given], like, others, learned))
            self._state = fitted
        return self

    def discover(self, X: Any, groups: Any = None, *, store: Any = None) -> Any:
        """Share the rows of X out among the known classes and novel groups; later predictions use what was found.

        Parameters
        ----------
        X : table of shape (n, p)
            Rows with the columns of `fit`. VBrand also takes tables that do not fit into memory: the name of a file, of
            a folder of files or a pattern, a .npy file or a memory map. Their answers are memory maps.
        groups : array of shape (n,), optional
            The sample that each row is of: replicates get one answer, that of their mean, and count once.
        store : path, optional
            The folder in which answers on disk are kept; by default a temporary one.

        Returns
        -------
        Discovery
            A label, a group and probabilities for each row; also in `discovery_`.

        Examples
        --------
        >>> detector.discover(unknown)
        40 rows belong to the 2 known classes, 30 to 1 novel group.
        """
        fitted = self._fitted
        self._check_parameters()
        rows = self._more_rows(X, groups, store)
        if isinstance(rows, np.ndarray):
            samples, known = samples_of(groups, rows.shape[0]), fitted.learned
            table = self._given(rows, Likeness.of(X), samples, known)
        else:
            table = Given(rows, Likeness())
        with compilation_told(self.verbose), extremes_told():
            self._state = self._in_store(fitted, table)
        return self._state.discovery

    def _in_store(self, fitted: Fitted, table: Given) -> Fitted:
        """Return the state after a discovery; answers on disk have their names once all of them are there."""
        with nullcontext() if isinstance(table.rows, np.ndarray) else table.rows.scratch.answering():
            return self._discovered(fitted, table)

    def _is_source(self, X: Any, groups: Any) -> bool:
        """Return whether X says where rows are, instead of holding them."""
        if not (self._takes_sources and is_source(X)):
            return False
        if groups is not None:
            raise ValueError("groups are for tables in memory: read the table first, or average its replicates.")
        return True

    def _more_rows(self, X: Any, groups: Any = None, store: Any = None) -> Any:
        """Return the rows of another table, or of what says where they are."""
        categories = self._fitted.learned.passage.categories
        if self._is_source(X, groups):
            with passes_shown(self.verbose, Scratch(store), "reading") as scratch:
                return open_rows(X, self._fitted_columns, scratch, self.engine, categories)
        numbered = recoded(X, categories, self._fitted_columns)
        return more_rows(self, numbered, self._fitted_columns)

    def _learned(self, table: NDArray[Any], labels: NDArray[Any], columns: Columns, categories: Categories) -> Learned:
        """Return what stage 1 learns from labelled rows."""
        with np.errstate(over="ignore", invalid="ignore"):  # scales that are no numbers are refused
            kept, used = _varying_columns(table, columns, [one.column for one in categories])
            order = by_content(table[:, used])
            table, labels = table[order], labels[order]
            passage, measured = way_in(self, table[:, kept].astype(np.float64), labels, columns.names, kept)
            passage = replace(passage, categories=categories)
        rows = passage.with_levels(passage.coordinates.inward(measured), table)
        views = self._views_of(rows, labels, passage)
        for alike in names_alike(views[0][1].labels):
            words = f"classes {alike} differ only in capitals or blanks. If they are one, give them one name."
            warnings.warn(words, UserWarning, stacklevel=4)
        passage = passage.reaching(np.concatenate([known.scatters for _, known in views]))
        np.clip(rows, -passage.coordinates.farthest, passage.coordinates.farthest, out=rows)
        notes = notes_on_classes(table, labels, columns, used)
        learned = Learned(views[0][1].labels, passage, views, notes=notes, ranges=ranges_of(table))
        return self._with_witnesses(learned, rows, labels)

    def _given(self, table: NDArray[Any], likeness: Likeness, samples: IntArray | None, known: Learned) -> Given:
        """Return the rows of a table to discover, and which of them count."""
        return given_rows(table, likeness, samples, known.prints, known.passage.categories, known.replicates)

    def _with_witnesses(self, learned: Learned, rows: FloatArray, labels: NDArray[Any]) -> Learned:
        """Return what was learned, with the labelled rows that answers are checked against, if they are."""
        return learned

    def _prior(self, learned: Learned, view: int, novel: int) -> Prior:
        """Return the prior for the classes of a view and at most so many novel components."""
        kernel, known = learned.views[view]
        beliefs = self._beliefs(learned.passage, kernel)
        return elicit(known, beliefs, novel, update_known=self.update_known, tuning=self._tuning.stage1)

    def _context(
        self,
        learned: Learned,
        table: Given,
        components: Components,
        class_of: IntArray,
        notes: tuple[str, ...],
        threshold: float | None = None,
        earlier_rows: int = 0,
    ) -> Context:
        """Return what a discovery is about, given the components that mean known classes."""
        return Context(
            table=table.rows,
            yardstick=Yardstick(components, class_of, learned.classes, learned.passage),
            columns=learned.passage.columns,
            threshold=float(self.threshold) if threshold is None else threshold,
            min_group=self._smallest_group(
                earlier_rows + (table.rows.shape[0] if table.counted is None else table.counted.size)
            ),
            notes=notes,
            likeness=table.likeness,
            settings=kept_settings(self.get_params()),
            witnesses=learned.witnesses,
            cautions=on_columns(table.rows, learned.passage, learned.ranges),
        )

    def _smallest_group(self, rows: int) -> int:
        if self.min_group is not None:
            return self.min_group
        return max(self._tuning.outlier_rows, int(np.ceil(self._tuning.outlier_share * rows)))

    def _beliefs(self, passage: Passage, kernel: Kernel) -> Beliefs:
        """Return the hyperparameters in working coordinates."""
        names = (field.name for field in fields(Beliefs) if field.name not in ("kernel", "noise", "farthest"))
        given = {name: plain(getattr(self, name)) for name in names}
        p, kept = passage.kept.size, passage.kept
        if given["novel_mean"] is not None:
            given["novel_mean"] = as_numbers("novel_mean", given["novel_mean"], (p,))[kept]
        if given["novel_scale"] is not None:
            scale = as_numbers("novel_scale", given["novel_scale"], (p, p))
            if not np.allclose(scale, scale.T, rtol=1e-9) or not np.linalg.eigvalsh(scale)[0] > 0.0:
                raise ValueError("novel_scale must be a symmetric, positive definite matrix, as a covariance is.")
            given["novel_scale"] = scale[np.ix_(kept, kept)]

        if passage.reduction is not None and (self.novel_mean is not None or self.novel_scale is not None):
            raise ValueError(
                "novel_mean and novel_scale are about the columns of the table, which `reduce` turns into components. "
                "Give them without reduce, or leave them out."
            )
        if self.novel_dof is not None:
            self._check_dof(passage.coordinates.centre.size)
        ways = passage.coordinates
        return ways.beliefs_inward(Beliefs(**given, kernel=kernel, noise=ways.noise, farthest=ways.farthest))

    def _check_dof(self, columns: int) -> None:
        check_number("novel_dof", self.novel_dof, columns - 1.0, LARGEST, open_low=True)

    def _check_parameters(self) -> None:
        check_number("support_fraction", self.support_fraction, 0.5, 1.0)
        if self.reduce is not None and not (isinstance(self.reduce, str) and self.reduce == "auto"):
            check_whole("reduce", self.reduce, 1)

        if self.transforms is not None:
            check_choice("transforms", self.transforms, ("auto",))

        check_number("threshold", self.threshold, 0.0, 1.0)
        if self.threshold in (0.0, 1.0):
            raise ValueError(f"threshold is {self.threshold!r}; it must lie between 0 and 1.")
        if self.min_group is not None:
            check_whole("min_group", self.min_group, 1)

        check_beliefs(self)
        if not isinstance(self.update_known, bool | np.bool_):
            raise ValueError(f"update_known is {brief(self.update_known)}; it must be True or False.")
        check_flag("verbose", self.verbose)
        check_jobs(self.n_jobs)
        check_engine(self.engine)
        check_seed(self.random_state)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = True
        return tags


def _varying_columns(rows: NDArray[Any], columns: Columns, categories: list[int]) -> tuple[BoolArray, BoolArray]:
    """Return which columns of numbers vary among labelled rows, and those and the categories; say which do not."""
    constant, category = constant_columns(rows), np.zeros(rows.shape[1], dtype=bool)
    category[categories] = True
    constant &= ~category
    if constant.all():
        raise ValueError("every column has the same value in all labelled rows: there is nothing to learn from.")
    if constant.any():
        names = columns.listed(np.flatnonzero(constant))
        warnings.warn(f"dropped {names}: the same value, or none, in all labelled rows.", UserWarning, stacklevel=4)
    return ~constant & ~category, ~constant


def _warn_of_ids(rows: NDArray[Any], columns: Columns, categories: set[int]) -> None:
    """Warn the caller of `fit` of columns of a data frame that may name rows: they are measured all the same."""
    if columns.names is None:
        return
    found = columns_like_ids(columns.names, rows)
    found = found[[j not in categories for j in found.tolist()]]
    if found.size:
        words = f"{columns.listed(found)}: measured, but if that numbers, names or dates the rows, leave it out."
        warnings.warn(words, UserWarning, stacklevel=3)
