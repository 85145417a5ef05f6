"""VBrand, the variational detector: validates, calls, stores."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from vbrand.discovery.memberships import Answers, answers_of, memberships
from vbrand.discovery.variational import discovery_of, in_user_units
from vbrand.estimators.batches import Batches, Task
from vbrand.estimators.cautions import beside, beside_some
from vbrand.estimators.checking import (
    case_of,
    labelled_classes,
    pieces_of_classes,
    plain_meaning,
    refuse_without_check,
    strict_threshold,
    warn_of_room,
    with_witnesses,
    without_witnesses,
)
from vbrand.estimators.fitted import Finding, Fitted, Learned, Story, Views
from vbrand.estimators.gaps import log_volume_of
from vbrand.estimators.identity import identity
from vbrand.estimators.learning import known_classes
from vbrand.estimators.model_file import read_model
from vbrand.estimators.notes import notes_on
from vbrand.estimators.paper import Published
from vbrand.estimators.progress import passes_shown, shown
from vbrand.estimators.settings import check_effort
from vbrand.estimators.starting import start_of
from vbrand.estimators.story import earlier_of, inside_of, log_of, numbered, together, told
from vbrand.inference.batches import Earlier, Further, find_further
from vbrand.inference.rows import Rows
from vbrand.inference.search import Effort, Search, find
from vbrand.io.tables.categories import Wanted
from vbrand.model.kernels import KernelName
from vbrand.model.predictive import log_component_weights
from vbrand.stage1.lessons import Recalled
from vbrand.stage1.modes import known_without, recall
from vbrand.stage1.passage import Passage
from vbrand.trust.check import Verdict, checked
from vbrand.trust.folds import Relearned
from vbrand.types import BoolArray, FloatArray


class VBrand(Published, Batches):
    """Finds known classes and novel groups in unlabelled rows.

    `fit` learns the known classes robustly; `discover` shares the unlabelled rows out among them and a
    Dirichlet-process mixture of novel groups, by variational Bayes. The number of novel groups is an answer, not a
    setting. Five settings are worth a thought, and come first: `max_false_novelty`, `threshold`, `min_group`, `check`
    and `update_known` (docs/settings.md shows what they do). The defaults of the others are meant for real tables.

    Parameters
    ----------
    max_false_novelty : float in [0, 1], optional
        The share of known rows that may be called novel at the most: raises the threshold until no more of the hidden
        labelled rows exceed it.
    threshold : float, default 0.5
        A row is novel when its probability of novelty exceeds this.
    min_group : int, optional
        Novel groups of fewer rows are outlier groups. By default 5, or 0.5 % of the rows if that is more.
    check : "auto" or int, default "auto"
        Number of parts in which labelled rows are hidden among the unlabelled ones, one part after the other, to learn
        from where they end up what each component means and how far to trust the answer (`found.check`). "auto" is
        10; 0 turns the check off, and so do fixed known classes (`update_known=False`) and given strengths.
    update_known : bool, default True
        Whether unlabelled rows may refine the known classes. False keeps stage 1 as it is (inductive).
    kernel : "student", "gaussian" or "auto", default "student"
        Rows of a class or group follow a Student t (with 15 degrees of freedom), whose tails real classes have, or a
        Gaussian. "auto" fits with 5, 15 and 40 degrees of freedom and a Gaussian, and the bound picks.
    scatter : "modes", "mrcd", "mcd" or "empirical", default "modes"
        How stage 1 learns a known class. "modes": as one to `max_modes` components in coordinates whitened within
        classes; outliers and wrong labels are set aside, scatters are drawn to their average as far as they are alike,
        and none, known or novel, is thinner than the rounding of columns. The others give one component per class: its
        MRCD, its reweighted MCD, its mean and covariance.
    support_fraction : float in [0.5, 1], default 0.75
        Share of the rows of a class that MRCD and MCD rest on; the others may be outliers or mislabelled.
    max_modes : int, default 8
        The largest number of components of a known class (`scatter="modes"`).
    categories : "auto", list of columns or None, default "auto"
        Columns whose values are names of levels, not numbers. "auto": those of data frames that are of pandas' or
        polars' categorical type, booleans, or text of few levels; None: none. Levels that no labelled row has count as
        one more level.
    transforms : "auto" or None, default "auto"
        "auto": columns whose classes are skewed within (positive with a long right tail, piled up at a bound) are
        measured on a scale that is bent, as a logarithm is, where the labelled rows are so much likelier on it. None
        takes them as they are, and so does "auto" where columns are reduced (`reduce`), when `novel_mean` or
        `novel_scale` is given, or `scatter` is not "modes".
    reduce : "auto", int or None, default "auto"
        Number of principal components that columns are reduced to, with the size of what they leave over as one more
        column. "auto" reduces where there are more columns than half of the rows of an average class, to
        that many and at least 5. None never does, nor does "auto" when `novel_mean` or `novel_scale` is given or
        `scatter` is not "modes".
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
    n_jobs : int, optional
        Classes and starts in parallel; the answer does not depend on it.
    random_state : int, RandomState or None
        The seed: the same number and the same rows give the same answer.
    verbose : bool, default False
        Show progress.
    engine : dask.distributed.Client, optional
        The cluster whose workers hold the rows of Dask collections (docs/scale.md). It is not saved.
    known_mean_strength, known_scatter_strength : float, optional
        Rows that the centre and the scatter of a known component are worth; by default its labelled rows, and up to ten
        times as many where those are fewer than ten for each of its p (p + 3) / 2 parameters. Where both are given,
        novel groups that look like pieces of a known class stay novel.
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
    >>> found = detector.discover(unknown)
    >>> found
    40 rows belong to the 2 known classes, 30 to 1 novel group.

    Examples of the methods go on from here.
    """

    def __init__(
        self,
        *,
        max_false_novelty: float | None = None,
        threshold: float = 0.5,
        min_group: int | None = None,
        check: Literal["auto"] | int = "auto",
        update_known: bool = True,
        kernel: KernelName = "student",
        scatter: Literal["modes", "mrcd", "mcd", "empirical"] = "modes",
        support_fraction: float = 0.75,
        max_modes: int = 8,
        categories: Wanted = "auto",
        transforms: Literal["auto"] | None = "auto",
        reduce: Literal["auto"] | int | None = "auto",
        max_novel: int = 20,
        search: Search = "moves",
        n_starts: int = 200,
        init: Any = None,
        tol: float = 1e-9,
        max_iter: int = 1_000,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
        engine: Any = None,
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
        self.max_false_novelty = max_false_novelty
        self.threshold = threshold
        self.min_group = min_group
        self.check = check
        self.update_known = update_known
        self.kernel = kernel
        self.scatter = scatter
        self.support_fraction = support_fraction
        self.max_modes = max_modes
        self.categories = categories
        self.transforms = transforms
        self.reduce = reduce
        self.max_novel = max_novel
        self.search = search
        self.n_starts = n_starts
        self.init = init
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.engine = engine
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

    def _answered(self, task: Task, view: int, fit: Further, story: Story | None) -> Fitted:
        """Return the state after the fit of a view: what its components mean, and what that says of the rows."""
        learned, table, rows, best, prior = task.learned, task.table, task.rows, fit.found.best, fit.prior
        everything = rows if story is None else together(story, rows)
        verdict = self._verdict(task, view, everything, fit)
        meaning = plain_meaning(prior, best.posterior) if verdict is None else verdict.meaning
        pieces = pieces_of_classes(meaning, best.statistics.counts)
        if fit.found.full and not pieces.size:
            warn_of_room(self.max_novel)

        threshold = strict_threshold(verdict, float(self.threshold), self.max_false_novelty)
        finding = Finding(view, prior, best.posterior, meaning, np.empty(0, dtype=np.int64), threshold)
        known = np.append(np.flatnonzero(prior.class_of >= 0), pieces)
        class_of = np.append(prior.class_of[prior.class_of >= 0], meaning.matrix[pieces, :-1].argmax(axis=1))
        again = verdict is not None and verdict.again
        notes = notes_on(learned, prior, class_of[known.size - pieces.size :].tolist(), table, again)
        yards, so_far = best.posterior.components.reordered(known), 0 if story is None else story.rows
        context = self._context(learned, table, yards, class_of, notes, threshold, so_far)
        same, before = None, None
        if story is not None:
            parts = [part for _, part in memberships(everything, finding)]
            context = beside(context, learned, rows, parts, fit, task.member, story.batches + 1, story.known)
            same = identity(story, fit, inside_of(parts, context.threshold))
            before = numbered(story, fit, same, meaning, parts, context.threshold)
        elif verdict is not None:
            context = beside_some(context, learned, rows, fit, finding)
        with passes_shown(self.verbose, getattr(table.rows, "scratch", None), "answering"):
            discovery = discovery_of(
                context,
                learned.passage.rows(table.rows),
                in_user_units(fit.found, log_volume_of(everything, learned.passage)),
                finding,
                np.exp(log_component_weights(best.posterior)),
                task.generator,
                None if verdict is None else verdict.of_first(len(rows)),
                table.counted,
                before,
            )
        finding = replace(finding, group_components=discovery.group_components)
        if story is not None and same is not None:
            size, most = len(rows), (self.max_novel, self._tuning.window)
            after = told(story, fit, same, everything, size, discovery, meaning, *most)
            finding, discovery = replace(finding, story=after), discovery.after(log_of(after))
        return Fitted(learned, finding, discovery=discovery)

    @property
    def _checks(self) -> bool:
        """Return whether answers are checked: not where known classes are what the user says, fixed or of strengths."""
        given = self.known_mean_strength is not None and self.known_scatter_strength is not None
        return self.check != 0 and self.update_known and not given

    def _with_witnesses(self, learned: Learned, rows: FloatArray, labels: NDArray[Any]) -> Learned:
        if not self._checks:
            return without_witnesses(learned)
        return with_witnesses(learned, rows, labels, self._tuning.check.witnesses)

    def _verdict(self, task: Task, view: int, rows: Rows, fit: Further) -> Verdict | None:
        """Return what hidden labelled rows say of rows, those of the task first; None if none are there or asked."""
        learned = task.learned
        witnesses, tuning, known = learned.witnesses, self._tuning.check, learned.views[view][1]
        if witnesses is None or not self._checks:
            refuse_without_check(self.max_false_novelty)
            return None

        taught = None if known.lessons is None else recall(known, witnesses.rows, self._tuning.stage1)

        def relearn(hidden: BoolArray) -> Relearned:
            one = replace(learned, views=learned.views[view : view + 1])
            return self._relearned(one, taught, hidden, fit.earlier)

        labelled = labelled_classes(self._prior(learned, view, self.max_novel), known.rows, fit.earlier)
        counts = None if fit.earlier is None else fit.earlier.taught.counts
        last = len(task.rows) if counts is not None and len(rows) + counts.sum() >= len(task.rows) + 1 else None
        case = case_of(rows, fit.found.best, fit.prior, labelled, witnesses, relearn, tuning.rows, counts, last)
        # more folds than rows are as many as rows
        folds = tuning.folds if self.check == "auto" else min(int(self.check), witnesses.member.size)
        own_axes = learned.passage.reduction is not None
        given = () if fit.earlier is None else tuple(fit.earlier.class_of[fit.earlier.class_of >= 0].tolist())
        return checked(replace(case, jobs=self.n_jobs, own_axes=own_axes, taught=given), folds, task.generator, tuning)

    def _relearned(
        self, learned: Learned, taught: Recalled | None, hidden: BoolArray, earlier: Earlier | None
    ) -> Relearned:
        """Return the known classes of the one view without some witnesses, and what earlier batches taught."""
        (kernel, known), witnesses = learned.views[0], learned.witnesses
        assert witnesses is not None
        if taught is not None:
            fewer, kept = known_without(known, witnesses.rows, taught, hidden, self._tuning.stage1)
        else:
            labels = learned.classes[witnesses.member[~hidden]]
            fewer = known_classes(self, witnesses.rows[~hidden], labels, kernel, learned.passage, None)
            kept = np.arange(known.rows.size)
        prior = self._prior(replace(learned, views=((kernel, fewer),)), 0, novel=self.max_novel)
        if earlier is None:
            return Relearned(prior, labelled_classes(prior, fewer.rows, None), kept)
        left = earlier.of_components(kept, known.rows.size)
        since = known.rows.size + np.arange(earlier.class_of.size)
        return Relearned(left.prior(prior), labelled_classes(prior, fewer.rows, left), np.append(kept, since))

    def _found(self, task: Task, view: int, story: Story | None) -> Further:
        """Return the best fit with the classes of a view to the rows of a task, after earlier batches."""
        prior = self._prior(task.learned, view, novel=self.max_novel)
        effort = Effort(self.search, self.n_starts, float(self.tol), self.max_iter, self.n_jobs)
        with shown(self.verbose, getattr(task.table.rows, "scratch", None)) as progress:
            how: dict[str, Any] = {"progress": progress, "tuning": self._tuning.search}
            if self.init is not None and (story is None or story.batches == 0):
                everywhere = task.learned.passage.rows(task.table.rows)
                how["component"] = start_of(self.init, task.learned.classes, everywhere, prior, task.table.counted)
            if story is None:
                return Further(find(task.rows, prior, effort, task.generator, **how), prior)
            everything, how["batch"] = together(story, task.rows), len(task.rows)
            return find_further(everything, prior, earlier_of(story), effort, task.generator, **how)

    def answers(self, X: Any) -> Iterator[tuple[slice, Answers]]:
        """Return labels, clusters and probabilities of rows, block by block: for tables of any length.

        Parameters
        ----------
        X : table of shape (n, p)
            Rows with the columns of `fit`.

        Returns
        -------
        iterator of (slice, Answers)
            Which rows, and their `labels`, `clusters`, `novelty_probability` and `class_probabilities`. Clusters are
            numbered as in `discovery_.clusters`; a row that is novel but like no group found has the next number.

        Examples
        --------
        >>> [(rows, answer.clusters) for rows, answer in detector.answers([[8.1, 7.9], [-8.0, -7.7]])]
        [(slice(0, 2, None), array([1, 2]))]
        """
        group_components = self._fitted.finding.group_components
        for block, members in self._memberships(X):
            yield block, answers_of(members, self.classes_, self._threshold, group_components)

    def _views_of(self, rows: FloatArray, labels: NDArray[Any], passage: Passage) -> Views:
        kernels, noise = self._tuning.kernels[self.kernel], passage.coordinates.noise
        return tuple((kernel, known_classes(self, rows, labels, kernel, passage, noise)) for kernel in kernels)

    def _check_parameters(self) -> None:
        check_effort(self)
        super()._check_parameters()


def load(path: str | os.PathLike[str]) -> VBrand:
    """Return the detector that `VBrand.save` or `vbrand discover` wrote; it predicts, and discovers in other tables.

    Reading a file runs nothing in it; one that is cut off, altered or from a newer vbrand gets one sentence.

    Parameters
    ----------
    path : path
        Of a model file.

    Returns
    -------
    VBrand
        The same predictions, bit for bit.

    Examples
    --------
    >>> detector.save("grain.vbrand")
    >>> load("grain.vbrand").predict([[0.2, -0.1]])
    array(['oat'], dtype='<U5')
    """
    return VBrand.from_model(read_model(Path(path)))
