"""No consumer may take better for worse: direction comes from the measure, and a user's word wins."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import goodgain as gg
from goodgain.comparison.pairing import choose_columns
from goodgain.comparison.scores import ScoreSet, collect
from goodgain.measures import column_measure, definitions, register
from goodgain.measures import registry as measures_registry
from goodgain.measures.grammar import make
from goodgain.stats.pareto import pareto_front

UNITS = [f"u{i}" for i in range(12)]


def every_measure():
    """One measure of every definition, with a cut-off where it needs one."""
    measures = []
    for d in definitions():
        cutoff = {"required": 10, "recall": 0.5}.get(d.cutoff)
        measures.append(make(d, {}, cutoff))
    measures += [
        column_measure("score_of_mine"),
        column_measure("wer", "lower"),
        column_measure("time_saved", "higher"),
        column_measure("latency_ms"),
        column_measure("loss ↓"),
    ]
    return measures


MEASURES = every_measure()


def better_by(measure, step=0.1):
    """Values of a baseline, and of a system that is better on every query."""
    rng = np.random.default_rng(7)
    base = {u: float(v) for u, v in zip(UNITS, 0.4 + 0.2 * rng.random(len(UNITS)), strict=True)}
    new = {u: v + measure.sign * (step + 0.01 * rng.random()) for u, v in base.items()}
    return base, new


@pytest.mark.parametrize("measure", MEASURES, ids=lambda m: f"{m.namespace}:{m}")
def test_better_is_never_reported_as_worse(measure):
    base, new = better_by(measure)
    source = {"base": {measure: base}, "new": {measure: new}}
    compared = gg.compare(source, measures=measure)
    (pair,) = compared.pairs
    assert pair.measure == measure
    assert pair.improvement > 0
    if pair.test != "randomisation":  # a percentile has no wins per query
        assert (pair.wins, pair.losses) == (len(UNITS), 0)
    assert compared.verdict(pair) == "better"
    assert pair.side_by_side().value == 1 and pair.gsb == 1
    # The terminal marks the better system, and the arrow shows the direction.
    head = next(line for line in str(compared).splitlines() if line.startswith("system"))
    assert ("↓" in head) == measure.lower_is_better
    html = compared._repr_html_()
    assert html.index("<b>") > html.index("new")
    loaded = gg.Comparison.from_dict(json.loads(compared.to_json()))
    assert loaded.pairs[0].improvement == pair.improvement
    assert loaded.measures[0].direction == measure.direction
    assert loaded.measures[0].namespace == measure.namespace


@pytest.mark.parametrize("measure", MEASURES, ids=lambda m: f"{m.namespace}:{m}")
def test_the_gate_goes_by_the_direction(measure):
    base, new = better_by(measure)
    if measure.get("stat") not in (None, "mean") or measure.definition.aggregate == "geometric":
        pytest.skip("the gate tests means")
    passed = gg.gate({"base": {measure: base}, "new": {measure: new}}, measures=measure)
    assert passed and passed.checks[0].verdict == "no worse" and not passed.losses
    failed = gg.gate({"new": {measure: new}, "base": {measure: base}}, measures=measure)
    assert not failed and failed.checks[0].verdict == "worse"
    assert len(failed.losses) == 10


@pytest.mark.parametrize("measure", MEASURES, ids=lambda m: f"{m.namespace}:{m}")
def test_pareto_goes_by_the_direction(measure):
    base, new = better_by(measure)
    means = {"base": sum(base.values()), "new": sum(new.values())}
    front = {
        t.system: t.on_front
        for t in pareto_front(means, {"base": 1.0, "new": 1.0}, measure.lower_is_better)
    }
    assert front == {"base": False, "new": True}


@given(st.integers(0, 2**32), st.sampled_from(MEASURES))
def test_small_improvements_on_random_scores(seed, measure):
    rng = np.random.default_rng(seed)
    base = {u: float(v) for u, v in zip(UNITS, rng.random(len(UNITS)), strict=True)}
    new = {u: v + measure.sign * float(rng.random()) * 1e-3 for u, v in base.items()}
    source = {"base": {measure: base}, "new": {measure: new}}
    (pair,) = gg.compare(source, measures=measure).pairs
    assert pair.improvement >= 0 and pair.losses == 0
    assert gg.compare(source, measures=measure).verdict(pair) != "worse"


# --- the seams that were wrong in version 0.1 ---


def conversation(name, repeats, system, gains=True):
    """One search with three results, then one that repeats `repeats` of them; the same gains."""
    results = [
        {"ids": {"file_id": f"{name}-{i}"}, "type": "file", "title": f"t{i}"} for i in range(6)
    ]
    if gains:
        for i, r in enumerate(results):
            r["gain"] = 3 if i < 3 else 0
    second = [*results[:repeats], *results[3 : 6 - repeats]]
    return {
        "conversation": name,
        "system": system,
        "turns": [
            {
                "user": "x",
                "iterations": [
                    {"searches": [{"query": "a", "results": results[:3]}]},
                    {"searches": [{"query": "a" if repeats else "b", "results": second}]},
                ],
            }
        ],
    }


def agents(gains=True, count=10):
    return gg.good_gain(
        [
            conversation(f"c{i}", repeats, system, gains)
            for system, repeats in (("old", 0), ("new", 2))
            for i in range(count)
        ]
    )


@pytest.mark.parametrize("measure", ["SRR", "Dup", "DupR@i", "DupR", "RepeatedQueries", "SRR@i"])
def test_more_redundancy_is_worse(measure):
    result = agents()
    gated = gg.gate(result, measures=measure)
    assert not gated and gated.checks[0].verdict == "worse"
    assert gated.checks[0].lower_is_better
    (pair,) = gg.compare(result, measures=measure).pairs
    assert pair.losses == 10 and pair.wins == 0 and pair.improvement < 0
    assert gg.gate(result, baseline="new", candidate="old", measures=measure)


@pytest.mark.parametrize("measure", ["WastedSearches", "IterationsForAllGoodResults"])
def test_waste_and_delay_are_worse(measure):
    def slow(name, system, late):
        good = {"ids": {"file_id": f"{name}-g"}, "type": "file", "gain": 4}
        bad = {"ids": {"file_id": f"{name}-b"}, "type": "file", "gain": 0}
        order = [bad, good] if late else [good]
        return {
            "conversation": name,
            "system": system,
            "turns": [
                {
                    "user": "x",
                    "iterations": [
                        {"searches": [{"query": str(i), "results": [r]}]}
                        for i, r in enumerate(order)
                    ],
                }
            ],
        }  # fmt: skip

    result = gg.good_gain(
        [slow(f"c{i}", s, late) for s, late in (("old", False), ("new", True)) for i in range(8)]
    )
    (pair,) = gg.compare(result, measures=measure).pairs
    assert pair.losses == 8 and pair.improvement < 0
    assert not gg.gate(result, measures=measure)


def test_an_agents_cg_is_not_the_cg_of_a_ranking():
    agentic = agents()
    ranked = gg.evaluate({"c0": {"a": 1}}, {"c0": {"a": 1.0}}, "CG")
    assert agentic["old"].measure("CG").namespace == "agentic"
    assert ranked.measures[0].namespace == "ranked"
    with pytest.raises(
        gg.GoodgainError, match="'CG' is an agentic measure in one source and a ranked"
    ):
        gg.compare(agentic, ranked)


ROWS = [
    {"system": s, "query": f"q{i}", "wer": w + i / 100, "time_saved": t - i / 100}
    for s, w, t in (("bad", 0.5, 0.1), ("good", 0.2, 0.4))
    for i in range(10)
]


def test_a_users_word_about_direction_wins():
    stated = gg.compare(ROWS, lower_is_better=["wer"], higher_is_better=["time_saved"])
    assert stated["good", "wer"].improvement > 0
    assert stated["good", "time_saved"].improvement > 0
    assert "wer ↓" in str(stated) and "time_saved ↓" not in str(stated)
    assert not any("assumed" in w for w in stated.warnings())
    turned = gg.compare(ROWS, lower_is_better=["time_saved"], measures="time_saved")
    assert turned["good", "time_saved"].improvement < 0
    # Even a measure of the registry.
    scores = {"a": {"AP": {"q1": 0.1, "q2": 0.2}}, "b": {"AP": {"q1": 0.3, "q2": 0.5}}}
    assert gg.compare(scores, lower_is_better=["AP"])["b", "AP"].improvement < 0
    assert gg.gate(ROWS, measures="wer", lower_is_better=["wer"])
    assert not gg.gate(ROWS, measures="wer", higher_is_better=["wer"])


def test_an_assumed_direction_is_said():
    compared = gg.compare(ROWS)
    assert any(
        "higher is assumed to be better for wer, time_saved" in w for w in compared.warnings()
    )
    with pytest.raises(gg.GoodgainError, match="both"):
        gg.compare(ROWS, lower_is_better=["wer"], higher_is_better=["wer"])
    with pytest.raises(gg.GoodgainError, match="no measure 'cer'"):
        gg.compare(ROWS, lower_is_better=["cer"])


def test_files_state_directions(tmp_path):
    wide = tmp_path / "wide.csv"
    wide.write_text(
        "system,query,wer ↓\n" + "".join(f"{r['system']},{r['query']},{r['wer']}\n" for r in ROWS)
    )
    assert gg.compare(wide)["good", "wer ↓"].improvement > 0
    long = tmp_path / "long.csv"
    long.write_text(
        "system,query,measure,value,direction\n"
        + "".join(f"{r['system']},{r['query']},wer,{r['wer']},lower\n" for r in ROWS)
    )
    assert gg.compare(long)["good", "wer"].improvement > 0
    saved = tmp_path / "saved.json"
    gg.compare(ROWS, lower_is_better=["wer"]).save(saved)
    assert gg.load(saved)["good", "wer"].lower_is_better


def test_columns_of_time_and_cost_are_known_by_their_whole_name():
    for name in ("latency", "latency_ms", "Latency", "cost_usd", "duration", "tokens"):
        assert column_measure(name).lower_is_better and column_measure(name).is_cost, name
    for name in ("time_saved", "latency_score", "cost_efficiency", "tokens_correct"):
        assert not column_measure(name).lower_is_better, name
        assert column_measure(name).direction_assumed, name


def test_registered_measures_carry_their_direction(monkeypatch):
    for name in ("_tables", "_names"):
        table = getattr(measures_registry, name)
        monkeypatch.setitem(table, "custom", dict(table["custom"]))
    register("junk", lambda gains: float(np.isnan(gains).sum()), lower_is_better=True)
    qrels = {f"q{i}": {"a": 1} for i in range(6)}
    clean = {q: {"a": 1.0} for q in qrels}
    dirty = {q: {"a": 1.0, "x": 0.5} for q in qrels}
    compared = gg.compare(qrels, {"clean": clean, "dirty": dirty}, "junk")
    assert compared["dirty", "junk"].improvement < 0
    data = json.loads(compared.to_json())
    monkeypatch.setitem(measures_registry._tables, "custom", {})
    monkeypatch.setitem(measures_registry._names, "custom", {})
    again = gg.Comparison.from_dict(data)
    assert again["dirty", "junk"].improvement < 0 and again.measures[0].namespace == "custom"


def test_time_and_cost_are_corrected_apart():
    rows = [
        {"system": s, "query": f"q{i}", "AP": v + (i % 3) / 20, "latency": 1.0 + i / 10}
        for s, v in (("a", 0.3), ("b", 0.33))
        for i in range(20)
    ]
    alone = gg.compare(rows, measures="AP")["b", "AP"]
    beside = gg.compare(rows)["b", "AP"]
    assert beside.p_corrected == alone.p_corrected
    assert beside.minimum_detectable == alone.minimum_detectable


def test_power_is_that_of_the_corrected_level():
    rng = np.random.default_rng(1)
    rows = [
        {"system": s, "query": f"q{i}", "x1": rng.random(), "x2": rng.random()}
        for s in ("a", "b", "c")
        for i in range(25)
    ]
    one = gg.compare(rows, measures="x1", correction="none")["b", "x1"]
    four = gg.compare(rows, measures="x1 x2")["b", "x1"]
    assert four.minimum_detectable > one.minimum_detectable


# --- a verdict needs evidence ---


def test_no_label_no_pass():
    unlabelled = agents(gains=False)
    gated = gg.gate(unlabelled, measures="CG")
    assert not gated
    assert gated.checks[0].verdict == "no evidence"
    assert "no result of old and new is labelled" in gated.sentence
    with pytest.raises(gg.GoodgainError, match="no result of 'old' is labelled"):
        gg.compare(unlabelled, measures="CG")
    # By default what needs no labels is compared, and the rest is said.
    compared = gg.compare(unlabelled)
    assert "SRR" in compared.measures and "CG" not in compared.measures
    assert any("nothing is labelled" in w for w in compared.warnings())
    assert not gg.gate(unlabelled)


def test_nothing_measured_is_no_evidence():
    qrels = {f"q{i}": {"a": 1} for i in range(10)}
    nothing = {q: {"x": 1.0} for q in qrels}
    gated = gg.gate(qrels, {"old": nothing, "new": nothing}, "nDCG@10")
    assert not gated and gated.checks[0].verdict == "no evidence"
    assert "no retrieved document of old and new is judged" in gated.sentence
    judged = {q: {"a": 1, "x": 0} for q in qrels}
    zero = gg.gate(judged, {"old": nothing, "new": nothing}, "nDCG@10")
    assert not zero and "every value of both systems is 0" in zero.sentence
    undefined = gg.gate(
        {"a": {"m": {"q": float("nan")}}, "b": {"m": {"q": float("nan")}}}, measures="m"
    )
    assert not undefined and "undefined for all of a" in undefined.sentence


def test_missing_labels_that_allow_the_other_verdict():
    def trace(name, system, gain):
        known = {"ids": {"file_id": f"{name}-k"}, "type": "file", "gain": gain}
        unknown = {"ids": {"file_id": f"{name}-{system}-u"}, "type": "file"}
        results = [known, unknown]
        return {
            "conversation": name,
            "system": system,
            "turns": [{"user": "x", "iterations": [{"searches": [{"query": "a", "results": results}]}]}],
        }  # fmt: skip

    def result(labelled):
        traces = [
            trace(f"c{i}", s, g + (i % 2)) for s, g in (("old", 2), ("new", 3)) for i in range(12)
        ]
        if labelled:
            for t in traces:
                t["turns"][0]["iterations"][0]["searches"][0]["results"][1]["gain"] = 0
        return gg.good_gain(traces)

    assert gg.gate(result(True), measures="CG")
    open_ = gg.gate(result(False), measures="CG")
    assert not open_ and open_.checks[0].verdict == "open"
    assert "missing labels allow a difference of -3 to +5" in open_.sentence
    compared = gg.compare(result(False), measures="CG")
    (pair,) = compared.pairs
    assert not pair.settled and compared.verdict(pair) == "open"
    assert (pair.bound_low, pair.bound_high) == (-3, 5)
    assert any("leave the verdict open" in w for w in compared.warnings())
    settled = gg.compare(result(True), measures="CG")
    assert settled.verdict(settled.pairs[0]) == "better"


def test_bounds_of_ranked_runs_enter_as_well():
    qrels = {f"q{i}": {"a": 1, "b": 0} for i in range(12)}
    old = {q: {"b": 3.0 if i % 2 else 1.0, "a": 2.0, "x": 0.5} for i, q in enumerate(qrels)}
    new = {q: {"x": 3.0, "a": 2.0, "b": 1.0} for q in qrels}
    result = gg.evaluate(qrels, {"old": old, "new": new}, "P@1", unjudged="bounds")
    gated = gg.gate(result)
    assert not gated and gated.checks[0].verdict == "open"


def test_agents_without_cost_are_compared_by_default():
    compared = gg.compare(agents())
    assert {"CG", "SRE", "SRR"} <= {m.label for m in compared.measures}
    assert "Cost" not in compared.measures
    assert gg.compare(agents(), measures="CG SRR").measures == ("CG", "SRR")


def test_columns_are_found_by_other_spellings():
    scores = ScoreSet()
    collect(agents(), scores)
    assert [c.key for c in choose_columns(scores, "SRR@i EvidenceRecall R_i R@i")] == [
        "SRR", "EvidenceRecall", "R", "R@i",
    ]  # fmt: skip
    with pytest.raises(gg.GoodgainError, match="no scores for the measure 'nope'"):
        choose_columns(scores, "nope")


def test_a_gate_without_any_measure_fails_and_says_so():
    nothing = {"latency": {"q": float("nan")}}
    gated = gg.gate({"a": nothing, "b": nothing})
    assert not gated and gated.sentence == "FAILED: b against a: no measure has values for both."


def test_a_comparison_cannot_be_compared_again(tmp_path):
    compared = gg.compare(ROWS, lower_is_better=["wer"])
    compared.save(tmp_path / "saved.json")
    for source in (compared, tmp_path / "saved.json"):
        with pytest.raises(gg.GoodgainError, match="a comparison has no scores per query"):
            gg.gate(source)


def test_power_refuses_differences_that_are_equal_up_to_rounding():
    with pytest.raises(gg.GoodgainError, match="all differences are equal"):
        gg.power([0.1 + i / 50 - i / 50 for i in range(8)])
