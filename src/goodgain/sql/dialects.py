"""What differs between databases: types, quotes, ordered sums, errors."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# Words that Snowflake does not take as names without quotes.
_RESERVED = frozenset((
    "account", "all", "alter", "and", "any", "as", "between", "by", "case", "cast", "check", "column",
    "connect", "connection", "constraint", "create", "cross", "current", "current_date", "current_time",
    "current_timestamp", "current_user", "database", "delete", "distinct", "drop", "else", "exists",
    "false", "following", "for", "from", "full", "grant", "group", "gscluster", "having", "ilike", "in",
    "increment", "inner", "insert", "intersect", "into", "is", "issue", "join", "lateral", "left",
    "like", "localtime", "localtimestamp", "minus", "natural", "not", "null", "of", "on", "or", "order",
    "organization", "qualify", "regexp", "revoke", "right", "rlike", "row", "rows", "sample", "schema",
    "select", "set", "some", "start", "table", "tablesample", "then", "to", "trigger", "true",
    "try_cast", "union", "unique", "update", "using", "values", "view", "when", "whenever", "where",
    "with",
))  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """A database's SQL; templates are filled with `str.format`."""

    name: str
    title: str
    text: str  # {0} as text that is compared by its bytes, whatever the column's collation
    double: str  # the type
    single: str | None  # {0} as a 32-bit number, if it has them; infinite beyond their range
    quote: str
    finite: str  # whether the number {0} is one
    fail: str  # an error with the text {0}
    no_number: (
        str | None
    )  # whether the type of {0} is not that of a score or gain; None: refused anyway
    no_id: str | None  # whether the type of {0} is written in several ways as text
    ordered_sum: (
        str | None
    )  # of {0} in the order of {1}, over the rows with {2}; None: in any order
    log2: str
    numeric: str = "{0}"  # a number, if a cast alone would also take text
    other_functions: bool = (
        False  # powers and logarithms are not those of C, so they may not be exact
    )
    keeps_case: bool = False  # quoted names are case-sensitive, others are not
    any_label: bool = True  # whether a column may have any name
    names_first_row: bool = True  # an inline table by VALUES with names after it

    def identifier(self, name: str) -> str:
        """A name of the user's: parts between dots are quoted where they have to be and are not."""
        quoted = f"{self.quote}(?:[^{self.quote}]|{self.quote * 2})+{self.quote}"
        names = re.findall(rf"(?:^|\.)({quoted}(?=\.|\Z)|[^.]*)", name)
        return ".".join(p if re.fullmatch(quoted, p) else self._part(p) for p in names)

    def _part(self, name: str) -> str:
        if self.keeps_case and _PLAIN.fullmatch(name) and name.lower() not in _RESERVED:
            return name
        return f"{self.quote}{name.replace(self.quote, 2 * self.quote)}{self.quote}"

    def label(self, name: str) -> str:
        """The name of a measure as that of a column."""
        if not self.any_label:
            name = re.sub(r"\W+", "_", name).strip("_")
        return f"{self.quote}{name.replace(self.quote, 2 * self.quote)}{self.quote}"

    def exact(self, expression: str, message: str) -> str:
        """A power or logarithm, or the failure of a query that is exact without it."""
        return self.fail.format(f"'goodgain: {message}'") if self.other_functions else expression

    def labels(self, names: Sequence[str]) -> list[str]:
        """The names of measures as those of columns, each different from the others."""
        labels: list[str] = []
        for name in names:
            label, number = self.label(name), 2
            while label in labels:
                label, number = self.label(f"{name}_{number}"), number + 1
            labels.append(label)
        return labels

    def string(self, value: str) -> str:
        """A name of the user's in an error message, which must not end the literal."""
        return re.sub(r"[^\w .-]", "?", value)

    def number(self, value: float) -> str:
        """A 64-bit number that is read back to the last bit."""
        return f"CAST('{value!r}' AS {self.double})"

    def as_double(self, expression: str) -> str:
        """A number as a 64-bit one."""
        return f"CAST({expression} AS {self.double})"

    def value(self, column: str) -> str:
        """A column of the user's with scores or gains, as 64-bit numbers."""
        return self.as_double(self.numeric.format(column))

    def sum(self, term: str, order: str, condition: str) -> str:
        """The sum of `term` over the rows with `condition`, in the core's order where that is possible."""
        if self.ordered_sum is not None:
            return self.ordered_sum.format(term, order, condition)
        zero = self.number(0.0)
        return f"COALESCE(SUM(CASE WHEN {condition} THEN {term} END), {zero})"

    def table(self, columns: Sequence[str], rows: Sequence[tuple[int, float]]) -> str:
        """A query for a table of a number and a double per row."""
        if self.names_first_row:
            listed = ", ".join(f"({n}, {self.number(v)})" for n, v in rows)
            return f"SELECT * FROM (VALUES {listed}) AS t({', '.join(columns)})"
        listed = ", ".join(
            f"STRUCT({n} AS {columns[0]}, {self.number(v)} AS {columns[1]})" for n, v in rows
        )
        return f"SELECT * FROM UNNEST([{listed}])"


def _no_number(type_of: str, numbers: str) -> str:
    """The condition on the type of a column that does not hold numbers."""
    listed = ", ".join(f"'{name}'" for name in numbers.split())
    return f"{type_of} NOT IN ({listed}) AND {type_of} NOT LIKE 'DECIMAL(%'"


def _no_id(type_of: str) -> str:
    """The condition on the type of a column whose ids would be written in several ways as text."""
    return (
        f"{type_of} IN ('FLOAT', 'DOUBLE', 'BOOLEAN', 'DATE') OR {type_of} LIKE 'TIMESTAMP%' "
        f"OR ({type_of} LIKE 'DECIMAL(%' AND {type_of} NOT LIKE '%,0)')"
    )


_DUCKDB = Dialect(
    name="duckdb",
    title="DuckDB",
    text='CAST({0} AS VARCHAR) COLLATE "binary"',
    double="DOUBLE",
    single="COALESCE(TRY_CAST({0} AS FLOAT), CAST(CASE WHEN {0} > 0 THEN 'inf' ELSE '-inf' END AS FLOAT))",
    quote='"',
    finite="isfinite({0})",
    fail="error({0})",
    no_number=_no_number(
        "typeof({0})",
        "TINYINT SMALLINT INTEGER BIGINT HUGEINT UTINYINT USMALLINT UINTEGER UBIGINT UHUGEINT "
        "FLOAT DOUBLE BOOLEAN",
    ),
    no_id=_no_id("typeof({0})"),
    ordered_sum="COALESCE(list_sum(list({0} ORDER BY {1} ASC) FILTER (WHERE {2})), CAST('0.0' AS DOUBLE))",
    log2="log2({0})",
)
_SPARK = Dialect(
    name="spark",
    title="Spark",
    text="CAST(CAST(CAST({0} AS STRING) AS BINARY) AS STRING)",
    double="DOUBLE",
    single="CAST({0} AS FLOAT)",
    quote="`",
    finite="NOT (isnan({0}) OR abs({0}) = CAST('Infinity' AS DOUBLE))",
    fail="raise_error({0})",
    no_number=_no_number("upper(typeof({0}))", "TINYINT SMALLINT INT BIGINT FLOAT DOUBLE BOOLEAN"),
    no_id=_no_id("upper(typeof({0}))"),
    ordered_sum=(
        "aggregate(array_sort(collect_list(struct({1} AS place, {0} AS term)) FILTER (WHERE {2})), "
        "CAST('0.0' AS DOUBLE), (total, each) -> total + each.term)"
    ),
    log2="log2({0})",
    other_functions=True,
)
_BIGQUERY = Dialect(
    name="bigquery",
    title="BigQuery",
    text="COLLATE(CAST({0} AS STRING), '')",
    double="FLOAT64",
    single=None,
    quote="`",
    finite="NOT (IS_NAN({0}) OR IS_INF({0}))",
    fail="ERROR({0})",
    no_number=None,
    no_id=None,
    numeric="{0} + 0",  # refuses text, which a cast would parse
    ordered_sum=None,
    log2="LOG({0}, 2)",
    any_label=False,
    names_first_row=False,
)
_SNOWFLAKE = Dialect(
    name="snowflake",
    title="Snowflake",
    text="COLLATE(CAST({0} AS VARCHAR), '')",
    double="DOUBLE",
    single=None,
    quote='"',
    finite="{0} NOT IN (CAST('NaN' AS DOUBLE), CAST('inf' AS DOUBLE), CAST('-inf' AS DOUBLE))",
    fail="CAST({0} AS INTEGER)",  # not a number: the error quotes it
    no_number=(
        "TYPEOF(TO_VARIANT({0})) NOT IN ('INTEGER', 'DECIMAL', 'DOUBLE', 'REAL', 'BOOLEAN', 'NULL_VALUE')"
    ),
    no_id=(
        "TYPEOF(TO_VARIANT({0})) IN ('DECIMAL', 'DOUBLE', 'REAL', 'BOOLEAN', 'DATE') "
        "OR TYPEOF(TO_VARIANT({0})) LIKE 'TIMESTAMP%'"
    ),
    ordered_sum=None,
    log2="LOG(2, {0})",
    keeps_case=True,
)
DIALECTS = {d.name: d for d in (_DUCKDB, _SPARK, _BIGQUERY, _SNOWFLAKE)}
