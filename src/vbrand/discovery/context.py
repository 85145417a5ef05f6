"""What a discovery is about, and what is to be said beside it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from vbrand.facts.explain import Yardstick
from vbrand.io.tables.likeness import Likeness
from vbrand.stage1.lessons import Witnesses
from vbrand.trust.drift import Drift


@dataclass(frozen=True, eq=False)
class Context:
    """What a discovery is about: the rows, the known classes, and the limits for novel rows and groups."""

    table: Any  # (n, p) in the user's units: an array, or rows that lie on disk
    yardstick: Yardstick  # the known classes as they are after the discovery
    columns: tuple[str, ...]
    threshold: float  # rows with a larger P(novel) are novel
    min_group: int  # novel groups of fewer rows are outlier groups
    notes: tuple[str, ...]  # what was done to the table, in sentences
    likeness: Likeness = field(default_factory=Likeness)  # of the table as the user has it
    settings: Mapping[str, Any] = field(default_factory=dict)  # of the detector, as files hold them
    witnesses: Witnesses | None = None  # labelled rows, where they are at hand
    cautions: tuple[str, ...] = ()  # what the answer may rest on that tells nothing of novelty, in sentences
    drifts: tuple[Drift, ...] = ()  # classes whose rows are not where their labelled rows were

    @property
    def classes(self) -> NDArray[Any]:
        """Return the known labels, (J,)."""
        return self.yardstick.classes

    @property
    def moved(self) -> dict[str, float]:
        """Return the known classes that have moved, and by how much."""
        return {str(self.classes[drift.member]): drift.distance for drift in self.drifts}
