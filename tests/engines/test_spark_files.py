"""Parquet files that tasks read themselves give the same results, for contiguous and scattered queries."""

from __future__ import annotations

import math

import pytest
from hard_rows import collection, frames, same
from specs import ALL, label

import goodgain as gg
import goodgain.spark
from goodgain.engines.spark.files import _tasks, files_of
from goodgain.engines.spark.frames import frame_of, pieces_of
from goodgain.engines.spark.jobs import Measurement
from goodgain.engines.spark.judgments import judgments_of
from goodgain.errors import InputError
from goodgain.ranking.evaluator import recipe

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

MEASURES = [label(spec) for spec in ALL]
JUDGED, SCATTERED = collection(120)
RANKED = sorted(SCATTERED, key=lambda row: row[0])  # of a query in the order that they had
NAMES = {"qrels": ("query", "doc", "gain", "target", "aspect"), "run": ("query", "doc", "score")}
MEASURED = 2  # a kind of piece


def written(folder, kind, rows, files=3, group=40):
    """Rows as several files of several row groups."""
    folder.mkdir()
    columns = dict(zip(NAMES[kind], zip(*rows, strict=True), strict=True))
    table = pa.table({name: list(values) for name, values in columns.items()})
    size = -(-len(rows) // files)
    for i in range(files):
        pq.write_table(
            table[i * size : (i + 1) * size], folder / f"{i}.parquet", row_group_size=group
        )
    return str(folder)


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    return {
        "qrels": written(folder / "qrels", "qrels", JUDGED),
        "run": written(folder / "run", "run", RANKED),
        "scattered": written(folder / "scattered", "run", SCATTERED),
    }


def kinds(spark, qrels, run):
    """Count the pieces of each kind that the tasks produce."""
    frame = frame_of(spark, run, "run")
    judged = judgments_of(spark, qrels, None, 10**6)
    _, planned = recipe("AP", None, "default", False)
    job = Measurement(spark, planned, None, False).job(frame, judged, judged.shipped)
    pieces = pieces_of(frame, is_run=True, here=job)
    return {row.kind: row["count"] for row in pieces.groupBy("kind").count().collect()}


@pytest.mark.parametrize("small", [10**6, 0], ids=["small", "shipped"])
@pytest.mark.parametrize("rows", ["run", "scattered"])
@pytest.mark.parametrize(
    "policies",
    [{}, {"missing": "skip", "ties": "input"}, {"unjudged": "remove"}, {"preset": "trec_eval"}],
    ids=str,
)
def test_every_measure(spark, paths, rows, policies, small):
    measures = MEASURES if "preset" not in policies else ["nDCG@10", "AP", "ERR", "NumQ", "Bpref"]
    result = goodgain.spark.evaluate(
        spark.read.parquet(paths["qrels"]), spark.read.parquet(paths[rows]), measures,
        small_qrels=small, session=spark, **policies,
    )  # fmt: skip
    ranked = RANKED if rows == "run" else SCATTERED
    assert same(gg.evaluate(gg.Qrels(JUDGED), ranked, measures, **policies), result.evaluation)
    result.release()


@pytest.mark.parametrize("policies", [{"ties": "bounds"}, {"unjudged": "bounds"}], ids=str)
def test_bounds(spark, paths, policies):
    measures = ["nDCG@10", "AP", "GMAP", "NumRet"]
    qrels, run = (spark.read.parquet(paths[kind]) for kind in ("qrels", "run"))
    result = goodgain.spark.evaluate(qrels, run, measures, session=spark, **policies)
    assert same(gg.evaluate(gg.Qrels(JUDGED), RANKED, measures, **policies), result.evaluation)


def test_queries_that_stand_together_are_measured_where_they_are_read(spark, paths):
    counts = kinds(spark, f"parquet:{paths['qrels']}", f"parquet:{paths['run']}")
    assert counts[MEASURED] > 80
    assert counts[1] <= 2 * 3  # of each task the first and the last one go on as rows


def test_one_shuffle(spark, paths):
    qrels, run = f"parquet:{paths['qrels']}", frame_of(spark, f"parquet:{paths['run']}", "run")
    _, planned = recipe("AP", None, "default", False)
    judged = judgments_of(spark, qrels, None, 0)
    measurement = Measurement(spark, planned, 3, False)
    job = measurement.job(run, judged, judged.shipped)
    pieces = pieces_of(run, is_run=True, here=job).union(judged.pieces([0]))
    plan = measurement.joined(pieces, {0: job})._jdf.queryExecution().executedPlan().toString()
    assert plan.count("Exchange ") == 1 and plan.count("Range (") == 2, plan


def test_large_files_are_read_in_parts_and_small_ones_together(tmp_path, spark):
    rows = [(f"q{i // 10}", f"d{i}", float(-i)) for i in range(5_000)]
    path = written(tmp_path / "run", "run", rows, files=4, group=100)
    sizes = {str(file): file.stat().st_size for file in sorted((tmp_path / "run").iterdir())}
    assert len(list(_tasks(sizes, 10**9))) == 1
    counts = set()
    for size in (10**9, 9_000, 2_000, 500, 1):
        spark.conf.set("spark.sql.files.maxPartitionBytes", str(size))
        frame = frame_of(spark, spark.read.parquet(path), "run")
        numbers = [pa.record_batch([[i]], ["id"]) for i in range(len(frame.files.tasks))]
        read = pa.Table.from_batches(frame.files.rows(iter(numbers)))
        assert read["doc"].to_pylist() == [doc for _, doc, _ in rows]  # each once, in order
        assert read["query"].cast(pa.string()).to_pylist() == [query for query, _, _ in rows]
        counts.add(len(numbers))
    spark.conf.unset("spark.sql.files.maxPartitionBytes")
    assert len(counts) >= 4


def plain(data, columns):
    types = {name: kind for name, kind in data.dtypes if name in columns}
    return files_of(data, types, columns[0])


def test_only_plain_tables_of_parquet_are_read_so(spark, paths, tmp_path):
    run = spark.read.parquet(paths["run"])
    names = ("query", "doc", "score")
    renamed = run.selectExpr("query qid", "score", "doc docno")
    assert plain(run, names) and plain(run.select("doc", "query", "score"), names)
    assert [c.stored for c in plain(renamed, ("qid", "docno", "score")).columns] == [
        "query",
        "score",
        "doc",
    ]
    for other in (
        run.where("score > 0"), run.limit(10), run.distinct(), run.union(run), run.sample(0.5),
        run.selectExpr("upper(query) query", "doc", "score"),
        run.selectExpr("query", "doc", "cast(score as float) score"),
        spark.createDataFrame([("q", "d", 1.0)], "query string, doc string, score double"),
    ):  # fmt: skip
        assert plain(other, names) is None
    run.write.partitionBy("query").parquet(str(tmp_path / "by-query"))
    assert plain(spark.read.parquet(str(tmp_path / "by-query")), names) is None
    run.write.orc(str(tmp_path / "orc"))
    assert plain(spark.read.orc(str(tmp_path / "orc")), names) is None
    cached = run.select("query", "doc", "score").persist()
    assert plain(cached, names) is None
    cached.unpersist()


def test_other_names_types_and_columns(spark, tmp_path):
    """Like Spark: case-insensitive names, numbers of several widths, missing columns."""
    folder = tmp_path / "run odd, with 100% signs"
    folder.mkdir()
    first = pa.table({
        "QUERY": pa.array([1, 1, 2], pa.int64()), "doc": pa.array(["a", "b", "a"]).dictionary_encode(),
        "score": pa.array([3, 2, 1], pa.int32()), "text": ["x", "y", "z"],
    })  # fmt: skip
    pq.write_table(first, folder / "0 %20.parquet")
    second = pa.table({
        "query": pa.array([2, 3], pa.int64()), "doc": ["b", "c"], "score": pa.array([9, 8], pa.int32()),
    })  # fmt: skip
    pq.write_table(second, folder / "1.parquet")
    data = spark.read.schema("query bigint, doc string, score int").load(
        str(folder), format="parquet"
    )
    assert frame_of(spark, data, "run").files
    qrels = [(1, "b", 1), (2, "b", 2), (3, "z", 1)]
    result = goodgain.spark.evaluate(gg.Qrels(qrels), data, "AP RR", session=spark).evaluation
    ranked = [(1, "a", 3), (1, "b", 2), (2, "a", 1), (2, "b", 9), (3, "c", 8)]
    assert same(gg.evaluate(gg.Qrels(qrels), ranked, "AP RR"), result)
    pq.write_table(second.drop_columns(["score"]), folder / "2.parquet")
    data = spark.read.schema("query bigint, doc string, score int").load(
        str(folder), format="parquet"
    )
    result = goodgain.spark.evaluate(gg.Qrels(qrels), data, "AP", skip_bad=True, session=spark)
    assert result.evaluation.runs[0].coverage.bad_rows == 2


@pytest.mark.parametrize("small", [10**6, 0], ids=["small", "shipped"])
def test_other_columns_of_the_same_file_are_other_judgements(spark, paths, tmp_path, small):
    """Processes cache judgments between jobs; a second job must not get those of the first."""
    one = sorted({(q, d): (q, d, g) for q, d, g, *_ in JUDGED}.values())
    path = tmp_path / "qrels.parquet"
    pq.write_table(
        pa.table({
            "query": [q for q, _, _ in one], "doc": [d for _, d, _ in one],
            "gain": [g for _, _, g in one], "other": [float(i % 3) for i in range(len(one))],
        }),
        path,
    )  # fmt: skip
    other = [(q, d, float(i % 3)) for i, (q, d, _) in enumerate(one)]
    data = spark.read.parquet(str(path))
    renamed = data.select("query", "doc", data.other.alias("gain"))
    for qrels, columns, rows in (
        (data, None, one), (data, {"gain": "other"}, other), (renamed, None, other), (data, None, one),
    ):  # fmt: skip
        result = goodgain.spark.evaluate(
            qrels, spark.read.parquet(paths["run"]), "nDCG@10 AP", columns=columns,
            small_qrels=small, session=spark,
        )  # fmt: skip
        assert same(gg.evaluate(rows, RANKED, "nDCG@10 AP"), result.evaluation)
        result.release()


@pytest.mark.parametrize("table", ["run", "qrels"])
def test_what_only_spark_can_read_is_read_by_spark(spark, tmp_path, table):
    """Bytes that are not text: Spark accepts them as text if told so, Arrow does not."""
    ids = pa.array([b"a", b"\xff\xfe"], pa.binary())
    values = {"run": ("score", [2.0, 1.0]), "qrels": ("gain", [1.0, 1.0])}
    for kind, (name, numbers) in values.items():
        doc = ids if kind == table else pa.array(["a", "b"])
        rows = pa.table({"query": ["q", "q"], "doc": doc, name: numbers})
        pq.write_table(rows, tmp_path / f"{kind}.parquet")
    spark.conf.set("spark.sql.parquet.binaryAsString", "true")
    try:
        qrels, run = (
            spark.read.parquet(str(tmp_path / f"{kind}.parquet")) for kind in ("qrels", "run")
        )
        assert frame_of(spark, qrels, "qrels").files and frame_of(spark, run, "run").files
        result = goodgain.spark.evaluate(qrels, run, "AP NumRet", small_qrels=0, session=spark)
        assert result.evaluation["NumRet"] == 2
        assert result.evaluation["AP"] == 0.5
    finally:
        spark.conf.unset("spark.sql.parquet.binaryAsString")


def test_bad_rows(spark, tmp_path):
    bad = [("q5", None, 1.0), (None, "d1", 1.0), ("q7", "d9", math.nan)]
    path = written(tmp_path / "run", "run", sorted([*RANKED, *bad], key=lambda row: row[0] or ""))
    qrels = spark.createDataFrame(
        JUDGED, "query string, doc string, gain double, target string, aspect string"
    )
    with pytest.raises(InputError, match="3 bad rows, for example: "):
        goodgain.spark.evaluate(qrels, spark.read.parquet(path), "AP", session=spark)
    result = goodgain.spark.evaluate(
        qrels, spark.read.parquet(path), "AP", skip_bad=True, session=spark
    )
    assert result.evaluation.runs[0].coverage.bad_rows == 3
    assert result.evaluation.means == gg.evaluate(gg.Qrels(JUDGED), RANKED, "AP").means


def test_bad_judgements(spark, paths, tmp_path):
    twice = written(tmp_path / "twice", "qrels", [("q1", "a", 1.0, None, None)] * 2)
    missing = written(tmp_path / "missing", "qrels", [("q1", "a", math.nan, None, "x")])
    for path, message in (
        (twice, "duplicate judgment of document 'a' for query 'q1'"),
        (missing, "not a finite number"),
    ):
        for small in (0, 10**6):
            with pytest.raises(InputError, match=message):
                goodgain.spark.evaluate(
                    f"parquet:{path}",
                    spark.read.parquet(paths["run"]),
                    "AP",
                    small_qrels=small,
                    session=spark,
                )


def test_a_damaged_file_is_an_error_of_spark(spark, paths, tmp_path):
    path = tmp_path / "run"
    written(path, "run", RANKED)
    data = spark.read.parquet(str(path))
    (path / "1.parquet").write_bytes(b"PAR1 and then nothing")
    with pytest.raises(Exception, match=r"1\.parquet"):
        goodgain.spark.evaluate(f"parquet:{paths['qrels']}", data, "AP", session=spark)


@pytest.mark.parametrize("small", [10**6, 0])
def test_judgements_that_tasks_cannot_open_are_asked_of_spark(spark, paths, tmp_path, small):
    """One retry: a file that Spark cannot read either is an error."""
    qrels = tmp_path / "qrels"
    written(qrels, "qrels", JUDGED)
    run = frame_of(spark, spark.read.parquet(paths["run"]), "run")
    judged = judgments_of(spark, spark.read.parquet(str(qrels)), None, small)
    assert judged.rows == len(JUDGED)
    for file in qrels.iterdir():
        file.unlink()
    _, planned = recipe("AP", None, "default", False)
    with pytest.raises(Exception, match=r"[01]\.parquet"):
        Measurement(spark, planned, None, False).run({0: run}, judged)


def test_frames_of_memory_are_shuffled_as_before(spark):
    qrels, run = frames(spark, JUDGED, RANKED)
    assert frame_of(spark, run, "run").files is None
    result = goodgain.spark.evaluate(qrels, run, "AP", session=spark)
    assert same(gg.evaluate(gg.Qrels(JUDGED), RANKED, "AP"), result.evaluation)
