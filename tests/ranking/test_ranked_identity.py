"""Identity over ranked runs: chunks count as their documents, copies as one."""

import pytest

import goodgain as gg
from goodgain.errors import DuplicateError, UsageError

QRELS = {"q": {"d1#1": 2, "d1#2": 1, "d2#1": 1, "d3": 0}}
RUN = {"q": {"d1#1": 3.0, "d1#2": 2.0, "d2#1": 1.0, "d3": 0.5}}
LONG = "The quick brown fox jumps over the lazy dog while seven wizards watch from the hill."


@pytest.mark.parametrize(
    "identity",
    [
        "doc#chunk",
        r"#\d+$",
        r"(.+)#\d+",
        lambda d: d.split("#")[0],
        {"d1#1": "d1", "d1#2": "d1", "d2#1": "d2"},
    ],
)
def test_chunks_of_documents(identity):
    found = gg.evaluate(QRELS, RUN, "DR@2 Diversity@2 R@2 NumRel NumRet", identity=identity)
    assert found.means["run"] == {"DR@2": 1, "Diversity@2": 2, "R@2": 1, "NumRel": 2, "NumRet": 3}
    plain = gg.evaluate(QRELS, RUN, "DR@2 Diversity@2")
    assert plain.means["run"] == {"DR@2": 2 / 3, "Diversity@2": 2}


def test_targets_and_aspects_stay_with_their_documents(tmp_path):
    rows = [
        ("q", "d1#1", 1, "t1", "1"), ("q", "d1#2", 2, "t1", "2"), ("q", "d2#1", 1, "t1", "1"),
        ("q", "d3", 1, "t2", "2"),
    ]  # fmt: skip
    whole = [(q, d.split("#")[0], g, t, a) for q, d, g, t, a in rows]
    names = "DR@1 DR@2 Diversity@2 StRecall@1 alpha_nDCG@2 CG@1"
    run = {"q": {"d2#1": 2.0, "d1#1": 1.0, "d1#2": 3.0}}
    found = gg.evaluate(rows, run, names, identity="doc#chunk")["run"].means
    assert found == gg.evaluate(whole, {"q": {"d1": 3.0, "d2": 2.0}}, names)["run"].means
    assert (found["DR@2"], found["StRecall@1"]) == (0.5, 1.0)
    (tmp_path / "q.txt").write_text("q 1 d1#1 1\nq 2 d1#2 1\nq 2 d1#1 3\n")
    path = str(tmp_path / "q.txt")
    assert gg.evaluate(path, run, "StRecall@1", identity="doc#chunk")["StRecall@1"] == 1.0
    with pytest.raises(DuplicateError, match="in another iteration"):
        gg.evaluate(path, run, "nDCG", identity="doc#chunk")


def test_the_last_mark_separates():
    found = gg.evaluate(
        {"q": {"a#b": 1}}, {"q": {"a#b#1": 2.0, "a#b#2": 1.0}}, "P@1 NumRet", identity="doc#chunk"
    )
    assert found.means["run"] == {"P@1": 0, "NumRet": 1}  # judged is a, retrieved is a#b


def test_copies_in_a_corpus():
    corpus = [
        {"id": "a", "content": LONG},
        {"id": "b", "content": LONG.upper()},
        {"id": "c", "content": LONG[::-1]},
    ]
    found = gg.evaluate(
        {"q": {"a": 1, "c": 1}}, {"q": {"b": 3.0, "a": 2.0, "c": 1.0}}, "DR@2", identity=corpus
    )
    assert found["DR@2"] == 1


def test_several_runs_keep_their_names_and_times():
    run = gg.Run(RUN, name="timed", latency={"q": 0.5})
    found = gg.evaluate(QRELS, [run, RUN], "DR@2 Latency", identity="doc#chunk")
    assert found["timed"]["Latency"] == 0.5
    assert found.names == ("timed", "run")


@pytest.mark.parametrize(
    "identity",
    [
        lambda doc: doc.rpartition("-")[0],  # empty for judged documents, which have no hyphen
        lambda doc: {"a-1": "a"}.get(doc),
        {"a": None},
        {"a-1": ""},
        "^(x-[0-9])?",
    ],
)
def test_a_document_without_an_id_is_an_error(identity):
    with pytest.raises(UsageError, match=r"the identity of document 'a(-1)?' is (None|'')"):
        gg.evaluate({"q": {"a": 1}}, {"q": {"a-1": 1.0}}, "P@1", identity=identity)


@pytest.mark.parametrize(
    ("identity", "message"),
    [("(", "is not a valid pattern"), (3, "invalid identity=3"), ([{"title": "x"}], "has no id")],
)
def test_what_is_no_identity(identity, message):
    with pytest.raises(UsageError, match=message):
        gg.evaluate(QRELS, RUN, "DR@2", identity=identity)
