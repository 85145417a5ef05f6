"""The compiled loops of the sampler: each row draws its component among those that its slice allows.

The kernel's own loops, with two differences. Rows of a group come deepest slice first, so that a component is scored
in the first lanes only: those that may go there. And a row does not share itself out but goes to one component.
"""

from vbrand.inference.lanes import exponential, jit
from vbrand.inference.sweeps import LANES, NEGLIGIBLE, WIDE, add_narrow, add_wide, score_group


@jit
def draw_block(work, scores, known, depths, levels, uniforms, labels, statistics):  # type: ignore[no-untyped-def]
    """Draw the component of every row of a loaded block; add its statistics about the centres (lower triangles).

    The block is in order of labels, and within a label of depths, deepest first: `first` has `levels` places for each
    component. A row may go to all known components and to as many novel ones as its depth says.
    """
    means = scores[0]
    components, p = means.shape
    held, order, first = work.block
    shares, lanes, buffers = work.shares, work.lanes, work.buffers

    for w in range(components):
        end = first[(w + 1) * levels]
        for begin in range(first[w * levels], end, LANES):
            m = min(LANES, end - begin)
            deviation = buffers[0, : p * m].reshape(p, m)
            for j in range(p):
                for lane in range(m):
                    deviation[j, lane] = held[j, begin + lane] - means[w, j]

            shares.reach[:known] = m
            reach = m
            for k in range(known, components):
                while reach > 0 and depths[order[begin + reach - 1]] <= k - known:
                    reach -= 1
                shares.reach[k] = reach

            score_group(deviation, w, scores, shares, lanes, buffers)
            for lane in range(m):
                lanes.limit[lane] = uniforms[order[begin + lane]]
            _choose(shares, lanes, m)
            for lane in range(m):
                labels[order[begin + lane]] = shares.winner[lane]

            if p < WIDE:
                add_narrow(deviation, w, means, shares, buffers, statistics)
            else:
                add_wide(deviation, w, means, shares, lanes, buffers, statistics)


@jit
def _choose(shares, lanes, m):  # type: ignore[no-untyped-def]
    """Draw a component in each lane in proportion to exp(score), by the uniform number that `limit` holds.

    Its share becomes one, all others nothing.
    """
    total, left, exponent, result = shares.total, lanes.limit, lanes.first, lanes.second
    winner, active = shares.winner, shares.active

    total[:m] = 0.0
    for k in range(active.size):
        if active[k]:
            score, reach = shares.score[k], shares.reach[k]
            for lane in range(reach):
                exponent[lane] = score[lane] - shares.best[lane]
            exponential(exponent, result, lanes.bits, reach)
            for lane in range(reach):
                score[lane] = result[lane] if exponent[lane] >= -NEGLIGIBLE else 0.0
                total[lane] += score[lane]

    for lane in range(m):
        left[lane] = (1.0 - left[lane]) * total[lane]  # within (0, total]
        total[lane] = 1.0

    # the component at which the running sum of shares passes it; where rounding lets none, the best one stays
    for k in range(active.size):
        if active[k]:
            score = shares.score[k]
            for lane in range(shares.reach[k]):
                before = left[lane]
                left[lane] = before - score[lane]
                winner[lane] = k if before > 0.0 and left[lane] <= 0.0 else winner[lane]

    for k in range(active.size):
        if active[k]:
            score = shares.score[k]
            rows = 0
            for lane in range(m):
                own = winner[lane] == k
                score[lane] = 1.0 if own else 0.0
                rows += own
            active[k] = rows > 0
