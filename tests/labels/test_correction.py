"""Corrected means: right for the design of people's labels, or refused."""

import math

import numpy as np
import pytest

from goodgain.errors import GoodgainError
from goodgain.labels import Store, label
from goodgain.labels.calibration import Calibration, calibrate
from goodgain.labels.linear import reach_of
from goodgain.labels.next_label import next_pairs
from goodgain.labels.people import Vote
from goodgain.labels.sampling import draw_sample, read_sample
from goodgain.measures.grammar import parse_all
from goodgain.ranking import evaluate

MEASURES = "P(rel=2)@10 DCG@10"


def world(seed=0, queries=150, docs=12):
    """Labels of people and of a judge that is too kind, for all pairs, and two runs of ten."""
    rng = np.random.default_rng(seed)
    human, judge, runs = {}, {}, {"a": {}, "b": {}}
    for q in range(queries):
        latent = rng.normal(0, 0.7) + rng.normal(0, 1, docs)
        gains = np.digitize(latent, [0, 0.8, 1.5, 2.2])
        kind = np.clip(gains + rng.choice([-1, 0, 0, 0, 1, 1], docs), 0, 4)
        human[f"q{q}"] = {f"d{i}": int(v) for i, v in enumerate(gains)}
        judge[f"q{q}"] = {f"d{i}": int(v) for i, v in enumerate(kind)}
        for name, noise in (("a", 0.5), ("b", 1.5)):
            scores = latent + rng.normal(0, noise, docs)
            runs[name][f"q{q}"] = {f"d{i}": float(scores[i]) for i in np.argsort(-scores)[:10]}
    return human, judge, runs


HUMAN, JUDGE, RUNS = world()
TRUTH = {
    (r.name, m): r[m]
    for r in evaluate(HUMAN, RUNS, f"{MEASURES} nDCG@10").runs
    for m in ("P(rel=2)@10", "DCG@10", "nDCG@10")
}
PAIRS = [(q, d) for q, docs in HUMAN.items() for d in docs]


def random_pairs(seed, count=500):
    rng = np.random.default_rng(seed)
    chosen = {}
    for i in rng.choice(len(PAIRS), count, replace=False):
        q, d = PAIRS[i]
        chosen.setdefault(q, {})[d] = HUMAN[q][d]
    return chosen


def random_queries(seed, count):
    rng = np.random.default_rng(seed)
    return {q: HUMAN[q] for q in rng.choice(list(HUMAN), count, replace=False).tolist()}


def truth_of(corrected):
    against = TRUTH[corrected.baseline, corrected.measure] if corrected.baseline else 0.0
    return TRUTH[corrected.run, corrected.measure] - against


# --- the defect: 500 random pairs over 150 queries were off by 0.5, with 4 % coverage and no warning ---


def test_labels_of_unknown_design_correct_nothing():
    result = calibrate(random_pairs(1), JUDGE, RUNS, f"{MEASURES} nDCG@10", resamples=5)
    assert len(result.corrected) == 6
    for corrected in result.corrected:
        assert math.isnan(corrected.corrected)
        assert math.isnan(corrected.low)
        assert math.isnan(corrected.human)  # no query is judged wholly, and unjudged is not 0
    assert result.design == "unknown"
    (warning,) = [w for w in result.warnings() if "no mean was corrected" in w]
    assert "goodgain labels sample" in warning
    assert "--design" in warning


def test_a_declared_sample_of_pairs_is_unbiased_and_covers():
    errors, covered, total = {}, 0, 0
    for seed in range(40):
        result = calibrate(random_pairs(seed), JUDGE, RUNS, MEASURES, design="pairs", resamples=5)
        for corrected in (*result.corrected, *result.differences):
            truth = truth_of(corrected)
            assert corrected.has_interval
            key = corrected.run, corrected.baseline, corrected.measure
            errors.setdefault(key, []).append(corrected.corrected - truth)
            covered += corrected.low <= truth <= corrected.high
            total += 1
    assert len(errors) == 6
    for own in errors.values():
        assert abs(np.mean(own)) < 4 * np.std(own) / math.sqrt(len(own))
    assert 0.9 <= covered / total <= 0.99


def test_pairs_cannot_correct_what_is_not_a_sum_of_labels():
    result = calibrate(random_pairs(1), JUDGE, RUNS, "nDCG@10 AP R@10", design="pairs", resamples=5)
    assert all(math.isnan(c.corrected) for c in result.corrected)
    assert all("draw whole queries" in c.status for c in result.corrected)
    assert any("nDCG@10 of a: nDCG@10 is not a weighted sum" in w for w in result.warnings())


def test_whole_queries_correct_any_measure():
    covered = total = 0
    for seed in range(30):
        human = random_queries(seed, 50)
        result = calibrate(human, JUDGE, RUNS, "nDCG@10 DCG@10", design="queries", resamples=5)
        for corrected in (*result.corrected, *result.differences):
            if corrected.has_interval:
                truth = truth_of(corrected)
                covered += corrected.low <= truth <= corrected.high
                total += 1
    assert total > 120
    assert 0.88 <= covered / total <= 0.99


def test_everything_judged_needs_no_design():
    result = calibrate(HUMAN, JUDGE, RUNS, "nDCG@10", resamples=5)
    for corrected in result.corrected:
        truth = TRUTH[corrected.run, "nDCG@10"]
        assert corrected.corrected == pytest.approx(truth)
        assert (corrected.low, corrected.high) == (pytest.approx(truth), pytest.approx(truth))
        assert corrected.method == "census"
    wider = calibrate(HUMAN, JUDGE, RUNS, "nDCG@10", resamples=5, generalise=True)
    for corrected in wider.corrected:
        values = np.array(evaluate(HUMAN, RUNS[corrected.run], "nDCG@10").runs[0].column("nDCG@10"))
        half = 1.959964 * values.std(ddof=1) / math.sqrt(len(values))
        assert (corrected.high - corrected.low) / 2 == pytest.approx(half, rel=1e-6)


# --- wholly judged ---


def test_what_wholly_judged_means_for_a_measure_and_a_run():
    human = {"q1": {"a": 1, "b": 0}, "q2": {"a": 1, "b": 0, "c": 1}}
    judge = {q: {"a": 1, "b": 1, "c": 0} for q in ("q1", "q2", "q3")}
    run = {q: {"a": 3.0, "b": 2.0, "c": 1.0} for q in judge}

    def judged(measure, runs=None):
        result = calibrate(human, judge, runs or [run], measure, design="queries", resamples=5)
        return [c.judged for c in result.corrected]

    assert judged("P@2") == [2]  # c is at rank 3
    assert judged("P@3") == [1]
    assert judged("RR@2") == [2]
    assert judged("nDCG@2") == [1]  # c may be the best
    assert judged("R@2") == [1]
    other = {q: {"x": 1.0} for q in judge}  # a document that nobody judged, and the judge neither
    assert judged("P@1", {"one": run, "two": other}) == [2, 0]
    assert judged("nDCG@2", {"one": run, "two": other}) == [0, 0]


def test_a_partly_judged_query_is_bounded_and_never_counts_as_zero():
    human = random_queries(3, 40)
    partly = dict(human)
    query = next(iter(partly))
    partly[query] = dict(list(partly[query].items())[:3])
    (whole, _), (bounded, _) = (
        calibrate(h, JUDGE, RUNS, "P(rel=2)@10", design="queries", resamples=5).corrected
        for h in (human, partly)
    )
    assert (whole.judged, bounded.judged) == (40, 39)
    assert bounded.low < whole.low < whole.high < bounded.high
    assert "1 drawn queries that nobody judged" in bounded.note
    many = {q: dict(list(docs.items())[:3]) for q, docs in human.items()}
    result = calibrate(many, JUDGE, RUNS, "P(rel=2)@10", design="queries", resamples=5)
    assert result.corrected[0].status == "40 of 40 drawn queries are not wholly judged"
    assert math.isnan(result.corrected[0].human)


def test_the_order_of_systems_ignores_queries_that_are_partly_judged():
    partly = {q: dict(list(docs.items())[:4]) for q, docs in HUMAN.items()}
    result = calibrate(partly, JUDGE, RUNS, "nDCG@10", resamples=5)
    assert math.isnan(result["Kendall's tau of systems by nDCG@10"].value)


# --- stored samples ---


def stored(tmp_path):
    judge = {(q, d): g for q, docs in JUDGE.items() for d, g in docs.items()}
    pairs = [(q, d, f"question {q}", f"{q} {d}") for q, d in judge]
    labels = label(pairs, lambda r: judge[tuple(r.document.split())], tmp_path / "labels.db")
    return labels.store


def vote(store, pairs, people=("ann",)):
    store.add_votes(
        Vote(annotator=name, query=q, doc=d, gain=float(HUMAN[q][d]))
        for q, d in pairs
        for name in people
    )


@pytest.mark.parametrize("allocation", ["proportional", "equal"])
def test_a_stratified_sample_is_unbiased_and_covers(tmp_path, allocation):
    store = stored(tmp_path)
    covered, total, errors = 0, 0, []
    for seed in range(25):
        sample = draw_sample(
            store, 300, name=f"s{seed}", by=("label",), allocation=allocation, seed=seed
        )
        human = {}
        for q, d in sample.pairs():
            human.setdefault(q, {})[d] = HUMAN[q][d]
        result = calibrate(human, JUDGE, RUNS, MEASURES, design=sample, resamples=5)
        for corrected in (*result.corrected, *result.differences):
            truth = truth_of(corrected)
            if corrected.has_interval:
                covered += corrected.low <= truth <= corrected.high
                total += 1
        errors.append(result.corrected[0].corrected - truth_of(result.corrected[0]))
    assert abs(np.mean(errors)) < 4 * np.std(errors) / 5
    assert total >= 120
    assert 0.86 <= covered / total <= 0.995


def test_votes_of_a_sample_correct_without_a_word_about_the_design(tmp_path):
    store = stored(tmp_path)
    sample = draw_sample(store, 250, name="first", runs=RUNS, depth=10, seed=4)
    vote(store, sample.pairs(), people=("ann", "bob"))
    vote(
        store, [pair for pair in PAIRS if pair not in set(sample.pairs())][:50]
    )  # not of the sample
    result = calibrate(store, store, RUNS, MEASURES, resamples=5)
    assert result.design == "sample 'first': 250 pairs"
    assert result.votes == "people by majority"
    inside = [d for r in RUNS for q, docs in RUNS[r].items() for d in docs]
    assert inside
    for corrected in result.corrected:
        assert corrected.has_interval
        assert corrected.judged < 250  # documents outside of the first ten do not count
        assert abs(corrected.corrected - truth_of(corrected)) < 4 * (corrected.high - corrected.low)


def test_of_several_samples_one_must_be_chosen(tmp_path):
    store = stored(tmp_path)
    for name in ("first", "second"):
        vote(store, draw_sample(store, 100, name=name, seed=len(name)).pairs())
    result = calibrate(store, store, RUNS, "P@5", resamples=5)
    assert math.isnan(result.corrected[0].corrected)
    assert (
        "the store has the samples 'first', 'second'; choose one with --design"
        in result.warnings()[-1]
    )
    chosen = calibrate(store, store, RUNS, "P@5", resamples=5, design="second")
    assert chosen.design == "sample 'second': 100 pairs"
    assert chosen.corrected[0].has_interval


def test_a_sample_that_is_half_done_is_a_smaller_sample(tmp_path):
    store = stored(tmp_path)
    sample = draw_sample(store, 60, unit="queries", seed=2)
    done = sample.pairs()[: 12 * 45 + 5]
    vote(store, done)
    (corrected, _) = calibrate(store, store, RUNS, "DCG@10", resamples=5).corrected
    assert corrected.judged == 45
    assert corrected.note == "" and corrected.has_interval
    skipped = [pair for pair in done if pair[0] != sample.units[3].query]
    other = Store(tmp_path / "other.db")
    vote(other, skipped)
    (bounded, _) = calibrate(
        other, JUDGE, RUNS, "P(rel=2)@10", design=read_sample(store), resamples=5
    ).corrected
    assert bounded.judged == 44
    assert "that nobody judged" in bounded.note


def test_documents_that_could_not_be_drawn_are_named(tmp_path):
    store = stored(tmp_path)
    sample = draw_sample(store, 100)
    vote(store, sample.pairs())
    runs = {"new": {q: {"new": 9.0, **docs} for q, docs in RUNS["a"].items()}}
    (corrected,) = calibrate(store, store, runs, "P@5", resamples=5).corrected
    assert math.isnan(corrected.corrected)
    assert "150 of 750 documents that count could not be drawn, such as 'new'" in corrected.status


def test_an_unknown_design_is_an_error(tmp_path):
    with pytest.raises(GoodgainError, match="unknown design 'random'") as error:
        calibrate(HUMAN, JUDGE, RUNS, "P@5", design="random")
    assert "declare: queries, pairs, pairs:label" in str(error.value.hint)


def test_too_few_is_said_with_a_number():
    result = calibrate(random_queries(1, 12), JUDGE, RUNS, "nDCG@10", design="queries", resamples=5)
    corrected = result.corrected[0]
    assert math.isnan(corrected.low)
    assert corrected.status == "too few: about 28 more queries"
    assert "too few: about 28 more queries" in str(result)
    assert any(w.endswith("too few: about 28 more queries") for w in result.warnings())
    again = Calibration.from_dict(result.to_dict())
    assert again.to_dict() == result.to_dict()


def test_calibrations_of_version_0_1_load_and_say_what_they_assumed():
    result = calibrate(random_queries(1, 40), JUDGE, RUNS, "DCG@10", design="queries", resamples=5)
    data = result.to_dict() | {"format": 1}
    for name in ("differences", "design", "votes", "generalise"):
        del data[name]
    data["corrected"] = [
        {"run": "a", "measure": "DCG@10", "labels": 0.5, "human": 0.4, "corrected": 0.42, "low": 0.4,
         "high": 0.44, "weight": 0.9, "human_queries": 20, "other_queries": 30}
    ]  # fmt: skip
    (old,) = Calibration.from_dict(data).corrected
    assert (old.corrected, old.low, old.judged, old.queries) == (0.42, 0.4, 20, 50)
    assert "assumed that the judged queries are a random sample" in old.status


def test_the_page_says_too_few_and_shows_differences(tmp_path):
    from goodgain.reports import report_text

    few = calibrate(random_queries(1, 12), JUDGE, RUNS, "nDCG@10", design="queries", resamples=5)
    page = report_text(few)
    assert "too few: about 28 more queries" in page
    assert "b against a" in page
    assert "Corrected differences" in page
    unknown = report_text(calibrate(random_pairs(1), JUDGE, RUNS, "P@5", resamples=5))
    assert "nothing says how the judged documents were chosen" in unknown


def test_a_difference_is_shorter_than_the_intervals_of_its_means():
    result = calibrate(random_queries(5, 60), JUDGE, RUNS, "DCG@10", design="queries", resamples=5)
    (difference,) = result.differences
    assert (difference.run, difference.baseline) == ("b", "a")
    lengths = [c.high - c.low for c in result.corrected]
    assert difference.high - difference.low < min(lengths)
    assert difference.corrected < 0


# --- which measures are sums of labels ---


@pytest.mark.parametrize(
    ("linear", "others"),
    [
        (
            "P@10 P(rel=2)@5 CG@10 DCG@10 DCG(gain=exp)@10 Hit@1 RBP(rel=2)@10 P(denominator=returned)@10",
            "nDCG@10 AP@10 R@10 RR@10 Hit@10 ERR@10 Rprec Bpref infAP RBP@10 Compat RDCGL",
        )
    ],
)
def test_sums_of_labels_are_recognised_by_trying(linear, others):
    grades = [0, 1, 2, 3, 4]
    for measure in parse_all(linear):
        assert reach_of(measure, 10, grades).linear, measure
    for measure in parse_all(others):
        assert not reach_of(measure, 10, grades).linear, measure
    assert reach_of(parse_all("RR@10")[0], 10, grades).local
    assert not reach_of(parse_all("nDCG@10")[0], 10, grades).local
    (dcg,) = parse_all("DCG@3")
    assert reach_of(dcg, 3, grades).weights == pytest.approx([4, 4 / math.log2(3), 2])


def test_a_sample_does_not_leave_out_what_people_judged_beyond_it(tmp_path):
    """Where everything is judged, its mean is known, however the sample was drawn."""
    store = stored(tmp_path)
    for unit, measure in (("queries", "nDCG@10"), ("pairs", "DCG@10")):
        sample = draw_sample(store, 60, unit=unit, name=unit)
        for corrected in calibrate(
            HUMAN, JUDGE, RUNS, measure, design=sample, resamples=5
        ).corrected:
            assert corrected.method == "census"
            assert corrected.low == corrected.high == pytest.approx(truth_of(corrected))
    next_pairs(store, RUNS, count=5, measure="DCG@10", name="steps")
    steps = read_sample(store, "steps")
    (corrected, _) = calibrate(HUMAN, JUDGE, RUNS, "DCG@10", design=steps, resamples=5).corrected
    assert corrected.method == "census"
    assert corrected.corrected == pytest.approx(truth_of(corrected))
