"""Races of settings by simulation: python scripts/racing_rates.py [--check].

How often the best setting is dropped wrongly, looked at after every query, and how many calls a race saves.
Fills the table in docs/optimise.md between `<!-- rates: racing -->` and `<!-- end -->`; with --check only
says whether the best is dropped more often than alpha allows (status 1 if so). Every race goes through
`goodgain.experiment.racing`.
"""

from __future__ import annotations

import argparse
import math
import re
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from goodgain.experiment.racing import ONE_LEFT, TIED, Budget, Race, Rules

Floats = NDArray[np.float64]
PAGE = Path(__file__).resolve().parent.parent / "docs" / "optimise.md"
ALPHA, QUERIES = 0.05, (50, 150, 400)
LIMIT, PERCENT = 0.05, 90.0  # of latency, in the scenario with a budget
# The best setting is always the first; effects on the scale of the normal variable.
SCENARIOS = {
    "8 equal": [0.0] * 8,
    "8, best by a little": [0.15] + [0.0] * 7,
    "8, best clearly": [0.6] + [0.0] * 7,
    "8, spread": list(np.linspace(0.9, -0.5, 8)),
    "24, spread": list(np.linspace(0.9, -0.9, 24)),
    "2 equal": [0.0, 0.0],
}
KINDS = ("graded", "binary")


def draw(rng: np.random.Generator, n: int, effects: list[float], kind: str) -> Floats:
    """Values of n queries: difficulty shared by all settings, and luck of each."""
    strength = rng.normal(0, 1, (n, 1)) + rng.normal(0, 0.7, (n, len(effects))) + np.array(effects)
    return (strength > 0).astype(float) if kind == "binary" else 1 / (1 + np.exp(-2 * strength))


def run_race(values: Floats, latencies: Floats | None = None) -> tuple[Race, int]:
    """One race to its end, and the number of its calls."""
    names = [f"s{i}" for i in range(values.shape[1])]
    budgets = () if latencies is None else (Budget("latency", LIMIT, PERCENT),)
    race = Race(names, Rules(low=0, high=1, alpha=ALPHA, budgets=budgets))
    calls, raced = 0, dict.fromkeys(names, 0)
    while race.queries < len(values) and race.outcome() is None:
        number = race.queries
        for name in race.live:
            place = int(name[1:])
            missed = range(raced[name], number)
            if missed:  # it returned: whoever had beaten it is over the budget
                race.catch_up(name, {i: values[i, place] for i in missed})
            if latencies is not None:
                for i in range(raced[name], number + 1):
                    race.observe_calls(name, str(i), {"latency": [latencies[i, place]]})
            calls += number + 1 - raced[name]
            raced[name] = number + 1
        race.observe({n: values[number, int(n[1:])] for n in race.live if raced[n] == number + 1})
    return race, calls


def simulate(kind: str, effects: list[float], n: int, runs: int, budget: bool) -> list[float]:
    """Best dropped, decided, settings left, calls used: shares of the races and of the full grid."""
    rng = np.random.default_rng([2026, n, len(effects), KINDS.index(kind), budget])
    counts = np.zeros(4)
    for _ in range(runs):
        values = draw(rng, n, effects, kind)
        latencies = None
        if budget:  # settings that are better still, but over the budget at the percentile
            better = draw(rng, n, [effects[0] + 0.4] * 2, kind)
            values = np.hstack([values, better])
            slow = np.full(values.shape[1], 0.03)
            slow[-2:] = [0.035, 0.06]  # of exponential latencies: 20 % and 43 % of calls are over
            latencies = rng.exponential(slow, values.shape)
            latencies[:, :-2] *= LIMIT / (
                0.03 * -math.log(1 - PERCENT / 100)
            )  # at the limit exactly
        race, calls = run_race(values, latencies)
        decided = race.outcome() in (ONE_LEFT, TIED)
        counts += ["s0" in race.dropped, decided, len(race.live), calls / values.size]
    return list(counts / runs)


def table(runs: int) -> tuple[str, list[str]]:
    """The table, and where the best was dropped too often."""
    lines = [
        "| settings | values | queries | best dropped | decided | settings left | calls used |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    outside = []
    most = 100 * (ALPHA + 3 * math.sqrt(ALPHA * (1 - ALPHA) / runs))
    for name, effects in SCENARIOS.items():
        for kind in KINDS:
            lines += [_line(name, kind, n, effects, runs, most, outside) for n in QUERIES]
    name = "8, best by a little, and 2 better ones over the budget"
    effects = SCENARIOS["8, best by a little"]
    for kind in KINDS:
        lines += [_line(name, kind, n, effects, runs, most, outside) for n in QUERIES]
    return "\n".join(lines), outside


def _line(
    name: str, kind: str, n: int, effects: list[float], runs: int, most: float, outside: list[str]
) -> str:
    dropped, decided, left, used = simulate(kind, effects, n, runs, "budget" in name)
    if 100 * dropped > most:
        outside.append(f"{name}, {kind}, {n} queries: {100 * dropped:.1f} %")
    return (
        f"| {name} | {kind} | {n} | {100 * dropped:.1f} % | {100 * decided:.0f} % | {left:.1f} | "
        f"{100 * used:.0f} % |"
    )


def main() -> int:
    """Simulate, and check or write."""
    parser = argparse.ArgumentParser(description="error rates and power of races")
    parser.add_argument("--check", action="store_true", help="do not write the page")
    parser.add_argument("--runs", type=int, default=1_000, help="races of each kind")
    args = parser.parse_args()
    text, outside = table(args.runs)
    print(text)
    if not args.check:
        page = PAGE.read_text(encoding="utf-8")
        place = re.compile(r"(<!-- rates: racing -->\n).*?(<!-- end -->)", re.DOTALL)
        PAGE.write_text(place.sub(lambda m: f"{m[1]}{text}\n{m[2]}", page), encoding="utf-8")
    print("\n".join(["dropped too often:", *outside] if outside else ["all within the limits"]))
    return 1 if outside else 0


if __name__ == "__main__":
    sys.exit(main())
