"""Coverage of the intervals of stopping rules, by simulation: python scripts/stopping_rates.py [--check].

Fills the table in docs/stopping.md between `<!-- rates: stopping -->` and `<!-- end -->`; with --check only
says whether coverage lies within the limits (status 1 if not). Conversations are drawn from a population
whose shares are known, and some samples go through the whole of `gg.stopping`.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import goodgain as gg
from goodgain.stats.paired import Resampling
from goodgain.stats.ratios import ratio_intervals

Floats = NDArray[np.float64]
PAGE = Path(__file__).resolve().parent.parent / "docs" / "stopping.md"
CONVERSATIONS, RULES = (10, 30, 100, 300), (1, 3, 6)  # "after 1", "after 3", "after 6"
POPULATION, LONGEST, CONFIDENCE = 200_000, 15, 0.95
# Few conversations of which few save anything are not enough, and the page says so.
LIMITS = {10: (84.0, 100.0), 30: (88.5, 100.0), 100: (92.5, 98.0), 300: (93.0, 97.0)}


class Population:
    """Conversations that stop at any time, bring less the longer they last, and cost what they like."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.lengths = rng.geometric(0.25, POPULATION).clip(1, LONGEST)
        steps = np.arange(LONGEST)
        good = rng.poisson(1.5 * 0.65**steps, (POPULATION, LONGEST))
        gains = good * rng.choice([2.0, 3.0, 4.0], (POPULATION, LONGEST))
        tokens = rng.lognormal(7, 0.8, (POPULATION, LONGEST)).round()
        present = steps < self.lengths[:, None]
        self.gains, self.tokens = gains * present, tokens * present
        self.good, self.grades = good * present, gains

    def pair(self, values: Floats, k: int) -> tuple[Floats, Floats]:
        """Of each conversation what it has after k iterations, and in all."""
        return values[:, :k].sum(1), values.sum(1)

    def traces(self, members: NDArray[np.int64]) -> list[dict[str, object]]:
        """The same conversations as traces: every good result is new."""
        traces = []
        for number, member in enumerate(members):
            iterations = []
            for i in range(self.lengths[member]):
                count = int(self.good[member, i])
                gain = float(self.gains[member, i] / count) if count else 0.0
                results = [{"id": f"{i}-{r}", "gain": gain} for r in range(count)]
                tokens = float(self.tokens[member, i])
                iterations.append(
                    {"searches": [{"query": "q", "tokens": tokens, "results": results}]}
                )
            traces.append({"conversation": f"c{number}", "turns": [{"iterations": iterations}]})
        return traces


def simulate(
    population: Population, n: int, runs: int, rng: np.random.Generator
) -> dict[int, list[float]]:
    """By rule: the share of the gain, how often its interval holds it, how often it has one; tokens too."""
    pairs = {
        k: (population.pair(population.gains, k), population.pair(population.tokens, k))
        for k in RULES
    }
    truth = {k: [a.sum() / b.sum() for a, b in both] for k, both in pairs.items()}
    counts = {k: np.zeros(4) for k in RULES}
    for run in range(runs):
        members = rng.integers(POPULATION, size=n)
        how = Resampling(bootstraps=1_000, seed=run)
        sample = [(a[members], b[members]) for k in RULES for a, b in pairs[k]]
        intervals = ratio_intervals(sample, CONFIDENCE, how)
        if run < 3:
            check_against_stopping(population, members, how, intervals)
        for place, k in enumerate(RULES):
            gain, tokens = intervals[2 * place : 2 * place + 2]
            for at, interval, true in ((0, gain, truth[k][0]), (2, tokens, truth[k][1])):
                if interval[0] == interval[0]:
                    counts[k][at] += interval[0] <= true <= interval[1]
                    counts[k][at + 1] += 1
    return {
        k: [truth[k][0], 100 * c[0] / c[1], 100 * c[1] / runs, truth[k][1], 100 * c[2] / c[3]]
        for k, c in counts.items()
    }


def check_against_stopping(
    population: Population,
    members: NDArray[np.int64],
    how: Resampling,
    intervals: list[tuple[float, float]],
) -> None:
    """A few samples through traces, Good Gain and the rules: the same intervals."""
    result = gg.stopping(
        population.traces(members),
        [f"after {k}" for k in RULES],
        bootstraps=how.bootstraps,
        seed=how.seed,
    )
    for place, outcome in enumerate(result.outcomes):
        spent = outcome.spent("tokens")
        figures = [outcome.retained.low, outcome.retained.high, spent.low, spent.high]
        expected = [*intervals[2 * place], *intervals[2 * place + 1]]
        assert np.allclose(figures, expected, equal_nan=True), (figures, expected)


def table(runs: int) -> tuple[str, list[str]]:
    """The table, and what lies outside the limits."""
    rng = np.random.default_rng(2026)
    population = Population(rng)
    lines = [
        "| conversations | rule | gain kept | coverage | samples with a loss | tokens saved | coverage |",
        "| --- " * 7 + "|",
    ]
    outside = []
    for n in CONVERSATIONS:
        for k, (gain, covered, seen, spent, tokens) in simulate(population, n, runs, rng).items():
            cells = (
                f"{100 * gain:.1f}",
                f"{covered:.1f}",
                f"{seen:.0f}",
                f"{100 - 100 * spent:.1f}",
            )
            texts = " | ".join(f"{cell} %" for cell in (*cells, f"{tokens:.1f}"))
            lines.append(f"| {n} | after {k} | {texts} |")
            low, high = LIMITS[n]
            for name, rate in (("gain", covered), ("tokens", tokens)):
                if not low <= rate <= high:
                    outside.append(f"{name}, {n} conversations, after {k}: {rate:.1f} %")
    return "\n".join(lines), outside


def main() -> int:
    """Simulate, and check or write."""
    parser = argparse.ArgumentParser(description="coverage of intervals of stopping rules")
    parser.add_argument("--check", action="store_true", help="do not write the page")
    parser.add_argument("--runs", type=int, default=4_000, help="samples of each size")
    args = parser.parse_args()
    text, outside = table(args.runs)
    print(text)
    if not args.check:
        page = PAGE.read_text(encoding="utf-8")
        place = re.compile(r"(<!-- rates: stopping -->\n).*?(<!-- end -->)", re.DOTALL)
        PAGE.write_text(place.sub(lambda m: f"{m[1]}{text}\n{m[2]}", page), encoding="utf-8")
    print("\n".join(["outside the limits:", *outside] if outside else ["all within the limits"]))
    return 1 if outside else 0


if __name__ == "__main__":
    sys.exit(main())
