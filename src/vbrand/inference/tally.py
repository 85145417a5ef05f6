"""Rows that belong to one component each -> sums and squares, compiled."""

from vbrand.compiling import inner, jit, numbers, once
from vbrand.model.wishart import whole


@jit
def tally(rows, labelings, first, origin, sums, squares, order, begin):  # type: ignore[no-untyped-def]
    """Add deviations from the origin of each piece, and their outer products, for labelings of the same rows, (m, n).

    The pieces of each labeling begin at `first`. Without room for squares there are sums alone. `order` is room for as
    many numbers as there are rows, `begin` for one more than there are pieces: rows of a piece are added in their
    order, four at a time.
    """
    p = rows.shape[1]
    a, b, c, d = numbers(p), numbers(p), numbers(p), numbers(p)
    for g in range(labelings.shape[0]):
        _put_in_order(labelings[g], first[g + 1] - first[g], order, begin)
        for piece in range(first[g + 1] - first[g]):
            k, end = first[g] + piece, begin[piece + 1]
            for at in range(begin[piece], end, 4):
                four = at + 4 <= end
                for each in range(at, at + 4 if four else end):
                    deviation = a if each == at else b if each == at + 1 else c if each == at + 2 else d
                    for j in range(p):
                        deviation[j] = rows[order[each], j] - origin[k, j]
                        sums[k, j] += deviation[j]
                    if squares.size > 0 and not four:
                        _add_one(deviation, squares[k])
                if squares.size > 0 and four:
                    _add_four(a, b, c, d, squares[k])
    for k in range(squares.shape[0]):
        for j in range(p):
            for other in range(j):
                squares[k, other, j] = squares[k, j, other]


@once
def _put_in_order(labels, pieces, order, begin):  # type: ignore[no-untyped-def]
    """Store the rows of each piece, one piece after the other, and where each begins."""
    for k in range(pieces + 1):
        begin[k] = 0
    for i in range(labels.size):
        begin[labels[i]] += 1
    end = 0
    for k in range(pieces + 1):
        end += begin[k]
        begin[k] = end
    for i in range(labels.size - 1, -1, -1):
        begin[labels[i]] -= 1
        order[begin[labels[i]]] = i


@inner
def _add_four(a, b, c, d, squares):  # type: ignore[no-untyped-def]
    """Add the outer products of four deviations, one after the other, to the lower triangle."""
    for j in range(a.size):
        row, one, two, three, four = squares[j], a[j], b[j], c[j], d[j]
        for other in range(whole(j + 1, a.size)):
            row[other] = row[other] + one * a[other] + two * b[other] + three * c[other] + four * d[other]


@inner
def _add_one(a, squares):  # type: ignore[no-untyped-def]
    """Add the outer product of one."""
    for j in range(a.size):
        row, one = squares[j], a[j]
        for other in range(whole(j + 1, a.size)):
            row[other] += one * a[other]
