"""One small collection in every form that is understood: `FORMS[name](folder) -> (qrels, run)`."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

QRELS = {"q1": {"d1": 2, "d2": 0, "é,文": 1}, "q2": {"d1": 1, "d9": 3}, "q3": {"d1": 1}}
RUN = {
    "q1": {"d2": 3.5, "d1": 2.25, "x#1": 1.0, "é,文": 1.0},
    "q2": {"d7": -1.0, "d9": -2.5},
    "q4": {"d1": 1.0},
}
MEASURES = ["nDCG@3", "AP", "RR", "P@2", "NumRet", "Judged@10"]
QREL_ROWS = [(q, d, g) for q, docs in QRELS.items() for d, g in docs.items()]
RUN_ROWS = [(q, d, s) for q, docs in RUN.items() for d, s in docs.items()]

FORMS: dict[str, Callable[[Path], tuple[Any, Any]]] = {}


def form(function: Callable[[Path], tuple[Any, Any]]) -> Callable[[Path], tuple[Any, Any]]:
    FORMS[function.__name__] = function
    return function


def put(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8", newline="")
    return path


def trec_qrels(rows=QREL_ROWS, blank=" ", end="\n") -> str:
    return "".join(blank.join((q, "0", d, str(g))) + end for q, d, g in rows)


def trec_run(rows=RUN_ROWS, blank=" ", end="\n") -> str:
    return "".join(blank.join((q, "Q0", d, "1", str(s), "tag")) + end for q, d, s in rows)


def quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if "," in text else text


def delimited(names, rows, delimiter) -> str:
    mark = quoted if delimiter == "," else str
    lines = [delimiter.join(names), *(delimiter.join(mark(str(v)) for v in row) for row in rows)]
    return "\n".join(lines) + "\n"


@form
def dicts(folder):
    return QRELS, RUN


@form
def dicts_of_pairs(folder):
    return QRELS, {q: list(docs.items()) for q, docs in RUN.items()}


@form
def rows(folder):
    return QREL_ROWS, RUN_ROWS


@form
def generators(folder):
    return (row for row in QREL_ROWS), (row for row in RUN_ROWS)


@form
def objects(folder):
    qrels = [{"query_id": q, "doc_id": d, "relevance": g} for q, d, g in QREL_ROWS]
    return qrels, [{"qid": q, "docno": d, "score": s} for q, d, s in RUN_ROWS]


@form
def trec(folder):
    return put(folder / "qrels.txt", trec_qrels()), put(folder / "run.txt", trec_run())


@form
def trec_without_ending(folder):
    return put(folder / "qrels", trec_qrels()), put(folder / "run", trec_run())


@form
def trec_tabs_crlf_comments(folder):
    qrels = "# judged by us\r\n" + trec_qrels(blank="\t", end="\r\n") + "\r\n"
    return put(folder / "qrels.txt", qrels), put(
        folder / "run.txt", "# a run\n" + trec_run(blank="\t", end="\r\n")
    )


@form
def trec_without_last_line_end(folder):
    qrels = put(folder / "qrels.txt", trec_qrels().rstrip("\n"))
    return str(qrels), str(put(folder / "run.txt", trec_run().rstrip("\n")))


@form
def csv(folder):
    qrels = delimited(("query", "doc", "gain"), QREL_ROWS, ",")
    return put(folder / "qrels.csv", qrels), put(
        folder / "run.csv", delimited(("query", "doc", "score"), RUN_ROWS, ",")
    )


@form
def csv_other_names_and_order(folder):
    qrels = delimited(("rel", "query-id", "corpus-id"), [(g, q, d) for q, d, g in QREL_ROWS], ",")
    run = delimited(
        ("rank", "similarity", "q_id", "docid"), [(1, s, q, d) for q, d, s in RUN_ROWS], ","
    )
    return put(folder / "qrels.csv", qrels.replace("\n", "\r\n")), put(
        folder / "run.csv", "\ufeff" + run
    )


@form
def tsv(folder):
    qrels = delimited(("query-id", "corpus-id", "score"), QREL_ROWS, "\t")  # as BEIR writes them
    return put(folder / "q.tsv", qrels), put(
        folder / "r.tsv", delimited(("qid", "docno", "score"), RUN_ROWS, "\t")
    )


def lines_of_json(names, table) -> str:
    return "".join(
        json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False) + "\n" for row in table
    )


@form
def jsonl(folder):
    qrels = put(folder / "q.jsonl", lines_of_json(("query", "doc", "gain"), QREL_ROWS))
    return qrels, put(folder / "r.jsonl", lines_of_json(("query", "doc", "score"), RUN_ROWS))


@form
def json_of_dicts(folder):
    return put(folder / "q.json", json.dumps(QRELS)), put(
        folder / "r.json", json.dumps(RUN, ensure_ascii=False)
    )


@form
def json_of_rows(folder):
    q, r = (
        lines_of_json(("query", "doc", v), t) for v, t in (("gain", QREL_ROWS), ("score", RUN_ROWS))
    )
    as_list = "[{}]".format
    return (
        put(folder / "q.json", as_list(",".join(q.splitlines()))),
        put(folder / "r.json", as_list(",".join(r.splitlines()))),
    )


def arrow_tables(text=None):
    import pyarrow as pa

    def table(rows, value, kind):
        q, d, v = zip(*rows, strict=True)
        text_type = text or pa.string()
        return pa.table(
            {
                "query": pa.array(q, text_type),
                "doc": pa.array(d, text_type),
                value: pa.array(v, kind),
            }
        )

    return table(QREL_ROWS, "gain", pa.int32()), table(RUN_ROWS, "score", pa.float64())


@form
def arrow(folder):
    return arrow_tables()


@form
def arrow_large(folder):
    import pyarrow as pa

    return arrow_tables(pa.large_string())


@form
def arrow_view(folder):
    import pyarrow as pa

    return arrow_tables(pa.string_view())


@form
def arrow_dictionary(folder):
    import pyarrow as pa

    qrels, run = arrow_tables()

    def encode(t):
        return pa.table(
            [t[0].dictionary_encode(), t[1].dictionary_encode(), t[2]], names=t.column_names
        )

    return encode(qrels), encode(run)


@form
def arrow_chunks(folder):
    import pyarrow as pa

    return tuple(
        pa.concat_tables([t.slice(0, 2), t.slice(2, 1), t.slice(3)]) for t in arrow_tables()
    )


@form
def parquet(folder):
    import pyarrow.parquet as pq

    for name, table in zip(("q", "r"), arrow_tables(), strict=True):
        pq.write_table(table, folder / f"{name}.parquet")
    return folder / "q.parquet", folder / "r.parquet"


@form
def arrow_files(folder):
    import pyarrow.feather as feather
    import pyarrow.ipc as ipc

    qrels, run = arrow_tables()
    feather.write_feather(qrels, folder / "q.feather", compression="uncompressed")
    with ipc.new_stream(folder / "r.arrow", run.schema) as out:
        out.write_table(run)
    return folder / "q.feather", folder / "r.arrow"


@form
def pandas(folder):
    import pandas as pd

    qrels = pd.DataFrame(QREL_ROWS, columns=["query", "doc", "gain"])
    return qrels, pd.DataFrame(RUN_ROWS, columns=["query", "doc", "score"])


@form
def pandas_categories(folder):
    qrels, run = pandas(folder)
    return qrels.astype({"query": "category"}), run.astype({"query": "category", "doc": "category"})


@form
def polars(folder):
    import polars as pl

    qrels = pl.DataFrame(QREL_ROWS, schema=["query", "doc", "gain"], orient="row")
    return qrels, pl.DataFrame(RUN_ROWS, schema=["query", "doc", "score"], orient="row")


@form
def duckdb(folder):
    import duckdb as db

    qrels, run = arrow_tables()
    connection = db.connect()
    connection.register("qrels", qrels)
    connection.register("run", run)
    return connection.sql("select * from qrels"), connection.sql("select * from run")


def _compressed(ending, compress):
    def make(folder):
        q, r = folder / f"qrels.txt{ending}", folder / f"run.txt{ending}"
        q.write_bytes(compress(trec_qrels().encode()))
        r.write_bytes(compress(trec_run().encode()))
        return q, r

    FORMS[f"compressed{ending}"] = make


def _zstd(data: bytes) -> bytes:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd.compress(data)


for _ending, _compress in (
    (".gz", gzip.compress),
    (".bz2", bz2.compress),
    (".xz", lzma.compress),
    (".zst", _zstd),
):
    _compressed(_ending, _compress)


@form
def csv_gz(folder):
    q, r = csv(folder)
    for path in (q, r):
        path.with_name(path.name + ".gz").write_bytes(gzip.compress(path.read_bytes()))
    return folder / "qrels.csv.gz", folder / "run.csv.gz"
