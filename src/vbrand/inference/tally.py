"""Rows that belong to one component each -> sums and squares, compiled."""

from vbrand.compiling import jit


@jit
def tally(rows, labelings, first, origin, sums, squares, deviation):  # type: ignore[no-untyped-def]
    """Add deviations from the origin of each piece, and their outer products, for labelings of the same rows, (m, n).

    The pieces of each labeling begin at `first`; `deviation` is room for that of a row. Without room for squares there
    are sums alone.
    """
    for g in range(labelings.shape[0]):
        for i in range(rows.shape[0]):
            k = first[g] + labelings[g, i]
            for j in range(rows.shape[1]):
                deviation[j] = rows[i, j] - origin[k, j]
                sums[k, j] += deviation[j]
            for j in range(squares.shape[1]):
                row, size = squares[k, j], deviation[j]
                for other in range(j + 1):
                    row[other] += size * deviation[other]
    for k in range(squares.shape[0]):
        for j in range(rows.shape[1]):
            for other in range(j):
                squares[k, other, j] = squares[k, j, other]
