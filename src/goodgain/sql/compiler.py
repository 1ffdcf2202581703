"""From measures and policies to one query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goodgain.errors import UsageError
from goodgain.ranking.evaluator import recipe as recipe_of
from goodgain.sql.dialects import DIALECTS, Dialect
from goodgain.sql.kernels import KERNELS, REFUSED, Kernel, Scope

if TYPE_CHECKING:
    from collections.abc import Mapping

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
        ctes.append(("value_of", self._value_of(missing)))
        joined = ",\n".join(f"{name} AS (\n{_indented(body)}\n)" for name, body in ctes)
        return f"WITH {joined}\n{self._output(per_query)}\n"

    def _inputs(self) -> list[tuple[str, str]]:
        d, t = self.dialect, self.tables
        name = d.identifier

        def text(column: str) -> str:
            return f"CAST({name(column)} AS {d.text})"

        score, zero = d.as_double(name(t.score)), d.number(0.0)
        system = text(t.system) if t.system else "'run'"
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
            ("judged", f"SELECT {text(t.query)} AS q, {text(t.doc)} AS d,\n"
                       f"  {d.as_double(name(t.gain))} AS gain\nFROM {name(t.qrels)}"),
            ("retrieved", f"SELECT {system} AS system, {text(t.query)} AS q, {text(t.doc)} AS d,\n"
                          f"  CASE WHEN {score} = 0 THEN {zero} ELSE {score} END AS score\n"
                          f"FROM {name(t.run)}"),
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

    def _with_discounts(self, table: str, place: str = "place", prefix: str = "") -> str:
        """FROM a table of rows with ranks, joined with the discounts at these."""
        joins = ""
        for name, (length, value) in self.discounts.items():
            rows = [(rank, value(rank)) for rank in range(1, length + 1)]
            inline = self.dialect.table([f"{prefix}{name}_at", f"{prefix}{name}"], rows)
            alias = f"{prefix}{name}_by_rank"
            joins += (
                f"\nLEFT JOIN ({inline}) AS {alias} ON {alias}.{prefix}{name}_at = {table}.{place}"
            )
        return f"FROM {table}{joins}"

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
        ties = "d DESC" if policy["ties"] == "docid" else "d"
        counts = "".join(f", q.all_{i}" for i in range(len(self.levels)))
        own = (
            ",\n  CASE WHEN gain IS NOT NULL THEN ROW_NUMBER() OVER (PARTITION BY system, q ORDER BY "
            "CASE WHEN gain IS NULL THEN 1 ELSE 0 END, gain DESC) END AS own_place"
        ) if scope.own_order else ""  # fmt: skip
        window = (
            "OVER (PARTITION BY system, q ORDER BY place "
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
        conditions = [*(["u.in_run = 1"] if missing == "skip" else []), *self._checks(d)]
        return (
            f"SELECT u.system, u.q{columns}\nFROM units AS u JOIN queries AS q ON q.q = u.q{joins}\n"
            f"WHERE {(chr(10) + '  AND ').join(conditions)}"
        )

    def _checks(self, d: Dialect) -> list[str]:
        """Conditions that hold, or else fail the query: the rows that goodgain would refuse."""

        def check(rows: str, message: str) -> str:
            failure = d.fail.format(f"goodgain: {message}")
            return (
                f"(SELECT CASE WHEN COUNT(*) > 0 THEN {failure} END FROM ({rows}) AS bad) IS NULL"
            )

        def unusable(table: str, value: str) -> str:
            return (
                f"SELECT 1 AS one FROM {table} WHERE q IS NULL OR d IS NULL OR {value} IS NULL "
                f"OR NOT ({d.finite.format(value)})"
            )

        checks = [
            check(unusable("judged", "gain"), "a judgment without an id or a finite gain"),
            check(unusable("retrieved", "score"), "a row of a run without an id or a finite score"),
            check(
                "SELECT q, d FROM judged GROUP BY q, d HAVING COUNT(*) > 1",
                "a document judged twice",
            ),
        ]
        if any(dict(key)["duplicates"] == "error" for key in self.scopes):
            rows = (
                "SELECT r.q, r.d FROM retrieved AS r JOIN counted AS c ON c.q = r.q "
                "GROUP BY r.system, r.q, r.d HAVING COUNT(*) > 1"
            )
            checks.append(check(rows, "a document twice for one query of a run"))
        return checks

    def _output(self, per_query: bool) -> str:
        d = self.dialect
        columns = []
        for i, (measure, _) in enumerate(self.values):
            label = d.label(measure.label)
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
            return f"SELECT system AS {system}, q AS {query},\n  {listed}\nFROM value_of\nORDER BY system, q"
        return (
            f"SELECT system AS {system}, COUNT(*) AS {d.label('queries')},\n  {listed}\nFROM value_of\n"
            "GROUP BY system\nORDER BY system"
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
