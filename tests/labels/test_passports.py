"""The passport of a judge: what it says, how drift is tested, and where results show it."""

import json
import math
import random
from pathlib import Path
from typing import Any

import pytest

import goodgain as gg
from goodgain.cli import run
from goodgain.errors import GoodgainError
from goodgain.labels import Labels, Pair, Prompt, Store, draw_sample, label
from goodgain.labels.calibration import calibrate
from goodgain.labels.canaries import KNOWN_GOOD, PREFIX, with_canaries
from goodgain.labels.drift import Canary, JudgedPair, drift_tests, fisher
from goodgain.labels.examples import Example, choose_examples, examples_for
from goodgain.labels.passport import Passport, find_passport, make_passport, wilson
from goodgain.labels.people import Vote

QUERIES = [f"q{i}" for i in range(30)]


def collection(seed: int = 1) -> tuple[list[Pair], dict[str, dict[str, int]]]:
    generator = random.Random(seed)
    pairs, human = [], {}
    for query in QUERIES:
        human[query] = {f"d{j}": generator.randrange(5) for j in range(6)}
        pairs += [
            Pair(query, doc, f"what is {query}?", f"{query} {doc} {gain}")
            for doc, gain in human[query].items()
        ]
    return pairs, human


class Noisy:
    """A judge that is off by one with some probability, and that decoys do not fool."""

    def __init__(self, model: str, error: float) -> None:
        self.model, self.error = model, error

    def __call__(self, request: Any) -> int:
        words = request.document.split()
        if len(words) != 3 or not words[2].isdigit():
            return 4 if "harbour" not in request.document and "best" not in words else 0
        generator = random.Random(f"{request.document} {self.model}")
        return min(4, max(0, int(words[2]) + (generator.random() < self.error) * 1))


def passport_of(
    folder: Path, model: str, error: float, earlier: Passport | None = None
) -> Passport:
    pairs, human = collection()
    store = Store(folder / "labels.db")
    labels = label(pairs, Noisy(model, error), store, canaries=5)
    return make_passport(human, labels, calibrate(human, labels), earlier=earlier)


def test_a_passport_says_who_judged_and_how_well(tmp_path: Path) -> None:
    passport = passport_of(tmp_path, "m1", 0.2)
    assert (passport.model, passport.prompt) == ("m1", Prompt.of(None).version)
    assert passport.prompt_text is not None and "fully answers" in passport.prompt_text["system"]
    assert passport.pairs == len(passport.judged) == 180
    kappa = next(f for f in passport.figures if f["name"] == "quadratic kappa")
    assert kappa["low"] < kappa["value"] < kappa["high"] and kappa["n"] == 180
    assert {(c.kind, c.good, c.labelled, c.right) for c in passport.canaries} == {
        ("stuffing", False, 5, 5), ("injection", False, 5, 5), ("praise", False, 5, 5),
        ("known", True, 5, 5),
    }  # fmt: skip
    assert passport.labelled[0] <= passport.labelled[1]
    assert "quadratic kappa with people" in passport.render()
    path = tmp_path / "m1.passport.json"
    passport.save(path)
    assert Passport.load(path) == passport
    saved = json.loads(path.read_text())
    assert (saved["goodgain"], saved["format"]) == ("passport", 1)


def test_a_changed_judge_has_drifted(tmp_path: Path) -> None:
    before = passport_of(tmp_path, "m1", 0.05)
    after = passport_of(tmp_path, "m2", 0.6, before)
    assert after.drift is not None
    assert after.drift.changes == (("model", "m1", "m2"),)
    assert after.drift.shared == 180 and after.drift.relabelled > 50
    kappa = next(t for t in after.drift.tests if t.name == "quadratic kappa")
    assert (
        kappa.high < 0
        and kappa.p < 0.05
        and kappa.difference == pytest.approx(kappa.after - kappa.before)
    )
    assert "drift against" in after.drift.sentence() and "changed: model" in after.drift.sentence()
    assert Passport.from_dict(json.loads(after.to_json())).to_json() == after.to_json()


def test_an_unchanged_judge_has_not_drifted(tmp_path: Path) -> None:
    before = passport_of(tmp_path, "m1", 0.3)
    again = passport_of(tmp_path, "m1", 0.3, before)
    assert again.drift is not None
    assert (again.drift.changed, again.drift.relabelled) == ((), 0)
    assert all(t.difference == 0 and t.p == 1 for t in again.drift.tests if t.p == t.p)
    assert again.drift.sentence().startswith("no drift shown against")


def judged(seed: int, queries: int, error: float, offset: int = 0) -> list[JudgedPair]:
    generator = random.Random(seed)
    rows = []
    for i in range(queries):
        for j in range(5):
            human = random.Random(i * 100 + j).randrange(5)
            judge = min(4, human + (generator.random() < error))
            rows.append(JudgedPair(f"q{i + offset}", f"d{j}", human, judge))
    return rows


@pytest.mark.parametrize("offset", [0, 1000])  # the same pairs, or other queries
def test_false_alarms_of_drift_are_rare_and_large_changes_found(offset: int) -> None:
    def found(seed: int, error: float) -> bool:
        before, after = judged(seed, 25, 0.3), judged(seed + 500, 25, error, offset)
        tests = drift_tests(before, after, ((), ()), threshold=2, confidence=0.95, seed=seed)
        return any(t.changed(0.05) for t in tests)

    alarms = sum(found(seed, 0.3) for seed in range(60))
    assert alarms <= 8  # 5 % of 60 is 3; 9 or more has a probability below 0.3 %
    assert sum(found(seed, 0.95) for seed in range(10)) >= 9


def test_drift_of_canaries_is_fishers_test() -> None:
    assert fisher(8, 8, 0, 8) == pytest.approx(2 / math.comb(16, 8))
    assert fisher(3, 5, 3, 5) == 1
    before, after = [Canary("praise", False, 12, 12)], [Canary("praise", False, 12, 2)]
    (test,) = drift_tests([], [], (before, after), threshold=2, confidence=0.95)
    assert (test.before, test.p < 0.001) == (1, True)


def test_fishers_test_equals_scipys() -> None:
    stats = pytest.importorskip("scipy.stats")
    generator = random.Random(4)
    for _ in range(200):
        n, m = generator.randint(1, 12), generator.randint(1, 12)
        a, b = generator.randint(0, n), generator.randint(0, m)
        expected = stats.fisher_exact([[a, n - a], [b, m - b]])[1]
        assert fisher(a, n, b, m) == pytest.approx(expected)


def test_the_interval_of_a_share_is_wilsons() -> None:
    proportion = pytest.importorskip("statsmodels.stats.proportion")
    for right, total in ((0, 5), (3, 9), (8, 8)):
        expected = proportion.proportion_confint(right, total, 0.05, "wilson")
        assert wilson(right, total, 0.95) == pytest.approx(expected, abs=1e-12)


def test_passports_of_other_scales_are_not_compared(tmp_path: Path) -> None:
    pairs, human = collection()
    with Store(tmp_path / "s.db") as store:
        first = label(pairs, Noisy("m", 0), store)
        one = make_passport(human, first, calibrate(human, first))
        two = make_passport(human, first, calibrate(human, first, threshold=3))
        with pytest.raises(GoodgainError, match="threshold"):
            two.compared(one)


# --- results ---


def evaluated(folder: Path) -> Any:
    pairs, human = collection()
    store = Store(folder / "labels.db")
    label(pairs, Noisy("m1", 0.2), store)
    runs = {name: {q: {f"d{j}": float((j * k) % 7) for j in range(6)} for q in QUERIES}
            for name, k in (("a", 1), ("b", 3))}  # fmt: skip
    return store, human, runs


def test_results_show_the_passport_beside_their_numbers(tmp_path: Path) -> None:
    store, human, runs = evaluated(tmp_path)
    bare = gg.evaluate(Labels.of(store), runs, "nDCG@10")
    assert "m1 without a passport" in bare.warnings()[0]
    labels = Labels.of(store)
    passport = make_passport(human, labels, calibrate(human, labels))
    passport.save(tmp_path / "any-name.passport.json")
    match = find_passport(store, labels.setting)
    assert match is not None and match[1] == "any-name.passport.json"
    good = gg.evaluate(Labels.of(store), runs, "nDCG@10")
    assert "quadratic kappa with people" in good.warnings()[0]
    path = tmp_path / "saved.json"
    good.save(path)
    assert gg.load(path).warnings() == good.warnings()
    comparison = gg.compare(good, baseline="a")
    assert "quadratic kappa with people" in comparison.warnings()[0]
    comparison.save(tmp_path / "comparison.json")
    assert gg.load(tmp_path / "comparison.json").warnings() == comparison.warnings()


def test_the_page_shows_the_judge(tmp_path: Path) -> None:
    store, human, runs = evaluated(tmp_path)
    gg.evaluate(Labels.of(store), runs, "nDCG@10").report(tmp_path / "bare.html")
    assert "without a passport" in (tmp_path / "bare.html").read_text()
    labels = Labels.of(store)
    make_passport(human, labels, calibrate(human, labels)).save(tmp_path / "m.passport.json")
    gg.evaluate(Labels.of(store), runs, "nDCG@10").report(tmp_path / "good.html", baseline="a")
    page = (tmp_path / "good.html").read_text()
    assert "without a passport" not in page and "quadratic kappa with people" in page


def test_good_gain_and_traces_show_the_judge(tmp_path: Path) -> None:
    result = {"id": "d1", "snippet": "a text that is long enough to be a result of a search"}
    trace = {"conversation": "c", "turns": [
        {"user": "what?", "iterations": [{"searches": [{"query": "x", "results": [result]}]}]}
    ]}  # fmt: skip
    store = Store(tmp_path / "labels.db")
    label([trace], Noisy("m1", 0), store)
    gain = gg.good_gain([trace], labels=Labels.of(store))
    assert any("m1 without a passport" in w for w in gain.warnings())
    gain.save(tmp_path / "g.json")
    assert any("m1 without a passport" in w for w in gg.load(tmp_path / "g.json").warnings())


def test_judgments_of_people_need_no_passport(tmp_path: Path) -> None:
    _, human, runs = evaluated(tmp_path)
    assert not any("passport" in w for w in gg.evaluate(human, runs, "nDCG@10").warnings())


def test_systems_judged_by_different_judges_are_marked(tmp_path: Path) -> None:
    store, _, runs = evaluated(tmp_path)
    pairs, _ = collection()
    label(pairs, Noisy("m2", 0.5), store)
    one = gg.evaluate(Labels.of(store, model="m1"), {"a": runs["a"]}, "nDCG@10")
    two = gg.evaluate(Labels.of(store, model="m2"), {"b": runs["b"]}, "nDCG@10")
    warnings = gg.compare(one, two, baseline="a").warnings()
    assert any("2 different judges (m1, m2)" in w for w in warnings)


def test_a_damaged_passport_is_none(tmp_path: Path) -> None:
    store, _, runs = evaluated(tmp_path)
    (tmp_path / "x.passport.json").write_text('{"goodgain": "passport", "format": 1')
    (tmp_path / "y.passport.json").write_text('{"goodgain": "passport", "format": 1}')
    assert "without a passport" in gg.evaluate(Labels.of(store), runs, "nDCG@10").warnings()[0]


def test_calibrate_writes_a_passport(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    _, human, _ = evaluated(tmp_path)
    Path("human.txt").write_text(
        "".join(f"{q} 0 {d} {g}\n" for q, docs in human.items() for d, g in docs.items())
    )
    assert run(["calibrate", "human.txt", "labels.db", "--passport", "one.passport.json"]) == 0
    assert "quadratic kappa with people" in capsys.readouterr().out
    args = ["calibrate", "human.txt", "labels.db", "--earlier-passport", "one.passport.json"]
    assert run([*args, "--passport", "two.json"]) == 0
    out, err = capsys.readouterr()
    assert "no drift shown" in out and "*.passport.json" in err
    assert Passport.load("two.json").drift is not None
    assert run(["calibrate", "human.txt", "human.txt", "--passport", "x.passport.json"]) == 2
    assert "not a label store" in capsys.readouterr().err


# --- canaries ---


def test_known_answers_are_canaries_too() -> None:
    pairs = [Pair("q1", "d", "what?", "x", answer="forty-two"), Pair("q2", "d", "why?", "y")]
    added = list(with_canaries(pairs, 2, 4))[2:]
    kinds = [(p.query, p.doc.removeprefix(PREFIX)) for p in added]
    assert ("q1", "answer") in kinds and ("q2", "answer") not in kinds
    assert sum(kind == "known" for _, kind in kinds) == 2
    assert all(p.doc.startswith(PREFIX) for p in added)
    assert set(KNOWN_GOOD) == {"answer", "known"}
    assert list(with_canaries(pairs, 0, 4)) == pairs
    labels = label(pairs, lambda request: 0, canaries=2)
    assert labels.to_dict() == {"q1": {"d": 0}, "q2": {"d": 0}}  # never exported
    calibration = calibrate({"q1": {"d": 0}}, labels)
    assert any("did not recognise known answers" in w for w in calibration.warnings())
    assert not any("fooled" in w for w in calibration.warnings())


# --- examples ---


def test_examples_are_drawn_from_all_grades_and_queries() -> None:
    pairs, human = collection()
    examples = choose_examples(human, pairs, 5, seed=3)
    assert len(examples) == 6
    assert len({e.query for e in examples}) == 6
    assert len({e.gain for e in examples}) == 5
    assert examples == choose_examples(human, pairs, 5, seed=3)
    assert examples != choose_examples(human, pairs, 5, seed=4)
    with pytest.raises(GoodgainError, match="labels of 41 queries"):
        choose_examples(human, pairs, 40)


def test_votes_of_a_store_are_examples(tmp_path: Path) -> None:
    pairs, human = collection()
    with Store(tmp_path / "s.db") as store:
        store.add_votes(
            Vote(annotator="ann", query=q, doc="d0", gain=docs["d0"]) for q, docs in human.items()
        )
        examples = choose_examples(store, pairs, 3)
        assert {e.doc for e in examples} == {"d0"}


def test_examples_of_a_sample_are_what_it_has_drawn(tmp_path: Path) -> None:
    pairs, human = collection()
    with Store(tmp_path / "s.db") as store:
        label(pairs, lambda request: 2, store, name="any")
        sample = draw_sample(store, 60, name="first", seed=5)
        store.add_votes(
            Vote(annotator="ann", query=q, doc=d, gain=g)
            for q, docs in human.items()
            for d, g in docs.items()
        )
        drawn = set(sample.pairs())
        for examples in (
            choose_examples(store, pairs, 8, sample="first"),
            choose_examples(human, pairs, 8, store=store, sample="first"),
        ):
            assert len(examples) == 9
            assert {(e.query, e.doc) for e in examples} <= drawn
        assert not {(e.query, e.doc) for e in choose_examples(store, pairs, 8)} <= drawn
        with pytest.raises(GoodgainError, match="unknown sample 'second'"):
            choose_examples(store, pairs, 8, sample="second")
    with pytest.raises(GoodgainError, match="sample 'first' is in a label store"):
        choose_examples(human, pairs, 8, sample="first")


def test_a_judge_never_sees_examples_of_the_query_it_judges() -> None:
    pairs, human = collection()
    examples = choose_examples(human, pairs, 4)
    prompt = Prompt.of(None).with_examples(examples, 4)
    seen = {}

    class Reading:
        model = "reading"

        def __call__(self, request: Any) -> int:
            seen[request.question] = request.user_message()
            return 1

    label(pairs, Reading(), prompt=prompt)
    assert len(seen) == 30
    for query in QUERIES:
        text = seen[f"what is {query}?"]
        assert text.count("Gain: ") == 4
        others = text.partition("---")[0] + text.rpartition("---")[0]
        assert f"what is {query}?" not in others
    assert prompt.version != Prompt.of(None).version
    assert examples_for(examples, " WHAT is  " + examples[0].query + "?", 9) == [*examples[1:]]


def test_examples_are_left_out_of_the_calibration(tmp_path: Path) -> None:
    pairs, human = collection()
    examples = choose_examples(human, pairs, 4)
    prompt = Prompt.of(None).with_examples(examples, 4)
    labels = label(pairs, Noisy("m", 0.2), tmp_path / "s.db", prompt=prompt)
    calibration = calibrate(human, labels)
    assert (calibration.pairs, calibration.examples) == (175, 5)
    assert "left out 5 pairs" in " ".join(calibration.warnings())
    assert make_passport(human, labels, calibration).pairs == 175


def test_examples_that_cannot_be_left_out_are_refused() -> None:
    example = Example("q1", "d", "another wording", "x", 2)
    prompt = Prompt.of(None).with_examples([example, example._replace(query="q2")], 1)
    with pytest.raises(GoodgainError, match="another question"):
        label([Pair("q1", "d", "what?", "x")], lambda request: 1, prompt=prompt)
    with pytest.raises(GoodgainError, match="outside the scale"):
        Prompt.of(None).with_examples([example._replace(gain=7)], 1)


def test_a_store_with_votes_is_both_sides_of_its_passport(tmp_path: Path) -> None:
    pairs, human = collection()
    with Store(tmp_path / "labels.db") as store:
        label(pairs, Noisy("m1", 0.2), store)
        store.add_votes(
            Vote(annotator="ann", query=query, doc=doc, gain=gain)
            for query, docs in human.items()
            for doc, gain in docs.items()
        )
    path, file = str(tmp_path / "labels.db"), tmp_path / "labels.passport.json"
    assert run(["calibrate", path, path, "--passport", str(file), "--quiet"]) == 0
    assert Passport.load(file).pairs == 180


# --- beside every number ---


def test_the_judge_stays_with_its_labels(tmp_path: Path) -> None:
    """Whatever the judgments pass through on their way to a number."""
    pairs, _ = collection()
    label(pairs, lambda request: len(request.document) % 5, tmp_path / "s.db", name="my-judge")
    labels = Labels.of(tmp_path / "s.db")
    runs = {
        name: {q: [f"d{(i + n) % 6}" for i in range(6)] for q in QUERIES}
        for n, name in enumerate("ab")
    }
    documents = {f"d{i}": f"text {i}" for i in range(6)}
    queries = {q: f"question {q}" for q in QUERIES}
    systems = {name: lambda query: ["d1", "d2"] for name in runs}

    def experiment(**options: Any) -> Any:
        return gg.Experiment(documents, queries, labels, systems, measures="nDCG@5", **options)

    experiment().run(tmp_path / "folder")
    results = [
        gg.evaluate(str(tmp_path / "s.db"), runs, "nDCG@5"),
        gg.evaluate(labels, runs, "nDCG@5", identity="id"),
        gg.Evaluator(labels, "nDCG@5").evaluate(runs["a"]),
        gg.compare(labels, runs, "nDCG@5"),
        gg.compare(gg.evaluate(labels, runs, "nDCG@5")),
        experiment().run(),
        experiment(sample=12).run(),
        gg.load(tmp_path / "folder"),
    ]
    for result in results:
        (note,) = [text for text in result.warnings() if text.startswith("judged by")]
        assert note.startswith("judged by my-judge without a passport")
    people = {q: {"d1": 1} for q in QUERIES}
    gg.Experiment(documents, queries, people, systems, measures="nDCG@5").run(tmp_path / "people")
    assert not any("judged by" in text for text in gg.load(tmp_path / "people").warnings())


def test_explain_takes_labels_and_names_their_judge(tmp_path: Path, capsys: Any) -> None:
    pairs, _ = collection()
    label(pairs, lambda request: 2, tmp_path / "s.db", name="my-judge")
    (tmp_path / "a.run").write_text("".join(f"q1 Q0 d{i} {i + 1} {9 - i} a\n" for i in range(4)))
    args = ["explain", str(tmp_path / "s.db"), str(tmp_path / "a.run"), "-m", "nDCG@3"]
    assert run([*args, "--query", "q1"]) == 0
    out, err = capsys.readouterr()
    assert "nDCG@3" in out
    assert "judged by my-judge without a passport" in err
