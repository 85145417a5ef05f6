"""Two answers to one question, side by side: where the variational fit and the sampler differ."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

from vbrand.discovery.base import Discovery
from vbrand.types import FloatArray, IntArray

_SHOWN = 10


@dataclass(frozen=True, eq=False)
class Comparison:
    """Probabilities of known classes and novelty by two discoveries of the same rows."""

    names: tuple[str, ...]  # known classes, then novelty
    first: FloatArray  # (n, J + 1)
    second: FloatArray  # (n, J + 1)
    first_labels: NDArray[Any]  # (n,)
    second_labels: NDArray[Any]
    ari: float  # of the two partitions into known classes and novel groups
    n_groups: tuple[float, float]  # mean number of novel groups (of min_group rows or more) by each

    @property
    def differences(self) -> FloatArray:
        """Return second - first, (n, J + 1)."""
        return np.asarray(self.second - self.first)

    @property
    def differing(self) -> IntArray:
        """Return the rows whose labels differ; those whose probabilities differ most come first."""
        rows = np.flatnonzero(self.first_labels != self.second_labels)
        return np.asarray(rows[np.argsort(-np.abs(self.differences[rows]).max(axis=1), kind="stable")])

    @property
    def most_different(self) -> IntArray:
        """Return all rows; those whose probabilities differ most come first."""
        return np.asarray(np.argsort(-np.abs(self.differences).max(axis=1), kind="stable"))

    def __str__(self) -> str:
        width = max(7, *(len(name) for name in self.names))
        apart = np.abs(self.differences)
        lines = [f"{'':{width}}  {'first':>6}  {'second':>6}  {'mean |diff|':>11}  {'largest':>7}"]
        lines += [
            f"{name:{width}}  {self.first[:, k].mean():>6.3f}  {self.second[:, k].mean():>6.3f}"
            f"  {apart[:, k].mean():>11.4f}  {apart[:, k].max():>7.3f}"
            for k, name in enumerate(self.names)
        ]

        n, other = self.first_labels.size, self.differing.size
        lines.append(
            f"{other:,} of {n:,} rows have different labels; ARI of the partitions {self.ari:.3f}; novel groups "
            f"{self.n_groups[0]:.2f} and {self.n_groups[1]:.2f}."
        )

        for row in self.differing[:_SHOWN]:
            k = int(apart[row].argmax())
            lines.append(
                f"  row {row}: {self.first_labels[row]} or {self.second_labels[row]}; P({self.names[k]}) "
                f"{self.first[row, k]:.3f} and {self.second[row, k]:.3f}"
            )
        if other > _SHOWN:
            lines.append(f"  and {other - _SHOWN:,} more in `differing`")
        return "\n".join(lines)

    __repr__ = __str__


def compare(first: Discovery, second: Discovery) -> Comparison:
    """Return where two discoveries of the same rows differ, such as a variational fit and the sampler.

    Parameters
    ----------
    first, second : Discovery
        Of the same rows and the same known classes.

    Returns
    -------
    Comparison
        It prints as a table; `differing` are the rows whose labels differ.

    Examples
    --------
    >>> import numpy as np
    >>> from vbrand import VBrand, compare
    >>> rng = np.random.default_rng(0)
    >>> known, unknown = rng.normal(size=(60, 2)), rng.normal(size=(40, 2)) + 9 * (np.arange(40) < 15)[:, None]
    >>> found = [VBrand(kernel=kernel).fit(known, [7] * 60).discover(unknown) for kernel in ("student", "gaussian")]
    >>> compare(*found).differing
    array([], dtype=int64)
    """
    for one in (first, second):
        if not isinstance(one, Discovery):
            raise TypeError(f"compare takes what `discover` returned, twice; one of them is a {type(one).__name__}.")

    if first.labels.size != second.labels.size:
        raise ValueError(
            f"the first discovery has {first.labels.size} rows, the second {second.labels.size}. Compare two "
            "discoveries of the same rows."
        )
    if not np.array_equal(first.classes, second.classes):
        raise ValueError(
            "the two discoveries have different known classes. Compare two with the same rows and classes."
        )
    if not first.has_rows_of(second):
        raise ValueError(
            "the two discoveries are of different rows, or of the same rows in another order. Give both the same table."
        )

    return Comparison(
        names=(*(str(name) for name in first.classes), "novelty"),
        first=first.class_probabilities,
        second=second.class_probabilities,
        first_labels=first.labels,
        second_labels=second.labels,
        ari=float(adjusted_rand_score(first.clusters, second.clusters)),
        n_groups=(first.n_groups.mean, second.n_groups.mean),
    )
