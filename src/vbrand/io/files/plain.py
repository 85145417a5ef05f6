"""Any value -> what JSON can hold."""

import math
from typing import Any

import numpy as np


def json_ready(value: Any, digits: int = 17) -> Any:
    """Return arrays as lists, numbers with so many digits, and None for those that are not finite.

    >>> json_ready({"shares": np.array([1 / 3, np.nan])}, digits=3)
    {'shares': [0.333, None]}
    """
    if isinstance(value, dict):
        return {name: json_ready(part, digits) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [json_ready(part, digits) for part in value]
    if isinstance(value, np.ndarray | np.generic):
        return json_ready(value.tolist(), digits)
    if isinstance(value, float):
        return float(f"{value:.{digits}g}") if math.isfinite(value) else None
    return value
