"""What tests of formats share: real data, two results, and reading a file with its ledger checked."""

from __future__ import annotations

import json
import os
from pathlib import Path

from goodgain.traces import open_traces

DATA = (
    Path(os.environ.get("GOODGAIN_DATA", Path(__file__).parents[3] / "shared" / "data"))
    / "agent_traces"
)
PAGES = [
    {"url": "https://x.org/1", "title": "One", "snippet": "The first page, about one."},
    {"url": "https://x.org/2", "title": "Two", "snippet": "The second page, about two."},
]


def read(tmp_path, value, name="t.json", **options):
    path = tmp_path / name
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    opened = open_traces(str(path), **options)
    traces = list(opened.read())
    assert opened.ledger.differences() == {}
    return opened, traces


def searches(trace):
    return [s for t in trace["turns"] for i in t["iterations"] for s in i["searches"]]


def opens(trace):
    return [o for t in trace["turns"] for i in t["iterations"] for o in i.get("opens", ())]
