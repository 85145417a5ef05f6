"""Figures and words -> one HTML file: it fetches nothing, and a policy in the file forbids it to."""

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from vbrand.facts.explain import DOUBT
from vbrand.facts.facts import Facts
from vbrand.facts.groups import Group, GroupKind
from vbrand.io.files.plain import json_ready
from vbrand.pictures import figures
from vbrand.pictures.looks import Look, looks_of

# the most novel groups whose columns are drawn
_MOST_EXPLAINED = 12
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


def report_html(facts: Facts, settings: Mapping[str, Any], versions: Mapping[str, str]) -> str:
    """Return the report on a discovery that was made with these settings and these versions of packages."""
    try:
        from jinja2 import Environment, StrictUndefined
        from plotly.offline import get_plotlyjs
    except ImportError:
        raise ImportError("reports need the packages plotly and jinja2: pip install 'vbrand[report]'") from None

    explained = [group for group in facts.groups if group.kind == GroupKind.NOVEL and group.explanation is not None]
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(_resource("template.html"))
    lines = [_line(group, look) for group, look in zip(facts.groups, looks_of(facts.groups), strict=True)]

    return template.render(
        title=f"What is new in {facts.source}" if facts.source else "What is new",
        facts=facts,
        lines=lines,
        checked=[] if facts.check is None else zip(lines[facts.known :], facts.check.by_group, strict=True),
        explained=explained[:_MOST_EXPLAINED],
        doubt=DOUBT,
        unexplained=len(explained[_MOST_EXPLAINED:]),
        sampled=len(facts.points.names) < facts.rows,
        dropped=0 if facts.climb is None else sum(not move.kept for move in facts.climb.moves),
        settings=sorted(settings.items()),
        versions=versions,
        style=_resource("report.css"),
        script=_resource("report.js"),
        plotly=get_plotlyjs(),
        figures=_json(_figures(facts, explained[:_MOST_EXPLAINED])),
    )


def _figures(facts: Facts, explained: list[Group]) -> dict[str, figures.Figure]:
    drawn = {
        "map": figures.map_figure(facts),
        "novelty": figures.novelty_figure(facts),
        "profile": figures.profile_figure(facts),
    }
    drawn |= {f"features-{k}": figures.features_figure(group) for k, group in enumerate(explained)}
    if facts.climb is not None:
        drawn["history"] = figures.history_figure(facts)
    if facts.confusion is not None:
        drawn["confusion"] = figures.confusion_figure(facts)
    return drawn


def _line(group: Group, look: Look) -> dict[str, Any]:
    """Return a line of the table of groups."""
    return {
        "group": group,
        "novel": group.kind == GroupKind.NOVEL and not group.doubtful,
        "colour": look.colour,
        "shape": _SHAPES[look.symbol],
        "explanation": group.explanation,
    }


def _resource(name: str) -> str:
    return files("vbrand.pictures").joinpath(name).read_text(encoding="utf-8")


def _json(value: Any) -> str:
    """Return JSON that is safe inside a page: no tag can begin in it."""
    text = json.dumps(json_ready(value, digits=7), allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
