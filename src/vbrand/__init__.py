"""Find what is new: known classes and novel groups in tables of continuous measurements."""

from vbrand import partition
from vbrand.brand import BrandSampler
from vbrand.comparison import compare
from vbrand.covariance import MRCD
from vbrand.detector import VBrand, load
from vbrand.discovery import Discovery

__version__ = "0.1.0"

__all__ = ["MRCD", "BrandSampler", "Discovery", "VBrand", "__version__", "compare", "load", "partition"]
