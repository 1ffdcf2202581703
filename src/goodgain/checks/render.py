"""A check as text: for the terminal, a pull request, JUnit, or JSON."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from goodgain.errors import plain
from goodgain.results.numbers import signed
from goodgain.results.text import number, render

if TYPE_CHECKING:
    from collections.abc import Callable

    from goodgain.checks.result import CheckResult
    from goodgain.checks.verdict import CaseResult

_ROWS = 10
_MARKS = {"pass": "✅", "fail": "❌", "not enough evidence": "⚠️"}


def _table(result: CheckResult) -> str:
    """The first screen: the verdict, what is worse and better by which cases, and what to do next."""
    lines = [result.sentence, ""]
    if result.rows:
        lines += [render("table", *_gate_table(result)).rstrip("\n"), ""]
    elif result.means:
        rows = [[name, number(value)] for name, value in result.means.items()]
        lines += [render("table", ["measure", "mean"], rows).rstrip("\n"), ""]
    if result.failed_cases:
        lines.append("cases that fail their own requirements")
        rows = [[r.case.id, "; ".join(r.failures)] for r in result.failed_cases[:_ROWS]]
        lines += [render("table", ["case", "why"], rows).rstrip("\n"), ""]
    losses, gains = _split_changes(result)
    for title, changed in (
        ("worse than the baseline", losses),
        ("better than the baseline", gains),
    ):
        if changed:
            lines.append(f"{title} ({len(changed)})")
            lines += [render("table", *_change_table(result, changed[:_ROWS])).rstrip("\n"), ""]
    unjudged = [(r, key) for r in result.cases for key in r.matches.unjudged] if result.rows else []
    if unjudged:
        lines.append(f"new unjudged results ({len(unjudged)})")
        lines += [f"  {r.case.id}: {key}" for r, key in unjudged[:_ROWS]]
        lines.append("")
    latency = result.latency.text()
    if latency:
        lines.append(f"latency: {latency}")
    detectable = [f"{row.label} {row.detectable:.3f}" for row in result.rows if row.detectable]
    if detectable:
        lines.append(f"a drop that would be caught four times out of five: {', '.join(detectable)}")
    return "\n".join(map(_safe, lines)).rstrip("\n") + "\n"


def _safe(line: str) -> str:
    return "\n".join(map(plain, line.split("\n")))


def _gate_table(result: CheckResult) -> tuple[list[str], list[list[str]]]:
    rows = [
        [
            row.label, number(row.before), number(row.now), signed(row.now - row.before),
            f"{row.margin:g}", f"{row.changed}/{row.cases}", row.outcome,
        ]
        for row in result.rows
    ]  # fmt: skip
    return ["measure", "baseline", "now", "change", "margin", "changed", "verdict"], rows


def _split_changes(result: CheckResult) -> tuple[list[CaseResult], list[CaseResult]]:
    changed = result.changes()
    total = {id(r): sum(r.improvement(name) for name in result.means) for r in changed}
    losses = [r for r in changed if total[id(r)] <= 0]
    gains = [r for r in changed if total[id(r)] > 0]
    return losses, sorted(gains, key=lambda r: -total[id(r)])


def _change_table(
    result: CheckResult, cases: list[CaseResult]
) -> tuple[list[str], list[list[str]]]:
    names = list(result.means)[:3]
    rows = [
        [r.case.id, *(_change(r, name) for name in names), _moved(r)]
        for r in cases
    ]  # fmt: skip
    return ["case", *names, "what moved"], rows


def _change(result: CaseResult, name: str) -> str:
    before, now = (result.before or {}).get(name, math.nan), result.values.get(name, math.nan)
    return f"{number(before, 3)} → {number(now, 3)}"


def _moved(result: CaseResult) -> str:
    """Where the relevant results are now, and which are gone."""
    before = {key: rank for rank, key in enumerate(result.before_keys or (), 1)}
    now = {key: rank for rank, key in enumerate(result.keys, 1)}
    relevant = [result.keys[rank - 1] for rank in result.matches.ranks.values()]
    from goodgain.checks.matching import Answer, is_named

    relevant += [
        key for key in before
        if any(is_named(Answer(key=key, names=(key,)), name) for name in result.case.relevant)
    ]  # fmt: skip
    moves = []
    for key in dict.fromkeys(relevant):
        old, new = before.get(key), now.get(key)
        if old != new:
            moves.append(f"{key} {old or 'absent'} → {new or 'absent'}")
    return "; ".join(moves[:2]) + ("; ..." if len(moves) > 2 else "")


# --- Markdown ---


def _markdown(result: CheckResult) -> str:
    """A comment for a pull request: short, with the lists of each changed query folded."""
    text = f"## {_MARKS[result.verdict]} Search check\n\n{_md(result.sentence)}\n"
    if result.rows:
        text += f"\n{render('markdown', *_gate_table(result))}"
    elif result.means:
        rows = [[name, number(value)] for name, value in result.means.items()]
        text += f"\n{render('markdown', ['measure', 'mean'], rows)}"
    if result.failed_cases:
        rows = [[r.case.id, "; ".join(r.failures)] for r in result.failed_cases[:_ROWS]]
        text += f"\n**Cases that fail their own requirements**\n\n{render('markdown', ['case', 'why'], rows)}"
    losses, gains = _split_changes(result)
    for title, changed in (("worse", losses), ("better", gains)):
        if changed:
            text += f"\n<details><summary>{len(changed)} {title} than the baseline</summary>\n\n"
            text += render("markdown", *_change_table(result, changed[:50]))
            text += "".join(map(_lists, changed[:20])) + "\n</details>\n"
    latency = result.latency.text()
    if latency:
        text += f"\nLatency: {latency}\n"
    return text + "".join(f"\n> {_md(note)}\n" for note in result.notes)


def _lists(result: CaseResult) -> str:
    """A diff of the two ranked lists."""
    import difflib

    before, now = list(result.before_keys or ()), list(result.keys)
    lines = difflib.unified_diff(before, now, lineterm="", n=50)
    body = [line for line in lines if not line.startswith(("---", "+++", "@@"))]
    if not body:
        return ""
    fence = "```"
    while any(fence in line for line in body):
        fence += "`"
    return (
        f"\n**{_md(result.case.query)}**\n\n{fence}diff\n"
        + "\n".join(map(plain, body))
        + f"\n{fence}\n"
    )


def _md(text: str) -> str:
    """Text that Markdown and HTML leave as it is."""
    escapes: dict[str, str | int | None] = {
        character: f"\\{character}" for character in "\\`*_[]|#"
    }
    text = text.translate(str.maketrans(escapes | {"<": "&lt;", ">": "&gt;"}))
    return plain(text)


# --- JUnit ---


def _junit(result: CheckResult) -> str:
    """A test case for each golden case, and one for each gate, floor and limit."""
    cases = [
        _junit_case(r.case.id, r.call.seconds, list(r.failures), r.call.status)
        for r in result.cases
    ]
    for row in result.rows:
        problems = (
            []
            if row.outcome == "no worse"
            else [f"{row.outcome}: {row.before:.4f} to {row.now:.4f}"]
        )
        kind = "failed" if row.outcome == "worse" else "unsure"
        cases.append(_junit_case(f"gate {row.label}", None, problems, "ok", kind))
    for expectation, mean in result.floors:
        holds = mean is not None and expectation.holds(mean)
        cases.append(
            _junit_case(f"floor {expectation}", None, [] if holds else [f"mean is {mean}"], "ok")
        )
    if result.latency.limits:
        cases.append(_junit_case("latency", None, result.latency.failures, "ok"))
    failures = sum("<failure" in case for case in cases)
    errors = sum("<error" in case for case in cases)
    skipped = sum("<skipped" in case for case in cases)
    head = (
        f'<testsuite name="goodgain check" tests="{len(cases)}" failures="{failures}" errors="{errors}" '
        f'skipped="{skipped}">'
    )
    body = "\n".join(cases)
    start = '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>'
    return f"{start}\n{head}\n{body}\n</testsuite>\n</testsuites>\n"


def _junit_case(
    name: str, seconds: float | None, problems: list[str], status: str, kind: str = "failed"
) -> str:
    time = "" if seconds is None else f' time="{seconds:.6f}"'
    start = f'<testcase classname="goodgain.check" name={quoteattr(plain(name))}{time}'
    if not problems:
        return f"{start}/>"
    text = plain("; ".join(problems))
    tag = (
        "error" if status in ("error", "timeout") else "failure" if kind == "failed" else "skipped"
    )
    return f"{start}><{tag} message={quoteattr(text)}>{escape(text)}</{tag}></testcase>"


def _json(result: CheckResult) -> str:
    return json.dumps(result.to_dict(), ensure_ascii=False, indent=1) + "\n"


FORMATS: dict[str, Callable[[CheckResult], str]] = {
    "table": _table,
    "markdown": _markdown,
    "junit": _junit,
    "json": _json,
}
