"""Models on disk: all that a detector knows, with labelled rows that its answers are checked against."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbrand.estimators.fitted import INSIDE, Finding, Learned, Story
from vbrand.estimators.schemas import SCHEMA, upgraded
from vbrand.facts.check import BINS
from vbrand.facts.facts import Facts
from vbrand.facts.maps import MOST_POINTS, TELLING
from vbrand.inference.rows import FARTHEST
from vbrand.io.files.container import ModelFileError, read_tree, write_tree
from vbrand.io.files.provenance import SINGLE
from vbrand.io.files.trees import WrongTreeError, built, tree_of
from vbrand.io.files.whole import Write, write_whole
from vbrand.model.components import Components
from vbrand.model.prior import Prior
from vbrand.model.statistics import Statistics
from vbrand.model.weights import Weights
from vbrand.robust.replicates import MOST_REPLICATES
from vbrand.stage1.classes import KnownClasses
from vbrand.stage1.lessons import Witnesses
from vbrand.stage1.passage import Passage
from vbrand.stage1.warp import Warp
from vbrand.trust.meaning import Checked
from vbrand.trust.rareness import wrong_with
from vbrand.trust.votes import wrong_with_votes
from vbrand.types import FloatArray, IntArray

# numbers in working coordinates are far below it, and their squares can still be added up
_LARGEST = 1e100
# rows and degrees of freedom; the logarithm of the gamma function of more is no use
_MOST = 1e15
# of the sum of squares; sums that are the difference of two beliefs may be so far from a scatter
_ROUNDING = 1e-6
# nats that a share may lie below 1: exp of more is 0
_FARTHEST = 700.0


@dataclass(frozen=True)
class Model:
    """A detector that was fitted, and what it found last."""

    versions: dict[str, str]  # of the packages that it was made with
    settings: dict[str, Any]
    learned: Learned
    finding: Finding
    facts: Facts | None  # None before any discovery


def model_writer(model: Model) -> Write:
    """Return what writes a model to an open file."""
    return lambda file: write_tree(file, tree_of(model), SCHEMA)


def write_model(path: Path, model: Model) -> None:
    """Write a model, whole or not at all."""
    write_whole(path, model_writer(model))


def read_model(path: Path) -> Model:
    """Return the model that a file of this schema or an older one holds; anything else gets one sentence."""
    tree, schema = read_tree(path, SCHEMA)
    try:
        model: Model = built(Model, upgraded(tree, schema))
        _check(model)
    except (WrongTreeError, np.linalg.LinAlgError, IndexError) as error:
        why = error if isinstance(error, WrongTreeError) else "a scatter or a place in a list is none"
        raise ModelFileError(f"{path} is damaged, or was not written by vbrand: {why}.") from None
    return model


def _check(model: Model) -> None:
    """Refuse parts that do not fit together."""
    classes = model.learned.classes.size
    for name, value in model.settings.items():
        single = all(isinstance(each, SINGLE) for each in (value if isinstance(value, list) else [value]))
        _want(single or (isinstance(value, np.ndarray) and value.dtype.kind in "fiu"), f"the setting {name} is none")
    _check_learned(model.learned)
    _check_finding(model.finding, model.learned)
    if model.finding.story is not None:
        _check_story(model.finding.story, model.finding, model.learned)
    if model.facts is not None:
        # a person may have named groups since
        same = model.finding.story is None
        _check_facts(model.facts, classes if same else model.facts.known, model.finding.group_components.size, same)


def _check_learned(learned: Learned) -> None:
    classes, names = learned.classes, learned.classes.tolist()
    _shapes(learned, classes=(classes.size,))
    _want(classes.dtype.kind in "iU" and len(set(names)) == len(names), "its classes are no labels")
    _want(not {-1, "novel"} & set(names), "a class is called as novelty is")

    passage = learned.passage
    p, kept, q = passage.kept.size, int(passage.kept.sum()), passage.coordinates.centre.size
    _shapes(passage, kept=(p,))
    _shapes(passage.coordinates, centre=(q,), unit=(q,))
    _positive(passage.coordinates.unit)
    _finite(passage.coordinates.centre)
    _want(0.0 < passage.coordinates.farthest <= FARTHEST, "its coordinates have no end")
    if passage.coordinates.step is not None:
        _shapes(passage.coordinates, step=(q,))
        _finite(passage.coordinates.step)
        _want(bool((passage.coordinates.step >= 0.0).all()), "a column is rounded to a negative step")
    if passage.warp is not None:
        _check_warp(passage.warp, kept)
    _want(kept + len(passage.categories) > 0 and classes.size > 0, "it knows no column or no class")
    _check_categories(passage)
    _want(passage.names is None or len(passage.names) == p, "it has another number of columns than of their names")

    if passage.reduction is None:
        _want(q == max(kept, 1), "its columns do not fit its coordinates")
    else:
        _shapes(passage.reduction, centre=(kept,), unit=(kept,), axes=(q - 1, kept))
        _positive(passage.reduction.unit)
        _finite(passage.reduction.centre, passage.reduction.axes, np.array(passage.reduction.floor))
        if passage.reduction.variances is not None:
            _want(passage.reduction.variances.shape in [(count,) for count in range(2, q + 1)], "its axes do not fit")
            _positive(passage.reduction.variances)
    labelled = learned.labelled_classes
    _want(0 < labelled <= classes.size, "it has more classes of labelled rows than classes")
    for _, known in learned.views:
        _check_known(known, labelled, q)
        _check_known_levels(known, passage)
    if learned.witnesses is not None:
        _check_witnesses(learned.witnesses, learned, q)
    if learned.ranges is not None:
        _shapes(learned, ranges=(3, p))
        _want(not bool((learned.ranges[0] > learned.ranges[1]).any()), "a column ends before it begins")
    if learned.prints is not None:
        _shapes(learned, prints=(learned.prints.size,))
    _want(0 <= learned.replicates <= MOST_REPLICATES, "its rows have more replicates than are looked for")


def _check_warp(warp: Warp, kept: int) -> None:
    _shapes(warp, low=(kept,), reach=(kept,), high=(kept,), high_reach=(kept,), power=(kept,), step=(kept,))
    _finite(warp.low, warp.high, warp.power, warp.step)
    bends = np.concatenate([warp.reach, warp.high_reach])
    _want(
        bool((bends > 0.0).all() and (warp.power >= 0.0).all() and (warp.step >= 0.0).all()),
        "a scale is bent backwards",
    )


def _check_categories(passage: Passage) -> None:
    for one in passage.categories:
        _want(
            0 <= one.column < passage.kept.size and not passage.kept[one.column], "a category is no column of its own"
        )
        _want(len(set(one.levels)) == len(one.levels) > 0, "a category has no levels, or one of them twice")
    places = [one.column for one in passage.categories]
    _want(len(set(places)) == len(places), "two categories are one column")


def _check_known_levels(known: KnownClasses, passage: Passage) -> None:
    _want(known.level_sizes == passage.level_sizes, "its classes have other categories")
    _want((known.levels is None) == (not passage.categories), "its classes have other categories")
    _want(known.numbers == bool(passage.kept.any()), "its classes have other columns")
    if known.levels is not None:
        _check_seen(known.levels, known.class_of.size, passage)


def _check_seen(seen: FloatArray | None, count: int, passage: Passage) -> None:
    if seen is not None:
        _want(seen.shape == (count, sum(passage.level_sizes)), "it counts other levels than its categories have")
        _want(bool(((seen >= 0.0) & (seen < _MOST)).all()), "a level has fewer than no rows, or too many")


def _check_levels(components: Components, passage: Passage) -> None:
    levels = components.levels
    _want((levels is None) == (not passage.categories), "a component has other categories")
    if levels is not None:
        _want(levels.sizes == passage.level_sizes, "a component has other categories")
        _shapes(levels, counts=(components.dof.size, sum(levels.sizes)), fixed=(components.dof.size,))
        _positive(levels.counts)
        _want(bool((levels.counts < _MOST).all()), "a level has too many rows")


def _check_components(components: Components, count: int, q: int) -> None:
    _shapes(components, mean=(count, q), precision=(count,), dof=(count,), scale=(count, q, q))
    _want(len(components.kernels) == count, "a component has no kernel")
    _moderate(components.mean, components.scale)
    point_mass = np.isposinf(components.precision)  # of a class that is not updated
    _positive(components.precision[~point_mass])
    _want(bool((components.dof > q - 1.0).all()), "degrees of freedom are too few")
    _want(bool((components.dof < _MOST).all()), "degrees of freedom are too many")
    if components.noise is not None:
        _shapes(components, noise=(q, q))
        _moderate(components.noise)
        _want(bool((np.diagonal(components.noise) >= 0.0).all()), "a variance is negative")
    _ = components.factor  # scatters that are none fail here


def _check_witnesses(witnesses: Witnesses, learned: Learned, q: int) -> None:
    count = witnesses.member.size
    _shapes(witnesses, rows=(count, q + len(learned.passage.categories)), member=(count,))
    _check_codes(witnesses.rows[:, q:], learned.passage)
    _moderate(np.nan_to_num(witnesses.rows, nan=0.0))  # a cell may be missing
    _want(_indices(witnesses.member, learned.labelled_classes), "a labelled row belongs to no class")
    _want(np.unique(witnesses.member).size == learned.labelled_classes, "a class has no labelled row")
    for _, known in learned.views:
        lessons, modes = known.lessons, known.class_of.size
        if lessons is not None:
            _shapes(lessons, mode_of=(count,), root=(q, q), inverse=(q, q))
            _want(_indices(lessons.mode_of + 1, modes + 1), "a labelled row belongs to no mode")
            _check_components(lessons.components, modes, q)
            _check_statistics(lessons.statistics, modes, q)
            _moderate(lessons.root, lessons.inverse)
            _want((lessons.shares is None) == (known.levels is None), "its labelled rows count otherwise")
            if lessons.shares is not None:
                _shapes(lessons, shares=(count,))
                _shares(lessons.shares)
            if lessons.sphere is not None:
                _shapes(lessons, sphere=(q, q))
                _moderate(lessons.sphere)


def _check_codes(codes: FloatArray, passage: Passage) -> None:
    for column, size in zip(codes.T, passage.level_sizes, strict=False):
        _want(bool(np.isin(column, np.arange(-1.0, size)).all()), "a row has a level that is none")


def _check_finding(finding: Finding, learned: Learned) -> None:
    classes, q = learned.classes.size, learned.passage.coordinates.centre.size
    prior, meaning, class_of = finding.prior, finding.meaning, finding.meaning.class_of
    _want(0 <= finding.chosen < len(learned.views), "it has no such view")
    _check_belief(prior.components, prior.weights, prior, q)
    for components in (prior.components, finding.posterior.components):
        _check_levels(components, learned.passage)
    chosen = learned.views[finding.chosen][1].class_of
    _want(_indices(prior.class_of + 1, classes + 1), "a component belongs to no class")
    _want(np.array_equal(chosen, prior.class_of[: chosen.size]), "its view has other components")
    _want(prior.known == chosen.size or finding.story is not None, "it has components of no batch")

    _check_belief(finding.posterior.components, finding.posterior.weights, prior, q)
    _shapes(meaning, class_of=(finding.posterior.components.dof.size,))
    _want(_indices(class_of + 1, classes + 1), "a component belongs to no class")
    _want(np.array_equal(class_of[: prior.known], prior.class_of), "known components lost their class")
    _want(np.unique(class_of[class_of >= 0]).size == classes, "a class has no component")
    novel = int((class_of < 0).sum())
    if meaning.checked is not None:
        _check_checked(meaning.checked, classes, novel, q)
        _check_levels(meaning.checked.labelled.components, learned.passage)
    groups = finding.group_components
    columns = novel + (meaning.checked is not None)
    _want(groups.ndim == 1 and _indices(groups, columns), "a group has no component")
    _want(finding.threshold is None or 0.0 < finding.threshold < 1.0, "its threshold is no probability")


def _check_checked(checked: Checked, classes: int, novel: int, q: int) -> None:
    labelled, cells = checked.labelled, checked.cells
    count = labelled.class_of.size
    _check_components(labelled.components, count, q)
    _shapes(labelled, log_weights=(count,), class_of=(count,))
    _want(_indices(labelled.class_of, classes), "a component belongs to no class")
    _want(len(cells.novel) == novel, "it has cells of another number of components")
    for edges in (cells.known, *cells.novel):
        _want(edges.ndim == 1 and bool((np.diff(edges) >= 0.0).all()), "its cells are not in order")
        _finite(edges)
    total = int(cells.starts[-1])
    _shapes(checked, classes=(total, classes), novel=(total,))
    _shares(checked.classes, checked.novel, np.array([checked.fit_weight]))
    _finite(np.array([checked.farthest]))
    _want(bool(((labelled.log_weights <= 0.0) & (labelled.log_weights > -_FARTHEST)).all()), "a weight is no share")
    if checked.rareness is not None:
        wrong = wrong_with(checked.rareness, q)
        _want(not wrong, wrong)
    if checked.votes is not None:
        wrong = wrong_with_votes(checked.votes, q, classes)
        _want(not wrong, wrong)


def _check_known(known: KnownClasses, classes: int, q: int) -> None:
    count = known.class_of.size
    _shapes(known, labels=(classes,), class_of=(count,), rows=(count,), rows_used=(count,), conditions=(count,))
    _shapes(known, rhos=(count,), centres=(count, q), scatters=(count, q, q), average=(q, q))
    _want(_indices(known.class_of, classes), "a component belongs to no class")
    _want(np.unique(known.class_of).size == classes, "a class has no component")
    _positive(np.array(known.alike))
    for rows, least in ((known.rows, 1), (known.rows_used, 0)):
        _want(bool(((rows >= least) & (rows < _MOST)).all()), "a class has too few or too many rows")
    _moderate(known.centres, known.scatters, known.average)
    np.linalg.cholesky(np.concatenate([known.scatters, known.average[None]]))  # scatters that are none fail here


def _check_belief(components: Components, weights: Weights, prior: Prior, q: int) -> None:
    count, known = components.dof.size, prior.class_of.size
    _shapes(prior, class_of=(known,))
    _check_components(components, count, q)
    sticks = weights.broken.size
    _shapes(weights, dirichlet=(known + 1,), broken=(sticks,), passed=(sticks,))
    _want(known < count <= known + sticks + 1, "it has too few or too many components")
    for positive in (weights.dirichlet, weights.broken, weights.passed):
        _positive(positive)
        _moderate(positive)


def _check_story(story: Story, finding: Finding, learned: Learned) -> None:
    q, count, taught = learned.passage.coordinates.centre.size, story.class_of.size, story.taught
    known, rows = learned.views[finding.chosen][1].class_of.size, story.homes.size
    wide = q + len(learned.passage.categories) if rows else story.window.shape[1]
    _shapes(story, class_of=(count,), numbers=(count,), places=(count,), window=(rows, wide), homes=(rows,))
    _check_codes(story.window[:, q:], learned.passage)
    _check_seen(taught.levels, known + count, learned.passage)
    _shapes(story, living=finding.group_components.shape)
    _check_statistics(taught, known + count, q)
    _moderate(np.nan_to_num(story.window, nan=0.0))  # a cell may be missing

    novel = np.arange(finding.meaning.class_of.size) >= known
    _want(_indices(story.places, novel.size) and bool(novel[story.places].all()), "a group has no component")
    _want(np.unique(story.places).size == count, "two groups have the same component")
    _want(np.array_equal(finding.meaning.class_of[story.places], story.class_of), "a group lost its class")
    _want(_indices(story.homes - INSIDE, count - INSIDE), "a row belongs to no group")
    _want(story.batches > 0 and story.rows >= 0, "it has no batch")
    for numbers in (story.numbers, story.living, np.array([story.inside])):
        _want(_indices(numbers, max(story.unused, 1)), "a group has a number that was never given")


def _check_statistics(taught: Statistics, count: int, q: int) -> None:
    _shapes(taught, counts=(count,), weights=(count,), origin=(count, q), sums=(count, q), squares=(count, q, q))
    _moderate(taught.origin, taught.sums, taught.squares)
    for weights in (taught.counts, taught.weights):
        _want(bool(((weights >= 0.0) & (weights < _MOST)).all()), "a component has fewer than no rows, or too many")
    size, least = np.einsum("kii->k", taught.squares), np.linalg.eigvalsh(taught.squares)[:, 0]
    _want(bool((least >= -_ROUNDING * (1.0 + np.abs(size))).all()), "what rows taught is no scatter")


def _check_facts(facts: Facts, classes: int, novel: int, same: bool) -> None:
    points, profiles, groups = facts.points, facts.profiles, len(facts.groups)
    novel = novel if same else groups - classes
    m, c = len(points.names), len(profiles.columns)
    _shapes(points, clusters=(m,), novelty=(m,), classes=(m, classes + 1), scores=(m, points.scores.shape[-1]))
    _want(m <= MOST_POINTS + groups + 2 * TELLING, "its map has too many rows")
    _want(points.scores.ndim == 2 and points.scores.shape[1] >= 2, "its map is not in a plane")
    _want(points.truth is None or len(points.truth) == m, "its map has another number of true classes")
    _want(_indices(points.clusters, groups), "a row belongs to no group")
    _want(facts.known == classes and groups == classes + novel, "it has another number of groups")
    _want(facts.check is None or len(facts.check.by_group) == novel, "its check is of another number of groups")
    counted = () if facts.check is None else facts.check.hidden_counts
    _want(len(counted) in (0, BINS) and min(counted, default=0) >= 0, "its check counts hidden rows otherwise")
    _shares(points.novelty, points.classes, slack=_ROUNDING)
    if points.score is not None:
        _shapes(points, score=(m,))
    _moderate(points.scores)
    if facts.labelled is not None:
        labelled = facts.labelled
        _shapes(labelled, classes=(labelled.classes.size,), scores=(labelled.classes.size, points.scores.shape[1]))
        _want(_indices(labelled.classes, classes), "a labelled row on the map belongs to no class")
        _moderate(labelled.scores)

    _shapes(facts, novelty_counts=(facts.novelty_counts.shape[0], 3))
    _shapes(profiles, lower=(groups, c), middle=(groups, c), upper=(groups, c), scaled=(3, groups, c))
    if profiles.positions is not None:
        _shapes(profiles, positions=(c,))
    if facts.levels is not None:
        _shapes(facts.levels, shares=(groups, len(facts.levels.names)))
        _shares(facts.levels.shares, slack=_ROUNDING)
    if facts.confusion is not None:
        _shapes(facts.confusion, counts=(len(facts.confusion.truth), len(facts.confusion.clusters)))
    if facts.climb is not None:
        _want(facts.climb.trace.ndim == 1 and facts.climb.trace.size > 0, "its bound has no history")


def _shapes(part: Any, **wanted: tuple[int, ...]) -> None:
    for name, shape in wanted.items():
        _want(getattr(part, name).shape == shape, f"{type(part).__name__}.{name} has another shape than the rest")


def _finite(*arrays: NDArray[Any]) -> None:
    for values in arrays:
        _want(bool(np.isfinite(values).all()), "a number is not finite")


def _shares(*arrays: FloatArray, slack: float = 0.0) -> None:
    for values in arrays:
        _want(bool(((values >= -slack) & (values <= 1.0 + slack)).all()), "a share is not between 0 and 1")


def _moderate(*arrays: NDArray[Any]) -> None:
    for values in arrays:
        _want(bool((np.abs(values) < _LARGEST).all()), "a number is not finite or out of all measure")


def _positive(values: NDArray[Any]) -> None:
    _want(bool(np.isfinite(values).all() and (values > 0.0).all()), "a scale or weight is not a positive number")


def _indices(values: IntArray, below: int) -> bool:
    return bool(((values >= 0) & (values < below)).all())


def _want(holds: bool, complaint: str) -> None:
    if not holds:
        raise WrongTreeError(complaint)
