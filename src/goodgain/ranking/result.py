"""The result of an evaluation: frozen, printable, saved with all that is needed to trust it."""

from __future__ import annotations

import math
from time import time
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from goodgain.measures.grammar import parse
from goodgain.ranking.policy import Policy
from goodgain.ranking.saved_inputs import SavedInputs
from goodgain.ranking.scores import Coverage, RunScores, ValuesHere
from goodgain.results.frames import AsFrames
from goodgain.results.saved import SavedAsJson
from goodgain.results.text import LONG_FORMATS, html_table, render
from goodgain.results.views import Reportable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goodgain.data.run import Run
    from goodgain.io.sources import Source
    from goodgain.measures.grammar import Measure
    from goodgain.ranking.evaluator import Evaluator


class Saved(NamedTuple):
    """Where a loaded result came from."""

    version: str
    created: str
    inputs: list[dict[str, Any]]


class Evaluation(SavedAsJson, AsFrames, Reportable):
    """Measures of one or several runs over the same judgements.

    With one run `evaluation["nDCG@10"]` is its mean; with several, `evaluation["bm25"]` is one of
    them.
    """

    KIND = "evaluation"
    FORMAT = 1
    __slots__ = ("_created", "_qrels", "_runs", "_saved", "measures", "policy", "preset")

    def __init__(
        self,
        runs: dict[str, RunScores],
        measures: tuple[Measure, ...],
        policy: Policy,
        qrels: Source | None,
        saved: Saved | None = None,
        preset: str = "default",
    ) -> None:
        self._runs = runs
        self.measures = measures
        self.policy = policy
        self._qrels = qrels
        self._saved = saved
        self.preset = preset
        self._created = time()

    @property
    def runs(self) -> tuple[RunScores, ...]:
        """The runs in the order they were given."""
        return tuple(self._runs.values())

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the runs."""
        return tuple(self._runs)

    def __iter__(self) -> Iterator[RunScores]:
        return iter(self._runs.values())

    def __len__(self) -> int:
        return len(self._runs)

    def __getitem__(self, key: str | Measure) -> Any:
        runs = self._runs
        if key in runs:
            return runs[key]
        if len(runs) == 1:
            (run,) = runs.values()
            return run[key]
        raise KeyError(f"there is no run '{key}'; there is: {', '.join(self._runs)}")

    def _only(self) -> RunScores:
        if len(self._runs) != 1:
            raise KeyError(f"there are several runs: say which of {', '.join(self._runs)}")
        return next(iter(self._runs.values()))

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
            for run in self:
                for m in self.measures:
                    columns = [run.column(m), *(run.column(m, b) for b in bounds)]
                    rows.extend(
                        [run.name, q, m.label, *values]
                        for q, *values in zip(run.queries, *columns, strict=True)
                    )
            return ["run", "query", "measure", "value", *bounds], rows
        for run in self:
            for m in self.measures:
                low_high = run.bounds(m) if bounds else ()
                rows.append([run.name, m.label, run[m], *low_high, run.count(m)])
        return ["run", "measure", "value", *bounds, "queries"], rows

    def render(self, format: str = "table", per_query: bool = False) -> str:  # noqa: A002
        """The result as text in any of the command line's formats."""
        if format in LONG_FORMATS:
            return render(format, *self.rows(per_query))
        if per_query:
            header = ["run", "query", *(m.label for m in self.measures)]
            rows = [
                [run.name, query, *cells]
                for run in self
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
        """Runs as rows; one run alone with many measures has the measures as rows."""
        cells = {}
        for run in self:
            for m in self.measures:
                value = _whole(m, run[m])
                bounds = run.bounds(m) if self.policy.has_bounds else None
                cells[run.name, m.label] = _interval(value, *bounds) if bounds else value
        labels = [m.label for m in self.measures]
        counts = {run.name: {run.count(m) for m in self.measures} for run in self}
        if (len(self) == 1 and len(labels) > 6) or len(labels) > 10:
            header = ["measure", *self.names]
            body = [[label, *(cells[name, label] for name in self.names)] for label in labels]
            if len(self) == 1:
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
        return f"Evaluation({len(self)} run{'s' * (len(self) != 1)}: {', '.join(self.names)}; {labels})"

    def _repr_html_(self) -> str:
        return html_table(*self._wide())

    def warnings(self) -> list[str]:
        """What a reader of the means should know: missing queries, unjudged ones, undefined values."""
        found = []
        for run in self:
            c = run.coverage
            if c.missing_queries:
                what = "count as empty lists" if self.policy.missing == "zero" else "are left out"
                found.append(
                    f"{run.name}: {c.missing_queries:,} of {c.judged_queries:,} judged queries are "
                    f"not in the run and {what}"
                )
            if c.unjudged_queries:
                found.append(
                    f"{run.name}: {c.unjudged_queries:,} queries of the run have no judgements and "
                    "are left out"
                )
            if c.bad_rows:
                rows = f"{c.bad_rows:,} bad row{'s' * (c.bad_rows != 1)}"
                found.append(f"{run.name}: {rows} left out, such as: {c.bad_example}")
            for label, queries in run.undefined.items():
                more = f" and {len(queries) - 3:,} more" if len(queries) > 3 else ""
                found.append(
                    f"{run.name}: {label} is undefined for {len(queries):,} queries: "
                    f"{', '.join(queries[:3])}{more}"
                )
        return found

    # --- as data of other libraries ---

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data: what `save` writes."""
        return self._plain(hashed=True)

    def __reduce__(self) -> tuple[Any, ...]:
        return Evaluation.from_dict, (self._plain(hashed=False),)

    def inputs(self, hashed: bool = True) -> list[dict[str, Any]]:
        """Judgements and runs: name, kind, and of files their size and the hash of their bytes."""
        if self._saved is not None:
            return self._saved.inputs
        return [
            {"role": "qrels", **_provenance(self._qrels, hashed)},
            *({"role": "run", "run": run.name, **_provenance(run.source, hashed)} for run in self),
        ]

    def _plain(self, hashed: bool) -> dict[str, Any]:
        import datetime

        from goodgain import __version__

        created = datetime.datetime.fromtimestamp(self._created, datetime.UTC)
        origin = self._saved or Saved(
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
            "measures": [m.label for m in self.measures],
            "runs": [
                {
                    "name": run.name,
                    "means": {k: _null(v) for k, v in run.means.items()},
                    "coverage": {k: _null(v) for k, v in run.coverage.to_dict().items()},
                    "queries": run.queries,
                    "values": self._saved_values(run),
                }
                for run in self
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
        measures = tuple(parse(label) for label in data["measures"])
        saved = Saved(data["version"], data["created"], data["inputs"])
        preset, policy = data.get("preset", "default"), Policy(**data["policy"])
        inputs = SavedInputs(saved.inputs, measures, policy, preset)
        runs = {
            run["name"]: RunScores(run["name"], measures, _SavedValues(run, inputs))
            for run in data["runs"]
        }
        return cls(runs, measures, policy, None, saved, preset)


class _SavedValues(ValuesHere):
    """The values of a run as a file has them."""

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
        return Coverage(**facts)


def _provenance(source: Source | None, hashed: bool) -> dict[str, Any]:
    return source.provenance(hashed) if source else {"kind": "dict"}


def _whole(measure: Measure, value: float) -> float | int:
    """Counts are whole numbers, unless ties make them means."""
    counts = measure.definition.aggregate == "sum" or measure.name == "Diversity"
    return int(value) if counts and value == int(value) else value


def _interval(value: float, low: float, high: float) -> str:
    return f"{_text(value)} [{_text(low)}, {_text(high)}]"


def _text(value: Any) -> str:
    from goodgain.results.text import number

    return number(value) if isinstance(value, int | float) else str(value)


def _null(value: float) -> float | None:
    return None if value != value else value
