"""Results in decoded data: the lists of documents at any depth of an envelope.

Every list, map and set of columns that looks like one of documents is a candidate, unless it lies inside
another or under a name that never holds results (errors, facets, authors). Chosen are

1. lists of results before those that support them (sources, citations, images),
2. lists named like results (`results`, `hits`, `organic`) before others,
3. of these, all that look at least half as much like documents as the best one: parallel lists (web and news,
   one for each query) are combined; a list that only repeats the entries of another is left out.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from goodgain.traces.results.blocks import is_block_list, unwrap_blocks
from goodgain.traces.results.decoding import decode
from goodgain.traces.results.finding import Finding, empty, failed, result, unread
from goodgain.traces.results.lists import read_columns, read_list, read_map, read_rows
from goodgain.traces.results.names import (
    COUNTERS,
    EXCLUDED,
    LISTS,
    MAIN,
    MEDIA,
    SUPPORTING,
    field_of,
)
from goodgain.traces.results.objects import read_object
from goodgain.traces.results.outcomes import data_failure, is_zero_total, says_nothing_matched
from goodgain.traces.results.providers import read_exactly

if TYPE_CHECKING:
    from collections.abc import Iterable

_ENCODINGS = 6  # text in JSON in text ...: more levels than that are not opened
_SINGLE = 3.0
_PROSE = frozenset((
    "answer", "summary", "query", "question", "prompt", "thought", "reasoning", "instructions", "title", "name",
    "id", "url", "follow_up", "final_answer", "input", "original_query",
))  # fmt: skip
_MESSAGES = frozenset(("message", "msg", "status", "note", "info", "error", "detail"))
_CALL_IDS = (
    "call_",
    "toolu_",
    "msg_",
    "resp_",
    "chatcmpl",
    "run-",
    "fc_",
    "req_",
    "srvtoolu_",
    "tool_",
)


@dataclass(slots=True)
class _Place:
    """Where a value stands: the names above it that matter."""

    name: str = ""
    named: bool = True  # the top of the output is as good as a list called "results"
    rank: int = 0  # 0 results, 1 supporting, 2 media
    in_list: bool = False


@dataclass(slots=True)
class _Candidate:
    results: list[dict[str, Any]]
    strength: float
    place: _Place


@dataclass(slots=True)
class _Survey:
    """All that a walk over the data came across."""

    lists: list[_Candidate] = field(default_factory=list)
    singles: list[_Candidate] = field(default_factory=list)
    texts: list[tuple[_Place, str]] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)  # of content blocks
    empty_lists: int = 0
    other_lists: int = 0  # of objects that are no documents
    zero_total: bool = False


def find_in_data(value: Any, depth: int = 0) -> Finding:
    """What decoded data hold."""
    if value is None or value == [] or value == {}:
        return empty("the output is empty")
    if not isinstance(value, dict | list | tuple):
        return unread(f"the output is a {type(value).__name__}")
    error = data_failure(value)
    if error is not None and isinstance(value, dict) and _is_marked(value):
        return failed(error)
    exact = read_exactly(value)
    if exact is not None:
        results, reader = exact
        return result(results, reader) if results else empty(f"{reader}: no results")
    survey = _walk(value, depth)
    chosen = _choose(survey)
    if chosen:
        return result(chosen, "a list of documents")
    for finding in survey.findings:
        if finding.account == "result":
            merged = [r for f in survey.findings if f.account == "result" for r in f.results]
            return result(merged, finding.reason)
    if error is not None:
        return empty(error) if says_nothing_matched(error) else failed(error)
    if survey.zero_total or (survey.empty_lists and not survey.singles and not survey.other_lists):
        return empty("the output says that there are no results")
    if survey.singles:
        return result(survey.singles[0].results, "one document")
    return _from_texts(survey, depth)


def _is_marked(value: dict[Any, Any]) -> bool:
    return value.get("isError") is True or value.get("is_error") is True


# --- the walk ---


def _walk(value: Any, depth: int) -> _Survey:
    survey = _Survey()
    stack: list[tuple[Any, _Place]] = [(value, _Place())]
    opened = 0
    while stack:
        node, place = stack.pop()
        if isinstance(node, str):
            if node[:1] in ("{", "[") and depth + opened < _ENCODINGS:
                inner = decode(node)
                if isinstance(inner, dict | list):
                    opened += 1
                    finding = find_in_data(inner, depth + 1)
                    opened -= 1
                    survey.findings.append(finding)
                    continue
            if place.name not in _PROSE:
                survey.texts.append((place, node))
        elif isinstance(node, list | tuple):
            _visit_list(list(node), place, survey, stack, depth)
        elif isinstance(node, dict):
            _visit_object(node, place, survey, stack)
    return survey


def _visit_list(
    items: list[Any], place: _Place, survey: _Survey, stack: list[tuple[Any, _Place]], depth: int
) -> None:
    if not items or all(item in (None, [], {}) for item in items[:1000]):
        survey.empty_lists += (place.name in MAIN or not place.name) and not place.rank
        return
    if is_block_list(items):
        if depth < _ENCODINGS:
            survey.findings.append(find_in_blocks(items, depth + 1))
        return
    if depth < _ENCODINGS and all(isinstance(item, str) and "\n" in item for item in items):
        findings = _read_texts(items, depth)
        if all(finding.account == "result" for finding in findings):
            survey.findings += findings
            return
    results, strength = read_list(items, place.named)
    if not results and place.named:
        results, strength = read_rows(items)
    if results:
        survey.lists.append(_Candidate(results, strength, place))
        return
    first = items[0]
    if isinstance(first, dict) and not any(field_of(str(key))[2] in MAIN for key in first):
        survey.other_lists += 1
    inside = replace(place, in_list=True)
    stack.extend(
        (item, inside) for item in reversed(items) if isinstance(item, dict | list | tuple | str)
    )


def _visit_object(
    item: dict[Any, Any], place: _Place, survey: _Survey, stack: list[tuple[Any, _Place]]
) -> None:
    for read in (read_columns, read_map):
        results, strength = read(item)
        if results:
            survey.lists.append(_Candidate(results, strength, place))
            return
    single, strength = read_object(item)
    is_single = strength >= _SINGLE and _stands_alone(single)
    if is_single:
        survey.singles.append(_Candidate([single], strength, place))
    children = []
    for key, value in item.items():
        name = field_of(str(key))[2]
        if not place.in_list or place.name == "hits_containers":
            survey.zero_total |= is_zero_total(name, value)
            if name in COUNTERS and isinstance(value, dict):
                survey.zero_total |= any(
                    is_zero_total(field_of(str(k))[2], v) for k, v in value.items()
                )
        if value is None or value == [] or value == {}:
            survey.empty_lists += name in MAIN and not is_single and not place.rank
            continue
        if isinstance(value, dict | list | tuple | str) and (
            name not in EXCLUDED or (isinstance(value, str) and name not in _PROSE)
        ):
            children.append((value, _below(place, name)))
    stack.extend(reversed(children))


def _stands_alone(single: dict[str, Any]) -> bool:
    """Whether an object outside a list is a document: it has a text or a title, and says of what."""
    text = "content" in single or "snippet" in single
    if "url" in single:
        return text or "title" in single
    if "ids" in single or ("title" in single and text):
        return text
    return text and "id" in single and not str(single["id"]).startswith(_CALL_IDS)


def _below(place: _Place, name: str) -> _Place:
    rank = max(place.rank, 2 if name in MEDIA else 1 if name in SUPPORTING else 0)
    return _Place(name, name in LISTS or name in SUPPORTING or name in MEDIA, rank)


# --- the choice ---


def _choose(survey: _Survey) -> list[dict[str, Any]]:
    lists = survey.lists
    if not lists:
        return []
    rank = min(c.place.rank for c in lists)
    if rank == 2 and survey.empty_lists:
        return []
    lists = [c for c in lists if c.place.rank == rank]
    if any(c.place.named for c in lists):
        lists = [c for c in lists if c.place.named]
    best = max(c.strength for c in lists)
    lists = [c for c in lists if 2 * c.strength >= best]
    names = {c.place.name for c in lists}
    if len(names) > 1:
        lists = list(_without_repeats(lists))
    return [r for c in lists for r in c.results]


def _without_repeats(lists: list[_Candidate]) -> Iterable[_Candidate]:
    """Without lists whose entries are all in a longer or stronger list of another name."""
    keys = [{_key(r) for r in c.results} for c in lists]
    for number, candidate in enumerate(lists):
        repeated = any(
            keys[number] <= keys[other]
            and rival.place.name != candidate.place.name
            and (len(keys[other]), rival.strength, -other)
            > (len(keys[number]), candidate.strength, -number)
            for other, rival in enumerate(lists)
        )
        if not repeated:
            yield candidate


def _key(item: dict[str, Any]) -> str:
    for name in ("url", "id", "content", "snippet", "title"):
        if name in item:
            return str(item[name])[:500]
    return ""


# --- texts and blocks ---


def _read_texts(texts: list[str], depth: int) -> list[Finding]:
    from goodgain.traces.results.texts import find_in_text

    return [find_in_text(text, depth + 1) for text in texts]


def _from_texts(survey: _Survey, depth: int) -> Finding:
    """What the texts in the data hold, where the data themselves hold no results."""
    from goodgain.traces.results.texts import find_in_text

    results: list[dict[str, Any]] = []
    outcomes = list(survey.findings)
    reason = ""
    if depth < _ENCODINGS:
        for place, text in survey.texts[:1000]:
            is_message = place.name in _MESSAGES
            if len(text) < 4 or not (place.named or is_message or "\n" in text or len(text) > 40):
                continue
            finding = find_in_text(text, depth + 1)
            if finding.account == "result" and (place.named or len(finding.results) > 1):
                results += finding.results
                reason = finding.reason
            elif place.named or is_message:
                outcomes.append(finding)
    if results:
        return result(results, reason)
    for account in ("failed", "empty"):
        for finding in outcomes:
            if finding.account == account:
                return finding
    if not survey.texts and survey.empty_lists:
        return empty("the output says that there are no results")
    return unread("data without a list of documents")


def find_in_blocks(blocks: list[Any], depth: int) -> Finding:
    """What a list of content blocks holds: texts, resources, links, JSON, one result or many in each."""
    from goodgain.traces.results.texts import find_in_text

    results: list[dict[str, Any]] = []
    findings: list[Finding] = []
    texts: list[str] = []
    for kind, payload in unwrap_blocks(blocks):
        if kind == "result":
            findings.append(result([payload], "content blocks"))
        elif kind == "text":
            texts.append(payload)
            findings.append(find_in_text(payload, depth))
        else:
            findings.append(find_in_data(payload, depth))
    for finding in findings:
        results += finding.results
    if results:
        return result(results, next(f.reason for f in findings if f.results))
    if len(texts) > 1:
        joined = find_in_text("\n".join(texts), depth)
        if joined.account == "result":
            return joined
    for account in ("failed", "unread", "empty"):
        for finding in findings:
            if finding.account == account and (account != "unread" or len(texts) == len(findings)):
                return finding
    return unread("content blocks without text")


def is_empty_text(value: Any) -> bool:
    """Whether a value is a text that reports no results."""
    return isinstance(value, str) and says_nothing_matched(value)
