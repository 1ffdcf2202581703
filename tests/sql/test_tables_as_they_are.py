"""Whatever the types, collations, names and settings: the core's values, or an error that says why not."""

from __future__ import annotations

import random

import pytest
from sql_values import EXACT, collection, same_bits, values

import goodgain as gg
from goodgain.sql import DIALECTS, Tables, compile_sql

duckdb = pytest.importorskip("duckdb")


def database(judged, ranked, *settings, text="VARCHAR"):
    db = duckdb.connect()
    for setting in settings:
        db.execute(setting)
    db.execute(f"CREATE TABLE qrels (query {text}, doc {text}, gain DOUBLE)")
    db.execute(f"CREATE TABLE run (query {text}, doc {text}, score DOUBLE)")
    db.executemany("INSERT INTO qrels VALUES (?, ?, ?)", judged)
    db.executemany("INSERT INTO run VALUES (?, ?, ?)", ranked)
    return db


def computed(db, measures, **options):
    rows = db.execute(compile_sql(measures, "duckdb", per_query=True, **options))
    return values([column[0] for column in db.description], rows.fetchall())


@pytest.mark.parametrize("ties", ["docid", "docid-ascending"])
@pytest.mark.parametrize(
    ("setting", "text"),
    [
        ("SET default_collation = 'NOCASE'", "VARCHAR"),
        ("SET default_collation = 'NOACCENT'", "VARCHAR"),
        ("SET default_order = 'DESC'", "VARCHAR"),
        ("SET threads = 1", "VARCHAR COLLATE NOCASE"),
    ],
)
def test_settings_and_collations_change_nothing(setting, text, ties):
    """Ids that differ in case or accents are different ids, and ties are broken by their bytes."""
    rng = random.Random(3)
    docs = ["a", "A", "b", "B", "é", "e", "É", "Z", "z", "_"]
    judged = [
        (q, d, rng.choice((0.0, 1.0, 2.0)))
        for q in ("q", "Q", "r")
        for d in docs
        if rng.random() < 0.6
    ]
    ranked = [
        (q, d, rng.choice((1.0, 2.0))) for q in ("q", "Q", "R") for d in docs if rng.random() < 0.8
    ]
    db = database(judged, ranked, setting, text=text)
    local = gg.evaluate(gg.Qrels(judged), ranked, EXACT, ties=ties)
    same_bits(local, computed(db, EXACT, ties=ties))


def test_without_cutoffs():
    """Discounts of the first 1,000 ranks are exact, with a cutoff or without."""
    rng = random.Random(4)
    docs = [f"d{number}" for number in range(1500)]
    judged = [("q", d, float(rng.randrange(4))) for d in rng.sample(docs, 900)]
    ranked = [("q", d, rng.random()) for d in rng.sample(docs, 1000)]
    measures = "nDCG DCG nDCG(gain=exp) nDCG(ideal=retrieved) RBP RBP(p=0.95) AP CG"
    local = gg.evaluate(gg.Qrels(judged), ranked, measures)
    same_bits(local, computed(database(judged, ranked), measures))


@pytest.mark.parametrize(
    ("qrels", "run", "says"),
    [
        ("1, 'a', 1", "1.0::DOUBLE, 'a', 1", "column query must hold text or integers"),
        ("'q', 1, 1", "'q', 1.0::DECIMAL(9, 2), 1", "column doc must hold text or integers"),
        ("'q', DATE '2020-01-01', 1", "'q', 'a', 1", "column doc must hold text or integers"),
        ("'q', 'a', '1_0'", "'q', 'a', 1", "column gain must hold numbers"),
        ("'q', 'a', 1", "'q', 'a', ' 2.5'", "column score must hold numbers"),
        ("'q', 'a', 1", "'q', 'a', '1_000'", "column score must hold numbers"),
        ("'q', 'a', 1", "'r', 'a', 1", "no query of a run is judged"),
    ],
)  # fmt: skip
def test_types_that_goodgain_refuses_fail_the_query(qrels, run, says):
    db = duckdb.connect()
    db.execute(f"CREATE VIEW qrels AS SELECT * FROM (VALUES ({qrels})) AS t(query, doc, gain)")
    db.execute(f"CREATE VIEW run AS SELECT * FROM (VALUES ({run})) AS t(query, doc, score)")
    with pytest.raises(duckdb.Error, match=f"goodgain: {says}"):
        db.execute(compile_sql("AP", "duckdb")).fetchall()


def test_exported_types():
    """Ids may be decimals without a scale; gains and scores decimals and booleans."""
    db = duckdb.connect()
    db.execute(
        "CREATE VIEW qrels AS SELECT 1::DECIMAL(38, 0) AS query, 7::HUGEINT AS doc, true AS gain"
    )
    db.execute("CREATE VIEW run AS SELECT 1 AS query, 7 AS doc, 0.5::DECIMAL(38, 20) AS score")
    assert db.execute(compile_sql("AP", "duckdb")).fetchall() == [("run", 1, 1.0)]


def test_a_run_without_a_name():
    """It would be a run of its own without any document."""
    db = duckdb.connect()
    db.execute("CREATE VIEW qrels AS SELECT 'q' AS query, 'a' AS doc, 1 AS gain")
    db.execute(
        "CREATE VIEW run AS SELECT * FROM (VALUES ('x', 'q', 'a', 1), (NULL, 'q', 'a', 1)) "
        "AS t(system, query, doc, score)"
    )
    with pytest.raises(duckdb.Error, match="a row of a run without its name"):
        db.execute(compile_sql("AP", "duckdb", tables=Tables(system="system"))).fetchall()


@pytest.mark.parametrize(
    "name", ["judged", "retrieved", "units", "queries", "ideal", "list_0", "value_of"]
)
def test_tables_named_like_parts_of_the_query(name):
    judged, ranked = collection(9)
    local = gg.evaluate(gg.Qrels(judged), ranked, EXACT)
    for tables in (Tables(qrels=name), Tables(run=name)):
        db = database(judged, ranked)
        db.execute(f"ALTER TABLE {'run' if tables.qrels == 'qrels' else 'qrels'} RENAME TO {name}")
        same_bits(local, computed(db, EXACT, tables=tables))


def test_measures_have_different_names_in_bigquery():
    """It allows only letters, digits and underscores in them."""
    labels = DIALECTS["bigquery"].labels(["P(rel=2)@5", "P(rel=2.5)", "P(rel=2)", "P_rel_2"])
    assert labels == ["`P_rel_2_5`", "`P_rel_2_5__2`", "`P_rel_2`", "`P_rel_2_2`"]


def test_snowflake_fails_only_where_there_is_a_bad_row():
    """A cast of a constant text would be made, and fail, before any row is read."""
    text = compile_sql("AP", "snowflake")
    assert text.count("goodgain: ") == text.count("CAST('goodgain: ' || MIN(says) AS INTEGER)") == 1
