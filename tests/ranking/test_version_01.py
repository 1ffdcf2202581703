"""Every measure under every policy has the bits that version 0.1 gave, on shared and generated data."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import version_01
from test_digests import SAME_LIBRARY

import goodgain as gg

STORED = json.loads(Path(__file__).with_name("digests-0.1.json").read_text())
# What was mended since: (measure, policy) and why.
_ASPECTS = "0.1 counted a target several times that one tied document meets in several aspects"
CHANGED = {
    (measure, policy): _ASPECTS
    for measure in ("DR", "Diversity")
    for policy in ("ties=average", "ties=bounds")
}
RENAMED = {
    ("Accuracy", "preset=beir"): "BEIR's Accuracy@k is Hit@k; 0.1 read it as its own Accuracy"
}


@pytest.mark.skipif(not SAME_LIBRARY, reason="logarithms of another library may differ in a bit")
@pytest.mark.parametrize("name", version_01.COLLECTIONS)
def test_values_of_measures(shared_data, name):
    stored = STORED["collections"][name]
    computed = version_01.digests(name, shared_data, STORED["labels"])
    different = {
        (measure, policy)
        for policy, _ in version_01.policies()
        for measure, digest in stored.get(policy, stored["default"]).items()
        if computed.get(policy, computed["default"])[measure] != digest
    }
    assert different == {*RENAMED, *(CHANGED if name == "generated" else ())}


def test_good_gain():
    computed = version_01.gain_digests(list(STORED["good_gain"]["{}"]))
    assert computed == STORED["good_gain"]


# What the order, form and division of the data, memory and threads must not change.
ONLY = ("default", "ties=average", "unjudged=remove", "preset=trec_eval", "preset=trec_eval9")
FORMS = {
    "shuffled text": {"threads": 1, "memory": 1},
    "gzip": {"threads": 8, "memory": "64MB"},
    "CSV": {"threads": 2, "memory": 1},
    "JSON lines": {"threads": 8},
    "Parquet in parts": {"threads": 2, "memory": 1},
    "Arrow stream": {"threads": 1, "memory": 1},
    "DuckDB relation": {"threads": 8},
}


def in_form(form, rows, folder):
    """The rows of a run, shuffled, in another form."""
    rows = random.Random(22).sample(rows, len(rows))
    table = pa.table(dict(zip(("query", "doc", "score"), zip(*rows, strict=True), strict=True)))
    match form:
        case "shuffled text":
            path, text = folder / "run.txt", [f"{q} Q0 {d} 0 {s!r} t\n" for q, d, s in rows]
        case "gzip":
            path = folder / "run.txt.gz"
            path.write_bytes(
                gzip.compress("".join(f"{q} 0 {d} 0 {s!r} t\n" for q, d, s in rows).encode())
            )
            return path
        case "CSV":
            path, text = folder / "run.csv", [f'"{q}",{d},{s!r}\n' for q, d, s in rows]
            text.insert(0, "query,doc,score\n")
        case "JSON lines":
            path = folder / "run.jsonl"
            text = [json.dumps({"query": q, "doc": d, "score": s}) + "\n" for q, d, s in rows]
        case "Parquet in parts":
            path = folder / "run.parquet"
            path.mkdir()
            for part, start in enumerate(range(0, len(rows), len(rows) // 3 + 1)):
                piece = table.slice(start, len(rows) // 3 + 1)
                pq.write_table(piece, path / f"part-{part}.parquet", row_group_size=1000)
            return path
        case "Arrow stream":
            return table.to_reader(max_chunksize=500)
        case "DuckDB relation":
            return duckdb.from_arrow(table)
    path.write_text("".join(text))
    return path


@pytest.mark.skipif(not SAME_LIBRARY, reason="logarithms of another library may differ in a bit")
@pytest.mark.parametrize("name", ["generated", "docs_rag", "trec_eval"])
@pytest.mark.parametrize("form", FORMS)
def test_order_form_memory_and_threads(shared_data, tmp_path, form, name):
    qrels, run = version_01.collection(name, shared_data)
    rows = [
        (query, doc, score)
        for query, docs in gg.Run(run).to_dict().items()
        for doc, score in docs.items()
    ]
    stored = STORED["collections"][name]
    expected = {policy: stored.get(policy, stored["default"]) for policy in ONLY}
    for policy, want in expected.items():
        if name == "generated" and policy == "ties=average":
            want = {
                measure: digest
                for measure, digest in want.items()
                if (measure, policy) not in CHANGED
            }
        folder = tmp_path / policy
        folder.mkdir()
        made = (qrels, in_form(form, rows, folder))
        computed = version_01.digests(
            name, shared_data, STORED["labels"], {policy}, made, **FORMS[form]
        )[policy]
        assert {measure: computed[measure] for measure in want} == want, policy
