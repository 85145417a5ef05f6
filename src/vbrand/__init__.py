"""Find what is new: known classes and novel groups in tables of continuous measurements."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vbrand import metrics, partition
    from vbrand.discovery.base import Discovery
    from vbrand.discovery.compare import compare
    from vbrand.estimators.mrcd import MRCD
    from vbrand.estimators.sampler import BrandSampler
    from vbrand.estimators.variational import VBrand, load

__version__ = "0.1.0"

__all__ = ["MRCD", "BrandSampler", "Discovery", "VBrand", "__version__", "compare", "load", "metrics", "partition"]

# imported when first asked for, so that `vbrand --help` need not wait for scipy, scikit-learn and numba
_HOMES = {
    "MRCD": "vbrand.estimators.mrcd",
    "BrandSampler": "vbrand.estimators.sampler",
    "Discovery": "vbrand.discovery.base",
    "VBrand": "vbrand.estimators.variational",
    "compare": "vbrand.discovery.compare",
    "load": "vbrand.estimators.variational",
}


def __getattr__(name: str) -> Any:
    if name in ("metrics", "partition"):
        return import_module(f"vbrand.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'vbrand' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
