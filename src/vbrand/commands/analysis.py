"""From tables to answers on disk: fit, discover, compare with the truth, write labels, model, summary and report."""

import csv
import io
import json
import warnings
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

from numpy.typing import NDArray

from vbrand.discovery.memberships import label_names
from vbrand.discovery.variational import VariationalDiscovery
from vbrand.estimators.model_file import Model, model_writer
from vbrand.estimators.variational import VBrand
from vbrand.facts.facts import Facts
from vbrand.facts.groups import GroupKind
from vbrand.io.files.plain import json_ready
from vbrand.io.files.whole import write_together
from vbrand.io.tables.material import Material, Unknown
from vbrand.metrics import Scores, evaluate
from vbrand.pictures.page import report_html

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
class Analysis:
    """What was found in unknown rows."""

    detector: VBrand
    found: VariationalDiscovery
    unknown: Unknown
    facts: Facts
    scores: Scores | None

    @property
    def model(self) -> Model:
        """Return what the model file holds."""
        return self.detector.model(self.facts)


def analyse(material: Material, settings: Mapping[str, Any], stage: Stage) -> Analysis:
    """Learn the known classes and discover the unknown rows; warnings of the library become notes."""
    unknown = material.unknown
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        detector = VBrand(**settings)
        with stage("learning the known classes"):
            detector.fit(named(material.rows, unknown.columns), material.labels)
        found = detector.discover(named(unknown.rows, unknown.columns))

    said = [str(each.message) for each in caught if issubclass(each.category, UserWarning)]

    scores = None if unknown.truth is None else evaluate(unknown.truth, found)
    listed = () if scores is None else tuple((_SCORE_NAMES[name], value) for name, value in asdict(scores).items())
    facts = found.facts(source=unknown.source, names=unknown.names, truth=unknown.truth, scores=listed)
    facts = replace(facts, notes=(*facts.notes, *material.notes, *said))
    return Analysis(detector, found, unknown, facts, scores)


def write_analysis(analysis: Analysis, folder: Path, stage: Stage) -> None:
    """Write labels, model, summary and report: all of them, or none."""
    model = analysis.model
    with stage("drawing the report"):
        page = report_html(analysis.facts, model.settings, model.versions).encode()

    writes: dict[str, Callable[[BinaryIO], Any]] = {
        "labels.csv": lambda file: write_labels(file, analysis.detector, analysis.unknown, model.facts),
        "model.vbrand": model_writer(model),
        "summary.json": lambda file: file.write(summary_json(analysis).encode()),
        "report.html": lambda file: file.write(page),
    }

    with stage("writing"):
        write_together({folder / name: writes[name] for name in FILES})


def write_labels(file: BinaryIO, detector: VBrand, unknown: Unknown, facts: Facts | None) -> None:
    """Write one line per row: columns carried over from its table, its label, its group and its probabilities."""
    groups = detector.classes_.astype(str).tolist() if facts is None else [group.name for group in facts.groups]
    names = [*groups, LIKE_NONE]
    classes = [f"P({name})" for name in detector.classes_.tolist()]

    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    # a carriage return ends a line too, but Python's writer puts no quotes around it
    returns = any(cell is not None and "\r" in cell for cells in unknown.carried.values() for cell in cells)
    writer = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL if returns else csv.QUOTE_MINIMAL)

    own = ["label", "cluster", "novelty_probability", *classes]
    writer.writerow([*_other_names(list(unknown.carried), own), *own])

    for block, answers in detector.answers(named(unknown.rows, unknown.columns)):
        columns: list[Any] = [cells[block] for cells in unknown.carried.values()]
        columns += [answers.labels.tolist(), [names[k] for k in answers.clusters.tolist()]]
        chances = [answers.novelty_probability, *answers.class_probabilities[:, :-1].T]
        columns += [[f"{chance:.6g}" for chance in column.tolist()] for column in chances]
        writer.writerows(zip(*columns, strict=True))

    text.flush()
    text.detach()


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
    facts, model = analysis.facts, analysis.model
    summary = {
        "sentence": facts.sentence,
        "rows": facts.rows,
        "known_rows": sum(group.rows for group in facts.groups if group.kind == GroupKind.KNOWN),
        "novel_rows": sum(group.rows for group in facts.groups if group.kind == GroupKind.NOVEL),
        "outlier_rows": sum(group.rows for group in facts.groups if group.kind == GroupKind.OUTLIER),
        "novel_label": label_names(analysis.detector.classes_).tolist()[-1],
        "groups": [_group(facts, k) for k in range(len(facts.groups))],
        "novel_groups": asdict(facts.count),
        "threshold": facts.threshold,
        "bound": analysis.found.elbo,
        "notes": facts.notes,
        "scores": None if analysis.scores is None else asdict(analysis.scores),
        "confusion": None if facts.confusion is None else asdict(facts.confusion),
        "settings": model.settings,
        "versions": model.versions,
    }

    return json.dumps(json_ready(summary), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def named(rows: NDArray[Any], columns: tuple[str, ...] | None) -> Any:
    """Return the rows, uncopied, as a table with the names of their columns; rows without names as they are."""
    if columns is None:
        return rows
    import pandas

    return pandas.DataFrame(rows, columns=list(columns), copy=False)


def _group(facts: Facts, k: int) -> dict[str, Any]:
    group = facts.groups[k]
    line = {
        "name": group.name,
        "kind": group.kind,
        "rows": group.rows,
        "weight": group.weight,
        "novelty_probability": group.novelty_probability if group.rows else None,
    }
    return line if group.explanation is None else {**line, "explanation": asdict(group.explanation)}
