"""How groups look in every picture: known classes cool and round, novel groups warm and pointed, doubtful ones grey."""

from dataclasses import dataclass

from vbrand.facts.groups import Group, GroupKind

# on light pages, on dark pages: twenty cool colours and twenty warm ones, as far from each other as they can be (in
# OKLab, and as people see them who can't tell red from green), each with a contrast of at least 3 to the page; shapes
# tell groups apart, too
_COOL = (
    ("#0072b2", "#4fa9ed"),
    ("#008a63", "#53bf95"),
    ("#6a4fb3", "#9f87f1"),
    ("#284621", "#64855d"),
    ("#061bad", "#386bf9"),
    ("#40355e", "#7d72a0"),
    ("#9477fc", "#beb4fe"),
    ("#5693a7", "#85c3d8"),
    ("#17606b", "#589ba6"),
    ("#309909", "#67cd4f"),
    ("#51199d", "#8b62e5"),
    ("#1d4a93", "#5787d6"),
    ("#266614", "#61a252"),
    ("#716793", "#a59bca"),
    ("#73946b", "#a1c499"),
    ("#3c35cb", "#707eff"),
    ("#585ff5", "#91a2fe"),
    ("#51507b", "#8989b8"),
    ("#357b7f", "#6cb1b5"),
    ("#288de5", "#7ebeff"),
)
_WARM = (
    ("#d55e00", "#ff9862"),
    ("#b8386f", "#f570a3"),
    ("#8a6d00", "#c0a24a"),
    ("#5d2d28", "#a06a63"),
    ("#760d62", "#bb55a2"),
    ("#a67998", "#d7a7c8"),
    ("#9a2207", "#de634a"),
    ("#774e6b", "#b285a4"),
    ("#51501e", "#8c8b59"),
    ("#d742b6", "#ff87df"),
    ("#a05748", "#da8b7b"),
    ("#ad0890", "#ed58ca"),
    ("#8d8d5a", "#bcbc88"),
    ("#e44968", "#ff94a1"),
    ("#961c4d", "#da5e85"),
    ("#c52f0f", "#ff7154"),
    ("#774738", "#b5806f"),
    ("#a75692", "#de89c7"),
    ("#5d3652", "#9d7190"),
    ("#ae7c67", "#e0ab94"),
)
GREY = "#7f7f7f"
# P(novel) from 0 to 1: visible on light and dark pages
NOVELTY_COLOURS = ("#3b82c4", "#7d868f", "#e8590c")
# names of symbols in the report, and of markers in matplotlib
_ROUND = (("circle", "o"), ("square", "s"), ("diamond", "D"), ("hexagon", "h"), ("pentagon", "p"))
_POINTED = (("triangle-up", "^"), ("star", "*"), ("cross", "P"), ("triangle-down", "v"), ("x", "X"))
# names of colours in the report
KNOWN_INK, NOVEL_INK, GREY_INK = "cool-0", "warm-0", "grey"
# every colour of the report: its name, on light pages, on dark pages
INKS = (
    *((f"cool-{k}", *pair) for k, pair in enumerate(_COOL)),
    *((f"warm-{k}", *pair) for k, pair in enumerate(_WARM)),
    (GREY_INK, GREY, GREY),
)


@dataclass(frozen=True)
class Look:
    """The look of one group; no two groups look the same until all pairs of colour and shape are used."""

    colour: str  # on light pages
    ink: str  # the name of its colour in the report, which has another one on dark pages
    symbol: str  # the report's name of its shape
    marker: str  # matplotlib's name of it
    dash: str  # the pattern of its line: solid, dash or dot


def looks_of(groups: tuple[Group, ...]) -> tuple[Look, ...]:
    """Return the looks of known classes and novel groups."""
    looks, known, novel = list[Look](), 0, 0
    for group in groups:
        if group.kind == GroupKind.KNOWN:
            looks.append(_look("cool", _COOL, _ROUND, known, "solid"))
            known += 1
        else:
            look = _look("warm", _WARM, _POINTED, novel, "dash")
            pale = group.doubtful or group.kind == GroupKind.OUTLIER
            looks.append(Look(GREY, GREY_INK, look.symbol, look.marker, "dot") if pale else look)
            novel += 1
    return tuple(looks)


def called(group: Group, name: str) -> str:
    """Return the name of a group as pictures show it, with a word of doubt where there is any."""
    return f"{name}, doubtful" if group.doubtful else name


def _look(
    name: str, colours: tuple[tuple[str, str], ...], shapes: tuple[tuple[str, str], ...], k: int, dash: str
) -> Look:
    shade, turn = k % len(colours), k // len(colours)
    symbol, marker = shapes[(k + turn) % len(shapes)]  # twenty is a multiple of five: another shape at each turn
    return Look(colours[shade][0], f"{name}-{shade}", symbol, marker, dash)
