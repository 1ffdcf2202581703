"""How often `goodgain check` raises a false alarm and how often it catches a loss: the table in check.md.

Cases change by chance (a share of them, by amounts around 0): then a failed check is a false alarm. The same
with a mean loss of the size that the check says it can see: then anything but a failed check is a miss.
"""

from __future__ import annotations

import argparse

import numpy as np

from goodgain.checks.golden import Case
from goodgain.checks.matching import Matches
from goodgain.checks.session import Call
from goodgain.checks.verdict import CaseResult, default_margin, detectable_drop, gate_rows
from goodgain.measures import parse_all

MEASURES = parse_all("nDCG@10 R@10")
MARGINS = {m.label: default_margin(m) for m in MEASURES}
SHARES = {"a tenth of the cases": 0.1, "a third": 0.33, "all": 1.0}


def results(before: np.ndarray, now: np.ndarray) -> list[CaseResult]:
    """Cases with these values of both measures, as the check makes them."""
    matches = Matches(documents=(), grades={}, ranks={}, forbidden=())
    labels = [m.label for m in MEASURES]
    return [
        CaseResult(
            case=Case(id=str(i), query=str(i)),
            call=Call(status="ok"),
            matches=matches,
            values=dict(zip(labels, map(float, new), strict=True)),
            bounds={name: (float(v), float(v)) for name, v in zip(labels, new, strict=True)},
            before=dict(zip(labels, map(float, old), strict=True)),
            before_keys=("changed",),
            failures=(),
        )
        for i, (old, new) in enumerate(zip(before, now, strict=True))
    ]


def changes(draw: np.random.Generator, cases: int, share: float, spread: float) -> np.ndarray:
    """Changes of two measures that go together, of mean 0, for a share of the cases."""
    moved = draw.random(cases) < share
    common = draw.normal(0, spread, cases)
    own = draw.normal(0, spread, (cases, 2))
    return np.where(moved[:, None], 0.8 * common[:, None] + 0.6 * own, 0.0)


def rates(
    cases: int, share: float, spread: float, loss: float, runs: int, seed: int
) -> dict[str, float]:
    """The share of runs with each verdict."""
    draw = np.random.default_rng(seed)
    counts = {"fail": 0, "pass": 0, "unsure": 0}
    for i in range(runs):
        before = np.full((cases, 2), 0.6)
        delta = changes(draw, cases, share, spread)
        rows = gate_rows(
            results(before, before + delta - loss), MEASURES, MARGINS, (), seed=i, permutations=2000
        )
        outcomes = {row.outcome for row in rows}
        verdict = (
            "fail" if "worse" in outcomes else "pass" if outcomes == {"no worse"} else "unsure"
        )
        counts[verdict] += 1
    return {name: count / runs for name, count in counts.items()}


def detectable(cases: int, share: float, spread: float) -> float:
    """The loss that the check says it can see, for changes of this kind."""
    deviation = spread * np.sqrt(share)
    sample = deviation * np.tile([1.0, -1.0], cases)[:cases]
    scaled = sample * deviation / sample.std(ddof=1)
    return float(detectable_drop(scaled, 0.05 / len(MEASURES)) or 0)


def table(runs: int) -> str:
    """A Markdown table."""
    lines = [
        "| cases | changing | false alarms | detectable loss | caught |",
        "| ---: | --- | ---: | ---: | ---: |",
    ]
    for cases in (25, 50, 100):
        for name, share in SHARES.items():
            calm = rates(cases, share, 0.2, 0.0, runs, 1)
            loss = detectable(cases, share, 0.2)
            hit = rates(cases, share, 0.2, loss, runs, 2)
            lines.append(
                f"| {cases} | {name} | {calm['fail']:.1%} | {loss:.3f} | {hit['fail']:.1%} |"
            )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--runs", type=int, default=2000)
    print(table(arguments.parse_args().runs), end="")
