"""Search the conventions under which a published table is reproduced to its last digit."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

from goodgain.auditing.conventions import (
    AVERAGING,
    DEPTHS,
    RANKING,
    ROUNDING,
    Variant,
    ranking_choices,
    variants,
)
from goodgain.auditing.published import Published, read_published
from goodgain.auditing.result import Audit, Cell, Column
from goodgain.auditing.scoring import Scorer
from goodgain.auditing.tools import matching_tools
from goodgain.data import Qrels
from goodgain.io.columns import columns_of
from goodgain.io.rows import rows_of
from goodgain.ranking.evaluator import several_runs

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from goodgain.measures.definition import Measure

_MOST_MEANS = 300_000  # of runs, for the search over all meanings of all columns
_MOST_VARIANTS = 6  # of each column, where that would be more

Choices = dict[str, str]


def audit(
    qrels: Any,
    runs: Any,
    table: Any,
    *,
    measures: Mapping[str, str] | None = None,
    columns: Mapping[str, str] | None = None,
    threads: int | None = None,
) -> Audit:
    r"""Find how a published table was computed from these judgments and runs.

    `table` has a row per run and a column per measure, with values as they were printed. The search
    varies ties, score precision, unjudged documents, depth, missing queries, gains, thresholds,
    cut-offs and rounding. What the table cannot tell apart is reported as not decided. `measures`
    maps columns to measures where the header does not name them.

    >>> from pathlib import Path
    >>> import goodgain as gg
    >>> qrels = {"q1": {"a": 1, "b": 0}, "q2": {"c": 1}}
    >>> runs = {"bm25": {"q1": {"a": 2.0, "b": 1.0}, "q2": {"x": 2.0, "c": 1.0}}}
    >>> _ = Path("table.csv").write_text("run,RR@10\nbm25,0.750\n")
    >>> print(str(gg.audit(qrels, runs, "table.csv")).splitlines()[0])
    1 of 1 values reproduced to the last digit (1 run, 1 measure)
    """
    judgments = Qrels.of(qrels, columns_of("qrels", columns))
    listed = several_runs(runs, columns_of("run", columns) if columns else None)
    published = read_published(table, [run.name for run in listed], measures)
    used = [run for run in listed if run.name in published.runs]
    scorer = Scorer(judgments, used, threads)
    gains = sorted(set(rows_of(judgments.source, "qrels").value))
    search = _Search(scorer, published, gains)
    best = search.run()
    return Audit(
        cells=search.cells(best),
        conventions=best.choices(),
        possible=search.possible(best),
        columns=search.columns(best),
        combinations=search.combinations,
        without_effect=search.without_effect(),
        tools=matching_tools(scorer, published, search.matches(best)),
        ignored_columns=published.ignored_columns,
        ignored_rows=published.ignored_rows,
        runs_without_row=tuple(run.name for run in listed if run.name not in published.runs),
    )


@dataclass(frozen=True, slots=True)
class _Fit:
    """A way of ranking, averaging and rounding, and the best variant of each column under it."""

    ranking: tuple[tuple[str, str], ...]
    averaging: tuple[tuple[str, str], ...]
    rounding: str
    variants: tuple[Variant, ...]
    matched: int
    left_over: float

    def choices(self) -> Choices:
        return {**dict(self.ranking), **dict(self.averaging), "rounding": self.rounding}

    def order(self) -> tuple[float, ...]:
        """Most matches first, then the fewest unusual choices, then the least left over."""
        unusual = sum(choice != _usual(axis) for axis, choice in self.choices().items())
        changes = sum(len(variant.changes) for variant in self.variants)
        return (-self.matched, unusual + changes, self.left_over)


def _usual(axis: str) -> str:
    return {**RANKING, **AVERAGING, **ROUNDING}[axis][0]


class _Search:
    """The search over conventions for one table."""

    def __init__(self, scorer: Scorer, published: Published, gains: Sequence[float]) -> None:
        self._scorer = scorer
        self._published = published
        self._variants = {c: variants(m, gains) for c, m in published.measures.items()}
        self._meanings = {column: len(all_of) for column, all_of in self._variants.items()}
        self._axes: dict[str, tuple[str, ...]] = {}
        self._averaging: dict[str, tuple[str, ...]] = {}
        self._fits: list[_Fit] = []

    def run(self) -> _Fit:
        """The best fit; all fits are remembered, to see what the table decides."""
        self._find_axes()
        rankings = list(ranking_choices(self._axes))
        averagings = list(ranking_choices(self._averaging))
        means = len(self._published.runs) * len(rankings) * len(averagings)
        if means * sum(self._meanings.values()) > _MOST_MEANS:
            self._narrow(rankings)
        self._scorer.prepare_means(
            [(v.measure, r) for some in self._variants.values() for v in some for r in rankings],
            averagings,
        )
        self._fits = [
            self._fit(ranking, averaging, rounding)
            for ranking, averaging, rounding in product(rankings, averagings, ROUNDING["rounding"])
        ]
        return min(self._fits, key=_Fit.order)

    @property
    def combinations(self) -> int:
        """How many ways of ranking, averaging and rounding there are; all of them are tried."""
        return len(self._fits)

    # --- which conventions can matter for these files ---

    def _find_axes(self) -> None:
        scorer = self._scorer
        axes = {**RANKING, "depth": ("0", *map(str, self._depths()))}
        if not scorer.has_duplicates():
            axes["duplicates"] = ("first",)
        measures = [v.measure for all_of in self._variants.values() for v in all_of]
        tried = [{axis: choice} for axis, choices in axes.items() for choice in choices]
        tried += [{**one, "scores": "single"} for one in tried if "scores" not in one]
        live: dict[str, set[str]] = {axis: set() for axis in axes}
        size = max(1, scorer.at_once() // (len(tried) + 1))
        for start in range(0, len(measures), size):
            some = measures[start : start + size]
            with scorer.briefly([(m, one) for m in some for one in [{}, *tried]]):
                for one in tried:
                    single = one.get("scores") == "single" and len(one) > 1
                    rest = {"scores": "single"} if single else {}
                    axis = next(a for a in one if a not in rest)
                    if one[axis] not in live[axis] and self._differs(some, one, rest):
                        live[axis].add(one[axis])
        self._axes = {
            axis: (choices[0], *(c for c in choices[1:] if c in live[axis]))
            for axis, choices in axes.items()
            if live[axis]
        }
        self._averaging = {
            axis: choices for axis, choices in AVERAGING.items() if self._averaging_matters(axis)
        }

    def _depths(self) -> list[int]:
        longest = self._scorer.longest()
        return [depth for depth in DEPTHS if depth < longest]

    def _differs(self, measures: Iterable[Measure], one: Choices, other: Choices) -> bool:
        import numpy as np

        return any(
            not np.allclose(
                self._scorer.values(run, m, one), self._scorer.values(run, m, other),
                rtol=0, atol=1e-12, equal_nan=True,
            )
            for run in self._published.runs
            for m in measures
        )  # fmt: skip

    def _averaging_matters(self, axis: str) -> bool:
        if axis == "missing":
            return any(not self._scorer.present(run).all() for run in self._published.runs)
        counts = [Scorer.relevant(v.measure) for all_of in self._variants.values() for v in all_of]
        self._scorer.prepare([(count, {}) for count in counts])
        run = self._published.runs[0]
        return any((self._scorer.values(run, count, {}) == 0).any() for count in counts)

    def without_effect(self) -> tuple[str, ...]:
        """The axes that, on their own, change no value of these runs."""
        live = {*self._axes, *self._averaging}
        return tuple(axis for axis in (*RANKING, *AVERAGING) if axis not in live)

    # --- fits ---

    def _narrow(self, rankings: list[Choices]) -> None:
        """Keep the most promising variants of each column, judged under simple ways of ranking."""
        simple = [r for r in rankings if sum(r[a] != _usual(a) for a in r) <= 1]
        requests = [
            (v.measure, r) for all_of in self._variants.values() for v in all_of for r in simple
        ]
        averagings = list(ranking_choices(self._averaging))
        self._scorer.prepare_means(requests, averagings)
        for column, all_of in self._variants.items():
            ranked = []
            for place, variant in enumerate(all_of):
                fits = [
                    self._compare(column, variant, ranking, averaging, rounding)
                    for ranking in simple
                    for averaging in averagings
                    for rounding in ROUNDING["rounding"]
                ]
                matched, left_over = max(fits, key=lambda fit: (fit[0], -fit[1]))
                ranked.append((-matched, len(variant.changes), left_over, place))
            by_distance = sorted(ranked, key=lambda r: (r[2], r[1]))[:2]
            best = sorted({*sorted(ranked)[: _MOST_VARIANTS - 2], *by_distance})
            candidates = [all_of[place] for *_, place in best]
            self._variants[column] = (
                candidates if all_of[0] in candidates else [all_of[0], *candidates]
            )

    def _compare(
        self, column: str, variant: Variant, ranking: Choices, averaging: Choices, rounding: str
    ) -> tuple[int, float]:
        """How many cells of a column are reproduced, and how much is left over in the others."""
        matched, left_over = 0, 0.0
        for run in self._published.runs:
            printed = self._published.cells.get((run, column))
            if printed is None:
                continue
            number = self._scorer.mean(run, variant.measure, ranking, averaging)
            if printed.reproduces(number, rounding):
                matched += 1
            else:
                distance = abs(printed.left_over(number))
                left_over += distance if distance == distance else 1.0
        return matched, left_over

    def _fit(self, ranking: Choices, averaging: Choices, rounding: str) -> _Fit:
        chosen, matched, left_over = [], 0, 0.0
        for column, candidates in self._variants.items():
            fits = [(self._compare(column, v, ranking, averaging, rounding), v) for v in candidates]
            (count, rest), variant = min(
                fits, key=lambda fit: (-fit[0][0], len(fit[1].changes), fit[0][1])
            )
            chosen.append(variant)
            matched += count
            left_over += rest
        return _Fit(
            ranking=tuple(ranking.items()),
            averaging=tuple(averaging.items()),
            rounding=rounding,
            variants=tuple(chosen),
            matched=matched,
            left_over=left_over,
        )

    # --- what the fits say ---

    def matches(self, fit: _Fit) -> int:
        """How many cells the fit reproduces."""
        return fit.matched

    def possible(self, best: _Fit) -> dict[str, tuple[str, ...]]:
        """The choices of each axis under which as many cells are reproduced, the chosen one first."""
        equal = [fit for fit in self._fits if fit.matched == best.matched]
        choices = best.choices()
        return {
            axis: (
                choice,
                *sorted({fit.choices()[axis] for fit in equal} - {choice}),
            )
            for axis, choice in choices.items()
        }

    def cells(self, best: _Fit) -> tuple[Cell, ...]:
        """Every cell with the number that the conventions give."""
        by_column = dict(zip(self._variants, best.variants, strict=True))
        cells = []
        for (run, column), printed in self._published.cells.items():
            measure = by_column[column].measure
            number = self._scorer.mean(run, measure, dict(best.ranking), dict(best.averaging))
            cells.append(
                Cell(
                    run=run,
                    column=column,
                    measure=str(measure),
                    printed=printed.text,
                    computed=number * 100 if printed.percent else number,
                    reproduced=printed.reproduces(number, best.rounding),
                    left_over=printed.left_over(number),
                )
            )
        return tuple(cells)

    def columns(self, best: _Fit) -> tuple[Column, ...]:
        """What each column is; for one that is not reproduced, the conventions of its own that do."""
        result = []
        for place, (column, candidates) in enumerate(self._variants.items()):
            total = sum(c == column for _, c in self._published.cells)
            fits = {
                str(v): self._compare(
                    column, v, dict(best.ranking), dict(best.averaging), best.rounding
                )
                for v in candidates
            }
            chosen = best.variants[place]
            count = fits[str(chosen)][0]
            same = tuple(
                str(v)
                for v in candidates
                if fits[str(v)][0] == count and str(v) != str(chosen) and count
            )
            result.append(
                Column(
                    name=column,
                    measure=str(chosen),
                    changes=chosen.changes,
                    values=total,
                    meanings=self._meanings[column],
                    meanings_tried=len(candidates),
                    reproduced=count,
                    alternatives=same,
                    own_conventions=self._own(column, candidates, best) if count < total else {},
                )
            )
        return tuple(result)

    def _own(self, column: str, candidates: Sequence[Variant], best: _Fit) -> Choices:
        """Choices under which all of one column is reproduced, where the table's own do not."""
        total = sum(c == column for _, c in self._published.cells)
        common = best.choices()
        fitting: list[Choices] = []
        for ranking, averaging, rounding in product(
            ranking_choices(self._axes), ranking_choices(self._averaging), ROUNDING["rounding"]
        ):
            for variant in candidates:
                if self._compare(column, variant, ranking, averaging, rounding)[0] < total:
                    continue
                choices = {**ranking, **averaging, "rounding": rounding}
                changed = {a: c for a, c in choices.items() if c != common[a]}
                fitting.append({**changed, "measure": str(variant)})
        return min(fitting, key=len, default={})
