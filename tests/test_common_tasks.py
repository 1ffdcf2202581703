"""Common tasks as someone who knows ranx, ir_measures or pytrec_eval would write them from memory.

Each one runs, or fails with a hint that names the right call.
"""

from __future__ import annotations

import pytest

import goodgain as gg

QRELS = {"q_1": {"d_12": 5, "d_25": 3}, "q_2": {"d_11": 6, "d_22": 1}}
RUN = {"q_1": {"d_12": 0.9, "d_23": 0.8, "d_25": 0.7}, "q_2": {"d_11": 0.4, "d_22": 0.2}}
OTHER = {"q_1": {"d_23": 0.9, "d_12": 0.8}, "q_2": {"d_22": 0.4, "d_11": 0.2}}


def hint_of(call, kind=Exception):
    with pytest.raises(kind) as caught:
        call()
    return str(caught.value)


def test_01_ranx_evaluates_one_metric():
    result = gg.evaluate(gg.Qrels(QRELS), gg.Run(RUN, name="run_1"), "ndcg@5")
    assert result["ndcg@5"] == pytest.approx(gg.evaluate(QRELS, RUN, "nDCG@5")["nDCG@5"])
    assert 0.9 < result["ndcg@5"] < 1


def test_02_ranx_evaluates_several_metrics():
    result = gg.evaluate(QRELS, RUN, ["map@5", "mrr", "hit_rate@1"])
    assert list(dict(result)) == ["map@5", "mrr", "hit_rate@1"]
    assert result["mrr"] == 1


def test_03_ranx_calls_measures_metrics():
    for name in ("metrics", "metric"):
        assert "use measures=" in hint_of(lambda n=name: gg.evaluate(QRELS, RUN, **{n: ["map"]}))
        assert "use measures=" in hint_of(lambda n=name: gg.compare(QRELS, RUN, **{n: ["map"]}))
        assert "use measures=" in hint_of(lambda n=name: gg.tune([RUN, OTHER], **{n: "map"}))


def test_04_ranx_compares_runs():
    report = gg.compare(qrels=QRELS, runs={"a": RUN, "b": OTHER}, measures=["map@100", "mrr@100"])
    assert report["b", "map@100"].mean < report["b", "map@100"].baseline_mean
    assert "use alpha=" in hint_of(
        lambda: gg.compare(qrels=QRELS, runs={"a": RUN, "b": OTHER}, max_p=0.01)
    )
    assert "use test=" in hint_of(lambda: gg.compare(QRELS, {"a": RUN, "b": OTHER}, stat_test="t"))
    assert "use render('latex')" in hint_of(lambda: report.to_latex(), AttributeError)
    assert "\\begin{tabular}" in report.render("latex")


def test_05_ranx_reads_files(tmp_path):
    (tmp_path / "q.txt").write_text("q1 0 a 1\n")
    (tmp_path / "r.txt").write_text("q1 Q0 a 1 1.5 tag\n")
    path = tmp_path / "q.txt"
    assert "use Qrels(source)" in hint_of(
        lambda: gg.Qrels.from_file(path, kind="trec"), AttributeError
    )
    assert "use Run(source)" in hint_of(lambda: gg.Run.from_dict(RUN), AttributeError)
    assert gg.evaluate(gg.Qrels(path), gg.Run(tmp_path / "r.txt"), "map")["map"] == 1


def test_06_ranx_fuses_runs():
    fused = gg.fuse(
        runs=[gg.Run(RUN, name="a"), gg.Run(OTHER, name="b")], norm="min-max", method="max"
    )
    assert gg.evaluate(QRELS, fused, "map")["map"] > 0
    assert "use tune" in hint_of(lambda: gg.optimize_fusion, AttributeError)


def test_07_ir_measures_takes_measure_objects():
    from goodgain.measures import AP, P, nDCG

    result = gg.evaluate(QRELS, RUN, [nDCG @ 10, P @ 5, AP(rel=2)])
    assert result[nDCG @ 10] == result["nDCG@10"]
    assert (nDCG(dcg="exp-log2") @ 10).get("gain") == "exp"
    assert str(gg.nDCG(gain="exp") @ 10) == "nDCG(gain=exp)@10"


def test_08_ir_measures_calls_calc_aggregate():
    assert "use evaluate(qrels, run, measures)" in hint_of(
        lambda: gg.calc_aggregate, AttributeError
    )
    assert "per_query" in hint_of(lambda: gg.iter_calc, AttributeError)
    per_query = gg.evaluate(QRELS, RUN, "AP").per_query
    assert set(per_query["run"]) == {"q_1", "q_2"}


def test_09_pytrec_eval_makes_an_evaluator():
    assert "goodgain.compat.pytrec_eval" in hint_of(lambda: gg.RelevanceEvaluator, AttributeError)
    evaluator = gg.Evaluator(QRELS, {"map", "ndcg"})
    assert set(evaluator.evaluate(RUN)) == {"map", "ndcg"}


def test_10_trec_eval_names_of_measures():
    names = "ndcg_cut_10 P_5 recip_rank map num_rel_ret"
    assert list(gg.evaluate(QRELS, RUN, names)) == names.split()
    assert "did you mean" in hint_of(lambda: gg.evaluate(QRELS, RUN, "nDGC@10"))


def test_11_arguments_in_the_wrong_order():
    assert "evaluate(qrels, runs)" in hint_of(lambda: gg.evaluate(RUN, QRELS, "map"))
    assert "evaluate(qrels, runs)" in hint_of(lambda: gg.evaluate(gg.Run(RUN), gg.Qrels(QRELS)))
    assert gg.evaluate(gg.Qrels(RUN), gg.Run(QRELS), "map").names == ("run",)


def test_12_results_as_frames_and_files(tmp_path):
    result = gg.evaluate(QRELS, {"a": RUN, "b": OTHER}, "map mrr")
    assert "use to_pandas()" in hint_of(lambda: result.to_df(), AttributeError)
    assert len(result.to_pandas()) == 8
    result.save(tmp_path / "r.json")
    assert gg.load(tmp_path / "r.json").means == result.means
    assert "use measures" in hint_of(lambda: result.metrics, AttributeError)


def test_two_lists_do_not_need_tables():
    assert gg.ndcg([3, 2, 3, 0, 1, 2], k=5) == gg.ndcg([3, 2, 3, 0, 1, 2], 5, gain="exp")
    # The function form is exponential over its own ideal; the measure is linear over the judged one.
    judged = {"q": {"a": 3, "b": 2, "c": 3}}
    ranked = {"q": {"b": 2.0, "a": 1.0}}
    measure = gg.evaluate(judged, ranked, "nDCG@2")["nDCG@2"]
    assert gg.ndcg([2, 3], 2) != pytest.approx(measure)
    assert gg.ndcg([2, 3], 2, gain="linear", ideal=[3, 2, 3]) == pytest.approx(measure, abs=1e-15)
    assert "ideal=[3, 2, 1]" in hint_of(lambda: gg.ndcg([1], ideal="judged"))
