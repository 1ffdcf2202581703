"""The output of `goodgain trec-eval`: byte for byte that of trec_eval."""

from __future__ import annotations

import math

from goodgain.compat.trec_lines import read_lines
from goodgain.compat.trec_measures import Request, Value, grades_text, parse_measures
from goodgain.errors import InputError
from goodgain.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from goodgain.compat.trec_tables import Table

MISSING_ZSCORE = -1000000.0
# Values that trec_eval resets to 0 for a query missing from the run (-c), if they have no parameters.
_RESET = ("num_ret", "utility", "rbp_resid")
_LEAST = math.log(0.00001)  # of a query in a geometric mean


class NothingToEvaluateError(InputError):
    """No query has both results and judgments."""


class WrongFormatError(InputError):
    """A measure that cannot be computed from judgments of this format."""


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
    format: str = "qrels"  # -R
    threads: int = 1


def output(settings: Settings, judged_path: str, run_path: str) -> str:
    """Return everything that trec_eval would print."""
    return report(settings, judged_path, run_path).text()


def report(settings: Settings, judged_path: str, run_path: str) -> Report:
    """Evaluate; what is printed is the report's text."""
    from goodgain.compat.trec_tables import TABLES

    request = parse_measures(
        settings.measures or (("official", None),),
        level=settings.level,
        documents=settings.documents,
    )
    zscores = read_zscores(settings.zscores) if settings.zscores else None
    table = TABLES[settings.format](settings, request, judged_path, run_path)
    return Report(settings=settings, request=request, table=table, zscores=zscores, name=run_path)


def read_zscores(path: str) -> dict[tuple[str, str], tuple[float, float]]:
    """Read {(query, measure): (mean, standard deviation)}."""
    zscores = {}
    for line in read_lines(path):
        try:
            query, measure, mean, deviation = line.fields
            zscores[query, measure] = float(mean), float(deviation)
        except ValueError:
            line.refuse("z-score", "query measure mean standard-deviation")
    if not zscores:
        raise InputError(
            "there are no z-scores",
            where=path,
            hint="a line is: query measure mean standard-deviation",
        )
    return zscores


class Report:
    """The values of one evaluation, formatted like trec_eval."""

    def __init__(
        self,
        *,
        settings: Settings,
        request: Request,
        table: Table,
        zscores: dict[tuple[str, str], tuple[float, float]] | None,
        name: str = "",
    ) -> None:
        self.settings = settings
        self.name = name
        self.request = request
        self.table = table
        self.zscores = zscores
        queries = table.queries
        wanted = [i for i, query in enumerate(queries) if settings.query in (None, query)]
        rows = [i for i in wanted if table.in_run[i] or settings.complete]
        if not rows:
            raise NothingToEvaluateError(
                "no query has both results and judgments",
                where=name,
                hint="were the files swapped, or are they from different collections?",
            )
        self.rows = sorted(rows, key=lambda i: queries[i].encode("utf-8", "surrogateescape"))
        # Judged queries missing from the run, unless -c counts them.
        self.missing = [] if settings.complete else [
            queries[i] for i in wanted if not table.in_run[i]
        ]  # fmt: skip

    def text(self) -> str:
        """The lines of all queries, followed by the summary."""
        lines: list[str] = []
        mark = "Z" if self.zscores is not None else ""
        counted = [v for v in self.request.values if v.columns and v.measure.over != "none"]
        values = {v.name: [self._value(v, row) for row in self.rows] for v in counted}
        if self.settings.per_query:
            from goodgain.io.writers import check_trec_id

            for place, row in enumerate(self.rows):
                query = self.table.queries[row]
                check_trec_id(query, self.name, "the output of trec_eval")  # as JSON may have it
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
                    lines.append(f"{v.name:<22}\tall\t{self.table.run_id}\n")
                elif v.measure.name != "relstring":
                    number = self._printed(v, self._over_queries(v, values[v.name]))
                    lines.append(f"{mark}{v.name:<22}\tall\t{number}\n")
        return "".join(lines)

    def _value(self, value: Value, row: int) -> float:
        number: float = self.table.columns[value.columns[0]][row]
        if not self.table.in_run[row] and (value.name in _RESET or value.measure.name == "unj"):
            number = 0.0
        if self.zscores is None:
            return number
        key = self.table.queries[row], value.name
        mean, deviation = self.zscores.get(key, (math.nan, math.nan))
        if deviation:
            score = (number - mean) / deviation
            return score if not math.isnan(mean) else MISSING_ZSCORE
        return 0.0 if number == mean else MISSING_ZSCORE

    def _grades(self, value: Value, row: int) -> str:
        if not self.table.in_run[row] and value.name == "relstring":  # reset, as above
            return ""
        return grades_text(self.table.columns[i][row] for i in value.columns)

    def _over_queries(self, value: Value, values: list[float]) -> float:
        """As trec_eval sums up: -c means all judged queries, whichever of them are evaluated (-D)."""
        queries = len(self.table.queries) if self.settings.complete else len(values)
        if value.measure.over == "count":
            return float(queries)
        if value.measure.name == "num_rel" and self.settings.complete:
            return math.fsum(self.table.relevant)  # not a sum of z-scores
        total = 0.0
        for v in values:  # in sequence, like trec_eval
            total += v
        if value.measure.over == "sum":
            return total
        if value.measure.over == "geometric":
            return math.exp((total + (queries - len(values)) * _LEAST) / queries)
        return total / queries

    def _printed(self, value: Value, number: float) -> str:
        if value.measure.whole and self.zscores is None:
            return str(int(number))
        return "  -nan" if number != number else f"{number:6.4f}"
