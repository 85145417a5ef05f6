"""Names that examples of methods use: those of the example of VBrand, from which they go on."""

import copy
from typing import Any

import numpy as np
import pytest


@pytest.fixture(scope="session")
def example() -> dict[str, Any]:
    """Return what the example of VBrand makes, and what it found."""
    from vbrand import VBrand

    rng = np.random.default_rng(0)
    known = np.vstack([rng.normal(0, 1, (50, 2)), rng.normal(8, 1, (50, 2))])
    unknown = np.vstack([rng.normal(0, 1, (40, 2)), rng.normal(-8, 1, (30, 2))])
    detector = VBrand(random_state=0).fit(known, ["oat"] * 50 + ["rye"] * 50)
    detector.discover(unknown)
    return {"VBrand": VBrand, "known": known, "unknown": unknown, "detector": detector}


@pytest.fixture(autouse=True)
def named(request: Any, doctest_namespace: dict[str, Any], tmp_path: Any, monkeypatch: Any) -> None:
    """Give an example a detector of its own, where it asks for one, and a folder to write to."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    doctest_namespace["np"] = np
    code = "".join(one.source for one in request.node.dtest.examples)
    if any(name in code for name in ("detector", "found", "known")):
        doctest_namespace.update(copy.deepcopy(request.getfixturevalue("example")))
        doctest_namespace["found"] = doctest_namespace["detector"].discovery_
