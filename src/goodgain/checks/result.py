"""The result of a check: what it decided, why, and how it is printed and saved."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goodgain.checks.golden import Expectation
    from goodgain.checks.verdict import CaseResult, GateRow

Verdict = Literal["pass", "fail", "not enough evidence"]
STATUS: dict[Verdict, int] = {"pass": 0, "fail": 1, "not enough evidence": 3}


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencyRow:
    """p50 and p95 now and in the baseline, in seconds, and the limits that gate."""

    now: Mapping[str, Any]
    before: Mapping[str, Any] = field(default_factory=dict)
    limits: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def failures(self) -> list[str]:
        """The limits that were exceeded; without any answer a limit cannot hold."""
        texts = []
        for name, limit in self.limits.items():
            value = self.now.get(name)
            if value is None:
                texts.append(f"{name} is unknown: no call answered")
            elif value > limit:
                texts.append(f"{name} is {milliseconds(value)}, above {milliseconds(limit)}")
        return texts

    def text(self) -> str:
        """One line, such as "p50 12 ms (was 11 ms), p95 40 ms"."""
        pieces = []
        for name in ("p50", "p95"):
            if self.now.get(name) is not None:
                was = self.before.get(name)
                before = f" (was {milliseconds(was)})" if isinstance(was, int | float) else ""
                pieces.append(f"{name} {milliseconds(self.now[name])}{before}")
        return ", ".join(pieces)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """What a check found. `verdict` is "pass", "fail" or "not enough evidence".

    >>> from pathlib import Path
    >>> import goodgain as gg
    >>> golden = "cases: [{id: keys, query: rotate keys, relevant: [keys.md], must: {hit: 1}}]"
    >>> _ = Path("golden.yaml").write_text(golden)
    >>> result = gg.check("golden.yaml", lambda query: ["overview.md", "keys.md"])
    >>> result.verdict, result.passed, result.status()
    ('fail', False, 1)
    >>> result.failures
    ['1 of 1 cases fail their own requirements (keys)']
    """

    golden: str
    target: Mapping[str, Any]
    version: str | None
    depth: int
    alpha: float
    cases: tuple[CaseResult, ...]
    rows: tuple[GateRow, ...]
    floors: tuple[tuple[Expectation, float | None], ...]
    latency: LatencyRow
    means: Mapping[str, float]
    baseline: Mapping[str, Any] | None
    ungated: tuple[str, ...] = ()  # what was to be gated and has no case to compare
    notes: tuple[str, ...] = ()

    @property
    def failed_cases(self) -> tuple[CaseResult, ...]:
        """Cases that fail a hard requirement of their own."""
        return tuple(result for result in self.cases if result.failures)

    def unjudged_pairs(self) -> str:
        """The results that nobody judged as pairs, one JSON object a line, for `goodgain judge --pairs`."""
        import json

        lines = []
        for result in self.cases:
            answers = {answer.key: answer for answer in result.call.answers}
            for key in result.matches.unjudged:
                answer = answers[key]
                url = next((n for n in answer.names if n.startswith(("http://", "https://"))), "")
                row = {
                    "query_id": result.case.id,
                    "doc_id": key,
                    "question": result.case.query,
                    "title": answer.title,
                    "text": answer.text.removeprefix(answer.title).lstrip("\n"),
                    "url": url,
                }
                lines.append(json.dumps(row, ensure_ascii=False) + "\n")
        return "".join(lines)

    @property
    def failures(self) -> list[str]:
        """Why the check fails, each reason as part of a sentence."""
        texts = []
        if self.failed_cases:
            names = ", ".join(r.case.id for r in self.failed_cases[:5])
            more = len(self.failed_cases) - 5
            texts.append(
                f"{len(self.failed_cases)} of {len(self.cases)} cases fail their own requirements"
                f" ({names}{f' and {more} more' if more > 0 else ''})"
            )
        for expectation, mean in self.floors:
            if mean is None or not expectation.holds(mean):
                value = "undefined" if mean is None else f"{mean:.4f}"
                texts.append(
                    f"{expectation.measure} is {value}, and the floor is {expectation.value:g}"
                )
        texts += [
            f"{row.label} is worse by {abs(row.now - row.before):.4f} (p = {row.p_worse:.2g})"
            for row in self.rows
            if row.outcome == "worse"
        ]
        return texts + self.latency.failures

    @property
    def doubts(self) -> list[str]:
        """What the check cannot decide, each as part of a sentence."""
        texts = []
        for row in self.rows:
            if row.outcome == "open":
                texts.append(
                    f"{_counted(row.unjudged, 'result')} without a judgment could change {row.label}:"
                    f" it lies between {row.low:.4f} and {row.high:.4f} (was {row.before:.4f})"
                )
            elif row.outcome == "not enough evidence":
                more = f"; about {row.needed:,} cases would settle it" if row.needed else ""
                texts.append(
                    f"{_counted(row.cases, 'case')} cannot show that {row.label} holds"
                    f" ({row.now - row.before:+.4f}, {row.changed} changed){more}"
                )
        if self.baseline is not None and not self.rows:
            texts.append("no case can be compared with the baseline")
        elif self.ungated:
            texts.append(f"no case of {', '.join(self.ungated)} can be compared with the baseline")
        return texts

    @property
    def verdict(self) -> Verdict:
        """What it comes to: a failure outweighs a doubt."""
        if self.failures:
            return "fail"
        return "not enough evidence" if self.doubts else "pass"

    @property
    def passed(self) -> bool:
        """Whether everything required was shown."""
        return self.verdict == "pass"

    def __bool__(self) -> bool:
        return self.passed

    def status(self, unsure: str = "fail") -> int:
        """The exit status: 0 pass, 1 fail, 3 not enough evidence, or 0 for that if it must not block."""
        status = STATUS[self.verdict]
        return 0 if status == 3 and unsure == "pass" else status

    @property
    def sentence(self) -> str:
        """The verdict in words."""
        if self.verdict == "fail":
            return f"FAILED: {'; '.join(self.failures)}."
        if self.verdict == "not enough evidence":
            return f"NOT ENOUGH EVIDENCE: {'; '.join(self.doubts)}."
        against = ""
        if self.rows:
            margins = ", ".join(f"{row.label} within {row.margin:g}" for row in self.rows[:3])
            against = f" and no worse than the baseline ({margins})"
        return f"PASSED: {_counted(len(self.cases), 'case')} as required{against}."

    def changes(self) -> list[CaseResult]:
        """Cases whose values changed, the worst first."""
        losses = {
            id(r): min((r.improvement(label) for label in self.means), default=0.0)
            for r in self.cases
        }
        changed = [r for r in self.cases if any(r.improvement(label) for label in self.means)]
        return sorted(changed, key=lambda r: (losses[id(r)], r.case.id))

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data."""
        from dataclasses import asdict

        return {
            "goodgain": "check",
            "format": 1,
            "verdict": self.verdict,
            "sentence": self.sentence,
            "golden": self.golden,
            "target": dict(self.target),
            "version": self.version,
            "depth": self.depth,
            "alpha": self.alpha,
            "means": dict(self.means),
            "baseline": None if self.baseline is None else dict(self.baseline),
            "latency": {
                "now": dict(self.latency.now),
                "before": dict(self.latency.before),
                "limits": dict(self.latency.limits),
            },
            "floors": [{"floor": str(e), "mean": mean} for e, mean in self.floors],
            "gate": [{**asdict(row), "label": row.label} for row in self.rows],
            "cases": [_case_dict(result) for result in self.cases],
            "notes": list(self.notes),
        }

    def render(self, format: str = "table") -> str:  # noqa: A002
        """As text: table, markdown, junit or json."""
        from goodgain.checks import render

        return render.FORMATS[format](self)

    def __str__(self) -> str:
        return self.render().rstrip("\n")


def _case_dict(result: CaseResult) -> dict[str, Any]:
    return {
        "case": result.case.id,
        "query": result.case.query,
        "tags": list(result.case.tags),
        "status": result.call.status,
        "tries": result.call.tries,
        "seconds": result.call.seconds,
        "results": list(result.keys),
        "before": None if result.before_keys is None else list(result.before_keys),
        "values": _plain(result.values),
        "values_before": None if result.before is None else _plain(result.before),
        "unjudged": list(result.matches.unjudged),
        "failures": list(result.failures),
    }


def _plain(values: Mapping[str, float]) -> dict[str, float | None]:
    return {name: None if math.isnan(value) else value for name, value in values.items()}


def milliseconds(seconds: float) -> str:
    """A duration as people read it."""
    return f"{seconds:.2f} s" if seconds >= 1 else f"{1000 * seconds:.3g} ms"


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
