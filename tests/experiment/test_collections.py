"""Real collections: BM25 scores as published elsewhere, and hybrid is compared with it."""

from __future__ import annotations

import json
import re
import tarfile
from pathlib import Path

import pytest

import goodgain as gg
from goodgain.experiment.retrievers import BM25, KNN, Hybrid

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"


def data(name: str) -> Path:
    if not (DATA / name).is_dir():
        pytest.skip(f"no real data at {DATA / name}")
    return DATA / name


@pytest.mark.slow
def test_cacm():
    """Lucene with stemming reaches a mean average precision of .3123 and P@30 of .1942."""
    home = data("cacm")
    with tarfile.open(home / "cacm.tar.gz") as archive:
        documents = {
            Path(member.name).stem: re.sub(
                r"<[^>]+>", " ", archive.extractfile(member).read().decode("latin-1")
            )
            for member in archive.getmembers()
            if member.name.endswith(".html")
        }
    queries = re.findall(
        r"<DOCNO>\s*(\S+)\s*</DOCNO>(.*?)</DOC>", (home / "topics.cacm.txt").read_text(), re.S
    )
    systems = {
        "keyword": BM25(k1=0.9, b=0.4, depth=1000),
        "knn": KNN(depth=1000, dimensions=200),
        "hybrid": Hybrid(["keyword", "knn"], depth=1000),
    }
    one = gg.Experiment(
        documents, dict(queries), gg.Qrels(home / "qrels.cacm.txt"), systems, measures="AP P@30", depth=1000,
        unjudged="skip",
    )  # fmt: skip
    assert (len(one.documents), len(one.queries)) == (3204, 52)
    result = one.run()
    assert 0.27 < result.scores["keyword"]["AP"] < 0.36
    assert 0.17 < result.scores["keyword"]["P@30"] < 0.22
    assert result.scores["knn"]["AP"] > 0.1
    pair = result["hybrid", "AP"]
    assert pair.low < pair.difference < pair.high
    assert 0 < pair.p <= 1


def test_docs_rag():
    """A vendor's embeddings reach MRR@3 .7367, precision .4283 and recall .6592."""
    home = data("docs_rag")
    chunks = json.loads((home / "anthropic_docs.json").read_text())
    documents = {c["chunk_link"]: f"{c['chunk_heading']}\n{c['text']}" for c in chunks}
    questions = json.loads((home / "docs_evaluation_dataset.json").read_text())
    queries = {each["id"]: each["question"] for each in questions}
    qrels = {each["id"]: dict.fromkeys(each["correct_chunks"], 1) for each in questions}
    systems = {"keyword": "bm25", "knn": "knn", "hybrid": Hybrid(["keyword", "knn"])}
    result = gg.Experiment(documents, queries, qrels, systems, measures="P@3 R@3 RR@3").run()
    keyword = result.scores["keyword"]
    assert 0.3 < keyword["P@3"] < 0.5
    assert 0.5 < keyword["R@3"] < 0.75
    assert 0.6 < keyword["RR@3"] < 0.85
    assert result["hybrid", "RR@3"].p <= 1
