"""One result of every kind, from small random data; names may be any text."""

from __future__ import annotations

import random
from typing import Any

import goodgain as gg
from goodgain.experiment import Experiment, ExperimentResult
from goodgain.labels import Labels, Pair, Store, label
from goodgain.ranking.explain import explain

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</script>'];datum.x//${x}{{y}}",
    "‮txt.exe\x00\x1b[31m",
)
NAMES = ("keyword", "dense", "hybrid")


def collection(queries: int = 60, seed: int = 7) -> tuple[dict[str, Any], dict[str, Any]]:
    """Judgments of 30 documents a query, and runs of three systems, each better than the one before."""
    chance = random.Random(seed)
    qrels, runs = {}, {name: {} for name in NAMES}
    for q in range(queries):
        gains = {f"d{d}": chance.choice((0, 0, 0, 1, 2, 3)) for d in range(30)}
        gains["d0"] = max(gains["d0"], 1)
        qrels[f"q{q}"] = gains
        for strength, name in enumerate(NAMES):
            runs[name][f"q{q}"] = {
                doc: strength * gain + chance.gauss(0, 2) for doc, gain in gains.items()
            }
    return qrels, runs


def evaluation(names: tuple[str, ...] = NAMES, queries: int = 60, **options: Any) -> gg.Evaluation:
    qrels, runs = collection(queries)
    chance = random.Random(1)
    named_runs = [
        gg.Run(run, name=name, latency={q: chance.uniform(0.01, 0.02) * i for q in run})
        for i, (name, run) in enumerate(zip(names, runs.values(), strict=False), 1)
    ]
    return gg.evaluate(qrels, named_runs, "nDCG@10 AP RR Latency", **options)


def comparison(names: tuple[str, ...] = NAMES, queries: int = 60, **options: Any) -> gg.Comparison:
    groups = {f"q{q}": ("short", "long", "odd")[q % 3] for q in range(queries)}
    return gg.compare(evaluation(names, queries), **{"by": groups, **options})


def trace(system: str, number: int, labelled: float = 1.0) -> dict[str, Any]:
    """A conversation of a few iterations; later ones repeat results and bring less."""
    chance = random.Random(f"{system}{number}")
    iterations = []
    for i in range(chance.randint(1, 5)):
        searches = []
        for s in range(chance.randint(1, 2)):
            results = []
            for r in range(4):
                page = chance.randrange(4 + 6 * i + r + 1)
                result: dict[str, Any] = {
                    "id": f"{i}-{s}-{r}",
                    "url": f"https://example.org/{number}/{page}",
                    "title": f"Page {page} of conversation {number}",
                    "snippet": f"What page {page} says about the question, at a length that identifies it.",
                }
                if random.Random(f"{number}/{page}").random() < labelled:
                    result["gain"] = random.Random(f"g{number}/{page}").randint(0, 4)
                results.append(result)
            searches.append(
                {"query": f"question {number} {i}", "tool": "web", "results": results,
                 "latency": chance.uniform(0.1, 2), "tokens": chance.randint(100, 900)}
            )  # fmt: skip
        iterations.append({"searches": searches})
    return {
        "conversation": f"c{number}",
        "system": system,
        "turns": [{"user": f"What about {number}?", "iterations": iterations}],
    }


def good_gain(
    names: tuple[str, ...] = ("agent-a", "agent-b"), labelled: float = 1.0, count: int = 12
) -> gg.GoodGain:
    return gg.good_gain([trace(name, n, labelled) for name in names for n in range(count)])


def answered_traces(
    names: tuple[str, ...] = ("agent-a", "agent-b"), count: int = 20
) -> tuple[list[dict[str, Any]], dict[str, Any], dict[str, str]]:
    """Conversations with opens, citations, answers and confidence; the labels, and the right answers."""
    traces, labels, answers = [], {}, {}
    for n in range(count):
        labels[f"c{n}"] = {f"d{i}": 3 for i in range(3)} | {f"x{i}": 0 for i in range(6)}
        answers[f"c{n}"] = "Paris"
        for name in names:
            chance = random.Random(f"{name}{n}")
            iterations, seen = [], []
            for i in range(chance.randint(1, 4)):
                ids = chance.sample([*labels[f"c{n}"]], 3)
                seen += ids
                results = [{"id": doc, "title": f"Document {doc}"} for doc in ids]
                search = {"query": f"query {i}", "tokens": 100, "latency": 0.4, "results": results}
                opens = [{"id": doc} for doc in ids if chance.random() < 0.5]
                iterations.append({"searches": [search], "opens": opens})
            is_right = chance.random() < 0.3 + 0.5 * any(doc[0] == "d" for doc in seen)
            turn = {
                "user": "Which city?", "answer": "Paris" if is_right else "Rome", "iterations": iterations,
                "citations": [{"id": doc} for doc in dict.fromkeys(seen) if chance.random() < 0.4],
                "confidence": round(chance.uniform(0.4, 1), 2),
            }  # fmt: skip
            traces.append({"conversation": f"c{n}", "system": name, "turns": [turn]})
    return traces, labels, answers


def answered(names: tuple[str, ...] = ("agent-a", "agent-b"), count: int = 20) -> gg.GoodGain:
    traces, labels, answers = answered_traces(names, count)
    return gg.good_gain(traces, labels=labels, answers=answers)


def calibration() -> gg.Calibration:
    qrels, runs = collection(40)
    chance = random.Random(3)
    judged = {
        q: {d: min(3, max(0, g + chance.choice((0, 0, 0, 1, -1)))) for d, g in docs.items()}
        for q, docs in qrels.items()
    }
    human = {q: docs for q, docs in qrels.items() if q not in ("q0", "q1")}
    named_runs = [gg.Run(run, name=name) for name, run in runs.items()]
    return gg.calibrate(human, judged, named_runs, resamples=50, design="queries")


def labels(path: Any) -> Labels:
    pairs = [Pair(f"q{i % 3}", f"d{i}", f"question {i % 3}", f"text {i}") for i in range(30)]

    def judge(request: Any) -> Any:
        return sum(map(ord, request.document)) % 5

    return label(pairs, judge, store=Store(path))


def experiment(folder: Any = None) -> ExperimentResult:
    corpus = {f"d{i}": f"text number {i} {'odd' if i % 2 else 'even'}" for i in range(20)}
    queries = {f"q{i}": f"number {i}" for i in range(12)}
    qrels = {f"q{i}": {f"d{i}": 2, f"d{i + 1}": 1} for i in range(12)}

    def near(query: str) -> list[tuple[str, float]]:
        target = int(query.split()[-1])
        return [(f"d{i}", 1 / (1 + abs(i - target))) for i in range(20)]

    def far(query: str) -> list[tuple[str, float]]:
        return [(doc, 1 / score) for doc, score in near(query)][:10] + [("d3", 9.0)][:0]

    planned = Experiment(corpus, queries, qrels, {"near": near, "far": far}, baseline="far")
    return planned.run(folder, progress=False)


def every_result(folder: Any) -> dict[str, Any]:
    """One of each kind, by its name."""
    evaluated = evaluation()
    qrels, runs = collection(20)
    return {
        "Evaluation": evaluated,
        "Comparison": comparison(),
        "GoodGain": answered(),
        "Stopping": gg.stopping(good_gain(count=20)),
        "ExperimentResult": experiment(),
        "Calibration": calibration(),
        "Labels": labels(folder / "labels.db"),
        "GSB": gg.gsb_counts(12, 5, 4),
        "Gate": gg.gate(evaluated, baseline="keyword", candidate="hybrid", measures="nDCG@10"),
        "Tuned": gg.tune(runs, qrels=qrels),
        "Explanation": explain(qrels, runs["dense"], "nDCG@10", "q0"),
        "Difference": explain(qrels, runs["dense"], "nDCG@10", against="beir"),
    }


def walk(value, path=()):
    """Every key and value of a specification."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield (*path, key), inner
            yield from walk(inner, (*path, key))
    elif isinstance(value, list):
        for inner in value:
            yield from walk(inner, (*path, "[]"))
