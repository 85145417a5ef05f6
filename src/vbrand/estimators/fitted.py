"""The fitted state of a detector: one frozen value, which `fit` makes and `discover` replaces."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbrand.discovery.base import Discovery
from vbrand.discovery.memberships import Predictive
from vbrand.discovery.sampled import Draws
from vbrand.facts.events import Event
from vbrand.facts.facts import Facts
from vbrand.model.kernels import Kernel
from vbrand.model.posterior import Posterior, before_rows
from vbrand.model.predictive import log_predictive_parts
from vbrand.model.prior import Prior
from vbrand.model.statistics import Statistics
from vbrand.stage1.classes import KnownClasses
from vbrand.stage1.lessons import Witnesses
from vbrand.stage1.passage import Passage
from vbrand.trust.meaning import Meaning
from vbrand.types import FloatArray, IntArray

# the home of a row that is novel, but in a known component
INSIDE = -2
# the known classes as they look with each kernel that is tried
Views = tuple[tuple[Kernel, KnownClasses], ...]


@dataclass(frozen=True)
class Learned:
    """What stage 1 learned from the labelled rows."""

    classes: NDArray[Any]  # (J,) the known labels: of labelled rows, then of groups that were named
    passage: Passage  # from the user's table to the columns that the model works on
    views: Views
    witnesses: Witnesses | None = None  # labelled rows that answers are checked against
    prints: IntArray | None = None  # (n,) by which copies of labelled rows are known
    notes: tuple[str, ...] = ()  # what was done to the labelled rows, in sentences
    ranges: FloatArray | None = (
        None  # (3, p) smallest and largest value of each column, and how many; None: older files
    )
    replicates: int = 0  # other rows of its sample that a labelled row had, where nobody named samples

    @property
    def labelled_classes(self) -> int:
        """Return how many classes have labelled rows: the first ones, the others are groups that were named."""
        return int(self.views[0][1].labels.size)


@dataclass(frozen=True)
class Story:
    """What batches taught and what became of groups. Components are those of stage 1, then G that were found since.

    The last rows are still at hand and are shared out again with those of the next batch; of older ones there are
    statistics only.
    """

    batches: int
    rows: int  # of all batches
    taught: Statistics  # (J + G,) by rows that are no longer at hand
    class_of: IntArray  # (G,) the class that a component means: a group that was named; -1 for the others
    numbers: IntArray  # (G,) that stand in the names of groups, and are never used again; 0 for those never shown
    places: IntArray  # (G,) which component of the posterior each is
    window: FloatArray  # (m, q) the last rows, in working coordinates
    homes: IntArray  # (m,) which of the G each belongs to, -1 for none, INSIDE for novelty among the known components
    inside: int  # the number of novelty among the known components, 0 if it was never shown
    unused: int  # the first number that no group has had
    living: IntArray  # numbers of the groups that the last batch showed
    events: tuple[Event, ...] = ()

    @property
    def known(self) -> int:
        """Return J, the components of stage 1."""
        return self.taught.counts.size - self.class_of.size


@dataclass(frozen=True)
class Finding:
    """What is believed of the components: the prior until rows have been discovered, then what they taught."""

    chosen: int  # the view that it rests on
    prior: Prior
    posterior: Posterior
    meaning: Meaning  # of the components of the posterior
    group_components: IntArray  # columns of novelty that are groups: novel components, last that among known ones
    threshold: float | None = None  # that keeps to `max_false_novelty`; None: the detector's own
    story: Story | None = None  # None before the first batch

    def log_parts(self, rows: FloatArray) -> FloatArray:
        """Return the log density of rows in working coordinates jointly with each component, (n, K)."""
        return log_predictive_parts(rows, self.posterior)


def before_discovery(prior: Prior) -> Finding:
    """Return what is believed before any unlabelled row is seen."""
    return Finding(0, prior, before_rows(prior), Meaning(prior.meaning), np.empty(0, dtype=np.int64))


@dataclass(frozen=True)
class Fitted:
    """All that a detector knows."""

    learned: Learned
    finding: Finding
    draws: Draws | None = None  # of the sampler, once it has discovered rows
    discovery: Discovery | None = None  # of the last `discover`; None in a detector that was loaded
    facts: Facts | None = None  # those that the model file held

    @property
    def predictive(self) -> Predictive:
        """Return what new rows are predicted by."""
        return self.finding if self.draws is None else self.draws

    @property
    def known(self) -> KnownClasses:
        """Return the known classes in the user's units."""
        return self.learned.passage.classes_outward(self.learned.views[self.finding.chosen][1])
