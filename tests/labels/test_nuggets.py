"""Nuggets: made, imported, assigned and scored as TREC's RAG track scores them."""

import json
import math
import random
from pathlib import Path
from typing import Any

import pytest
from server import Server

import goodgain as gg
from goodgain.errors import GoodgainError
from goodgain.labels import Ensemble, OpenAIJudge, Pair, Store, label
from goodgain.labels.nuggets import (
    Nugget,
    NuggetScores,
    assign_nuggets,
    import_nuggets,
    make_nuggets,
    nugget_scores,
    read_answers,
    read_nuggets,
)
from goodgain.labels.nuggets.scores import AnswerNuggets, Assigned

NUGGETS = [
    {"query": "q1", "text": "hashing finds the slot", "vital": True},
    {"query": "q1", "text": "collisions are probed", "vital": True},
    {"query": "q1", "text": "tables are resized", "vital": False},
    {"query": "q2", "text": "lists keep order", "importance": "okay"},
]
ANSWERS = [
    {"system": "a", "query_id": "q1", "question": "how?", "answer": "hashing collisions"},
    {"system": "b", "query_id": "q1", "question": "how?", "answer": "tables"},
    {"system": "a", "query_id": "q2", "question": "and lists?", "answer": "lists keep order"},
]


def words(request: Any) -> int:
    """Support if the answer has the first two words of the nugget, partial with the first."""
    first, second = request.document.split()[:2]
    return int(first in request.answer) + int(first in request.answer and second in request.answer)


def nuggets_of(*nuggets: tuple[bool, int | None], recorded: bool = True) -> AnswerNuggets:
    return AnswerNuggets(
        system="s", query="q", repeat="", recorded=recorded,
        nuggets=tuple(Assigned(*n) for n in nuggets),
    )  # fmt: skip


def published(nuggets: list[tuple[bool, int]]) -> dict[str, float]:
    """The definitions of the track's description, written out: n in support, partial, none."""
    half = {2: 1.0, 1: 0.5, 0: 0.0}
    full = {2: 1.0, 1: 0.0, 0: 0.0}
    scores = {}
    for strict, value in (("", half), ("Strict", full)):
        vital = [value[s] for v, s in nuggets if v]
        okay = [value[s] for v, s in nuggets if not v]
        scores[f"NuggetAll{strict}"] = (sum(vital) + sum(okay)) / (len(vital) + len(okay))
        scores[f"NuggetVital{strict}"] = sum(vital) / len(vital) if vital else math.nan
        weight = len(vital) + 0.5 * len(okay)
        scores[f"NuggetWeighted{strict}"] = (sum(vital) + 0.5 * sum(okay)) / weight
    return scores


def test_scores_of_the_published_description() -> None:
    row = nuggets_of((True, 2), (True, 1), (False, 0))
    expected = {
        "NuggetVitalStrict": 0.5, "NuggetAllStrict": 1 / 3, "NuggetVital": 0.75, "NuggetAll": 0.5,
        "NuggetWeighted": 0.6, "NuggetWeightedStrict": 0.4,
    }  # fmt: skip
    assert {name: row.score(name) for name in expected} == pytest.approx(expected)


def test_scores_equal_the_definitions_on_random_answers() -> None:
    generator = random.Random(3)
    for _ in range(500):
        nuggets = [
            (generator.random() < 0.5, generator.randrange(3))
            for _ in range(generator.randint(1, 9))
        ]
        row = nuggets_of(*nuggets)
        expected = published(nuggets)
        got = {name: row.score(name) for name in expected}
        assert got == pytest.approx(expected, nan_ok=True)
        assert all(0 <= v <= 1 for v in got.values() if v == v)


def test_what_is_unknown_is_undefined_and_bounded_not_zero() -> None:
    row = nuggets_of((True, 2), (True, None), (False, 0))
    assert math.isnan(row.score("NuggetAll")) and math.isnan(row.score("NuggetVital"))
    assert row.bounds("NuggetVital") == (0.5, 1.0)
    assert nuggets_of((True, 2), (False, None)).score("NuggetVital") == 1.0  # does not depend on it
    assert math.isnan(nuggets_of((False, 2)).score("NuggetVital"))
    assert math.isnan(nuggets_of().score("NuggetAll"))
    assert math.isnan(nuggets_of((True, None), recorded=False).score("NuggetAll"))


def stored(folder: Path) -> Store:
    store = Store(folder / "s.db")
    import_nuggets(store, NUGGETS, "ann")
    return store


def test_a_judge_assigns_nuggets_to_answers(tmp_path: Path) -> None:
    with stored(tmp_path) as store:
        result = assign_nuggets(ANSWERS, words, store)
        rows = {(a.system, a.query): [n.support for n in a.nuggets] for a in result.answers}
        assert rows == {("a", "q1"): [1, 1, 0], ("b", "q1"): [0, 0, 1], ("a", "q2"): [2]}
        assert result.mean("a", "NuggetAll") == pytest.approx((1 / 3 + 1) / 2)
        assert math.isnan(result.answers[2].score("NuggetVital"))
        assert result.mean("a", "NuggetVital") == pytest.approx(0.5)
        again = nugget_scores(ANSWERS, store)
        assert again == result
        assert [w.partition(":")[0] for w in result.warnings()] == [
            "judged by test_nuggets.words without a passport"
        ]


def test_a_second_run_pays_nothing_and_gains_stay_apart(tmp_path: Path) -> None:
    calls = []

    class Judge:
        model = "m"

        def __call__(self, request: Any) -> Any:
            calls.append(request)
            if len(request.documents) == 1:
                return words(request)
            one = [type(request)(request.question, (d,), request.prompt, 0, "", request.answer)
                   for d in request.documents]  # fmt: skip
            return {"labels": [{"document": i, "gain": words(r)} for i, r in enumerate(one, 1)]}

    with stored(tmp_path) as store:
        assign_nuggets(ANSWERS, Judge(), store, batch=10)
        assert len(calls) == 3  # one per answer
        assign_nuggets(ANSWERS, Judge(), store, batch=10)
        assert len(calls) == 3
        label([("q1", "d", "how?", "x")], lambda request: 2, store)
        assert gg.Labels.of(store).to_dict() == {"q1": {"d": 2}}  # not the nuggets


@pytest.mark.parametrize("fault", ["refusal", "notjson", "length"])
def test_a_failed_assignment_is_not_none(server: Server, tmp_path: Path, fault: str) -> None:
    with Store(tmp_path / "s.db") as store:
        import_nuggets(
            store,
            [{"query": "q", "text": "GAIN=2 one", "vital": 1},
             {"query": "q", "text": f"two FAULT={fault}", "vital": 0}],
            "ann",
        )  # fmt: skip
        judge = OpenAIJudge("m", base_url=server.openai_url)
        rows = [{"system": "a", "query": "q", "question": "how?", "answer": "it does"}]
        result = assign_nuggets(rows, judge, store, batch=1)
        (row,) = result.answers
        assert [n.support for n in row.nuggets] == [2, None]
        assert math.isnan(row.score("NuggetAll")) and row.score("NuggetVital") == 1
        assert "1 nugget of 1 answer without an assignment" in result.warnings()[1]
        texts = [body["messages"][1]["content"] for body in server.bodies]
        assert all("it does" in text for text in texts)
        assert any("GAIN=2 one" in text for text in texts)


def test_empty_answers_contain_nothing_and_missing_ones_are_undefined(tmp_path: Path) -> None:
    rows = [
        {"system": "a", "query": "q1", "question": "how?", "answer": ""},
        {"system": "b", "query": "q1", "question": "how?", "answer": None},
        {"system": "a", "query": "q9", "question": "what?", "answer": "text"},
    ]
    with stored(tmp_path) as store:
        result = assign_nuggets(rows, words, store)
        assert result.answers[0].score("NuggetAll") == 0
        assert math.isnan(result.answers[1].score("NuggetAll"))
        assert math.isnan(result.answers[2].score("NuggetAll"))
        assert len(result.warnings()) == 3


def test_answers_of_traces_and_of_the_tracks_files(tmp_path: Path) -> None:
    trace = {
        "conversation": "q1",
        "turns": [{"user": "how?", "answer": "hashing", "iterations": []}],
    }
    (one,) = read_answers({"agent": [trace]})
    assert (one.system, one.query, one.question, one.text) == ("agent", "q1", "how?", "hashing")
    line = {"run_id": "r", "topic_id": "q1", "topic": "how?",
            "answer": [{"text": "One.", "citations": [0]}, {"text": "Two.", "citations": []}]}  # fmt: skip
    path = tmp_path / "run.jsonl"
    path.write_text(json.dumps(line) + "\n")
    assert read_answers(path) == [("r", "q1", "how?", "One. Two.", "")]
    with pytest.raises(GoodgainError, match="two answers"):
        read_answers([ANSWERS[0], ANSWERS[0]])
    with pytest.raises(GoodgainError, match="not an answer"):
        read_answers([{"query": "q"}])


def test_repeats_are_averaged_and_compared_as_repeats(tmp_path: Path) -> None:
    rows = [{**ANSWERS[0], "repeat": 1}, {**ANSWERS[0], "repeat": 2, "answer": ""}]
    with stored(tmp_path) as store:
        result = assign_nuggets(rows, words, store)
        assert result.mean("a", "NuggetAll") == pytest.approx(1 / 6)
        assert len(result.per_repeat_scores()["a"]) == 2


def test_nugget_recall_is_compared_like_any_measure(tmp_path: Path) -> None:
    generator = random.Random(1)
    rows = tuple(
        AnswerNuggets(
            system=system, query=f"q{i}", repeat="", recorded=True,
            nuggets=tuple(Assigned(v < 2, generator.choice(choices)) for v in range(5)),
        )
        for system, choices in (("good", [1, 2, 2]), ("bad", [0, 0, 1]))
        for i in range(40)
    )  # fmt: skip
    result = NuggetScores(answers=rows, nugget_source="ann", assigned_by="m")
    comparison = gg.compare(result, baseline="bad")
    assert {pair.measure.name for pair in comparison.pairs} == {"NuggetVitalStrict", "NuggetAll"}
    assert all(pair.p < 0.001 for pair in comparison.pairs)
    path = tmp_path / "nuggets.json"
    result.save(path)
    assert gg.load(path) == result == NuggetScores.load(path)
    again = gg.compare(path, baseline="bad", measures="NuggetWeighted")
    assert [p.measure.name for p in again.pairs] == ["NuggetWeighted"]


def test_people_assign_nuggets(tmp_path: Path) -> None:
    row = {"qid": "q1", "run_id": "a", "nuggets": [
        {"text": "hashing", "importance": "vital", "assignment": "support"},
        {"text": "probing", "importance": "vital", "assignment": "partial_support"},
        {"text": "resizing", "importance": "okay", "assignment": "not_support"},
    ]}  # fmt: skip
    failed = {"qid": "q1", "run_id": "b", "nuggets": [
        {"text": "hashing", "importance": "vital", "assignment": "failed"},
    ]}  # fmt: skip
    with Store(tmp_path / "s.db") as store:
        assert import_nuggets(store, [row, failed], "nist") == (3, 3)
        rows = [ANSWERS[0], ANSWERS[1]]
        result = nugget_scores(rows, store, annotator="nist")
        assert result.answers[0].score("NuggetVital") == 0.75
        assert math.isnan(result.answers[1].score("NuggetVital"))
        with pytest.raises(GoodgainError, match="no assignments of 'bob'"):
            nugget_scores(rows, store, annotator="bob")
        assert import_nuggets(store, [row, failed], "nist") == (0, 0)
        row["nuggets"][2]["assignment"] = "support"
        assert import_nuggets(store, [row, failed], "nist") == (0, 1)
        assert nugget_scores(rows, store, annotator="nist").answers[0].score("NuggetAll") == 2.5 / 3
        repeats = [{**ANSWERS[0], "repeat": r} for r in ("1", "2")]
        with pytest.raises(GoodgainError, match="'a' has 2 answers to query 'q1'"):
            nugget_scores(repeats, store, annotator="nist")


def test_sources_are_never_mixed(tmp_path: Path) -> None:
    with stored(tmp_path) as store:
        import_nuggets(store, [{"query": "q1", "text": "a hash is taken", "vital": 1}], "bob")
        with pytest.raises(GoodgainError, match="2 sources: ann, bob"):
            read_nuggets(store)
        assert len(read_nuggets(store, "bob")["q1"]) == 1
        result = assign_nuggets(ANSWERS[:1], words, store, source="bob")
        assert (len(result.answers[0].nuggets), result.nugget_source) == (1, "bob")


def test_the_last_importance_of_a_nugget_counts(tmp_path: Path) -> None:
    with stored(tmp_path) as store:
        import_nuggets(store, [{"query": "q1", "text": "tables are resized", "vital": True}], "ann")
        assert Nugget("q1", "tables are resized", True) in read_nuggets(store)["q1"]
        assert import_nuggets(store, NUGGETS[:1], "ann") == (0, 0)


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ([{"query": "q", "text": "x"}], "vital or okay"),
        ([{"query": "q", "vital": 1}], "no 'text'"),
        ([{"text": "x", "vital": 1}], "no 'query_id'"),
        ([{"query": "q", "text": "x", "vital": "maybe"}], "vital or okay"),
        ([{"query": "q", "text": "x", "vital": 1}] * 2, "duplicate"),
        (
            [{"query": "q", "text": "x", "vital": 1}, {"query": "q", "text": "x", "vital": 0}],
            "both vital and okay",
        ),
        (
            [{"query": "q", "system": "s", "text": "x", "vital": 1, "assignment": "mostly"}],
            "unknown assignment",
        ),
        ([3], "not a nugget"),
    ],
)
def test_what_an_import_of_nuggets_refuses(rows: Any, problem: str) -> None:
    with Store() as store, pytest.raises(GoodgainError, match=problem):
        import_nuggets(store, rows, "ann")


class Maker:
    """A judge that makes a nugget of each document's first line."""

    model = "maker"

    def __init__(self) -> None:
        self.windows: list[int] = []

    def __call__(self, request: Any) -> Any:
        if request.prompt.name == "nugget-making":
            lines = request.document.splitlines()
            facts = [line for line in lines if line.startswith("fact")]
            self.windows.append(len(facts))
            so_far = [line[2:] for line in request.narrative.splitlines() if line.startswith("- ")]
            return {"nuggets": so_far + facts}
        if len(request.documents) > 1:
            gains = [int("vital" in d) for d in request.documents]
            return {"labels": [{"document": i, "gain": g} for i, g in enumerate(gains, 1)]}
        return int("vital" in request.document)


def documents(count: int) -> list[Pair]:
    kinds = ["vital", "okay"]
    return [Pair("q1", f"d{i}", "how?", f"fact {i} {kinds[i % 2]}\nmore") for i in range(count)]


def test_nuggets_are_made_window_by_window_from_good_documents(tmp_path: Path) -> None:
    qrels = {"q1": {f"d{i}": 4 if i < 23 else 1 for i in range(30)}}
    judge = Maker()
    with Store(tmp_path / "s.db") as store:
        made = make_nuggets(documents(30), judge, store, qrels=qrels)
        assert judge.windows == [10, 10, 3]
        nuggets = read_nuggets(store)["q1"]
        assert nuggets == made.nuggets["q1"]
        assert len(nuggets) == 20
        assert [n.vital for n in nuggets] == [True] * 12 + [False] * 8
        assert made.failed == {} and made.source == "maker"
        make_nuggets(documents(30), judge, store, qrels=qrels)
        assert len(judge.windows) == 3  # nothing is asked twice
        assert len(read_nuggets(store)["q1"]) == 20


def test_a_query_whose_nuggets_cannot_be_made_has_none(tmp_path: Path) -> None:
    def judge(request: Any) -> Any:
        return None if request.question == "bad?" else Maker()(request)

    pairs = [*documents(2), Pair("q2", "d", "bad?", "fact x vital")]
    with Store(tmp_path / "s.db") as store:
        made = make_nuggets(pairs, judge, store)
        assert set(made.nuggets) == {"q1"} and "refused" in made.failed["q2"]
        assert set(read_nuggets(store)) == {"q1"}


def test_nuggets_are_made_over_http(server: Server, tmp_path: Path) -> None:
    server.reply = json.dumps({"nuggets": ["One fact.", "one fact", "Another  fact"]})
    judge = OpenAIJudge("m", base_url=server.openai_url)
    with Store(tmp_path / "s.db") as store:
        made = make_nuggets(documents(2), judge, store)
        assert "importance" in made.failed["q1"]  # the same reply is no importance
        schema = server.bodies[0]["response_format"]["json_schema"]["schema"]
        assert schema["required"] == ["nuggets"]


def test_an_ensemble_assigns_nuggets(tmp_path: Path) -> None:
    with stored(tmp_path) as store:
        members = [lambda request: 2, lambda request: len("ab"), lambda request: 0]
        result = assign_nuggets(ANSWERS[:1], Ensemble(members), store, batch=1)
        assert result.answers[0].score("NuggetAllStrict") == 1
        with pytest.raises(GoodgainError, match="ensemble"):
            make_nuggets(documents(1), Ensemble(members), store)


def test_measures_of_answers_are_documented(capsys: Any) -> None:
    from goodgain.cli import run

    assert run(["measures", "NuggetVitalStrict"]) == 0
    assert "vital nuggets" in capsys.readouterr().out


def test_a_measure_of_answers_says_where_it_comes_from() -> None:
    with pytest.raises(GoodgainError, match="'NuggetVital' is a measure of answers") as error:
        gg.evaluate({"q": {"d": 1}}, {"q": ["d"]}, "NuggetVital")
    assert "--task assignment" in str(error.value.hint)
