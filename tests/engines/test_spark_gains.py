"""Good Gain on Spark: JSON or nested columns, any partitions, bit-identical to the local result."""

from __future__ import annotations

import json
import random

import pytest
from test_engines import TRACES

import goodgain as gg
import goodgain.spark
from goodgain.errors import InputError, UsageError

NESTED = (
    "conversation string, system string, turns array<struct<user:string, iterations:array<struct<searches:"
    "array<struct<query:string, latency:double, tokens:bigint, results:array<struct<id:string, url:string, "
    "gain:double>>>>>>>>"
)


def conversations(count: int, seed: int = 3) -> list[dict[str, object]]:
    rng = random.Random(seed)

    def result() -> dict[str, object]:
        fields: dict[str, object] = {
            "id": f"r{rng.randrange(12)}",
            "url": f"https://a.example/{rng.randrange(9)}",
        }
        if rng.random() < 0.8:
            fields["gain"] = float(rng.randrange(5))
        return fields

    def search() -> dict[str, object]:
        results = [result() for _ in range(rng.randrange(5))]
        query = rng.choice(["a", "b", "c\u2028d"])
        return {
            "query": query,
            "latency": rng.random(),
            "tokens": rng.randrange(900),
            "results": results,
        }

    return [
        {
            "conversation": f"c{number}",
            "system": rng.choice(["x", "y", "z"]),
            "turns": [
                {
                    "user": "how?",
                    "iterations": [
                        {"searches": [search() for _ in range(rng.randint(1, 3))]}
                        for _ in range(rng.randrange(5))
                    ],
                }
            ],
        }
        for number in range(count)
    ]


MANY = conversations(90)


def same(local: gg.GoodGain, spark: gg.GoodGain) -> bool:
    ours, theirs = local.to_dict(), spark.to_dict()
    assert repr(theirs["systems"]) == repr(ours["systems"])
    assert theirs["settings"] == ours["settings"]
    assert theirs["facts"] == ours["facts"]
    assert repr(spark.rows()) == repr(local.rows())
    assert spark.warnings() == local.warnings()
    return True


def as_json(spark, traces, partitions=3):
    rows = [
        (i, json.dumps(t, ensure_ascii=i % 2 == 0, indent=1 if i % 7 == 0 else None))
        for i, t in enumerate(traces)
    ]
    return spark.createDataFrame(rows, "number int, trace string").coalesce(partitions)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"align": "carry", "gain": "exp"},
        {"turn": "all", "threshold": 3},
        {"identity": "passage"},
    ],
    ids=str,
)
def test_json_in_a_column(spark, options):
    result = goodgain.spark.good_gain(as_json(spark, MANY), session=spark, **options)
    assert same(gg.good_gain(MANY, **options), result.good_gain)


def test_sums_do_not_depend_on_partitions(spark):
    """Gains whose sums round differently in another order."""
    traces = json.loads(json.dumps(MANY), parse_float=lambda text: float(text) / 7 + 1e-9)
    wanted = sorted(map(repr, gg.good_gain(traces).rows()[1]))
    assert len(wanted) > 10
    shuffled = random.Random(5).sample(traces, len(traces))
    assert sorted(map(repr, gg.good_gain(shuffled).rows()[1])) == wanted
    for partitions in (1, 7):
        frame = as_json(spark, traces, 9).repartition(partitions)
        result = goodgain.spark.good_gain(frame, session=spark).good_gain
        assert sorted(map(repr, result.rows()[1])) == wanted


def test_nested_columns(spark):
    frame = spark.createDataFrame(MANY, NESTED)
    result = goodgain.spark.good_gain(frame, session=spark)
    assert same(gg.good_gain(MANY), result.good_gain)


def test_rows_per_iteration_stay_on_the_cluster(spark):
    result = goodgain.spark.good_gain(as_json(spark, MANY), session=spark)
    rows = result.per_iteration.select(
        "system", "conversation", "iteration", "CG", "CG:upper"
    ).collect()
    wanted = {
        (s, c, i): v
        for s, c, i, m, v, *_ in gg.good_gain(MANY).rows(per_conversation=True)[1]
        if m == "CG"
    }
    cg = {tuple(row)[:3]: row["CG"] for row in rows}
    assert cg == pytest.approx(wanted, rel=0, abs=0, nan_ok=True)
    assert any(i == 0 for _, _, i in cg)  # conversations without a search
    assert "good_gain" not in result.__dict__  # nothing was fetched for it
    result.release()


def test_labels_of_a_frame(spark):
    labels = [("c1", "r1", 4.0), ("c1", "r2", 0.0), ("c2", "https://a.example/3", 3.0)]
    frame = spark.createDataFrame(labels, "query string, doc string, gain double")
    result = goodgain.spark.good_gain(as_json(spark, MANY), labels=frame, session=spark)
    assert same(gg.good_gain(MANY, labels=labels), result.good_gain)


def test_labels_outside_the_scale(spark):
    with pytest.raises(InputError, match="must be between 0 and 4"):
        goodgain.spark.good_gain(as_json(spark, TRACES), labels={"c1": {"1": 9}}, session=spark)


def test_bad_conversations_are_counted_and_shown(spark):
    bad = [*MANY, *({"conversation": f"bad{i}", "turns": 3} for i in range(5))]
    with pytest.raises(InputError, match=r"5 bad conversations, for example: .*turns.*bad"):
        goodgain.spark.good_gain(as_json(spark, bad), session=spark)
    result = goodgain.spark.good_gain(as_json(spark, bad), skip_bad=True, session=spark)
    assert result.facts["skipped"] == 5
    assert result.good_gain["x"].final("CG") == gg.good_gain(MANY)["x"].final("CG")


def test_which_column(spark):
    frame = spark.createDataFrame([("a", "b")], "one string, two string")
    with pytest.raises(InputError, match="ambiguous column of conversations"):
        goodgain.spark.good_gain(frame, session=spark)
    with pytest.raises(InputError, match="text column 'three' not found"):
        goodgain.spark.good_gain(frame, column="three", session=spark)


def test_unknown_option(spark):
    with pytest.raises(UsageError, match=r"good_gain\(\) has no parameter 'treshold'"):
        goodgain.spark.good_gain(as_json(spark, TRACES), treshold=3, session=spark)


def test_one_giant_conversation_among_many_small_ones(spark):
    results = [
        {"id": f"r{i}", "url": f"https://a.example/{i}", "gain": i % 5} for i in range(60_000)
    ]
    searches = [{"query": "all", "results": results}]
    giant = {
        "conversation": "giant",
        "system": "x",
        "turns": [{"user": "?", "iterations": [{"searches": searches}]}],
    }
    traces = [*MANY, giant]
    result = goodgain.spark.good_gain(as_json(spark, traces, 4), session=spark).good_gain
    assert result["x"].final("R@i")["giant"] == 60_000
    assert same(gg.good_gain(traces), result)


def test_labels_of_traces(spark, tmp_path, monkeypatch):
    """Pairs are extracted from conversations on the cluster, and each is labelled once."""
    from server import KEY, Server

    from goodgain.labels import OpenAIJudge

    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    traces = [
        {
            "conversation": f"c{n}",
            "turns": [{"user": "why?", "iterations": [{"searches": [{"query": "q", "results": [
                {"id": "1", "content": "first GAIN=3"}, {"id": "2", "content": "second GAIN=1"}]}]}]}],
        }
        for n in range(4)
    ]  # fmt: skip
    with Server() as server:
        judge = OpenAIJudge("m", base_url=server.openai_url)
        result = goodgain.spark.label(
            as_json(spark, traces), judge, tmp_path / "l.db", partitions=3, session=spark
        )
        assert result.labels.to_dict() == {f"c{n}": {"1": 3.0, "2": 1.0} for n in range(4)}
        assert sum(server.requests.values()) == 2  # the same question and text, in any conversation
    assert {row["gain"] for row in result.frame.collect()} == {3.0, 1.0}


def test_a_judge_that_cannot_go_on(spark, tmp_path, monkeypatch):
    from server import KEY, Server

    from goodgain.errors import JudgeError
    from goodgain.labels import OpenAIJudge

    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with Server() as server:
        judge = OpenAIJudge("m", base_url=server.openai_url)
        pairs = [("what?", "FAULT=401")]
        with pytest.raises(JudgeError):
            goodgain.spark.label(pairs, judge, tmp_path / "l.db", partitions=2, session=spark)


def test_systems_of_one_conversation_are_scored_together(spark):
    """The pool, repeats, unread and failed searches and usage, whatever partition a line is in."""
    import random

    def search(chance, **facts):
        results = [{"id": n, "gain": ord(n) % 5} for n in chance.choices("abcdefgh", k=3)]
        return {"query": chance.choice("xyz"), "results": results, **facts}

    traces = []
    for number in range(40):
        chance = random.Random(number % 13)
        steps = [
            {
                "tokens": chance.randrange(100),
                "searches": [search(chance), search(chance, **chance.choice(KINDS))],
            }
            for _ in range(chance.randrange(3))
        ]
        turns = [{"user": "?", "iterations": steps}]
        traces.append(
            {"conversation": f"c{number % 13}", "system": "xy"[number % 2], "turns": turns}
        )
    labels = {f"c{n}": {"a": 4, "never": 3} for n in range(13)}
    frame = as_json(spark, traces, partitions=5)
    result = goodgain.spark.good_gain(frame, labels=labels, session=spark)
    local = gg.good_gain(traces, labels=labels)
    ours, theirs = local.to_dict(), result.good_gain.to_dict()
    assert repr(theirs["systems"]) == repr(ours["systems"])
    assert result.good_gain.ledger.to_dict() == local.ledger.to_dict()
    assert local["x"].is_repeated and local["x"].bounded and local.facts["unread"]


KINDS = ({}, {"unread": "kept back", "results": []}, {"error": "down", "results": []})
