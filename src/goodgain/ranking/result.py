"""The result of an evaluation: frozen, printable, saved with its provenance."""

from __future__ import annotations

import math
from time import time

from goodgain._core import score_mean
from goodgain.ranking.policy import Policy
from goodgain.ranking.scores import Coverage, RunScores, ValuesInMemory
from goodgain.records import dataclass
from goodgain.results.frames import AsFrames
from goodgain.results.judges import judge_notes
from goodgain.results.saved import SavedAsJson
from goodgain.results.text import LONG_FORMATS, Cell, html_table, number, render, render_data
from goodgain.results.views import Reportable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, Self, overload

    from goodgain._core import Scores
    from goodgain.data.run import Run
    from goodgain.io.sources import Source
    from goodgain.measures.definition import Measure
    from goodgain.names import MeasureName
    from goodgain.ranking.evaluator import Evaluator
    from goodgain.ranking.saved_inputs import SavedInputs


@dataclass(frozen=True, slots=True)
class Saved:
    """The origin of a loaded result."""

    version: str
    created: str
    inputs: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Conditions:
    """What evaluations by one evaluator have in common."""

    measures: tuple[Measure, ...]
    policy: Policy
    qrels: Source | None
    saved: Saved | None = None
    preset: str = "default"


class Evaluation(SavedAsJson, AsFrames, Reportable):
    """Measures of one or several runs over the same judgments.

    With one run it is a mapping from measures to means: `evaluation["nDCG@10"]`. With several it is a
    mapping from their names to `RunScores`: `evaluation["bm25"]["nDCG@10"]`. `runs` is always the tuple
    of runs.

    >>> import goodgain as gg
    >>> qrels = {"q1": {"a": 1}, "q2": {"b": 1}}
    >>> runs = {"bm25": {"q1": ["x", "a"], "q2": ["b"]}, "dense": {"q1": ["a"], "q2": ["x"]}}
    >>> evaluation = gg.evaluate(qrels, runs, "RR Hit@1")
    >>> evaluation.names
    ('bm25', 'dense')
    >>> evaluation["bm25"]["RR"]
    0.75
    >>> evaluation.per_query["dense"]["q2"]
    {'RR': 0.0, 'Hit@1': 0.0}
    >>> print(evaluation.render("markdown").rstrip())
    | run | RR | Hit@1 | queries |
    | --- | ---: | ---: | ---: |
    | bm25 | 0.7500 | 0.5000 | 2 |
    | dense | 0.5000 | 0.5000 | 2 |
    """

    KIND = "evaluation"
    FORMAT = 2
    __slots__ = ("_call", "_conditions", "_created", "_listed")
    _call: tuple[Evaluator, Scores, dict[Any, Any]] | None  # of a dictionary in a training loop
    _listed: dict[str, RunScores] | None  # None until a call is looked at more closely

    def __init__(
        self,
        runs: dict[str, RunScores],
        measures: tuple[Measure, ...],
        policy: Policy,
        qrels: Source | None,
        saved: Saved | None = None,
        preset: str = "default",
    ) -> None:
        self._conditions = Conditions(measures, policy, qrels, saved, preset)
        self._listed = runs
        self._call = None
        self._created = time()

    @classmethod
    def of_call(
        cls, conditions: Conditions, evaluator: Evaluator, scores: Scores, run: dict[Any, Any]
    ) -> Self:
        """The evaluation of a dictionary, made in as little time as possible."""
        evaluation = cls.__new__(cls)
        evaluation._conditions = conditions
        evaluation._listed = None
        evaluation._call = evaluator, scores, run
        evaluation._created = time()
        return evaluation

    @property
    def _runs(self) -> dict[str, RunScores]:
        if self._listed is None:
            from goodgain.ranking.core_values import CoreValues

            assert self._call is not None
            self._listed = {"run": RunScores("run", self.measures, CoreValues(*self._call))}
        return self._listed

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures, in the order of the call."""
        return self._conditions.measures

    @property
    def policy(self) -> Policy:
        """The policies behind the numbers."""
        return self._conditions.policy

    @property
    def preset(self) -> str:
        """The preset behind the numbers."""
        return self._conditions.preset

    def with_runs(self, runs: dict[str, RunScores], measures: tuple[Measure, ...]) -> Evaluation:
        """The same judgments and policies with other values."""
        shared = self._conditions
        return Evaluation(runs, measures, shared.policy, shared.qrels, shared.saved, shared.preset)

    @property
    def runs(self) -> tuple[RunScores, ...]:
        """The runs, in the order of the call."""
        return tuple(self._runs.values())

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the runs."""
        return tuple(self._runs)

    def keys(self) -> tuple[str, ...]:
        """Measures of the one run, or names of several runs: whatever can stand in brackets."""
        return self._only().keys() if len(self._runs) == 1 else self.names

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __len__(self) -> int:
        return len(self.keys())

    def __contains__(self, key: object) -> bool:
        return key in self._runs or (len(self._runs) == 1 and key in self._only())

    if TYPE_CHECKING:

        @overload
        def __getitem__(self, key: MeasureName | Measure) -> float: ...  # type: ignore[overload-overlap]
        @overload
        def __getitem__(self, key: str) -> RunScores: ...
        def __getitem__(self, key: str | Measure) -> Any:
            """The value of a measure if there is one run; the scores of a run by its name."""

    else:

        def __getitem__(self, key: str | Measure) -> Any:
            if self._call is not None:  # the fast path of training loops
                evaluator, scores, _ = self._call
                place = evaluator.mean_places.get(key)
                if place is not None:
                    mean = score_mean(scores, place, evaluator.skips)
                    if mean is not None:
                        return mean
            runs = self._runs
            if key in runs:
                return runs[key]  # type: ignore[index]
            if len(runs) == 1:
                for run in runs.values():
                    return run[key]
            raise KeyError(f"no run '{key}'; runs: {', '.join(self._runs)}")

    def _only(self) -> RunScores:
        (run,) = self._runs.values()
        return run

    @property
    def means(self) -> dict[str, dict[str, float]]:
        """{run: {measure: value over all queries}}."""
        return {name: run.means for name, run in self._runs.items()}

    @property
    def per_query(self) -> dict[str, dict[str, dict[str, float]]]:
        """{run: {query: {measure: value}}}."""
        return {name: run.per_query for name, run in self._runs.items()}

    # --- as rows and tables ---

    def rows(self, per_query: bool = False) -> tuple[list[str], list[list[Any]]]:
        """Column names and long rows: run, measure, value, queries; or per query."""
        bounds = ["lower", "upper"] if self.policy.has_bounds else []
        rows: list[list[Any]] = []
        if per_query:
            for run in self.runs:
                for m in self.measures:
                    columns = [run.column(m), *(run.column(m, b) for b in bounds)]
                    rows.extend(
                        [run.name, q, m.label, *values]
                        for q, *values in zip(run.queries, *columns, strict=True)
                    )
            return ["run", "query", "measure", "value", *bounds], rows
        for run in self.runs:
            for m in self.measures:
                low_high = run.bounds(m) if bounds else ()
                rows.append([run.name, m.label, run[m], *low_high, run.count(m)])
        return ["run", "measure", "value", *bounds, "queries"], rows

    def columns(self, per_query: bool = True) -> tuple[list[str], list[str]]:
        """The names of the long columns, and their Arrow types."""
        bounds = ["lower", "upper"] if self.policy.has_bounds else []
        numbers = ["float64"] * (1 + len(bounds))
        if per_query:
            return ["run", "query", "measure", "value", *bounds], ["string"] * 3 + numbers
        return ["run", "measure", "value", *bounds, "queries"], ["string"] * 2 + numbers + ["int64"]

    def write(self, path: str, per_query: bool = True) -> None:
        """Write one row per run, query and measure to a file: .csv, .tsv, .jsonl, .parquet or .arrow.

        It is written in pieces, so that millions of queries need little memory; with `per_query=False` it
        has the means. A suffix such as .gz compresses it.
        """
        import os

        from goodgain.io.atomic import write_files
        from goodgain.io.naming import format_of
        from goodgain.ranking.export import file_bytes

        path = os.fspath(path)
        pieces = file_bytes(self, format_of(path) or path, per_query)
        write_files({path: pieces})

    def to_arrow(self, *which: bool, **named: bool) -> Any:
        """A pyarrow table in long format, with one row per run, query and measure unless not `per_query`."""
        import pyarrow as pa

        from goodgain.ranking.export import arrow_tables

        return pa.concat_tables(arrow_tables(self, *which, **named))

    def render(self, format: str = "table", per_query: bool = False) -> str:  # noqa: A002
        """The result as text, in any format of the command line."""
        if format in LONG_FORMATS:
            return render_data(format, *self.rows(per_query))
        if per_query:
            header = ["run", "query", *(m.label for m in self.measures)]
            rows = [
                [run.name, query, *cells]
                for run in self.runs
                for query, *cells in zip(
                    run.queries, *(self._cells(run, m) for m in self.measures), strict=True
                )
            ]
            return render(format, header, rows)
        return render(format, *self._wide())

    def _cells(self, run: RunScores, measure: Measure) -> list[Any]:
        values = [_whole(measure, v) for v in run.column(measure)]
        if not self.policy.has_bounds:
            return values
        bounds = (run.column(measure, b) for b in ("lower", "upper"))
        return [_interval(v, *pair) for v, *pair in zip(values, *bounds, strict=True)]

    def _wide(self) -> tuple[list[str], list[list[Any]]]:
        """Runs as rows, or measures as rows for one run with many measures."""
        cells: dict[tuple[str, str], Any] = {}
        for run in self.runs:
            for m in self.measures:
                value = _whole(m, run[m])
                bounds = run.bounds(m) if self.policy.has_bounds else None
                cells[run.name, m.label] = _interval(value, *bounds) if bounds else value
        for m in self.measures if len(self._runs) > 1 and not self.policy.has_bounds else ():
            values = {name: cells[name, m.label] for name in self.names}
            defined = {name: v for name, v in values.items() if v == v}
            best = max(defined.values(), key=lambda v: m.sign * v, default=None)
            cells |= {
                (name, m.label): Cell(number(v), best=True)
                for name, v in defined.items()
                if v == best
            }
        labels = [m.label for m in self.measures]
        counts = {run.name: {run.count(m) for m in self.measures} for run in self.runs}
        if (len(self._runs) == 1 and len(labels) > 6) or len(labels) > 10:
            header = ["measure", *self.names]
            body = [[label, *(cells[name, label] for name in self.names)] for label in labels]
            if len(self._runs) == 1:
                header.append("queries")
                body = [[*row, self._only().count(str(row[0]))] for row in body]
            return header, body
        rows = []
        for name in self.names:
            n = counts[name]
            queries: Any = n.pop() if len(n) == 1 else f"{min(n)}-{max(n)}"
            rows.append([name, *(cells[name, label] for label in labels), queries])
        return ["run", *labels, "queries"], rows

    def __str__(self) -> str:
        return self.render("table").rstrip("\n")

    def __repr__(self) -> str:
        labels = ", ".join(m.label for m in self.measures)
        runs = f"{len(self._runs)} run{'s' * (len(self._runs) != 1)}"
        return f"Evaluation({runs}: {', '.join(self.names)}; {labels})"

    def _repr_html_(self) -> str:
        columns, rows = self._wide()
        intervals = {
            (run.name, m.label): run.interval(m) for run in self.runs for m in self.measures
        }
        by_measure = columns[0] == "measure"
        cells = []
        for row in rows:
            line = [row[0]]
            for name, value in zip(columns[1:], row[1:], strict=True):
                pair = (name, str(row[0])) if by_measure else (str(row[0]), name)
                line.append(_with_interval(value, intervals.get(pair)))
            cells.append(line)
        note = "<p>Below each mean: its 95% interval over queries.</p>"
        has_intervals = any(intervals.values()) and not self.policy.has_bounds
        from goodgain.results.notebook import warnings_html

        tables = html_table(columns, cells) + (note if has_intervals else "")
        return tables + warnings_html(self.warnings())

    def warnings(self) -> list[str]:
        """Missing queries, queries without judgments, skipped rows, undefined values."""
        messages = judge_notes(self.inputs(hashed=False))
        for run in self.runs:
            c = run.coverage
            if c.missing_queries:
                action = "count as empty lists" if self.policy.missing == "zero" else "are skipped"
                messages.append(
                    f"{run.name}: {c.missing_queries:,} of {c.judged_queries:,} judged queries are "
                    f"not in the run and {action}"
                )
            if c.unjudged_queries:
                messages.append(
                    f"{run.name}: {c.unjudged_queries:,} queries of the run have no judgments and "
                    "are ignored"
                )
            if c.bad_rows:
                rows = f"{c.bad_rows:,} bad row{'s' * (c.bad_rows != 1)}"
                messages.append(f"{run.name}: {rows} skipped, for example: {c.bad_example}")
            notes = [*c.notes, *_rank_notes(c, self.policy.ties)]
            if c.is_suspicious:
                from goodgain.ranking.mismatch import mismatch_notes

                notes += mismatch_notes(run)
            messages += (f"{run.name}: {note}" for note in notes)
            for m in run.measures if run.has_bounds else ():
                if m.definition.column is None and (lost := run.unbounded(m)):
                    messages.append(
                        f"{run.name}: the bounds of {m} are undefined for {_queries(len(lost))} with too "
                        f"many cases: {', '.join(lost[:3])}{' ...' if len(lost) > 3 else ''}"
                    )
            for label, queries in run.undefined.items():
                more = f" and {len(queries) - 3:,} more" if len(queries) > 3 else ""
                messages.append(
                    f"{run.name}: {label} is undefined for {len(queries):,} queries: "
                    f"{', '.join(queries[:3])}{more}"
                )
        return messages

    # --- as data of other libraries ---

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data: what `save` writes."""
        return self._plain(hashed=True)

    def __reduce__(self) -> tuple[Any, ...]:
        return Evaluation.from_dict, (self._plain(hashed=False),)

    def inputs(self, hashed: bool = True) -> list[dict[str, Any]]:
        """Judgments and runs: name and kind, for files also size and hash."""
        if self._conditions.saved is not None:
            return self._conditions.saved.inputs
        return [
            {"role": "qrels", **_provenance(self._conditions.qrels, hashed)},
            *(
                {"role": "run", "run": run.name, **_provenance(run.source, hashed)}
                for run in self.runs
            ),
        ]

    def _plain(self, hashed: bool) -> dict[str, Any]:
        import datetime

        from goodgain import __version__

        created = datetime.datetime.fromtimestamp(self._created, datetime.UTC)
        origin = self._conditions.saved or Saved(
            __version__, created.isoformat(timespec="seconds"), self.inputs(hashed)
        )
        return {
            "goodgain": self.KIND,
            "format": self.FORMAT,
            "version": origin.version,
            "created": origin.created,
            "preset": self.preset,
            "policy": self.policy.to_dict(),
            "inputs": origin.inputs,
            "measures": [m.to_dict() for m in self.measures],
            "runs": [
                {
                    "name": run.name,
                    "means": {k: _null(v) for k, v in run.means.items()},
                    "coverage": {k: _null(v) for k, v in run.coverage.to_dict().items()},
                    "queries": run.queries,
                    "values": self._saved_values(run),
                }
                for run in self.runs
            ],
        }

    def _saved_values(self, run: RunScores) -> dict[str, list[float | None]]:
        bounds = ("", "lower", "upper") if self.policy.has_bounds else ("",)
        return {
            f"{m.label}:{bound}" if bound else m.label: [_null(v) for v in run.column(m, bound)]
            for m in self.measures
            for bound in bounds
        }

    def _frame_rows(self, per_query: bool = True) -> tuple[list[str], list[list[Any]]]:
        return self.rows(per_query)

    # --- saved ---

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """The reverse of `to_dict`."""
        from goodgain.measures.custom import saved_measure
        from goodgain.results.shapes import (
            EVALUATION,
            DamagedError,
            require_lengths,
            require_shape,
        )

        require_shape(data, EVALUATION)
        measures = tuple(saved_measure(measure) for measure in data["measures"])
        for i, run in enumerate(data["runs"]):
            place = f"runs[{i}].values"
            require_lengths(run["values"], len(run["queries"]), place)
            missing = next((m for m in measures if m.label not in run["values"]), None)
            if missing is not None:
                raise DamagedError(f"{place}.{missing.label}")
        saved = Saved(data["version"], data["created"], data["inputs"])
        preset, policy = data.get("preset", "default"), Policy(**data["policy"])
        from goodgain.ranking.saved_inputs import SavedInputs

        inputs = SavedInputs(saved.inputs, measures, policy, preset)
        runs = {
            run["name"]: RunScores(run["name"], measures, _SavedValues(run, inputs))
            for run in data["runs"]
        }
        return cls(runs, measures, policy, None, saved, preset)


class _SavedValues(ValuesInMemory):
    """The values of a run in a saved file."""

    source: Source | None = None

    def __init__(self, run: dict[str, Any], inputs: SavedInputs) -> None:
        self._run = run
        self._inputs = inputs

    def tables(self) -> tuple[Evaluator, Run]:
        return self._inputs.evaluator, self._inputs.run(self._run["name"])

    @property
    def has_bounds(self) -> bool:
        return any(key.endswith(":lower") for key in self._run["values"])

    def queries(self) -> list[str]:
        return list(self._run["queries"])

    def column(self, label: str, bound: str) -> list[float]:
        values = self._run["values"][f"{label}:{bound}" if bound else label]
        return [math.nan if v is None else v for v in values]

    def coverage(self) -> Coverage:
        facts = dict(self._run["coverage"])
        if facts["judged_at_10"] is None:
            facts["judged_at_10"] = math.nan
        from dataclasses import fields

        known = {field.name for field in fields(Coverage)}  # later versions may save more
        facts = {name: value for name, value in facts.items() if name in known}
        return Coverage(**{**facts, "notes": tuple(facts.get("notes", ()))})


def _provenance(source: Source | None, hashed: bool) -> dict[str, Any]:
    return source.provenance(hashed) if source else {"kind": "dict"}


def _whole(measure: Measure, value: float) -> float | int:
    """Counts as integers, unless ties make them fractional."""
    counts = measure.definition.aggregate == "sum" or measure.name == "Diversity"
    return int(value) if counts and value == int(value) else value


def _with_interval(value: Any, interval: tuple[float, float] | None) -> Any:
    """The cell of a mean with its interval; anything else as it is."""
    if interval is None or not isinstance(value, Cell | float):
        return value
    cell = value if isinstance(value, Cell) else Cell(number(value))
    from goodgain.results.notebook import mean_cell

    return mean_cell(cell, *interval)


def _interval(value: float, low: float, high: float) -> str:
    return f"{_text(value)} [{_text(low)}, {_text(high)}]"


def _text(value: Any) -> str:
    from goodgain.results.text import number

    return number(value) if isinstance(value, int | float) else str(value)


def _null(value: float) -> float | None:
    return None if value != value else value


def _rank_notes(coverage: Coverage, ties: str) -> list[str]:
    """How the ranks of a run without scores differ from 1, 2, 3, ..."""
    c, notes = coverage, []
    if c.shared_ranks:
        notes.append(
            f"documents share a rank in {_queries(c.shared_ranks)}: they are tied (ties={ties})"
        )
    if c.rank_gaps:
        notes.append(f"ranks are left out in {_queries(c.rank_gaps)}: the documents below move up")
    if c.ranks_from_zero:
        notes.append(f"ranks start at 0 in {_queries(c.ranks_from_zero)}: 0 counts as the first")
    return notes


def _queries(count: int) -> str:
    return f"{count:,} {'query' if count == 1 else 'queries'}"
