"""Large and odd files: several chunks, any number of threads, queries in pieces."""

from __future__ import annotations

import random

import pytest

from goodgain import Evaluator, Qrels, Run, evaluate
from goodgain.errors import InputError, UsageError

MEASURES = ["nDCG@10", "AP", "RR", "R@100", "Bpref", "NumRet"]
CHUNK = 4 << 20


@pytest.fixture(scope="module")
def collection():
    """130,000 results of 260 queries with many ties; ids long enough for three chunks of a file."""
    rng = random.Random(7)
    qrels = {
        f"query-{q:03}": {
            f"document-{rng.randrange(900):06}-é": rng.randrange(-1, 4) for _ in range(40)
        }
        for q in range(260)
    }
    run = {
        q: {f"document-{d:06}-é": round(rng.random(), 2) for d in rng.sample(range(900), 500)}
        for q in qrels
    }
    return qrels, run


@pytest.fixture(scope="module")
def expected(collection):
    return evaluate(*collection, MEASURES, threads=1).runs[0]


def lines(run):
    return [
        f"{q} Q0 {d} 1 {s} a-tag-that-is-long-enough\n"
        for q, docs in run.items()
        for d, s in docs.items()
    ]


def same_bits(a, b):
    return a.queries == b.queries and all(a.column(m) == b.column(m) for m in MEASURES)


ORDERS = {
    "query by query": lambda items, rng: None,
    "shuffled": lambda items, rng: rng.shuffle(items),
    "interleaved": lambda items, rng: items.sort(key=lambda line: line.split()[2]),
    "one query first and last": lambda items, rng: items.insert(0, items.pop()),
}


@pytest.fixture(scope="module", params=ORDERS)
def run_file(request, collection, tmp_path_factory):
    items = lines(collection[1])
    ORDERS[request.param](items, random.Random(1))
    path = tmp_path_factory.mktemp("large") / "run.txt"
    path.write_text("".join(items))
    assert path.stat().st_size > 2 * CHUNK
    return path


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2, 8])
def test_the_same_bits_for_any_number_of_threads(collection, expected, run_file, threads):
    assert same_bits(evaluate(collection[0], run_file, MEASURES, threads=threads).runs[0], expected)


@pytest.mark.parametrize("threads", [2, 8])
def test_dictionaries_with_any_number_of_threads(collection, expected, threads):
    assert same_bits(evaluate(*collection, MEASURES, threads=threads).runs[0], expected)


@pytest.mark.slow
@pytest.mark.parametrize(
    "policy", [{"ties": "average"}, {"ties": "bounds"}, {"unjudged": "remove"}]
)
def test_policies_with_any_number_of_threads(collection, run_file, policy):
    one, eight = (
        evaluate(collection[0], run_file, MEASURES, threads=n, **policy).runs[0] for n in (1, 8)
    )
    assert same_bits(one, eight)
    assert same_bits(one, evaluate(*collection, MEASURES, **policy).runs[0])


def test_ties_input_over_a_file_is_the_order_of_lines(collection, tmp_path):
    """Also where a query is in several chunks and comes again later."""
    items = lines(collection[1])
    random.Random(3).shuffle(items)
    path = tmp_path / "run.txt"
    path.write_text("".join(items))
    in_order: dict[str, dict[str, float]] = {}
    for line in items:
        q, _, d, _, s, _ = line.split()
        in_order.setdefault(q, {})[d] = float(s)
    a = evaluate(collection[0], path, MEASURES, ties="input", threads=8).runs[0]
    assert same_bits(a, evaluate(collection[0], in_order, MEASURES, ties="input").runs[0])


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_other_formats_of_that_size(collection, expected, ending, tmp_path):
    import polars as pl

    rows = [(q, d, s) for q, docs in collection[1].items() for d, s in docs.items()]
    random.Random(2).shuffle(rows)
    frame = pl.DataFrame(rows, schema=["query", "doc", "score"], orient="row")
    path = tmp_path / f"run.{ending}"
    getattr(
        frame, {"csv": "write_csv", "jsonl": "write_ndjson", "parquet": "write_parquet"}[ending]
    )(path)
    assert same_bits(evaluate(collection[0], path, MEASURES, threads=8).runs[0], expected)


def test_large_qrels_file(collection, expected, tmp_path):
    path = tmp_path / "qrels.txt"
    rows = [f"{q} 0 {d} {g}\n" for q, docs in collection[0].items() for d, g in docs.items()]
    path.write_text("".join(rows))
    assert same_bits(evaluate(path, collection[1], MEASURES).runs[0], expected)


@pytest.mark.slow
def test_an_error_names_its_line_in_a_late_chunk(collection, run_file, tmp_path):
    items = run_file.read_text().splitlines(keepends=True)
    bad = len(items) * 3 // 4
    items[bad] = items[bad].replace(" a-tag-that-is-long-enough", "")
    path = tmp_path / "run.txt"
    path.write_text("".join(items))
    for threads in (1, 8):
        with pytest.raises(ValueError, match="5 columns") as caught:
            evaluate(collection[0], path, MEASURES, threads=threads)
        assert caught.value.where == f"{path}:{bad + 1}"


@pytest.mark.slow
def test_a_duplicate_in_two_chunks_names_its_line(collection, run_file, tmp_path):
    items = run_file.read_text().splitlines(keepends=True)
    path = tmp_path / "run.txt"
    path.write_text("".join([*items, items[5]]))
    for threads in (1, 8):
        with pytest.raises(ValueError, match="duplicate document") as caught:
            evaluate(collection[0], path, MEASURES, threads=threads)
        assert caught.value.where == f"{path}:{len(items) + 1}"


def test_evaluator_many_times_is_the_same(collection, expected):
    evaluator = Evaluator(Qrels(collection[0]), MEASURES)
    for _ in range(3):
        assert same_bits(evaluator.evaluate(collection[1]).runs[0], expected)


def test_several_runs_at_once(collection, expected):
    half = {q: docs for i, (q, docs) in enumerate(collection[1].items()) if i % 2}
    result = evaluate(collection[0], {"whole": collection[1], "half": half}, MEASURES)
    assert result.names == ("whole", "half")
    assert same_bits(result["whole"], expected)
    assert result["half"].coverage.missing_queries == 130
    assert result["half"]["AP"] < expected["AP"]


@pytest.mark.parametrize("length", [30, 57, 62, 63, 64, 65, 66, 127, 128, 129, 300])
def test_lines_of_any_length(length, tmp_path):
    """Lines around the width of the fast reader, at the end of the file and before it."""
    doc = "d" * (length - len("q Q0  1 2.5 t"))
    for text in (
        f"q Q0 {doc} 1 2.5 t",
        f"q Q0 {doc} 1 2.5 t\nq Q0 b 2 1.5 t\n",
        f"q Q0 b 2 1.5 t\r\nq Q0 {doc} 1 2.5 t\r\n",
    ):
        path = tmp_path / "run.txt"
        path.write_text(text, newline="")
        assert evaluate({"q": {doc: 1}}, path, "RR")["RR"] == 1


@pytest.mark.parametrize("threads", [1, 8])
def test_line_breaks_inside_quotes_across_chunks(tmp_path, threads):
    """A border of chunks may fall inside a quoted field."""
    text = '"a text\nof ""three""\n lines ' + "x" * 90 + '"'
    path = tmp_path / "run.csv"
    rows = (f"q{q},d{i},{-i},{text}\n" for q in range(200) for i in range(200))
    path.write_text("query,doc,score,text\n" + "".join(rows))
    assert path.stat().st_size > CHUNK
    qrels = {f"q{q}": {"d1": 1, "d150": 1} for q in range(200)}
    scores = evaluate(qrels, path, "AP NumRet", threads=threads).runs[0]
    assert scores.column("NumRet") == [200.0] * 200
    assert scores.column("AP") == [(1 / 2 + 2 / 151) / 2] * 200


def test_byte_order_mark(tmp_path):
    qrels, run = tmp_path / "q.txt", tmp_path / "r.txt"
    qrels.write_bytes(b"\xef\xbb\xbfq1 0 a 1\n")
    run.write_bytes(b"\xef\xbb\xbfq1 Q0 a 1 1 t\n")
    assert Qrels(qrels).queries == ["q1"]
    assert evaluate({"q1": {"a": 1}}, run, "RR")["RR"] == 1


def test_numbers_as_people_write_them(tmp_path):
    path = tmp_path / "q.txt"
    path.write_text("q 0 a 1.5\nq 0 b -2\nq 0 c +3\nq 0 d 1e-1\nq 0 e .5\nq 0 f 5.\nq 0 g 007\n")
    assert Qrels(path)["q"] == {"a": 1.5, "b": -2, "c": 3, "d": 0.1, "e": 0.5, "f": 5, "g": 7}


@pytest.mark.parametrize("padding", [0, 3000])
@pytest.mark.parametrize(
    ("ending", "before", "line"),
    [(".txt", "q Q0 {} 1 {} t\n", "q Q0 a 1 9 t\n"), (".tsv", "q\t{}\t{}\n", "q\ta\t9\n")],
)  # fmt: skip
def test_files_joined_at_a_byte_order_mark(tmp_path, padding, ending, before, line):
    """The mark would become a part of the first id."""
    path = tmp_path / f"run{ending}"
    rows = "".join(before.format(f"d{i}", i) for i in range(padding + 1))
    path.write_text(f"{rows}\N{BYTE ORDER MARK}{line}{rows.replace('d', 'e')}")
    columns = {"query": 1, "doc": 2, "score": 3} if ending == ".tsv" else None
    with pytest.raises(InputError) as error:
        evaluate({"q": {"a": 1}}, Run(str(path), columns=columns), "RR")
    assert error.value.where == f"{path}:{padding + 2}"
    assert "begins with a byte order mark" in error.value.message


@pytest.mark.parametrize(
    "columns",
    [
        "query=1",
        [("query", "1")],
        {"query": None},
        {"query": True},
        {"query": 1.0},
        {"query": b"q"},
    ],
)
@pytest.mark.parametrize("ending", [".tsv", ".parquet"])
def test_columns_that_are_no_names(tmp_path, columns, ending):
    with pytest.raises(UsageError, match="column"):
        Run(tmp_path / f"run{ending}", columns=columns)
    with pytest.raises(UsageError, match="column"):
        Qrels({"q": {"a": 1}}, columns=columns)
