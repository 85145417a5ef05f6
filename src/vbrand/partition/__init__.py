"""Point partitions: one clustering that sums up many posterior draws of it."""

from vbrand.partition.points import (
    Partition,
    best_partition,
    expected_loss,
    point_partition,
    similarity,
    similarity_blocks,
    vote,
)

__all__ = [
    "Partition",
    "best_partition",
    "expected_loss",
    "point_partition",
    "similarity",
    "similarity_blocks",
    "vote",
]
