"""Rows that belong to one component each -> sums and squares, compiled."""

from vbrand.model.gamma import jit


@jit
def add_means(rows, labels, counts, means):  # type: ignore[no-untyped-def]
    """Add each row, divided by the rows of its component, to the mean of its component."""
    for i in range(rows.shape[0]):
        mean, share = means[labels[i]], 1.0 / counts[labels[i]]
        for j in range(rows.shape[1]):
            mean[j] += share * rows[i, j]


@jit
def add_deviations(rows, labels, origin, sums, squares, deviation):  # type: ignore[no-untyped-def]
    """Add deviations from the origin of each row's component, and the lower triangle of their outer products."""
    for i in range(rows.shape[0]):
        k = labels[i]
        for j in range(rows.shape[1]):
            deviation[j] = rows[i, j] - origin[k, j]
            sums[k, j] += deviation[j]
        for j in range(rows.shape[1]):
            row, size = squares[k, j], deviation[j]
            for other in range(j + 1):
                row[other] += size * deviation[other]


@jit
def tally(rows, labelings, first, counts, means, sums, squares, deviation):  # type: ignore[no-untyped-def]
    """Add up several labelings of the same rows, (m, n); the pieces of each begin at `first`."""
    for g in range(labelings.shape[0]):
        here, labels = slice(first[g], first[g + 1]), labelings[g]
        for i in range(labels.size):
            counts[first[g] + labels[i]] += 1.0
        add_means(rows, labels, counts[here], means[here])
        add_deviations(rows, labels, means[here], sums[here], squares[here], deviation)


@jit
def mirror(squares):  # type: ignore[no-untyped-def]
    """Copy the lower triangles to the upper ones."""
    for k in range(squares.shape[0]):
        for i in range(squares.shape[1]):
            for j in range(i):
                squares[k, j, i] = squares[k, i, j]
