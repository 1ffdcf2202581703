"""Coverage of the estimate of the best setting, by simulation: python scripts/choice_rates.py [--check].

The best of several settings is chosen and its mean estimated by nested cross-validation; the truth is the
mean of the chosen setting over all possible queries. Fills the table in docs/optimise.md between
`<!-- rates: choice -->` and `<!-- end -->`; with --check only says whether coverage lies within the limits
(status 1 if not).
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from goodgain.experiment.choice import choose, estimate

Floats = NDArray[np.float64]
PAGE = Path(__file__).resolve().parent.parent / "docs" / "optimise.md"
QUERIES = (20, 50, 100, 200)
SCENARIOS = {
    "2 apart": [0.0, 0.5],
    "20 equal": [0.0] * 20,
    "20 spread": list(np.linspace(0, 0.5, 20)),
}
KINDS = ("graded", "binary", "reciprocal rank", "mostly 1")
LEAST = 92.0  # percent that intervals of 95 % must cover


def draw(rng: np.random.Generator, n: int, effects: list[float], kind: str) -> Floats:
    """Values of n queries: difficulty shared by all settings, and luck of each."""
    strength = rng.normal(0, 1, (n, 1)) + rng.normal(0, 0.7, (n, len(effects))) + np.array(effects)
    if kind == "binary":
        return (strength > 0).astype(float)
    if kind == "reciprocal rank":
        return 1 / np.clip(np.ceil(np.exp(-strength)), 1, 50)
    graded = 1 / (1 + np.exp(-2 * strength))
    return np.where(strength > -1, 1.0, graded) if kind == "mostly 1" else graded


def simulate(kind: str, effects: list[float], n: int, runs: int) -> list[float]:
    """Coverage, samples with an interval, half width, error of both means; coverage and width of a split."""
    rng = np.random.default_rng([2026, n, len(effects), KINDS.index(kind)])
    truth = draw(rng, 200_000, effects, kind).mean(0)
    covered, widths, errors, optimism, split, split_widths = [], [], [], [], [], []
    for run in range(runs):
        table = draw(rng, n, effects, kind)
        choice = choose(
            {
                str(k): {str(i): float(v) for i, v in enumerate(own)}
                for k, own in enumerate(table.T)
            },
            seed=run,
        )
        true = truth[int(choice.setting)]
        errors.append(choice.estimate.mean - true)
        optimism.append(choice.in_sample - true)
        low, high = choice.estimate.low, choice.estimate.high
        if low is not None and high is not None:
            covered.append(low <= true <= high)
            widths.append((high - low) / 2)
        first = int(table[: n // 2].mean(0).argmax())
        measured = estimate([float(v) for v in table[n // 2 :, first]])
        if measured.low is not None and measured.high is not None:
            split.append(measured.low <= truth[first] <= measured.high)
            split_widths.append((measured.high - measured.low) / 2)
    mean = [
        float(np.mean(x)) if x else np.nan
        for x in (covered, widths, errors, optimism, split, split_widths)
    ]
    return [mean[0], len(covered) / runs, *mean[1:]]


def table(runs: int) -> tuple[str, list[str]]:
    """The table, and what lies outside the limits."""
    lines = [
        "| settings | values | queries | coverage | samples with an interval | half width | error of the "
        "estimate | error in sample | coverage, half the queries held out | half width |",
        "| --- | --- |" + " ---: |" * 8,
    ]
    outside = []
    for name, effects in SCENARIOS.items():
        for kind in KINDS:
            for n in QUERIES:
                covered, share, width, error, optimism, split, split_width = simulate(
                    kind, effects, n, runs
                )
                lines.append(
                    f"| {name} | {kind} | {n} | {_percent(covered)} | {_percent(share, 0)} | "
                    f"{_number(width)} | {error:+.3f} | {optimism:+.3f} | {_percent(split)} | "
                    f"{_number(split_width)} |"
                )
                if share > 0.2 and 100 * covered < LEAST:
                    outside.append(f"{name}, {kind}, {n} queries: {100 * covered:.1f} %")
    return "\n".join(lines), outside


def _percent(value: float, digits: int = 1) -> str:
    return "–" if np.isnan(value) else f"{100 * value:.{digits}f} %"


def _number(value: float) -> str:
    return "–" if np.isnan(value) else f"{value:.3f}"


def main() -> int:
    """Simulate, and check or write."""
    parser = argparse.ArgumentParser(description="coverage of the estimate of the best setting")
    parser.add_argument("--check", action="store_true", help="do not write the page")
    parser.add_argument("--runs", type=int, default=1_000, help="samples of each kind")
    args = parser.parse_args()
    text, outside = table(args.runs)
    print(text)
    if not args.check:
        page = PAGE.read_text(encoding="utf-8")
        place = re.compile(r"(<!-- rates: choice -->\n).*?(<!-- end -->)", re.DOTALL)
        PAGE.write_text(place.sub(lambda m: f"{m[1]}{text}\n{m[2]}", page), encoding="utf-8")
    print("\n".join(["outside the limits:", *outside] if outside else ["all within the limits"]))
    return 1 if outside else 0


if __name__ == "__main__":
    sys.exit(main())
