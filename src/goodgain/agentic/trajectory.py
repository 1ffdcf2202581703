"""Two systems on one conversation, side by side: where they part, and what each then found."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from goodgain.errors import UsageError
from goodgain.results.frames import AsFrames
from goodgain.results.text import LONG_FORMATS, html_table, render, render_data

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from goodgain.agentic.conversations import Conversation, CountedSearch
    from goodgain.agentic.result import GoodGain
    from goodgain.data.trace import Result

_COLUMNS = ["iteration", "system", "queries", "results", "new", "good", "shared", "gain"]
_EVIDENCE = ["evidence", "gain"]
_NEVER = "never"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a result was first returned: iteration, search within it, and rank, all from 1."""

    iteration: int
    search: int
    rank: int

    def __str__(self) -> str:
        return f"{self.iteration}.{self.search} #{self.rank}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One iteration of one system.

    `shared` counts the new results that the other system returned as well, at any time; `gain` is the
    cumulative gain (CG) so far, None where missing labels leave it open.
    """

    queries: tuple[str, ...]
    results: int
    new: int
    good: int
    shared: int
    gain: float | None
    failed: int
    unread: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A good result, and where each of the two systems first returned it."""

    name: str
    gain: float
    places: tuple[Place | None, Place | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Divergence:
    """The first iteration that differs: in its queries, or in what equal queries returned."""

    iteration: int
    kind: str  # "queries", "results" or "end": one of the two stopped
    queries: tuple[tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrajectoryDiff(AsFrames):
    """What `GoodGain.diff` returns."""

    conversation: str
    systems: tuple[str, str]
    answers: tuple[str | None, str | None]
    steps: tuple[tuple[Step, ...], tuple[Step, ...]]
    evidence: tuple[Evidence, ...]
    divergence: Divergence | None
    shared_results: int

    def only(self, system: str) -> list[Evidence]:
        """The evidence that only this system returned."""
        mine = self.systems.index(system)
        return [e for e in self.evidence if e.places[mine] and not e.places[1 - mine]]

    def sentences(self) -> list[str]:
        """Where the two part, and what each found that the other did not."""
        return [_parting(self), _evidence_sentence(self)]

    def rows(self) -> tuple[list[str], list[list[Any]]]:
        """Column names and a row for each iteration of each system."""
        rows = [
            [i, system, "; ".join(s.queries), s.results, s.new, s.good, s.shared, s.gain]
            for i, pair in enumerate(zip_longest(*self.steps), 1)
            for system, s in zip(self.systems, pair, strict=True)
            if s is not None
        ]
        return _COLUMNS, rows

    def render(self, format: str = "table") -> str:  # noqa: A002
        """As text: the sentences, the iterations, the evidence; formats for machines have the iterations."""
        if format == "json":
            import json

            return json.dumps(self.to_dict(), ensure_ascii=False, indent=2) + "\n"
        if format in LONG_FORMATS:
            return render_data(format, *self.rows())
        evidence = [
            [e.name, e.gain, *(str(place) if place else _NEVER for place in e.places)]
            for e in self.evidence
        ]
        tables = [render(format, *self.rows())]
        if evidence:
            tables.append(render(format, [*_EVIDENCE, *self.systems], evidence))
        return "\n".join(["\n".join(self.sentences()) + "\n", *tables])

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)

    def _frame_rows(self) -> tuple[list[str], list[list[Any]]]:
        return self.rows()

    def _repr_html_(self) -> str:
        return html_table(*self.rows(), " ".join(self.sentences()))

    def __str__(self) -> str:
        return self.render().rstrip("\n")

    def __repr__(self) -> str:
        return f"TrajectoryDiff('{self.conversation}', {' vs '.join(self.systems)})"


def compare_trajectories(
    result: GoodGain, conversation: str, systems: Sequence[str] = (), repeat: str | None = None
) -> TrajectoryDiff:
    """The conversation as two systems had it; by default the first two of the result that had it."""
    if result.conversations is None:
        raise UsageError("this result does not include the conversations themselves")
    having = [s.name for s in result.systems if conversation in s.conversations]
    pair = _pair(result, conversation, list(systems), having)
    runs: dict[str, list[Conversation]] = {}
    for run in result.conversations.read({(name, conversation) for name in pair}):
        if repeat is None or run.repeat == repeat:
            runs.setdefault(run.system, []).append(run)
    for name in pair:
        if name not in runs:
            raise UsageError(f"system '{name}' has no repeat '{repeat}' of '{conversation}'")
    return diff_of(result, runs[pair[0]][0], runs[pair[1]][0])


def _pair(
    result: GoodGain, conversation: str, systems: list[str], having: list[str]
) -> tuple[str, str]:
    if not having:
        from difflib import get_close_matches

        names = list({c: None for s in result.systems for c in s.conversations})
        near = get_close_matches(conversation, names, n=1)
        hint = f"did you mean '{near[0]}'?" if near else f"for example '{names[0]}'"
        raise UsageError(f"unknown conversation '{conversation}'", hint=hint)
    for name in systems:
        if name not in result.names:
            raise UsageError(f"unknown system '{name}'", hint=f"systems: {', '.join(result.names)}")
        if name not in having:
            raise UsageError(f"system '{name}' has no conversation '{conversation}'")
    chosen = [*systems, *(name for name in having if name not in systems)][:2]
    if len(chosen) < 2:
        raise UsageError(
            f"only '{having[0]}' has the conversation '{conversation}'",
            hint="a comparison needs the traces of two systems",
        )
    return chosen[0], chosen[1]


def diff_of(result: GoodGain, first: Conversation, second: Conversation) -> TrajectoryDiff:
    """The difference of two runs over the same conversation."""
    assert result.conversations is not None
    both = (first, second)
    listed = [list(_results(c)) for c in both]
    cluster = result.conversations.rules.cluster(
        [counted.result for own in listed for _, counted in own]
    ).first
    ids = [cluster[: len(listed[0])], cluster[len(listed[0]) :]]
    known = [set(own) for own in ids]
    places: list[dict[int, Place]] = [{}, {}]
    gains: dict[int, float] = {}
    names: dict[int, str] = {}
    for side in (0, 1):
        for key, (place, counted) in zip(ids[side], listed[side], strict=True):
            places[side].setdefault(key, place)
            names.setdefault(key, _name(counted.result))
            if counted.gain is not None:
                gains[key] = max(counted.gain, gains.get(key, counted.gain))
    threshold = result.settings.threshold
    evidence = [
        Evidence(name=names[key], gain=gain, places=(places[0].get(key), places[1].get(key)))
        for key, gain in gains.items()
        if gain >= threshold
    ]
    evidence.sort(key=lambda e: min((p.iteration, p.search, p.rank) for p in e.places if p))
    steps = (
        tuple(_steps(result, first, ids[0], known[1], gains)),
        tuple(_steps(result, second, ids[1], known[0], gains)),
    )
    return TrajectoryDiff(
        conversation=first.name,
        systems=(first.system, second.system),
        answers=(first.answer, second.answer),
        steps=steps,
        evidence=tuple(evidence),
        divergence=_divergence(both, ids),
        shared_results=len(known[0] & known[1]),
    )


def _results(conversation: Conversation) -> Iterator[tuple[Place, Any]]:
    for i, searches in enumerate(conversation.iterations, 1):
        for j, search in enumerate(searches, 1):
            for rank, counted in enumerate(search.results, 1):
                yield Place(i, j, rank), counted


def _steps(
    result: GoodGain,
    conversation: Conversation,
    ids: Sequence[int],
    others: set[int],
    gains: dict[int, float],
) -> Iterator[Step]:
    keys = iter(ids)
    seen: set[int] = set()
    cumulative = _cumulative_gains(result, conversation)
    for searches, gain in zip(conversation.iterations, cumulative, strict=True):
        returned = [next(keys) for search in searches for _ in search.results]
        new = list(dict.fromkeys(key for key in returned if key not in seen))
        seen.update(new)
        yield Step(
            queries=_queries(searches),
            results=len(returned),
            new=len(new),
            good=sum(gains.get(key, 0) >= result.settings.threshold for key in new),
            shared=sum(key in others for key in new),
            gain=gain,
            failed=sum(s.search.error is not None for s in searches),
            unread=sum(s.search.unread is not None for s in searches),
        )


def _cumulative_gains(result: GoodGain, conversation: Conversation) -> list[float | None]:
    system = result[conversation.system] if len(result.systems) > 1 else result.systems[0]
    column = system.column("CG")
    rows = system.rows_of(conversation.name, conversation.repeat)
    low, high = (matrix[rows][:, column].tolist() for matrix in (system.lower, system.upper))
    exact = [a if a == b else None for a, b in zip(low, high, strict=True)]
    return exact[: len(conversation.iterations)]


def _divergence(
    both: tuple[Conversation, Conversation], ids: list[tuple[int, ...]]
) -> Divergence | None:
    keys = [iter(own) for own in ids]
    for number, pair in enumerate(zip_longest(*(c.iterations for c in both), fillvalue=()), 1):
        returned = [
            [[next(own) for _ in search.results] for search in searches]
            for own, searches in zip(keys, pair, strict=True)
        ]
        queries = tuple(_queries(searches) for searches in pair)
        if _normal(queries[0]) != _normal(queries[1]):
            kind = "queries" if all(pair) else "end"
        elif returned[0] != returned[1]:
            kind = "results"
        else:
            continue
        return Divergence(iteration=number, kind=kind, queries=(queries[0], queries[1]))
    return None


def _queries(searches: Sequence[CountedSearch]) -> tuple[str, ...]:
    return tuple(s.search.query or "" for s in searches)


def _normal(queries: tuple[str, ...]) -> list[str]:
    """Queries without differences that no search engine sees; those of one iteration have no order."""
    return sorted(" ".join(query.casefold().split()) for query in queries)


def _name(result: Result) -> str:
    return str(
        result.title or result.id or next(iter(result.ids.values()), None) or result.url or ""
    )


def _parting(diff: TrajectoryDiff) -> str:
    first, second = diff.systems
    where = diff.divergence
    if where is None:
        return f"{first} and {second} searched for the same and got the same results."
    if where.kind == "end":
        went_on = first if where.queries[0] else second
        stopped = second if went_on == first else first
        return f"{stopped} stopped after iteration {where.iteration - 1}; {went_on} continued."
    if where.kind == "results":
        return f"They diverge at iteration {where.iteration}: equal queries returned different results."
    mine, theirs = (" + ".join(f"'{query}'" for query in own) for own in where.queries)
    return f"They diverge at iteration {where.iteration}: {first} searched for {mine}, {second} for {theirs}."


def _evidence_sentence(diff: TrajectoryDiff) -> str:
    if not diff.evidence:
        return "Neither returned a result that is known to be good."
    counts = [len(diff.only(system)) for system in diff.systems]
    shared = len(diff.evidence) - sum(counts)
    return (
        f"Of {len(diff.evidence)} good results both returned {shared}, only {diff.systems[0]} {counts[0]}, "
        f"only {diff.systems[1]} {counts[1]}."
    )
