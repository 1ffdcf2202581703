"""An independent Good Gain: conversations drawn at random, and their measures by plain set arithmetic.

It shares no code with goodgain. A result is its name; each name of a conversation has one true gain, of which
labels tell a part.
"""

from __future__ import annotations

import math
import random  # noqa: TC003
from dataclasses import dataclass, field

NAN = math.nan


@dataclass
class DrawnSearch:
    names: list[str]
    labelled: list[bool]
    query: str = "q"
    failed: bool = False
    unread: bool = False
    usage: dict[str, float | None] = field(default_factory=dict)  # tokens, cost, seconds


@dataclass
class DrawnStep:
    searches: list[DrawnSearch]
    usage: dict[str, float | None] = field(default_factory=dict)


@dataclass
class DrawnRun:
    conversation: str
    system: str
    repeat: str | None
    steps: list[DrawnStep]
    turn_usage: dict[str, float | None] = field(default_factory=dict)

    def to_trace(self, gains: dict[str, float]) -> dict:
        def shown(usage: dict, seconds: str = "seconds") -> dict:
            named = {seconds if k == "seconds" else k: v for k, v in usage.items()}
            return {k: v for k, v in named.items() if v is not None}

        def search(s: DrawnSearch) -> dict:
            results = [
                {"id": n, "gain": gains[n]} if known else {"id": n}
                for n, known in zip(s.names, s.labelled, strict=True)
            ]
            account = (
                {"error": "timed out"} if s.failed else {"unread": "kept back"} if s.unread else {}
            )
            return {"query": s.query, "results": results, **account, **shown(s.usage, "latency")}

        iterations = [
            {"searches": [search(s) for s in step.searches], **shown(step.usage)}
            for step in self.steps
        ]
        trace = {
            "conversation": self.conversation,
            "system": self.system,
            "turns": [{"user": "?", "iterations": iterations, **shown(self.turn_usage)}],
        }
        return trace if self.repeat is None else {**trace, "repeat": self.repeat}


@dataclass
class Drawn:
    """The runs of one conversation, its true gains, and the labels outside the traces."""

    gains: dict[str, float]
    runs: list[DrawnRun]
    outside: dict[str, float]

    def known(self) -> set[str]:
        """The names whose gain some label tells."""
        told = {
            name
            for run in self.runs
            for step in run.steps
            for s in step.searches
            for name, labelled in zip(s.names, s.labelled, strict=True)
            if labelled
        }
        return told | set(self.outside)

    def returned(self) -> set[str]:
        return {
            n for run in self.runs for step in run.steps for s in step.searches for n in s.names
        }


def draw_usage(chance: random.Random, level: float) -> dict[str, float | None]:
    return {
        kind: chance.choice([0, 1, 2.5, 40]) if chance.random() < level else None
        for kind in ("tokens", "cost", "seconds")
    }


def draw(
    chance: random.Random, number: int, unread: float = 0.15, labelled: float | None = None
) -> Drawn:
    gains = {name: float(chance.choice([0, 1, 2, 3, 4])) for name in "abcdefghij"}
    names = list(gains)[: chance.randrange(1, 11)]
    labelled = chance.choice([0.0, 0.6, 1.0]) if labelled is None else labelled
    level_of_steps, level_of_searches = chance.choice(
        [(0, 0), (0, 1), (1, 0), (1, 1), (0.7, 0.9), (0, 0.7)]
    )
    runs = []
    for system in ("x", "y", "z")[: chance.randrange(1, 4)]:
        for repeat in range(chance.choice([1, 1, 1, 2, 3])):
            steps = []
            for _ in range(chance.randrange(5)):
                searches = []
                for _ in range(chance.choice([0, 1, 1, 1, 2])):
                    kind = chance.random()
                    failed = kind < 0.1
                    listed = [] if failed else chance.choices(names, k=chance.randrange(4))
                    searches.append(
                        DrawnSearch(
                            names=listed,
                            labelled=[chance.random() < labelled for _ in listed],
                            query=chance.choice(["q", "Q ", "r", "s"]),
                            failed=failed,
                            unread=not failed and chance.random() < unread,
                            usage=draw_usage(chance, level_of_searches),
                        )
                    )
                steps.append(DrawnStep(searches, draw_usage(chance, level_of_steps)))
            stated = chance.choice([None, f"r{repeat}"])
            runs.append(DrawnRun(f"c{number}", system, stated, steps, draw_usage(chance, 0.3)))
    outside = {n: gains[n] for n in gains if chance.random() < 0.4} if chance.random() < 0.5 else {}
    return Drawn(gains, runs, outside)


def expected(
    drawn: Drawn, run: DrawnRun, threshold: float, complete: bool
) -> tuple[list[dict[str, float]], list[dict[str, tuple[float, float]]]]:
    """The values of each iteration (one row of iteration 0 if there is none), and bounds of some of them."""
    known = drawn.known()
    gain = drawn.gains
    pool = {n for n in known & (drawn.returned() | set(drawn.outside)) if gain[n] >= threshold}
    pool_gain = sum(gain[n] for n in pool)

    def is_good(name: str) -> bool:
        return name in known and gain[name] >= threshold

    iterations = [s.searches for s in run.steps if s.searches]
    spent = {kind: cumulative(run, kind) for kind in ("tokens", "cost", "seconds")}
    rows, bounds = [], []
    seen: set[str] = set()
    per_iteration: list[dict[str, float]] = []
    queries: set[str] = set()
    totals = dict.fromkeys(("searches", "failed", "empty", "unread", "wasted", "repeated"), 0)
    first_unread = next(
        (i for i, it in enumerate(iterations, 1) if any(s.unread for s in it)), None
    )
    last_unread = max(
        (i for i, it in enumerate(iterations, 1) if any(s.unread for s in it)), default=0
    )
    for i, searches in enumerate(iterations, 1):
        here = {"R": 0, "UR": 0, "GR": 0, "G": 0.0}
        for s in searches:
            fruitful = False
            for name in s.names:
                here["R"] += 1
                if name in seen:
                    continue
                seen.add(name)
                here["UR"] += 1
                if is_good(name):
                    here["GR"] += 1
                    here["G"] += gain[name]
                    fruitful = True
            totals["searches"] += 1
            totals["failed"] += s.failed
            totals["unread"] += s.unread
            totals["empty"] += not s.names and not s.failed and not s.unread
            totals["wasted"] += not fruitful
            query = " ".join(s.query.split()).lower()
            totals["repeated"] += query in queries
            queries.add(query)
        per_iteration.append(here)
        so_far = per_iteration
        r, ur, gr = (sum(p[k] for p in so_far) for k in ("R", "UR", "GR"))
        cg = sum(p["G"] for p in so_far)
        w = [1 / math.log2(k + 2) for k in range(i)]
        average = [p["G"] / p["R"] if p["R"] else 0 for p in so_far]
        row = {
            "R": here["R"], "UR": here["UR"], "GR": here["GR"], "Dup": here["R"] - here["UR"], "G": here["G"],
            "AvgGain": average[-1], "MarginalGain": here["G"] / len(searches),
            "R@i": r, "UR@i": ur, "GR@i": gr, "DupR@i": r - ur, "CG": cg, "RG": cg / i,
            "DCG": sum(x * p["G"] for x, p in zip(w, so_far, strict=True)),
            "RAG": sum(average) / i, "DRAG": sum(x * a for x, a in zip(w, average, strict=True)) / i,
            "SRE": gr / r if r else 0, "SRR": (r - ur) / r if r else 0,
            "nCG": cg / pool_gain if pool else NAN, "EvidenceRecall": gr / len(pool) if pool else NAN,
            "Searches": totals["searches"], "FailedSearches": totals["failed"],
            "EmptySearches": totals["empty"], "UnreadSearches": totals["unread"],
            "WastedSearches": totals["wasted"], "RepeatedQueries": totals["repeated"],
            "Tokens": spent["tokens"][i - 1], "Cost": spent["cost"][i - 1],
            "Seconds": spent["seconds"][i - 1],
        }  # fmt: skip
        row["DRG"] = row["DCG"] / i
        row["nDCG"] = row["DCG"] / pool_gain if pool else NAN
        row["GainPer1kTokens"] = 1000 * cg / row["Tokens"] if row["Tokens"] > 0 else NAN
        row["GainPerCost"] = cg / row["Cost"] if row["Cost"] > 0 else NAN
        row["GainPerSecond"] = cg / row["Seconds"] if row["Seconds"] > 0 else NAN
        if complete:
            row["Coverage"] = 1.0 if ur else NAN
        else:
            row["Coverage"] = len(seen & known) / ur if ur else NAN
        limits = {}
        if first_unread is not None:
            here_unread = any(s.unread for s in searches)
            if i >= first_unread:
                for m in (
                    "UR", "Dup", "AvgGain", "R@i", "UR@i", "DupR@i", "RAG", "DRAG", "SRE", "SRR", "Coverage",
                ):  # fmt: skip
                    row[m] = NAN
                row["R"] = NAN if here_unread else row["R"]
                limits["CG"] = (cg, pool_gain if complete else math.inf)
                limits["GR@i"] = (gr, len(pool) if complete else math.inf)
                if pool and i >= last_unread:
                    limits["EvidenceRecall"] = (None, 1.0)
                if pool and complete:
                    limits["EvidenceRecall"] = (gr / len(pool), 1.0)
        bounds.append(limits)
        rows.append(row)
    if not iterations:
        labelled_anywhere = bool(known & drawn.returned())
        evidence = complete or bool(drawn.outside) or labelled_anywhere
        zero = 0.0 if evidence else NAN
        share = 0.0 if pool else NAN
        rows.append(
            {
                **dict.fromkeys(
                    ("R", "UR", "Dup", "R@i", "UR@i", "DupR@i", "Searches", "FailedSearches"), 0
                ),
                **dict.fromkeys(
                    ("EmptySearches", "UnreadSearches", "WastedSearches", "RepeatedQueries"), 0
                ),
                **dict.fromkeys(
                    ("GR", "G", "CG", "RG", "DCG", "DRG", "GR@i", "RAG", "DRAG", "SRE"), zero
                ),
                **dict.fromkeys(("AvgGain", "MarginalGain"), zero),
                **dict.fromkeys(("nCG", "nDCG", "EvidenceRecall", "nsDCG", "AreaSearches"), share),
                **dict.fromkeys(
                    ("SRR", "Coverage", "Tokens", "Cost", "Seconds", "GainPerCost"), NAN
                ),
                "IterationsForAllGoodResults": NAN,
            }
        )
        bounds.append({})
    for row in rows:
        for kind in ("tokens", "cost", "seconds"):
            row[f"Total{kind.capitalize()}"] = whole(run, kind)
    return rows, bounds


def cumulative(run: DrawnRun, kind: str) -> list[float]:
    """What was spent by the end of each iteration, from first principles."""
    steps_tell = any(step.usage.get(kind) is not None for step in run.steps)
    listed, spent = [], 0.0
    for step in run.steps:
        amounts = [step.usage.get(kind)] if steps_tell else []
        for s in step.searches:
            own = s.usage.get(kind)
            amounts.append(0.0 if own is None and steps_tell and kind != "seconds" else own)
        spent = NAN if any(a is None for a in amounts) else spent + sum(amounts)
        if step.searches:
            listed.append(spent)
    return listed


def whole(run: DrawnRun, kind: str) -> float:
    stated = run.turn_usage.get(kind)
    if stated is not None:
        return stated
    if not any(step.usage.get(kind) is not None for step in run.steps):
        return NAN
    spent = 0.0
    for step in run.steps:
        amounts = [step.usage.get(kind)]
        for s in step.searches:
            own = s.usage.get(kind)
            amounts.append(0.0 if own is None and kind != "seconds" else own)
        spent = NAN if any(a is None for a in amounts) else spent + sum(amounts)
    return spent
