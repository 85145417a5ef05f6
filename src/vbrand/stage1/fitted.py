"""One Gaussian hump, or two, fitted to the values of each class of each column: compiled, for there are thousands.

The outermost values of a class are its first row and its last one, and weigh as many as they are: only that they lie
beyond the others counts.
"""

import math
from collections import namedtuple

import numpy as np

from vbrand.compiling import inner, jit

# turns of a fit of one hump, or of two, and of one of the two within each; a share that is nearly none
_TURNS, _INNER_TURNS = 12, 2
_SLIGHT = 0.02
_TINY = 1e-12
_LOG_CIRCLE = math.log(2.0 * math.pi)
# below so many standard deviations the tail of a Gaussian is known by its series
_FAR = -20.0

# of a class: values away from their mean, their squares with what rounding hides, weights, and shares of the lower of
# two humps, (n,) each, in rows first .. last; number of values and their variance
Values = namedtuple("Values", ["away", "square", "weight", "share", "first", "last", "count", "spread"])
# of a hump, over the values that are its share: how many are below, above and between the ends; the sums of these and
# of their squares
Sums = namedtuple("Sums", ["below", "above", "between", "first", "second"])


@jit
def fit_humps(values, noise, weight, place, start, asked, cuts, room, evidence):  # type: ignore[no-untyped-def]
    """Store the evidence of one hump per class on each of several scales, (m, J, p); of one or two if there are cuts.

    Of classes that are not asked, (J, p), it is 0. Values and what rounding hides of them are (m, n, p), weights and
    places (n, p); classes begin at `start`, (J + 1,). Two humps are cut at first where so large a share of the values
    is smaller. `room` is for 4 numbers per row.
    """
    for scale in range(values.shape[0]):
        for j in range(values.shape[2]):
            for k in range(start.size - 1):
                evidence[scale, k, j] = 0.0
                if not asked[k, j]:
                    continue
                own = _values_of(values[scale], noise[scale], weight, j, start[k], start[k + 1] - 1, room)
                best = _one_hump(own)
                for cut in range(cuts.size):
                    for i in range(own.first, own.last + 1):
                        own.share[i] = 1.0 - _SLIGHT if place[i, j] > cuts[cut] else _SLIGHT
                    two = _two_humps(own)
                    best = two if two > best or math.isnan(two) else best  # what is no number stays none
                evidence[scale, k, j] = best


@inner
def _values_of(values, noise, weight, j, first, last, room):  # type: ignore[no-untyped-def]
    """Return the values of a class in a column about their mean."""
    away, square, own = room[0], room[1], room[2]
    count, middle, spread = 0.0, 0.0, 0.0
    for i in range(first, last + 1):
        own[i] = weight[i, j]
        count += own[i]
        middle += own[i] * values[i, j]
    count = 1.0 if count < 1.0 else count
    middle /= count
    for i in range(first, last + 1):
        away[i] = values[i, j] - middle
        square[i] = away[i] * away[i] + noise[i, j]
        spread += own[i] * square[i]
    return Values(away, square, own, room[3], first, last, count, spread / count + _TINY)


@inner
def _one_hump(own):  # type: ignore[no-untyped-def]
    """Return the evidence of one hump."""
    between, first, second = 0.0, 0.0, 0.0
    for i in range(own.first + 1, own.last):
        between += own.weight[i]
        first += own.weight[i] * own.away[i]
        second += own.weight[i] * own.square[i]
    sums = Sums(own.weight[own.first], own.weight[own.last], between, first, second)
    centre, variance = _settled(own, sums, np.int64(_TURNS))
    size = math.sqrt(variance)
    outer = sums.below * log_below((own.away[own.first] - centre) / size)
    outer += sums.above * log_below((centre - own.away[own.last]) / size)
    square = _about(sums, centre) / variance + sums.between * (_LOG_CIRCLE + math.log(variance))
    # (3.35)  log likelihood - k / 2 log n, with k = 2 parameters of one hump and 5 of two
    return outer - 0.5 * square - math.log(own.count)


@inner
def _two_humps(own):  # type: ignore[no-untyped-def]
    """Return the evidence of two humps, given the shares of the lower one to begin with."""
    away, weight, share, first, last = own.away, own.weight, own.share, own.first, own.last
    total = 0.0
    for turn in range(_TURNS):
        # log densities jointly with either hump, as a x^2 + b x + c, and beyond the ends
        a, b, c, low, high = _joint(own, 1.0, 0.0)
        a2, b2, c2, low2, high2 = _joint(own, -1.0, 1.0)
        total = 0.0
        for i in range(first, last + 1):
            one = own.square[i] * a + away[i] * b + c
            two = own.square[i] * a2 + away[i] * b2 + c2
            if i in (first, last):
                one, two = (low, low2) if i == first else (high, high2)
            if turn < _TURNS - 1:
                lower = 1.0 / (1.0 + math.exp(two - one))
                lower = _TINY if lower < _TINY else lower
                share[i] = 1.0 - _TINY if lower > 1.0 - _TINY else lower
            else:
                most, apart = (one, two - one) if one > two else (two, one - two)
                total += weight[i] * (most + math.log1p(math.exp(apart)))
    return total - 2.5 * math.log(own.count)


@inner
def _joint(own, sign, offset):  # type: ignore[no-untyped-def]
    """Return the log density jointly with a hump that has the share offset + sign x share of each value.

    Of a value x with the square q it is a q + b x + c; and what it is below and above the ends.
    """
    between, first, second = 0.0, 0.0, 0.0
    for i in range(own.first + 1, own.last):
        weight = (offset + sign * own.share[i]) * own.weight[i]
        between += weight
        first += weight * own.away[i]
        second += weight * own.square[i]
    below = (offset + sign * own.share[own.first]) * own.weight[own.first]
    above = (offset + sign * own.share[own.last]) * own.weight[own.last]
    sums = Sums(below, above, between, first, second)
    centre, variance = _settled(own, sums, np.int64(_INNER_TURNS))
    size, mass = math.sqrt(variance), between + below + above
    # -1/2 ((x - m)^2 + noise) / s^2 - 1/2 log 2 pi s^2 + log share of the hump
    square = -0.5 / variance
    constant = math.log((_TINY if mass < _TINY else mass) / own.count)
    level = square * centre * centre - 0.5 * (_LOG_CIRCLE + math.log(variance)) + constant
    low = log_below((own.away[own.first] - centre) / size) + constant
    high = log_below((centre - own.away[own.last]) / size) + constant
    return square, -2.0 * square * centre, level, low, high


@inner
def _settled(own, sums, turns):  # type: ignore[no-untyped-def]
    """Return centre and variance of a hump after some turns of expectation and maximisation."""
    low, high = own.away[own.first], own.away[own.last]
    mass = sums.between + sums.below + sums.above
    most = _TINY if mass < _TINY else mass
    centre, variance = (sums.first + sums.below * low + sums.above * high) / most, own.spread
    for _ in range(turns):
        size = math.sqrt(variance)
        below, square_below = expected_beyond(low, centre, size, -1.0)
        above, square_above = expected_beyond(high, centre, size, 1.0)
        moved = (sums.first + sums.below * below + sums.above * above) / most
        total = _about(sums, centre) + sums.below * square_below + sums.above * square_above
        total -= mass * (moved - centre) * (moved - centre)
        # one value more, as far out as the others of the class: no hump is thinner than rows can tell
        centre, variance = moved, ((0.0 if total < 0.0 else total) + own.spread) / (mass + 1.0)
    return centre, variance


@inner
def expected_beyond(end, centre, size, side):  # type: ignore[no-untyped-def]
    """Return what a value beyond an end is expected to be, and its square about the centre; below it is side -1."""
    deviation = (end - centre) / size
    # (3.36)  E[x | x beyond] = m +- s r,  E[(x - m)^2 | x beyond] = s^2 (1 +- d r),  r = phi(d) / Phi(+-d)
    ratio = side * _ratio_below(-side * deviation)
    return centre + size * ratio, size * size * (1.0 + deviation * ratio)


@inner
def _about(sums, centre):  # type: ignore[no-untyped-def]
    """Return the sum of squares about a centre of the values between the ends."""
    return sums.second - 2.0 * centre * sums.first + centre * centre * sums.between


@inner
def log_below(x):  # type: ignore[no-untyped-def]
    """Return log Phi(x)."""
    if x > _FAR:
        return math.log(0.5 * math.erfc(-x * math.sqrt(0.5)))
    return math.log(_tail(x)) - math.log(-x) - 0.5 * (x * x + _LOG_CIRCLE)


@inner
def _ratio_below(x):  # type: ignore[no-untyped-def]
    """Return phi(x) / Phi(x)."""
    if x > _FAR:
        return math.exp(-0.5 * (x * x + _LOG_CIRCLE)) / (0.5 * math.erfc(-x * math.sqrt(0.5)))
    return -x / _tail(x)


@inner
def _tail(x):  # type: ignore[no-untyped-def]
    """Return Phi(x) -x / phi(x) for x far below: 1 - 1 / x^2 + 3 / x^4 - 15 / x^6 + .."""
    u = 1.0 / (x * x)
    return 1.0 - u * (1.0 - 3.0 * u * (1.0 - 5.0 * u * (1.0 - 7.0 * u * (1.0 - 9.0 * u * (1.0 - 11.0 * u)))))
