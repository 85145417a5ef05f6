"""Symmetric roots of scatters: unlike Cholesky's, they do not depend on the order of columns."""

import numpy as np

from vbrand.types import FloatArray


def symmetric_roots(scatter: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the symmetric root R of a scatter R R, and R^-1.

    What is singular but for rounding has eigenvalues that are rounding, of either sign: they count as that small.

    >>> import numpy as np
    >>> root, inverse = symmetric_roots(np.diag([4.0, 9.0]))
    >>> np.diag(root), np.diag(inverse)
    (array([2., 3.]), array([0.5       , 0.33333333]))
    """
    size, axes = np.linalg.eigh(scatter)
    if not size[-1] > 0.0:
        raise np.linalg.LinAlgError("a scatter has no positive eigenvalue")
    size = np.sqrt(np.maximum(size, np.finfo(np.float64).eps * size.size * size[-1]))
    return (axes * size) @ axes.T, (axes / size) @ axes.T
