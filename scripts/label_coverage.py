"""How often intervals of corrected means hold, by simulation: python scripts/label_coverage.py [--check].

Fills the tables in docs/labels.md between `<!-- rates: NAME -->` and `<!-- end -->`; with --check only says
whether every interval that is printed covers the mean over all queries in 93 % to 97 % of the replications
(status 1 if not, beyond the error of the simulation). What is simulated is the product's own rule: the
functions that `calibrate` calls decide which interval is given, or that people judged too few. A
replication of each cell is compared with `calibrate` itself.
"""

from __future__ import annotations

import argparse
import math
import re
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import goodgain as gg
from goodgain.stats.survey import (
    Estimate,
    Steps,
    Units,
    estimate_from_steps,
    estimate_total,
    estimate_without_predictions,
)

Floats = NDArray[np.float64]
PAGE = Path(__file__).resolve().parent.parent / "docs" / "labels.md"
QUERIES, DOCUMENTS, DEPTH = 200, 12, 10
SHAPE_QUERIES = (40, 50, 100)
JUDGED_QUERIES, JUDGED_PAIRS, STEPS = (10, 20, 30, 40, 50, 100), (50, 100, 200, 500), (100, 200)
KINDS = ("graded", "binary", "rare")
SHAPES = ("nearly always 1", "mostly 0", "reciprocal rank", "even")
JUDGES = {
    "good": (0.1, 0.35),
    "poor": (0.5, 1.5),
}  # kindness and noise, in units of the latent quality
GRADES = (0.0, 0.9, 1.6, 2.3)  # latent quality from which a document has gain 1, 2, 3, 4
DISCOUNT = 1 / np.log2(np.arange(2, DEPTH + 2))
LEAST, MOST = 93.0, 97.0
CHUNK = 100


class World(NamedTuple):
    """Gains by people and by the judge, replication x query x document, in the order of the run."""

    human: Floats
    judge: Floats


def draw(kind: str, judge: str, runs: int, unit: str, rng: np.random.Generator) -> World:
    """Collections in which half of the queries (pairs), or 4 % of them, succeed."""
    shape = (runs, QUERIES, DOCUMENTS)
    latent = rng.normal(0, 0.8, (runs, QUERIES, 1)) + rng.normal(0, 1, shape)
    order = np.argsort(-(latent + rng.normal(0, 1.2, shape)), axis=2)
    latent = np.take_along_axis(latent, order, 2)
    kindness, noise = JUDGES[judge]
    seen = latent + kindness + rng.normal(0, noise, shape)
    if kind == "graded":
        return World(*(np.digitize(x, GRADES).astype(float) for x in (latent, seen)))
    share = 0.5 if kind == "binary" else 0.04
    top = latent[:, :, :DEPTH]
    threshold = np.quantile(top.max(2) if unit == "queries" else top, 1 - share)
    return World((latent >= threshold).astype(float), (seen >= threshold).astype(float))


def ndcg(gains: Floats) -> Floats:
    """nDCG@10 of every query."""
    ideal = -np.sort(-gains, axis=2)[:, :, :DEPTH] @ DISCOUNT
    own = gains[:, :, :DEPTH] @ DISCOUNT
    return np.where(ideal > 0, own / np.where(ideal > 0, ideal, 1), 0.0)


def hit(gains: Floats) -> Floats:
    """Hit@10 of every query."""
    found_any: Floats = (gains[:, :, :DEPTH] >= 1).any(2).astype(float)
    return found_any


class Tally:
    """Intervals of one cell: how many were given, how many cover, and how long they are."""

    def __init__(self) -> None:
        self.total = self.printed = self.covered = 0
        self.lengths: list[float] = []

    def add(self, estimate: Estimate, truth: float, people: Estimate | None = None) -> None:
        """Count an estimate; `people` is the one without the judge."""
        self.total += 1
        if estimate.low != estimate.low:
            return
        self.printed += 1
        slack = 1e-9 * max(1.0, abs(truth))
        self.covered += estimate.low - slack <= truth <= estimate.high + slack
        if people is not None and people.high > people.low:
            self.lengths.append((estimate.high - estimate.low) / (people.high - people.low))

    def cells(self) -> list[str]:
        """Shares of given and of covering intervals, and the length against people alone."""
        given = f"{100 * self.printed / self.total:.0f} %"
        if self.printed < 0.02 * self.total:
            return [given, "-", "-"]
        length = f"{float(np.mean(self.lengths)):.2f}" if self.lengths else "-"
        return [given, f"{100 * self.covered / self.printed:.1f} %", length]

    def outside(self) -> str:
        """Why the coverage is not within the limits, or nothing."""
        if self.printed < 0.05 * self.total:
            return ""
        share = 100 * self.covered / self.printed
        error = 100 * math.sqrt(0.05 * 0.95 / self.printed)
        if LEAST - 2.5 * error <= share <= MOST + 2.5 * error:
            return ""
        return f"{share:.1f} % of {self.printed} intervals"


def query_cell(kind: str, judge: str, n: int, runs: int, rng: np.random.Generator) -> Tally:
    """Whole queries: nDCG@10 for graded labels, otherwise Hit@10."""
    tally = Tally()
    measure, value = ("nDCG@10", ndcg) if kind == "graded" else ("Hit@10", hit)
    strata, weights = np.zeros(QUERIES, dtype=np.intp), np.full(QUERIES, 1 / QUERIES)
    for start in range(0, runs, CHUNK):
        world = draw(kind, judge, min(CHUNK, runs - start), "queries", rng)
        y, f = value(world.human), value(world.judge)
        for i in range(len(y)):
            sampled = rng.choice(QUERIES, n, replace=False)
            units = Units(weights, f[i], strata, sampled, y[i, sampled], (0.0, 1.0))
            estimate = estimate_total(units)
            tally.add(estimate, y[i].mean(), people_alone(units))
            if start == i == 0:
                check_queries(World(world.human[i], world.judge[i]), sampled, measure, estimate)
    return tally


def people_alone(units: Units) -> Estimate:
    """The interval without the judge: Wilson's for two values, otherwise Student's t."""
    nothing = units._replace(predictions=np.full(len(units.weights), np.nan))
    estimate = estimate_total(nothing)
    return estimate if estimate.low == estimate.low else estimate_without_predictions(units)


def tables(world: World) -> tuple[dict, dict, dict]:  # type: ignore[type-arg]
    """One replication as judgments, labels and a run."""
    human, judge = (
        {f"q{q}": {f"d{d}": float(g) for d, g in enumerate(row)} for q, row in enumerate(side)}
        for side in world
    )
    run = {q: {f"d{d}": float(DEPTH - d) for d in range(DEPTH)} for q in human}
    return human, judge, run


def check_queries(
    world: World, sampled: NDArray[np.intp], measure: str, expected: Estimate
) -> None:
    """The same through the whole of `calibrate`."""
    human, judge, run = tables(world)
    chosen = {f"q{q}": human[f"q{q}"] for q in sampled}
    (own,) = gg.calibrate(
        chosen, judge, {"run": run}, measure, design="queries", resamples=2
    ).corrected
    assert own.judged == len(sampled)
    assert np.allclose([own.corrected, own.low, own.high], expected[:3], equal_nan=True)


def pair_cell(
    kind: str, judge: str, n: int, runs: int, by_label: bool, rng: np.random.Generator
) -> Tally:
    """Pairs: DCG@10 for graded labels, otherwise P@10; the sample is of all pairs of the pool."""
    tally = Tally()
    ranks = np.tile(np.arange(DOCUMENTS), QUERIES)
    inside = np.flatnonzero(ranks < DEPTH)
    weight = np.where(
        ranks < DEPTH, np.concatenate([DISCOUNT, np.zeros(DOCUMENTS - DEPTH)])[ranks], 0
    )
    top = 4.0 if kind == "graded" else 1.0
    weight = (4 * weight if kind == "graded" else np.full(len(ranks), 1 / DEPTH)) / QUERIES
    place = np.full(len(ranks), -1)
    place[inside] = np.arange(len(inside))
    for start in range(0, runs, CHUNK):
        world = draw(kind, judge, min(CHUNK, runs - start), "pairs", rng)
        for i in range(len(world.human)):
            h, f = world.human[i].ravel() / top, world.judge[i].ravel() / top
            strata = (world.judge[i].ravel() if by_label else np.zeros(len(h))).astype(np.intp)
            drawn = draw_pairs(strata, n, rng)
            chosen = drawn[ranks[drawn] < DEPTH]
            units = Units(
                weight[inside], f[inside], strata[inside], place[chosen], h[chosen], (0.0, 1.0)
            )
            estimate = estimate_total(units)
            people = None if by_label else people_alone(units)
            tally.add(estimate, float(weight[inside] @ h[inside]), people)
            if start == i == 0 and not by_label:
                check_pairs(World(world.human[i], world.judge[i]), drawn, kind, estimate)
    return tally


def draw_pairs(strata: NDArray[np.intp], n: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """A simple random sample, or in proportion from each stratum with at least two of each."""
    labels, counts = np.unique(strata, return_counts=True)
    chosen = []
    for label, count in zip(labels, counts, strict=True):
        size = min(count, max(2, round(n * count / len(strata))))
        chosen.append(rng.choice(np.flatnonzero(strata == label), size, replace=False))
    return np.concatenate(chosen)


def check_pairs(world: World, drawn: NDArray[np.intp], kind: str, expected: Estimate) -> None:
    """The same through the whole of `calibrate`."""
    human, judge, run = tables(world)
    chosen: dict[str, dict[str, float]] = {}
    for i in drawn:
        query, doc = f"q{i // DOCUMENTS}", f"d{i % DOCUMENTS}"
        chosen.setdefault(query, {})[doc] = human[query][doc]
    measure = "DCG@10" if kind == "graded" else "P@10"
    scale = (0, 4) if kind == "graded" else (0, 1)
    (own,) = gg.calibrate(
        chosen, judge, {"run": run}, measure, design="pairs", resamples=2, scale=scale,
        threshold=1,
    ).corrected  # fmt: skip
    assert np.allclose([own.corrected, own.low, own.high], expected[:3], equal_nan=True)


def step_cell(kind: str, judge: str, n: int, runs: int, rng: np.random.Generator) -> Tally:
    """Pairs drawn one by one, with scores learned from the labels of every 25 draws before."""
    tally = Tally()
    ranks = np.tile(np.arange(DOCUMENTS), QUERIES // 4)
    size = len(ranks)
    discount = np.concatenate([DISCOUNT, np.zeros(DOCUMENTS - DEPTH)])[ranks]
    weight = discount if kind == "graded" else (ranks < DEPTH) / DEPTH
    top = 4.0 if kind == "graded" else 1.0
    for start in range(0, runs, CHUNK):
        world = draw(kind, judge, min(CHUNK, runs - start), "pairs", rng)
        for i in range(len(world.human)):
            h, f = (side[i].ravel()[:size] / top for side in world)
            left = np.ones(size, dtype=bool)
            chosen: list[int] = []
            probabilities: list[float] = []
            spread = np.full(size, 0.35)
            for step in range(n):
                if step % 25 == 0:
                    spread = learned(h, f, chosen)
                score = weight * spread * left
                p = 0.1 * left / left.sum() + 0.9 * score / score.sum()
                unit = int(min(np.searchsorted(np.cumsum(p), rng.random()), size - 1))
                chosen.append(unit)
                probabilities.append(float(p[unit]))
                left[unit] = False
            places = np.array(chosen)
            steps = Steps(weight, f, places, h[places], np.array(probabilities))
            tally.add(estimate_from_steps(steps), float(weight @ h))
    return tally


def shape(kind: str, judge: str, runs: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Values of people and of the judge, replication x query, that are skewed in other ways than nDCG."""
    size = (runs, QUERIES)
    uniform = rng.random(size)
    if kind == "nearly always 1":
        y = np.where(uniform < 0.85, 1.0, rng.beta(2, 2, size))
    elif kind == "mostly 0":
        y = np.where(uniform < 0.85, 0.0, rng.integers(1, 5, size) / 4)
    elif kind == "reciprocal rank":
        y = 1.0 / rng.geometric(0.45, size)
    else:
        y = rng.beta(2, 2, size)
    f = np.clip(y + rng.normal(0, 0.15, size), 0, 1) if judge == "good" else rng.beta(5, 2, size)
    return y, f


def shape_cell(kind: str, judge: str, n: int, runs: int, rng: np.random.Generator) -> Tally:
    """Whole queries with values of such a shape."""
    tally = Tally()
    strata, weights = np.zeros(QUERIES, dtype=np.intp), np.full(QUERIES, 1 / QUERIES)
    for start in range(0, runs, CHUNK):
        y, f = shape(kind, judge, min(CHUNK, runs - start), rng)
        for i in range(len(y)):
            sampled = rng.choice(QUERIES, n, replace=False)
            units = Units(weights, f[i], strata, sampled, y[i, sampled], (0.0, 1.0))
            tally.add(estimate_total(units), y[i].mean(), people_alone(units))
    return tally


def learned(h: Floats, f: Floats, chosen: list[int]) -> Floats:
    """The spread of people's labels around each label of the judge, as `next_pairs` learns it."""
    spread = np.full(len(f), 0.35)
    places = np.array(chosen, dtype=int)
    for label in np.unique(f[places]):
        errors = (h - f)[places][f[places] == label]
        spread[f == label] = math.sqrt((errors @ errors + 4 * 0.35**2) / (len(errors) + 4))
    return spread


def table(name: str, counts: tuple[int, ...], runs: int, head: str) -> tuple[str, list[str]]:
    """All cells of one design as Markdown, and those outside of the limits."""
    rng = np.random.default_rng(2026)
    lines = [
        f"| labels | judge | {head} | intervals given | they cover | length |",
        "| --- " * 6 + "|",
    ]
    outside = []
    for kind in SHAPES if name == "label-shapes" else KINDS:
        for judge in ("good", "blind") if name == "label-shapes" else JUDGES:
            for n in counts:
                if name == "label-shapes":
                    tally = shape_cell(kind, judge, n, runs, rng)
                elif name == "label-queries":
                    tally = query_cell(kind, judge, n, runs, rng)
                elif name == "label-steps":
                    tally = step_cell(kind, judge, n, runs, rng)
                else:
                    tally = pair_cell(kind, judge, n, runs, name == "label-strata", rng)
                lines.append("| " + " | ".join([kind, judge, str(n), *tally.cells()]) + " |")
                print(lines[-1], flush=True)
                if why := tally.outside():
                    outside.append(f"{name}, {kind}, {judge} judge, {n}: {why}")
    return "\n".join(lines), outside


def main() -> int:
    """Simulate, and check or write."""
    parser = argparse.ArgumentParser(description="coverage of corrected means, by simulation")
    parser.add_argument("--check", action="store_true", help="do not write the page")
    parser.add_argument("--runs", type=int, default=3000, help="replications of each cell")
    parser.add_argument("--only", metavar="NAME", help="one table, such as label-steps")
    args = parser.parse_args()
    tables_by_name, outside = {}, []
    for name, counts, head in (
        ("label-queries", JUDGED_QUERIES, "queries"),
        ("label-pairs", JUDGED_PAIRS, "pairs"),
        ("label-strata", JUDGED_PAIRS[1:], "pairs"),
        ("label-steps", STEPS, "pairs"),
        ("label-shapes", SHAPE_QUERIES, "queries"),
    ):
        if args.only not in (None, name):
            continue
        print(name)
        text, own = table(name, counts, args.runs, head)
        outside += own
        tables_by_name[name] = text
    if not args.check:
        page = PAGE.read_text(encoding="utf-8")
        for name, text in tables_by_name.items():
            place = re.compile(rf"(<!-- rates: {name} -->\n).*?(<!-- end -->)", re.DOTALL)
            page = place.sub(lambda m, t=text: f"{m[1]}{t}\n{m[2]}", page)  # type: ignore[misc]
        PAGE.write_text(page, encoding="utf-8")
    print("\n".join(["outside the limits:", *outside] if outside else ["all within the limits"]))
    return 1 if outside else 0


if __name__ == "__main__":
    sys.exit(main())
