"""A real sentence embedding, all-MiniLM-L6-v2, through `knn`, `rerank` and the command."""

from __future__ import annotations

import json

import minilm
import numpy as np
import pytest

from goodgain.cli import run
from goodgain.experiment.retrievers import make

DOCUMENTS = {
    "car": "The automobile would not start because its battery was empty.",
    "bread": "Let the dough rise overnight, then bake it in a very hot oven.",
    "flu": "The physician told the sick child to stay in bed and drink a lot.",
    "bank": "She opened a savings account to put money aside for retirement.",
    "dog": "The puppy chewed up both of my slippers while I was away.",
    "star": "Astronomers watched a distant sun collapse into a black hole.",
}
QUESTIONS = {  # none of them shares a content word with its document
    "car": "Why is my vehicle dead this morning?",
    "bread": "How do I make a crusty loaf?",
    "flu": "What did the doctor recommend to someone ill?",
    "bank": "planning financially for old age",
    "dog": "My pet destroys shoes",
    "star": "What happens when stars die in space?",
}


def test_the_model_is_what_its_makers_published():
    """The three sentences and their similarities are from the sentence-transformers manual."""
    texts = ["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."]
    vectors = minilm.embed(texts)
    near = vectors @ vectors.T
    expected = [[1.0, 0.6660, 0.1046], [0.6660, 1.0, 0.1411], [0.1046, 0.1411, 1.0]]
    assert near == pytest.approx(np.array(expected), abs=1e-4)


@pytest.mark.parametrize("method", ["exact", "clusters"])
def test_knn_finds_by_meaning(method):
    ours = make("knn", {"embed": minilm.embed, "method": method})
    ours.index(DOCUMENTS)
    documents, questions = minilm.embed([*DOCUMENTS.values()]), minilm.embed([*QUESTIONS.values()])
    for expected, question, scores in zip(
        QUESTIONS, QUESTIONS.values(), questions @ documents.T, strict=True
    ):
        ranking = ours(question)
        assert ranking[0][0] == expected
        by_hand = dict(zip(DOCUMENTS, scores.tolist(), strict=True))
        assert dict(ranking) == pytest.approx(by_hand, abs=1e-4)


def test_rerank_by_the_model():
    def scorer(query: str, texts: list[str]) -> list[float]:
        vectors = minilm.embed([query, *texts])
        return (vectors[1:] @ vectors[0]).tolist()

    keyword = make("bm25", {})
    ours = make("rerank", {"of": keyword, "scorer": scorer, "pool": 6})
    ours.index(DOCUMENTS)
    query = "The puppy and the automobile: which vehicle would not start?"
    assert {doc for doc, _ in keyword(query)} >= {"dog", "car"}
    assert ours(query)[0][0] == "car"


def test_an_experiment_of_the_model_against_keywords(tmp_path, capsys):
    minilm.embed(["is it installed?"])
    corpus = [{"id": key, "text": text} for key, text in DOCUMENTS.items()]
    (tmp_path / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in corpus))
    queries = [("id", "text"), *((f"q-{key}", question) for key, question in QUESTIONS.items())]
    (tmp_path / "queries.tsv").write_text("".join(f"{key}\t{text}\n" for key, text in queries))
    (tmp_path / "qrels.txt").write_text("".join(f"q-{k} 0 {k} 1\n" for k in QUESTIONS))
    (tmp_path / "model.toml").write_text(
        'corpus = "corpus.jsonl"\nqueries = "queries.tsv"\nqrels = "qrels.txt"\n'
        'baseline = "keyword"\nmeasures = "RR"\n[systems.keyword]\nretriever = "bm25"\n'
        '[systems.meaning]\nretriever = "knn"\nembed = "minilm:embed"\n'
    )
    assert run(["experiment", str(tmp_path / "model.toml"), "--format", "jsonl", "-q"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    rows = {line["system"]: line for line in lines if line.get("measure") == "RR"}
    assert rows["meaning"]["mean"] == 1.0 > rows["meaning"]["baseline_mean"]


def test_sentence_transformers_loads_the_same_model_from_its_path():
    """Only where that package is installed, since it needs PyTorch."""
    pytest.importorskip("sentence_transformers")
    ours = make("knn", {"embed": str(minilm.folder())})
    by_hand = make("knn", {"embed": minilm.embed})
    for each in (ours, by_hand):
        each.index(DOCUMENTS)
    for question in QUESTIONS.values():
        assert dict(ours(question)) == pytest.approx(dict(by_hand(question)), abs=1e-3)


def test_a_cross_encoder_from_its_path(tmp_path):
    """An untrained one: what matters is that its scores decide the order."""
    models = pytest.importorskip("sentence_transformers")
    models.CrossEncoder(str(minilm.folder()), num_labels=1).save(str(tmp_path / "model"))
    ours = make("rerank", {"of": make("bm25", {}), "scorer": str(tmp_path / "model"), "pool": 6})
    ours.index(DOCUMENTS)
    query = "The puppy and the automobile: which one would not start?"
    pairs = [(query, DOCUMENTS[doc]) for doc, _ in ours(query)]
    by_hand = models.CrossEncoder(str(tmp_path / "model")).predict(pairs, show_progress_bar=False)
    assert len(pairs) > 1
    assert [score for _, score in ours(query)] == pytest.approx(by_hand.tolist(), abs=1e-4)
    assert by_hand.tolist() == sorted(by_hand.tolist(), reverse=True)
