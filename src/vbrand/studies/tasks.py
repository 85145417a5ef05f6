"""One replicate of a study: simulate, fit in one of several ways, score."""

import time
import zlib
from dataclasses import asdict, dataclass, fields
from functools import cache
from typing import Any

from vbrand.discovery.variational import VariationalDiscovery
from vbrand.estimators.paper import paper_settings, sampler_settings
from vbrand.estimators.sampler import BrandSampler
from vbrand.estimators.variational import VBrand
from vbrand.facts.groups import GroupKind
from vbrand.metrics import evaluate
from vbrand.studies.simulate import Simulated, contaminated, simulate

# the settings that SS3 varies
GRID = ("weight", "concentration", "novel_mean_strength", "novel_dof")


@dataclass(frozen=True)
class Task:
    """What to run: everything that the answer depends on, and nothing else."""

    study: str  # a key of DESIGNS
    arm: str  # a way to fit: see `detector_of`
    size: float  # q
    columns: int  # p
    replicate: int
    draws: int = 0  # of the sampler, after as many sweeps that are not kept
    scatter: str = ""  # instead of the arm's own
    dirty: bool = False  # wrong labels and outliers among the labelled rows
    weight: float = 0.0  # SS3's grid; 0 elsewhere
    concentration: float = 0.0
    novel_mean_strength: float = 0.0
    novel_dof: float = 0.0

    @property
    def key(self) -> tuple[str, ...]:
        """Return what identifies the task, as text in a table."""
        return tuple(str(value) for value in asdict(self).values())

    @property
    def cost(self) -> float:
        """Return about how many seconds it takes, to estimate the time that is left."""
        rows = 1_000.0 * self.size * (10.0 if self.study.startswith("ss3") else 1.0)
        if self.arm == "sampler":
            return 2 * self.draws * (6e-4 + rows * (1e-7 + 2e-8 * self.columns))
        return 0.3 + rows * self.columns * 2e-5 * {"paper": 1.0, "default": 2.0}.get(self.arm, 1.5)


@dataclass(frozen=True)
class Outcome:
    """The result of a task."""

    ari: float
    ami: float
    fmi: float
    novelty_f1: float
    known_f1: float
    known_accuracy: float
    false_novelty: float
    groups: int  # novel groups with at least the default smallest number of rows
    bound: float  # nan for the sampler
    first_seconds: float  # stage 1, of one core
    seconds: float  # stage 2, of one core


KEYS = tuple(field.name for field in fields(Task))
COLUMNS = KEYS + tuple(field.name for field in fields(Outcome))


def run_task(task: Task) -> dict[str, Any]:
    """Return the task and its outcome, one line of a table; compilation is not timed."""
    warm(sampler=task.arm == "sampler")
    data = data_of(task)
    detector = detector_of(task, data)

    start = time.process_time()
    detector.fit(data.train, data.train_classes)
    fitted = time.process_time()
    found = detector.discover(data.test)
    done = time.process_time()

    outcome = Outcome(
        **asdict(evaluate(data.test_classes, found)),
        groups=sum(group.kind == GroupKind.NOVEL for group in found.groups),
        bound=found.elbo if isinstance(found, VariationalDiscovery) else float("nan"),
        first_seconds=fitted - start,
        seconds=done - fitted,
    )
    return asdict(task) | asdict(outcome)


def data_of(task: Task) -> Simulated:
    """Return the simulated table: the same for all arms and settings of a replicate."""
    seed = zlib.crc32(f"{task.study} {task.size} {task.columns} {task.replicate}".encode())
    data = simulate(task.study, seed, size=task.size, columns=task.columns)
    return contaminated(data, seed) if task.dirty else data


def detector_of(task: Task, data: Simulated) -> VBrand | BrandSampler:
    """Return the detector of an arm.

    "paper": the paper's priors, its MCD, one k-means start; "mrcd": the same with MRCD; "search": its priors and our
    search; "default": VBrand as it comes; "sampler": BrandSampler as SS2 was run; "same": our search with its priors.
    """
    study = task.study.split("_")[0]
    if task.arm == "sampler":
        return BrandSampler(
            **sampler_settings(data.train.shape[1]),
            n_draws=task.draws,
            n_burn=task.draws,
            n_chains=1,
            init="random",
            random_state=task.replicate,
        )

    settings: dict[str, Any] = {}
    if task.arm in ("paper", "mrcd", "search"):
        settings = paper_settings(study, data.train)
    if task.arm == "same":
        settings = sampler_settings(data.train.shape[1]) | {"kernel": "gaussian"}
        del settings["kappa"]
    if task.arm in ("paper", "mrcd"):
        settings |= {"search": "restarts", "n_starts": 1}
    if task.arm == "mrcd":
        settings |= {"scatter": "mrcd"}

    if task.weight:
        settings |= {"known_weight": task.weight, "novel_weight": task.weight}
        settings |= {name: getattr(task, name) for name in GRID[1:]}
    if task.scatter:
        settings |= {"scatter": task.scatter, "support_fraction": 0.75}
    return VBrand(**settings, random_state=task.replicate)


@cache
def warm(*, sampler: bool) -> None:
    """Load or compile what a detector needs, once per process."""
    data = simulate("ss2_simple", 0, size=0.1)
    run = BrandSampler(n_draws=4, n_burn=0, n_chains=1, init="random", random_state=0) if sampler else VBrand()
    run.fit(data.train, data.train_classes).discover(data.test)
