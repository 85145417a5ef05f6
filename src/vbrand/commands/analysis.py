"""From tables to answers on disk: fit, discover, compare with the truth, write labels, model, summary and report."""

import csv
import io
import json
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from vbrand.checks import check_number
from vbrand.commands.parts import parts_written, remove_parts
from vbrand.discovery.memberships import label_names
from vbrand.discovery.variational import VariationalDiscovery
from vbrand.estimators.model_file import Model, model_writer
from vbrand.estimators.progress import passes_on
from vbrand.estimators.stored import without_rows
from vbrand.estimators.variational import VBrand
from vbrand.facts.check import Check
from vbrand.facts.facts import Facts
from vbrand.facts.groups import GroupKind, plural
from vbrand.io.files.plain import json_ready
from vbrand.io.files.whole import write_together
from vbrand.io.tables.categories import Category, renumbered, texts_again
from vbrand.io.tables.material import Material, Unknown, control_labels
from vbrand.io.tables.workbook import write_workbook
from vbrand.metrics import Scores, evaluate
from vbrand.pictures.page import report_html
from vbrand.types import BoolArray

FILES = ("labels.csv", "model.vbrand", "summary.json", "report.html")
LIKE_NONE = "novel, like no group"
_SCORE_NAMES = {
    "ari": "ARI",
    "ami": "AMI",
    "fmi": "FMI",
    "novelty_f1": "novelty F1",
    "known_f1": "known F1",
    "known_accuracy": "known accuracy",
    "false_novelty": "false novelty",
}
# shows what is being done while the work inside its `with` block runs
Stage = Callable[[str], AbstractContextManager[Any]]


@dataclass(frozen=True)
class Selection:
    """The rows that can be called novel if a share of them may be known after all."""

    false_share: float
    chosen: BoolArray  # (n,)

    def __str__(self) -> str:
        rows = plural(int(self.chosen.sum()), "row is", "rows are")
        return f"{rows} selected as novel; at most {100.0 * self.false_share:.3g} % of them are expected to be known."


@dataclass(frozen=True)
class Analysis:
    """What was found in unknown rows."""

    detector: VBrand
    found: VariationalDiscovery
    unknown: Unknown
    facts: Facts
    scores: Scores | None
    selection: Selection | None = None

    @property
    def on_disk(self) -> bool:
        """Return whether the rows are not held in memory."""
        return not isinstance(self.unknown.rows, np.ndarray)

    @property
    def model(self) -> Model:
        """Return what the model file holds."""
        return self.detector.model(self.facts)


def analyse(
    material: Material, settings: Mapping[str, Any], stage: Stage, *, false_share: float | None = None
) -> Analysis:
    """Learn the known classes and discover the unknown rows; warnings of the library become notes.

    With `false_share` the rows are selected that can be called novel if this share of them may be known after all.
    """
    if false_share is not None:
        check_number("false_share", false_share, 0.0, 1.0)
    unknown = material.unknown
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        detector = VBrand(**settings)
        with stage("learning the known classes"):
            known = named(material.rows, unknown.columns, unknown.categories)
            detector.fit(known, material.labels, material.samples)
        categories = detector.categories_
        if unknown.categories and not isinstance(unknown.rows, np.ndarray):
            recode = partial(renumbered, before=unknown.categories, after=categories)
            unknown = replace(unknown, rows=unknown.rows.mapped(recode))
        found = detector.discover(named(unknown.rows, unknown.columns, unknown.categories), unknown.samples)
        unknown = replace(unknown, rows=found.context.table, categories=categories)  # of replicates the mean

    said = [str(each.message) for each in caught if issubclass(each.category, UserWarning)]

    scores = None if unknown.truth is None else evaluate(unknown.truth, found)
    listed = () if scores is None else tuple((_SCORE_NAMES[name], value) for name, value in asdict(scores).items())
    facts = found.facts(source=unknown.source, names=unknown.names, truth=unknown.truth, scores=listed)
    facts = replace(facts, notes=(*facts.notes, *material.notes, *said))
    selection = None if false_share is None else Selection(false_share, found.select(false_share))
    return Analysis(detector, found, unknown, facts, scores, selection)


def analyse_batch(detector: VBrand, unknown: Unknown) -> Analysis:
    """Go on with the rows of the next batch; warnings of the library become notes."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        controls = control_labels(unknown, detector.classes_)
        found = detector.update(named(unknown.rows, unknown.columns, unknown.categories), labels=controls)
    said = [str(each.message) for each in caught if issubclass(each.category, UserWarning)]
    facts = found.facts(source=unknown.source, names=unknown.names)
    return Analysis(detector, found, unknown, replace(facts, notes=(*facts.notes, *said)), None)


def write_analysis(
    analysis: Analysis, folder: Path, stage: Stage, *, rows: bool = True, workbook: bool = False
) -> None:
    """Write labels, model, summary and report: all of them, or none; without `rows` no labelled row is in the model.

    With `workbook` the labels are written as an Excel sheet, too. Those of a large table are a folder of Parquet files.
    """
    model, selection = analysis.model, analysis.selection
    kept = model if rows else without_rows(model)
    selected = None if selection is None else selection.chosen
    with stage("drawing the report"):
        page = report_html(analysis.facts, model.settings, model.versions).encode()

    labels = label_table(analysis.detector, analysis.unknown, model.facts, selected)
    parts = parts_written(folder, labels.header, labels.blocks, labels.chances) if analysis.on_disk else nullcontext()

    writes: dict[str, Callable[[BinaryIO], Any]] = (
        {}
        if analysis.on_disk
        else {"labels.csv": lambda file: write_labels(file, analysis.detector, analysis.unknown, model.facts, selected)}
    )
    writes |= {
        "model.vbrand": model_writer(kept),
        "summary.json": lambda file: file.write(summary_json(analysis).encode()),
        "report.html": lambda file: file.write(page),
    }
    if workbook:
        sheet = label_table(analysis.detector, analysis.unknown, model.facts, selected)
        writes["labels.xlsx"] = lambda file: write_labels_workbook(file, sheet)

    with stage("writing") as line:
        if analysis.on_disk:
            table: Any = analysis.unknown.rows
            table.scratch.listener = passes_on(line, "writing")
        with parts:
            write_together({folder / name: write for name, write in writes.items()})
        if not analysis.on_disk:
            remove_parts(folder)


@dataclass(frozen=True)
class LabelTable:
    """What there is to say of each row: columns carried over from its table, its label, group and probabilities."""

    header: list[str]
    blocks: Iterator[list[list[Any]]]  # columns of some rows after others; the last are probabilities
    chances: int  # number of columns that are probabilities


def label_table(
    detector: VBrand, unknown: Unknown, facts: Facts | None, selected: BoolArray | None = None
) -> LabelTable:
    """Return a line per row, some rows at a time; `selected` are rows to mark, in a column of their own."""
    groups = detector.group_names
    names, doubts = [*groups, LIKE_NONE], [*_doubts(facts, groups), ""]
    classes = [f"P({name})" for name in detector.classes_.tolist()]
    marks = [] if selected is None else ["selected"]
    own = ["label", "cluster", "doubtful", *marks, "novelty_probability", *classes]

    def blocks() -> Iterator[list[list[Any]]]:
        for block, answers in detector.answers(named(unknown.rows, unknown.columns, unknown.categories)):
            columns: list[Any] = [cells[block] for cells in unknown.carried.values()]
            clusters = answers.clusters.tolist()
            columns += [answers.labels.tolist(), [names[k] for k in clusters], [doubts[k] for k in clusters]]
            if selected is not None:
                columns.append([_truth(chosen) for chosen in selected[block].tolist()])
            columns += [
                column.tolist() for column in (answers.novelty_probability, *answers.class_probabilities[:, :-1].T)
            ]
            if not isinstance(unknown.rows, np.ndarray):
                unknown.rows.scratch.heard(block.start, len(unknown.rows))
            yield columns

    return LabelTable([*_other_names(list(unknown.carried), own), *own], blocks(), 1 + len(classes))


def write_labels(
    file: BinaryIO, detector: VBrand, unknown: Unknown, facts: Facts | None, selected: BoolArray | None = None
) -> None:
    """Write one line per row as CSV; `selected` are rows to mark, in a column of their own."""
    table = label_table(detector, unknown, facts, selected)
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    # a carriage return ends a line too, but Python's writer puts no quotes around it
    returns = any(cell is not None and "\r" in cell for cells in unknown.carried.values() for cell in cells)
    writer = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL if returns else csv.QUOTE_MINIMAL)
    writer.writerow(table.header)
    for columns in table.blocks:
        words, chances = columns[: -table.chances], columns[-table.chances :]
        writer.writerows(zip(*words, *([f"{chance:.6g}" for chance in column] for column in chances), strict=True))
    text.flush()
    text.detach()


def write_labels_workbook(file: BinaryIO, table: LabelTable) -> None:
    """Write one line per row as an Excel sheet, with probabilities as numbers."""
    write_workbook(file, "labels", table.header, table.blocks)


def _doubts(facts: Facts | None, names: list[str]) -> list[str]:
    """Return whether each group is doubtful; nothing is said where nothing was checked."""
    if facts is None or facts.check is None:
        return [""] * len(names)
    doubtful = {group.name for group in facts.groups if group.doubtful}
    return [_truth(name in doubtful) for name in names]


def _truth(value: bool) -> str:
    return "true" if value else "false"


def _other_names(names: list[str], taken: list[str]) -> list[str]:
    """Return the names of carried columns, with "(table)" added to those that are taken already."""
    others = list[str]()
    for name in names:
        other = name
        while other in taken or other in others:
            other = f"{other} (table)"
        others.append(other)
    return others


def summary_json(analysis: Analysis) -> str:
    """Return what was found as JSON, for other programs."""
    facts, model, selection = analysis.facts, analysis.model, analysis.selection
    summary = {
        "trust": facts.trust,
        "sentence": facts.sentence,
        "rows": facts.rows,
        "known_rows": sum(group.rows for group in facts.groups if group.kind == GroupKind.KNOWN),
        "novel_rows": sum(group.rows for group in facts.groups if group.kind == GroupKind.NOVEL),
        "outlier_rows": sum(group.rows for group in facts.groups if group.kind == GroupKind.OUTLIER),
        "doubtful_rows": sum(group.rows for group in facts.groups if group.doubtful),
        "selected_rows": None if selection is None else int(selection.chosen.sum()),
        "novel_label": label_names(analysis.detector.classes_).tolist()[-1],
        "groups": [_group(facts, k) for k in range(len(facts.groups))],
        "novel_groups": asdict(facts.count),
        "check": None if facts.check is None else _check(facts.check),
        "threshold": facts.threshold,
        "bound": analysis.found.elbo,
        "notes": facts.notes,
        "scores": None if analysis.scores is None else asdict(analysis.scores),
        "confusion": None if facts.confusion is None else asdict(facts.confusion),
        "settings": model.settings,
        "versions": model.versions,
    }

    text = json.dumps(json_ready(summary), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    return re.sub("[\x7f-\x9f]", lambda found: f"\\u{ord(found[0]):04x}", text)  # they steer terminals, as escapes do


def named(rows: NDArray[Any], columns: tuple[str, ...] | None, categories: Sequence[Category] = ()) -> Any:
    """Return rows as a table with the names of columns and levels; those without names, or on disk, as they are.

    Numbers are not copied unless there are categories.
    """
    if columns is None or not isinstance(rows, np.ndarray):
        return rows
    import pandas

    table = pandas.DataFrame(rows, columns=list(columns), copy=False)
    levels = {columns[one.column]: texts_again(rows[:, one.column], one.levels) for one in categories}
    return table.assign(**{name: pandas.Categorical(texts) for name, texts in levels.items()}) if levels else table


def _check(check: Check) -> dict[str, Any]:
    return {
        **{name: part for name, part in asdict(check).items() if name != "hidden_counts"},  # for a picture
        "false_share": check.false_share,
        "share_interval": check.share_interval,
        "doubtful": check.doubtful,
    }


def _group(facts: Facts, k: int) -> dict[str, Any]:
    group = facts.groups[k]
    line = {
        "name": group.name,
        "kind": group.kind,
        "rows": group.rows,
        "doubtful": None if facts.check is None else group.doubtful,
        "weight": group.weight,
        "novelty_probability": group.novelty_probability if group.rows else None,
    }
    return line if group.explanation is None else {**line, "explanation": asdict(group.explanation)}
