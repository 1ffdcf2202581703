"""How often tests over queries and seeds reject, by simulation: python scripts/error_rates.py [--check].

Fills the tables in docs/comparison.md between `<!-- rates: NAME -->` and `<!-- end -->`; with --check only
says whether every rate lies between 3 % and 6 % (status 1 if not). The formulas are written down here once
more, for many replications at a time, and some replications of each cell are compared with `compare`.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

import goodgain as gg
from goodgain.stats.paired import Resampling, run_test

Floats = NDArray[np.float64]
PAGE = Path(__file__).resolve().parent.parent / "docs" / "comparison.md"
QUERIES, SEEDS, SPREADS = (10, 30, 100), (3, 5, 10), (0.0, 0.02, 0.05, 0.2)
NOISE, ALPHA = 0.1, 0.05
DESIGNS = {
    "shared": "seeds that both systems share",
    "fixed": "seeds of one system, the other deterministic",
    "own": "seeds of each system's own",
}
# Three seeds for each of two variances are few: the test then rejects too rarely, and the page says so.
LEAST = {"shared": 2.9, "fixed": 2.9, "own": 1.8}
MOST = 6.0


def draw(design: str, shape: tuple[int, int, int], seed_sd: float, rng: np.random.Generator,
         interaction: float) -> tuple[Floats, Floats]:  # fmt: skip
    """Scores of two equal systems, runs x queries x seeds."""
    runs, queries, seeds = shape
    base = rng.normal(0.5, 0.2, (runs, queries, 1))

    def system(count: int, depends: bool) -> Floats:
        own = base + rng.normal(0, interaction, base.shape)
        noise = rng.normal(0, NOISE, (runs, queries, count))
        return own + noise + depends * rng.normal(0, seed_sd, (runs, 1, count))

    return system(1 if design == "fixed" else seeds, design != "fixed"), system(seeds, True)


def true_variance(
    design: str, queries: int, seeds: int, seed_sd: float, interaction: float
) -> float:
    """Of the mean difference."""
    sides = [1 if design == "fixed" else seeds, seeds]
    query = 2 * interaction**2 + sum(NOISE**2 / s for s in sides)
    depends = [0.0 if design == "fixed" else seed_sd, seed_sd]
    return query / queries + sum(sd**2 / s for sd, s in zip(depends, sides, strict=True))


def squares(x: Floats) -> tuple[Floats, Floats, Floats]:
    """Of each run the variance of the mean over queries, over seeds, and what both contain."""
    queries, seeds = x.shape[1:]
    by_query, by_seed, mean = x.mean(2), x.mean(1), x.mean((1, 2))
    rest = x - by_query[:, :, None] - by_seed[:, None, :] + mean[:, None, None]
    return (
        by_query.var(1, ddof=1) / queries,
        by_seed.var(1, ddof=1) / seeds,
        (rest**2).sum((1, 2)) / ((queries - 1) * (seeds - 1)) / (queries * seeds),
    )


def quantile(freedom: Floats | float) -> Floats:
    """Of Student's t at half the level."""
    value: Floats = -special.stdtrit(freedom, ALPHA / 2)
    return value


def reach(a: Floats, b: Floats, own: bool) -> Floats:
    """Half the width of the interval of each run."""
    queries = b.shape[1]
    if own:
        sides = [squares(a), squares(b)]
        query = (b.mean(2) - a.mean(2)).var(1, ddof=1) / queries
    else:
        sides = [squares(b - a)]
        query = sides[0][0]
    counts = [b.shape[2] - 1] * len(sides)
    seed = sum(side[1] for side in sides)
    rest = sum(side[2] for side in sides)
    freedom = seed**2 / sum(side[1] ** 2 / df for side, df in zip(sides, counts, strict=True))
    few, many = freedom, np.full_like(freedom, queries - 1.0)
    first, second = seed, np.maximum(query - rest, 0)
    swap = few > many
    first, second = np.where(swap, query, first), np.where(swap, np.maximum(seed - rest, 0), second)
    few, many = np.where(swap, many, few), np.where(swap, few, many)
    total = first + second
    cochran = (first * quantile(few) + second * quantile(many)) / total
    satterthwaite = quantile(total**2 / (first**2 / few + second**2 / many))
    levels = 1 + few
    weight = np.clip(levels - 2, 0, 1) / levels
    critical = np.where(second > 0, (1 - weight) * cochran + weight * satterthwaite, quantile(few))
    half: Floats = critical * np.sqrt(total)
    return half


def cell(design: str, queries: int, seeds: int, seed_sd: float, runs: int, interaction: float,
         rng: np.random.Generator) -> tuple[float, float, float]:  # fmt: skip
    """Rejections without a difference, power with one that an oracle sees in 80 %, and coverage."""
    a, b = draw(design, (runs, queries, seeds), seed_sd, rng, interaction)
    half, mean = reach(a, b, design == "own"), b.mean((1, 2)) - a.mean((1, 2))
    check_against_compare(design, a, b, mean, half)
    variance = true_variance(design, queries, seeds, seed_sd, interaction)
    shift = (special.ndtri(1 - ALPHA / 2) + special.ndtri(0.8)) * np.sqrt(variance)
    return (
        100 * float((abs(mean) > half).mean()),
        100 * float((abs(mean + shift) > half).mean()),
        100 * float((abs(mean) <= half).mean()),
    )


def check_against_compare(design: str, a: Floats, b: Floats, mean: Floats, half: Floats) -> None:
    """A few runs through the whole of `compare`: the same difference, interval and stars."""
    for run in range(3):
        rows = [
            {"system": name, "query": f"q{q}", "seed": None if design == "fixed" and name == "a" else
             f"{name}{s}" if design == "own" else f"s{s}", "AP": float(x[run, q, s])}
            for name, x in (("a", a), ("b", b)) for q in range(x.shape[1]) for s in range(x.shape[2])
        ]  # fmt: skip
        pair = gg.compare(rows)["b", "AP"]
        assert pair.low is not None
        assert pair.high is not None
        assert np.allclose([pair.difference, (pair.high - pair.low) / 2], [mean[run], half[run]])
        assert (pair.stars != "ns") == bool(abs(mean[run]) > half[run])


def seed_table(name: str, runs: int, interaction: float) -> tuple[str, list[str]]:
    """Rejections and power of one design for all numbers of queries and seeds."""
    rng = np.random.default_rng(2026)
    head = [f"seed sd {sd:g}" for sd in SPREADS]
    lines = ["| queries | seeds | " + " | ".join(head) + " |", "| --- " * (2 + len(head)) + "|"]
    outside = []
    for queries in QUERIES:
        for seeds in SEEDS:
            texts = []
            for sd in SPREADS:
                level, power, _ = cell(name, queries, seeds, sd, runs, interaction, rng)
                texts.append(f"{level:.1f} % ({power:.0f} %)")
                if not LEAST[name] <= level <= MOST:
                    outside.append(
                        f"{name}, {queries} queries, {seeds} seeds, sd {sd:g}: {level:.2f} %"
                    )
            lines.append(f"| {queries} | {seeds} | " + " | ".join(texts) + " |")
    return "\n".join(lines), outside


def query_table(runs: int) -> str:
    """Rejections of the tests over queries alone, for normal and for skewed differences."""
    rng = np.random.default_rng(7)
    how = Resampling(permutations=1999, bootstraps=999)
    tests = ("t", "wilcoxon", "sign", "randomisation", "bootstrap")
    lines = ["| queries | differences | " + " | ".join(f"`{t}`" for t in tests) + " |",
             "| --- " * (2 + len(tests)) + "|"]  # fmt: skip
    for queries in QUERIES:
        for kind in ("normal", "skewed"):
            drawn = rng.normal(0, 1, (runs, queries))
            if kind == "skewed":
                law = stats.skewnorm(6)
                drawn = law.rvs((runs, queries), random_state=rng) - law.mean()
            rates = [
                100 * np.mean([run_test(test, d, resampling=how).p < ALPHA for d in drawn])
                for test in tests
            ]
            lines.append(
                f"| {queries} | {kind} | " + " | ".join(f"{r:.1f} %" for r in rates) + " |"
            )
    return "\n".join(lines)


def main() -> int:
    """Simulate, and check or write."""
    parser = argparse.ArgumentParser(description="error rates of tests, by simulation")
    parser.add_argument("--check", action="store_true", help="do not write the page")
    parser.add_argument("--runs", type=int, default=20_000, help="replications of each cell")
    args = parser.parse_args()
    tables, outside = {}, []
    for name in DESIGNS:
        for interaction in (0.0, 0.1):
            table, own = seed_table(name, args.runs, interaction)
            tables[f"{name}-{interaction:g}"] = table
            outside += [f"interaction {interaction:g}, {text}" for text in own]
            print(f"{DESIGNS[name]}, interaction {interaction:g}\n{table}\n", flush=True)
    if not args.check:
        tables["queries"] = query_table(args.runs // 5)
        page = PAGE.read_text(encoding="utf-8")
        for name, table in tables.items():
            place = re.compile(
                rf"(<!-- rates: {re.escape(name)} -->\n).*?(<!-- end -->)", re.DOTALL
            )
            page = place.sub(lambda m, t=table: f"{m[1]}{t}\n{m[2]}", page)  # type: ignore[misc]
        PAGE.write_text(page, encoding="utf-8")
    print("\n".join(["outside the limits:", *outside] if outside else ["all within the limits"]))
    return 1 if outside else 0


if __name__ == "__main__":
    sys.exit(main())
