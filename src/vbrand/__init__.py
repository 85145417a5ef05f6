"""Find what is new: known classes and novel groups in tables of continuous measurements."""

from vbrand.covariance import MRCD

__version__ = "0.1.0"

__all__ = ["MRCD", "__version__"]
