"""Two diagrams for the docs: how the model works, how the fit works."""

from pathlib import Path
from typing import Any

import numpy as np

from vbrand.studies.figures import _COLOURS, _panels, _save


def draw_diagrams(folder: Path) -> list[str]:
    """Draw the model (stage 1, then known classes and novel groups) and the fit (sweeps, moves)."""
    return _draw_model(folder) + _draw_fit(folder)


def _draw_model(folder: Path) -> list[str]:
    figure, panels = _panels(1, 3, 14, 4.4, sharex=True, sharey=True)
    rng = np.random.default_rng(1)
    centres = np.array([[-3.0, 2.0], [3.0, 2.2]])
    known = [centre + rng.normal(size=(60, 2)) * [0.9, 0.6] for centre in centres]
    novel = [
        np.array([-0.5, -3.0]) + rng.normal(size=(40, 2)) * 0.5,
        np.array([4.0, -2.5]) + rng.normal(size=(25, 2)) * 0.7,
    ]
    outliers = np.array([[-6.5, 5.5], [0.5, 6.0], [6.8, -1.0]])

    titles = (
        "stage 1: labelled rows;\nrobust centre and scatter of each known class",
        "the same as a prior; unlabelled rows,\nof which nobody knows the classes",
        "stage 2: known classes refined, novel groups found;\neach row with its probabilities",
    )
    for panel, title in zip(panels[0], titles, strict=True):
        panel.set(title=title, xticks=[], yticks=[], xlim=(-8, 8), ylim=(-6, 7))

    for k, own in enumerate(known):
        panels[0, 0].scatter(*own.T, s=12, marker="os"[k], color=_COLOURS[k], label=f"class {'AB'[k]}, labelled")
        for panel in panels[0]:
            _ellipse(panel, centres[k], [0.9, 0.6], _COLOURS[k], solid=panel is not panels[0, 1])
    panels[0, 0].scatter(*outliers.T, s=30, marker="x", color="black", label="outliers, wrong labels: set aside")

    unlabelled = np.vstack([*(own[:35] + 0.2 for own in known), *novel])
    panels[0, 1].scatter(*unlabelled.T, s=10, marker=".", color="grey", label="unlabelled")
    for k, own in enumerate([*(own[:35] + 0.2 for own in known), *novel]):
        name = f"class {'AB'[k]}" if k < 2 else f"novel {k - 1}"
        panels[0, 2].scatter(*own.T, s=12, marker="os^D"[k], color=_COLOURS[k], label=name)
        if k >= 2:
            _ellipse(panels[0, 2], own.mean(axis=0), own.std(axis=0), _COLOURS[k], solid=True)

    for panel in panels[0]:
        panel.legend(frameon=False, fontsize=8, loc="lower left")
    return _save(figure, folder, "model")


def _draw_fit(folder: Path) -> list[str]:
    figure, ((panel,),) = _panels(1, 1, 12, 4.4)
    panel.set(xlim=(0, 12), ylim=(0, 5))
    panel.axis("off")

    boxes = {
        "start": (0.2, 2.1, "known classes as stage 1\nhas them, one novel group"),
        "share": (3.2, 3.5, "share rows out\nby how well they fit"),
        "update": (6.4, 3.5, "update centres, scatters\nand weights from shares"),
        "bound": (6.4, 2.1, "bound: never falls;\nstands still?"),
        "moves": (3.2, 0.5, "try births, merges, releases,\ndeletions; keep if the bound rises"),
        "answer": (9.6, 0.5, "labels, groups,\nprobabilities"),
    }
    for x, y, text in boxes.values():
        panel.text(
            x + 1.1, y + 0.4, text, ha="center", va="center", fontsize=9, bbox={"boxstyle": "round", "fc": "#eef4fa"}
        )

    arrows = (
        ((2.45, 2.7), (3.3, 3.6), ""),
        ((5.4, 3.9), (6.3, 3.9), ""),
        ((7.5, 3.45), (7.5, 2.95), ""),
        ((6.3, 2.6), (4.4, 3.45), "no: another sweep"),
        ((6.6, 2.1), (5.3, 1.3), "yes"),
        ((3.9, 1.3), (3.9, 3.45), "a move was tried"),
        ((6.0, 0.9), (9.7, 0.9), "nothing raises the bound"),
    )
    for tail, head, text in arrows:
        panel.annotate("", head, tail, arrowprops={"arrowstyle": "->", "color": "#444444"})
        middle = (tail[0] + head[0]) / 2, (tail[1] + head[1]) / 2
        panel.text(*middle, text, fontsize=8, ha="center", va="center", bbox={"fc": "white", "ec": "none", "pad": 1.5})

    panel.set_title("how the fit works: coordinate ascent on an exact bound, and moves between optima")
    return _save(figure, folder, "fit")


def _ellipse(panel: Any, centre: Any, spread: Any, colour: str, *, solid: bool) -> None:
    angle = np.linspace(0.0, 2.0 * np.pi, 100)
    x, y = centre[0] + 2.4 * spread[0] * np.cos(angle), centre[1] + 2.4 * spread[1] * np.sin(angle)
    panel.plot(x, y, color=colour, ls="-" if solid else "--")
