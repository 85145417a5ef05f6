"""Scales that are bent where classes are skewed: a monotone map for each column, and its way back."""

from dataclasses import dataclass, replace

import numpy as np

from vbrand.types import BoolArray, FloatArray, IntArray

# halvings of an interval: to the last digit
_HALVINGS = 64
# log of the most reaches that a place on a bent scale can be away: times a unit it is still a number
_LOG_FARTHEST = 300.0


@dataclass(frozen=True)
class Warp:
    """A map of each column that stretches its low end, its high end, both or, where neither is, nothing."""

    low: FloatArray  # (p,) where the low end is, in the user's units
    reach: FloatArray  # (p,) how far from there the scale is straight; infinite: it is not stretched
    high: FloatArray  # (p,) where the high end is
    high_reach: FloatArray  # (p,)
    power: FloatArray  # (p,) of the distance from an end, far from it; 0: its logarithm
    step: FloatArray  # (p,) to which values are rounded, in the user's units; 0: to none

    @property
    def bent(self) -> BoolArray:
        """Return which columns are mapped, (p,)."""
        return np.asarray(np.isfinite(self.reach) | np.isfinite(self.high_reach))

    def inward(self, rows: FloatArray) -> FloatArray:
        """Return rows on the bent scales, (n, p)."""
        # (3.33)  w = f((y - a) / s) + f((y - b) / t),  f(u) = sign(u) ((1 + |u|)^c - 1) / c,  log(1 + |u|) for c = 0
        mapped, at = np.array(rows, dtype=np.float64), np.flatnonzero(self.bent)
        own = mapped[..., at]
        near, far = (own - self.low[at]) / self.reach[at], (own - self.high[at]) / self.high_reach[at]
        mapped[..., at] = powers_of(near, self.power[at]) + powers_of(far, self.power[at])
        return mapped

    def outward(self, rows: FloatArray) -> FloatArray:
        """Return rows on the bent scales in the user's units."""
        values, at = np.array(rows, dtype=np.float64), np.flatnonzero(self.bent)
        both = np.isfinite(self.reach[at]) & np.isfinite(self.high_reach[at])
        for j, two in zip(at.tolist(), both.tolist(), strict=True):
            values[..., j] = self._solved(j, rows[..., j]) if two else self._back(j, rows[..., j])
        return values

    def log_slopes(self, rows: FloatArray) -> FloatArray:
        """Return log |dw/dy| of rows in the user's units, over the cells that there are, (n,)."""
        at = np.flatnonzero(self.bent)
        return np.asarray(np.nansum(self._log_slope(rows[:, at], at), axis=1))

    def slopes(self, values: FloatArray) -> FloatArray:
        """Return dw/dy of each column at values in the user's units, (n, p)."""
        at, slopes = np.flatnonzero(self.bent), np.ones(values.shape)
        slopes[..., at] = np.exp(self._log_slope(values[..., at], at))
        return slopes

    def steps(self, rows: FloatArray) -> FloatArray:
        """Return what values are rounded to on the bent scales, given rows in the user's units, (p,)."""
        # (3.38)  step_w^2 = mean of (w(y + step / 2) - w(y - step / 2))^2 over labelled rows
        width = self.inward(rows + 0.5 * self.step) - self.inward(rows - 0.5 * self.step)
        return np.asarray(np.sqrt(np.nanmean(np.square(width), axis=0)))

    def of_columns(self, chosen: IntArray) -> "Warp":
        """Return the maps of some columns."""
        return replace(self, **{name: getattr(self, name)[chosen] for name in self.__dataclass_fields__})

    def _log_slope(self, own: FloatArray, at: IntArray) -> FloatArray:
        # (3.34)  dw/dy = (1 + |y - a| / s)^(c - 1) / s + (1 + |y - b| / t)^(c - 1) / t
        near = np.abs(own - self.low[at]) / self.reach[at]
        far = np.abs(own - self.high[at]) / self.high_reach[at]
        low, high = (np.exp((self.power[at] - 1.0) * np.log1p(away)) for away in (near, far))
        return np.asarray(np.log(low / self.reach[at] + high / self.high_reach[at]))

    def _back(self, j: int, mapped: FloatArray) -> FloatArray:
        """Return values of a column one end of which is stretched."""
        if np.isfinite(self.reach[j]):
            return np.asarray(self.low[j] + self.reach[j] * _roots(mapped, self.power[j]))
        return np.asarray(self.high[j] + self.high_reach[j] * _roots(mapped, self.power[j]))

    def _solved(self, j: int, mapped: FloatArray) -> FloatArray:
        """Return values of a column both ends of which are stretched, between the two that either end would lead to."""
        # both terms rise: between where one is half of w, and where the other is
        away = _roots(mapped / 2.0, self.power[j])
        sides = self.low[j] + self.reach[j] * away, self.high[j] + self.high_reach[j] * away
        below, above = np.minimum(*sides), np.maximum(*sides)
        one = self.of_columns(np.array([j]))
        for _ in range(_HALVINGS):
            middle = below + 0.5 * (above - below)
            over = one.inward(middle[..., None])[..., 0] > mapped
            below, above = np.where(over, below, middle), np.where(over, middle, above)
        return np.asarray(below + 0.5 * (above - below))


def powers_of(away: FloatArray, power: FloatArray) -> FloatArray:
    """Return powers of distances, given in reaches, as they rise from 0 with the slope 1; odd."""
    size = sizes_of(away)
    one = np.where(power > 0.0, power, 1.0)
    return np.asarray(np.sign(away) * np.where(power > 0.0, risen(size, one), size))


def sizes_of(away: FloatArray) -> FloatArray:
    """Return the logarithms that rise from 0 with the slope 1 as distances do, given in reaches."""
    return np.asarray(np.log1p(np.abs(away)))


def risen(size: FloatArray, power: FloatArray | float) -> FloatArray:
    """Return powers of distances, given their logarithms; these for the power 0."""
    return np.asarray(np.expm1(power * size) / power) if np.all(power) else size


def _roots(powers: FloatArray, power: float) -> FloatArray:
    """Return the distances of which these are powers; what is farther than any number counts as very far."""
    size = np.abs(powers)
    log_away = np.log1p(power * size) / power if power > 0.0 else size
    return np.asarray(np.sign(powers) * np.expm1(np.minimum(log_away, _LOG_FARTHEST)))
