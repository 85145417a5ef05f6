"""Find what is new: known classes and novel groups in tables of continuous measurements."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vbrand import partition
    from vbrand.brand import BrandSampler
    from vbrand.comparison import compare
    from vbrand.covariance import MRCD
    from vbrand.detector import VBrand, load
    from vbrand.discovery import Discovery

__version__ = "0.1.0"

__all__ = ["MRCD", "BrandSampler", "Discovery", "VBrand", "__version__", "compare", "load", "partition"]

# imported when first asked for, so that `vbrand --help` need not wait for scipy, scikit-learn and numba
_HOMES = {
    "MRCD": "vbrand.covariance",
    "BrandSampler": "vbrand.brand",
    "Discovery": "vbrand.discovery",
    "VBrand": "vbrand.detector",
    "compare": "vbrand.comparison",
    "load": "vbrand.detector",
}


def __getattr__(name: str) -> Any:
    if name == "partition":
        return import_module("vbrand.partition")
    if name not in _HOMES:
        raise AttributeError(f"module 'vbrand' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
