"""Measures of rankings in small collections in which one thing varies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reaction import Lines, Reaction

import goodgain as gg

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from goodgain.measures import Definition

Collection = tuple[Any, Any, dict[str, Any]]  # judgments, run, options of evaluate

GRADES = {"a": 3, "b": 2, "c": 1, "e": 1, **{f"n{i}": 0 for i in range(1, 8)}}
OTHERS = ["n1", "n2", "n3", "n4", "n5", "b", "n6", "c", "n7"]
ASPECTS = 5


def best_at(rank: int) -> Collection:
    """Ten judged documents; the best one stands at a rank, the others keep their order."""
    ranking = [*OTHERS[: rank - 1], "a", *OTHERS[rank - 1 :]]
    return {"q1": GRADES}, {"q1": ranking}, {}


def list_of(length: int) -> Collection:
    """The same list with the best document third, cut at a length."""
    _, run, options = best_at(3)
    return {"q1": GRADES}, {"q1": run["q1"][:length]}, options


def judged(count: int) -> Collection:
    """Ten documents, of which the first so many are judged."""
    run = best_at(1)[1]["q1"]
    grades = {doc: GRADES[doc] for doc in run[:count]} | {"e": 1}
    return {"q1": grades}, {"q1": run}, {}


def relevant(count: int) -> Collection:
    """So many judged relevant documents."""
    return {"q1": {f"r{i}": 1 for i in range(count)} | {"n": 0}}, {"q1": ["r0", "n"]}, {}


def queries(count: int) -> Collection:
    """So many queries."""
    names = [f"q{i}" for i in range(count)]
    return {q: {"a": 1} for q in names}, {q: ["a"] for q in names}, {}


def distinct(count: int, column: str) -> Collection:
    """Five relevant documents that share so many of five targets or aspects."""
    rows = [
        {"query": "q1", "doc": f"d{i}", "gain": 1, column: f"t{min(i, count)}"}
        for i in range(1, ASPECTS + 1)
    ]
    rows += [
        {"query": "q1", "doc": f"other{i}", "gain": 1, column: f"t{i}"}
        for i in range(1, ASPECTS + 1)
    ]
    return rows, {"q1": [f"d{i}" for i in range(1, ASPECTS + 1)]}, {}


def covered(characters: int) -> Collection:
    """A judged span of 40 characters, and a chunk of 60 that covers so many of them."""
    documents = {"page": "x" * 200}
    spans = [{"query": "q1", "doc": "page", "start": 60, "end": 100, "gain": 1}]
    chunk = {"query": "q1", "doc": "page", "start": characters, "end": 60 + characters}
    far = {"query": "q1", "doc": "page", "start": 140, "end": 180}
    return spans, [chunk, far], {"documents": documents}


def slowest(seconds: float) -> Collection:
    """Twenty queries of 0.1 seconds and 0.1 cents, one of which takes and costs more."""
    names = [f"q{i}" for i in range(20)]
    spent = dict.fromkeys(names, 0.1) | {"q0": seconds}
    run = gg.Run({q: ["a"] for q in names}, name="run", latency=spent, cost=spent)
    return {q: {"a": 1} for q in names}, run, {}


@dataclass(frozen=True)
class Scene:
    """What varies, over which values."""

    axis: str
    text: str
    values: Iterable[float]
    collection: Callable[[Any], Collection]


RANK = Scene(
    "rank of the best document",
    "Ten judged documents of grades 3, 2, 1 and 0, and one of grade 1 that is not retrieved: "
    "the document of grade 3 moves down the list.",
    range(1, 11),
    best_at,
)
LENGTH = Scene(
    "documents retrieved",
    "The list is cut after so many documents; relevant ones stand at ranks 3, 7 and 9.",
    range(1, 11),
    list_of,
)
JUDGED = Scene(
    "judged documents among ten",
    "Ten documents are retrieved, of which the first so many are judged.",
    range(11),
    judged,
)
TARGETS = Scene(
    "distinct targets among five documents",
    "Five relevant documents are retrieved. Each has a target; there are five of these.",
    range(1, 6),
    lambda n: distinct(n, "target"),
)
MET = Scene(
    "distinct aspects among five documents",
    "Five relevant documents are retrieved. Each is about one aspect of the query; there are five of these.",
    range(1, 6),
    lambda n: distinct(n, "aspect"),
)
SPAN = Scene(
    "judged characters in the first chunk",
    "The judged span has 40 characters. The first chunk has 60 and covers some of the span, the "
    "second has 40 and covers none.",
    range(0, 41, 4),
    covered,
)
SPENT = Scene(
    "seconds, or cost, of the slowest of twenty queries",
    "Nineteen queries take 0.1 seconds each, and cost 0.1; one takes and costs more.",
    [0.1, 0.5, 1, 1.5, 2, 2.5, 3],
    slowest,
)
SCENES = {
    **dict.fromkeys(("SetP", "SetR", "SetF", "SetAP", "NumRet", "NumRelRet"), LENGTH),
    **dict.fromkeys(("Judged", "Unjudged", "RBP_resid"), JUDGED),
    **dict.fromkeys(("DR", "Diversity"), TARGETS),
    "NumRel": Scene(
        "relevant documents",
        "The judgments hold so many relevant documents.",
        range(1, 8),
        relevant,
    ),
    "NumQ": Scene("queries", "The run has so many queries.", range(1, 8), queries),
}
FAMILIES = {"distinct": MET, "spans": SPAN, "time and cost": SPENT}
VARIANTS = {
    "p": (0.5,),
    "beta": (2, 0.8),
    "alpha": (0.9,),
    "T": (3,),
    "gain": ("exp", "reference"),
    "ideal": ("retrieved",),
    "stat": ("p50", "p95"),
    "denominator": ("returned",),
    "rounding": ("up",),
    "fp": (0,),
    "negative": ("nonrelevant",),
}


def scene(d: Definition) -> Scene:
    """What varies in the example of a measure of rankings."""
    return SCENES.get(d.name) or FAMILIES.get(d.family, RANK)


def plain_label(d: Definition) -> str:
    """The measure as the examples use it, with a cut-off where it needs one."""
    return d.name + {"required": "@10", "recall": "@0.5"}.get(d.cutoff, "")


def labels(d: Definition) -> list[str]:
    """The measure itself, with a cut-off, and with other parameters: at most three lines."""
    names = [plain_label(d)]
    if d.cutoff in ("optional", "required") and d.family != "distinct":
        names.append(f"{d.name}@{1 if d.family == 'spans' else 5}")
    for p in d.params:
        values = [v for v in VARIANTS.get(p.name, ()) if v != p.default]
        values = [v for v in values if not p.choices or v in p.choices]
        values = [v for v in values if p.choices or p.high is None or v < p.high][:2]
        end = plain_label(d).removeprefix(d.name)
        names += [f"{d.name}({p.name}={value}){end}" for value in values]
    return names[:3]


def of_rankings(d: Definition) -> Reaction:
    """The reaction of a measure of runs."""
    varied, names = scene(d), labels(d)
    lines: Lines = {name: [] for name in names}
    for x in varied.values:
        qrels, run, options = varied.collection(x)
        result = gg.evaluate(qrels, run, " ".join(names), **options)
        for name in names:
            value = result[name]
            if value == value:
                lines[name].append((x, value))
    return Reaction(varied.axis, varied.text, without_repeats(lines))


def without_repeats(lines: Lines) -> Lines:
    """The lines without those that would be drawn over an earlier one."""
    distinct_lines: Lines = {}
    for name, points in lines.items():
        if points not in distinct_lines.values():
            distinct_lines[name] = points
    return distinct_lines
