"""Good Gain as rows and tables: by iteration, at the end of conversations, and paired by system."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

from goodgain.results.notebook import mean_cell
from goodgain.results.text import LONG_FORMATS, Cell, number, render, render_data
from goodgain.stats.intervals import mean_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodgain.agentic.funnel import Funnel
    from goodgain.agentic.runs import Figure
    from goodgain.agentic.settings import GainSettings
    from goodgain.agentic.system import SystemGain
    from goodgain.measures.definition import Measure
    from goodgain.stats.seeds import SeedSpread

ROW = ("CG", "DCG", "RG", "DRG", "RAG", "DRAG", "SRE", "SRR", "MarginalGain", "Tokens", "Seconds")
UNLABELLED_ROW = ("R", "UR", "Dup", "R@i", "UR@i", "SRR", "RepeatedQueries", "Tokens", "Seconds")
SUMMARY = (
    "CG",
    "DCG",
    "SRE",
    "SRR",
    "IterationsForAllGoodResults",
    "EvidenceRecall",
    "WastedSearches",
    "RepeatedQueries",
    "nsDCG",
    "AreaSearches",
)
# What systems are compared by unless measures are named.
DEFAULT_COMPARED = (
    "CG",
    "DCG",
    "RG",
    "DRG",
    "RAG",
    "DRAG",
    "SRE",
    "SRR",
    "IterationsForAllGoodResults",
    "Searches",
)


class GainTables:
    """Adds rows, tables and their text to a Good Gain."""

    __slots__ = ()

    if TYPE_CHECKING:
        _systems: dict[str, SystemGain]

        @property
        def systems(self) -> tuple[SystemGain, ...]: ...  # noqa: D102
        @property
        def names(self) -> tuple[str, ...]: ...  # noqa: D102
        @property
        def settings(self) -> GainSettings: ...  # noqa: D102
        @property
        def measures(self) -> tuple[Measure, ...]: ...  # noqa: D102
        @property
        def funnel(self) -> Funnel: ...  # noqa: D102
        def spread(self, measures: Sequence[str] = SUMMARY) -> list[SeedSpread]: ...  # noqa: D102

    def rows(self, per_conversation: bool = False) -> tuple[list[str], list[list[Any]]]:
        """Column names and long rows; iteration None is the value at the end of conversations."""
        rows: list[list[Any]] = []
        if per_conversation:
            repeated = any(s.is_repeated for s in self.systems)
            for s in self.systems:
                places = [place if repeated else place[::2] for place in _places(s)]
                for m in self.measures:
                    c = s.column(m)
                    columns = [matrix[:, c].tolist() for matrix in (s.values, s.lower, s.upper)]
                    rows.extend(
                        [s.name, *place, m.label, *values]
                        for place, *values in zip(places, *columns, strict=True)
                    )
            named = ["conversation", *(["repeat"] if repeated else []), "iteration"]
            return ["system", *named, "measure", "value", "lower", "upper"], rows
        for s in self.systems:
            for i in [*range(1, s.iterations + 1), None]:
                coverage = s.figure("Coverage", i, self.settings.align).value
                for m in self.measures:
                    if i is not None and m.definition.level != "iteration":
                        continue
                    f = s.figure(m, i, self.settings.align)
                    rows.append(
                        [
                            s.name,
                            i,
                            m.label,
                            f.value,
                            f.n,
                            f.low,
                            f.high,
                            f.lower,
                            f.upper,
                            coverage,
                        ]
                    )
        rows += self._funnel_rows()
        header = [
            "system",
            "iteration",
            "measure",
            "value",
            "n",
            "ci_low",
            "ci_high",
            "lower",
            "upper",
            "coverage",
        ]
        return header, rows

    def _funnel_rows(self) -> list[list[Any]]:
        """What the funnel counts beside its measures, where traces record any of it."""
        funnel = self.funnel
        rows = []
        for system, name, value, n, low, high in funnel.rows() if funnel.recorded else ():
            coverage = self._systems[system].figure("Coverage").value
            rows.append([system, None, name, value, n, low, high, value, value, coverage])
        return rows

    @property
    def labelled(self) -> bool:
        """Whether any result has a label."""
        return any(s.counts()["coverage"] > 0 for s in self.systems)

    def table(
        self, measures: Sequence[str] | None = None, most: int | None = None
    ) -> tuple[list[str], list[list[Any]]]:
        """A row per system and iteration for people; without labels only what needs none.

        `most` limits the iterations of each system: the first, the last, and some between.
        """
        measures = measures or (ROW if self.labelled else UNLABELLED_ROW)
        listed = [
            m for m in measures if any(not math.isnan(s.figure(m).value) for s in self.systems)
        ]
        several = ["system"] if len(self._systems) > 1 else []
        rows = []
        for s in self.systems:
            for i in some_iterations(s.iterations, most):
                figures = {m: s.figure(m, i, self.settings.align) for m in listed}
                n = s.figure("R@i", i, self.settings.align).n
                rows.append(
                    [*([s.name] if several else []), i, n, *(_cell(f) for f in figures.values())]
                )
        return [*several, "i", "n", *(_HEADINGS.get(m, m) for m in listed)], rows

    def summary(self, measures: Sequence[str] = SUMMARY) -> tuple[list[str], list[list[Any]]]:
        """A row per measure at the end of conversations, a column per system."""
        counts = {s.name: s.counts() for s in self.systems}
        rows: list[list[Any]] = [
            [label, *(int(counts[n][key]) for n in self.names)]
            for key, label, always in (
                ("conversations", "conversations", True),
                ("runs", "runs of them", any(s.is_repeated for s in self.systems)),
                ("without_search", "without a search", False),
                ("iterations", "iterations", True),
                ("searches", "searches", True),
                ("failed", "failed searches", False),
                ("unread", "unread searches", False),
                ("empty", "empty searches", False),
                ("results", "results", True),
                ("duplicates", "duplicates", True),
            )
            if always or (key != "runs" and any(counts[n][key] for n in self.names))
        ]
        rows.append(["labelled", *(counts[n]["coverage"] for n in self.names)])
        for m in measures:
            figures = [s.figure(m) for s in self.systems]
            if any(f.n for f in figures):
                cells = zip(self.systems, figures, strict=True)
                rows.append([m, *(_cell(f, s.is_unknown(m)) for s, f in cells)])
        return ["at the end", *self.names], rows

    def summary_cells(self) -> tuple[list[str], list[list[Any]]]:
        """The summary for notebooks: intervals below the means, and the best of several in bold."""
        columns, rows = self.summary(())
        for name in SUMMARY:
            figures = [s.figure(name) for s in self.systems]
            if not any(f.n for f in figures):
                continue
            sign = self.systems[0].measure(name).sign
            unknown = [s.is_unknown(name) for s in self.systems]
            values = [sign * f.value for f in figures if f.n and not f.is_open]
            best = max(values) if len(values) == len(figures) > 1 and len(set(values)) > 1 else None
            cells = []
            for f, is_unknown in zip(figures, unknown, strict=True):
                text = _cell(f, is_unknown)
                if isinstance(text, Cell):
                    cells.append(text)
                    continue
                cell = Cell(
                    text if isinstance(text, str) else number(text), best=sign * f.value == best
                )
                cells.append(cell if f.low != f.low else mean_cell(cell, f.low, f.high))
            rows.append([name, *cells])
        return columns, rows

    def paired(
        self, measures: Sequence[str] = DEFAULT_COMPARED
    ) -> tuple[list[str], list[list[Any]]]:
        """Each further system against the first, over their common conversations.

        Measures that need labels are left out for systems that have none: their difference is unknown.
        """
        import numpy as np

        rows: list[list[Any]] = []
        baseline, *others = self.names
        for other in others:
            for m in measures:
                if any(self._systems[name].is_unknown(m) for name in (baseline, other)):
                    continue
                a, b = self._systems[baseline].final(m), self._systems[other].final(m)
                shared = [c for c in a if c in b]
                if not shared:
                    continue
                ours, theirs = (np.array([x[c] for c in shared]) for x in (b, a))
                difference, low, high, n = mean_interval(ours - theirs)
                if not n:
                    continue
                both = ~np.isnan(ours - theirs)
                rows.append(
                    [
                        other,
                        baseline,
                        m,
                        mean_interval(ours[both])[0],
                        mean_interval(theirs[both])[0],
                        difference,
                        low,
                        high,
                        n,
                        self._systems[other].measure(m).lower_is_better,
                    ]
                )
        header = [
            "system",
            "baseline",
            "measure",
            "mean",
            "baseline_mean",
            "difference",
            "ci_low",
            "ci_high",
            "n",
            "lower_is_better",
        ]
        return header, rows

    def render(
        self,
        format: str = "table",  # noqa: A002 - the command line's word
        per_conversation: bool = False,
        evidence: Literal["any", "all"] = "any",
    ) -> str:
        """The result as text, in any format of the command line.

        Where answers were checked, the funnel comes first; `evidence` says what its 2x2 asks for.
        """
        if format in LONG_FORMATS:
            return render_data(format, *self.rows(per_conversation))
        if per_conversation:
            return render(format, *self._conversation_rows())
        tables = [
            render(format, *self.table(most=MOST_ITERATIONS)) + self._left_out(format),
            render(format, *self.summary()),
        ]
        if self.funnel.is_checked:
            tables.insert(0, self.funnel.render(format, evidence))
        elif self.funnel.recorded and self.labelled:
            tables.append(self.funnel.render(format))
        if spreads := self.spread():
            columns = [
                "system", "measure", "repeats", "mean", "lowest", "highest", "conversations sd",
                "repeats sd", "residual sd",
            ]  # fmt: skip
            cells = [
                [x.system, x.measure, x.seeds, x.mean, x.lowest, x.highest, x.between_queries,
                 x.between_seeds, x.rest] for x in spreads
            ]  # fmt: skip
            tables.append(render(format, columns, cells))
        if len(self._systems) > 1:
            _, rows = self.paired()
            if rows:
                cells = [
                    [
                        r[0],
                        r[2] + (" (lower is better)" if r[9] else ""),
                        r[4],
                        r[3],
                        r[5],
                        _range(r[6], r[7]),
                        r[8],
                    ]
                    for r in rows
                ]
                columns = [
                    "system",
                    "measure",
                    self.names[0],
                    "mean",
                    "difference",
                    "95 % interval",
                    "n",
                ]
                tables.append(render(format, columns, cells))
        return "\n".join(tables)

    def _left_out(self, format: str) -> str:  # noqa: A002
        """What the table of iterations leaves out."""
        longest = max((s.iterations for s in self.systems), default=0)
        if longest <= MOST_ITERATIONS:
            return ""
        text = f"{MOST_ITERATIONS} of {longest:,} iterations; all of them: --format csv"
        return f"% {text}\n" if format == "latex" else f"{text}\n"

    def _conversation_rows(self) -> tuple[list[str], list[list[Any]]]:
        """A row per iteration of each conversation, for people."""
        listed = [
            m
            for m in ("R", "UR", "GR", "Dup", "G", *ROW)
            if any(s.figure(m).n for s in self.systems)
        ]
        rows = []
        repeated = any(s.is_repeated for s in self.systems)
        for s in self.systems:
            columns = [s.column(m) for m in listed]
            for place, row in zip(_places(s), s.values[:, columns].tolist(), strict=True):
                cells = [
                    int(v) if m in _COUNTS and v == v and v == int(v) else v
                    for m, v in zip(listed, row, strict=True)
                ]
                rows.append([s.name, *(place if repeated else place[::2]), *cells])
        named = ["conversation", *(["repeat"] if repeated else []), "i"]
        return ["system", *named, *(_HEADINGS.get(m, m) for m in listed)], rows

    def sketch(self, measure: str | None = None) -> str:
        """A measure by iteration as a small terminal plot; empty for a single iteration.

        Without labels it is the count of unique results.
        """
        from goodgain.results.terminal_plot import curves

        measure = measure or ("CG" if self.labelled else "UR@i")

        series = {
            s.name: [
                s.figure(measure, i, self.settings.align).value for i in range(1, s.iterations + 1)
            ]
            for s in self.systems
        }
        return curves(series, f"{measure} by iteration")


MOST_ITERATIONS = 10  # of a system, in a table for people


def some_iterations(count: int, most: int | None) -> list[int]:
    """At most so many of 1..count: the first ones, the last, and ever fewer between them."""
    if most is None or count <= most:
        return list(range(1, count + 1))
    steps = range(most)
    spread = [round(count ** (i / (most - 1))) for i in steps]
    return [max(i + 1, min(spread[i], count - (most - 1 - i))) for i in steps]


def _places(s: SystemGain) -> list[tuple[str, str, int]]:
    """(conversation, repeat, iteration) of each row; iteration 0 where there was no search."""
    return [
        (conversation, repeat, i)
        for conversation, repeat, n in zip(
            s.runs.conversations, s.runs.repeats, s.lengths.tolist(), strict=True
        )
        for i in (range(1, n + 1) if n else (0,))
    ]


_COUNTS = ("R", "UR", "GR", "Dup", "G", "AvgGain", "MarginalGain")
_HEADINGS = {"MarginalGain": "marginal", "Tokens": "tokens", "Seconds": "seconds"}


def _cell(f: Figure, is_unknown: bool = False) -> Any:
    """A figure for people, with bounds if missing labels leave it open."""
    if is_unknown and f.n:
        return Cell("unknown" if f.exact else f"unknown [{number(f.lower)}, {number(f.upper)}]")
    return f.value if f.exact else f"{number(f.value)} [{number(f.lower)}, {number(f.upper)}]"


def _range(low: float, high: float) -> str:
    return "-" if low != low else f"[{number(low)}, {number(high)}]"
