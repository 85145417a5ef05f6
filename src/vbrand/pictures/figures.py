"""Facts -> figures as Plotly takes them: dicts of traces and layout. The browser sets the colours of the page."""

from html import escape
from typing import Any

import numpy as np

from vbrand.facts.explain import together
from vbrand.facts.facts import Facts
from vbrand.facts.groups import Group, GroupKind
from vbrand.facts.maps import tsne_points
from vbrand.inference.moves import MoveKind
from vbrand.pictures.looks import GREY, NOVELTY_COLOURS, called, looks_of
from vbrand.types import FloatArray

Figure = dict[str, Any]

_KINDS = (
    ("known classes", "#0072b2", ""),
    ("novel groups", "#d55e00", "/"),
    ("doubtful or outlier groups", GREY, "x"),
)
_MOVES = {
    MoveKind.BIRTH: "triangle-up",
    MoveKind.MERGE: "triangle-down",
    MoveKind.RELEASE: "square",
    MoveKind.RESPLIT: "diamond",
    MoveKind.DELETE: "x",
}
_NOVEL = "#d55e00"
_LONGEST_NAME = 24
_CLASSES_SHOWN = 4
# more names than this cover the map; more lines than this cover each other
_MOST_NAMED = 15
_MOST_LINES = 10


def map_figure(facts: Facts) -> Figure:
    """Return the map, with the places of rows by PCA and t-SNE and all their colours: the page switches among them."""
    points = facts.points
    drawn = {"pca": points.scores[:, :2]}
    neighbours = tsne_points(points.scores)
    if neighbours is not None:
        drawn["tsne"] = neighbours

    traces, views = _marks(facts, drawn)
    labels = {name: _labels(facts, place) for name, place in drawn.items()}
    layout = {
        "xaxis": {"zeroline": False},
        "yaxis": {"zeroline": False},
        "legend": {"title": {"text": "group (rows)"}, "orientation": "h", "y": -0.14},
        "coloraxis": {
            "cmin": 0,
            "cmax": 1,
            "colorscale": [[0.5 * i, colour] for i, colour in enumerate(NOVELTY_COLOURS)],
            "colorbar": {"title": {"text": "P(novel)"}},
        },
    }
    titles = {
        "pca": ["first principal component", "second principal component"],
        "tsne": ["t-SNE 1", "t-SNE 2"],
    }
    height = 640 + 19 * (len(traces) // 4)  # the legend is below
    return {"data": traces, "layout": layout, "views": views, "labels": labels, "titles": titles, "height": height}


def _marks(facts: Facts, drawn: dict[str, FloatArray]) -> tuple[list[Figure], list[Figure]]:
    """Return the marks of each group that has rows on the map, and the places and colours that they can have."""
    points, hover = facts.points, _hover(facts)
    traces, views = list[Figure](), list[Figure]()
    for k, (group, look) in enumerate(zip(facts.groups, looks_of(facts.groups), strict=True)):
        own = np.flatnonzero(points.clusters == k)
        if own.size == 0:
            continue

        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": called(group, f"{escape(_short(group.name))} ({group.rows:,})"),
                "marker": {"symbol": look.symbol, "size": 8, "opacity": 0.8, "color": look.colour},
                "text": [hover[i] for i in own.tolist()],
                "hovertemplate": "%{text}<extra></extra>",
            }
        )

        views.append(
            {
                "places": {name: place[own].T for name, place in drawn.items()},
                "colours": {
                    "group": look.colour,
                    "class": look.colour if group.doubtful or group.kind == GroupKind.KNOWN else _NOVEL,
                    "novelty": points.novelty[own],
                },
            }
        )
    return traces, views


def novelty_figure(facts: Facts) -> Figure:
    """Return the distribution of P(novel), with the threshold."""
    bins = facts.novelty_counts.shape[0]
    middle = (np.arange(bins) + 0.5) / bins
    traces = [
        {
            "type": "bar",
            "name": name,
            "x": middle,
            "y": facts.novelty_counts[:, k],
            "width": 1.0 / bins,
            "marker": {"color": colour, "pattern": {"shape": shape, "solidity": 0.3}},
            "hovertemplate": "%{y:,} rows with P(novel) about %{x:.2f}<extra>" + name + "</extra>",
        }
        for k, (name, colour, shape) in enumerate(_KINDS)
        if facts.novelty_counts[:, k].any()
    ]

    threshold = facts.threshold
    line = {
        "type": "line",
        "x0": threshold,
        "x1": threshold,
        "y0": 0,
        "y1": 1,
        "yref": "paper",
        "line": {"dash": "dash"},
    }
    words = {"x": threshold, "y": 1.0, "yref": "paper", "yanchor": "bottom", "showarrow": False}

    layout = {
        "barmode": "overlay",
        "xaxis": {"title": {"text": "P(novel)"}, "range": [0, 1]},
        "yaxis": {
            "title": {"text": "rows (logarithmic)"},
            "type": "log",
            "dtick": 1,
            "range": [np.log10(0.5), np.log10(2.0 * max(1, facts.novelty_counts.max()))],
        },
        "shapes": [line],
        "annotations": [{**words, "text": f"threshold {threshold:g}"}],
        "showlegend": True,
    }
    return {"data": traces, "layout": layout}


def profile_figure(facts: Facts) -> Figure:
    """Return the medians of all groups column by column; novel groups have bands from quartile to quartile."""
    profiles = facts.profiles
    spectra, place, drawn = profiles.are_spectra, profiles.axis, profiles.drawn
    names = [escape(name) for name in profiles.columns]
    near = {group.explanation.nearest for group in facts.groups if group.explanation is not None}

    traces = list[Figure]()
    for k, (group, look) in enumerate(zip(facts.groups, looks_of(facts.groups), strict=True)):
        if np.isnan(drawn[1, k]).all() or group.kind == GroupKind.OUTLIER:
            continue
        if group.kind == GroupKind.NOVEL:
            traces += _band(place, drawn[0, k], drawn[2, k], look.colour, group.name)
        traces.append(
            {
                "type": "scatter",
                "mode": "lines" if spectra else "lines+markers",
                "name": _name(group),
                "legendgroup": group.name,
                "visible": "legendonly"
                if facts.known > _MOST_LINES and k < facts.known and group.name not in near
                else True,
                "x": place,
                "y": drawn[1, k],
                "line": {"color": look.colour, "dash": look.dash, "width": 2},
                "marker": {"symbol": look.symbol, "size": 7, "color": look.colour},
                "text": names,
                "customdata": profiles.middle[k],
                "hovertemplate": "%{text}: %{customdata:.4~g}<extra>" + _name(group) + "</extra>",
            }
        )

    ticks = {} if spectra else {"tickvals": place, "ticktext": [escape(_short(name)) for name in profiles.columns]}
    title = "median" if spectra else "median, in robust scales of the labelled rows"
    layout = {
        "xaxis": {"tickangle": 0 if spectra else -60, "automargin": True, **ticks},
        "yaxis": {"title": {"text": title}},
        "showlegend": True,
    }
    return {"data": traces, "layout": layout}


def features_figure(group: Group) -> Figure:
    """Return what each column adds to the distance of a novel group from the nearest known class."""
    assert group.explanation is not None
    parts = [part for part in group.explanation.contributions if part.share > 0.0][::-1]
    trace = {
        "type": "bar",
        "orientation": "h",
        "y": np.arange(len(parts)),
        "x": [part.share for part in parts],
        "marker": {"color": GREY if group.doubtful else _NOVEL},
        "text": [f"{'▲' if p.value > p.usual else '▼'} {p.value:.4g} (usual: {p.usual:.4g})" for p in parts],
        "textposition": "outside",
        "cliponaxis": False,
        "hovertext": [
            f"{escape(part.column)}: {part.value:.4g}, usual in the class {part.usual:.4g}"
            f"{escape(together(part.others))}; {part.share:.0%} of the squared distance"
            for part in parts
        ],
        "hoverinfo": "text",
    }

    more = [f" + {len(part.others)}" if part.others else "" for part in parts]
    names = [f"{escape(_short(part.column))}{also}" for part, also in zip(parts, more, strict=True)]
    layout = {
        "yaxis": {"tickvals": np.arange(len(parts)), "ticktext": names, "automargin": True},
        "xaxis": {
            "title": {"text": "share of the squared distance"},
            "tickformat": ".0%",
            "range": [0.0, 1.4 * max((part.share for part in parts), default=1.0)],
        },
        "showlegend": False,
    }
    return {"data": [trace], "layout": layout, "height": 120 + 28 * len(parts)}


def history_figure(facts: Facts) -> Figure:
    """Return how the bound rose, with the moves that were kept."""
    assert facts.climb is not None
    trace, moves = facts.climb.trace, [move for move in facts.climb.moves if move.kept]
    traces: list[Figure] = [
        {
            "type": "scatter",
            "mode": "lines",
            "name": "bound",
            "x": np.arange(trace.size),
            "y": trace,
            "line": {"color": GREY},
            "hovertemplate": "sweep %{x}: %{y:,.2f}<extra></extra>",
        }
    ]

    for kind in dict.fromkeys(move.kind for move in moves):
        own = [move for move in moves if move.kind == kind]
        bounds = [move.bound for move in own]
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": kind,
                "x": np.searchsorted(trace, bounds),
                "y": bounds,
                "marker": {"symbol": _MOVES.get(kind, "circle"), "size": 11},
                "text": [f"{kind}: +{move.gain:,.1f} nats, {move.groups} novel components" for move in own],
                "hovertemplate": "%{text}<extra></extra>",
            }
        )

    layout = {
        "xaxis": {"title": {"text": "sweeps that were kept"}, "rangemode": "tozero"},
        "yaxis": {"title": {"text": "bound (nats)"}, "tickformat": ",.0f"},
        "showlegend": True,
    }
    return {"data": traces, "layout": layout}


def confusion_figure(facts: Facts) -> Figure:
    """Return true classes against what was found."""
    assert facts.confusion is not None
    table = facts.confusion
    share = table.counts / np.maximum(table.counts.sum(axis=1, keepdims=True), 1)
    trace = {
        "type": "heatmap",
        "z": share,
        "text": [[f"{count:,}" if count else "" for count in row] for row in table.counts.tolist()],
        "texttemplate": "%{text}",
        "x": np.arange(len(table.clusters)),
        "y": np.arange(len(table.truth)),
        "colorscale": [[0.0, "#f2f6fa"], [0.5, "#8ab4d8"], [1.0, "#2a6fae"]],
        "zmin": 0,
        "zmax": 1,
        "hovertemplate": "%{text} rows, %{z:.0%} of the true class<extra></extra>",
        "colorbar": {"title": {"text": "share of the true class"}, "tickformat": ".0%"},
    }

    found = [called(group, escape(_short(name))) for group, name in zip(facts.groups, table.clusters, strict=True)]
    true = [escape(_short(name)) for name in table.truth]
    layout = {
        "xaxis": {"title": {"text": "found"}, "tickvals": np.arange(len(found)), "ticktext": found, "automargin": True},
        "yaxis": {
            "title": {"text": "true class"},
            "tickvals": np.arange(len(true)),
            "ticktext": true,
            "autorange": "reversed",
            "automargin": True,
        },
    }
    return {"data": [trace], "layout": layout, "height": 220 + 30 * len(true)}


def _hover(facts: Facts) -> list[str]:
    """Return the text that each row on the map shows: its name, group and probabilities."""
    points = facts.points
    names = [*(group.name for group in facts.groups[: facts.known]), "novel"]
    texts = list[str]()
    for i, name in enumerate(points.names):
        best = np.argsort(-points.classes[i], kind="stable")[:_CLASSES_SHOWN]
        chances = [f"P({escape(_short(names[j]))}) {points.classes[i, j]:.3f}" for j in best.tolist()]
        truth = [] if points.truth is None else [f"true class {escape(_short(points.truth[i]))}"]
        group = _name(facts.groups[int(points.clusters[i])])
        texts.append("<br>".join([f"<b>{escape(_short(name))}</b>: {group}", *truth, *chances]))
    return texts


def _labels(facts: Facts, points: FloatArray) -> list[Figure]:
    """Return the names of groups, written in the middle of their rows; of many groups only the names of novel ones."""
    labels = list[Figure]()
    named = (GroupKind.KNOWN, GroupKind.NOVEL) if len(facts.groups) <= _MOST_NAMED else (GroupKind.NOVEL,)
    for k, group in enumerate(facts.groups):
        own = facts.points.clusters == k
        if own.any() and group.kind in named:
            x, y = np.median(points[own], axis=0).tolist()
            labels.append({"x": x, "y": y, "text": _name(group), "showarrow": False, "yshift": 16})
    return labels


def _band(place: FloatArray, lower: FloatArray, upper: FloatArray, colour: str, name: str) -> list[Figure]:
    """Return the two edges of a band, drawn with no line of their own, and the area between them filled."""
    edge = {"type": "scatter", "mode": "lines", "x": place, "line": {"width": 0}, "hoverinfo": "skip"}
    shared = {**edge, "legendgroup": name, "showlegend": False}
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    fill = {"fill": "tonexty", "fillcolor": f"rgba({red},{green},{blue},0.15)"}
    return [{**shared, "y": lower}, {**shared, "y": upper, **fill}]


def _name(group: Group) -> str:
    return called(group, escape(_short(group.name)))


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"
