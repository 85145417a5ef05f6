"""From simulation to page: run the missing tasks of a study, draw its figures, write the page of all studies run."""

import csv
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from vbrand.studies import figures, page
from vbrand.studies.diagrams import draw_diagrams
from vbrand.studies.plans import Extent, plan
from vbrand.studies.runner import Line, read, run_all
from vbrand.studies.statlog import line_of, load_soils, run_arms

SIMULATED = ("ss1", "robustness", "ss2", "ss3")
STUDIES = (*SIMULATED, "statlog")
# shows progress, given the name and the cost of a study; yields a function to call with each cost that is done
Bar = Callable[[str, float], AbstractContextManager[Callable[[float], None]]]


def reproduce(study: str, out: Path, effort: Extent, *, jobs: int, data: Path | None, bar: Bar) -> list[Path]:
    """Run the tasks of a study that its table does not hold yet, draw its figures, and return their paths."""
    folder = out / "reproduction"
    if study == "statlog":
        names = _statlog(folder, effort, jobs, data, bar)
    else:
        tasks = plan(study, effort)
        with bar(study, sum(task.cost for task in tasks)) as progress:
            lines = run_all(tasks, folder / f"{study}.csv", jobs=jobs, progress=progress)
        names = _draw(study, lines, effort, folder)
    return [folder / f"{name}.png" for name in names]


def write_page(out: Path, effort: Extent) -> Path:
    """Write the page of all studies whose tables hold what the effort asks for."""
    folder = out / "reproduction"
    draw_diagrams(folder)
    sections = list[str]()
    for study in SIMULATED:
        held = read(folder / f"{study}.csv")
        tasks = plan(study, effort)
        if tasks and all(task.key in held for task in tasks):
            lines = [held[task.key] for task in tasks]
            sections.append(_SECTIONS[study](lines, effort))
    stored = _soil_lines(_soil_table(folder, effort))
    if stored:
        sections.append(page.section_statlog(stored, effort.restarts))
    return page.write_page(folder, sections, effort)


def _draw(study: str, lines: list[Line], effort: Extent, folder: Path) -> list[str]:
    if study == "ss2":
        return figures.draw_scenarios(folder) + figures.draw_ss2(lines, effort, folder)
    draw = {"ss1": figures.draw_ss1, "ss3": figures.draw_ss3, "robustness": figures.draw_robustness}[study]
    return draw(lines, effort, folder)


def _statlog(folder: Path, effort: Extent, jobs: int, data: Path | None, bar: Bar) -> list[str]:
    soils = load_soils(data).thinned(effort.every)
    with bar("statlog", float(effort.restarts)) as progress:
        arms = run_arms(soils, effort.restarts, jobs)
        progress(float(effort.restarts))
    names = figures.draw_soils(arms, soils, folder)
    lines = [line_of(arm) for arm in arms]
    with _soil_table(folder, effort).open("w", newline="") as file:
        writer = csv.DictWriter(file, list(lines[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)
    return names


def _soil_table(folder: Path, effort: Extent) -> Path:
    """Return the path of the table for this number of starts: the page must not show that of another effort."""
    return folder / f"statlog_{effort.restarts}.csv"


def _soil_lines(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    whole = ("groups", "outlier_groups")
    with path.open() as file:
        return [
            {
                name: value if name == "arm" else int(value) if name in whole else float(value)
                for name, value in x.items()
            }
            for x in csv.DictReader(file)
        ]


_SECTIONS: dict[str, Callable[[list[Line], Extent], str]] = {
    "ss1": page.section_ss1,
    "robustness": page.section_robustness,
    "ss2": page.section_ss2,
    "ss3": page.section_ss3,
}
