"""The compiled loops of the sampler: each row draws its component among those that its slice allows.

The kernel's own loops, with two differences. Rows of a group come deepest slice first, so that a component is scored
in the first lanes only: those that may go there. And a row does not share itself out but goes to one component.
"""

from vbrand.inference.lanes import exponential, inner, jit
from vbrand.inference.sweeps import (
    BEST,
    FIRST,
    LIMIT,
    NEGLIGIBLE,
    SECOND,
    TOTAL,
    VALUE,
    VECTOR,
    add_group,
    load_group,
    score_group,
)


@jit
def draw_block(block, group, scores, known, depths, levels, uniforms, labels, statistics):  # type: ignore[no-untyped-def]
    """Draw the component of every row of a loaded block; add its statistics about the centres (lower triangles).

    The block is in order of labels, and within a label of depths, deepest first: `first` has `levels` places for each
    component. A row may go to all known components and to as many novel ones as its depth says.
    """
    means, order, first = scores[0], block.order, block.first
    lanes = group.lanes
    for w in range(means.shape[0]):
        end = first[(w + 1) * levels]
        for begin in range(first[w * levels], end, lanes.shape[1]):
            m = end - begin if end - begin < lanes.shape[1] else lanes.shape[1]
            load_group(block.held, begin, m, means[w], group.deviation)
            reach = m
            for k in range(means.shape[0]):
                while k >= known and reach > 0 and depths[order[begin + reach - 1]] <= k - known:
                    reach -= 1
                group.reach[k] = reach

            score_group(w, m, group, scores)
            for lane in range(m):
                lanes[LIMIT, lane] = uniforms[order[begin + lane]]
            _choose(group, m)
            for lane in range(m):
                labels[order[begin + lane]] = group.winner[lane]
            add_group(w, m, means, group, statistics)


@inner
def _choose(group, m):  # type: ignore[no-untyped-def]
    """Draw a component in each lane in proportion to exp(score), by the uniform number that the limit's row holds.

    Its share becomes one, all others nothing.
    """
    lanes, winner = group.lanes, group.winner
    best, total, left, exponent, result = lanes[BEST], lanes[TOTAL], lanes[LIMIT], lanes[FIRST], lanes[SECOND]
    for lane in range(m):
        total[lane] = 0.0

    for k in range(group.reach.size):
        reach = group.reach[k]
        if reach > 0:
            score = group.score[k]
            padded = (reach + VECTOR - 1) & -VECTOR
            for lane in range(padded):
                exponent[lane] = score[lane] - best[lane]
            exponential(exponent, result, lanes[VALUE], group.bits, padded)
            for lane in range(reach):
                score[lane] = result[lane] if exponent[lane] >= -NEGLIGIBLE else 0.0
                total[lane] += score[lane]

    for lane in range(m):
        left[lane] = (1.0 - left[lane]) * total[lane]  # within (0, total]
        total[lane] = 1.0

    # the component at which the running sum of shares passes it; where rounding lets none, the best one stays
    for k in range(group.reach.size):
        score = group.score[k]
        for lane in range(group.reach[k]):
            before = left[lane]
            left[lane] = before - score[lane]
            winner[lane] = k if before > 0.0 and left[lane] <= 0.0 else winner[lane]

    for k in range(group.reach.size):
        if group.reach[k] > 0:
            score = group.score[k]
            rows = 0
            for lane in range(m):
                own = winner[lane] == k
                score[lane] = 1.0 if own else 0.0
                rows += own
            group.reach[k] = rows
