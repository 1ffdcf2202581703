"""Lines of traces reach the core a few at a time, and their evidence leaves it so, with the same values."""

from __future__ import annotations

import json

import pytest
from test_engines import TRACES

from goodgain.agentic.settings import GainSettings
from goodgain.engines.spark import gain_worker
from goodgain.engines.spark.digests import DIGEST, same_digest
from goodgain.engines.spark.gain_worker import GainJob, keyed, scored
from goodgain.identity import Identity

pa = pytest.importorskip("pyarrow")
pytest.importorskip("pyspark")

LINES = [*(json.dumps(trace, indent=1).encode() for trace in TRACES), b" ", b"{", b"null", b""]


def rows():
    """What the tasks return for these lines, which arrive in batches of three."""
    batches = [
        pa.record_batch([pa.array(LINES[at : at + 3], pa.binary())], names=["line"])
        for at in range(0, len(LINES), 3)
    ]
    table = pa.Table.from_batches(list(keyed(iter(batches))))
    assert len(table) == len(LINES) - 2  # without blank ones
    ordered = table.sort_by([("conversation", "ascending"), ("place", "ascending")])
    rules = Identity.of(None)
    job = GainJob(rules, GainSettings(unit=rules.unit), None, "traces", "call")
    result = pa.Table.from_batches(list(scored(iter(ordered.to_batches()), job)))
    report = json.loads(next(filter(None, result.column("report").to_pylist())))
    by_place = [("place", "ascending"), ("iteration", "ascending")]
    return repr(result.sort_by(by_place).drop_columns(["report"]).to_pylist()), report


@pytest.mark.parametrize(("batch", "part"), [(1, 10_000), (200, 10_000), (16 << 20, 1), (1, 2)])
def test_sizes_do_not_matter(monkeypatch, batch, part):
    expected, whole = rows()
    assert whole["totals"]["skipped"] == 2 and whole["rows"] > 5
    assert any("traces, '{'" in example for example in whole["examples"])
    monkeypatch.setattr(gain_worker, "_BATCH", batch)
    monkeypatch.setattr(gain_worker, "_PART", part)
    values, report = rows()
    assert values == expected
    for fact in ("totals", "rows", "bounded"):
        assert report[fact] == whole[fact]
    assert same_digest([report[DIGEST]], whole[DIGEST])
    assert sorted(report["examples"]) == sorted(whole["examples"])
