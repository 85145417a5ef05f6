"""Figures and words -> one HTML file: it fetches nothing, and a policy in the file forbids it to."""

import functools
import json
from collections.abc import Mapping
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from vbrand.facts.explain import DOUBT
from vbrand.facts.facts import Facts
from vbrand.facts.groups import Group, GroupKind
from vbrand.facts.terms import TERMS
from vbrand.io.files.plain import json_ready
from vbrand.pictures import figures
from vbrand.pictures.looks import INKS, NOVELTY_COLOURS, Look, looks_of
from vbrand.pictures.rows import listed_groups, listed_rows, rows_to_look_at
from vbrand.pictures.timeline import listed_events, timeline_figure

if TYPE_CHECKING:
    from jinja2 import Template

# the most novel groups whose columns are drawn; those after the first few are folded
_MOST_EXPLAINED = 12
_UNFOLDED = 3
# lines of the table of groups that are not folded
_MOST_LINES = 10
_SCRIPTS = ("charts.js", "hands.js", "map.js", "rows.js", "names.js", "report.js")
_SHAPES = {
    "circle": "●",
    "square": "■",
    "diamond": "◆",
    "hexagon": "⬢",
    "pentagon": "⬟",
    "triangle-up": "▲",
    "star": "★",
    "cross": "✚",
    "triangle-down": "▼",
    "x": "✖",
}
_LONGEST_NAME = 80


def report_html(facts: Facts, settings: Mapping[str, Any], versions: Mapping[str, str]) -> str:
    """Return the report on a discovery that was made with these settings and these versions of packages."""
    template = _template()
    lines = [_line(group, look) for group, look in zip(facts.groups, looks_of(facts.groups), strict=True)]
    explained = [line for line in lines if line["group"].kind == GroupKind.NOVEL and line["explanation"] is not None]

    report = _report(facts, explained[:_MOST_EXPLAINED])
    return template.render(
        title=f"What is new in {_cut(facts.source)}" if facts.source else "What is new",
        facts=facts,
        lines=sorted(lines, key=_interest),
        most_lines=_MOST_LINES,
        checked=[] if facts.check is None else list(zip(lines[facts.known :], facts.check.by_group, strict=True)),
        explained=explained[:_MOST_EXPLAINED],
        unfolded=_UNFOLDED,
        doubt=DOUBT,
        unexplained=len(explained[_MOST_EXPLAINED:]),
        sampled=len(facts.points.names) < facts.rows,
        events=listed_events(facts.log) if facts.log.batches > 1 else [],
        naming=[lines[each["group"]] for each in report["naming"]],
        dropped=0 if facts.climb is None else sum(not move.kept for move in facts.climb.moves),
        notes=sorted(facts.notes, key=lambda note: note.startswith("tails:")),
        settings=sorted(settings.items()),
        versions=versions,
        terms=TERMS,
        inks=INKS,
        scale=NOVELTY_COLOURS,
        style=_resource("report.css"),
        script="\n".join(_resource(name) for name in _SCRIPTS),
        few_lines=any(series["off"] for series in report["figures"].get("profile", {"series": []})["series"]),
        report=_json(report),
    )


@functools.cache
def _template() -> "Template":
    """Return the template of the page; the first report of a process compiles it, which takes longer than all else."""
    try:
        from jinja2 import Environment, StrictUndefined
    except ImportError:
        raise ImportError("reports need the package jinja2: pip install 'vbrand[report]'") from None

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters["cut"] = _cut
    return environment.from_string(_resource("template.html"))


def _report(facts: Facts, explained: list[dict[str, Any]]) -> dict[str, Any]:
    """Return all that the page draws and lists."""
    return {
        "groups": listed_groups(facts),
        "classes": [*(_cut(group.name) for group in facts.groups[: facts.known]), "novel"],
        "rows": listed_rows(facts),
        "scale": NOVELTY_COLOURS,
        "threshold": facts.threshold,
        "naming": [] if facts.climb is None else rows_to_look_at(facts),
        "figures": _figures(facts, explained),
    }


def _figures(facts: Facts, explained: list[dict[str, Any]]) -> dict[str, figures.Figure]:
    drawn = {
        "novelty": figures.novelty_figure(facts),
        "map": figures.map_figure(facts),
    }
    if facts.profiles.columns:  # of numbers
        drawn["profile"] = figures.profile_figure(facts)
        own = enumerate(explained)
        drawn |= {f"features-{k}": figures.features_figure(line["group"], line["look"]) for k, line in own}
    if facts.levels is not None:
        drawn["levels"] = figures.levels_figure(facts)
    if facts.log.batches > 1 and len(facts.log):
        drawn["timeline"] = timeline_figure(facts)
    if facts.climb is not None:
        drawn["history"] = figures.history_figure(facts)
    if facts.confusion is not None:
        drawn["confusion"] = figures.confusion_figure(facts)
    return drawn


def _line(group: Group, look: Look) -> dict[str, Any]:
    """Return a line of the table of groups."""
    return {
        "group": group,
        "look": look,
        "novel": group.kind == GroupKind.NOVEL and not group.doubtful,
        "shape": _SHAPES[look.symbol],
        "explanation": group.explanation,
    }


def _interest(line: dict[str, Any]) -> int:
    """Return the place of a group in the table: what is surely novel first, odd rows last."""
    group = line["group"]
    return 3 if group.kind == GroupKind.OUTLIER else 2 if group.kind == GroupKind.KNOWN else int(group.doubtful)


def _cut(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"


def _resource(name: str) -> str:
    return files("vbrand.pictures").joinpath(name).read_text(encoding="utf-8")


def _json(value: Any) -> str:
    """Return JSON that is safe inside a page: no tag can begin in it."""
    text = json.dumps(json_ready(value, digits=7), allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
