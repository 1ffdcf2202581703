"""The gate: pass only where a candidate is shown to be no worse than the baseline by more than a margin."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from goodgain.comparison.pairing import Paired, Pairing, asked_measures
from goodgain.comparison.scores import ScoreSet, collect
from goodgain.errors import UsageError
from goodgain.results.numbers import p_text, signed
from goodgain.results.text import LONG_FORMATS, html_table, number, render
from goodgain.results.views import Plottable
from goodgain.stats import effect, paired
from goodgain.stats.margin import Margin, noninferior_p
from goodgain.stats.paired import TESTS, Resampling

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from goodgain.measures import Measure

Verdict = Literal["no worse", "worse", "not shown"]
GATE_TESTS = tuple(name for name in TESTS if name != "tukey")


@dataclass(frozen=True, slots=True)
class Check:
    """One measure: passed where "worse by the margin or more" is rejected."""

    measure: str
    baseline_mean: float
    mean: float
    difference: float
    margin: float
    bound: float | None  # the worst difference that the data allow, one-sided
    p: float
    verdict: Verdict
    queries: int
    queries_needed: int | None  # about how many would show it, if the difference stays as it is
    lower_is_better: bool

    @property
    def passed(self) -> bool:
        """Whether the candidate is shown to be no worse."""
        return self.verdict == "no worse"


@dataclass(frozen=True, slots=True)
class Loss:
    """A query that the candidate answers worse."""

    query: str
    measure: str
    baseline: float
    candidate: float
    change: float


@dataclass(frozen=True, slots=True)
class Gate(Plottable):
    """The checks, the queries that lost most, and whether all checks passed."""

    baseline: str
    candidate: str
    test: str
    alpha: float
    checks: tuple[Check, ...]
    losses: tuple[Loss, ...]
    notes: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether every measure passed; since all must, no correction is needed."""
        return all(check.passed for check in self.checks)

    def __bool__(self) -> bool:
        return self.passed

    @property
    def sentence(self) -> str:
        """The verdict and its reason."""
        if self.passed:
            return f"PASSED: {self.candidate} is no worse than {self.baseline} beyond the margin."
        reasons = []
        for check in self.checks:
            if check.verdict == "worse":
                reasons.append(f"{check.measure} is worse by more than {check.margin:.3g}")
            elif check.verdict == "not shown":
                more = (
                    f" (about {check.queries_needed:,} queries would)"
                    if check.queries_needed
                    else ""
                )
                reasons.append(
                    f"{check.queries:,} queries do not show that {check.measure} holds{more}"
                )
        return f"FAILED: {self.candidate} against {self.baseline}: {'; '.join(reasons)}."

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data."""
        data = asdict(self) | {"passed": self.passed, "sentence": self.sentence}
        data["checks"] = [asdict(c) | {"passed": c.passed} for c in self.checks]
        return {"goodgain": "gate", "format": 1, **data}

    def rows(self) -> tuple[list[str], list[list[Any]]]:
        """Column names and a row for each measure."""
        columns = ["system", "baseline", "measure", "mean", "baseline_mean", "difference", "p", "margin",
                   "bound", "verdict", "passed", "queries", "queries_needed"]  # fmt: skip
        rows = [
            [self.candidate, self.baseline, c.measure, c.mean, c.baseline_mean, c.difference, c.p,
             c.margin, c.bound, c.verdict, c.passed, c.queries, c.queries_needed]
            for c in self.checks
        ]  # fmt: skip
        return columns, rows

    def render(self, format: str = "table") -> str:  # noqa: A002
        """As text in any of the command line's formats; JSON has all of it."""
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
                f"{c.measure} ↓" if c.lower_is_better else c.measure, number(c.baseline_mean),
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
        return (
            f"{TESTS[self.test]}, one-sided, alpha {self.alpha:g}: a measure passes where "
            '"worse by the margin or more" is rejected.'
        )

    def _plain(self, format: str) -> str:  # noqa: A002
        checks, losses = self._tables()
        text = render(format, *checks)
        if self.losses:
            title = (
                "% the queries that lost most\n"
                if format == "latex"
                else "queries that lost most\n"
            )
            text += f"\n{title}{render(format, *losses)}"
        comment = "% " if format == "latex" else ""
        return f"{text}\n{comment}{self._how()}\n{comment}{self.sentence}\n"

    def _repr_html_(self) -> str:
        from html import escape

        checks, losses = self._tables()
        lost = html_table(*losses, "queries that lost most") if self.losses else ""
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
                f"\n<details><summary>The {len(self.losses)} queries that lost most</summary>\n\n"
                f"{render('markdown', *losses)}\n</details>\n"
            )
        return text + "".join(f"\n> {note}\n" for note in self.notes)

    def __str__(self) -> str:
        return self.render("table").rstrip("\n")

    def __repr__(self) -> str:
        return f"Gate({'passed' if self.passed else 'failed'}: {self.candidate} against {self.baseline})"


def gate(
    baseline: Any,
    candidate: Any = None,
    *,
    measures: str | Measure | Iterable[str | Measure] | None = None,
    margin: float | str | Mapping[str, float | str] = 0.01,
    alpha: float = 0.05,
    test: str = "t",
    worst: int = 10,
    systems: tuple[str, str] | None = None,
    unpaired: str = "drop",
    columns: Mapping[str, str] | None = None,
    lower_is_better: Iterable[str] = (),
    permutations: int = paired.PERMUTATIONS,
    bootstraps: int = paired.BOOTSTRAPS,
    seed: int = 0,
    threads: int = 1,
) -> Gate:
    """Test whether a candidate is no worse than a baseline on every measure.

    The two are anything that `compare` takes; one argument with several systems needs `systems`, the
    names of baseline and candidate. `worst` is how many of the queries that lost most are named.
    """
    if test not in GATE_TESTS:
        raise UsageError(f"the gate has no test '{test}'", hint=f"one of: {', '.join(GATE_TESTS)}")
    if not 0 < alpha < 1:
        raise UsageError(f"alpha={alpha} is not between 0 and 1")
    scores = ScoreSet()
    names = collect(baseline, scores, columns)
    if candidate is not None:
        names = [names[0], *collect(candidate, scores, columns)]
    old, new = systems or (names if len(names) == 2 else (None, None))
    for name in (old, new):
        if name not in scores.systems:
            raise UsageError(
                "the gate compares one baseline with one candidate"
                if name is None else f"there is no system '{name}'",
                hint=f"say which of: {', '.join(scores.systems)}",
            )  # fmt: skip
    margins = Margin.of(margin)
    how = Resampling(permutations, bootstraps, seed, threads)
    pairing = Pairing(scores, unpaired)
    asked = asked_measures(scores, measures, lower_is_better)
    cells = [pairing.pair(str(old), str(new), one) for one in asked]
    checks = []
    for cell in cells:
        if cell.asked.kind != "mean":
            raise UsageError(f"the gate tests means, and {cell.asked.label} is none")
        limit = margins.value(cell.asked.label, float(cell.a.mean())) if margins else None
        if limit is None:
            raise UsageError(
                f"there is no margin for {cell.asked.label}",
                hint=f"--margin {cell.asked.label}=0.01",
            )
        checks.append(_check(cell, limit, test, alpha, how))
    return Gate(
        str(old),
        str(new),
        test,
        alpha,
        tuple(checks),
        _losses(cells, worst),
        tuple(pairing.notes()),
    )


def _check(cell: Paired, margin: float, test: str, alpha: float, how: Resampling) -> Check:
    d = cell.b - cell.a
    gains = -d if cell.asked.lower_is_better else d
    p = noninferior_p(gains, margin, test, how)
    shown_worse = run_worse(gains, margin, test, how) < alpha
    if test == "t":
        span = effect.t_interval(gains, 1 - 2 * alpha)
    else:
        span = paired.bca_interval(gains, 1 - 2 * alpha, how)
    bound = None if span is None else (-span[0] if cell.asked.lower_is_better else span[0])
    verdict: Verdict = "no worse" if p < alpha else "worse" if shown_worse else "not shown"
    needed = None
    if verdict == "not shown":
        needed = effect.queries_needed(gains, float(gains.mean()) + margin, alpha)
    return Check(
        cell.asked.label, float(cell.a.mean()), float(cell.b.mean()), float(d.mean()), margin, bound,
        p, verdict, len(d), needed if needed and needed > len(d) else None, cell.asked.lower_is_better,
    )  # fmt: skip


def run_worse(gains: Any, margin: float, test: str, how: Resampling) -> float:
    """P-value against "worse by no more than the margin"."""
    return paired.run_test(test, -gains - margin, "greater", how).p


def _losses(cells: list[Paired], worst: int) -> tuple[Loss, ...]:
    """The queries that lost most, each measure in its own unit, the first measure first."""
    found = []
    for cell in cells:
        sign = -1 if cell.asked.lower_is_better else 1
        changes = sign * (cell.b - cell.a)
        order = sorted(range(len(changes)), key=lambda i, c=changes: (c[i], cell.units[i]))  # type: ignore[misc]
        found += [
            Loss(
                cell.units[i],
                cell.asked.label,
                *map(float, (cell.a[i], cell.b[i], cell.b[i] - cell.a[i])),
            )
            for i in order[:worst]
            if changes[i] < 0
        ]
    return tuple(found)
