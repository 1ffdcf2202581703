"""One definition of a row: odd tables give the same values, or the same error, locally and on Spark."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma

import pytest
from hard_rows import same

import goodgain as gg
import goodgain.spark
from goodgain.engines.spark import runs
from goodgain.engines.spark.frames import frame_of
from goodgain.errors import GoodgainError, InputError, MeasureError, UsageError

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

QRELS = {"q1": {"a": 1, "b": 2}, "q2": {"c": 1}, "q\xff": {"a": 1}, "q4": {"z": 1}}
MEASURES = "nDCG@10 AP NumRet"


def trec(*rows):
    return "".join(f"{q} Q0 {d} {i} {s} t\n" for i, (q, d, s) in enumerate(rows)).encode("latin-1")


GOOD = [("q1", "a", 2.5), ("q1", "b", 1), ("q2", "c", 1e-320), ("q9", "x", 1)]
FIRST = b'{"query": "q1", "doc": "a", "score": 2.5}\n'
MANY = trec(*((f"q{i % 7}", f"d{i}", i * 0.7) for i in range(9_000)))
TEXTS = {
    "plain.txt": trec(*GOOD),
    "short.txt": trec(*GOOD) + b"q2 Q0 d\n",
    "long.run": trec(*GOOD) + b"q2 Q0 d 1 2 t more\n",
    "suffixes.txt": trec(*GOOD, ("q2", "d", "1d")),
    "single.txt": trec(*GOOD, ("q2", "d", "1f")),
    "words.txt": trec(*GOOD, ("q2", "d", "NaN")),
    "huge.txt": trec(*GOOD, ("q2", "d", "1e999")),
    "hex.txt": trec(*GOOD, ("q2", "d", "0x1p3")),
    "bytes.txt": trec(*GOOD, ("q\xff", "a", 1), ("q\xfe", "a", 1), ("q1", "\xff", 0.1), ("q1", "\xfe", 0.2)),
    "blank.txt": b"\n# comment\n" + trec(*GOOD) + b"   \n\t\n",
    "windows.txt": trec(*GOOD).replace(b"\n", b"\r\n"),
    "old-mac.txt": trec(*GOOD).replace(b"\n", b"\r"),
    "marked.txt": b"\xef\xbb\xbf" + trec(*GOOD),
    "twice.txt": trec(*GOOD, ("q1", "a", 0.5)),
    "unjudged-bad.txt": trec(*GOOD, ("q9", "y", "x")),
    "empty.txt": b"",
    "binary.txt": b"\0\1\2\3" * 100,
    "unknown.ending": trec(*GOOD),
    "unknown-csv.ending": b"query,doc,score\nq1,a,2\nq1,b,1\n",
    "unknown-json.ending": b'{"query": "q1", "doc": "a", "score": 2}\n',
    "no-ending": trec(*GOOD),
    "plain.csv": b"query,doc,score\nq1,a,2.5\nq1,b,1\n",
    "spaces.csv": b"query,doc,score\nq1,a, 2.5\nq1,b,1\n",
    "suffixes.csv": b"query,doc,score\nq1,a,1d\nq1,b,1f\n",
    "ids.csv": b"query,doc,score\nq1, a,2\nq1,,1\n,b,1\n",
    "short.csv": b"query,doc,score\nq1,a,2\nq1,b\n",
    "quoted.csv": b'query,doc,score\n"q1","a",2\nq1,"b",1\n"q1","say ""hi"", twice",1.5\n',
    "lines.csv": b'query,doc,score\nq1,"a\nb",2\nq1,b,1\n"q\n1",b,1\n',
    "open.csv": b'query,doc,score\nq1,a,2\nq1,"b,1\nq2,c,1\n',
    "windows.csv": b'query,doc,score\r\n"q1","a","2.5"\r\nq1,b,1\r\n',
    "header.csv": b"query,doc,score\nq1,a,2\nquery,doc,score\n",
    "marked.csv": b"\xef\xbb\xbfquery,doc,score\nq1,a,2\n",
    "bytes.csv": b"query,doc,score\nq1,\xff,2\nq1,\xfe,1\nq\xc3\xbf,a,1\n",
    "columns.csv": b"title,score,doc,query\nx,2,a,q1\n,1,b,q1\n",
    "rank.csv": b"query,doc,rank\nq1,a,1\nq1,b,2\n",
    "rank-bad.csv": b"query,doc,rank\nq1,a,1\nq1,b,1.5\n",
    "plain.tsv": b"query\tdoc\tscore\nq1\ta\t2\nq1\tb\t1\n",
    "marco.tsv": b"q1\ta\t1\nq1\tb\t2\nq2\tc\t1\n",
    "plain.jsonl": FIRST + b'{"query": "q1", "doc": "b", "score": "1"}\n',
    "wrong.jsonl": FIRST + b'{"query": "q1", "doc": "b", "score": "1d"}\nnot json\n',
    "missing.jsonl": FIRST + b'{"query": "q1", "doc": "b"}\n{"doc": "c", "score": 1}\n',
    "null.jsonl": FIRST + b'{"query": null, "doc": "b", "score": null}\n',
    "lists.jsonl": b'{"query": "q1", "results": ["b", "a"]}\n{"query": "q2", "results": ["c"]}\n',
    "packed.txt.gz": gzip.compress(trec(*GOOD)),
    "packed.txt.bz2": bz2.compress(trec(*GOOD)),
    "packed.txt.xz": lzma.compress(trec(*GOOD, ("q1", "\xff", 0.1))),
    "packed.csv.xz": lzma.compress(b'query,doc,score\nq1,"a\nb",2\nq1,b,1\n'),
    "damaged.txt.gz": gzip.compress(trec(*GOOD) * 50)[:-30],
    "damaged-later.txt.gz": gzip.compress(MANY)[:-30],
    "not-packed.txt.xz": trec(*GOOD),
}  # fmt: skip


UNREADABLE = {
    "empty.txt",
    "binary.txt",
    "not-packed.txt.xz",
    "damaged.txt.gz",
}  # the driver says so


def outcome(function, *arguments, **options):
    """The result, or the error."""
    try:
        return function(*arguments, **options)
    except GoodgainError as error:
        return error


def equal(local, spark, path):
    """Equal values, or the same sentence; Spark adds how many rows are bad, and has no line numbers."""
    if not isinstance(local, GoodgainError):
        assert not isinstance(spark, GoodgainError), spark
        ours, theirs = local.runs[0], spark.runs[0]
        assert repr(theirs.per_query) == repr(ours.per_query)
        facts = [run.coverage.to_dict() for run in (ours, theirs)]
        for fact in facts:
            fact.pop("bad_example")
        assert facts[0] == facts[1]
        return
    assert isinstance(spark, GoodgainError), f"local says: {local}"
    assert local.message in spark.message.replace(f"file:{path}", path), f"{local} / {spark}"
    assert len(str(spark).splitlines()) <= 2


@pytest.mark.parametrize("skip_bad", [False, True])
def test_texts(spark, tmp_path, skip_bad, monkeypatch):
    """All of them in one job; what is wrong with one of them is raised when it is looked at."""
    problems = {}

    def note(report, frame, judgments, skips):
        problems[frame.name] = outcome(check, report, frame, judgments, skips)
        report.totals.setdefault("rows", 0)

    check = runs._check
    monkeypatch.setattr(runs, "_check", note)
    frames, local = {}, {}
    for name, content in TEXTS.items():
        path = tmp_path / name
        path.write_bytes(content)
        local[name] = outcome(gg.evaluate, QRELS, str(path), MEASURES, skip_bad=skip_bad)
        frame = outcome(frame_of, spark, str(path), "run")
        if isinstance(frame, GoodgainError):
            equal(local[name], frame, str(path))
        else:
            frames[name] = str(path)
    assert set(TEXTS) - set(frames) == UNREADABLE
    several = goodgain.spark.evaluate(
        QRELS, frames, MEASURES, skip_bad=skip_bad, session=spark
    ).evaluation
    for name, path in frames.items():
        try:
            equal(local[name], problems[name] or _Alone(several[name]), path)
        except AssertionError as error:
            raise AssertionError(f"{name}: {error}") from None


class _Alone:
    """One run of several, as an evaluation."""

    def __init__(self, run):
        self.runs = (run,)


def test_texts_that_are_divided(spark, tmp_path):
    """Splits begin within lines and quoted fields; headers stand in several files."""
    rows = [(f"q{i % 50}", f"d{i}", 1 / (i + 1)) for i in range(3_000)]
    qrels = {f"q{i}": {f"d{i}": 1, f"d{i + 500}": 2} for i in range(50)}
    lines = [f"{q},{d},{s!r}" for q, d, s in rows]
    (tmp_path / "run").mkdir()
    folder = {"run": str(tmp_path / "run")}  # one run, whatever its files are called
    (tmp_path / "run" / "0.csv").write_text("query,doc,score\n" + "\n".join(lines[:2000]) + "\n")
    (tmp_path / "run" / "1.csv").write_text("query,doc,score\n" + "\n".join(lines[2000:]) + "\n")
    breaks = ["\n" * (i % 7 == 0) for i in range(3_000)]
    quoted = [f'"q{i % 50}","d{i}{breaks[i]}",{1 / (i + 1)!r}' for i in range(3_000)]
    (tmp_path / "quoted.csv").write_text("query,doc,score\n" + "\n".join(quoted) + "\n")
    spark.conf.set("spark.sql.files.maxPartitionBytes", "5000")
    try:
        run = goodgain.spark.evaluate(qrels, folder, MEASURES, session=spark)
        assert same_runs(gg.evaluate(qrels, rows, MEASURES), run.evaluation)
        local = gg.evaluate(qrels, str(tmp_path / "quoted.csv"), MEASURES)
        run = goodgain.spark.evaluate(qrels, str(tmp_path / "quoted.csv"), MEASURES, session=spark)
        assert same(local, run.evaluation)
        (tmp_path / "run" / "2.csv").write_text("doc,query,score\nd1,q1,1\n")
        with pytest.raises(GoodgainError, match="the header 'doc,query,score' differs from"):
            goodgain.spark.evaluate(qrels, folder, MEASURES, session=spark)
    finally:
        spark.conf.unset("spark.sql.files.maxPartitionBytes")


def same_runs(local, spark):
    assert repr([r.per_query for r in spark.runs]) == repr([r.per_query for r in local.runs])
    assert spark.runs[0].coverage == local.runs[0].coverage
    return True


def test_judgments_in_text_that_spark_reaches(spark, tmp_path):
    """With a scheme or a format the driver fetches them, and reads them by the local rules."""
    (tmp_path / "judged.dat").write_bytes(b"q1 0 a 1\nq1 0 \xff 2\nq2 0 b 1\n")
    (tmp_path / "judged.csv.xz").write_bytes(lzma.compress(b"query,doc,gain\nq1,a,1\nq2,b,1d\n"))
    run = [("q1", b"\xff".decode("utf-8", "surrogateescape"), 1.0), ("q1", "a", 0.5)]
    local = gg.evaluate(str(tmp_path / "judged.dat"), run, MEASURES)
    for path in (f"file://{tmp_path}/judged.dat", f"trec:{tmp_path}/judged.dat"):
        result = goodgain.spark.evaluate(path, run, MEASURES, session=spark).evaluation
        assert repr(result.to_dict()["runs"]) == repr(local.to_dict()["runs"])
    with pytest.raises(GoodgainError, match="the gain '1d' is not a number"):
        goodgain.spark.evaluate(f"file://{tmp_path}/judged.csv.xz", run, MEASURES, session=spark)


def test_frames_of_other_libraries(spark):
    """Views, dictionaries, unsigned numbers and columns that do not matter."""
    polars = pytest.importorskip("polars")
    qrels = polars.DataFrame({"query": ["q1", "q1"], "doc": ["a", "b"], "gain": [1, 2]})
    run = polars.DataFrame({
        "query": ["q1", "q1"], "doc": ["a long id that is not stored inline", "b"], "score": [2.0, 1.0],
        "spent": [[1], [2]],
    })  # fmt: skip
    table = run.to_arrow()
    views = table.set_column(0, "query", table["query"].cast(pa.string_view()))
    coded = table.set_column(0, "query", table["query"].cast(pa.string()).dictionary_encode())
    small = table.set_column(2, "score", pa.array([200, 100], pa.uint8()))
    for frame in (run, views, coded, small):
        local = gg.evaluate(qrels, frame, MEASURES)
        result = goodgain.spark.evaluate(qrels, frame, MEASURES, session=spark)
        assert repr(result.evaluation.to_dict()["runs"]) == repr(local.to_dict()["runs"])


def test_bad_rows_count_wherever_they_stand(spark):
    """Also in queries without judgments, as in text files and dictionaries."""
    table = pa.table(
        {"query": ["q1", "q9", "q9"], "doc": ["a", None, "x"], "score": [1.0, 1.0, float("nan")]}
    )
    frame = spark.createDataFrame(table.to_pylist(), "query string, doc string, score double")
    for evaluate, run in ((gg.evaluate, table), (goodgain.spark.evaluate, frame)):
        result = evaluate(QRELS, run, MEASURES, skip_bad=True)
        scores = getattr(result, "evaluation", result).runs[0]
        assert scores.coverage.bad_rows == 2 and scores["NumRet"] == 1
        with pytest.raises(GoodgainError, match="missing"):
            evaluate(QRELS, run, MEASURES)


def test_a_column_with_a_default(spark, tmp_path):
    """Files older than the column do not have it: the table's default is its value."""
    spark.sql(
        f"CREATE TABLE aged (query STRING, doc STRING) USING parquet LOCATION '{tmp_path}/aged'"
    )
    try:
        spark.sql("INSERT INTO aged VALUES ('q1', 'a'), ('q1', 'b')")
        spark.sql("ALTER TABLE aged ADD COLUMN (score DOUBLE DEFAULT 7.5)")
        spark.sql("INSERT INTO aged VALUES ('q1', 'c', 9.0)")
        result = goodgain.spark.evaluate(
            {"q1": {"c": 1, "a": 1}}, "table:aged", "RR NumRet", session=spark
        )
        assert result.evaluation["RR"] == 1.0 and result.evaluation["NumRet"] == 3
    finally:
        spark.sql("DROP TABLE aged")


def test_a_measure_that_raises(spark):
    gg.register("Fails", lambda gains: 1 / 0)
    gg.register("Text", lambda gains: "many")
    run = {"q1": {"a": 1.0}}
    for name, says in (
        ("Fails", "the measure 'Fails' failed: ZeroDivisionError: division by zero"),
        (
            "Text",
            "the measure 'Text' failed: ValueError: could not convert string to float: 'many'",
        ),
    ):
        for evaluate in (gg.evaluate, goodgain.spark.evaluate):
            with pytest.raises(MeasureError) as caught:
                evaluate(QRELS, run, name)
            assert str(caught.value) == says


def test_a_stream_is_refused(spark):
    stream = (
        spark.readStream.format("rate")
        .load()
        .selectExpr("'q1' query", "cast(value as string) doc", "1.0D score")
    )
    with pytest.raises(UsageError, match="the run is a streaming DataFrame, which has no end"):
        goodgain.spark.evaluate(QRELS, stream, "AP", session=spark)
    with pytest.raises(UsageError, match="streaming"):
        goodgain.spark.good_gain(stream, column="doc", session=spark)


def test_missing_conversations_are_bad_ones(spark):
    trace = {"conversation": "c1", "turns": [{"user": "?", "iterations": [
        {"searches": [{"query": "a", "results": [{"id": "1", "gain": 3}]}]}]}]}  # fmt: skip
    frame = spark.createDataFrame([(json.dumps(trace),), (None,), ("  ",)], "trace string")
    with pytest.raises(GoodgainError, match="1 bad conversation, for example: "):
        goodgain.spark.good_gain(frame, session=spark)
    result = goodgain.spark.good_gain(frame, skip_bad=True, session=spark).good_gain
    assert result.facts["skipped"] == 1 and result.figure("CG").value == 3


@pytest.mark.parametrize(
    "name", ["my run", "a=b", "ü%20x", "r[1]", "a{b,c}", "star*", "run#1", "q?", "back\\slash"]
)
@pytest.mark.parametrize("suffix", ["parquet", "txt"])
def test_names_of_files_are_taken_as_they_are(spark, tmp_path, name, suffix):
    """Blanks, percent signs and the signs of patterns are part of a name."""
    path = tmp_path / f"{name}.{suffix}"
    if suffix == "txt":
        path.write_text("q1 Q0 a 1 3 t\nq1 Q0 b 2 2 t\n")
    else:
        pq.write_table(
            pa.table({"query": ["q1"] * 2, "doc": ["a", "b"], "score": [3.0, 2.0]}), path
        )
    result = goodgain.spark.evaluate({"q1": {"b": 1}}, str(path), "RR", session=spark)
    assert result.evaluation["RR"] == 0.5


def test_several_runs_behind_a_url_are_not_mixed(spark, tmp_path):
    for name, doc in (("bm25", "a"), ("knn", "b")):
        (tmp_path / f"{name}.txt").write_text(f"q1 Q0 {doc} 1 2 t\n")
    qrels = {"q1": {"a": 1}}
    url = f"file://{tmp_path}"
    with pytest.raises(InputError, match="are not parts of one table"):
        goodgain.spark.evaluate(qrels, url, "NumRet", session=spark)
    named = goodgain.spark.evaluate(qrels, {"both": url}, "NumRet", session=spark).evaluation
    assert named.means == {"both": {"NumRet": 2}}
    one = goodgain.spark.evaluate(qrels, f"{url}/knn.txt", "NumRet", session=spark).evaluation
    assert one.means == {"knn": {"NumRet": 1}}


@pytest.mark.parametrize("form", ["frame", "csv", "parquet"])
def test_several_runs_in_a_table_are_not_mixed(spark, tmp_path, form):
    rows = [("a", "q1", "x", 2.0), ("a", "q1", "b", 1.0), ("b", "q1", "b", 1.0)]
    frame = spark.createDataFrame(rows, "run string, query string, doc string, score double")
    one = frame.where("run = 'a'")
    sources = {"frame": (frame, one)}
    for name, data in (("all", frame), ("one", one)):
        lines = [",".join(map(str, row)) for row in data.collect()]
        (tmp_path / f"{name}.csv").write_text("\n".join(["run,query,doc,score", *lines, ""]))
        data.coalesce(1).write.parquet(str(tmp_path / f"{name}.parquet"))
    for suffix in ("csv", "parquet"):
        sources[suffix] = (str(tmp_path / f"all.{suffix}"), str(tmp_path / f"one.{suffix}"))
    several, single = sources[form]
    with pytest.raises(GoodgainError, match="names several runs: 'a', 'b'"):
        goodgain.spark.evaluate({"q1": {"b": 1}}, several, "RR", session=spark)
    result = goodgain.spark.evaluate({"q1": {"b": 1}}, single, "RR", session=spark)
    assert result.evaluation["RR"] == 0.5


@pytest.mark.parametrize(
    "keys",
    [("01", "1"), ("1.0", "1.00"), ("2024-01-01", "q"), ("2024-1-1", "2024-01-01"), ("7", "8")],
)
def test_keys_of_folders_are_taken_as_they_are_written(spark, tmp_path, keys):
    """Spark alone would take them for numbers and dates, and fold some of them."""
    for key, doc in zip(keys, "ab", strict=True):
        (tmp_path / "run.parquet" / f"query={key}").mkdir(parents=True)
        table = pa.table({"doc": [doc, "x"], "score": [2.0, 1.0]})
        pq.write_table(table, tmp_path / "run.parquet" / f"query={key}" / "part-0.parquet")
    judged = [int(key) for key in keys] if keys == ("7", "8") else list(keys)
    qrels = pa.table({"query": judged, "doc": ["a", "x"], "gain": [1, 1]})
    path = str(tmp_path / "run.parquet")
    result = goodgain.spark.evaluate(qrels, path, MEASURES, session=spark).evaluation
    assert repr(result.runs[0].per_query) == repr(
        gg.evaluate(qrels, path, MEASURES).runs[0].per_query
    )
    assert result["NumRet"] == 4


@pytest.mark.parametrize("name", ["none.parquet", "none.csv", "none", "none.txt.gz"])
def test_what_is_not_there(spark, tmp_path, name):
    path = str(tmp_path / "nowhere" / name)
    local = outcome(gg.evaluate, QRELS, path, MEASURES)
    assert str(local) == str(outcome(goodgain.spark.evaluate, QRELS, path, MEASURES, session=spark))
    assert str(local).startswith(f"file not found: '{path}'")


def test_files_with_other_columns(spark, tmp_path):
    """Ids under another name in a second file are missing; capital letters do not matter."""
    first = pa.table({"query": ["q1"], "doc": ["a"], "score": [2.0]})
    for name, columns in (
        ("other", ["qid", "docno", "score"]),
        ("case", ["Query", "doc", "score"]),
    ):
        folder = tmp_path / f"{name}.parquet"
        folder.mkdir()
        pq.write_table(first, folder / "part-0.parquet")
        second = pa.table({"query": ["q1"], "doc": ["b"], "score": [1.0]})
        pq.write_table(second.rename_columns(columns), folder / "part-1.parquet")
    with pytest.raises(GoodgainError, match="1 bad row, for example: missing id"):
        goodgain.spark.evaluate(QRELS, str(tmp_path / "other.parquet"), MEASURES, session=spark)
    result = goodgain.spark.evaluate(QRELS, str(tmp_path / "case.parquet"), MEASURES, session=spark)
    assert result.evaluation["NumRet"] == 2


@pytest.mark.parametrize(
    "content", [b"", b"PAR1", b"query,doc,score\n", b"PAR1" + bytes(40) + b"PAR1"]
)
def test_parquet_that_is_none(spark, tmp_path, content):
    path = tmp_path / "run.parquet"
    path.write_bytes(content)
    for evaluate, options in ((gg.evaluate, {}), (goodgain.spark.evaluate, {"session": spark})):
        with pytest.raises(InputError) as caught:
            evaluate(QRELS, str(path), MEASURES, **options)
        assert str(caught.value).startswith(f"invalid Parquet file ({path})")
