"""How groups look in every picture: known classes cool and round, novel groups warm and pointed, doubtful ones grey."""

from dataclasses import dataclass

from vbrand.facts.groups import Group, GroupKind

# people with any colour vision can tell them apart (after Okabe and Ito); shapes tell groups apart, too
_COOL = ("#0072b2", "#009e73", "#56b4e9", "#5b5ea6", "#3a7d7c", "#8fb339")
_WARM = ("#d55e00", "#cc79a7", "#e69f00", "#b2182b", "#8c510a", "#e7298a")
GREY = "#7f7f7f"
# P(novel) from 0 to 1: visible on white and on black
NOVELTY_COLOURS = ("#3b82c4", "#9aa3ab", "#e8590c")
# names of symbols in Plotly, and of markers in matplotlib
_ROUND = (("circle", "o"), ("square", "s"), ("diamond", "D"), ("hexagon", "h"), ("pentagon", "p"))
_POINTED = (("triangle-up", "^"), ("star", "*"), ("cross", "P"), ("triangle-down", "v"), ("x", "X"))


@dataclass(frozen=True)
class Look:
    """The look of one group; no two groups look the same until all pairs of colour and shape are used."""

    colour: str
    symbol: str  # Plotly's name of its shape
    marker: str  # matplotlib's name of it
    dash: str  # Plotly's name of the pattern of its line


def looks_of(groups: tuple[Group, ...]) -> tuple[Look, ...]:
    """Return the looks of known classes and novel groups."""
    looks, known, novel = list[Look](), 0, 0
    for group in groups:
        if group.kind == GroupKind.KNOWN:
            looks.append(_look(_COOL, _ROUND, known, "solid"))
            known += 1
        else:
            look = _look(_WARM, _POINTED, novel, "dash")
            pale = group.doubtful or group.kind == GroupKind.OUTLIER
            looks.append(Look(GREY, look.symbol, look.marker, "dot") if pale else look)
            novel += 1
    return tuple(looks)


def called(group: Group, name: str) -> str:
    """Return the name of a group as pictures show it, with a word of doubt where there is any."""
    return f"{name}, doubtful" if group.doubtful else name


def _look(colours: tuple[str, ...], shapes: tuple[tuple[str, str], ...], k: int, dash: str) -> Look:
    symbol, marker = shapes[k % len(shapes)]
    return Look(colours[k % len(colours)], symbol, marker, dash)
