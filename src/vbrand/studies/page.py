"""The page that shows the studies beside the paper's claims; every number on it comes from tasks that were run."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from vbrand.studies.figures import ARM_NAMES
from vbrand.studies.plans import ARMS, FITS_OF_SS1, FITS_OF_SS2, STAGES, Extent
from vbrand.studies.runner import Line
from vbrand.studies.summary import Cell, Key, cells
from vbrand.studies.tasks import GRID

_GRID_NAMES = dict(zip(GRID, ("alpha", "gamma", "lambda_0", "nu_0"), strict=True))


def section_ss1(lines: list[Line], effort: Extent) -> str:
    """Return SS1: which metrics are above .70, and where VBrand() is behind the paper's protocol."""
    text = [
        "## SS1: seven classes, three of them known\n",
        "Claim: ARI, AMI and FMI above .70 in all cells, always under half a minute.\n",
        "| arm | replicates per cell | cells with all three above .70 | lowest mean ARI, AMI, FMI | longest mean time "
        "|",
        "|---|---|---|---|---|",
    ]

    held = {
        (arm, value): _cells(lines, value, arm) for arm in FITS_OF_SS1 for value in ("ari", "ami", "fmi", "seconds")
    }
    for arm in FITS_OF_SS1:
        metrics = [held[arm, value] for value in ("ari", "ami", "fmi")]
        above = sum(all(means[cell].mean > 0.7 for means in metrics) for cell in metrics[0])
        lowest = ", ".join(f"{min(c.mean for c in means.values()):.3f}" for means in metrics)
        longest = max(c.mean for c in held[arm, "seconds"].values())
        counts = _counts(metrics[0].values())
        text.append(f"| {ARM_NAMES[arm]} | {counts} | {above} of {len(metrics[0])} | {lowest} | {longest:.2f} s |")

    text.append("\nMean ARI (standard error):\n")
    for arm in FITS_OF_SS1:
        text += [f"{ARM_NAMES[arm]}:\n", _grid(held[arm, "ari"], effort), ""]

    worse = []
    for value in ("ari", "ami", "fmi"):
        ours, theirs = held["default", value], held["paper", value]
        for cell in ours:
            error = np.hypot(_known(ours[cell].error), _known(theirs[cell].error))
            if ours[cell].mean < theirs[cell].mean - 2.0 * error:
                worse.append(
                    f"{value.upper()} at q = {cell[0]:g}, p = {cell[1]}: {ours[cell].mean:.3f} against "
                    f"{theirs[cell].mean:.3f}"
                )

    text.append(
        "`VBrand()` is nowhere more than two standard errors of the difference below the paper's protocol."
        if not worse
        else "`VBrand()` is more than two standard errors of the difference below the paper's protocol in: "
        + "; ".join(worse)
        + "."
    )
    return _with_figures(text, ["ss1"])


def section_robustness(lines: list[Line], effort: Extent) -> str:
    """Return what wrong labels and outliers among the labelled rows do."""
    text = [
        "## Robustness: why stage 1 is robust\n",
        "SS1 at q = 1 with 10 % of the training labels swapped and 5 % far outliers added. Mean ARI, clean and "
        "dirty:\n",
        "| priors | scatter | " + " | ".join(f"p = {p}" for p in effort.columns) + " | largest loss |",
        "|---|---|" + "---|" * (len(effort.columns) + 1),
    ]

    for arm, scatter in STAGES:
        clean, dirty = (cells(lines, "ari", _of_scatter(arm, scatter, dirty)) for dirty in ("False", "True"))
        row = " | ".join(f"{clean[p].mean:.3f}, {dirty[p].mean:.3f}" for p in effort.columns)
        loss = max(clean[p].mean - dirty[p].mean for p in effort.columns)
        text.append(f"| {'`VBrand()`' if arm == 'default' else 'SS1'} | `{scatter}` | {row} | {loss:.3f} |")
    text.append(
        f"\nReplicates per cell: {_counts(clean.values())}. Search by moves. SS1's priors are worth 50 rows per class, "
        "which the test rows outweigh; those of `VBrand()` are worth the labelled rows, 300 or 400 per class, so that "
        "it matters what stage 1 says. `modes` is the default."
    )
    return _with_figures(text, ["robustness"])


def section_ss2(lines: list[Line], effort: Extent) -> str:
    """Return SS2: how much faster the fit is, and who is ahead where."""
    lengths = sorted({int(line["draws"]) for line in lines if line["arm"] == "sampler"}, reverse=True)
    text = [
        "## SS2: the fit beside the sampler\n",
        "Claims: the fit is about 100 times faster; the sampler is ahead at p = 2, the fit from p = 3 or so on.\n",
    ]
    for arm in ("paper", "search"):
        text += _ratios(lines, effort, arm, lengths[0])
    text += _who_is_ahead(lines, effort, lengths[-1])
    text += _why(lines, effort)

    for scenario in ("simple", "complex"):
        own = [line for line in lines if line["study"] == f"ss2_{scenario}"]
        for draws in lengths:
            chains = _cells([x for x in own if x["draws"] == str(draws)], "ari", "sampler")
            text += [
                f"Mean ARI, {scenario} scenario, of the sampler ({draws:,} + {draws:,}; replicates per "
                f"cell: {_counts(chains.values())}):\n",
                _grid(chains, effort),
                "",
            ]
        for arm in FITS_OF_SS2:
            text += [f"and of the fit ({ARM_NAMES[arm]}):\n", _grid(_cells(own, "ari", arm), effort), ""]
    return _with_figures(text, ["ss2_scenarios", "ss2_simple", "ss2_complex", "ss2_time"])


def _ratios(lines: list[Line], effort: Extent, arm: str, draws: int) -> list[str]:
    """Return how many times longer the sampler takes than the fit, cell by cell."""
    text, smallest = list[str](), np.inf
    below, count = 0, 0
    for scenario in ("simple", "complex"):
        own = [line for line in lines if line["study"] == f"ss2_{scenario}"]
        slow = _cells([x for x in own if x["draws"] == str(draws)], "seconds", "sampler")
        fast = _cells(own, "seconds", arm)
        ratio = {cell: Cell(slow[cell].mean / fast[cell].mean, float("nan"), 1) for cell in slow}
        smallest = min(smallest, *(cell.mean for cell in ratio.values()))
        below += sum(cell.mean < 30.0 for cell in ratio.values())
        count += len(ratio)
        title = f"Time of our sampler ({draws:,} + {draws:,} sweeps) over that of the fit ({ARM_NAMES[arm]})"
        text += [f"{title}, {scenario} scenario:\n", _grid(ratio, effort, "{:.0f}"), ""]
    return [*text, f"The smallest ratio is {smallest:.0f}; {below} of {count} are below 30.\n"]


def _who_is_ahead(lines: list[Line], effort: Extent, draws: int) -> list[str]:
    """Return in how many cells sampler or fit is ahead, by columns, over the replicates that both have."""
    text = [
        f"Who is ahead, by more than .01 of mean ARI, over the {len(effort.sizes)} sizes (sampler of {draws:,} + "
        f"{draws:,} sweeps; sampler : even : fit):\n",
        "| scenario | fit | " + " | ".join(f"p = {p}" for p in effort.columns) + " |",
        "|---|---|" + "---|" * len(effort.columns),
    ]

    for scenario in ("simple", "complex"):
        own = [line for line in lines if line["study"] == f"ss2_{scenario}"]
        chains = _cells([x for x in own if x["draws"] == str(draws)], "ari", "sampler")
        for arm in FITS_OF_SS2:
            fits, shown = _cells(own, "ari", arm), []
            for p in effort.columns:
                gains = np.array([chains[size, p].mean - fits[size, p].mean for size in effort.sizes])
                ahead, behind = int((gains > 0.01).sum()), int((gains < -0.01).sum())
                shown.append(f"{ahead} : {gains.size - ahead - behind} : {behind}")
            text.append(f"| {scenario} | {ARM_NAMES[arm]} | " + " | ".join(shown) + " |")
    return [*text, ""]


def _why(lines: list[Line], effort: Extent) -> list[str]:
    """Return what a better optimum of the same bound does to ARI."""
    text = [
        "Why: what the search gains over the k-means start with the same priors (means over sizes and replicates). A "
        "higher bound with a lower ARI means that the priors themselves prefer to merge groups; the k-means start is "
        "then ahead because it stops in a worse optimum, and the sampler, which does not stop, is behind with the "
        "search.\n",
        "| scenario | | " + " | ".join(f"p = {p}" for p in effort.columns) + " |",
        "|---|---|" + "---|" * len(effort.columns),
    ]

    for scenario in ("simple", "complex"):
        own = [line for line in lines if line["study"] == f"ss2_{scenario}"]
        for value, name in (("bound", "bound, nats"), ("ari", "ARI")):
            start, better = (
                cells([x for x in own if x["arm"] == arm], value, lambda x: int(x["columns"])) for arm in ARMS[:2]
            )
            form = "{:+.0f}" if value == "bound" else "{:+.3f}"
            gains = " | ".join(form.format(better[p].mean - start[p].mean) for p in effort.columns)
            text.append(f"| {scenario} | {name} | {gains} |")
    return [*text, ""]


def section_ss3(lines: list[Line], effort: Extent) -> str:
    """Return SS3: the range over all settings, and what each hyperparameter does."""
    text = [
        "## SS3: do the hyperparameters matter?\n",
        f"{len(effort.settings)} settings of the priors, {_counts(_settings(lines, 'ari', 'paper', 'low').values())} "
        "replicates each. Claim: hardly at low overlap; less good, and as stable, at high overlap.\n",
        "| overlap | arm | mean ARI over settings: range | mean F1 (known positive): range |",
        "|---|---|---|---|",
    ]

    for overlap in ("low", "high"):
        for arm in ARMS:
            spans = []
            for value in ("ari", "known_f1"):
                means = [cell.mean for cell in _settings(lines, value, arm, overlap).values()]
                spans.append(f"{min(means):.3f} to {max(means):.3f}" if len(means) > 1 else f"{means[0]:.3f}")
            text.append(f"| {overlap} | {ARM_NAMES[arm]} | {spans[0]} | {spans[1]} |")

    text.append("\nMain effects (mean over all settings with that value):\n")
    text += ["| overlap | arm | hyperparameter | ARI | F1 |", "|---|---|---|---|---|"]
    for overlap in ("low", "high"):
        for arm in ARMS[:2]:
            for name in GRID:
                ari, f1 = (_effect(lines, value, arm, overlap, name) for value in ("ari", "known_f1"))
                text.append(f"| {overlap} | {ARM_NAMES[arm]} | {_GRID_NAMES[name]} | {ari} | {f1} |")
    return _with_figures(text, ["ss3"])


def section_statlog(lines: list[dict[str, Any]], restarts: int) -> str:
    """Return the satellite study, three arms."""
    text = [
        "## Statlog: soils seen from a satellite\n",
        "2,000 test rows, 36 columns; cotton crop and vegetation stubble were never labelled. The paper's protocol has "
        f"{restarts} starts. The bound is in the raw units of the data; that of `VBrand()` has other priors.\n",
        "| arm | bound | ARI | AMI | FMI | novelty F1 | known accuracy | novel groups (and outlier groups) | seconds |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for x in lines:
        scores = " | ".join(f"{x[name]:.3f}" for name in ("ari", "ami", "fmi", "novelty_f1", "known_accuracy"))
        text.append(
            f"| {ARM_NAMES[x['arm']]} | {x['bound']:,.1f} | {scores} | {x['groups']} ({x['outlier_groups']}) "
            f"| {x['seconds']:.1f} |"
        )
    return _with_figures(text, [f"statlog_{arm}" for arm in ARMS])


def write_page(folder: Path, sections: Iterable[str], effort: Extent) -> Path:
    """Write reproduction.md beside the folder of figures and tables."""
    head = [
        "# The paper, reproduced\n",
        "Written by `vbrand reproduce`: every figure and number on this page comes from the tables and pictures in "
        f"[{folder.name}/]({folder.name}/), which the same command made (effort: {effort.name}). Times are those of "
        "one core of the machine it ran on (Statlog: of the clock). `vbrand reproduce all --full` is the paper's grid; "
        "a stopped run continues where it stopped.\n",
        "Data and priors are those that the authors' scripts really had; the paper misprints some (SS1: first mean, "
        "variances of classes 2, 3 and 7, correlation of class 6, training size of class 3; SS3: last mean). AMI is "
        "adjusted mutual information; what the paper prints under that name is normalised mutual information. Stage 1 "
        "is the MCD, as in the scripts; the paper's protocol is one k-means start (Statlog: the best of many).\n",
        f"![How the model works]({folder.name}/model.png)\n",
        f"![How the fit works]({folder.name}/fit.png)\n",
    ]

    path = folder.parent / "reproduction.md"
    half = path.with_suffix(".part")
    half.write_text("\n".join([*head, *(section.replace("FOLDER", folder.name) for section in sections)]))
    half.replace(path)
    return path


def _cells(lines: Iterable[Line], value: str, arm: str) -> dict[tuple[float, int], Cell]:
    return cells(lines, value, lambda x: (float(x["size"]), int(x["columns"])) if x["arm"] == arm else None)


def _of_scatter(arm: str, scatter: str, dirty: str) -> Key:
    return lambda x: int(x["columns"]) if (x["arm"], x["scatter"], x["dirty"]) == (arm, scatter, dirty) else None


def _settings(lines: list[Line], value: str, arm: str, overlap: str) -> dict[tuple[float, ...], Cell]:
    def key(line: Line) -> Any:
        return tuple(line[n] for n in GRID) if (line["arm"], line["study"]) == (arm, f"ss3_{overlap}") else None

    return cells(lines, value, key)


def _effect(lines: list[Line], value: str, arm: str, overlap: str, name: str) -> str:
    def key(line: Line) -> Any:
        return float(line[name]) if (line["arm"], line["study"]) == (arm, f"ss3_{overlap}") else None

    return ", ".join(f"{level:g}: {cell.mean:.3f}" for level, cell in sorted(cells(lines, value, key).items()))


def _grid(means: dict[tuple[float, int], Cell], effort: Extent, form: str = "{:.3f}") -> str:
    lines = ["| q | " + " | ".join(f"p = {p}" for p in effort.columns) + " |", "|---|" + "---|" * len(effort.columns)]
    for size in effort.sizes:
        held = [means.get((size, p)) for p in effort.columns]
        lines.append(f"| {size:g} | " + " | ".join("" if c is None else _shown(c, form) for c in held) + " |")
    return "\n".join(lines)


def _shown(cell: Cell, form: str) -> str:
    return form.format(cell.mean) + ("" if np.isnan(cell.error) else f" ({cell.error:.3f})")


def _counts(held: Iterable[Cell]) -> str:
    counts = sorted({cell.count for cell in held})
    return " to ".join(str(count) for count in dict.fromkeys((counts[0], counts[-1])))


def _known(error: float) -> float:
    return 0.0 if np.isnan(error) else error


def _with_figures(text: list[str], names: list[str]) -> str:
    pictures = [f"\n![{name.replace('_', ' ')}](FOLDER/{name}.png)" for name in names]
    return "\n".join([*text, *pictures]) + "\n"
