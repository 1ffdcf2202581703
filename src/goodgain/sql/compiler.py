"""From measures and policies to one query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goodgain.errors import UsageError
from goodgain.ranking.evaluator import recipe as recipe_of
from goodgain.sql.dialects import DIALECTS, Dialect
from goodgain.sql.kernels import KERNELS, REFUSED, Kernel, Scope

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from goodgain.measures.definition import Measure
    from goodgain.ranking.evaluator import Measures
    from goodgain.ranking.policy import Policy

_POLICIES = {
    "ties": {
        "input": "a table has no order",
        "average": "it is the mean over all orders of equal scores",
        "bounds": "it is the smallest and largest value over all orders of equal scores",
    },
    "unjudged": {"bounds": "it searches over the gains of unjudged documents"},
    "duplicates": {"first": "a table has no order"},
}


@dataclass(frozen=True, kw_only=True)
class Tables:
    """The names of tables and columns; with `system`, the run's table holds several runs."""

    qrels: str = "qrels"
    run: str = "run"
    query: str = "query"
    doc: str = "doc"
    gain: str = "gain"
    score: str = "score"
    system: str | None = None


def compile_sql(
    measures: Measures,
    dialect: str,
    *,
    tables: Tables | None = None,
    per_query: bool = False,
    policy: Policy | Mapping[str, str] | None = None,
    preset: str = "default",
    **policies: str,
) -> str:
    """One query that computes measures over tables of judgments and runs: means, or values per query."""
    if dialect not in DIALECTS:
        raise UsageError(f"unknown dialect '{dialect}'", hint=f"one of: {', '.join(DIALECTS)}")
    _, planned = recipe_of(measures, policy, preset, False, **policies)
    for m in planned.measures:
        if m.definition.column is not None:
            raise UsageError(f"{m} cannot be compiled to SQL: it is not computed from judgments")
    query = _Query(DIALECTS[dialect], tables or Tables())
    for m, options in zip(planned.measures, planned.request.measures, strict=True):
        query.add(m, options)
    return query.text(per_query, planned.missing)


class _Query:
    """The parts of a query, collected measure by measure."""

    def __init__(self, dialect: Dialect, tables: Tables) -> None:
        self.dialect, self.tables = dialect, tables
        self.levels: list[float] = []
        self.ideals: dict[str, str] = {}
        self.discounts: dict[str, Any] = {}
        self.scopes: dict[tuple[tuple[str, str], ...], Scope] = {}
        self.values: list[tuple[Measure, str]] = []

    def add(self, measure: Measure, options: Mapping[str, Any]) -> None:
        """Add a measure, or refuse it by name."""
        kernel = options.get("kernel")
        if kernel is None:
            raise UsageError(f"{measure} cannot be compiled to SQL: it is a Python function")
        if options.get("ideal_length"):
            reason = "its ideal list is as long as the list itself"
        else:
            reason = (
                ""
                if kernel in KERNELS
                else REFUSED.get(kernel, "its family has no exact form there")
            )
        if reason:
            raise UsageError(
                f"{measure} cannot be compiled to SQL: {reason}",
                hint=f"kernels with an exact form: {', '.join(sorted(KERNELS))}",
            )
        policy: dict[str, str] = dict(options["policy"])
        self._check(policy)
        missing = policy.pop("missing")
        scope = self._scope(policy)
        value = KERNELS[kernel](Kernel(scope, options))
        if missing == "skip":
            value = f"CASE WHEN u.in_run = 1 THEN {value} END"
        self.values.append((measure, value))

    def _check(self, policy: Mapping[str, str]) -> None:
        for name, reasons in _POLICIES.items():
            if reason := reasons.get(policy[name]):
                raise UsageError(f"{name}={policy[name]} cannot be compiled to SQL: {reason}")
        if policy["scores"] == "single" and self.dialect.single is None:
            raise UsageError(
                f"scores=single cannot be compiled for {self.dialect.title}: it has no 32-bit numbers"
            )

    def _scope(self, policy: Mapping[str, str]) -> Scope:
        key = tuple(sorted(policy.items()))
        if key not in self.scopes:
            # Each scope has sums of its own, in columns with names of their own.
            self.scopes[key] = _NumberedScope(
                self.dialect, self.levels, self.ideals, self.discounts, number=len(self.scopes)
            )
        return self.scopes[key]

    def text(self, per_query: bool, missing: str) -> str:
        """The query."""
        ctes = self._inputs()
        for number, (key, scope) in enumerate(self.scopes.items()):
            ctes += self._lists(number, dict(key), scope)
        ctes.append(("bad", "\nUNION ALL\n".join(self._bad_rows())))
        ctes.append(("value_of", self._value_of(missing)))
        joined = ",\n".join(f"{name} AS (\n{_indented(body)}\n)" for name, body in ctes)
        return f"WITH {joined}\n{self._output(per_query)}\n"

    def _inputs(self) -> list[tuple[str, str]]:
        d, zero = self.dialect, self.dialect.number(0.0)
        query, doc = d.text.format("raw_query"), d.text.format("raw_doc")
        score = d.value("raw_value")
        system = d.text.format("raw_system") if self.tables.system else "'run'"
        counts = "".join(
            f",\n  SUM(CASE WHEN gain >= {d.number(max(level, 0.0))} THEN 1 ELSE 0 END) AS all_{i}"
            for i, level in enumerate(self.levels)
        )
        ideals = "".join(f",\n  {term} AS {column}" for term, column in self.ideals.items())
        best = (
            "SELECT q, gain, ROW_NUMBER() OVER (PARTITION BY q ORDER BY gain DESC) AS place\n"
            "FROM judged WHERE gain > 0"
        )
        return [
            *self._raw_tables(),
            ("judged", f"SELECT {query} AS q, {doc} AS d,\n  {score} AS gain\nFROM goodgain_qrels"),
            ("retrieved", f"SELECT {system} AS system, {query} AS q, {doc} AS d,\n"
                          f"  CASE WHEN {score} = 0 THEN {zero} ELSE {score} END AS score\n"
                          "FROM goodgain_run"),
            *self._discount_tables(),
            ("best_order", best),
            *([("ideal", f"SELECT q{ideals}\n{self._with_discounts('best_order')}\nGROUP BY q")]
              if self.ideals else []),
            ("counted", "SELECT q, COUNT(*) AS judged, MAX(gain) AS query_max,\n"
                        f"  SUM(CASE WHEN gain >= 0 THEN 1 ELSE 0 END) AS not_negative{counts}\n"
                        "FROM judged GROUP BY q"),
            ("queries", "SELECT counted.*, "
                        f"(SELECT GREATEST(MAX(gain), {zero}) FROM judged) AS max_gain"
                        + ("".join(f", ideal.{c}" for c in self.ideals.values())) + "\nFROM counted"
                        + (" LEFT JOIN ideal ON counted.q = ideal.q" if self.ideals else "")),
            ("units", "SELECT systems.system, queries.q, "
                      "CASE WHEN lists.q IS NULL THEN 0 ELSE 1 END AS in_run\n"
                      "FROM (SELECT DISTINCT system FROM retrieved) AS systems CROSS JOIN queries\n"
                      "LEFT JOIN (SELECT DISTINCT system, q FROM retrieved) AS lists\n"
                      "  ON lists.system = systems.system AND lists.q = queries.q"),
        ]  # fmt: skip

    def _raw_tables(self) -> list[tuple[str, str]]:
        """The user's tables. They come first: their names may be those of later parts of the query."""
        t, name = self.tables, self.dialect.identifier
        system = f", {name(t.system)} AS raw_system" if t.system else ""
        return [
            (part, f"SELECT {name(t.query)} AS raw_query, {name(t.doc)} AS raw_doc, "
                   f"{name(value)} AS raw_value{more}\nFROM {name(table)}")
            for part, table, value, more in (
                ("goodgain_qrels", t.qrels, t.gain, ""), ("goodgain_run", t.run, t.score, system),
            )
        ]  # fmt: skip

    def _with_discounts(self, table: str, place: str = "place", prefix: str = "") -> str:
        """FROM a table of rows with ranks, joined with the discounts at these."""
        joins = ""
        for name in self.discounts:
            alias = f"{prefix}{name}_by_rank"
            columns = f"place_of_{name} AS {alias}_at, value_of_{name} AS {prefix}{name}"
            joins += (
                f"\nLEFT JOIN (SELECT {columns} FROM table_of_{name}) AS {alias} "
                f"ON {alias}.{alias}_at = {table}.{place}"
            )
        return f"FROM {table}{joins}"

    def _discount_tables(self) -> Iterator[tuple[str, str]]:
        for name, (length, value) in self.discounts.items():
            rows = [(rank, value(rank)) for rank in range(1, length + 1)]
            columns = [f"place_of_{name}", f"value_of_{name}"]
            yield f"table_of_{name}", self.dialect.table(columns, rows)

    def _lists(self, number: int, policy: Mapping[str, str], scope: Scope) -> list[tuple[str, str]]:
        """The ranked rows under one policy, and their sums by query."""
        d = self.dialect
        # A dialect without 32-bit numbers was refused before.
        single = d.single if policy["scores"] == "single" else None
        score = single.format("score") if single else "score"
        best = policy["duplicates"] == "best"
        rows = (
            "(SELECT system, q, d, MAX(score) AS score FROM retrieved GROUP BY system, q, d)"
            if best
            else "retrieved"
        )
        conditions = []
        if policy["same_id"] == "drop":
            conditions.append("r.d <> r.q")
        if policy["unjudged"] != "nonrelevant":
            conditions.append("j.gain IS NOT NULL")
        if policy["unjudged"] == "remove-negative":
            conditions.append("j.gain >= 0")
        where = f"\nWHERE {' AND '.join(conditions)}" if conditions else ""
        ties = "d DESC" if policy["ties"] == "docid" else "d ASC"
        counts = "".join(f", q.all_{i}" for i in range(len(self.levels)))
        own = (
            ",\n  CASE WHEN gain IS NOT NULL THEN ROW_NUMBER() OVER (PARTITION BY system, q ORDER BY "
            "CASE WHEN gain IS NULL THEN 1 ELSE 0 END ASC, gain DESC) END AS own_place"
        ) if scope.own_order else ""  # fmt: skip
        window = (
            "OVER (PARTITION BY system, q ORDER BY place ASC "
            "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)"
        )
        seen = "".join(
            f",\n  SUM(CASE WHEN gain >= {d.number(level)} THEN 1 ELSE 0 END) {window} AS seen_{i}"
            for i, level in enumerate(self.levels)
        )
        for i, (rel, negative) in enumerate(scope.nonrelevant):
            low = "" if negative else "gain >= 0 AND "
            condition = f"{low}gain < {d.number(rel)}"
            seen += f",\n  SUM(CASE WHEN {condition} THEN 1 ELSE 0 END) {window} AS above_{i}"
        sums = "".join(
            f",\n  {expression} AS {column}" for expression, column in scope.sums.items()
        )
        listed = self._with_discounts(f"list_{number}")
        if scope.own_order:
            listed += self._with_discounts(f"list_{number}", "own_place", "own_").removeprefix(
                f"FROM list_{number}"
            )
        return [
            (f"ranked_{number}",
             f"SELECT r.system, r.q, j.gain, q.judged, q.not_negative, q.query_max, q.max_gain{counts},\n"
             "  ROW_NUMBER() OVER (PARTITION BY r.system, r.q ORDER BY "
             f"{score.replace('score', 'r.score')} DESC, r.{ties}) AS place\n"
             f"FROM {rows} AS r JOIN queries AS q ON q.q = r.q\n"
             f"LEFT JOIN judged AS j ON j.q = r.q AND j.d = r.d{where}"),
            (f"list_{number}", f"SELECT ranked_{number}.*{seen}{own}\nFROM ranked_{number}"),
            (f"sums_{number}", f"SELECT system, q{sums}\n{listed}\nGROUP BY system, q"
             if sums else f"SELECT DISTINCT system, q FROM list_{number}"),
        ]  # fmt: skip

    def _value_of(self, missing: str) -> str:
        d = self.dialect
        columns = "".join(f",\n  {value} AS v{i}" for i, (_, value) in enumerate(self.values))
        joins = "".join(
            f"\nLEFT JOIN sums_{n} ON sums_{n}.system = u.system AND sums_{n}.q = u.q"
            for n in range(len(self.scopes))
        )
        # An error that a constant describes may be raised before there is anything to count.
        failure = d.fail.format("'goodgain: ' || MIN(says)")
        check = f"(SELECT CASE WHEN COUNT(*) > 0 THEN {failure} END FROM bad) IS NULL"
        conditions = [*(["u.in_run = 1"] if missing == "skip" else []), check]
        return (
            f"SELECT u.system, u.q{columns}\nFROM units AS u JOIN queries AS q ON q.q = u.q{joins}\n"
            f"WHERE {(chr(10) + '  AND ').join(conditions)}"
        )

    def _bad_rows(self) -> Iterator[str]:
        """A message for each row that goodgain would refuse."""
        d = self.dialect

        def says(message: str, rows: str) -> str:
            return f"SELECT '{message}' AS says FROM {rows}"

        def unusable(table: str, value: str) -> str:
            return (
                f"{table} WHERE q IS NULL OR d IS NULL OR {value} IS NULL "
                f"OR NOT ({d.finite.format(value)})"
            )

        yield from self._bad_types()
        yield says("a judgment without an id or a finite gain", unusable("judged", "gain"))
        yield says("a row of a run without an id or a finite score", unusable("retrieved", "score"))
        if self.tables.system:
            yield says("a row of a run without its name", "retrieved WHERE system IS NULL")
        yield says("a document judged twice", "judged GROUP BY q, d HAVING COUNT(*) > 1")
        unjudged = "units GROUP BY system HAVING MAX(in_run) = 0"
        yield says("no query of a run is judged", unjudged)
        if any(dict(key)["duplicates"] == "error" for key in self.scopes):
            rows = (
                "retrieved AS r JOIN counted AS c ON c.q = r.q "
                "GROUP BY r.system, r.q, r.d HAVING COUNT(*) > 1"
            )
            yield says("a document twice for one query of a run", rows)

    def _bad_types(self) -> Iterator[str]:
        """Types that goodgain refuses: casts would parse text, and write one id in several ways."""
        d, t = self.dialect, self.tables
        for part, value in (("goodgain_qrels", t.gain), ("goodgain_run", t.score)):
            for column, own_name, refused, wanted in (
                ("raw_query", t.query, d.no_id, "text or integers"),
                ("raw_doc", t.doc, d.no_id, "text or integers"),
                ("raw_value", value, d.no_number, "numbers"),
            ):
                if refused:
                    yield (
                        f"SELECT 'column {d.string(own_name)} must hold {wanted}' AS says "
                        f"FROM (SELECT {column} FROM {part} LIMIT 1) AS first_row "
                        f"WHERE {refused.format(column)}"
                    )

    def _output(self, per_query: bool) -> str:
        d = self.dialect
        columns = []
        labels = d.labels([measure.label for measure, _ in self.values])
        for i, ((measure, _), label) in enumerate(zip(self.values, labels, strict=True)):
            if per_query:
                columns.append(f"v{i} AS {label}")
            elif measure.definition.aggregate == "geometric":
                least = f"GREATEST(v{i}, {d.number(0.00001)})"
                columns.append(f"EXP(AVG(LN({least}))) AS {label}")
            else:
                function = "SUM" if measure.definition.aggregate == "sum" else "AVG"
                columns.append(f"{function}(v{i}) AS {label}")
        listed = ",\n  ".join(columns)
        system, query = d.label("run"), d.label("query")
        if per_query:
            return (
                f"SELECT system AS {system}, q AS {query},\n  {listed}\nFROM value_of\n"
                "ORDER BY system ASC, q ASC"
            )
        return (
            f"SELECT system AS {system}, COUNT(*) AS {d.label('queries')},\n  {listed}\nFROM value_of\n"
            "GROUP BY system\nORDER BY system ASC"
        )


class _NumberedScope(Scope):
    """A scope whose sums have names that no other scope has."""

    def __init__(self, *args: Any, number: int) -> None:
        super().__init__(*args)
        self.number = number

    def _column(self, columns: dict[str, str], expression: str, prefix: str) -> str:
        if prefix == "s":
            prefix = f"s{self.number}_"
        return columns.setdefault(expression, f"{prefix}{len(columns)}")


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())
