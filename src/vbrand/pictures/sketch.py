"""The map as one small SVG without a script: for notebooks, which show it wherever they are opened."""

from html import escape

import numpy as np

from vbrand.facts.facts import Facts
from vbrand.facts.groups import GroupKind
from vbrand.facts.maps import steady_range
from vbrand.pictures.looks import Look, called, looks_of
from vbrand.types import FloatArray

# in pixels: the picture, and the part of it that is the map; legend lines are as high as text
_WIDTH, _HEIGHT, _MAP, _LINE = 760, 420, 520, 19
# marks: enough to see the shape of groups, few enough for a notebook file
_MOST_MARKS = 1_000
_MOST_NAMED = 18
_LONGEST_NAME = 26
_SHAPES = {
    "circle": "M3,0A3,3 0 1 1 -3,0A3,3 0 1 1 3,0Z",
    "square": "M-3,-3H3V3H-3Z",
    "diamond": "M0,-4L4,0L0,4L-4,0Z",
    "hexagon": "M0,-4L3.4,-2V2L0,4L-3.4,2V-2Z",
    "pentagon": "M0,-4L3.8,-1.2L2.4,3.2H-2.4L-3.8,-1.2Z",
    "triangle-up": "M0,-4L4,3H-4Z",
    "star": "M0,-5L1.3,-1.5H5L2,.8L3,4.5L0,2.3L-3,4.5L-2,.8L-5,-1.5H-1.3Z",
    "cross": "M-1,-4H1V-1H4V1H1V4H-1V1H-4V-1H-1Z",
    "triangle-down": "M0,4L4,-3H-4Z",
    "x": "M-4,-2.6L-2.6,-4L0,-1.4L2.6,-4L4,-2.6L1.4,0L4,2.6L2.6,4L0,1.4L-2.6,4L-4,2.6L-1.4,0Z",
}


def map_svg(facts: Facts) -> str:
    """Return the rows by their principal components, labelled rows as hollow marks, with a legend beside them."""
    points, looks = facts.points, looks_of(facts.groups)
    rows, beside = points.scores[:, :2], np.empty((0, 2)) if facts.labelled is None else facts.labelled.scores[:, :2]
    steady = np.array([group.kind != GroupKind.OUTLIER for group in facts.groups])
    shown = steady_range(rows, points.clusters, steady)

    marks = list[str]()
    if facts.labelled is not None:
        hollow = 'fill="none" stroke-opacity=".7" stroke'
        marks += _marks(_pixels(beside, shown), facts.labelled.classes.tolist(), looks, hollow)
    some = np.arange(0, rows.shape[0], max(1, -(-rows.shape[0] // _MOST_MARKS)))
    marks += _marks(_pixels(rows[some], shown), points.clusters[some].tolist(), looks, "fill")

    frame = f'<rect x="8" y="8" width="{_MAP - 16}" height="{_HEIGHT - 40}" fill="none" stroke="#d9dfe6"/>'
    words = [
        f'<text x="{_MAP / 2}" y="{_HEIGHT - 12}" text-anchor="middle" fill="#566474">first principal component</text>',
        *_legend(facts, looks),
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" role="img" '
        f'aria-label="map of the rows" style="max-width: 100%; background: #fff" font-family="sans-serif" '
        f'font-size="13">{frame}{"".join(marks)}{"".join(words)}</svg>'
    )


def _pixels(places: FloatArray, shown: FloatArray) -> FloatArray:
    """Return where places lie in the picture; those beyond its edge lie on it."""
    span = np.where(shown[:, 1] > shown[:, 0], shown[:, 1] - shown[:, 0], 1.0)
    share = np.clip((places - shown[:, 0]) / span, 0.0, 1.0)
    return np.column_stack([18 + share[:, 0] * (_MAP - 36), _HEIGHT - 42 - share[:, 1] * (_HEIGHT - 60)])


def _marks(places: FloatArray, groups: list[int], looks: tuple[Look, ...], paint: str) -> list[str]:
    return [
        f'<path d="{_SHAPES[looks[k].symbol]}" transform="translate({x:.0f},{y:.0f})" {paint}="{looks[k].colour}"/>'
        for (x, y), k in zip(places.tolist(), groups, strict=True)
    ]


def _legend(facts: Facts, looks: tuple[Look, ...]) -> list[str]:
    """Return the names of the groups, novel ones first, each beside its mark; of very many the first."""
    order = sorted(range(len(facts.groups)), key=lambda k: facts.groups[k].kind == GroupKind.KNOWN)
    held = [k for k in order if facts.groups[k].rows]
    lines = list[str]()
    for place, k in enumerate(held[:_MOST_NAMED]):
        group, y = facts.groups[k], 26 + _LINE * place
        name = group.name if len(group.name) <= _LONGEST_NAME else f"{group.name[: _LONGEST_NAME - 1]}…"
        text = escape(called(group, f"{name} ({group.rows:,})"))
        lines.append(f'<path d="{_SHAPES[looks[k].symbol]}" transform="translate({_MAP + 10},{y - 4})" ')
        lines.append(f'fill="{looks[k].colour}"/><text x="{_MAP + 22}" y="{y}" fill="#1d2733">{text}</text>')
    more = len(held) - _MOST_NAMED
    rest = [f"and {more} more groups"] if more > 0 else []
    rest += [] if facts.labelled is None else ["hollow: labelled rows"]
    below = 26 + _LINE * (min(len(held), _MOST_NAMED))
    lines += [
        f'<text x="{_MAP + 10}" y="{below + _LINE * i}" fill="#566474">{word}</text>' for i, word in enumerate(rest)
    ]
    return lines
