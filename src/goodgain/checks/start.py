"""A first golden set: from judgments, from a search log, or from what the target returns now."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from goodgain.checks.matching import Answer

_HEAD = """\
# A golden set for `goodgain check`: queries and what they must return. Review it like code.
version: 1
"""


def start_golden(
    path: str,
    *,
    qrels: str | None = None,
    log: str | None = None,
    queries: str | None = None,
    target: str | None = None,
    limit: int = 50,
    depth: int = 10,
    timeout: float = 30.0,
    grade: Any = "later",
    reply: Callable[[str], str] = input,
) -> tuple[str, int]:
    """The text of a new golden set, and how many cases it has.

    `grade` says who grades what the target returns: "later" (in the file), "ask" (`reply` is asked), or a
    judge as `label` takes it.
    """
    if limit < 1:
        raise UsageError(f"limit must be a positive integer, got {limit}")
    head = _HEAD + (f"target: {json.dumps(_spec(target), ensure_ascii=False)}\n" if target else "")
    if qrels:
        cases = _from_qrels(qrels, queries, limit)
    elif log:
        cases = _from_log(log, limit)
    elif queries and target:
        cases = _from_target(path, queries, target, limit, depth, timeout, grade, reply)
    else:
        raise UsageError(
            "nothing to start from",
            hint="--qrels FILE, --log FILE, or --queries FILE with --target",
        )
    if not cases:
        raise InputError("no case could be made", where=qrels or log or queries or "")
    return head + "cases:\n" + "".join(cases), len(cases)


def _spec(target: str) -> dict[str, Any]:
    from goodgain.checks.targets import parse_spec

    return parse_spec(target)


def _case(
    case: str, query: str, relevant: Mapping[str, float], pool: list[str] | None = None
) -> str:
    """A case as YAML; JSON strings are YAML strings."""
    lines = [f"  - id: {_text(case)}", f"    query: {_text(query)}"]
    if relevant:
        grades = ", ".join(f"{_text(doc)}: {grade:g}" for doc, grade in relevant.items())
        lines.append(f"    relevant: {{{grades}}}")
    lines += [f"    # {line}" for line in pool or ()]
    return "\n".join(lines) + "\n"


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def _from_qrels(qrels: str, queries: str | None, limit: int) -> list[str]:
    from goodgain.data.qrels import Qrels

    judged = Qrels.of(qrels).to_dict()
    texts = _query_texts(queries) if queries else {}
    cases: list[str] = []
    for query, grades in judged.items():
        relevant = {doc: grade for doc, grade in grades.items() if grade > 0}
        if relevant and len(cases) < limit:
            cases.append(_case(query, texts.get(query, query), relevant))
    return cases


def _query_texts(path: str) -> dict[str, str]:
    from goodgain.io.texts import read_texts

    return dict(read_texts(path, "query").texts)


def _from_log(path: str, limit: int) -> list[str]:
    """The most frequent queries with what was chosen for them; a result chosen once is grade 1."""
    from collections import Counter, defaultdict

    from goodgain.io.tables import load_table

    table = load_table(path)
    columns = list(table.columns)
    query = next((c for c in columns if c.casefold() in ("query", "q", "search", "text")), None)
    chosen = next(
        (c for c in columns
         if c.casefold() in ("clicked", "click", "doc", "docid", "doc_id", "id", "url", "result", "chosen")),
        None,
    )  # fmt: skip
    if not query or not chosen:
        raise InputError(
            "the search log needs a column with the query and one with the result that was chosen",
            where=f"{path}:1",
            hint=f"query and clicked; columns: {', '.join(columns)[:200] or 'none'}",
        )
    frequency: Counter[str] = Counter()
    choices: dict[str, Counter[str]] = defaultdict(Counter)
    for searched, result in zip(table.columns[query], table.columns[chosen], strict=True):
        text = " ".join(str(searched or "").split())
        if text:
            frequency[text] += 1
            if result:
                choices[text][str(result)] += 1
    cases: list[str] = []
    for text, _ in frequency.most_common():
        if choices[text] and len(cases) < limit:
            most = max(choices[text].values())
            relevant = {d: 2.0 if n == most > 1 else 1.0 for d, n in choices[text].most_common(5)}
            cases.append(_case(text, text, relevant))
    return cases


def _from_target(
    path: str,
    queries: str,
    target: str,
    limit: int,
    depth: int,
    timeout: float,
    grade: Any,
    reply: Callable[[str], str],
) -> list[str]:
    """The target's own results: graded here, or written as comments to be graded in the file."""
    from goodgain.checks.targets import make_target

    texts = list(_query_texts(queries).items())[:limit]
    searched = make_target(target, Path(path).resolve().parent, timeout)
    try:
        pools = [(case, query, searched.search(query, depth)) for case, query in texts]
    finally:
        searched.close()
    if grade == "ask":
        return [_case(case, query, _graded(query, pool, reply)) for case, query, pool in pools]
    grades = {} if grade == "later" else _labelled(path, pools, grade)
    cases = []
    for case, query, pool in pools:
        known = grades.get(case, {})
        lines = [
            f"relevant: {{{_text(a.key)}: ?}}  {_line(a)}".rstrip()
            for a in pool
            if a.key not in known
        ]
        relevant = {doc: number for doc, number in known.items() if number > 0}
        note = ["grade these, then uncomment:", *lines] if lines else []
        cases.append(_case(case, query, relevant, note))
    return cases


def _labelled(
    path: str, pools: list[tuple[str, str, list[Answer]]], judge: Any
) -> dict[str, dict[str, float]]:
    """Grades by a judge, kept in a label store beside the golden set."""
    from goodgain.labels import label
    from goodgain.labels.pairs import Pair

    pairs = [
        Pair(case, answer.key, query, answer.text or answer.key)
        for case, query, pool in pools
        for answer in pool
    ]
    return label(pairs, judge, Path(path).with_suffix(".labels.db")).to_dict()


def _graded(query: str, answers: list[Answer], reply: Callable[[str], str]) -> dict[str, float]:
    grades = {}
    print(f"\n{query}")
    for answer in answers:
        text = reply(f"  {answer.key}  {_line(answer)}\n  grade 0-3, Enter for 0: ").strip()
        if text:
            try:
                grades[answer.key] = float(text)
            except ValueError:
                raise UsageError(f"a grade is a number, got '{text}'") from None
    return {key: grade for key, grade in grades.items() if grade > 0}


def _line(answer: Answer) -> str:
    return " ".join((answer.title or answer.text).split())[:80]
