"""Facts -> figures as the page draws them: plain dicts of series and axes, with no colour but names of inks.

A figure is {"series": [..], "x": axis, "y": axis}, and maybe "height", "names" and "rules". A series has a "kind", a
"name" for the legend and an "ink" (`looks.INKS`):

- "points" and "line": "x", "y"; "symbol", "hollow", "dash"; "tips", or "values" to be told beside the figure's "names"
- "area": the outline "x", "y" of a band; it comes and goes with the line of its name
- "bars": "at", "size", "width"; "hatch", "words" beside them ("short" ones on a phone), "tips"; across the
  figure if its "across" is true
- "steps": "at", "size", "width": the outline of bars
- "cells": "share", "words" and "tips", row by row

An axis has a "title", and maybe a "range", "ticks" as pairs of place and word, a "format" ("percent") or "log". Lines
at "rules" have a place "x" and a "word". Names are plain text: the page never takes them for markup.
"""

from typing import Any

import numpy as np

from vbrand.facts.facts import Facts
from vbrand.facts.groups import Group, GroupKind
from vbrand.facts.maps import steady_range, tsne_points
from vbrand.inference.moves import MoveKind
from vbrand.pictures.looks import GREY_INK, KNOWN_INK, NOVEL_INK, Look, called, looks_of
from vbrand.types import FloatArray

Figure = dict[str, Any]

_KINDS = (
    ("known classes", KNOWN_INK, None),
    ("novel groups", NOVEL_INK, "lines"),
    ("doubtful or outlier groups", GREY_INK, "dots"),
)
_MOVES = {
    MoveKind.BIRTH: "triangle-up",
    MoveKind.MERGE: "triangle-down",
    MoveKind.RELEASE: "square",
    MoveKind.RESPLIT: "diamond",
    MoveKind.RENEW: "cross",
    MoveKind.DELETE: "x",
}
_LONGEST_NAME = 24
# more lines than these cover each other: groups in all, and those of them that are novel
_MOST_LINES, _MOST_NOVEL = 10, 4
# a line of text in a figure, in pixels
_LINE = 26


def map_figure(facts: Facts) -> Figure:
    """Return the map: the places of rows, and of labelled rows beside them, by PCA and t-SNE; the page switches."""
    points, beside = facts.points, facts.labelled
    scores = points.scores if beside is None else np.vstack([points.scores, beside.scores])
    drawn = {"pca": scores[:, :2]}
    neighbours = tsne_points(scores)
    if neighbours is not None:
        drawn["tsne"] = neighbours
    titles = {"pca": ("first principal component", "second principal component"), "tsne": ("t-SNE 1", "t-SNE 2")}

    return {
        "kind": "map",
        "views": {name: {**_view(facts, places), "titles": titles[name]} for name, places in drawn.items()},
        "labelled": [] if beside is None else beside.classes,
        "height": 560,
    }


def _view(facts: Facts, places: FloatArray) -> Figure:
    """Return where rows and labelled rows are, the part of the plane to show, and where groups have their middles."""
    points = facts.points
    rows, labelled = np.split(places, [len(points.names)])
    beside = np.empty(0, dtype=np.int64) if facts.labelled is None else facts.labelled.classes
    steady = np.array([group.kind != GroupKind.OUTLIER for group in facts.groups])
    middles = [
        [k, *np.median(rows[points.clusters == k], axis=0).tolist()]
        for k in _by_interest(facts.groups)
        if steady[k] and (points.clusters == k).any()
    ]
    return {
        "rows": rows.T,
        "labelled": labelled.T,
        "range": steady_range(places, np.concatenate([points.clusters, beside]), steady),
        "middles": middles,
    }


def _by_interest(groups: tuple[Group, ...]) -> list[int]:
    """Return the order in which groups get their names on the map: novel ones first, then the largest."""
    return sorted(range(len(groups)), key=lambda k: (groups[k].kind == GroupKind.KNOWN, -groups[k].rows))


def novelty_figure(facts: Facts) -> Figure:
    """Return the distribution of P(novel), with the threshold, and that of labelled rows while they were hidden."""
    series = [
        {
            "kind": "bars",
            "name": name,
            "ink": ink,
            "hatch": hatch,
            **_counts(facts.novelty_counts[:, k], name),
        }
        for k, (name, ink, hatch) in enumerate(_KINDS)
        if facts.novelty_counts[:, k].any()
    ]

    hidden = np.array(() if facts.check is None else facts.check.hidden_counts, dtype=np.int64)
    if hidden.any():
        name = "labelled rows, while they were hidden"
        series.append({"kind": "steps", "name": name, "ink": "ink", **_counts(hidden, "labelled rows, hidden")})

    most = max(1, facts.novelty_counts.max(), *hidden.tolist())
    return {
        "series": series,
        "x": {"title": "P(novel)", "range": [0, 1]},
        "y": {"title": "rows (logarithmic)", "log": True, "range": [0.5, 2.0 * most]},
        "rules": [{"x": facts.threshold, "word": f"threshold {facts.threshold:g}"}],
        "height": 320,
    }


def _counts(counts: Any, name: str) -> Figure:
    """Return bars of counted rows, with nothing where nothing is counted."""
    at = np.flatnonzero(counts)
    middle = (at + 0.5) / counts.size
    tips = [f"{counts[i]:,} {name}\nP(novel) about {(i + 0.5) / counts.size:.2f}" for i in at.tolist()]
    return {"at": middle, "size": counts[at], "width": 1.0 / counts.size, "tips": tips}


def profile_figure(facts: Facts) -> Figure:
    """Return the medians of all groups column by column; novel groups have bands from quartile to quartile.

    Spectra run across the page, names of columns down.
    """
    profiles = facts.profiles
    spectra, place = profiles.are_spectra, profiles.axis
    shown = _shown_lines(facts.groups)

    series = list[Figure]()
    for k, (group, look) in enumerate(zip(facts.groups, looks_of(facts.groups), strict=True)):
        lower, middle, upper = profiles.drawn[:, k]
        if np.isnan(middle).all() or group.kind == GroupKind.OUTLIER:
            continue
        shared = {"name": _name(group), "ink": look.ink, "off": k not in shown}
        if group.kind == GroupKind.NOVEL:
            ring = np.concatenate([lower, upper[::-1]]), np.concatenate([place, place[::-1]])
            series.append({"kind": "area", **shared, **_placed(*ring, across=not spectra)})
        line = {"kind": "line", **shared, "dash": look.dash, "values": profiles.middle[k]}
        series.append({**line, "symbol": None if spectra else look.symbol, **_placed(middle, place, not spectra)})

    names = [short(name, 40) for name in profiles.columns]
    if spectra:
        axes = {"x": {"title": _axis_of(profiles.columns)}, "y": {"title": "median of the group"}}
        return {"series": series, **axes, "names": names}
    down = {"ticks": list(zip(place, names, strict=True)), "range": [len(names) - 0.5, -0.5], "title": "column"}
    along = {"title": "median, in robust scales of the labelled rows (0: their middle)"}
    return {"series": series, "x": along, "y": down, "names": names, "height": 110 + _LINE * len(names)}


def levels_figure(facts: Facts) -> Figure:
    """Return how often each group has each level of categories, as bars."""
    assert facts.levels is not None
    names, shown, series = facts.levels.names, _shown_lines(facts.groups), list[Figure]()
    for k, (group, look) in enumerate(zip(facts.groups, looks_of(facts.groups), strict=True)):
        if group.rows and group.kind != GroupKind.OUTLIER:
            sizes = facts.levels.shares[k]
            tips = [
                f"{short(level, 60)} in {size:.0%} of {_name(group)}"
                for (_, level), size in zip(names, sizes, strict=True)
            ]
            bars = {"kind": "bars", "name": _name(group), "ink": look.ink, "off": k not in shown}
            hatch = "lines" if group.kind == GroupKind.NOVEL else None
            series.append(
                {**bars, "at": np.arange(len(names)), "size": sizes, "width": 0.8, "hatch": hatch, "tips": tips}
            )
    ticks = [(place, short(f"{column}: {level}", 40)) for place, (column, level) in enumerate(names)]
    return {
        "series": series,
        "across": True,
        "x": {"title": "share of the rows of a group", "format": "percent", "range": [0.0, 1.02]},
        "y": {"ticks": ticks, "range": [len(names) - 0.4, -0.6], "title": "column and level"},
        "height": 90 + (_LINE + 6 * len(series)) * len(names),
    }


def _shown_lines(groups: tuple[Group, ...]) -> set[int]:
    """Return the groups that have a line at first: all, or a few novel ones and the known classes nearest to them."""
    drawn = [k for k, group in enumerate(groups) if group.kind != GroupKind.OUTLIER]
    if len(drawn) <= _MOST_LINES:
        return set(drawn)
    novel = [k for k in drawn if groups[k].kind == GroupKind.NOVEL][:_MOST_NOVEL]
    near = {explanation.nearest for k in novel if (explanation := groups[k].explanation) is not None}
    known = [k for k in drawn if groups[k].kind == GroupKind.KNOWN and (not novel or groups[k].name in near)]
    return {*known[:_MOST_LINES], *novel}


def _placed(value: FloatArray, place: FloatArray, across: bool) -> Figure:
    return {"x": value, "y": place} if across else {"x": place, "y": value}


def _axis_of(columns: tuple[str, ...]) -> str:
    """Return what the numbers in the names of columns are, as far as the names tell: "1100 nm" are nm."""
    words = "".join(letter for letter in columns[0] if not (letter.isdigit() or letter == ".")).strip(" _-")
    return f"column ({short(words)})" if words else "column"


def features_figure(group: Group, look: Look) -> Figure:
    """Return what each column adds to the distance of a novel group from the nearest known class."""
    assert group.explanation is not None
    parts = [part for part in group.explanation.contributions if part.share > 0.0]
    bars = {
        "kind": "bars",
        "name": _name(group),
        "ink": look.ink,
        "at": np.arange(len(parts)),
        "size": [part.share for part in parts],
        "width": 0.7,
        "short": [f"{'▲' if p.value > p.usual else '▼'} {p.value:.4g}" for p in parts],
        "words": [f"{'▲' if p.value > p.usual else '▼'} {p.value:.4g} (usual: {p.usual:.4g})" for p in parts],
        "tips": [
            f"{short(part.column, 60)}: {part.value:.4g}\nusual in the class: {part.usual:.4g}\n"
            f"{''.join(f'together with {short(name, 60)}' + chr(10) for name in part.others[:3])}"
            f"{part.share:.0%} of the squared distance"
            for part in parts
        ],
    }

    more = [f" + {len(part.others)}" if part.others else "" for part in parts]
    ticks = [(place, f"{short(part.column)}{more[place]}") for place, part in enumerate(parts)]
    return {
        "series": [bars],
        "across": True,
        "x": {"title": "share of the squared distance", "format": "percent", "from": 0.0},
        "y": {"ticks": ticks, "range": [len(parts) - 0.4, -0.6], "title": "column"},
        "height": 90 + _LINE * len(parts),
    }


def history_figure(facts: Facts) -> Figure:
    """Return how the bound rose, with the moves that were kept."""
    assert facts.climb is not None
    trace, moves = facts.climb.trace, [move for move in facts.climb.moves if move.kept]
    tips = [f"sweep {i:,}\nbound {value:,.2f}" for i, value in enumerate(trace.tolist())]
    bound = {"kind": "line", "name": "bound", "ink": GREY_INK, "dash": "solid", "symbol": None}
    series: list[Figure] = [{**bound, "x": np.arange(trace.size), "y": trace, "tips": tips}]

    for turn, kind in enumerate(dict.fromkeys(move.kind for move in moves)):
        own = [move for move in moves if move.kind == kind]
        bounds = [move.bound for move in own]
        series.append(
            {
                "kind": "points",
                "name": kind,
                "ink": f"warm-{turn}",
                "symbol": _MOVES.get(kind, "circle"),
                "x": np.searchsorted(trace, bounds),
                "y": bounds,
                "tips": [f"{kind}: +{move.gain:,.1f} nats\n{move.groups} novel components" for move in own],
            }
        )

    return {
        "series": series,
        "x": {"title": "sweeps that were kept", "from": 0},
        "y": {"title": "bound (nats)"},
        "height": 380,
    }


def confusion_figure(facts: Facts) -> Figure:
    """Return true classes against what was found."""
    assert facts.confusion is not None
    table = facts.confusion
    share = table.counts / np.maximum(table.counts.sum(axis=1, keepdims=True), 1)
    found = [called(group, short(name)) for group, name in zip(facts.groups, table.clusters, strict=True)]
    true = [short(name) for name in table.truth]
    cells = {
        "kind": "cells",
        "name": "share of the true class",
        "ink": "link",
        "share": share,
        "words": [[f"{count:,}" if count else "" for count in row] for row in table.counts.tolist()],
        "tips": [
            [f"{count:,} rows of {true[i]}\n{share[i, j]:.0%} of them are in {found[j]}" for j, count in enumerate(row)]
            for i, row in enumerate(table.counts.tolist())
        ],
    }

    return {
        "series": [cells],
        "x": {"title": "found", "ticks": list(enumerate(found)), "range": [-0.5, len(found) - 0.5]},
        "y": {"title": "true class", "ticks": list(enumerate(true)), "range": [len(true) - 0.5, -0.5]},
        "height": 150 + 30 * len(true),
    }


def _name(group: Group) -> str:
    return called(group, short(group.name))


def short(name: str, most: int = _LONGEST_NAME) -> str:
    """Return a name, or as much of it as there is room for."""
    return name if len(name) <= most else f"{name[: most - 1]}…"
