"""The panels of the paper, drawn from the lines of the studies."""

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.manifold import TSNE

from vbrand.studies.plans import ARMS, FITS_OF_SS2, STAGES, Extent
from vbrand.studies.runner import Line
from vbrand.studies.simulate import simulate
from vbrand.studies.statlog import SOILS, Arm, Soils
from vbrand.studies.summary import Key, cells

ARM_NAMES = {
    "mrcd": "the paper's protocol, MRCD",
    "paper": "the paper's protocol",
    "search": "search, paper's priors",
    "default": "VBrand()",
    "same": "search, sampler's priors",
}
METRICS = {"ari": "ARI", "ami": "AMI", "fmi": "FMI"}
_COLOURS = (
    "#0072b2",
    "#e69f00",
    "#009e73",
    "#cc79a7",
    "#56b4e9",
    "#d55e00",
    "#444444",
    "#f0e442",
    "#882255",
    "#999933",
)
_MARKERS = "osD^vXP*<>"


def draw_ss1(lines: list[Line], effort: Extent, folder: Path) -> list[str]:
    """Draw metrics and time by columns and rows, one row of panels per arm."""
    values = {**METRICS, "seconds": "seconds of one core (stage 2)"}
    figure, panels = _panels(3, 4, 15, 9.5, sharex=True)

    for row, arm in zip(panels, ARMS, strict=True):
        for panel, (value, name) in zip(row, values.items(), strict=True):
            means = cells(lines, value, _of_kind(arm, "0"))
            for k, size in enumerate(effort.sizes):
                _line(panel, means, size, effort.columns, k, f"q = {size:g} ({1000 * size:,.0f} rows)")
            if value == "seconds":
                _logarithmic(panel)
            else:
                panel.set_ylim(0.55, 1.02)
                panel.axhline(0.7, color="grey", lw=0.8, ls=":")
            panel.set(title=f"{ARM_NAMES[arm]}: {name}" if value != "seconds" else f"{ARM_NAMES[arm]}: time")
            panel.set(xlabel="columns p", ylabel=name, xticks=effort.columns)

    panels[0, 0].legend(frameon=False, fontsize=8, loc="lower left")
    counts = {arm: max(c.count for c in cells(lines, "ari", _of_kind(arm, "0")).values()) for arm in ARMS}
    said = ", ".join(f"{ARM_NAMES[arm]} {count}" for arm, count in counts.items())
    figure.suptitle(
        f"SS1: 3 known and 4 novel classes; replicates per cell: {said}; bars: standard errors; dotted: .70"
    )
    return _save(figure, folder, "ss1")


def draw_ss2(lines: list[Line], effort: Extent, folder: Path) -> list[str]:
    """Draw metrics by columns for each number of rows, fit beside sampler, and the time of both."""
    names = []
    for scenario in ("simple", "complex"):
        own = [line for line in lines if line["study"] == f"ss2_{scenario}"]
        figure, panels = _panels(3, len(effort.sizes), 3.2 * len(effort.sizes), 9, sharex=True, sharey=True)
        for row, (value, name) in zip(panels, METRICS.items(), strict=True):
            for panel, size in zip(row, effort.sizes, strict=True):
                for k, (kind, label) in enumerate(_kinds(lines).items()):
                    _line(panel, cells(own, value, _of_kind(*kind)), size, effort.columns, k, label)
                panel.set(
                    title=f"{name}, q = {size:g} ({1000 * size:,.0f} rows)", ylim=(-0.05, 1.05), xticks=effort.columns
                )
                panel.set(xlabel="columns p", ylabel=name)

        panels[-1, 0].legend(frameon=False, fontsize=7, loc="lower left")
        figure.suptitle(
            f"SS2, {scenario} scenario: 2 known and 3 novel classes; bars: standard errors\n{_replicates(own)}"
        )
        names += _save(figure, folder, f"ss2_{scenario}")

    figure, panels = _panels(2, len(effort.sizes), 3.2 * len(effort.sizes), 6.5, sharex=True, sharey=True)
    for row, scenario in zip(panels, ("simple", "complex"), strict=True):
        own = [line for line in lines if line["study"] == f"ss2_{scenario}"]
        for panel, size in zip(row, effort.sizes, strict=True):
            for k, (kind, label) in enumerate(_kinds(lines).items()):
                _line(panel, cells(own, "seconds", _of_kind(*kind)), size, effort.columns, k, label)
            panel.set(title=f"{scenario}, q = {size:g}", xlabel="columns p", ylabel="seconds of one core")
            panel.set(xticks=effort.columns)
            _logarithmic(panel)

    panels[0, -1].legend(frameon=False, fontsize=7, loc="lower right")
    figure.suptitle(f"SS2: time of stage 2; bars: standard errors\n{_replicates(lines)}")
    return names + _save(figure, folder, "ss2_time")


def draw_scenarios(folder: Path) -> list[str]:
    """Draw the first two columns of the simple and the complex scenario of SS2."""
    figure, panels = _panels(1, 2, 10, 4.8, sharex=True, sharey=True)
    for panel, scenario in zip(panels[0], ("simple", "complex"), strict=True):
        data = simulate(f"ss2_{scenario}", 0)
        for k in range(5):
            own = data.test[data.test_classes == k + 1]
            label = f"class {k + 1}, {'known' if k < 2 else 'novel'}"
            panel.scatter(*own.T, s=9, marker=_MARKERS[k], color=_COLOURS[k], label=label, alpha=0.7, rasterized=True)
        panel.set(title=f"SS2, {scenario} scenario: 1,000 test rows", xlabel="column 1", ylabel="column 2")
    panels[0, 0].legend(frameon=False, fontsize=8)
    return _save(figure, folder, "ss2_scenarios")


def draw_ss3(lines: list[Line], effort: Extent, folder: Path) -> list[str]:
    """Draw ARI and F1 of every setting, sorted by what matters most, for low and high overlap."""
    figure, panels = _panels(2, 2, 14, 8, sharex=True)
    for column, overlap in enumerate(("low", "high")):
        own = [line for line in lines if line["study"] == f"ss3_{overlap}"]
        for row, (value, name) in enumerate((("ari", "ARI"), ("known_f1", "F1 (known positive)"))):
            panel = panels[row, column]
            for k, arm in enumerate(ARMS[:2]):
                means = cells(own, value, _of_setting(arm))
                order = sorted(means, key=lambda setting: setting[::-1])
                panel.errorbar(
                    np.arange(len(order)) + 0.25 * k,
                    [means[setting].mean for setting in order],
                    [means[setting].error for setting in order],
                    fmt=_MARKERS[k],
                    ms=4,
                    lw=1,
                    color=_COLOURS[k],
                    label=ARM_NAMES[arm],
                )

            default = cells(own, value, lambda line: "" if line["arm"] == "default" else None)[""]
            panel.axhline(default.mean, color=_COLOURS[2], label=f"VBrand(): {default.mean:.3f}")
            panel.set(title=f"SS3, {overlap} overlap: {name}", ylabel=name)
            order_said = "nu_0 (4, 52, 100), within it lambda_0 (1, 5, 10), gamma (1, 5.5, 10), alpha (.1, .55, 1)"
            panel.set_xlabel(f"setting, in order of {order_said}", fontsize=8)

    panels[0, 0].legend(frameon=False, fontsize=8)
    count = max(c.count for c in cells(lines, "ari", lambda x: (x["study"], x["arm"], _setting(x))).values())
    rows = 9_950 * float(lines[0]["size"])
    figure.suptitle(
        f"SS3: {len(effort.settings)} settings of the priors, {rows:,.0f} test rows, p = 2; replicates: {count}; "
        "bars: standard errors"
    )
    return _save(figure, folder, "ss3")


def draw_robustness(lines: list[Line], effort: Extent, folder: Path) -> list[str]:
    """Draw ARI with clean and dirty labelled rows for each kind of scatter."""
    figure, panels = _panels(2, 4, 14, 7.5, sharey=True)
    panels[0, 3].axis("off")

    for panel, (arm, scatter) in zip([*panels[0, :3], *panels[1]], STAGES, strict=True):
        for k, (dirty, label) in enumerate((("False", "clean"), ("True", "10 % wrong labels, 5 % outliers"))):
            means = cells(lines, "ari", _of_scatter(arm, scatter, dirty))
            _line(panel, means, float(lines[0]["size"]), effort.columns, k, label)
        priors = "VBrand()'s priors" if arm == "default" else "SS1's priors"
        panel.set(title=f'scatter="{scatter}", {priors}', xlabel="columns p", ylabel="ARI", xticks=effort.columns)

    panels[0, 0].legend(frameon=False, fontsize=8)
    count = max(
        c.count for c in cells(lines, "ari", lambda x: (x["arm"], x["scatter"], x["dirty"], _place(x))).values()
    )
    figure.suptitle(
        f"SS1 at q = {float(lines[0]['size']):g} with dirty training labels; search by moves; replicates: {count}; "
        "bars: standard errors"
    )
    return _save(figure, folder, "robustness")


def draw_soils(arms: list[Arm], soils: Soils, folder: Path) -> list[str]:
    """Draw a page for each arm: traces, a map of the rows, the confusion of kinds with clusters."""
    place = TSNE(random_state=0, init="pca", perplexity=30.0).fit_transform(soils.test)
    names = []
    for arm in (each for each in arms if each.name in ARMS):
        figure, panels = _panels(2, 2, 13, 11)
        _draw_traces(panels[0, 0], arm)

        kinds = [SOILS[int(kind)] for kind in arm.confusion.truth]
        _draw_map(
            panels[0, 1], place, [soils.test_kinds == int(kind) for kind in arm.confusion.truth], kinds, "the truth"
        )
        inside = [arm.found.clusters == k for k in range(len(arm.found.groups))]
        _draw_map(panels[1, 0], place, inside, _soil_names(arm), "what was found")
        _draw_confusion(panels[1, 1], arm, kinds)

        figure.suptitle(
            f"Statlog, {arm.title}: ARI {arm.scores.ari:.3f}, novelty F1 {arm.scores.novelty_f1:.3f}; "
            f"{soils.test.shape[0]:,} test rows, cotton and stubble never labelled"
        )
        names += _save(figure, folder, f"statlog_{arm.name}")
    return names


def _draw_traces(panel: Any, arm: Arm) -> None:
    best = max(arm.found.traces, key=lambda trace: trace[-1])
    for trace in arm.found.traces:
        panel.plot(np.arange(1, trace.size + 1), trace, color="lightgrey", lw=0.7, rasterized=True)
    panel.plot(np.arange(1, best.size + 1), best, color="blue", lw=1.5, label=f"best: {best[-1]:,.1f}")

    ends = [trace[-1] for trace in arm.found.traces]
    low = min(ends) - 0.3 * (max(ends) - min(ends)) if len(ends) > 1 else np.quantile(best, 0.1)
    panel.set(
        title=f"bound, {len(ends)} start{'s' * (len(ends) > 1)}", xlabel="sweep", ylabel="bound (nats, raw units)"
    )
    panel.set_ylim(low, max(ends) + 0.05 * (max(ends) - low) + 1.0)
    panel.legend(frameon=False, loc="lower right")


def _draw_map(panel: Any, place: Any, groups: list[Any], names: list[str], title: str) -> None:
    for k, (group, name) in enumerate(zip(groups, names, strict=True)):
        marker, colour = _MARKERS[k % len(_MARKERS)], _COLOURS[k % len(_COLOURS)]
        panel.scatter(
            *place[group].T,
            s=10,
            marker=marker,
            color=colour,
            label=f"{name} ({group.sum():,})",
            alpha=0.8,
            rasterized=True,
        )
    panel.set(title=f"t-SNE of the test rows: {title}", xticks=[], yticks=[])
    panel.legend(frameon=False, fontsize=7, markerscale=1.5)


def _draw_confusion(panel: Any, arm: Arm, kinds: list[str]) -> None:
    counts = arm.confusion.counts
    shares = counts / counts.sum(axis=1, keepdims=True)
    panel.imshow(shares, cmap="Blues", vmin=0.0, vmax=1.0, aspect="auto")
    for i, j in np.ndindex(counts.shape):
        if counts[i, j]:
            panel.text(j, i, counts[i, j], ha="center", va="center", color="white" if shares[i, j] > 0.5 else "black")
    labels = [f"{kind}{' *' if kind in ('cotton crop', 'vegetation stubble') else ''}" for kind in kinds]
    panel.set_yticks(range(len(labels)), labels)
    panel.set_xticks(range(counts.shape[1]), _soil_names(arm), rotation=35, ha="right")
    panel.set(title="rows of each kind (* never labelled) by cluster", xlabel="cluster")


def _soil_names(arm: Arm) -> list[str]:
    known = arm.found.classes.size
    return [SOILS[int(g.name)] if k < known else g.name for k, g in enumerate(arm.found.groups)]


def _kinds(lines: list[Line]) -> dict[tuple[str, str], str]:
    """Return the arms of SS2 and their names: the fits, then the samplers by length."""
    kinds = {(arm, "0"): f"VB: {ARM_NAMES[arm]}" for arm in FITS_OF_SS2}
    lengths = sorted({int(line["draws"]) for line in lines if line["arm"] == "sampler"}, reverse=True)
    return kinds | {("sampler", str(draws)): f"sampler, {draws:,} + {draws:,} sweeps" for draws in lengths}


def _replicates(lines: list[Line]) -> str:
    counts = cells(lines, "ari", lambda line: (line["study"], line["arm"], line["draws"], _place(line)))
    said = {
        label: max((c.count for key, c in counts.items() if key[1:3] == kind), default=0)
        for kind, label in _kinds(lines).items()
    }
    return "replicates: " + ", ".join(f"{label} {count}" for label, count in said.items())


def _of_kind(arm: str, draws: str) -> Key:
    return lambda line: _place(line) if (line["arm"], line["draws"]) == (arm, draws) else None


def _of_setting(arm: str) -> Key:
    return lambda line: _setting(line) if line["arm"] == arm else None


def _of_scatter(arm: str, scatter: str, dirty: str) -> Key:
    wanted = arm, scatter, dirty
    return lambda line: _place(line) if (line["arm"], line["scatter"], line["dirty"]) == wanted else None


def _place(line: Line) -> tuple[float, int]:
    return float(line["size"]), int(line["columns"])


def _setting(line: Line) -> tuple[float, ...]:
    names = ("weight", "concentration", "novel_mean_strength", "novel_dof")
    return tuple(float(line[name]) for name in names)


def _line(panel: Any, means: Any, size: float, columns: tuple[int, ...], k: int, label: str) -> None:
    there = [p for p in columns if (size, p) in means]
    if there:
        held = [means[size, p] for p in there]
        panel.errorbar(
            np.array(there) + 0.06 * (k - 2),
            [cell.mean for cell in held],
            [0.0 if np.isnan(cell.error) else cell.error for cell in held],
            marker=_MARKERS[k],
            ms=4,
            lw=1.2,
            color=_COLOURS[k],
            label=label,
        )


def _logarithmic(panel: Any) -> None:
    """Make the vertical axis logarithmic, with plain numbers; those between powers of ten only if there is room."""
    panel.set_yscale("log")
    low, high = panel.get_ylim()
    panel.yaxis.set_major_formatter("{x:g}")
    panel.yaxis.set_minor_formatter("{x:g}" if high < 20.0 * low else "")
    panel.tick_params(axis="y", which="minor", labelsize=7)


def _panels(rows: int, columns: int, width: float, height: float, **shared: Any) -> Any:
    try:
        import matplotlib as mpl
    except ImportError:
        raise ImportError("figures need the package matplotlib: pip install 'vbrand[plot]'") from None

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    return plt.subplots(rows, columns, figsize=(width, height), squeeze=False, layout="constrained", **shared)


def _save(figure: Any, folder: Path, name: str) -> list[str]:
    import matplotlib.pyplot as plt

    folder.mkdir(parents=True, exist_ok=True)
    for kind in ("png", "svg"):
        figure.savefig(folder / f"{name}.{kind}", dpi=100, metadata={"Date": None} if kind == "svg" else None)
    plt.close(figure)
    return [name]
