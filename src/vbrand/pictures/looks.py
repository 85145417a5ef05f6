"""How groups look in every picture: cool colours and round shapes are known, warm ones with points are new."""

from dataclasses import dataclass

from vbrand.facts.groups import Group, GroupKind

# told apart by people with any colour vision (after Okabe and Ito), and never by colour alone
_COOL = ("#0072b2", "#009e73", "#56b4e9", "#5b5ea6", "#3a7d7c", "#8fb339")
_WARM = ("#d55e00", "#cc79a7", "#e69f00", "#b2182b", "#8c510a", "#e7298a")
_GREY = "#7f7f7f"
# P(novel) from 0 to 1: visible on white and on black
NOVELTY_COLOURS = ("#3b82c4", "#9aa3ab", "#e8590c")
# names of symbols in Plotly, and of markers in matplotlib
_ROUND = (("circle", "o"), ("square", "s"), ("diamond", "D"), ("hexagon", "h"), ("pentagon", "p"))
_POINTED = (("triangle-up", "^"), ("star", "*"), ("cross", "P"), ("triangle-down", "v"), ("x", "X"))


@dataclass(frozen=True)
class Look:
    """The look of one group; of many groups no two are the same until colours and shapes have all met."""

    colour: str
    symbol: str  # Plotly's name of its shape
    marker: str  # matplotlib's
    dash: str  # of its line, Plotly's name


def looks_of(groups: tuple[Group, ...]) -> tuple[Look, ...]:
    """Return the looks of known classes and novel groups."""
    looks, known, novel = list[Look](), 0, 0
    for group in groups:
        if group.kind == GroupKind.KNOWN:
            looks.append(_look(_COOL, _ROUND, known, "solid"))
            known += 1
        else:
            look = _look(_WARM, _POINTED, novel, "dash")
            outlying = group.kind == GroupKind.OUTLIER
            looks.append(Look(_GREY, look.symbol, look.marker, "dot") if outlying else look)
            novel += 1
    return tuple(looks)


def _look(colours: tuple[str, ...], shapes: tuple[tuple[str, str], ...], k: int, dash: str) -> Look:
    symbol, marker = shapes[k % len(shapes)]
    return Look(colours[k % len(colours)], symbol, marker, dash)
