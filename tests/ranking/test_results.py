"""What comes back: means, tables, frames, saved files, measures of one's own, time and cost."""

from __future__ import annotations

import copy
import hashlib
import json
import math
import pickle
import statistics

import pytest

import goodgain
from goodgain import Evaluation, Evaluator, Run, evaluate, register
from goodgain.errors import GoodgainError, InputError, MeasureError
from goodgain.measures import registry as measures_registry

QRELS = {"q1": {"a": 2, "b": 0}, "q2": {"a": 1}, "q3": {"a": 0}}
RUN = {"q1": {"b": 3.0, "a": 2.0, "x": 1.0}, "q2": {"a": 1.0}, "q9": {"a": 1.0}}


@pytest.fixture(autouse=True)
def registry(monkeypatch):
    """What a test registers is forgotten after it."""
    for name in ("_tables", "_names"):
        table = getattr(measures_registry, name)
        monkeypatch.setitem(table, "custom", dict(table["custom"]))


@pytest.fixture
def one():
    return evaluate(QRELS, RUN, "nDCG@10 Accuracy NumRet")


@pytest.fixture
def two():
    return evaluate(QRELS, {"bm25": RUN, "knn": {"q1": {"a": 1.0}}}, "AP RR")


# --- values ---


def test_one_run(one):
    assert one["nDCG@10"] == one["run"]["nDCG@10"] == one.means["run"]["nDCG@10"]
    assert one["nDCG@10"] == pytest.approx((1 / math.log2(3) + 1 + 0) / 3)
    assert len(one.runs) == 1 and one.names == ("run",)
    assert list(one) == ["nDCG@10", "Accuracy", "NumRet"] and len(one) == 3
    assert dict(one) == dict(one["run"]) == one["run"].means
    assert "nDCG@10" in one and "run" in one and "AP" not in one
    assert one.per_query["run"]["q1"]["NumRet"] == 3
    assert one.runs[0].values("NumRet").tolist() == [3, 1, 0]
    assert one["run"][goodgain.nDCG @ 10] == one["nDCG@10"]


def test_several_runs(two):
    assert two["bm25"]["AP"] == pytest.approx((0.5 + 1 + 0) / 3)
    assert two["knn"]["AP"] == pytest.approx(1 / 3)
    assert [r.name for r in two.runs] == list(two) == ["bm25", "knn"]
    assert len(two) == 2 and dict(two) == {"bm25": two["bm25"], "knn": two["knn"]}
    with pytest.raises(KeyError, match="bm25"):
        two["AP"]


def test_runs_of_one_name_are_told_apart(tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "run.txt").write_text("q1 Q0 a 1 1 t\n")
    result = evaluate(QRELS, [tmp_path / "a/run.txt", tmp_path / "b/run.txt"], "AP")
    assert len(result) == 2
    assert result.names[0] != result.names[1]


def test_names_of_runs_come_from_files(tmp_path):
    path = tmp_path / "bm25.v2.run.txt"
    path.write_text("q1 Q0 a 1 1 t\n")
    assert evaluate(QRELS, path, "AP").names == ("bm25.v2.run",)
    assert evaluate(QRELS, Run(path, name="mine"), "AP").names == ("mine",)


def test_undefined_is_counted_and_named(one):
    scores = one.runs[0]
    assert math.isnan(scores.per_query["q2"]["Accuracy"])
    assert scores.undefined == {"Accuracy": ["q2", "q3"]}
    assert scores.count("Accuracy") == 1
    assert scores["Accuracy"] == 0.5  # over the one query where it is defined
    assert any("Accuracy is undefined for 2 queries: q2, q3" in w for w in one.warnings())


def test_a_mean_of_nothing_is_undefined():
    result = evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "Accuracy")
    assert math.isnan(result["Accuracy"])
    assert result.rows()[1] == [["run", "Accuracy", pytest.approx(math.nan, nan_ok=True), 0]]


def test_coverage_and_warnings(one):
    c = one.runs[0].coverage
    assert c.to_dict() == {
        "judged_queries": 3, "missing_queries": 1, "unjudged_queries": 1, "documents": 4,
        "unjudged_documents": 1, "judged_at_10": 0.75, "bad_rows": 0, "bad_example": "",
        "shared_ranks": 0, "rank_gaps": 0, "ranks_from_zero": 0,
    }  # fmt: skip
    text = "\n".join(one.warnings())
    assert "1 of 3 judged queries" in text
    assert "have no judgments" in text or "has no judgements" in text


@pytest.mark.parametrize("what", ["column", "bounds", "count", "values"])
def test_a_measure_that_was_not_evaluated(one, what):
    with pytest.raises(KeyError, match=r"nDCG@10"):
        getattr(one.runs[0], what)("AP")
    with pytest.raises(KeyError, match=r"nDCG@10"):
        one["AP"]


def test_values_by_the_text_that_was_typed():
    result = evaluate(QRELS, RUN, ["F(beta=2,rel=2)@5"])
    assert result["F(beta=2,rel=2)@5"] == result.runs[0].column(result.measures[0])[0] / 3


# --- printed ---


def test_repr_is_one_line(one, two):
    assert repr(one) == "Evaluation(1 run: run; nDCG@10, Accuracy, NumRet)"
    assert repr(two) == "Evaluation(2 runs: bm25, knn; AP, RR)"
    assert "\n" not in repr(one.runs[0]) and "3 queries" in repr(one.runs[0])


def test_printed_as_a_table(two):
    lines = str(two).splitlines()
    assert lines[0].split() == ["run", "AP", "RR", "queries"]
    assert lines[1].split() == ["bm25", "0.5000", "0.5000", "3"]
    assert lines[2].split() == ["knn", "0.3333", "0.3333", "3"]
    assert len({len(line) for line in lines}) == 1


def test_html_is_escaped():
    result = evaluate(QRELS, {"<b>&": RUN}, "AP")
    html = result._repr_html_()
    assert html.startswith("<table>") and "&lt;b&gt;&amp;" in html and "<b>&" not in html
    assert html.count("<tr>") == 2


def test_bounds_are_printed():
    result = evaluate({"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0}}, "RR", ties="bounds")
    assert "0.5000 [0.5000, 1.0000]" in str(result)
    assert result.rows()[0] == ["run", "measure", "value", "lower", "upper", "queries"]


# --- other libraries ---


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
@pytest.mark.parametrize("per_query", [True, False])
def test_frames(two, kind, per_query):
    frame = getattr(two, f"to_{kind}")(per_query)
    columns, rows = two.rows(per_query)
    names = frame.column_names if kind == "arrow" else list(frame.columns)
    assert names == columns
    assert names == (
        ["run", "query", "measure", "value"]
        if per_query
        else ["run", "measure", "value", "queries"]
    )
    values = {"pandas": lambda: frame["value"].tolist(), "polars": lambda: frame["value"].to_list(),
              "arrow": lambda: frame["value"].to_pylist()}[kind]()  # fmt: skip
    assert values == [row[columns.index("value")] for row in rows]
    assert len(values) == (12 if per_query else 4)


# --- saved ---


@pytest.mark.parametrize("policy", [{}, {"ties": "bounds"}, {"ties": "average", "missing": "skip"}])
def test_saved_and_loaded(tmp_path, policy):
    path = tmp_path / "result.json"
    result = evaluate(
        QRELS, {"a": RUN, "é": RUN}, "nDCG(gain=exp)@10 MRR Accuracy P.5 map@10-l2", **policy
    )
    result.save(path)
    back = Evaluation.load(path)
    assert back.to_dict() == result.to_dict()
    assert back.measures == result.measures and back.policy == result.policy
    assert str(back) == str(result)
    assert repr(back.per_query) == repr(result.per_query)
    assert back["é"].coverage == result["é"].coverage
    assert back.warnings() == result.warnings()


def test_saved_file_says_what_it_is_of(tmp_path):
    qrels, run = tmp_path / "q.txt", tmp_path / "r.txt"
    qrels.write_text("q1 0 a 1\n")
    run.write_text("q1 Q0 a 1 1 t\n")
    result = evaluate(qrels, run, "AP")
    result.save(tmp_path / "out.json")
    data = json.loads((tmp_path / "out.json").read_text())
    assert (data["goodgain"], data["format"], data["version"]) == (
        "evaluation",
        2,
        goodgain.__version__,
    )
    assert [i["role"] for i in data["inputs"]] == ["qrels", "run"]
    assert data["inputs"][1]["sha256"] == hashlib.sha256(run.read_bytes()).hexdigest()
    assert data["inputs"][0]["bytes"] == 9
    assert data["created"].startswith("20") and data["policy"]["ties"] == "docid"


def test_undefined_is_null_in_the_saved_file(tmp_path, one):
    one.save(tmp_path / "r.json")
    text = (tmp_path / "r.json").read_text()
    assert "NaN" not in text
    assert json.loads(text)["runs"][0]["values"]["Accuracy"] == [0.5, None, None]


@pytest.mark.parametrize(
    "text, message",
    [
        ("{}", "not a saved evaluation"),
        ("[]", "not a saved evaluation"),
        ("{", "invalid JSON"),
        ('{"goodgain": "evaluation", "format": 999}', "format 999"),
        ('{"goodgain": "evaluation", "format": 1}', "."),
    ],
)
def test_loading_what_is_no_result(tmp_path, text, message):
    path = tmp_path / "r.json"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        Evaluation.load(path)


def test_results_are_values(one):
    for other in (pickle.loads(pickle.dumps(one)), copy.deepcopy(one)):
        assert other.to_dict() == one.to_dict()


# --- measures of one's own ---


def test_registered_measure():
    seen = []

    def first_gain(gains):
        seen.append(gains.tolist())
        return float(gains[0]) if len(gains) and gains[0] == gains[0] else 0.0

    m = register("FirstGain", first_gain, summary="The gain of the first document.")
    result = evaluate(QRELS, RUN, ["FirstGain", "AP"])
    assert result["run"].column("FirstGain") == [0, 1, 0]
    assert result["run"][m] == pytest.approx(1 / 3)
    assert str(seen[0]) == "[0.0, 2.0, nan]"
    assert goodgain.parse("FirstGain") == m
    assert Evaluator(QRELS, "FirstGain").evaluate(RUN)["FirstGain"] == pytest.approx(1 / 3)


def test_registered_measure_with_the_judged_gains():
    register(
        "ShareOfBest",
        lambda gains, judged: float(gains[0] / judged[0]) if len(gains) and judged[0] else 0.0,
    )
    run = {"q1": {"a": 2.0}, "q2": {"a": 1.0}}
    assert evaluate(QRELS, run, "ShareOfBest")["run"].column("ShareOfBest") == [1, 1, 0]


def test_registered_again_is_the_new_one():
    register("Constant", lambda gains: 1.0)
    assert evaluate(QRELS, RUN, "Constant")["Constant"] == 1
    register("Constant", lambda gains: 2.0)
    assert evaluate(QRELS, RUN, "Constant")["Constant"] == 2


def test_registered_measure_over_a_file_with_threads(tmp_path):
    register("HowMany", lambda gains: float(len(gains)))
    path = tmp_path / "run.txt"
    path.write_text("".join(f"q{i % 50} Q0 d{i} 1 {i} t\n" for i in range(5000)))
    qrels = {f"q{i}": {"d1": 1} for i in range(50)}
    assert evaluate(qrels, path, "HowMany", threads=8).runs[0].column("HowMany") == [100.0] * 50


def test_an_error_in_a_registered_measure_comes_through():
    def broken(gains):
        raise ZeroDivisionError("my own mistake")

    register("Broken", broken)
    with pytest.raises(
        MeasureError, match="the measure 'Broken' failed: ZeroDivisionError: my"
    ) as raised:
        evaluate(QRELS, RUN, "Broken")
    assert isinstance(raised.value.__cause__, ZeroDivisionError)


@pytest.mark.parametrize(
    "name, function, text",
    [
        ("nDCG", lambda g: 0.0, "built-in"),
        ("MRR", lambda g: 0.0, "built-in"),
        ("two words", lambda g: 0.0, "invalid measure name"),
        ("Zero", lambda: 0.0, "takes 0 arguments"),
        ("Three", lambda a, b, c: 0.0, "takes 3 arguments"),
    ],
)
def test_what_cannot_be_registered(name, function, text):
    with pytest.raises(MeasureError, match=text):
        register(name, function)


# --- time and cost ---


def test_latency_and_cost():
    run = Run(RUN, latency={"q1": 0.1, "q2": 0.3, "q3": 0.8}, cost={"q1": 2, "q2": 4})
    result = evaluate(QRELS, run, "Latency Latency(stat=p50) Latency(stat=p95) Cost AP")["run"]
    assert result["Latency"] == pytest.approx(0.4)
    assert result["Latency(stat=p50)"] == pytest.approx(0.3)
    assert result["Latency(stat=p95)"] == pytest.approx(0.3 + 0.5 * 0.9)
    assert result["Cost"] == 3
    assert result.count("Cost") == 2
    assert result.undefined == {"Cost": ["q3"]}


def test_latency_of_a_run_without_it_is_undefined():
    result = evaluate(QRELS, RUN, "Latency AP")["run"]
    assert math.isnan(result["Latency"]) and result.count("Latency") == 0


@pytest.mark.parametrize("value", [-1, math.nan, math.inf])
def test_bad_latency(value):
    with pytest.raises(GoodgainError, match="latency"):
        Run(RUN, latency={"q1": value})


def test_intervals_stay_within_what_a_measure_can_be() -> None:
    qrels = {f"q{i}": {"a": 1} for i in range(6)}
    run = {q: {"a": 2.0, "b": 1.0 if q != "q0" else 3.0} for q in qrels}
    scores = evaluate(qrels, {"x": run}, "RR")["x"]
    mean, reach = 5.5 / 6, 2.570582 * statistics.stdev(scores.values("RR")) / 6**0.5  # Student's t
    assert mean + reach > 1
    assert scores.interval("RR") == pytest.approx((mean - reach, 1.0), rel=1e-6)
