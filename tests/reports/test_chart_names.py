"""Names in charts are values and nothing else, whatever they hold."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest
import sample_results
from sample_results import HOSTILE, walk

import goodgain as gg
from goodgain.reports.charts import plot


@pytest.mark.slow
@pytest.mark.parametrize("name", [*HOSTILE, "x" * 1_000_000, "a.b[c]'d\"", "", "  "])
def test_names_are_values_and_nothing_else(schema, name):
    names = (name, "dense", "hybrid")
    compared = sample_results.comparison(names)
    charts = [plot(compared, kind) for kind in
            ("effects", "leaderboard", "differences", "histogram", "trade-off", "groups")]  # fmt: skip
    agents = sample_results.good_gain((name, "b"))
    charts += [plot(agents, kind) for kind in ("gain", "marginal", "efficiency", "budget")]
    for chart in charts:
        schema.validate(chart.themed())
        texts = json.dumps(chart.spec)
        assert len(texts) < 60_000
        for path, value in walk(chart.spec):
            if path[-1] in ("field", "expr", "filter", "test", "calculate", "as", "type", "signal"):
                assert (
                    len(str(value)) < 80
                    and "alert" not in str(value)
                    and "datum.x" not in str(value)
                )
        svg = chart.svg()
        ElementTree.fromstring(svg)
        assert "<script" not in svg and "<img" not in svg
        assert all(c.isprintable() or c == "\n" for c in svg)


def test_names_that_are_cut_alike_stay_apart():
    long = ["same start " * 20 + str(i) for i in range(3)]
    chart = plot(
        gg.compare({n: {"AP": {"q1": 0.1 * i, "q2": 0.3}} for i, n in enumerate(long)}),
        "leaderboard",
    )
    names = {v["system"] for v in chart.spec["data"]["values"]}
    assert len(names) == 3
    assert [row[0] for row in chart.rows] == [long[2], long[1], long[0]]
