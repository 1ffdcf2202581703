"""What the calls of a system took and used, from the records of an experiment."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from goodgain.experiment.timing import TIMEOUT, Latencies, Timing, queries_per_second

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from goodgain.experiment.folder import Folder
    from goodgain.experiment.result import ExperimentResult


def system_timing(folder: Folder, system: str, calls: Sequence[dict[str, Any]]) -> Timing:
    """The latencies of a system, over all its calls that count."""
    all_timed = [call for call in calls if is_timed(call)]
    first = [call for call in all_timed if not call["repeat"]]
    cold = [call["seconds"] for call in first]
    warm = [call["seconds"] for call in all_timed if call["repeat"]]
    span = _span(first) if folder.settings["concurrency"] > 1 else None
    index = folder.index_of(system)
    failures = [call for call in calls if "error" in call]
    answers = [call for call in calls if "error" not in call]
    errors: dict[str, str] = {}
    for call in failures:
        errors.setdefault(call["query"], call["error"])
    timeouts = sum(call["error"] == TIMEOUT for call in failures)
    used = {name: [c[name] for c in answers if name in c] for name in ("tokens", "cost")}
    sums = {name: math.fsum(values) if values else None for name, values in used.items()}
    latencies: dict[str, Any] = {
        f.name: getattr(Latencies.of(cold), f.name) for f in fields(Latencies)
    }
    return Timing(
        **{**latencies, "calls": len(all_timed)},
        system=system,
        per_second=queries_per_second(cold, span),
        warm=Latencies.of(warm) if warm else None,
        first_call=folder.first_call_of(system),
        index_seconds=index.get("seconds"),
        index_bytes=index.get("bytes"),
        index_reused=tuple(index.get("reused", ())),
        failed=len(failures) - timeouts,
        timed_out=timeouts,
        errors=errors,
        inconsistent=len({call["query"] for call in calls if call.get("differs")}),
        repeated=sum("repeated" in call for call in calls),
        ascending=sum("ascending" in call for call in calls),
        descending=sum(map(_has_falling_scores, calls)),
        beside=sum("beside" in call for call in calls),
        tokens=sums["tokens"],
        cost=sums["cost"],
        silent={n: len(answers) - len(values) for n, values in used.items() if values},
    )


def is_timed(call: dict[str, Any]) -> bool:
    """Whether a call has a latency: it was answered or timed out, and nothing else kept the machine busy."""
    return bool(call.get("error", TIMEOUT) == TIMEOUT) and "beside" not in call


def _span(calls: list[dict[str, Any]]) -> float:
    """The duration of overlapping calls: from first to last of each round, summed over rounds."""
    rounds: dict[tuple[Any, ...], list[float]] = {}
    for call in calls:
        key = (call["session"], call["seed"], call["repeat"])
        span = rounds.setdefault(key, [math.inf, -math.inf])
        span[0] = min(span[0], call["start"])
        span[1] = max(span[1], call["start"] + call["seconds"])
    return math.fsum(end - start for start, end in rounds.values())


def _has_falling_scores(call: dict[str, Any]) -> bool:
    """Whether an answer has different scores that do not rise from the first document to the last."""
    results = call.get("hits") or [""]
    has_scores = not isinstance(results[0], str) and results[0][1] != results[-1][1]
    return has_scores and "ascending" not in call


def answer_notes(result: ExperimentResult) -> Iterator[str]:
    """What is odd about the answers: ids, scores, filters, sums of cost."""
    for name in result.settings.get("unfiltered_systems", ()):
        if name in result.systems:
            yield f"{name} takes no filters, so it searched all documents for queries that have some"
    for name in result.systems:
        timing = result.timings[name]
        if timing.ascending and not timing.descending:
            yield (
                f"{name}: its answers list documents by rising scores, so that the last one counts as "
                "the best; if the scores are distances, return their negative"
            )
        for unit, silent in timing.silent.items():
            if silent:
                yield f"{name}: {silent:,} answers reported no {unit}, so its sum is too low"
        yield from _unknown_ids(result, name)


def _unknown_ids(result: ExperimentResult, system: str) -> Iterator[str]:
    """Answers with ids of another kind than the corpus has."""
    documents = result.documents
    if len(documents) != result.settings["documents"] or result.settings.get("identity"):
        return  # a folder has only the retrieved documents; an identity changes ids
    ids = [doc for run in result.runs[system] for docs in run.source.value.values() for doc in docs]
    unknown = [d for d in ids if d not in documents and d.rpartition("#")[0] not in documents]
    if 2 * len(unknown) > len(ids):
        yield (
            f"{system}: {len(unknown):,} of {len(ids):,} results are not in the corpus, such as "
            f"'{unknown[0]}'"
        )


def load_notes(result: ExperimentResult) -> Iterator[str]:
    """Latencies that say more of this machine than of the systems."""
    if result.control is not None and result.control.is_quiet is False:
        yield f"the machine was too noisy to compare latencies: {result.control}"
    for steps in result.loads.values():
        for step in steps:
            if step.is_late:
                yield (
                    f"{step.system} at {step.rate:g} calls a second: calls began up to "
                    f"{1000 * step.lag:.1f} ms late (p99) although a thread was free, which is in their "
                    "latencies"
                )
