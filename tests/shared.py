"""Where the oracles and data of the team lie; a user's clone has none of them."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared"

needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="the team's oracles and data are not beside this clone")


def oracle(*parts: str) -> dict[str, Any]:
    return json.loads(SHARED.joinpath("oracles", *parts).read_text())


def statlog(part: str = "trn") -> tuple[np.ndarray, np.ndarray]:
    table = np.loadtxt(SHARED / "data" / "statlog" / f"sat.{part}")
    return table[:, :36], table[:, 36].astype(int)


def bench(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of a set of the team's benchmark, and their classes."""
    stored = np.load(SHARED / "bench" / "data" / f"{name}.npz", allow_pickle=False)
    return stored["X"].astype(float), stored["y"].astype(str)


def seeds(label: int) -> np.ndarray:
    stored = np.load(SHARED / "bench" / "data" / "seeds.npz", allow_pickle=True)
    return np.round(stored["X"].astype(float)[stored["y"] == str(label)], 4)  # four decimals in the original
