"""The output of `goodgain trec-eval`: byte for byte that of trec_eval."""

from __future__ import annotations

import math
import os

from goodgain.compat.trec_measures import Request, Value, grades_text, parse_measures
from goodgain.errors import InputError, core_errors
from goodgain.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from goodgain._core import Qrels as CoreQrels
    from goodgain._core import Scores

MISSING_ZSCORE = -1000000.0
# Values that trec_eval resets to 0 for a query missing from the run (-c).
_RESET = ("num_ret", "utility", "rbp_resid")


class NothingToEvaluateError(InputError):
    """No query has both results and judgments."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """trec_eval's flags."""

    measures: tuple[tuple[str, str | None], ...] = ()  # name and parameters; empty: official
    per_query: bool = False  # -q
    summary: bool = True  # not -n
    complete: bool = False  # -c
    judged_only: bool = False  # -J
    level: int = 1  # -l
    documents: int = 0  # -N
    depth: int | None = None  # -M
    zscores: str | None = None  # -Z
    query: str | None = None  # -D
    threads: int = 1


def output(settings: Settings, qrels_path: str, run_path: str) -> str:
    """Return everything that trec_eval would print."""
    request = parse_measures(
        settings.measures or (("official", None),),
        level=settings.level,
        documents=settings.documents,
    )
    zscores = read_zscores(settings.zscores) if settings.zscores else None
    qrels = _read_qrels(qrels_path)
    scores, run_id = _read_run(settings, request, qrels, run_path)
    report = _Report(
        settings=settings,
        request=request,
        queries=qrels.queries(),
        scores=scores,
        run_id=run_id,
        zscores=zscores,
    )
    return report.text()


def read_zscores(path: str) -> dict[tuple[str, str], tuple[float, float]]:
    """Read {(query, measure): (mean, standard deviation)}."""
    from goodgain.io.files import plain_descriptor

    zscores = {}
    with os.fdopen(plain_descriptor(path), "rb") as file:
        file.seek(0)
        text = file.read().decode("utf-8", "surrogateescape")
    for number, line in enumerate(text.splitlines(), 1):
        fields = line.split()
        try:
            query, measure, mean, deviation = fields
            zscores[query, measure] = float(mean), float(deviation)
        except ValueError:
            raise InputError(
                f"invalid z-score line '{line}'",
                where=f"{path}:{number}",
                hint="a line is: query measure mean standard-deviation",
            ) from None
    return zscores


def _read_qrels(path: str) -> CoreQrels:
    from goodgain import _core
    from goodgain.data import Qrels
    from goodgain.io.files import is_text, open_lines

    if not is_text(path):
        return Qrels(path).core
    with core_errors():
        file = open_lines(path, "qrels", None)
        return _core.Qrels.from_file(file.fd, file.name, {**file.format, "as_trec_eval": True})


def _read_run(
    settings: Settings, request: Request, qrels: CoreQrels, path: str
) -> tuple[Scores, str]:
    """The core's values, and the name of the run from its last line."""
    from goodgain import _core
    from goodgain.data import Run
    from goodgain.io.files import is_text, open_lines

    policy: dict[str, Any] = {
        "ties": "docid",
        "missing": "invented" if settings.complete else "skip",
        "unjudged": "remove-negative" if settings.judged_only else "nonrelevant",
        "duplicates": "error",
        "scores": "double",
        "may_be_disjoint": True,
    }
    if settings.depth is not None:
        policy["depth"] = settings.depth
    # The last column counts gains above 0, whatever the level: -c sums it for num_rel.
    with core_errors():
        plan = _core.Plan([*request.specs, {"kernel": "num_rel"}], policy)
        prepared = _core.Prepared(qrels, plan, settings.threads)
        if not is_text(path):
            run = Run(path)
            return run.scores(prepared), run.name
        file = open_lines(path, "run", None)
        again = os.dup(file.fd)
        try:
            line_format = {**file.format, "as_trec_eval": True}
            scores = prepared.file(file.fd, file.name, line_format)
            return scores, _last_run_id(again)
        finally:
            os.close(again)


def _last_run_id(fd: int) -> str:
    """The sixth column of the last line that has one."""
    end = os.fstat(fd).st_size
    for size in (1 << 12, 1 << 20, end):
        start = max(end - size, 0)
        lines = os.pread(fd, end - start, start).split(b"\n")
        for line in reversed(lines if start == 0 else lines[1:]):
            fields = line.split()
            if len(fields) >= 6 and not fields[0].startswith(b"#"):
                return fields[5].decode("utf-8", "surrogateescape")
    return ""


class _Report:
    """The values of one evaluation, formatted like trec_eval."""

    def __init__(
        self,
        *,
        settings: Settings,
        request: Request,
        queries: list[str],
        scores: Scores,
        run_id: str,
        zscores: dict[tuple[str, str], tuple[float, float]] | None,
    ) -> None:
        self.settings = settings
        self.request = request
        self.run_id = run_id
        self.zscores = zscores
        self.in_run = scores.in_run()
        self.columns = [scores.column(i) for i in range(len(request.specs) + 1)]
        rows = [i for i, in_run in enumerate(self.in_run) if in_run or settings.complete]
        if settings.query is not None:
            rows = [i for i in rows if queries[i] == settings.query]
        if not rows:
            raise NothingToEvaluateError(
                "no query has both results and judgments",
                hint="were the files swapped, or are they from different collections?",
            )
        self.rows = sorted(rows, key=lambda i: queries[i].encode("utf-8", "surrogateescape"))
        self.queries = queries

    def text(self) -> str:
        """The lines of all queries, followed by the summary."""
        lines: list[str] = []
        mark = "Z" if self.zscores is not None else ""
        counted = [v for v in self.request.values if v.columns and v.measure.over != "none"]
        values = {v.name: [self._value(v, row) for row in self.rows] for v in counted}
        if self.settings.per_query:
            for place, row in enumerate(self.rows):
                query = self.queries[row]
                for v in self.request.values:
                    if not v.measure.per_query:
                        continue
                    if v.measure.name == "relstring":
                        lines.append(f"{v.name:<22}\t{query}\t'{self._grades(v, row)}'\n")
                    else:
                        number = self._printed(v, values[v.name][place])
                        lines.append(f"{mark}{v.name:<22}\t{query}\t{number}\n")
        if self.settings.summary:
            for v in self.request.values:
                if v.measure.name == "runid":
                    lines.append(f"{v.name:<22}\tall\t{self.run_id}\n")
                elif v.measure.name != "relstring":
                    number = self._printed(v, self._over_queries(v, values[v.name]))
                    lines.append(f"{mark}{v.name:<22}\tall\t{number}\n")
        return "".join(lines)

    def _value(self, value: Value, row: int) -> float:
        number: float = self.columns[value.columns[0]][row]
        if not self.in_run[row] and (value.name in _RESET or value.measure.name == "unj"):
            number = 0.0
        if self.zscores is None:
            return number
        mean, deviation = self.zscores.get((self.queries[row], value.name), (math.nan, math.nan))
        if deviation:
            score = (number - mean) / deviation
            return score if not math.isnan(mean) else MISSING_ZSCORE
        return 0.0 if number == mean else MISSING_ZSCORE

    def _grades(self, value: Value, row: int) -> str:
        if not self.in_run[row]:
            return ""
        return grades_text(self.columns[i][row] for i in value.columns)

    def _over_queries(self, value: Value, values: list[float]) -> float:
        if value.measure.over == "count":
            return float(len(values))
        if value.measure.name == "num_rel" and self.settings.complete and self.zscores is None:
            return math.fsum(self.columns[-1])
        total = 0.0
        for v in values:  # in sequence, like trec_eval
            total += v
        if value.measure.over == "sum":
            return total
        return (
            math.exp(total / len(values))
            if value.measure.over == "geometric"
            else total / len(values)
        )

    def _printed(self, value: Value, number: float) -> str:
        if value.measure.whole and self.zscores is None:
            return str(int(number))
        return "  -nan" if number != number else f"{number:6.4f}"
