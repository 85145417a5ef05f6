"""The logarithm of the Gamma function and its slope, compiled."""

import math

from vbrand.compiling import apart

# from here on the series of Stirling have double precision; smaller arguments are moved up by recurrence
_LARGE = 8.0
_HALF_LOG_2_PI = 0.5 * math.log(2.0 * math.pi)


@apart
def log_gamma(x):  # type: ignore[no-untyped-def]
    """Return log Gamma(x), x > 0."""
    product = 1.0
    while x < _LARGE:  # Gamma(x + 1) = x Gamma(x)
        product *= x
        x += 1.0
    z = 1.0 / (x * x)
    series = -3617.0 / 122400.0
    series = series * z + 1.0 / 156.0
    series = series * z - 691.0 / 360360.0
    series = series * z + 1.0 / 1188.0
    series = series * z - 1.0 / 1680.0
    series = series * z + 1.0 / 1260.0
    series = series * z - 1.0 / 360.0
    series = series * z + 1.0 / 12.0
    value = (x - 0.5) * math.log(x) - x + _HALF_LOG_2_PI + series / x
    return value if product == 1.0 else value - math.log(product)


@apart
def digamma(x):  # type: ignore[no-untyped-def]
    """Return psi(x), the slope of log Gamma(x), x > 0."""
    moved = 0.0
    while x < _LARGE:  # psi(x + 1) = psi(x) + 1 / x
        moved += 1.0 / x
        x += 1.0
    z = 1.0 / (x * x)
    series = -3617.0 / 8160.0
    series = series * z + 1.0 / 12.0
    series = series * z - 691.0 / 32760.0
    series = series * z + 1.0 / 132.0
    series = series * z - 1.0 / 240.0
    series = series * z + 1.0 / 252.0
    series = series * z - 1.0 / 120.0
    series = series * z + 1.0 / 12.0
    return math.log(x) - 0.5 / x - series * z - moved
