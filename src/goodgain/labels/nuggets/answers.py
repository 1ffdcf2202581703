"""Answers of systems, from traces or from tables."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from goodgain.errors import InputError
from goodgain.labels.pairs import has_json_lines, read_objects
from goodgain.labels.traces import all_traces, is_trace, question_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_SYSTEM = ("system", "run_id", "run", "model")
_QUERY = ("query_id", "qid", "topic_id", "conversation", "query", "id")
_QUESTION = ("question", "query_text", "topic", "user")
_ANSWER = ("answer", "answer_text", "response", "text")


class Answer(NamedTuple):
    """What a system answered; None if its answer is not recorded, which is not an empty answer."""

    system: str
    query: str
    question: str
    text: str | None
    repeat: str = ""  # names one of several answers of the system

    @property
    def id(self) -> str:
        """The name under which the labels of its nuggets are stored; no other answer has it."""
        repeat = f"#{quote(self.repeat, safe='')}" if self.repeat else ""
        return f"{quote(self.query, safe='')}@{quote(self.system, safe='')}{repeat}"


def read_answers(source: Any) -> list[Answer]:
    """Answers from {system: traces or rows}, traces, rows, or the path of a file of either.

    A row is {"system", "query_id", "question", "answer"}. A system has one answer to a query, or one
    per `repeat`.
    """
    answers: list[Answer] = []
    if isinstance(source, Mapping) and not is_trace(source) and not _field(source, _ANSWER):
        for system, own in source.items():
            answers += [a._replace(system=str(system)) for a in _answers(own)]
    else:
        answers += _answers(source)
    seen: set[str] = set()
    for answer in answers:
        if answer.id in seen:
            raise InputError(
                f"system '{answer.system}' has two answers to query '{answer.query}'",
                hint="name the systems ({system: answers}, or a column 'system') or the repeats",
            )
        seen.add(answer.id)
    return answers


def _answers(source: Any) -> Iterator[Answer]:
    if isinstance(source, str | os.PathLike):
        path = os.fspath(source)
        if _holds_rows(path):
            for where, row in read_objects(path):
                yield _row(row, where, Path(path).stem)
            return
        name = Path(path).stem
        yield from _of_traces(all_traces(path), name)
        return
    if is_trace(source):
        yield from _of_traces([source], "")
        return
    items = [source] if isinstance(source, Mapping | Answer) else list(source)
    for number, item in enumerate(items, 1):
        if isinstance(item, Answer):
            yield item
        elif isinstance(item, str | os.PathLike):
            yield from _answers(item)
        elif is_trace(item):
            yield from _of_traces(all_traces(item), "")
        elif isinstance(item, Mapping):
            yield _row(item, f"row {number}", "")
        else:
            raise InputError(f"not an answer: {item!r:.60}", where=f"row {number}")


def _holds_rows(path: str) -> bool:
    if not has_json_lines(path):
        return False
    _, first = next(read_objects(path), ("", {}))
    return (
        "turns" not in first
        and _field(first, _QUERY) is not None
        and any(n in first for n in _ANSWER)
    )


def _of_traces(traces: Iterable[Any], name: str) -> Iterator[Answer]:
    for trace in traces:
        last = trace.turns[-1] if trace.turns else None
        yield Answer(
            system=str(getattr(trace, "system", None) or name or "system"),
            query=trace.conversation,
            question=question_of(trace),
            text=last.answer if last else None,
            repeat=trace.repeat or "",
        )


def _row(row: Mapping[str, Any], where: str, name: str) -> Answer:
    query = _field(row, _QUERY)
    if query is None or not any(field in row for field in _ANSWER):
        raise InputError(
            f"not an answer: {str(dict(row))!r:.80}",
            where=where,
            hint='rows are {"system", "query_id", "question", "answer"}',
        )
    return Answer(
        system=str(_field(row, _SYSTEM) or name or "system"),
        query=str(query),
        question=str(_field(row, _QUESTION) or ""),
        text=_answer_text(next(row[field] for field in _ANSWER if field in row), where),
        repeat=str(row.get("repeat") or ""),
    )


def _answer_text(value: Any, where: str) -> str | None:
    """An answer as text: also a list of sentences, each a text or {"text", "citations"}."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list):
        sentences = [s.get("text") if isinstance(s, Mapping) else s for s in value]
        if all(isinstance(s, str) for s in sentences):
            return " ".join(s for s in sentences if isinstance(s, str))
    raise InputError(f"the answer is not a text: {value!r:.60}", where=where)


def _field(row: Mapping[str, Any], names: Iterable[str]) -> Any:
    return next((row[n] for n in names if row.get(n) not in (None, "")), None)
