"""How an answer was made, as files tell it: versions of packages, and settings."""

import os
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from numbers import Integral, Real
from platform import python_version
from typing import Any

import numpy as np

_PACKAGES = ("vbrand", "numpy", "scipy", "scikit-learn", "numba")
# what a setting can be, or each of a list of them
SINGLE = (type(None), bool, int, float, str)


def versions() -> dict[str, str]:
    """Return the versions that an answer depends on."""
    return dict(_versions())


@cache
def _versions() -> tuple[tuple[str, str], ...]:
    return ("python", python_version()), *((name, _version(name)) for name in _PACKAGES)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"


def kept_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings as a file can hold them; where rows were computed is none of them."""
    return {name: kept_setting(name, value) for name, value in settings.items() if name != "engine"}


def kept_setting(name: str, value: Any) -> Any:
    """Return a setting as a file can hold it."""
    if name == "init" or (name == "random_state" and not isinstance(value, Integral)):
        return None
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, SINGLE):
        return value
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Real):
        return float(value)
    if name in ("concentration", "categories"):
        return [kept_setting("", part) for part in value]
    return np.asarray(value, dtype=np.float64)
