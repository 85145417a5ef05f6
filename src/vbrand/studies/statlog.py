"""The satellite study: kinds of soil, two of which nobody has labelled (Statlog, Landsat satellite)."""

import hashlib
import os
import time
import urllib.error
import urllib.request
import warnings
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from vbrand.discovery.variational import VariationalDiscovery
from vbrand.estimators.variational import VBrand
from vbrand.facts.confusion import Confusion
from vbrand.facts.groups import GroupKind
from vbrand.metrics import Scores, confusion, evaluate
from vbrand.studies.tasks import warm
from vbrand.types import FloatArray, IntArray

SOILS = {
    1: "red soil",
    2: "cotton crop",
    3: "grey soil",
    4: "damp grey soil",
    5: "vegetation stubble",
    7: "very damp grey soil",
}
UNLABELLED = (2, 5)
_SOURCE = "https://archive.ics.uci.edu/ml/machine-learning-databases/statlog/satimage/"
# of the numbers as 16-bit integers, so that line ends do not matter
_CHECKSUMS = {
    "sat.trn": "70c5eb977b55215c863e2310f86bc5d5bcee35c059f6f8e1c79eb2788ee08fb3",
    "sat.tst": "f3762f21d302afe89a503114699e3547851779fabc0db86f03375a6dd4cd24d9",
}


@dataclass(frozen=True)
class Soils:
    """Labelled rows without cotton and stubble, and all test rows with their true kind."""

    train: FloatArray
    train_kinds: IntArray
    test: FloatArray
    test_kinds: IntArray

    def thinned(self, every: int) -> "Soils":
        """Return one row of every `every` rows."""
        return Soils(self.train[::every], self.train_kinds[::every], self.test[::every], self.test_kinds[::every])


@dataclass(frozen=True)
class Arm:
    """One way to fit, and what it found."""

    name: str
    title: str
    found: VariationalDiscovery
    scores: Scores
    confusion: Confusion
    seconds: float


def load_soils(folder: Path | None = None) -> Soils:
    """Return the data from a folder with sat.trn and sat.tst, or from the folder in VBRAND_DATA, or downloaded once."""
    given = folder or (Path(os.environ["VBRAND_DATA"]) if "VBRAND_DATA" in os.environ else None)
    tables = {name: _checked(_path(name, given)) for name in _CHECKSUMS}
    train, test = tables["sat.trn"], tables["sat.tst"]

    labelled = ~np.isin(train[:, 36], UNLABELLED)
    return Soils(
        train[labelled, :36].astype(np.float64),
        train[labelled, 36].astype(np.int64),
        test[:, :36].astype(np.float64),
        test[:, 36].astype(np.int64),
    )


def _path(name: str, folder: Path | None) -> Path:
    if folder is not None:
        path = folder / name
        if not path.is_file():
            raise FileNotFoundError(f"{folder} has no file {name}; the folder must hold sat.trn and sat.tst.")
        return path
    path = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "vbrand" / "statlog" / name
    if not path.is_file():
        _download(_SOURCE + name, path)
    return path


def _download(address: str, path: Path) -> None:
    try:
        with urllib.request.urlopen(address, timeout=30) as answer:
            content = answer.read()
    except (urllib.error.URLError, OSError) as error:
        raise OSError(
            f"the satellite data can't be downloaded ({error}). Get sat.trn and sat.tst of 'Statlog (Landsat "
            "Satellite)' from the UCI repository by other means and name their folder: --data FOLDER, or VBRAND_DATA."
        ) from None

    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_suffix(".part")
    half.write_bytes(content)
    half.replace(path)


def _checked(path: Path) -> Any:
    try:
        table = np.loadtxt(path, dtype=np.int16, ndmin=2)
        right = hashlib.sha256(table.tobytes()).hexdigest() == _CHECKSUMS[path.name]
    except ValueError:
        right = False
    if not right:
        raise ValueError(f"{path} does not hold the numbers of Statlog's {path.name}. Delete it, or download it again.")
    return table


def run_arms(soils: Soils, restarts: int, jobs: int) -> list[Arm]:
    """Return the discoveries of four detectors.

    The paper's protocol; the search with the paper's priors; VBrand as it comes; and the paper's protocol with the MRCD
    of the paper instead of the MCD of its scripts.
    """
    paper = VBrand.paper(soils.train, n_starts=restarts, random_state=0, n_jobs=jobs)
    search = VBrand.paper(soils.train, search="moves", random_state=0, n_jobs=jobs)
    warm(sampler=False)
    return [
        _run(soils, "paper", f"the paper: its priors, best of {restarts} k-means starts", paper),
        _run(soils, "search", "search by moves, the paper's priors", search),
        _run(soils, "default", "VBrand() as it comes", VBrand(random_state=0, n_jobs=jobs)),
        _run(soils, "mrcd", f"the paper, MRCD: best of {restarts} starts", clone(paper).set_params(scatter="mrcd")),
    ]


def _run(soils: Soils, name: str, title: str, detector: VBrand) -> Arm:
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a full model is part of what is shown
        found = detector.fit(soils.train, soils.train_kinds).discover(soils.test)
    seconds = time.perf_counter() - start
    return Arm(name, title, found, evaluate(soils.test_kinds, found), confusion(soils.test_kinds, found), seconds)


def line_of(arm: Arm) -> dict[str, Any]:
    """Return one line of a table."""
    groups = [group.kind for group in arm.found.groups]
    return {
        "arm": arm.name,
        **asdict(arm.scores),
        "bound": arm.found.elbo,
        "groups": groups.count(GroupKind.NOVEL),
        "outlier_groups": groups.count(GroupKind.OUTLIER),
        "seconds": arm.seconds,
    }
