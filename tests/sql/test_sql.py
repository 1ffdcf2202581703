"""SQL that `goodgain sql` prints gives the core's values, to the last bit where its sums are ordered."""

from __future__ import annotations

import math
import random

import pytest
from sql_values import EXACT, POLICIES, collection, same_bits, values

import goodgain as gg
from goodgain.cli import run
from goodgain.errors import UsageError
from goodgain.sql import DIALECTS, Tables, compile_sql
from goodgain.sql.kernels import KERNELS

duckdb = pytest.importorskip("duckdb")


def connection(judged, ranked):
    db = duckdb.connect()
    db.execute("CREATE TABLE qrels (query VARCHAR, doc VARCHAR, gain DOUBLE)")
    db.execute("CREATE TABLE run (query VARCHAR, doc VARCHAR, score DOUBLE)")
    db.executemany("INSERT INTO qrels VALUES (?, ?, ?)", judged)
    db.executemany("INSERT INTO run VALUES (?, ?, ?)", ranked)
    return db


def same_means(local, names, row, queries):
    """The mean is a plain sum: of n values it is right to n units in the last place."""
    for name, value in zip(names[2:], row[2:], strict=True):
        expected = local[name]
        assert math.isclose(value, expected, rel_tol=(queries + 2) * 2**-52, abs_tol=0), name


@pytest.mark.parametrize("policies", POLICIES, ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_duckdb(seed, policies):
    judged, ranked = collection(seed, twice=policies == {"duplicates": "best"})
    db = connection(judged, ranked)
    local = gg.evaluate(gg.Qrels(judged), ranked, EXACT, **policies)
    rows = db.execute(compile_sql(EXACT, "duckdb", per_query=True, **policies))
    names = [column[0] for column in db.description]
    same_bits(local, values(names, rows.fetchall()))
    (means,) = db.execute(compile_sql(EXACT, "duckdb", **policies)).fetchall()
    assert means[1] == len(local.runs[0].queries)
    same_means(local, names[:2] + names[2:], means, means[1])


@pytest.mark.parametrize("preset", ["trec_eval", "trec_eval9", "beir"])
def test_presets(preset):
    judged, ranked = collection(11)
    measures = (
        "nDCG@10 P@5 R@10" if preset == "beir" else "nDCG@10 AP RR P@5 R@10 Rprec IPrec@0.3 NumRel"
    )
    local = gg.evaluate(gg.Qrels(judged), ranked, measures, preset=preset)
    db = connection(judged, ranked)
    rows = db.execute(compile_sql(measures, "duckdb", per_query=True, preset=preset))
    same_bits(local, values([column[0] for column in db.description], rows.fetchall()))


def test_graded_gains_that_are_no_whole_numbers():
    """Powers of two with fractions, and discounts beyond the listed ranks, may differ in the last place."""
    judged, ranked = collection(5, gains=(0.1, 0.25, 0.7, 1.3, 2.9))
    measures = "nDCG@10 nDCG nDCG(gain=exp)@10 RBP CG"
    local = gg.evaluate(gg.Qrels(judged), ranked, measures).runs[0]
    db = connection(judged, ranked)
    rows = db.execute(compile_sql(measures, "duckdb", per_query=True))
    computed = values([column[0] for column in db.description], rows.fetchall())
    for measure in local.measures:
        for query, value in zip(local.queries, local.column(measure.label), strict=True):
            assert math.isclose(
                computed[query][measure.label], value, rel_tol=64 * 2**-53, abs_tol=1e-300
            )


def test_several_runs_other_names_and_numbers_as_ids():
    db = duckdb.connect()
    db.execute('CREATE SCHEMA "my lake"')
    db.execute(
        'CREATE TABLE "my lake".judged AS SELECT 1 AS topic, 10 AS "doc id", 2 AS rel '
        "UNION ALL SELECT 2, 9, 1"
    )
    db.execute(
        "CREATE TABLE runs AS SELECT * FROM (VALUES ('a', 1, 10, 1.0), ('a', 1, 9, 1.0), ('b', 1, 9, 1.0), "
        "('b', 2, 9, 3.0)) AS t(model, topic, \"doc id\", sim)"
    )
    tables = Tables(
        qrels="my lake.judged",
        run="runs",
        query="topic",
        doc="doc id",
        gain="rel",
        score="sim",
        system="model",
    )
    rows = db.execute(compile_sql("RR P@1", "duckdb", tables=tables)).fetchall()
    # As text "9" is larger than "10", so it stands first among equal scores.
    assert rows == [("a", 2, 0.25, 0.0), ("b", 2, 0.5, 0.5)]


@pytest.mark.parametrize(
    ("table", "row", "says"),
    [
        ("run", ("q1", "a", 1.0), "a document twice for one query of a run"),
        ("run", ("q9", None, 1.0), "a row of a run without an id or a finite score"),
        ("run", ("q9", "x", math.nan), "a row of a run without an id or a finite score"),
        ("run", ("q9", "x", None), "a row of a run without an id or a finite score"),
        ("qrels", ("q1", "a", 1.0), "a document judged twice"),
        ("qrels", ("q1", "z", math.inf), "a judgment without an id or a finite gain"),
    ],
)
def test_rows_that_goodgain_refuses_fail_the_query(table, row, says):
    db = connection([("q1", "a", 1.0)], [("q1", "a", 1.0)])
    db.execute(f"INSERT INTO {table} VALUES (?, ?, ?)", row)
    with pytest.raises(duckdb.Error, match=says):
        db.execute(compile_sql("AP", "duckdb")).fetchall()


@pytest.mark.parametrize(
    ("measures", "options", "says"),
    [
        ("ERR@10", {}, "ERR@10 cannot be compiled to SQL: it multiplies chances along the ranking"),
        ("alpha_nDCG@10", {}, "alpha_nDCG@10 cannot be compiled to SQL: "),
        ("Latency", {}, "Latency cannot be compiled to SQL: it is not computed from judgments"),
        (
            "AP",
            {"ties": "average"},
            "ties=average cannot be compiled to SQL: it is the mean over all orders",
        ),
        ("AP", {"ties": "input"}, "ties=input cannot be compiled to SQL: a table has no order"),
        ("AP", {"unjudged": "bounds"}, "unjudged=bounds cannot be compiled to SQL"),
        (
            "AP",
            {"duplicates": "first"},
            "duplicates=first cannot be compiled to SQL: a table has no order",
        ),
    ],
)
def test_what_is_refused(measures, options, says):
    with pytest.raises(UsageError) as caught:
        compile_sql(measures, "duckdb", **options)
    assert str(caught.value).startswith(says)


def test_single_precision_beyond_its_range():
    """Numbers too large for 32 bits are infinite there, so they are equal."""
    ranked = [("q", "a", 1e308), ("q", "b", 1e300), ("q", "c", -1e308), ("q", "d", 3.4028235e38)]
    judged = [("q", "a", 3.0), ("q", "c", 1.0), ("q", "d", 2.0)]
    local = gg.evaluate(gg.Qrels(judged), ranked, EXACT, scores="single")
    db = connection(judged, ranked)
    rows = db.execute(compile_sql(EXACT, "duckdb", per_query=True, scores="single"))
    same_bits(local, values([column[0] for column in db.description], rows.fetchall()))


def test_single_precision_needs_a_type():
    for dialect in ("bigquery", "snowflake"):
        with pytest.raises(UsageError, match="it has no 32-bit numbers"):
            compile_sql("AP", dialect, scores="single")


NAMES = (
    "select", "group", "Query", "a b", "x;y", "o'clock", "`tick`", "-- x", "Ω", '"a.b"', '"""q"""', "TABLE",
)  # fmt: skip
IDS = (
    "1", "01", "1e3", "a b", "é", "e\u0301", "A", "a", "ａ", "😀", "\uffff", "'", '"', ";", "NULL", "nan",
    "9223372036854775808", "%", "tab\tx", "\\N", "\\", "a ", "  a", "zz" * 40,
)  # fmt: skip


@pytest.mark.parametrize("seed", range(6))
def test_hostile_names_ids_and_numbers(seed):
    """Quotes, reserved words and whatever sorts otherwise elsewhere: ids are compared by their bytes."""
    rng = random.Random(seed)
    queries = rng.sample(IDS, 4)
    judged = [
        (query, doc, rng.choice((-2.0, 0.0, 0.5, 1.0, 2.0, 3.25)))
        for query in queries
        for doc in rng.sample(IDS, rng.randrange(1, len(IDS)))
    ]
    scores = (0.0, -0.0, 1.0, 2.0, 1e-320, 1e308, -1e308, 2.0**53, 2.0**53 + 2, 1 / 3, rng.random())
    ranked = [
        (query, doc, rng.choice(scores))
        for query in (*queries[1:], "unjudged")
        for doc in rng.sample(IDS, rng.randrange(1, len(IDS)))
    ]
    names = rng.sample(NAMES, 4)
    tables = Tables(**dict(zip(("query", "doc", "gain", "score"), names, strict=True)))
    db = connection(judged, ranked)
    dialect = DIALECTS["duckdb"]
    query, doc, gain, score = map(dialect.identifier, names)
    for table, column, name in (
        ("qrels", "query", query), ("qrels", "doc", doc), ("qrels", "gain", gain),
        ("run", "query", query), ("run", "doc", doc), ("run", "score", score),
    ):  # fmt: skip
        if name.strip('"').lower() != column:
            db.execute(f"ALTER TABLE {table} RENAME COLUMN {column} TO {name}")
    for policies in ({}, {"ties": "docid-ascending", "missing": "skip"}, {"unjudged": "remove"}):
        text = compile_sql(EXACT, "duckdb", tables=tables, per_query=True, **policies)
        rows = db.execute(text).fetchall()
        local = gg.evaluate(judged, ranked, EXACT, **policies).per_query["run"]
        assert {row[1] for row in rows} == set(local)
        for row in rows:
            for value, expected in zip(row[2:], local[row[1]].values(), strict=True):
                same = (value is None and math.isnan(expected)) or value == expected
                assert same, (row[1], value, expected)


@pytest.mark.parametrize(
    ("dialect", "name", "identifier"),
    [
        ("duckdb", "lake.runs", '"lake"."runs"'),
        ("duckdb", '"lake.runs"', '"lake.runs"'),
        ("duckdb", '"my lake".runs', '"my lake"."runs"'),
        ("duckdb", 'x" --', '"x"" --"'),
        ("duckdb", '"a"; DROP TABLE t; --"', '"""a""; DROP TABLE t; --"""'),
        ("bigquery", "project.lake.runs", "`project`.`lake`.`runs`"),
        ("bigquery", "`project.lake`.runs", "`project.lake`.`runs`"),
        ("spark", "a`b", "`a``b`"),
        ("snowflake", "lake.runs", "lake.runs"),
        ("snowflake", "order", '"order"'),
        ("snowflake", '"Order"', '"Order"'),
    ],
)
def test_identifiers(dialect, name, identifier):
    """Names may be quoted by the user; whatever is not well quoted is quoted as a whole."""
    assert DIALECTS[dialect].identifier(name) == identifier


def test_every_kernel_is_certified():
    from goodgain.ranking.evaluator import recipe

    _, planned = recipe(EXACT, None, "default", False)
    assert {options["kernel"] for options in planned.request.measures} == set(KERNELS)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("per_query", [False, True])
def test_a_parser_of_the_dialect_reads_it(dialect, per_query):
    """BigQuery and Snowflake cannot be run here: their queries differ from DuckDB's in functions only."""
    sqlglot = pytest.importorskip("sqlglot")
    for policies in POLICIES:
        if policies == {"scores": "single"} and DIALECTS[dialect].single is None:
            continue
        text = compile_sql(EXACT, dialect, per_query=per_query, **policies)
        (query,) = sqlglot.parse(text, dialect=dialect, error_level=sqlglot.ErrorLevel.RAISE)
        names = [column.alias for column in query.selects]
        assert len(names) == len(set(names)) == 2 + len(EXACT.split())
        ctes = {cte.alias for cte in query.find_all(sqlglot.exp.CTE)}
        known = ctes | {"qrels", "run"}
        assert {table.name for table in query.find_all(sqlglot.exp.Table) if table.name} <= known


def test_the_command(capsys, tmp_path):
    assert run(["sql", "--dialect", "duckdb", "--measures", "nDCG@10 AP"]) == 0
    text = capsys.readouterr().out
    assert text == compile_sql("nDCG@10 AP", "duckdb")
    db = connection([("q", "a", 1.0), ("q", "b", 2.0)], [("q", "a", 2.0), ("q", "b", 1.0)])
    assert db.execute(text).fetchall()[0][3] == 1.0
    path = tmp_path / "query.sql"
    names = ["--columns", "query=topic,system=model", "--policy", "missing=skip", "--per-query"]
    assert (
        run(["sql", "--dialect", "snowflake", "lake.qrels", "lake.runs", *names, "-o", str(path)])
        == 0
    )
    assert "FROM lake.runs" in path.read_text()
    assert run(["sql", "--dialect", "oracle"]) == 2
    assert "unknown dialect 'oracle'\nhint: one of: duckdb, spark" in capsys.readouterr().err
    assert run(["sql", "--dialect", "duckdb", "--columns", "topic=x"]) == 2
    assert "unknown column role 'topic'" in capsys.readouterr().err
