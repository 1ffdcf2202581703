"""Measures of agents and answers in small conversations in which one thing varies."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reaction import Reaction

import goodgain as gg
from goodgain.labels.nuggets import assign_nuggets, import_nuggets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from goodgain.measures import Definition


def search(*results: str, query: str = "", error: str = "", unread: str = "") -> dict[str, Any]:
    """One search; a result is a name and its gain, such as `a3`, or `a?` without one."""
    rows = [{"id": r[:-1], **({} if r[-1] == "?" else {"gain": int(r[-1])})} for r in results]
    row = {
        "query": query or " ".join(results),
        "latency": 0.5,
        "tokens": 400,
        "cost": 0.002,
        "results": rows,
    }
    row |= {"error": error} if error else {}
    return row | ({"unread": unread} if unread else {})


def trace(*steps: list[dict[str, Any]], **turn: Any) -> dict[str, Any]:
    """A conversation of one turn; each iteration takes a second and 600 tokens of its own."""
    opens = turn.pop("opens", [])
    iterations = [
        {"searches": step, "seconds": 1.0, "tokens": 600, "cost": 0.003} for step in steps
    ]
    iterations[-1]["opens"] = [{"id": name} for name in opens]
    return {
        "conversation": turn.pop("name", "c1"),
        "turns": [{"user": "?", "iterations": iterations, **turn}],
    }


# Two agents and the same evidence: one goes on to what it lacks, one repeats itself.
FOCUSED = trace(
    [search("a4", "x0")], [search("b3", "y1")], [search("c2", "a4")], [search("z0")], [search("b3")]
)
REPETITIVE = trace(
    [search("a4", "x0", query="q")],
    [search("a4", "x0", query="q")],
    [search(query="r")],
    [search("b3", "a4"), search(query="s", error="time-out")],
    [search("x0"), search("y1")],
)
LABELS = {"c1": {"a": 4, "b": 3, "c": 2, "x": 0, "y": 1, "z": 0}}
AGENTS = (
    "Two agents look for three good results, *a* of gain 4, *b* of 3 and *c* of 2, in five "
    "iterations. The focused one returns "
    "*a*, *b* and *c* one after another; the repetitive one returns *a*, repeats its query, "
    "finds nothing, then returns *b*, and one of its searches fails."
)


# What these count would leave the other figures undefined, so they have a conversation of their own.
OWN = {
    "UnreadSearches@i": (
        "The results of the second of three searches were not recorded.",
        trace([search("a4")], [search(unread="not recorded")], [search("b3")]),
    ),
    "Coverage@i": (
        "Of the results of the second and third iteration, one each has no label.",
        trace([search("a4", "x0")], [search("b3", "u?")], [search("v?")], [search("y1", "z0")]),
    ),
}


def of_iterations(d: Definition) -> Reaction:
    """A measure through the iterations of two agents."""
    if d.name in OWN:
        text, conversation = OWN[d.name]
        return Reaction("iteration", text, {"agent": by_iteration(d, conversation, None)})
    agents = {"focused": FOCUSED, "repetitive": REPETITIVE}
    lines = {name: by_iteration(d, agent, LABELS) for name, agent in agents.items()}
    return Reaction("iteration", AGENTS, lines)


def by_iteration(
    d: Definition, conversation: dict[str, Any], known: Any
) -> list[tuple[float, float]]:
    """(iteration, value) of a conversation where the measure is defined."""
    result = gg.good_gain([conversation], labels=known)
    count = len(conversation["turns"][0]["iterations"])
    points = [(float(i), result.figure(d.name, iteration=i).value) for i in range(1, count + 1)]
    return [(x, value) for x, value in points if value == value]


def good_at(iteration: int) -> dict[str, Any]:
    """Six iterations; a good result comes in the first, the other one in the iteration named."""
    steps = [[search("a4", "x0")], *([search(f"{c}0")] for c in "uvwyz")]
    steps[iteration - 1].append(search("b3"))
    return trace(*steps)


CITABLE = ("a", "b", "c", "d")
EVIDENCE = {"c1": {"a": 4, "b": 3, "c": 2, "d": 2, "x": 0, "y": 0, "z": 0, "w": 0}}
RETURNED = [search("a4", "b3", "x0", "y0", "z0", "w0")], [search("c2")]


def opened(count: int) -> dict[str, Any]:
    """Three of four good results are returned; so many are opened."""
    return trace(*RETURNED, opens=CITABLE[:count], answer="So it is.")


def cited(count: int) -> dict[str, Any]:
    """Three of four good results are returned; so many are cited."""
    return trace(*RETURNED, answer="So.", citations=[{"id": c} for c in CITABLE[:count]])


def cited_bad(count: int) -> dict[str, Any]:
    """Two good results are cited, and so many others."""
    return trace(
        *RETURNED, answer="So.", citations=[{"id": c} for c in ("a", "b", *"xyzw"[:count])]
    )


def cited_unseen(count: int) -> dict[str, Any]:
    """One good result is cited, and so many documents that no search returned."""
    return trace(*RETURNED, answer="So.", citations=[{"id": c} for c in ("a", *"mnop"[:count])])


def answered(confidence: float) -> list[dict[str, Any]]:
    """Five conversations, three of them answered rightly, all with this confidence."""
    return [
        trace(
            [search("a4")],
            name=f"c{i}",
            answer="Paris" if i < 3 else "Lyon",
            confidence=confidence / 100,
        )
        for i in range(5)
    ]


def right(count: int) -> list[dict[str, Any]]:
    """Five conversations, so many of them answered rightly."""
    return [
        trace([search("a4")], name=f"c{i}", answer="Paris" if i < count else "Lyon")
        for i in range(5)
    ]


def iterations(count: int) -> dict[str, Any]:
    """So many iterations of one search."""
    return trace(*([search("a4")] for _ in range(count)))


_LATE = (
    "iteration of the second good result",
    "Six iterations; one good result is returned in the first, the other one later.",
    range(1, 7),
    good_at,
)
_LENGTH = (
    "iterations",
    "Every iteration has one search, and takes 600 tokens, 1 second and 0.003 of its own.",
    range(1, 7),
    iterations,
)
_CITED = (
    "good results cited",
    "There are four good results, of which the searches return three.",
    range(5),
    cited,
)
_SURE = (
    "stated confidence, percent",
    "Five answers, three of them right, all with the same confidence.",
    range(0, 101, 10),
    answered,
)
CONVERSATIONS: dict[str, tuple[str, str, Iterable[float], Callable[[Any], Any]]] = {
    **dict.fromkeys(
        (
            "IterationsForAllGoodResults",
            "AreaSearches",
            "AreaSeconds",
            "AreaTokens",
            "DryIterations",
        ),
        _LATE,
    ),
    **dict.fromkeys(("TotalTokens", "TotalCost", "TotalSeconds"), _LENGTH),
    "OpenedRecall": ("good results opened", _CITED[1], range(4), opened),
    **dict.fromkeys(("CitedRecall", "CitedOfReturned"), _CITED),
    "CitationPrecision": (
        "other results cited",
        "Two good results are cited, and some that are not good.",
        range(5),
        cited_bad,
    ),
    "UnsupportedCitations": (
        "documents cited that were never returned",
        "One good result is cited, and documents that no search returned.",
        range(5),
        cited_unseen,
    ),
    "Answer": (
        "right answers of five",
        "Five conversations with the gold answer Paris.",
        range(6),
        right,
    ),
    **dict.fromkeys(("Confidence", "CalibrationError"), _SURE),
}


def of_conversations(d: Definition) -> Reaction:
    """A measure of whole conversations."""
    axis, text, values, make = CONVERSATIONS[d.name]
    points = []
    for x in values:
        traces = make(x)
        traces = traces if isinstance(traces, list) else [traces]
        late = make is good_at
        evidence = {"c1": {"a": 4, "b": 3, **({"c": 2} if d.name == "DryIterations" else {})}}
        known = evidence if late else EVIDENCE if make in CITING else None
        gold = {f"c{i}": "Paris" for i in range(5)} if make in (right, answered) else None
        value = gg.good_gain(traces, labels=known, answers=gold)[d.name]
        if value == value:
            points.append((x, value))
    return Reaction(axis, text, {d.name: points})


CITING = (opened, cited, cited_bad, cited_unseen)


# --- answers ---

FACTS = ("one", "two", "three", "four", "five")


def of_answers(d: Definition) -> Reaction:
    """A measure of nuggets: three vital ones and two okay ones, of which an answer supports more and more."""
    points = []
    with tempfile.TemporaryDirectory() as folder:
        store = gg.Store(Path(folder, "nuggets.db"))
        rows = [{"query": "q1", "text": fact, "vital": n < 3} for n, fact in enumerate(FACTS)]
        import_nuggets(store, rows, source="people")
        for count in range(len(FACTS) + 1):
            answers = [
                {"system": "agent", "query_id": "q1", "question": "?", "answer": f"{count} facts"}
            ]
            scores = assign_nuggets(
                answers, lambda r, n=count: _support(r.document, n), store, name=f"first {count}"
            )
            points.append((count, scores.mean("agent", d.name)))
        store.close()
    text = (
        "Five nuggets, the first three vital. The answer supports the first so many of them, and the "
        "next one partly."
    )
    return Reaction("nuggets supported", text, {d.name: points})


def _support(fact: str, count: int) -> int:
    """Support (2), partial support (1) or none (0) of a fact."""
    number = FACTS.index(fact)
    return 2 if number < count else 1 if number == count else 0
