"""Runs without scores: lists, ranks, and results as retrieval frameworks return them."""

import json

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import goodgain as gg
from goodgain.errors import InputError, UsageError

QRELS = {"q1": {"a": 2, "b": 1, "c": 0}, "q2": {"x": 1}}
LISTS = {"q1": ["c", "a", "zz", "b"], "q2": ["y", "x"]}
SCORED = {q: {doc: -float(i) for i, doc in enumerate(docs)} for q, docs in LISTS.items()}
MEASURES = "nDCG@3 AP RR Judged@3 NumRet"


class Document:
    """As LangChain's: an optional id, and metadata."""

    def __init__(self, doc=None, **metadata):
        self.id, self.metadata, self.page_content = doc, metadata, "text"


class Node:
    def __init__(self, doc):
        self.node_id, self.metadata = doc, {}


class NodeWithScore:
    """As LlamaIndex': a node inside, and a score that may be None."""

    def __init__(self, doc, score=None):
        self.node, self.score = Node(doc), score


def each(make):
    return {q: [make(doc, i) for i, doc in enumerate(docs)] for q, docs in LISTS.items()}


def rows(first=1, step=1):
    return [
        {"query": q, "doc": doc, "rank": first + step * i}
        for q, docs in LISTS.items()
        for i, doc in enumerate(docs)
    ]


FORMS = {
    "lists": LISTS,
    "tuples": {q: tuple(docs) for q, docs in LISTS.items()},
    "documents": each(lambda doc, i: Document(doc)),
    "documents with a source": each(lambda doc, i: Document(source=doc)),
    "document and score": each(lambda doc, i: (Document(doc), 0.9 - i / 10)),
    "nodes": each(lambda doc, i: NodeWithScore(doc)),
    "nodes with scores": each(lambda doc, i: NodeWithScore(doc, 0.9 - i / 10)),
    "dictionaries": each(lambda doc, i: {"id": doc, "text": "t", "embedding": [1, 2]}),
    "scored dictionaries": each(lambda doc, i: {"docid": doc, "score": 9 - i}),
    "Elasticsearch": each(lambda doc, i: {"_id": doc, "_score": 9 - i, "_source": {"id": 7}}),
    "document inside": each(lambda doc, i: {"document": {"id": doc}, "score": 9 - i}),
    "ranked dictionaries": {
        q: docs[::-1] for q, docs in each(lambda doc, i: {"id": doc, "rank": i + 1}).items()
    },
    "row per query": [{"query_id": q, "results": docs} for q, docs in LISTS.items()],
    "ranks": rows(),
    "ranks in any order": rows()[::-1],
    "pairs": [(row["query"], row["doc"]) for row in rows()],
    "ids only": [{"query": row["query"], "doc": row["doc"]} for row in rows()],
    "pandas": pd.DataFrame(rows()),
    "polars": pl.DataFrame(rows()),
    "arrow": pa.Table.from_pylist(rows()),
}


def values(run, **options):
    return gg.evaluate(QRELS, gg.Run(run), MEASURES, **options)["run"].per_query


def write(path, lines):
    path.write_text("".join(f"{line}\n" for line in lines))
    return str(path)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("ties", ["docid", "average", "bounds"])
def test_the_order_is_the_ranking(form, ties):
    expected = gg.evaluate(QRELS, SCORED, MEASURES, ties=ties)["run"].per_query
    result = gg.evaluate(QRELS, FORMS[form], MEASURES, ties=ties)
    assert result.runs[0].per_query == expected
    assert result.warnings() == []


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("run.json", [json.dumps(LISTS)]),
        ("rows.json", [json.dumps([{"qid": q, "docs": docs} for q, docs in LISTS.items()])]),
        ("run.jsonl", [json.dumps({"query": q, "results": docs}) for q, docs in LISTS.items()]),
        (
            "results.jsonl",
            [
                json.dumps({"query_id": q, "results": [{"id": d, "score": 1 - i} for i, d in enumerate(v)]})
                for q, v in LISTS.items()
            ],
        ),
        ("ranks.jsonl", [json.dumps(row) for row in rows()]),
        ("ranks.csv", ["query,doc,rank", *(",".join(map(str, r.values())) for r in rows()[::-1])]),
        ("ranks.tsv", ["query\tdoc\trank", *("\t".join(map(str, r.values())) for r in rows())]),
        ("marco.tsv", ["\t".join(map(str, row.values())) for row in rows()]),
    ],
)  # fmt: skip
def test_files(tmp_path, name, lines):
    path = write(tmp_path / name, lines)
    assert gg.evaluate(QRELS, path, MEASURES).runs[0].per_query == values(SCORED)
    assert gg.Run(path).to_dict().keys() == LISTS.keys()
    ranked = {q: sorted(d, key=d.get, reverse=True) for q, d in gg.Run(path).to_dict().items()}
    assert ranked == LISTS


def test_parquet_and_arrow_files(tmp_path):
    frame = pd.DataFrame(rows())
    frame.to_parquet(tmp_path / "run.parquet")
    frame.to_feather(tmp_path / "run.arrow")
    for name in ("run.parquet", "run.arrow"):
        result = gg.evaluate(QRELS, str(tmp_path / name), MEASURES)
        assert result.runs[0].per_query == values(SCORED)


def test_an_id_inside_metadata_can_be_chosen():
    run = each(lambda doc, i: {"id": f"chunk-{i}", "metadata": {"source": {"name": doc}}})
    result = gg.evaluate(QRELS, run, MEASURES, columns={"doc": "metadata.source.name"})
    assert result.runs[0].per_query == values(SCORED)


def test_a_chosen_rank_wins_over_scores():
    run = [{**row, "score": row["rank"]} for row in rows()]
    assert values(run) != values(SCORED)
    result = gg.evaluate(QRELS, run, MEASURES, columns={"rank": "rank"})
    assert result.runs[0].per_query == values(SCORED)


def test_several_systems_keep_their_names():
    result = gg.evaluate(QRELS, {"one": LISTS, "two": {"q1": ["a"]}}, "RR")
    assert [run.name for run in result.runs] == ["one", "two"]
    assert len(gg.evaluate(QRELS, [LISTS, LISTS], "RR").runs) == 2


# --- ranks that are not 1, 2, 3, ... ---


def notes(run):
    return gg.evaluate(QRELS, run, MEASURES).warnings()


def test_ranks_from_zero_are_reported():
    assert notes(rows(first=0)) == ["run: ranks start at 0 in 2 queries: 0 counts as the first"]
    assert values(rows(first=0)) == values(SCORED)


def test_gaps_are_reported():
    assert notes(rows(step=5)) == [
        "run: ranks are left out in 2 queries: the documents below move up"
    ]
    assert values(rows(step=5)) == values(SCORED)


def test_shared_ranks_are_ties():
    run = [{**row, "rank": 1} for row in rows()]
    assert notes(run)[0] == "run: documents share a rank in 2 queries: they are tied (ties=docid)"
    tied = {q: dict.fromkeys(docs, 0.0) for q, docs in LISTS.items()}
    assert values(run, ties="average") == values(tied, ties="average")


@pytest.mark.parametrize("rank", [-1, 1.5])
def test_what_is_no_rank_is_an_error(rank):
    run = rows()
    run[4]["rank"] = rank
    with pytest.raises(InputError, match=r"rank .* of document 'y' for query 'q2'.*row 5"):
        gg.evaluate(QRELS, run, MEASURES)
    result = gg.evaluate(QRELS, run, MEASURES, skip_bad=True)
    assert result.runs[0].coverage.bad_rows == 1
    with pytest.raises(InputError, match="rank"):
        gg.fuse([gg.Run(run), LISTS])


# --- mixtures ---


@pytest.mark.parametrize(
    ("run", "place"),
    [
        ({"q1": ["a", "b"], "q2": {"x": 1.0}}, "query 'q2' has scores, but query 'q1' has none"),
        ({"q1": {"a": 1.0}, "q2": ["x"]}, "query 'q2' has no scores"),
        ({"q1": ["a", ("b", 0.5)]}, "'b'"),
        ({"q1": [("b", 0.5), "a"]}, "'a'"),
        ({"q1": [{"id": "a"}, {"id": "b", "score": 1}]}, "result 2 of query 'q1'"),
        ({"q1": [{"id": "a", "score": 1}, {"id": "b"}]}, "result 2 of query 'q1'"),
        ({"q1": [NodeWithScore("a", 1), NodeWithScore("b")]}, "result 2 of query 'q1'"),
        ([*rows()[:5], {**rows()[5], "score": 1.0}], "row 6"),
        ([("q1", "a"), ("q1", "b", 0.5)], "row 2"),
        ({"q1": [{"id": "a"}, {"name": "b"}]}, "result 2 of query 'q1'"),
        ({"q1": [{"name": "b"}]}, "no id"),
    ],
)
def test_a_mixture_names_the_row(run, place):
    for read in (lambda: gg.evaluate(QRELS, run, "AP"), lambda: gg.Run(run).rows()):
        with pytest.raises(InputError, match=place):
            read()


def test_a_score_in_a_later_line_names_the_line(tmp_path):
    lines = [*rows()[:5], {**rows()[5], "score": 1.0}]
    path = write(tmp_path / "run.jsonl", map(json.dumps, lines))
    with pytest.raises(InputError, match=r"run.jsonl:6"):
        gg.evaluate(QRELS, path, "AP")


def test_scores_that_contradict_the_order_are_an_error():
    distances = each(lambda doc, i: {"id": doc, "score": i})
    with pytest.raises(InputError, match=r"'c' \(0\) comes before 'a' \(1\)"):
        gg.evaluate(QRELS, distances, "AP")
    by_score = gg.evaluate(QRELS, distances, "RR", columns={"score": "score"})
    assert by_score.runs[0].per_query["q2"]["RR"] == 1


def test_a_document_twice_follows_the_policy():
    with pytest.raises(InputError, match="duplicate document 'a'"):
        gg.evaluate(QRELS, {"q1": ["a", "a"]}, "AP")
    once = gg.evaluate(QRELS, {"q1": ["c", "a", "b"]}, "AP")
    for policy in ("first", "best"):
        result = gg.evaluate(QRELS, {"q1": ["c", "a", "c", "b"]}, "AP", duplicates=policy)
        assert result["run"]["AP"] == once["run"]["AP"]


# --- other commands ---


def test_fusion_by_rank_works_and_by_score_is_refused():
    other = {"q1": ["b", "a"], "q2": ["x"]}
    scored = {q: {d: -float(i) for i, d in enumerate(v)} for q, v in other.items()}
    for method in ("rrf", "isr", "bordafuse", "condorcet"):
        assert (
            gg.fuse([LISTS, other], method).to_dict() == gg.fuse([SCORED, scored], method).to_dict()
        )
    assert gg.fuse([LISTS, other], "sum", "rank").to_dict()["q1"]["c"] == 1
    with pytest.raises(UsageError, match="wsum needs scores, but run 'run#1' has only ranks"):
        gg.fuse([LISTS, other], "wsum")
    with pytest.raises(UsageError, match="wsum needs scores"):
        gg.tune([LISTS, SCORED], "wsum", qrels=QRELS)


def test_compare_and_explain():
    other = {"q1": ["a", "b"], "q2": ["x"]}
    comparison = gg.compare(QRELS, {"one": LISTS, "two": other}, baseline="one", measures="RR")
    assert comparison.pairs[0].difference == pytest.approx(0.5)
    assert "0.5" in str(gg.explain(QRELS, gg.Run(LISTS), "RR", query="q2"))


def test_convert_says_that_scores_are_negated_ranks(tmp_path):
    source = write(tmp_path / "run.jsonl", [json.dumps(row) for row in rows()])
    summary = gg.convert(source, str(tmp_path / "run.txt"))
    assert summary.kind == "run"
    assert "the run has no scores: negated ranks are written as scores" in summary.losses
    assert gg.evaluate(QRELS, str(tmp_path / "run.txt"), MEASURES).runs[0].per_query == values(
        SCORED
    )
