"""Agreement and corrected means, against scikit-learn, krippendorff, scipy, publications and by hand."""

import csv
import math
from pathlib import Path

import numpy as np
import pytest

from goodgain.errors import GoodgainError
from goodgain.labels import Store, Vote, label
from goodgain.labels.calibration import calibrate
from goodgain.ranking import evaluate
from goodgain.stats import agreement

PUBLISHED = Path(__file__).parents[3] / "shared" / "data" / "llm_labels"
needs_published = pytest.mark.skipif(
    not PUBLISHED.exists(), reason="the LLMJudge labels are not on this machine"
)
SUBMISSIONS = [
    "NISTRetrieval-instruct0", "NISTRetrieval-reason0", "Olz-exp", "Olz-multiprompt", "RMITIR-llama38b",
    "TREMA-CoT", "TREMA-naiveBdecompose", "TREMA-questions", "h2oloo-fewself", "prophet-setting1",
    "willia-umbrela1",
]  # fmt: skip


def random_labels(seed: int, grades: int = 5, queries: int = 12) -> tuple[dict, dict]:
    generator = np.random.default_rng(seed)
    human = {
        f"q{q}": {
            f"d{d}": int(generator.integers(grades)) for d in range(int(generator.integers(1, 20)))
        }
        for q in range(queries)
    }
    judge = {
        q: {d: int(np.clip(g + generator.integers(-1, 2), 0, grades - 1)) for d, g in docs.items()}
        for q, docs in human.items()
    }
    return human, judge


def flat(human: dict, judge: dict) -> tuple[list[int], list[int]]:
    pairs = [
        (g, judge[q][d])
        for q, docs in human.items()
        for d, g in docs.items()
        if d in judge.get(q, {})
    ]
    return [p[0] for p in pairs], [p[1] for p in pairs]


@pytest.mark.parametrize("seed", range(5))
def test_agreement_equals_scikit_learn_and_krippendorff(seed: int) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    krippendorff = pytest.importorskip("krippendorff")
    human, judge = random_labels(seed)
    x, y = flat(human, judge)
    result = calibrate(human, judge, resamples=50)
    assert result.matrix == tuple(map(tuple, metrics.confusion_matrix(x, y).tolist()))
    assert result["Cohen's kappa"].value == pytest.approx(
        metrics.cohen_kappa_score(x, y), abs=1e-12
    )
    quadratic = metrics.cohen_kappa_score(x, y, weights="quadratic")
    assert result["quadratic kappa"].value == pytest.approx(quadratic, abs=1e-12)
    alpha = krippendorff.alpha([x, y], level_of_measurement="ordinal")
    assert result["Krippendorff's alpha"].value == pytest.approx(alpha, abs=1e-12)
    assert result["exact agreement"].value == pytest.approx(metrics.accuracy_score(x, y))
    assert result["agreement within 1"].value == pytest.approx(
        np.mean(np.abs(np.subtract(x, y)) <= 1)
    )
    bad, good = np.array(x) < 2, np.array(y) >= 2
    assert result["false-good rate"].value == pytest.approx(good[bad].mean())
    assert result["missed-good rate"].value == pytest.approx((~good[~bad]).mean())
    assert all(f.low <= f.value <= f.high for f in result.figures if f.name != "exact agreement")


@pytest.mark.parametrize("seed", range(5))
def test_tau_equals_scipy(seed: int) -> None:
    stats = pytest.importorskip("scipy.stats")
    generator = np.random.default_rng(seed)
    x, y = generator.integers(0, 6, (2, 15)).astype(float)
    assert agreement.kendall_tau(x, y) == pytest.approx(stats.kendalltau(x, y).statistic, abs=1e-12)
    assert math.isnan(agreement.kendall_tau(np.ones(4), x[:4]))


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_systems_comes_from_both_evaluations(seed: int) -> None:
    stats = pytest.importorskip("scipy.stats")
    human, judge = random_labels(seed)
    generator = np.random.default_rng(seed)
    runs = [
        {
            q: {d: float(g + generator.normal(0, noise)) for d, g in docs.items()}
            for q, docs in human.items()
        }
        for noise in (0.2, 0.5, 1.0, 2.0, 4.0)
    ]
    result = calibrate(human, judge, runs, "nDCG@5", resamples=50)
    named = {f"r{i}": run for i, run in enumerate(runs)}
    means = [
        [r["nDCG@5"] for r in evaluate(table, named, "nDCG@5").runs] for table in (human, judge)
    ]
    figure = result["Kendall's tau of systems by nDCG@5"]
    assert figure.value == pytest.approx(stats.kendalltau(*means).statistic)
    assert figure.low <= figure.value <= figure.high
    assert figure.n == 5
    assert [c.human for c in result.corrected] == pytest.approx(means[0])
    assert [c.labels for c in result.corrected] == pytest.approx(means[1])


def test_a_hand_worked_matrix() -> None:
    # 20 pairs, both raters 0 or 1: 8 agree on 0, 6 on 1, 4 are good for the judge only, 2 for the human only.
    pairs = [(0, 0)] * 8 + [(1, 1)] * 6 + [(0, 1)] * 4 + [(1, 0)] * 2
    human = {"q": {f"d{i}": h for i, (h, _) in enumerate(pairs)}}
    judge = {"q": {f"d{i}": j for i, (_, j) in enumerate(pairs)}}
    result = calibrate(human, judge, threshold=1)
    # po = 14/20; pe = (12*10 + 8*10)/400 = 1/2; kappa = (0.7 - 0.5)/0.5
    assert result["Cohen's kappa"].value == pytest.approx(0.4)
    assert result["false-good rate"].value == pytest.approx(4 / 12)
    assert result["missed-good rate"].value == pytest.approx(2 / 8)
    # coincidences: 22 zeros, 18 ones, 12 of 40 disagree; alpha = 1 - 39 * 12 / (2 * 22 * 18)
    assert result["Krippendorff's alpha"].value == pytest.approx(1 - 39 * 12 / (2 * 22 * 18))
    assert math.isnan(result["Cohen's kappa"].low)  # one query has no variance over queries


def test_human_queries_correct_the_mean_over_all() -> None:
    human, judge = random_labels(4, queries=60)
    kind = {q: {d: min(4, g + 1) for d, g in docs.items()} for q, docs in judge.items()}
    run = {q: {d: float(len(d) + i % 3) for i, d in enumerate(docs)} for q, docs in human.items()}
    some = dict(list(human.items())[:40])
    result = calibrate(some, kind, [run], "DCG@5", resamples=20, design="queries")
    (corrected,) = result.corrected
    assert (corrected.judged, corrected.units, corrected.queries) == (40, "queries", 60)
    truth = evaluate(human, run, "DCG@5")["DCG@5"]
    y = np.array(evaluate(some, run, "DCG@5").runs[0].column("DCG@5"))
    both = np.array(evaluate(kind, run, "DCG@5").runs[0].column("DCG@5"))
    slope = np.cov(y, both[:40])[0, 1] / np.var(both[:40], ddof=1)
    assert corrected.weight == pytest.approx(slope)
    assert corrected.corrected == pytest.approx(y.mean() + slope * (both.mean() - both[:40].mean()))
    assert corrected.low < corrected.corrected < corrected.high
    assert abs(corrected.corrected - truth) < abs(corrected.labels - truth)


def test_undefined_values_stay_undefined() -> None:
    human = {"q1": {"a": 1}, "q2": {"b": 1}}
    runs = [{"q1": {"a": 1.0}, "q2": {"b": 1.0}}, {"q1": {"a": 2.0}}]
    result = calibrate(human, human, runs, "Accuracy", resamples=20)
    assert math.isnan(result["Kendall's tau of systems by Accuracy"].value)
    assert all(math.isnan(c.corrected) and math.isnan(c.human) for c in result.corrected)
    assert "-" in str(result)


def test_failures_and_canaries_are_reported_but_are_not_pairs() -> None:
    gains = {"a": 3, "b": 9}
    labels = label(
        [("q", d, "what?", d) for d in "ab"], lambda r: gains.get(r.document, 4), canaries=1
    )
    result = calibrate({"q": {"a": 3, "b": 0, "c": 1}}, labels)
    assert (result.pairs, result.failed, result.not_labelled) == (1, 1, 1)
    assert result.canaries == (
        ("injection", 1, 1), ("known", 1, 1), ("praise", 1, 1), ("stuffing", 1, 1),
    )  # fmt: skip
    assert len(result.warnings()) == 3
    assert "fooled the judge" in result.warnings()[2]
    assert "canary" in str(result)
    assert result.to_dict()["format"] == 2
    with pytest.raises(GoodgainError, match="no pair"):
        calibrate({"q": {"x": 1}}, labels)


def test_a_calibration_is_a_mapping_of_its_figures() -> None:
    human, judge = random_labels(1)
    result = calibrate(human, judge, resamples=20)
    assert list(result) == result.keys() == [figure.name for figure in result.figures]
    assert dict(result)["Cohen's kappa"] is result["Cohen's kappa"]
    assert len(result) == len(result.figures) == 8
    assert "Cohen's kappa" in result
    with pytest.raises(
        KeyError, match="unknown figure 'kappa'; available figures: exact agreement"
    ):
        result["kappa"]


@needs_published
@pytest.mark.parametrize("name", SUBMISSIONS)
def test_the_published_agreement_is_reproduced(name: str) -> None:
    with (PUBLISHED / "published_agreement.tsv").open() as file:
        published = next(r for r in csv.DictReader(file, delimiter="\t") if r["submission"] == name)
    human, judge = (
        PUBLISHED / "llmjudge_test_qrel_idx.txt",
        PUBLISHED / "llm_scores" / f"{name}.txt",
    )
    result = calibrate(human, judge, resamples=20)
    assert result.pairs == 4423
    assert round(result["Cohen's kappa"].value, 4) == float(published["kappa"])
    assert round(result["Krippendorff's alpha"].value, 4) == float(published["alpha"])
    for good, column in ((1, "kappa_0_123"), (2, "kappa_01_23"), (3, "kappa_012_3")):
        grades, counts = np.array(result.grades), np.array(result.matrix, float)
        places = np.searchsorted([good], grades, side="right")
        binary = np.zeros((2, 2))
        np.add.at(binary, (places[:, None], places[None, :]), counts)
        value = float(agreement.kappa(binary, np.array([0.0, 1.0])))
        assert round(value, 4) + 0.0 == float(published[column])


def test_labels_outside_the_scale_are_used_as_they_are() -> None:
    human = {"q0": {"a": 0, "b": 3, "c": 1}, "q1": {"a": 2, "b": 0}}
    judge = {"q0": {"a": 0, "b": 3, "c": 10}, "q1": {"a": 2, "b": 0}}
    assert calibrate(human, judge, resamples=20).grades == (0, 1, 2, 3, 10)


# --- a declared scale ---


@pytest.mark.parametrize("seed", range(3))
def test_kappa_at_the_threshold_equals_scikit_learn(seed: int) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    human, judge = random_labels(seed)
    x, y = flat(human, judge)
    for threshold in (1, 2, 3.5):
        result = calibrate(human, judge, threshold=threshold, resamples=50, scale="0..4")
        good = [[v >= threshold for v in side] for side in (x, y)]
        assert result["kappa at the threshold"].value == pytest.approx(
            metrics.cohen_kappa_score(*good)
        )
        assert len(result.matrix) == 5


def test_labels_outside_the_scale_are_refused_or_clipped_and_counted() -> None:
    human = {"q1": {"a": 4, "b": -2, "c": 0}, "q2": {"a": 3}}
    judge = {"q1": {"a": 5, "b": 0, "c": 1}, "q2": {"a": 9}}
    with pytest.raises(
        GoodgainError, match="human label -2 of query 'q1', document 'b' is outside"
    ):
        calibrate(human, judge, scale="0..4")
    with pytest.raises(
        GoodgainError, match="judge's label 5 of query 'q1', document 'a' is outside"
    ):
        calibrate({"q1": {"a": 4}}, judge, scale=(0, 4))
    result = calibrate(human, judge, {"r": {"q1": {"a": 1.0}}}, scale="0-4", outside="clip")
    assert result.clipped == (1, 2)
    assert result.scale == (0, 4)
    assert result.grades == (0, 1, 2, 3, 4)
    assert result["exact agreement"].value == 2 / 4
    assert "clipped 1 human label and 2 judge's labels to the scale 0 to 4" in result.warnings()
    again = type(result).from_dict(result.to_dict())
    assert (again.scale, again.clipped) == (result.scale, result.clipped)
    plain = calibrate(human, judge)
    assert (plain.scale, plain.clipped) == (None, (0, 0))
    assert plain.grades == (-2, 0, 1, 3, 4, 5, 9)


@pytest.mark.parametrize("scale", ["4..0", "0", "a..b", (1,), (0, math.inf), "1..1"])
def test_a_scale_needs_two_ends(scale: object) -> None:
    with pytest.raises(GoodgainError, match="the scale must be its lowest and its highest gain"):
        calibrate({"q": {"a": 1}}, {"q": {"a": 1}}, scale=scale)  # type: ignore[arg-type]


def test_a_threshold_divides_the_scale() -> None:
    pair = {"q": {"a": 1}}
    with pytest.raises(GoodgainError, match="threshold 5 does not divide the scale 0 to 4"):
        calibrate(pair, pair, scale="0..4", threshold=5)
    with pytest.raises(GoodgainError, match="invalid outside='drop'"):
        calibrate(pair, pair, outside="drop")  # type: ignore[arg-type]


def test_too_few_queries_have_no_interval() -> None:
    human, judge = random_labels(1, queries=4)
    assert math.isnan(calibrate(human, judge)["Cohen's kappa"].low)
    human, judge = random_labels(1, queries=8)
    assert not math.isnan(calibrate(human, judge)["Cohen's kappa"].low)


def test_labels_that_were_changed_after_the_judges_label_was_visible_are_said(tmp_path):
    from goodgain.labels import Store
    from goodgain.labels.people import REVISED, Vote

    judge = {f"q{q}": {f"d{d}": d % 5 for d in range(6)} for q in range(4)}
    with Store(tmp_path / "labels.db") as store:
        votes = [
            Vote(annotator="ann", query=q, doc=d, gain=g, low=0, high=4, source="page 1")
            for q, docs in judge.items()
            for d, g in docs.items()
        ]
        store.add_votes(votes)
        assert calibrate(store, judge).revised == 0
        changed = Vote(
            annotator="ann", query="q0", doc="d1", gain=4, low=0, high=4, source=f"{REVISED} 2"
        )
        store.add_votes([changed])
        result = calibrate(store, judge)
    assert result.revised == 1
    assert any("1 label was changed by people who had seen" in text for text in result.warnings())


def test_labels_are_not_compared_with_themselves(tmp_path: Path) -> None:
    """A store without votes has no people: agreement with itself would be perfect, and says nothing."""
    pairs = [("q", f"d{i}", "what?", f"text {i}") for i in range(6)]
    with Store(tmp_path / "s.db") as store:
        labels = label(pairs, lambda request: int(request.document[-1]) % 5, store, name="one")
        for human in (store, str(tmp_path / "s.db"), labels):
            with pytest.raises(GoodgainError, match="both sides are the labels of one"):
                calibrate(human, store, resamples=2)
        label(pairs, lambda request: 3, tmp_path / "other.db", name="two")
        result = calibrate(tmp_path / "other.db", store, resamples=2)
        assert result.human_model == "two"
        assert result.warnings()[0].startswith(
            "labels of the model 'two' are used in place of people's"
        )
        assert type(result).from_dict(result.to_dict()).human_model == "two"
        for name, gain in (("ann", 1), ("bob", 3)):
            store.add_votes([Vote(annotator=name, query="q", doc="d1", gain=gain, low=0, high=4)])
        result = calibrate(store, store, resamples=2)
        assert (
            "1 document has several votes; the label is that of people by majority"
            in result.warnings()
        )
    with Store(tmp_path / "people.db") as store:
        store.add_votes([Vote(annotator="ann", query="q", doc="d1", gain=1, low=0, high=4)])
        with pytest.raises(GoodgainError, match="both sides are the labels of people by majority"):
            calibrate(store, store, resamples=2)
