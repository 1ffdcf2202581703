"""`check`: ask the target, compare with what the golden set and the baseline say, and decide."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goodgain.checks.baseline import Baseline, baseline_text, default_path, read_baseline
from goodgain.checks.golden import GoldenSet, parse_expectation, read_golden
from goodgain.checks.matching import is_named
from goodgain.checks.result import CheckResult, LatencyRow
from goodgain.checks.session import CallSettings, call_target, latency_of
from goodgain.checks.targets import Target, make_target
from goodgain.checks.verdict import (
    ALPHA,
    SMALLEST_TAG,
    default_margin,
    gate_rows,
    judge_cases,
    mean_values,
)
from goodgain.errors import InputError, UsageError, suggest_keywords
from goodgain.ranking.mismatch import Group, alike_notes
from goodgain.redaction import hide_in

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from goodgain.checks.session import Call
    from goodgain.checks.verdict import GateRow
    from goodgain.measures.definition import Measure

DEFAULT_MEASURES = "nDCG@10 R@10"


@suggest_keywords
def check(
    golden: str | os.PathLike[str] | GoldenSet,
    target: Any = None,
    *,
    baseline: str | os.PathLike[str] | Baseline | None = None,
    measures: Any = None,
    floors: Mapping[str, float] | None = None,
    margin: Any = None,
    tags: Sequence[str] | None = None,
    alpha: float = ALPHA,
    latency: Mapping[str, Any] | None = None,
    complete: bool | None = None,
    depth: int | None = None,
    version: str | None = None,
    update: str | None = None,
    timeout: float = 30.0,
    retries: int = 2,
    rate: float | None = None,
    concurrency: int = 1,
    warm_up: int = 1,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> CheckResult:
    """Check a search against a golden set, and against the baseline where there is one.

    `target` is a function, or what the file's `target` may be. Arguments override the settings at the head of
    the golden set. `update` writes what the target returned as the new baseline, with this reason.
    `complete` says that the golden set names everything relevant, so that unknown results count as wrong.

    >>> from pathlib import Path
    >>> import goodgain as gg
    >>> golden = "cases: [{id: keys, query: rotate keys, relevant: [keys.md], must: {hit: 3}}]"
    >>> _ = Path("golden.yaml").write_text(golden)
    >>> result = gg.check("golden.yaml", lambda query: ["overview.md", "keys.md"])
    >>> print(result.sentence)
    PASSED: 1 case as required.
    """
    cases = golden if isinstance(golden, GoldenSet) else read_golden(golden)
    settings = cases.settings
    home = Path(cases.path).resolve().parent
    chosen = _measures(measures or settings.get("measures") or DEFAULT_MEASURES)
    limits = _latency_limits(latency or settings.get("latency"), cases.path)
    minima = _floors(floors or settings.get("floors"), cases.path)
    is_complete = bool(settings.get("complete", False)) if complete is None else complete
    margins = _margins(margin if margin is not None else settings.get("margin"), chosen, cases.path)
    gated_tags = _tags(tags if tags is not None else settings.get("tags"), cases)
    if not 0 < alpha < 1:
        raise UsageError(f"alpha must be between 0 and 1, got {alpha}")
    approved = _baseline(baseline, settings.get("baseline"), cases.path, home, update is not None)
    calling = CallSettings(
        depth=depth or settings.get("depth") or _depth(cases, chosen),
        retries=retries,
        rate=rate,
        concurrency=concurrency,
        warm_up=warm_up,
    )
    spec = target if target is not None else settings.get("target")
    if spec is None:
        raise UsageError(
            "the check has no target",
            where=cases.path,
            hint="--target, or target: at the head of the file",
        )
    searched = make_target(spec, home, timeout)
    try:
        calls = call_target(searched, cases.cases, calling, progress)
        described = hide_in(searched.describe())
    finally:
        searched.close()
    floor_measures = [m for m in _measures(list(minima)) if m not in chosen] if minima else []
    measured = [*chosen, *floor_measures]
    results = judge_cases(cases, calls, approved, measured, is_complete)
    means = mean_values(results, measured)
    times = latency_of(calls)
    rows = tuple(gate_rows(results, chosen, margins, gated_tags, alpha, seed) if approved else ())
    result = CheckResult(
        golden=cases.path,
        target=described,
        version=version or (spec.get("version") if isinstance(spec, dict) else None),
        depth=calling.depth,
        alpha=alpha,
        cases=tuple(results),
        rows=rows,
        ungated=_ungated(rows, chosen, gated_tags) if approved else (),
        floors=tuple(
            (expectation, means.get(expectation.measure)) for expectation in minima.values()
        ),
        latency=_latency_row(times, limits, approved),
        means=means,
        baseline=None if approved is None else dict(approved.head),
        notes=tuple(_notes(cases, calls, results, approved, is_complete)),
    )
    if update is not None:
        _update(update, result, cases, calls, approved, baseline, home)
    return result


def _ungated(
    rows: Sequence[GateRow], measures: Sequence[Measure], tags: Sequence[str]
) -> tuple[str, ...]:
    """Measures and tags that were to be gated, but have no case to compare."""
    compared = {(row.measure, row.tag) for row in rows}
    return tuple(
        f"{measure.label} [{tag}]" if tag else measure.label
        for tag in (None, *tags)
        for measure in measures
        if (measure.label, tag) not in compared
    )


def _measures(value: Any) -> list[Measure]:
    from goodgain.measures import parse_all

    return list(parse_all(value))


def _depth(cases: GoldenSet, measures: Sequence[Measure]) -> int:
    """Deep enough for every measure and requirement."""
    cutoffs = [int(m.cutoff) for m in measures if m.cutoff and m.cutoff >= 1]
    needed = [depth for case in cases.cases for depth in (case.at, *case.must.values())]
    expected = _measures(sorted({e.measure for c in cases.cases for e in c.expect} or {"RR"}))
    cutoffs += [int(m.cutoff) for m in expected if m.cutoff and m.cutoff >= 1]
    return max([10, *cutoffs, *needed])


def _tags(value: Any, cases: GoldenSet) -> list[str]:
    """The tags that gate: none unless asked for, since each makes the others harder to show."""
    if value in (None, False):
        return []
    known = cases.tags
    if value is True or value == "all":
        return [tag for tag, members in known.items() if len(members) >= SMALLEST_TAG]
    names = [value] if isinstance(value, str) else list(value)
    for name in names:
        if name not in known:
            raise UsageError(f"no case has the tag '{name}'", where=cases.path,
                             hint=f"tags: {', '.join(known) or 'none'}")  # fmt: skip
    return names


def _floors(value: Any, where: str) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise InputError(f"'floors' is an object, got {value!r:.40}", where=where,
                         hint="floors: {nDCG@10: 0.6}")  # fmt: skip
    return {str(name): parse_expectation(str(name), bound, where) for name, bound in value.items()}


def _margins(value: Any, measures: Sequence[Measure], where: str) -> dict[str, float]:
    """The margin of each measure: its own, the one for all, or a share of its range."""
    margins: dict[str, float] = {}
    special = value if isinstance(value, dict) else {}
    labels = {m.label for m in measures}
    for name in special:
        if name not in labels:
            raise UsageError(f"the margin names '{name}', which is not measured", where=where,
                             hint=f"measures: {', '.join(labels)}")  # fmt: skip
    for measure in measures:
        number = special.get(measure.label) if special else value
        if number is None:
            number = default_margin(measure)
        if number is None:
            raise UsageError(
                f"{measure.label} has no bounds, so it needs a margin", where=where,
                hint=f"--margin {measure.label}=...",
            )  # fmt: skip
        if (
            isinstance(number, bool)
            or not isinstance(number, int | float)
            or not 0 <= number < float("inf")
        ):
            raise UsageError(f"the margin of {measure.label} must be a non-negative number, got {number!r}",
                             where=where)  # fmt: skip
        margins[measure.label] = float(number)
    return margins


def _latency_limits(value: Any, where: str) -> dict[str, Any]:
    """{"p95": 0.5} in seconds, {"p95": "500 ms"}, or {"p95": "+20%"} of the baseline's."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise InputError(f"'latency' is an object, got {value!r:.40}", where=where,
                         hint='latency: {p95: "500 ms"}')  # fmt: skip
    limits: dict[str, Any] = {}
    for name, text in value.items():
        if name not in ("p50", "p95"):
            raise InputError(f"unknown latency '{name}'", where=where, hint="p50 or p95")
        limits[name] = _latency_limit(text, name, where)
    return limits


def _latency_limit(text: Any, name: str, where: str) -> tuple[str, float]:
    import re

    match = re.fullmatch(r"\s*(\+?)\s*([\d.]+)\s*(ms|s|%)?\s*", str(text))
    if match and (match[1] == "+") == (match[3] == "%"):
        number = float(match[2])
        if match[3] == "%":
            return "relative", number / 100
        return "absolute", number / 1000 if match[3] == "ms" else number
    raise InputError(
        f"invalid latency {name}: '{text}'", where=where, hint='"500 ms", "0.5 s" or "+20%"'
    )


def _latency_row(
    times: dict[str, Any], limits: dict[str, Any], approved: Baseline | None
) -> LatencyRow:
    before = dict(approved.latency) if approved else {}
    bounds: dict[str, float] = {}
    notes = []
    for name, (kind, number) in limits.items():
        if kind == "absolute":
            bounds[name] = number
        elif isinstance(before.get(name), int | float):
            bounds[name] = before[name] * (1 + number)
        else:
            notes.append(f"{name} has no baseline to be compared with")
    return LatencyRow(now=times, before=before, limits=bounds, notes=tuple(notes))


def _baseline(value: Any, setting: Any, golden: str, home: Path, updating: bool) -> Baseline | None:
    if isinstance(value, Baseline):
        return value
    path = _baseline_path(value, setting, golden, home)
    is_named = value is not None or setting is not None
    if not Path(path).exists() and (updating or not is_named):
        return None
    return read_baseline(path)


def _baseline_path(value: Any, setting: Any, golden: str, home: Path) -> str:
    if value is not None:
        return str(os.fspath(value))
    return str(home / setting) if setting else default_path(golden)


def _notes(
    cases: GoldenSet, calls: Sequence[Call], results: Any, approved: Baseline | None, complete: bool
) -> list[str]:
    notes = []
    if approved is None:
        notes.append("no baseline: write one with --update REASON to see what changes")
    else:
        unknown = [r.case.id for r in results if r.before is None]
        if unknown:
            notes.append(
                f"{len(unknown)} of {len(results)} cases, or quotes of theirs, are newer than the baseline"
                f" and are not compared: {', '.join(unknown[:5])}"
            )
        gone = [name for name in approved.cases if name not in {c.id for c in cases.cases}]
        if gone:
            notes.append(
                f"{len(gone)} cases of the baseline are no longer checked: {', '.join(gone[:5])}"
            )
    notes += _alike_notes(cases, calls)
    retried = sum(call.tries > 1 and call.status in ("ok", "empty") for call in calls)
    if retried:
        notes.append(f"{retried} cases answered only after a retry")
    return notes


def _alike_notes(cases: GoldenSet, calls: Sequence[Call]) -> list[str]:
    """Ids that differ from those of the results only in how they are written, if none is returned."""
    groups = []
    for case, call in zip(cases.cases, calls, strict=True):
        names = list(dict.fromkeys(name for answer in call.answers for name in answer.names))
        if any(is_named(answer, name) for name in case.relevant for answer in call.answers):
            return []
        if case.relevant and names:
            groups.append(Group(case.id, set(case.relevant), names))
    return alike_notes("documents", groups, ("the results have", "the golden set has"))


def _update(
    reason: str, result: CheckResult, cases: GoldenSet, calls: Sequence[Call], approved: Baseline | None,
    baseline: Any, home: Path,
) -> None:  # fmt: skip
    failed = [r.case.id for r in result.cases if r.call.status in ("error", "timeout")]
    if failed:
        raise InputError(
            f"the baseline was not written: {len(failed)} cases had no answer, such as '{failed[0]}'",
            where=result.golden,
            hint=next(r.call.problem for r in result.cases if r.case.id == failed[0]),
        )
    from goodgain.io.atomic import write_texts

    path = (
        approved.path
        if approved
        else _baseline_path(baseline, cases.settings.get("baseline"), cases.path, home)
    )
    text = baseline_text(
        cases, calls, reason=reason, target=result.target, version=result.version, depth=result.depth,
        latency=result.latency.now, values=result.means,
    )  # fmt: skip
    write_texts({path: text})


def open_target(spec: Any, golden: GoldenSet, timeout: float = 30.0) -> Target:
    """The target of a golden set, for tools that ask it themselves."""
    chosen = spec if spec is not None else golden.settings.get("target")
    if chosen is None:
        raise UsageError(
            "no target", where=golden.path, hint="--target, or target: at the head of the file"
        )
    return make_target(chosen, Path(golden.path).resolve().parent, timeout)
