"""Which tasks make a study: as much as the paper ran, as much as the docs show, or a quick look."""

from dataclasses import dataclass
from itertools import product

from vbrand.studies.tasks import GRID, Task

SIZES = (0.5, 1.0, 2.5, 5.0, 10.0)
COLUMNS = (2, 3, 5, 7, 10)
ARMS = ("paper", "search", "default")
# SS1 also has the paper's protocol with the MRCD of the paper instead of the MCD of its scripts
FITS_OF_SS1 = (*ARMS, "mrcd")
# SS2 also asks what the fit says with the sampler's priors: do differences come from the priors or from the methods?
FITS_OF_SS2 = (*ARMS, "same")
# robustness: priors and scatter
STAGES = (*product(("search", "default"), ("mrcd", "mcd", "empirical")), ("default", "modes"))
SETTINGS = tuple(product((0.1, 0.55, 1.0), (1.0, 5.5, 10.0), (1.0, 5.0, 10.0), (4.0, 52.0, 100.0)))


@dataclass(frozen=True)
class Extent:
    """How much of a study is run."""

    name: str
    sizes: tuple[float, ...]
    columns: tuple[int, ...]
    paper: int  # replicates of SS1's paper arm
    others: int  # replicates of SS1's other arms, of robustness
    chains: tuple[tuple[int, int], ...]  # SS2: draws of the sampler (and sweeps before them), and replicates
    sensitivity: int  # SS3: replicates
    settings: tuple[tuple[float, ...], ...]  # SS3: the grid
    restarts: int  # Statlog
    every: int = 1  # Statlog: one of so many rows is used


EFFORTS = {
    "full": Extent("full", SIZES, COLUMNS, 50, 50, ((10_000, 50),), 50, SETTINGS, 200),
    "shown": Extent("shown", SIZES, COLUMNS, 50, 10, ((10_000, 1), (2_000, 5)), 5, SETTINGS, 200),
    "quick": Extent("quick", (0.5, 1.0), (2, 5), 3, 3, ((500, 2),), 1, SETTINGS[::8], 20),
    "toy": Extent("toy", (0.5,), (2,), 1, 1, ((20, 1),), 1, SETTINGS[:2], 2, every=3),
}


def plan(study: str, effort: Extent) -> list[Task]:
    """Return the tasks of ss1, ss2, ss3 or robustness, ordered by replicate so that a part of them covers all cells."""
    tasks = {"ss1": _ss1, "ss2": _ss2, "ss3": _ss3, "robustness": _robustness}[study](effort)
    return sorted(tasks, key=lambda task: task.replicate)


def _ss1(effort: Extent) -> list[Task]:
    return [
        Task("ss1", arm, size, columns, replicate)
        for arm, size, columns in product(FITS_OF_SS1, effort.sizes, effort.columns)
        for replicate in range(effort.paper if arm == "paper" else effort.others)
    ]


def _ss2(effort: Extent) -> list[Task]:
    cells = list(product(("ss2_simple", "ss2_complex"), effort.sizes, effort.columns))
    replicates = max(count for _, count in effort.chains)
    fits = [
        Task(scenario, arm, size, columns, replicate)
        for (scenario, size, columns), arm, replicate in product(cells, FITS_OF_SS2, range(replicates))
    ]
    chains = [
        Task(scenario, "sampler", size, columns, replicate, draws=draws)
        for (scenario, size, columns), (draws, count) in product(cells, effort.chains)
        for replicate in range(count)
    ]
    return fits + chains


def _usual_size(effort: Extent) -> float:
    """Return the size of studies that have only one: 1, as in the paper, if the effort has it."""
    return 1.0 if 1.0 in effort.sizes else effort.sizes[0]


def _ss3(effort: Extent) -> list[Task]:
    overlaps, replicates, size = ("ss3_low", "ss3_high"), range(effort.sensitivity), _usual_size(effort)
    grid = [
        Task(overlap, arm, size, 2, replicate, **dict(zip(GRID, setting, strict=True)))
        for overlap, arm, setting, replicate in product(overlaps, ARMS[:2], effort.settings, replicates)
    ]
    return grid + [Task(overlap, "default", size, 2, replicate) for overlap, replicate in product(overlaps, replicates)]


def _robustness(effort: Extent) -> list[Task]:
    return [
        Task("ss1", arm, _usual_size(effort), columns, replicate, scatter=scatter, dirty=dirty)
        for (arm, scatter), columns, dirty in product(STAGES, effort.columns, (False, True))
        for replicate in range(effort.others)
    ]
