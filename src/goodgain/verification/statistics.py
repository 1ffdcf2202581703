"""The tests of significance against scipy's, on differences of the user's own values."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from goodgain.stats.paired import Resampling, is_constant, run_test
from goodgain.verification.result import Check, Difference

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

_TOLERANCE = 1e-9
_EXACT_QUERIES = 12  # the randomisation test is exact up to here: 2^12 assignments of signs


def check_statistics(columns: Mapping[str, NDArray[np.float64]], against: str) -> Check:
    """Paired t, Wilcoxon, sign and randomisation of the differences between pairs of columns."""
    values, differences = 0, []
    labels = list(columns)
    for i, first in enumerate(labels[:-1]):
        second = labels[i + 1]
        both = (columns[first] == columns[first]) & (columns[second] == columns[second])
        difference = columns[first][both] - columns[second][both]
        if len(difference) < 3 or not difference.any() or is_constant(difference):
            continue
        short = difference[:_EXACT_QUERIES]
        for test in ("t", "wilcoxon", "sign", "randomisation"):
            used = short if test == "randomisation" else difference
            if not used.any() or is_constant(used):
                continue
            if test == "randomisation" and not _resolved(used):
                continue
            ours = run_test(test, used, resampling=Resampling()).p
            theirs = _scipy(test, used)
            values += 1
            if not math.isclose(ours, theirs, rel_tol=_TOLERANCE, abs_tol=1e-12):
                differences.append(
                    Difference(
                        measure=f"p of the {test} test",
                        query=f"{first} against {second}",
                        policy="",
                        value=ours,
                        expected=theirs,
                    )
                )
    note = "" if values else "too few queries with different values"
    return Check(against=against, values=values, differences=tuple(differences), note=note)


def _resolved(d: NDArray[np.float64]) -> bool:
    """Whether no difference is lost in the rounding of means that scipy's test needs here."""
    sizes = abs(d[d != 0])
    return bool(sizes.min() > 1e-8 * sizes.max())


def _scipy(test: str, d: NDArray[np.float64]) -> float:
    import numpy as np
    from scipy import stats

    if test == "t":
        return float(stats.ttest_1samp(d, 0).pvalue)
    if test == "wilcoxon":
        return float(stats.wilcoxon(d).pvalue)
    if test == "sign":
        wins, losses = int((d > 0).sum()), int((d < 0).sum())
        return float(stats.binomtest(min(wins, losses), wins + losses).pvalue)

    def size(values: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
        # Rounding must not split assignments of the same mean.
        sizes: NDArray[np.float64] = np.round(np.abs(values.mean(axis=axis)), 10)
        return sizes

    result = stats.permutation_test(
        (d / np.abs(d).max(),), size, permutation_type="samples", n_resamples=np.inf, alternative="greater",
        vectorized=True,
    )  # fmt: skip
    return float(result.pvalue)
