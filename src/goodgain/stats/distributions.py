"""Distribution functions that the tests need, to about twelve digits.

They are written out here because scipy.stats takes seconds to import, longer than most comparisons take.
The tests hold each of them against scipy.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def normal_sf(x: float) -> float:
    """P(Z > x) of a standard normal Z."""
    return 0.5 * math.erfc(x / math.sqrt(2))


def normal_ppf(p: float) -> float:
    """The x with P(Z <= x) = p; infinite at 0 and 1."""
    from statistics import NormalDist

    if p <= 0 or p >= 1:
        return math.copysign(math.inf, p - 0.5)
    return NormalDist().inv_cdf(p)


def beta_inc(a: float, b: float, x: float, rest: float | None = None) -> float:
    """The regularised incomplete beta function, by Lentz's continued fraction.

    `rest` is 1 - x, for where x is so near 1 that the subtraction would lose digits.
    """
    y = 1 - x if rest is None else rest
    if x <= 0:
        return 0.0
    if y <= 0:
        return 1.0
    if x > (a + 1) / (a + b + 2):
        return 1 - beta_inc(b, a, y, x)
    logs = a * (math.log(x) if x < 0.5 else math.log1p(-y))
    logs += b * (math.log(y) if y < 0.5 else math.log1p(-x))
    small, large = sorted((a, b))
    front = math.exp(_log_gamma_ratio(large, small) - math.lgamma(small) + logs) / a
    tiny = 1e-300
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1) or tiny)
    value = d
    for m in range(1, 10_000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for step in (even, odd):
            d = 1 / (1 + step * d or tiny)
            c = 1 + step / c or tiny
            value *= c * d
        if abs(c * d - 1) < 1e-16:
            break
    return front * value


def _log_gamma_ratio(a: float, b: float) -> float:
    """log(gamma(a + b) / gamma(a)); by its series where the two logarithms would cancel."""
    if b == 0.5 and a > 100:
        return 0.5 * math.log(a) - 1 / (8 * a) + 1 / (192 * a**3) - 1 / (640 * a**5)
    return math.lgamma(a + b) - math.lgamma(a)


def t_sf(t: float, df: float) -> float:
    """P(T > t) of Student's t."""
    if math.isinf(t):
        return 0.0 if t > 0 else 1.0
    tail = 0.5 * beta_inc(df / 2, 0.5, df / (df + t * t), t * t / (df + t * t))
    return tail if t >= 0 else 1 - tail


@lru_cache(maxsize=1024)
def t_ppf(p: float, df: float) -> float:
    """The t with P(T <= t) = p."""
    if p < 0.5:
        return -t_ppf(1 - p, df)
    return solve(lambda t: (1 - p) - t_sf(t, df), 0.0, max(normal_ppf(p), 1.0))


@lru_cache(maxsize=4096)
def beta_ppf(p: float, a: float, b: float) -> float:
    """The x with P(X <= x) = p of the beta distribution."""
    return solve(lambda x: beta_inc(a, b, x) - p, 0.0, 1.0)


def f_sf(f: float, df1: float, df2: float) -> float:
    """P(F > f) of the F distribution."""
    if f <= 0:
        return 1.0
    total = df2 + df1 * f
    return beta_inc(df2 / 2, df1 / 2, df2 / total, df1 * f / total)


def binomial_cdf(k: int, n: int) -> float:
    """P(at most k heads in n throws of a fair coin)."""
    if k < 0:
        return 0.0
    return 1.0 if k >= n else beta_inc(n - k, k + 1, 0.5)


def solve(rising: Callable[[float], float], low: float, high: float) -> float:
    """The zero of a rising function, by Ridders' method; `high` is moved up until it is above the zero."""
    at_low, at_high = rising(low), rising(high)
    while at_high < 0:
        low, at_low, high = high, at_high, 2 * high + 1
        at_high = rising(high)
        if high > 1e300:
            return math.inf
    if at_low >= 0:
        return low
    for _ in range(200):
        middle = 0.5 * (low + high)
        if at_high == 0 or high - low <= 1e-15 * max(1.0, abs(middle)) or middle in (low, high):
            break
        at_middle = rising(middle)
        root = math.sqrt(at_middle**2 - at_low * at_high)
        guess = middle + (middle - low) * (-at_middle / root) if root else middle
        at_guess = rising(guess)
        for x, at_x in sorted([(middle, at_middle), (guess, at_guess)]):
            if at_x < 0:
                low, at_low = max((low, at_low), (x, at_x))
            elif x <= high:
                high, at_high = x, at_x
                break
        if abs(at_guess) < 1e-16:
            return guess
    return high if at_high == 0 else 0.5 * (low + high)


# --- what needs quadrature ---


@lru_cache(maxsize=8)
def _gauss(n: int) -> tuple[Floats, Floats]:
    import numpy as np

    nodes, weights = np.polynomial.legendre.leggauss(n)
    return nodes, weights


def _panels(edges: Floats, n: int) -> tuple[Floats, Floats]:
    """Nodes and weights of Gauss-Legendre on each interval between neighbouring edges."""
    nodes, weights = _gauss(n)
    half = (edges[1:] - edges[:-1])[:, None] / 2
    middle = (edges[1:] + edges[:-1])[:, None] / 2
    return (middle + half * nodes).ravel(), (half * weights).ravel()


def _phi(x: Floats) -> Floats:
    """The normal distribution function of an array."""
    import numpy as np

    flat = (-x / math.sqrt(2)).ravel().tolist()
    return 0.5 * np.array([math.erfc(v) for v in flat]).reshape(x.shape)


def _spread(df: float, extra: Floats | None = None) -> tuple[Floats, Floats]:
    """Nodes for the root of chi-square over its degrees of freedom, and their probabilities."""
    import numpy as np

    reach = 14 / math.sqrt(2 * df)
    edges = np.linspace(max(0.0, 1 - reach), 1 + reach, 9 if df > 20 else 25)
    if extra is not None:
        edges = np.unique(np.concatenate([edges, extra[(extra > edges[0]) & (extra < edges[-1])]]))
    s, weight = _panels(edges, 20)
    constant = math.log(2) + df / 2 * math.log(df / 2) - math.lgamma(df / 2)
    density = np.exp(constant + (df - 1) * np.log(s) - df * s * s / 2)
    return s, weight * density


def noncentral_t_sf(t: float, df: float, shift: float) -> float:
    """P(T > t) where T is Student's t of a normal with mean `shift`."""
    import numpy as np

    s, weight = _spread(df, _turns(t, shift))
    return float(min(1.0, max(0.0, np.sum(weight * _phi(shift - t * s)))))


def _turns(t: float, shift: float) -> Floats | None:
    """Where the integrand of the noncentral t turns."""
    import numpy as np

    turns: Floats | None = (shift + np.arange(-8.0, 9.0)) / t if t else None
    return turns


def noncentral_t_shift(t: float, df: float, probability: float) -> float:
    """The shift with P(T > t) = `probability`.

    By Newton's method on the normal quantile of that probability, which is nearly a straight line: a few
    steps on the same nodes. A comparison of all pairs needs thousands of these.
    """
    import numpy as np

    wanted = normal_ppf(probability)
    shift, anchor = t + wanted * math.sqrt(1 + t * t / (2 * df)), math.inf
    for _ in range(50):
        if abs(shift - anchor) > 2:  # the nodes are dense where the integrand turned
            anchor = shift
            s, weight = _spread(df, _turns(t, shift))
            counted = weight > 1e-18 * weight.max()
            s, weight = t * s[counted], weight[counted]
        distances = shift - s
        beyond = float(weight @ _phi(distances))
        slope = float(weight @ np.exp(-(distances**2) / 2))
        if not (0 < beyond < 1 and slope > 0):
            break
        reached = normal_ppf(beyond)
        step = (wanted - reached) * math.exp(-(reached**2) / 2) / slope
        if abs(step) > 40 + 20 * abs(t):  # with few degrees of freedom the line is too flat here
            break
        shift += step
        if abs(step) <= 1e-12 * max(1.0, abs(shift)):
            return shift
    start = t - 40 - 20 * abs(t)
    return start + solve(lambda x: noncentral_t_sf(t, df, start + x) - probability, 0.0, 40.0)


def studentised_range_sf(q: float, groups: int, df: float) -> float:
    """P(Q > q) where Q is the range of `groups` normals over an independent estimate of their spread."""
    import numpy as np

    if q <= 0:
        return 1.0
    s, outer = _spread(df)
    z, inner = _panels(np.linspace(-9.0, 13.0, 9), 16)
    below = _phi(z)
    share = np.minimum(_phi(z[None, :] - q * s[:, None]) / below, 1 - 1e-17)
    with np.errstate(divide="ignore"):
        lost = -np.expm1((groups - 1) * np.log1p(-share))
    density = np.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    beyond = groups * (lost @ (inner * density * below ** (groups - 1)))
    return float(min(1.0, max(0.0, np.sum(outer * beyond))))


@lru_cache(maxsize=256)
def studentised_range_ppf(p: float, groups: int, df: float) -> float:
    """The q with P(Q <= q) = p."""
    low, high = 0.0, 4.0
    while studentised_range_sf(high, groups, df) > 1 - p:
        low, high = high, high * 2
    for _ in range(45):
        middle = 0.5 * (low + high)
        if studentised_range_sf(middle, groups, df) > 1 - p:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)
