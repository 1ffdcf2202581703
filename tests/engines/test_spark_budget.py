"""A budget for labels is shared among partitions until it is spent, and never exceeded."""

from __future__ import annotations

import pytest
from server import Server

import goodgain.spark
from goodgain.labels import OpenAIJudge, Price, Store

PAIRS = [(f"q{i % 25}", f"d{i}", f"what? {i % 25}", f"text {i} GAIN={i % 5}") for i in range(100)]


@pytest.fixture
def judge(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-4711")
    with Server() as server:
        yield (
            server,
            OpenAIJudge(
                "m", base_url=server.openai_url, price=Price(1000.0, 1000.0), max_tokens=10
            ),
        )


def test_a_budget_that_pays_for_all(spark, judge, tmp_path):
    """Far more partitions than questions: an equal share of each would not pay for a single call."""
    server, model = judge
    with Store(tmp_path / "probe.db") as store:
        one = goodgain.spark.label(PAIRS[:1], model, store, session=spark)
        price = store.cost()
    assert len(one.labels) == 1 and price > 0
    frame = spark.createDataFrame(
        PAIRS, "query_id string, doc_id string, question string, text string"
    )
    with Store(tmp_path / "labels.db") as store:
        result = goodgain.spark.label(
            frame, model, store, budget=price * 130, partitions=50, session=spark
        )
        assert len(result.labels) == 100
        assert result.labels.summary.stopped == ""
        assert store.cost() <= price * 130
    assert sum(server.requests.values()) == 101  # none twice


def test_a_budget_that_pays_for_some(spark, judge, tmp_path):
    server, model = judge
    with Store(tmp_path / "probe.db") as store:
        goodgain.spark.label(PAIRS[:1], model, store, session=spark)
        price = store.cost()
    with Store(tmp_path / "labels.db") as store:
        result = goodgain.spark.label(
            PAIRS, model, store, budget=price * 30, partitions=200, session=spark
        )
        assert store.cost() <= price * 30
        assert result.labels.summary.stopped == "budget"
        assert len(result.labels) >= 15  # what a call may cost at most is set aside before it
    assert sum(server.requests.values()) == 1 + len(result.labels)
