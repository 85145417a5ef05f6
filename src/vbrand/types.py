"""Array types that every room shares."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]
# one number per row, in as few bytes as it takes
Labels = NDArray[np.integer[Any]]
SmallInts = NDArray[np.unsignedinteger[Any]]
