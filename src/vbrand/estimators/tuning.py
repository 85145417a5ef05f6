"""The tuned numbers of all rooms together: what a benchmark sweeps, by argument."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from vbrand.inference.tuning import SamplerTuning, SearchTuning
from vbrand.model.kernels import KERNELS, Kernel, KernelName
from vbrand.stage1.tuning import Stage1Tuning
from vbrand.trust.tuning import CheckTuning


@dataclass(frozen=True)
class Tuning:
    """What nobody should have to set; `VBrand.tuned` and `BrandSampler.tuned` take other values."""

    stage1: Stage1Tuning = field(default_factory=Stage1Tuning)
    search: SearchTuning = field(default_factory=SearchTuning)
    sampler: SamplerTuning = field(default_factory=SamplerTuning)
    check: CheckTuning = field(default_factory=CheckTuning)
    kernels: Mapping[KernelName, tuple[Kernel, ...]] = field(
        default_factory=lambda: KERNELS
    )  # what `kernel` stands for
    # share of the rows, and rows, below which a novel group is an outlier group unless `min_group` says otherwise
    outlier_share: float = 0.005
    outlier_rows: int = 5
    # rows of earlier batches that are shared out again with those of the next one, the last: while there are few, the
    # first guess what groups there are is often wrong. With none ten batches of the benchmark's sets agree with one
    # discovery of all rows by .82 (adjusted Rand index)
    window: int = 2_000


TUNED = Tuning()
