"""Ensembles: one gain of several judges, the spread between them, and what their failures do."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from server import Server

from goodgain.errors import GoodgainError
from goodgain.labels import Ensemble, Labels, OpenAIJudge, Pair, Price, Store, estimate, label
from goodgain.labels.ensemble import Opinion, combine, gain_of_replies
from goodgain.labels.exchange import export, statistics
from goodgain.labels.imports import import_labels

PAIRS = [Pair("q", f"d{i}", "what?", f"text {i}") for i in range(4)]


def fixed(*gains: int | None) -> Any:
    """A judge that gives a document of this number this gain."""

    def judge(request: Any) -> int | None:
        return gains[int(request.document[-1])]

    return judge


def three() -> list[Any]:
    return [fixed(0, 1, 4, 2), fixed(0, 3, 4, None), fixed(2, 3, 0, None)]


@pytest.mark.parametrize(
    ("rule", "gains"),
    [("vote", [0, 3, 4]), ("mean", [2 / 3, 7 / 3, 8 / 3]), ("median", [0, 3, 4])],
)
def test_the_rule_makes_one_gain_and_keeps_the_spread(rule: str, gains: list[float]) -> None:
    labels = label(PAIRS, Ensemble(three(), rule))
    rows = {row.doc: row for row in labels}
    assert [rows[f"d{i}"].gain for i in range(3)] == pytest.approx(gains)
    assert [rows[f"d{i}"].spread for i in range(4)] == [2, 2, 4, 0]
    assert [rows[f"d{i}"].replicates for i in range(4)] == [3, 3, 3, 1]
    failed = rows["d3"]
    assert (failed.gain, failed.status) == (None, "refused")
    assert failed.detail == "1 of 3 members have a gain (2 refused); at least 2 are needed"
    assert "d3" not in labels.to_dict()["q"]


def test_the_minimum_of_members_decides_when_a_pair_has_a_gain() -> None:
    for minimum, gain in ((1, 2), (2, None), (3, None)):
        rows = {r.doc: r for r in label(PAIRS, Ensemble(three(), minimum=minimum))}
        assert rows["d3"].gain == gain
        assert rows["d0"].gain == 0


@pytest.mark.parametrize(
    ("gains", "vote"), [([1, 1, 3], 1), ([0, 4], 0), ([0, 0, 4, 4, 3], 4), ([0, 1, 4], 1)]
)
def test_a_tie_of_votes_goes_to_the_gain_nearest_to_the_median(gains: Any, vote: int) -> None:
    opinions = [Opinion(gain, "ok", "") for gain in gains]
    assert combine(opinions, "vote", 1, len(gains)).gain == vote


def test_members_are_paid_for_once_in_all_ensembles(tmp_path: Path) -> None:
    members = three()
    with Store(tmp_path / "s.db") as store:
        for member in members[:2]:
            label(PAIRS, member, store)
        summary = label(PAIRS, Ensemble(members), store, retry=[]).summary
        assert summary is not None
        assert (summary.calls, summary.stored, summary.pairs) == (4, 8, 4)
        again = label(PAIRS, Ensemble(members, "mean"), store).summary
        assert again is not None and again.calls == 0


def test_a_member_that_is_retried_counts(tmp_path: Path) -> None:
    answers: dict[str, int | None] = {"text 0": None}

    class Late:
        model = "late"

        def __call__(self, request: Any) -> int | None:
            return answers.get(request.document, 4)

    with Store(tmp_path / "s.db") as store:
        ensemble = Ensemble([Late(), fixed(0, 0, 0, 0)], minimum=2)
        assert label(PAIRS[:1], ensemble, store).to_dict() == {}
        answers["text 0"] = 4
        label(PAIRS[:1], Late(), store, retry=["refused"])
        model = ensemble_name(store)
        assert Labels.of(store, model=model).to_dict() == {"q": {"d0": 0}}


def ensemble_name(store: Store) -> str:
    (setting,) = [s for _, s in store.settings() if "ensemble" in s.parameters]
    return setting.model


def test_an_ensemble_is_one_setting_with_its_members(tmp_path: Path) -> None:
    with Store(tmp_path / "s.db") as store:
        label(PAIRS, Ensemble(three(), "mean", name="trio"), store)
        labels = Labels.of(store, model="trio")
        facts = labels.setting.parameters["ensemble"]
        assert (facts["rule"], facts["minimum"], len(facts["members"])) == ("mean", 2, 3)
        assert len(labels) == 4
        columns, rows = statistics(store)
        (row,) = [dict(zip(columns, r, strict=True)) for r in rows if r[0] == "trio"]
        assert (row["pairs"], row["ok"], row["replies"]) == (4, 3, 0)
        lines = export(labels, "qrels").splitlines()
        assert lines[0].startswith("q 0 d0 0.66")
        text = export(labels, "jsonl")
        assert len(text.splitlines()) == 12
        assert {json.loads(line)["model"] for line in text.splitlines()} == {"trio"}
        path = tmp_path / "e.jsonl"
        path.write_text(text)
        with Store(tmp_path / "copy.db") as copy:
            import_labels(copy, path)
            assert [tuple(r) for r in Labels.of(copy)] == [tuple(r) for r in labels]


def test_replicates_of_members_count_once_each() -> None:
    def noisy(request: Any) -> int:
        return [0, 4, 4][request.replicate]

    labels = label(PAIRS[:1], Ensemble([noisy, fixed(0), fixed(1)], "mean"), replicates=3)
    (row,) = labels
    assert row.gain == pytest.approx((4 + 0 + 1) / 3)


def test_prompts_make_an_ensemble_too(server: Server) -> None:
    judge = OpenAIJudge("m", base_url=server.openai_url)
    pair = Pair("q", "d", "what?", "GAIN=3", narrative="this")
    labels = label([pair], Ensemble([(judge, "gain-0-4"), (judge, "narrative-0-4")]))
    assert labels.to_dict() == {"q": {"d": 3}}
    assert labels.setting.prompt == "several prompts"
    assert len(server.bodies) == 2


def test_the_estimate_of_an_ensemble_is_the_sum(server: Server) -> None:
    judges = [
        OpenAIJudge(name, base_url=server.openai_url, price=Price(1, 2)) for name in ("a", "b")
    ]
    one, both = estimate(PAIRS, judges[0]), estimate(PAIRS, Ensemble(judges))
    assert both.calls == 2 * one.calls == 8 and both.pairs == 4
    assert one.cost is not None and both.cost == pytest.approx(2 * one.cost)
    assert not server.bodies


def test_fields_that_no_member_shows_are_counted_once() -> None:
    pairs = [Pair("q", f"d{i}", "what?", "text", narrative="a story") for i in range(5)]
    labels = label(pairs, Ensemble([lambda request: 1, lambda request: 2]))
    assert labels.summary is not None and labels.summary.unused == {"narrative": 5}


def test_what_an_ensemble_refuses() -> None:
    one = fixed(1)
    for members, options, problem in (
        ([one], {}, "at least two members"),
        ([one, one], {}, "twice"),
        ([one, fixed(2)], {"rule": "max"}, "unknown rule 'max'"),
        ([one, fixed(2)], {"minimum": 3}, "from 1 to 2"),
        ([(one, "gain-0-4"), (one, "relevance-0-3")], {}, "different scales"),
    ):
        with pytest.raises(GoodgainError, match=problem):
            label(PAIRS[:1], Ensemble(members, **options))  # type: ignore[arg-type]


def test_a_file_is_read_once_per_member(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text('{"query_id": "q", "doc_id": "d", "question": "what?", "text": "text 0"}\n')
    assert label(path, Ensemble([fixed(1), fixed(3)], "mean")).to_dict() == {"q": {"d": 2}}
    assert label(iter(PAIRS[:1]), Ensemble([fixed(1), fixed(3)], "mean")).to_dict() == {
        "q": {"d0": 2}
    }


def test_the_view_shows_what_each_member_said(tmp_path: Path) -> None:
    label(PAIRS[:1], Ensemble(three(), name="trio"), tmp_path / "s.db")
    with closing(sqlite3.connect(tmp_path / "s.db")) as db:
        rows = db.execute("SELECT replicate, gain FROM labels WHERE model = 'trio' ORDER BY 1")
        assert rows.fetchall() == [(0, 0.0), (1, 0.0), (2, 2.0)]


def test_the_gain_of_a_pair_is_by_the_rule_wherever_it_is_shown() -> None:
    setting = label(PAIRS, Ensemble(three(), "mean")).setting
    assert gain_of_replies({0: 1.0, 1: 3.0, 2: 3.0}, setting) == pytest.approx(7 / 3)
    assert gain_of_replies({0: 1.0, 1: None, 2: None}, setting) is None
    plain = label(PAIRS, fixed(0, 1, 2, 3)).setting
    assert gain_of_replies({0: 1.0, 1: None, 2: 4.0}, plain) == 1


def test_members_that_do_not_fit_are_refused_before_any_is_paid(server: Server) -> None:
    judge = OpenAIJudge("m", base_url=server.openai_url)
    for members in ([judge, judge], [judge, (judge, "relevance-0-3")]):
        with pytest.raises(GoodgainError):
            label(PAIRS, Ensemble(members))
        with pytest.raises(GoodgainError):
            estimate(PAIRS, Ensemble(members))
    assert server.bodies == []
