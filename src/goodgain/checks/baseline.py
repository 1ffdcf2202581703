"""The baseline: what the target returned when somebody last approved it, as text that diffs well.

A line of JSON for the head and one for each case. It holds keys of results, not values: those are
computed again, so that a golden set may be corrected without a new baseline.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goodgain.checks.matching import Answer, quote_digest
from goodgain.errors import InputError, UsageError
from goodgain.io.files import parse_row
from goodgain.io.whole import read_document

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goodgain.checks.golden import Case, GoldenSet
    from goodgain.checks.session import Call

FORMAT = 1
_FIRST = "write a first baseline with: goodgain check --update REASON"


@dataclass(frozen=True, slots=True, kw_only=True)
class Approved:
    """The approved results of a case; `quotes` are digests of every quote that was looked for."""

    answers: tuple[Answer, ...]
    quotes: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """Approved results by case, and what is known about the target they came from."""

    path: str
    head: Mapping[str, Any] = field(default_factory=dict)
    cases: Mapping[str, Approved] = field(default_factory=dict)

    @property
    def latency(self) -> Mapping[str, Any]:
        """p50 and p95 at that time, in seconds."""
        return self.head.get("latency") or {}

    def answers_for(self, case: Case) -> tuple[Answer, ...] | None:
        """The approved results, or None where the case, or one of its quotes, is newer than the baseline."""
        approved = self.cases.get(case.id)
        if approved is None or not approved.quotes >= set(map(quote_digest, case.quotes)):
            return None
        return approved.answers


def default_path(golden: str) -> str:
    """Beside the golden set."""
    return str(Path(golden).with_suffix(".baseline.jsonl"))


def read_baseline(path: str) -> Baseline:
    """Read a baseline; a missing file is an error of its own kind for the caller to avoid."""
    if not os.path.lexists(path):
        raise InputError(f"file not found: '{path}'", hint=_FIRST)
    lines = [line for line in read_document(path).split("\n") if line.strip()]
    rows = [_row(line, f"{path}:{number}") for number, line in enumerate(lines, 1)]
    if not rows or not isinstance(rows[0].get("baseline"), int):
        raise InputError("not a baseline of goodgain check", where=path, hint=_FIRST)
    if rows[0]["baseline"] > FORMAT:
        raise InputError(
            f"the baseline has format {rows[0]['baseline']}, but this version reads formats up to {FORMAT}",
            where=path,
            hint="pip install --upgrade goodgain",
        )
    cases = {}
    for number, row in enumerate(rows[1:], 2):
        where = f"{path}:{number}"
        try:
            holding = {key: frozenset(q) for key, q in (row.get("holding") or {}).items()}
            answers = tuple(
                Answer(
                    key=str(item[0]),
                    names=tuple(map(str, item)),
                    quotes=holding.get(item[0], frozenset()),
                )
                for item in ([r] if isinstance(r, str) else r for r in row["results"])
            )
            approved = Approved(answers=answers, quotes=frozenset(row.get("quotes") or ()))
            name = str(row["case"])
        except (KeyError, TypeError, IndexError, AttributeError) as error:
            raise InputError(
                f"the line lacks {error} or has an invalid value",
                where=where,
                hint="write it again with --update",
            ) from None
        if name in cases:
            raise InputError(f"duplicate case '{name}'", where=where, hint="was it merged by hand?")
        cases[name] = approved
    return Baseline(path=path, head=rows[0], cases=cases)


def _row(line: str, where: str) -> dict[str, Any]:
    row = parse_row(line, where)
    if row is None:
        marker = "<<<<<<<" in line or ">>>>>>>" in line or line.startswith("=======")
        raise InputError(
            "the line is not valid JSON",
            where=where,
            hint="resolve the merge conflict" if marker else "write it again with --update",
        )
    if not isinstance(row, dict):
        raise InputError(
            "the line is not a JSON object", where=where, hint="write it again with --update"
        )
    return row


def baseline_text(
    golden: GoldenSet,
    calls: Sequence[Call],
    *,
    reason: str,
    target: Mapping[str, Any],
    version: str | None,
    depth: int,
    latency: Mapping[str, Any],
    values: Mapping[str, float],
) -> str:
    """The file's text: the head, and a line for each case in the order of the golden set."""
    if not reason.strip():
        raise UsageError(
            "a new baseline needs a reason", hint='--update "why these results are right"'
        )
    from datetime import UTC, datetime

    head = {
        "baseline": FORMAT,
        "reason": reason,
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "target": dict(target),
        "version": version,
        "depth": depth,
        "latency": {k: round(v, 6) if isinstance(v, float) else v for k, v in latency.items()},
        "means": {name: round(value, 6) for name, value in values.items()},
    }
    lines = [json.dumps(head, ensure_ascii=False)]
    lines += [_case_line(case, call) for case, call in zip(golden.cases, calls, strict=True)]
    return "\n".join(lines) + "\n"


def _case_line(case: Case, call: Call) -> str:
    from goodgain.checks.matching import match

    digests = {quote: quote_digest(quote) for quote in case.quotes}
    holding: dict[str, list[str]] = {}
    for quote, rank in match(case, call.answers).ranks.items():
        if quote in digests:
            holding.setdefault(call.answers[rank - 1].key, []).append(digests[quote])
    row: dict[str, Any] = {"case": case.id}
    row["results"] = [list(a.names) if len(a.names) > 1 else a.key for a in call.answers]
    if digests:
        row |= {"quotes": sorted(digests.values()), "holding": holding}
    return json.dumps(row, ensure_ascii=False)
