"""The gate: pass only if the evidence shows a candidate to be no worse than the baseline."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, Literal

from goodgain.comparison.comparison import Settings
from goodgain.comparison.design import describe
from goodgain.comparison.pairing import (
    Column,
    Paired,
    Pairing,
    choose_columns,
    direction_notes,
    missing_labels,
    open_reason,
)
from goodgain.comparison.replicates import require_test
from goodgain.comparison.scores import ScoreSet, collect
from goodgain.comparison.sugar import evaluated_sources
from goodgain.cores import thread_count
from goodgain.errors import InputError, UsageError, suggest_keywords
from goodgain.results.nouns import unit_nouns
from goodgain.results.numbers import p_text, signed
from goodgain.results.text import LONG_FORMATS, html_table, number, render
from goodgain.results.views import Plottable
from goodgain.stats import effect, paired
from goodgain.stats.margin import Margin
from goodgain.stats.paired import TESTS, Resampling

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from goodgain.comparison.pairing import Labels
    from goodgain.measures.definition import Measure
    from goodgain.names import Seeds, TestName, Unpaired

Verdict = Literal["no worse", "worse", "not shown", "open", "no evidence"]
DEFAULT_MEASURES = "nDCG@10"  # of gate(qrels, runs)
_EXTREMES: tuple[Labels, ...] = ("worst", "best")
GATE_TESTS = tuple(name for name in TESTS if name != "tukey")


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One measure: it passes if "worse by the margin or more" is rejected, whatever missing labels are.

    Without evidence (nothing labelled, nothing defined, nothing measured) the numbers are None or
    meaningless, and `reason` says what is missing.
    """

    measure: Measure
    baseline_mean: float
    mean: float
    difference: float
    margin: float
    bound: float | None  # the worst difference that the data allow, one-sided
    p: float
    verdict: Verdict
    queries: int
    queries_needed: int | None  # about how many would show it, if the difference stays as it is
    seeds: int = 0  # that the test covers
    seeds_needed: int | None = None  # the same, with as many queries
    reason: str = ""

    @property
    def lower_is_better(self) -> bool:
        """Whether lower values of the measure are better."""
        return self.measure.lower_is_better

    @property
    def passed(self) -> bool:
        """Whether the candidate is shown to be no worse."""
        return self.verdict == "no worse"

    def to_dict(self) -> dict[str, Any]:
        """Field to value."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return values | {
            "measure": self.measure.label,
            "lower_is_better": self.lower_is_better,
            "passed": self.passed,
        }


@dataclass(frozen=True, slots=True)
class Loss:
    """A query on which the candidate is worse."""

    query: str
    measure: str
    baseline: float
    candidate: float
    change: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate(Plottable):
    """The checks, the queries that lost most, and whether all checks passed.

    >>> import goodgain as gg
    >>> qrels = {f"q{n}": {"a": 1} for n in range(20)}
    >>> old = {q: ["x", "a"] for q in qrels}
    >>> new = {q: ["a", "x"] for q in qrels}
    >>> gate = gg.gate(qrels, {"old": old, "new": new}, "RR")
    >>> gate.passed
    True
    >>> print(gate.sentence)
    PASSED: new is not worse than old by more than the margin.
    """

    baseline: str
    candidate: str
    test: str
    alpha: float
    checks: tuple[Check, ...]
    losses: tuple[Loss, ...]
    notes: tuple[str, ...] = ()
    design: str = ""

    @property
    def passed(self) -> bool:
        """Whether every measure passed; since all must, no correction is needed."""
        return bool(self.checks) and all(check.passed for check in self.checks)

    def __bool__(self) -> bool:
        return self.passed

    @property
    def sentence(self) -> str:
        """The verdict and its reasons."""
        if self.passed:
            return f"PASSED: {self.candidate} is not worse than {self.baseline} by more than the margin."
        reasons = [_reason(check) for check in self.checks if not check.passed]
        if not self.checks:
            reasons = ["no measure has values for both"]
        return f"FAILED: {self.candidate} against {self.baseline}: {'; '.join(reasons)}."

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data."""
        data = {f.name: getattr(self, f.name) for f in fields(self)}
        data |= {"passed": self.passed, "sentence": self.sentence}
        data["checks"] = [check.to_dict() for check in self.checks]
        data["losses"] = [asdict(loss) for loss in self.losses]
        return {"goodgain": "gate", "format": 1, **data}

    def rows(self) -> tuple[list[str], list[list[Any]]]:
        """Column names and a row for each measure."""
        columns = ["system", "baseline", "measure", "mean", "baseline_mean", "difference", "p", "margin",
                   "bound", "verdict", "passed", "queries", "queries_needed", "seeds", "seeds_needed",
                   "reason"]  # fmt: skip
        rows = [
            [self.candidate, self.baseline, c.measure.label, c.mean, c.baseline_mean, c.difference, c.p,
             c.margin, c.bound, c.verdict, c.passed, c.queries, c.queries_needed, c.seeds, c.seeds_needed,
             c.reason]
            for c in self.checks
        ]  # fmt: skip
        return columns, rows

    def render(self, format: str = "table") -> str:  # noqa: A002
        """As text, in any format of the command line; JSON has everything."""
        if format == "json":
            import json

            return json.dumps(self.to_dict(), ensure_ascii=False, indent=1) + "\n"
        if format in LONG_FORMATS:
            return render(format, *self.rows())
        return self._markdown() if format == "markdown" else self._plain(format)

    def _tables(
        self,
    ) -> tuple[tuple[list[str], list[list[str]]], tuple[list[str], list[list[str]]]]:
        checks = [
            [
                f"{c.measure} ↓" if c.lower_is_better else c.measure.label, number(c.baseline_mean),
                number(c.mean), signed(c.difference), signed(c.bound), f"{c.margin:.3g}",
                p_text(c.p, self.alpha), c.verdict, f"{c.queries:,}",
            ]
            for c in self.checks
        ]  # fmt: skip
        losses = [
            [x.query, x.measure, number(x.baseline), number(x.candidate), signed(x.change)]
            for x in self.losses
        ]
        return (
            (["measure", "baseline", "candidate", "difference", "at worst", "margin", "p", "verdict", "n"],
             checks),
            (["query", "measure", "baseline", "candidate", "change"], losses),
        )  # fmt: skip

    def _how(self) -> str:
        name = "t-test over queries and seeds" if self._covers_seeds else TESTS[self.test]
        return (
            f"{name}, one-sided, alpha {self.alpha:g}: a measure passes if "
            '"worse by the margin or more" is rejected.'
        )

    @property
    def _units(self) -> str:
        return unit_nouns(self.checks[0].measure if self.checks else None)[1]

    @property
    def _covers_seeds(self) -> bool:
        return self.test == "t" and any(check.seeds for check in self.checks)

    def _plain(self, format: str) -> str:  # noqa: A002
        checks, losses = self._tables()
        text = render(format, *checks)
        if self.losses:
            title = f"{'% the ' if format == 'latex' else ''}{self._units} that lost most\n"
            text += f"\n{title}{render(format, *losses)}"
        comment = "% " if format == "latex" else ""
        design = f"{comment}{self.design}\n" if self._covers_seeds else ""
        return f"{text}\n{comment}{self._how()}\n{design}{comment}{self.sentence}\n"

    def _repr_html_(self) -> str:
        from html import escape

        checks, losses = self._tables()
        lost = html_table(*losses, f"{self._units} that lost most") if self.losses else ""
        below = f"<p>{escape(self._how())}</p>"
        return html_table(*checks, self.sentence) + lost + below

    def _markdown(self) -> str:
        """A summary for a pull request."""
        checks, losses = self._tables()
        mark = "✅" if self.passed else "❌"
        text = f"## {mark} Retrieval gate\n\n{self.sentence}\n\n"
        text += f"{render('markdown', *checks)}\n{self._how()}\n"
        if self.losses:
            text += (
                f"\n<details><summary>The {len(self.losses)} {self._units} that lost most</summary>\n\n"
                f"{render('markdown', *losses)}\n</details>\n"
            )
        return text + "".join(f"\n> {note}\n" for note in self.notes)

    def __str__(self) -> str:
        return self.render("table").rstrip("\n")

    def __repr__(self) -> str:
        return f"Gate({'passed' if self.passed else 'failed'}: {self.candidate} against {self.baseline})"


def _reason(check: Check) -> str:
    """Why a check did not pass, as part of a sentence."""
    units = "conversations" if check.measure.namespace == "agentic" else "queries"
    match check.verdict:
        case "worse":
            return f"{check.measure} is worse by more than {check.margin:.3g}"
        case "no evidence":
            return f"{check.measure} has no evidence: {check.reason}"
        case "open":
            return f"{check.measure} is open: {check.reason}"
    needed = [f"{check.queries_needed:,} {units}"] if check.queries_needed else []
    needed += [f"{check.seeds_needed:,} seeds"] if check.seeds_needed else []
    if needed and not check.seeds:
        needed = [f"{check.queries_needed:,}"]
    more = f" (about {' or '.join(needed)} would)" if needed else ""
    seeds = f" with {check.seeds} seed{'s' * (check.seeds > 1)}" if check.seeds else ""
    why = f": {check.reason}" if check.reason else ""
    return f"{check.queries:,} {units}{seeds} do not show that {check.measure} holds{more}{why}"


@suggest_keywords
def gate(
    *sources: Any,
    measures: str | Measure | Iterable[str | Measure] | None = None,
    baseline: str | None = None,
    candidate: str | None = None,
    qrels: Any = None,
    runs: Any = None,
    columns: Mapping[str, str | Sequence[str]] | None = None,
    lower_is_better: Iterable[str] = (),
    higher_is_better: Iterable[str] = (),
    unpaired: Unpaired = "drop",
    seeds: Seeds = "random",
    margin: float | str | Mapping[str, float | str] = 0.01,
    alpha: float = 0.05,
    test: TestName = "t",
    worst: int = 10,
    permutations: int = paired.PERMUTATIONS,
    bootstraps: int = paired.BOOTSTRAPS,
    seed: int = 0,
    threads: int | None = None,
) -> Gate:
    """Test whether a candidate is no worse than a baseline on every measure.

    The sources are what `compare` takes: the baseline first, then the candidate; or one source with
    both; or `(qrels, runs, measures)`. `baseline` and `candidate` name them where there are more than
    two systems. A measure passes only on evidence: it fails if nothing is labelled or defined, if no
    system scores anything, or if missing labels allow the other verdict. `worst` is the number of
    queries named as the greatest losses.

    >>> import goodgain as gg
    >>> qrels = {f"q{n}": {"a": 1} for n in range(20)}
    >>> old = {q: ["a", "x"] for q in qrels}
    >>> new = {q: ["a", "x"] if q < "q3" else ["x", "a"] for q in qrels}
    >>> result = gg.gate(qrels, {"old": old, "new": new}, "RR", margin=0.02)
    >>> result.passed
    False
    >>> print(result.sentence)
    FAILED: new against old: RR is worse by more than 0.02.
    """
    if test not in GATE_TESTS:
        raise UsageError(
            f"unknown test '{test}' for the gate", hint=f"one of: {', '.join(GATE_TESTS)}"
        )
    if not 0 < alpha < 1:
        raise UsageError(f"alpha must be between 0 and 1, got {alpha}")
    sources, measures = evaluated_sources(sources, measures, DEFAULT_MEASURES, qrels, runs)
    scores = ScoreSet()
    for source in sources:
        collect(source, scores, columns)
    scores.state_directions(lower_is_better, higher_is_better)
    old, new = _two_systems(scores, baseline, candidate)
    margins = Margin.of(margin)
    resampling = Resampling(permutations, bootstraps, seed, thread_count(threads))
    pairing = Pairing(scores, unpaired, seeds)
    checks, cells = [], []
    for column in _gated_columns(scores, measures, (old, new)):
        if column.kind != "mean":
            raise UsageError(f"the gate tests means, and {column.label} is not a mean")
        missing = _missing_evidence(scores, column, old, new)
        cell = None
        if not missing:
            try:
                cell = pairing.pair(old, new, column)
            except InputError as error:
                missing = error.message
        limit = _limit(margins, column, math.nan if cell is None else float(cell.a.mean()))
        if cell is None:
            checks.append(_no_evidence(column, limit, missing))
            continue
        require_test(test, [(new, cell.replicates)])
        cells.append(cell)
        checks.append(_check(cell, limit, test, alpha, resampling))
    design = Settings(test=test, alpha=alpha, unpaired=unpaired, seeds=seeds)
    return Gate(
        baseline=old,
        candidate=new,
        test=test,
        alpha=alpha,
        checks=tuple(checks),
        losses=_losses(cells, worst),
        design=describe(scores, cells, design) if cells else "",
        notes=(*scores.notes, *pairing.notes(), *direction_notes(c.measure for c in checks)),
    )


def _two_systems(scores: ScoreSet, baseline: str | None, candidate: str | None) -> tuple[str, str]:
    names = list(scores.systems)
    for name in (baseline, candidate):
        if name is not None and name not in names:
            raise UsageError(f"unknown system '{name}'", hint=f"systems: {', '.join(names)}")
    old = baseline or next((n for n in names if n != candidate), None)
    others = [n for n in names if n != old]
    if candidate is None and len(others) > 1:
        raise UsageError(
            f"the gate compares one baseline with one candidate, got {len(names)} systems",
            hint=f"name them (--baseline, --candidate): {', '.join(names)}",
        )
    new = candidate or next(iter(others), None)
    if old is None or new is None or old == new:
        raise UsageError(
            "the gate compares one baseline with one candidate",
            hint=f"systems: {', '.join(names) or 'none'}",
        )
    return old, new


def _gated_columns(scores: ScoreSet, measures: Any, systems: tuple[str, str]) -> list[Column]:
    """The measures to check. By default all that there are, those without evidence too: they fail."""
    if measures is not None:
        return choose_columns(scores, measures)
    labels = [m for m in scores.default_measures if m in scores.measures] or list(scores.measures)
    columns = [Column(scores.measures[label], label) for label in labels]
    return [
        c
        for c in columns
        if not c.measure.is_cost
        or all(any(v == v for v in scores.values(s, c.key).values()) for s in systems)
    ]


def _missing_evidence(scores: ScoreSet, column: Column, old: str, new: str) -> str:
    """What is missing for a verdict on a measure; empty if nothing is."""
    measure = column.measure
    unlabelled = missing_labels(measure, scores, (old, new))
    if unlabelled:
        items = "result" if measure.namespace == "agentic" else "retrieved document"
        verb = "labelled" if measure.namespace == "agentic" else "judged"
        return f"no {items} of {' and '.join(unlabelled)} is {verb}"
    values = [v for s in (old, new) for v in scores.values(s, column.key).values() if v == v]
    for system in (old, new):
        if not any(v == v for v in scores.values(system, column.key).values()):
            return f"it is undefined for all of {system}"
    if measure.definition.needs_labels and not measure.lower_is_better and not any(values):
        return "every value of both systems is 0, so nothing was measured"
    return ""


def _limit(margins: Margin | None, column: Column, baseline_mean: float) -> float:
    limit = margins.value(column.label, baseline_mean) if margins else None
    if limit is None:
        raise UsageError(f"no margin for {column.label}", hint=f"--margin {column.label}=0.01")
    return limit


def _no_evidence(column: Column, margin: float, reason: str) -> Check:
    return Check(
        measure=column.measure,
        baseline_mean=math.nan,
        mean=math.nan,
        difference=math.nan,
        margin=margin,
        bound=None,
        p=1.0,
        verdict="no evidence",
        queries=0,
        queries_needed=None,
        reason=reason,
    )


def _check(cell: Paired, margin: float, test: str, alpha: float, resampling: Resampling) -> Check:
    improvements, sign = cell.improvements, cell.measure.sign
    verdict, p = _verdict(cell, margin, test, alpha, resampling)
    reason = ""
    if cell.is_bounded:
        extremes = {
            _verdict(cell, margin, test, alpha, resampling, labels)[0]
            for labels in _EXTREMES
            if not cell.is_unbounded
        }
        if extremes != {verdict}:
            low, high = (
                sign * float(v.mean()) for v in (cell.worst_improvements, cell.best_improvements)
            )
            span = f"{min(low, high):+.4g} to {max(low, high):+.4g}"
            reason = f"{open_reason(cell.is_unbounded)} allow a difference of {span}"
            verdict = "open"
    interval = cell.interval(test, 1 - 2 * alpha, resampling)
    distance = float(improvements.mean()) + margin
    queries = seeds = None
    if verdict == "not shown" and cell.replicates is not None:
        refused = cell.replicates.refusal()
        reason = (
            f"nothing is shown about other {cell.replicates.factor}s with {refused}"
            if refused
            else ""
        )
        if not refused:
            queries, seeds = effect.sample_needed(
                cell.replicates.error(), len(improvements), cell.replicates.counts, distance, alpha
            )
    elif verdict == "not shown":
        queries = effect.queries_needed(improvements, distance, alpha)
    return Check(
        measure=cell.measure,
        baseline_mean=float(cell.a.mean()),
        mean=float(cell.b.mean()),
        difference=float((cell.b - cell.a).mean()),
        margin=margin,
        bound=None if interval is None else (interval[0] if sign > 0 else interval[1]),
        p=p,
        verdict=verdict,
        queries=len(improvements),
        queries_needed=queries if queries and queries > len(improvements) else None,
        seeds=0 if cell.replicates is None else max(cell.replicates.counts),
        seeds_needed=seeds,
        reason=reason,
    )


def _verdict(
    cell: Paired,
    margin: float,
    test: str,
    alpha: float,
    resampling: Resampling,
    labels: Labels = "known",
) -> tuple[Verdict, float]:
    p = cell.noninferior_p(margin, test, resampling, labels=labels)
    if p < alpha:
        return "no worse", p
    worse = cell.test(
        test, resampling, alternative="greater", toward=-1, shift=-margin, labels=labels
    ).p
    return ("worse" if worse < alpha else "not shown"), p


def _losses(cells: list[Paired], worst: int) -> tuple[Loss, ...]:
    """The queries that lost most, each measure in its own unit, the first measure first."""
    losses = []
    for cell in cells:
        changes = cell.improvements
        order = sorted(range(len(changes)), key=lambda i, c=changes: (c[i], cell.units[i]))  # type: ignore[misc]
        losses += [
            Loss(
                cell.units[i],
                cell.measure.label,
                *map(float, (cell.a[i], cell.b[i], cell.b[i] - cell.a[i])),
            )
            for i in order[:worst]
            if changes[i] < 0
        ]
    return tuple(losses)
