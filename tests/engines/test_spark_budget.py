"""A budget for labels is shared among partitions until it is spent, and never exceeded."""

from __future__ import annotations

import pytest
from server import Server

import goodgain as gg
import goodgain.spark
from goodgain.errors import UsageError
from goodgain.labels import OpenAIJudge, Price, Store, label

PAIRS = [(f"q{i % 15}", f"d{i}", f"what? {i % 15}", f"text {i} GAIN={i % 5}") for i in range(60)]


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-4711")
    with Server() as running:
        yield running


def judge(server):
    return OpenAIJudge("m", base_url=server.openai_url, price=Price(1000.0, 1000.0), max_tokens=10)


@pytest.fixture
def price(server, tmp_path):
    """What one call costs."""
    with Store(tmp_path / "one.db") as store:
        label(PAIRS[:1], judge(server), store)
        assert store.cost() > 0
        return store.cost()


def test_a_budget_that_pays_for_all(spark, server, price, tmp_path):
    """Far more partitions than questions: an equal share of each would not pay for a single call."""
    columns = "query_id string, doc_id string, question string, text string"
    frame = spark.createDataFrame(PAIRS, columns)
    with Store(tmp_path / "labels.db") as store:
        result = goodgain.spark.label(
            frame, judge(server), store, budget=price * 90, partitions=40, session=spark
        )
        assert len(result.labels) == 60
        assert result.labels.summary.stopped == ""
        paid = store.db.execute("SELECT sum(calls) FROM spending").fetchone()[0]
        assert paid == 60  # each call is recorded once
        assert store.cost() <= price * 90
    assert sum(server.requests.values()) == 61  # none twice


def test_a_budget_that_pays_for_some(spark, server, price, tmp_path):
    with Store(tmp_path / "labels.db") as store:
        result = goodgain.spark.label(
            PAIRS, judge(server), store, budget=price * 20, partitions=40, session=spark
        )
        assert store.cost() <= price * 20
        assert result.labels.summary.stopped == "budget"
        assert len(result.labels) >= 10  # what a call may cost at most is set aside before it
        assert sum(server.requests.values()) == 1 + len(result.labels)


def test_a_budget_of_nothing(spark, server, price, tmp_path):
    """Nothing is called; what is labelled already is not waiting for money."""
    with Store(tmp_path / "labels.db") as store:
        for budget, labelled, stopped in ((0, 0, "budget"), (None, 60, ""), (0, 60, "")):
            result = goodgain.spark.label(
                PAIRS, judge(server), store, budget=budget, partitions=40, session=spark
            )
            assert len(result.labels) == labelled
            assert result.labels.summary.stopped == stopped
    assert sum(server.requests.values()) == 61


@pytest.mark.parametrize("budget", [-1, -0.5, float("nan")])
def test_a_budget_that_is_none(spark, server, budget):
    for function, options in ((gg.label, {}), (goodgain.spark.label, {"session": spark})):
        with pytest.raises(UsageError, match=r"budget must not be negative, got (-|nan)"):
            function(PAIRS, judge(server), ":memory:", budget=budget, **options)
    assert not server.requests


@pytest.mark.parametrize("partitions", [0, -1, 1.5, True, "8", 2**31])
def test_numbers_of_partitions(spark, server, partitions):
    says = "partitions must be a positive integer, got "
    with pytest.raises(UsageError, match=says):
        goodgain.spark.label(PAIRS, judge(server), partitions=partitions, session=spark)
    run = {"q": {"a": 1.0}}
    with pytest.raises(UsageError, match=says):
        goodgain.spark.evaluate({"q": {"a": 1}}, run, "AP", partitions=partitions, session=spark)
    assert not server.requests
