"""The ranked lists behind numbers: the same order and the same terms as `explain` gives one by one."""

from __future__ import annotations

import random

import pytest

import goodgain
from goodgain import Evaluation, Run
from goodgain.errors import InputError
from goodgain.ranking.explain import explain
from goodgain.ranking.top_lists import MOST_RELEVANT, ranked_lists, unjudged_bounds

DEPTH = 7
MEASURES = (
    "nDCG@10 nDCG(gain=exp)@5 nDCG(ideal=retrieved)@5 AP RR P@5 RBP Judged@10 Bpref ERR@10 DR@10"
)


def tables(queries: int = 12) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    rng = random.Random(5)
    qrels = {
        f"q{i}": {f"d{rng.randrange(60)}": rng.choice([-1, 0, 1, 2, 3]) for _ in range(15)}
        for i in range(queries)
    }
    run = {
        q: {f"d{rng.randrange(60)}": float(rng.randrange(9)) for _ in range(rng.randrange(1, 25))}
        for q in qrels
    }
    return qrels, run


def by_query(lists, ids):
    """{query: [(doc, score, gain or None, {measure: part})]}"""
    found, at, hit = {}, 0, 0
    for i, query in enumerate(lists.queries):
        n, hits = int(lists.counts[i]), int(lists.hit_counts[i])
        ranks = {int(lists.hit_ranks[h]): h for h in range(hit, hit + hits)}
        found[query] = [
            (
                ids[lists.docs[at + r]],
                lists.scores[at + r],
                lists.gains[ranks[r + 1]] if r + 1 in ranks else None,
                {
                    m: p[ranks[r + 1]] if r + 1 in ranks else 0.0
                    for m, p in lists.contributions.items()
                },
            )
            for r in range(n)
        ]
        at, hit = at + n, hit + hits
    return found


@pytest.mark.parametrize("policy", [{}, {"ties": "input"}, {"unjudged": "remove"}])
def test_lists_are_those_of_explain(policy):
    qrels, run = tables()
    result = goodgain.evaluate(qrels, Run(run, name="a"), MEASURES, **policy)
    ids, found = ranked_lists({"a": result.runs[0]}, DEPTH)
    lists = by_query(found["a"], ids)
    assert set(found["a"].contributions) == {m.label for m in result.measures}
    for measure in result.measures:
        for i, query in enumerate(found["a"].queries):
            told = explain(qrels, run, measure, query, **policy)
            shown = lists[query]
            assert len(shown) == min(DEPTH, len(told.terms))
            assert found["a"].retrieved[i] == len(told.terms)
            for term, (doc, score, gain, parts) in zip(told.terms, shown, strict=False):
                assert (term.doc, term.score, term.judged) == (doc, score, gain)
                assert parts[measure.label] == pytest.approx(term.contribution, abs=1e-12)
            if told.value == told.value and told.base == told.base:
                assert found["a"].bases[measure.label][i] == pytest.approx(told.base, abs=1e-12)


def test_a_measure_without_one_order_has_no_parts():
    qrels, run = tables()
    result = goodgain.evaluate(qrels, Run(run, name="a"), "nDCG@10 AP", ties="average")
    _, found = ranked_lists({"a": result.runs[0]}, DEPTH)
    assert found["a"].contributions == {}
    assert found["a"].counts.sum() > 0


def written(folder, queries: int = 400):
    """A run file of several chunks' length whose queries come again later: the core reads them twice."""
    qrels, run = tables(queries)
    (folder / "qrels.txt").write_text(
        "".join(f"{q} 0 {d} {g}\n" for q, docs in qrels.items() for d, g in docs.items())
    )
    lines = [f"{q} Q0 {d} 0 {s} t\n" for q, docs in run.items() for d, s in docs.items()]
    random.Random(1).shuffle(lines)
    (folder / "a.run").write_text("".join(lines))
    return qrels, run


def test_every_kind_of_table_gives_the_same_lists(tmp_path):
    qrels, run = written(tmp_path)
    rows = [(q, d, s) for q, docs in run.items() for d, s in docs.items()]
    frame = pytest.importorskip("pandas").DataFrame(rows, columns=["query", "doc", "score"])
    sources = {"dict": run, "file": tmp_path / "a.run", "rows": rows, "frame": frame}
    found = {}
    for name, source in sources.items():
        result = goodgain.evaluate(tmp_path / "qrels.txt", {"a": source}, "nDCG@10 AP")
        ids, lists = ranked_lists({"a": result.runs[0]}, DEPTH)
        found[name] = by_query(lists["a"], ids)
    assert found["dict"] == found["file"] == found["rows"] == found["frame"]
    short = goodgain.Evaluator(qrels, "nDCG@10 AP").evaluate(run)  # the way of training loops
    ids, lists = ranked_lists({"a": short.runs[0]}, DEPTH)
    assert by_query(lists["a"], ids) == found["dict"]


def test_a_saved_evaluation_finds_its_files_again(tmp_path):
    written(tmp_path, 20)
    made = goodgain.evaluate(
        tmp_path / "qrels.txt", tmp_path / "a.run", "nDCG@10 AP", ties="docid-ascending"
    )
    made.save(tmp_path / "saved.json")
    loaded = Evaluation.load(tmp_path / "saved.json")
    one, other = (ranked_lists({"a": e.runs[0]}, DEPTH) for e in (made, loaded))
    assert by_query(one[1]["a"], one[0]) == by_query(other[1]["a"], other[0])
    (tmp_path / "a.run").write_text("q0 Q0 d1 0 1 t\n")
    for result in (made, loaded):
        with pytest.raises(InputError, match="has changed"):
            ranked_lists({"a": result.runs[0]}, DEPTH)
    loaded = Evaluation.from_dict(goodgain.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}).to_dict())
    with pytest.raises(InputError, match="records no file for its judgments"):
        ranked_lists({"a": loaded.runs[0]}, DEPTH)


@pytest.mark.parametrize("policy", [{}, {"unjudged": "remove"}])
def test_relevant_documents_with_their_ranks(policy):
    qrels, run = tables()
    del run["q3"]  # a query that the run lacks
    result = goodgain.evaluate(qrels, Run(run, name="a"), "nDCG@10", **policy)
    ids, found = ranked_lists({"a": result.runs[0]}, DEPTH)
    relevant, at, deep, missed = found["a"].relevant, 0, 0, 0
    for i, query in enumerate(found["a"].queries):
        n = int(relevant.counts[i])
        expected = {d: g for d, g in qrels[query].items() if g > 0}
        assert n == relevant.totals[i] == len(expected)
        part = slice(at, at + n)
        assert {
            ids[d]: g for d, g in zip(relevant.docs[part], relevant.gains[part], strict=True)
        } == expected
        assert list(relevant.gains[part]) == sorted(expected.values(), reverse=True)
        terms = explain(qrels, run, "nDCG@10", query, **policy).terms if query in run else ()
        ranks = {t.doc: t.rank for t in terms}
        for doc, rank in zip(relevant.docs[part], relevant.ranks[part], strict=True):
            assert rank == ranks.get(ids[doc], 0)
            deep += rank > DEPTH
            missed += rank == 0
        at += n
    assert (deep > 3 or policy) and missed > 3  # condensed lists are short


def test_only_the_best_relevant_documents_are_listed_and_all_are_counted():
    gains = {f"d{i}": 1 + i % 3 for i in range(MOST_RELEVANT + 30)}
    result = goodgain.evaluate({"q": gains}, {"q": {"d0": 1.0}}, "AP")
    _, found = ranked_lists({"a": result.runs[0]}, DEPTH)
    relevant = found["a"].relevant
    assert (relevant.totals[0], relevant.counts[0]) == (len(gains), MOST_RELEVANT)
    assert list(relevant.gains) == sorted(gains.values(), reverse=True)[:MOST_RELEVANT]


def test_what_unjudged_documents_could_change():
    qrels, run = tables()
    result = goodgain.evaluate(qrels, Run(run, name="a"), MEASURES)
    queries, bounds = unjudged_bounds(result.runs[0])
    exact = goodgain.evaluate(qrels, Run(run, name="a"), "nDCG@10 AP RR", unjudged="bounds").runs[0]
    assert {"nDCG@10", "AP", "RR"} <= set(bounds) and "nDCG(ideal=retrieved)@5" not in bounds
    assert queries == exact.queries
    for label in ("nDCG@10", "AP", "RR"):
        assert bounds[label][0].tolist() == exact.column(label, "lower")
        assert bounds[label][1].tolist() == exact.column(label, "upper")
    condensed = goodgain.evaluate(qrels, Run(run, name="a"), "AP", unjudged="remove")
    assert unjudged_bounds(condensed.runs[0]) == ([], {})
