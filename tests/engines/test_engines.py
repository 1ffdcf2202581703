"""Every engine takes the same inputs, returns the same results and raises the same errors."""

from __future__ import annotations

import json

import pytest
from server import Server

from goodgain.engines import Engine
from goodgain.errors import InputError, MeasureError, UsageError
from goodgain.labels import OpenAIJudge

QRELS = {"q1": {"a": 1, "b": 2, "c": 0}, "q2": {"a": 1}, "q3": {"z": 1}}
RUN = {"q1": {"a": 3.0, "b": 2.0, "x": 1.0}, "q2": {"x": 2.0, "a": 1.0}, "q9": {"x": 1.0}}


def test_engines_satisfy_the_protocol(engine):
    assert isinstance(engine, Engine)
    assert engine.name in ("local", "spark")


def test_values_and_coverage(engine):
    result = engine.evaluate(QRELS, RUN, "AP RR NumRet GMAP Accuracy")
    run = result.runs[0]
    assert run.queries == ["q1", "q2", "q3"]
    assert run.column("AP") == [1.0, 0.5, 0.0]
    assert run["AP"] == 0.5
    assert run["NumRet"] == 5
    assert run.count("Accuracy") == 2
    assert run.undefined == {"Accuracy": ["q3"]}
    c = run.coverage
    assert (c.judged_queries, c.missing_queries, c.unjudged_queries) == (3, 1, 1)
    assert (c.documents, c.unjudged_documents, c.judged_at_10) == (5, 2, 0.6)
    assert "1 of 3 judged queries" in "".join(result.warnings())


def test_several_runs_with_names(engine):
    result = engine.evaluate(QRELS, {"good": RUN, "bad": {"q1": {"x": 1.0}}}, "RR")
    assert result.names == ("good", "bad")
    assert result["bad"]["RR"] == 0


def test_missing_queries_are_left_out(engine):
    run = engine.evaluate(QRELS, RUN, "AP", missing="skip").runs[0]
    assert run.queries == ["q1", "q2"]
    assert run["AP"] == 0.75


def test_files_and_columns(engine, tmp_path):
    (tmp_path / "qrels.txt").write_text("q1 0 a 1\nq2 0 b 2\n")
    (tmp_path / "run.csv").write_text("topic_x,doc,score\nq1,a,2.5\nq2,a,1.5\nq2,b,1.0\n")
    paths = str(tmp_path / "qrels.txt"), str(tmp_path / "run.csv")
    result = engine.evaluate(*paths, "RR", columns={"query": "topic_x"})
    assert result.names == ("run",)
    assert result["RR"] == 0.75


def test_trec_files(engine, tmp_path):
    (tmp_path / "qrels.txt").write_text("q1 0 a 1\nq2 0 b 2\n")
    (tmp_path / "bm25.run").write_text(
        "# made\nq1 Q0 a 1 2.5 t\n\nq2  Q0\ta 1 1.5 t\nq2 Q0 b 2 1 t\n"
    )
    result = engine.evaluate(str(tmp_path / "qrels.txt"), str(tmp_path / "bm25.run"), "RR")
    assert result.names == ("bm25",)
    assert result["RR"] == 0.75


BAD = [
    ("q1", "a", 1.0),
    ("q1", "b", float("nan")),
    ("q1", "a", 0.5),
    ("q2", "a", float("inf")),
    ("q3", "z", 1.0),
]


def test_bad_rows_are_errors(engine):
    with pytest.raises(InputError, match="finite") as caught:
        engine.evaluate(QRELS, BAD, "RR")
    assert "'q1'" in str(caught.value)


def test_bad_rows_are_skipped_and_counted(engine):
    result = engine.evaluate(QRELS, BAD, "RR NumRet", skip_bad=True)
    run = result.runs[0]
    assert run.column("NumRet") == [1.0, 0.0, 1.0]
    assert run.coverage.bad_rows == 3  # two scores and a document twice
    assert run.coverage.missing_queries == 1  # q2 had nothing else
    assert any("3 bad rows skipped, for example: the score" in w for w in result.warnings())


def test_a_document_twice(engine):
    twice = [("q1", "a", 1.0), ("q1", "b", 3.0), ("q1", "a", 2.0)]
    with pytest.raises(InputError, match="duplicate document 'a' for query 'q1'"):
        engine.evaluate(QRELS, twice, "RR")
    best = engine.evaluate(QRELS, twice, "RR NumRet", duplicates="best")
    assert best.runs[0].column("NumRet")[0] == 2


@pytest.mark.parametrize(
    ("kind", "arguments", "says"),
    [
        (InputError, (QRELS, {"x": {"a": 1.0}}, "RR"), "no query of the run is judged"),
        (MeasureError, (QRELS, RUN, "nDGC@10"), "nDGC"),
    ],
)
def test_errors(engine, kind, arguments, says):
    with pytest.raises(kind, match=says):
        engine.evaluate(*arguments)


def test_policies_that_do_not_exist(engine):
    with pytest.raises(UsageError, match="invalid policy ties='sometimes'"):
        engine.evaluate(QRELS, RUN, "RR", ties="sometimes")


def test_saved_and_loaded(engine, tmp_path):
    result = engine.evaluate(QRELS, RUN, "AP RR")
    result.save(tmp_path / "result.json")
    again = type(result).load(tmp_path / "result.json")
    assert again.means == result.means
    assert again.per_query == result.per_query


def test_time_and_cost_beside_a_run(engine):
    from goodgain import Run

    run = Run(RUN, name="timed", latency={"q1": 0.1, "q2": 0.3, "q3": 0.2}, cost={"q1": 2.0})
    result = engine.evaluate(QRELS, run, "RR Latency(stat=p50) Cost")
    assert result["Latency(stat=p50)"] == 0.2
    assert result["Cost"] == 2.0


TRACES = [
    {
        "conversation": name,
        "system": system,
        "turns": [
            {
                "user": "how?",
                "iterations": [
                    {
                        "searches": [
                            {"query": "a", "results": [{"id": "1", "gain": 3}, {"id": "2"}]}
                        ]
                    },
                    {
                        "searches": [
                            {"query": "b", "results": [{"id": "1"}, {"id": "3", "gain": 2}]}
                        ]
                    },
                ],
            }
        ],
    }
    for name, system in (("c1", "x"), ("c2", "y"), ("c3", "x"))
] + [{"conversation": "c4", "system": "y", "turns": []}]


def test_good_gain(engine):
    result = engine.good_gain(TRACES)
    assert result.names == ("x", "y")
    assert result["x"].conversations == ("c1", "c3")
    assert result.figure("CG", 2, "x").value == 5
    assert (result.figure("CG", 2, "x").lower, result.figure("CG", 2, "x").upper) == (5, 9)
    assert result["y"].counts()["without_search"] == 1
    assert result.facts["results"] == 12


def test_labels_go_before_gains(engine):
    result = engine.good_gain(TRACES, labels={"c1": {"1": 4}, "c2": {"3": 0}})
    assert result["x"].final("CG") == {"c1": 6.0, "c3": 5.0}
    assert result["y"].final("CG") == {"c2": 3.0}
    assert result.facts["unknown_conversations"] == 2


def test_bad_conversations(engine):
    bad = [*TRACES, {"conversation": "c5", "turns": "none"}]
    with pytest.raises(InputError, match="turns"):
        engine.good_gain(bad)
    result = engine.good_gain(bad, skip_bad=True)
    assert result.facts["skipped"] == 1
    assert "'turns'" in result.facts["skipped_examples"][0]
    with pytest.raises(InputError, match="duplicate conversation 'c1', repeat 'r' of system 'x'"):
        engine.good_gain([*TRACES, *2 * [{**TRACES[0], "repeat": "r"}]])


def test_files_of_traces(engine, tmp_path):
    path = tmp_path / "traces.jsonl"
    path.write_text("".join(json.dumps(t) + "\n" for t in TRACES))
    assert engine.good_gain(str(path)).figure("CG", None, "x").value == 5


def test_labels(engine, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-4711")
    pairs = [(f"q{i % 3}", f"d{i}", f"what? {i % 3}", f"text {i} GAIN={i % 5}") for i in range(12)]
    with Server() as server:
        judge = OpenAIJudge("m", base_url=server.openai_url)
        store = tmp_path / "labels.db"
        labels = engine.label(pairs, judge, store)
        assert labels.to_dict() == {
            f"q{q}": {f"d{i}": i % 5 for i in range(q, 12, 3)} for q in range(3)
        }
        assert sum(server.requests.values()) == 12
        again = engine.label([*pairs, ("new?", "more GAIN=1")], judge, store)
        assert sum(server.requests.values()) == 13  # only the new one was asked
        assert len(again) == 13
    assert sorted(p.name for p in tmp_path.iterdir() if "parts" in p.name) == []


def test_a_folder_of_runs(engine, tmp_path):
    """Each file is a run: read as one table, they would be a mixture of both."""
    for name, doc in (("bm25", "a"), ("knn", "b")):
        (tmp_path / "runs").mkdir(exist_ok=True)
        (tmp_path / "runs" / f"{name}.txt").write_text(f"q1 Q0 {doc} 1 2 t\nq2 Q0 {doc} 1 1 t\n")
    for path in (tmp_path / "runs", f"{tmp_path}/runs/*.txt", [f"{tmp_path}/runs/"]):
        result = engine.evaluate(QRELS, path, "P@1 NumRet")
        assert result.names == ("bm25", "knn")
        assert [result[name]["NumRet"] for name in result.names] == [2, 2]
    (tmp_path / "numbered").mkdir()
    for number in (1, 2):
        (tmp_path / "numbered" / f"run{number}.txt").write_text("q1 Q0 a 1 2 t\n")
    with pytest.raises(InputError, match="could be one run in 2 files or as many runs"):
        engine.evaluate(QRELS, tmp_path / "numbered", "AP")
    (tmp_path / "export").mkdir()
    for number in (0, 1):
        part = tmp_path / "export" / f"part-0000{number}.txt"
        part.write_text(f"q{number + 1} Q0 a 1 2 t\n")
    assert engine.evaluate(QRELS, tmp_path / "export", "NumRet").means == {"export": {"NumRet": 2}}
