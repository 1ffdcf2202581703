"""The ledger: every item of a source ends in exactly one account."""

import json

import pytest
from samples import SAMPLES

from goodgain.traces import Ledger, open_traces


def read(tmp_path, text, name="traces.json", **options):
    path = tmp_path / name
    path.write_text(text if isinstance(text, str) else json.dumps(text))
    opened = open_traces(str(path), **options)
    return list(opened.read()), opened.ledger


@pytest.mark.parametrize("name", SAMPLES)
def test_items_met_are_items_entered(name, tmp_path):
    items = []
    text, iterations, results = SAMPLES[name]
    _, ledger = read(tmp_path, text, sink=items.append)
    assert ledger.differences() == {}
    assert ledger.searches == sum(iterations)
    assert ledger.count("result", "result") == results
    assert ledger.count("conversation", "read") == 1
    for kind, number in ledger.met.items():
        assert sum(i.get("number", 1) for i in items if i["kind"] == kind) == number


def test_saved_and_merged(tmp_path):
    _, ledger = read(tmp_path, SAMPLES["otel"][0])
    saved = json.loads(json.dumps(ledger.to_dict()))
    again = Ledger.from_dict(saved)
    assert again.to_dict() == saved
    again.merge(ledger)
    assert again.searches == 2 * ledger.searches
    assert again.differences() == {}
