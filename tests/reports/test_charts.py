"""Charts: valid specifications, the numbers of the results, real pictures, names that do nothing."""

from __future__ import annotations

import base64
import json
import math
import random
import struct
import sys
import zlib
from xml.etree import ElementTree

import numpy as np
import pytest
import sample_results
from sample_results import HOSTILE, walk

import goodgain as gg
from goodgain.errors import InputError, MissingExtraError, UsageError
from goodgain.reports.charts import KINDS, plot
from goodgain.reports.elements import Section
from goodgain.reports.page import page_html
from goodgain.stats.intervals import mean_interval
from goodgain.stats.pareto import pareto_front

RESULTS = ["Evaluation", "Comparison", "GoodGain", "Stopping", "ExperimentResult", "Calibration", "Labels",
           "GSB", "Gate", "Tuned"]  # fmt: skip
OF = [(name, kind.name) for kind in KINDS.values() for name in kind.results
      if (name, kind.name) != ("ExperimentResult", "groups")]  # fmt: skip


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return sample_results.every_result(tmp_path_factory.mktemp("labels"))


@pytest.fixture(scope="module")
def charts(results):
    return {(name, kind): results[name].plot(kind) for name, kind in OF}


def table(chart) -> list[dict]:
    return [dict(zip(chart.columns, row, strict=True)) for row in chart.rows]


# --- all charts ---


@pytest.mark.parametrize(("name", "kind"), OF)
def test_specifications_are_valid(charts, schema, name, kind):
    for dark in (False, True):
        schema.validate(charts[name, kind].themed(dark, width=400))


@pytest.mark.parametrize(("name", "kind"), OF)
def test_specifications_hold_their_data_and_ask_for_nothing(charts, name, kind):
    chart = charts[name, kind]
    keys = {path[-1] for path, _ in walk(chart.spec)}
    assert "url" not in keys and "href" not in keys and "config" not in keys
    assert any(path[-1] == "values" and inner for path, inner in walk(chart.spec))
    assert (
        not {"hconcat", "vconcat", "concat", "facet", "repeat"} & keys
    )  # one view: its width can be set
    json.dumps([chart.spec, chart.rows], allow_nan=False)


@pytest.mark.parametrize(("name", "kind"), OF)
def test_charts_say_what_they_show(charts, name, kind):
    chart = charts[name, kind]
    assert len(chart.title) > 8 and chart.description.endswith(".")
    assert chart.rows and all(len(row) == len(chart.columns) for row in chart.rows)


def test_keys_are_names_of_files_and_elements(charts):
    assert all(c.key.replace("-", "").isalnum() for c in charts.values())


def test_every_result_has_a_first_chart(results):
    for name in RESULTS:
        assert results[name].plot().spec == results[name].plot(
            next(k.name for k in KINDS.values() if name in k.results)
        ).spec  # fmt: skip


def test_all_charts_draw_under_the_policy_of_a_page(charts, look, tmp_path):
    unique = {c.key: c for c in charts.values()}
    path = tmp_path / "charts.html"
    path.write_text(page_html("charts", [Section("all", "All", list(unique.values()))]))
    page = look(path).page
    for key in unique:
        figure = page.locator(f"#chart-{key}")
        figure.scroll_into_view_if_needed()
        figure.locator("svg").wait_for()
        marks = figure.locator("svg path, svg text, svg rect, svg line").count()
        assert marks > 5, key


# --- pictures ---


def png_size(data: bytes) -> tuple[int, int]:
    """Width and height, after a look whether the pixels can be read and differ."""
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    at, pixels, size = 8, b"", (0, 0)
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        content = data[at + 8 : at + 8 + length]
        assert zlib.crc32(kind + content) == struct.unpack(">I", data[at + 8 + length :][:4])[0]
        if kind == b"IHDR":
            size = struct.unpack(">II", content[:8])
        elif kind == b"IDAT":
            pixels += content
        at += 12 + length
    assert len(set(zlib.decompress(pixels))) > 20
    return size


@pytest.mark.slow
@pytest.mark.parametrize(("name", "kind"), OF)
def test_pictures_are_pictures(charts, tmp_path, name, kind):
    chart = charts[name, kind]
    for ending in ("svg", "png", "pdf", "json"):
        chart.save(tmp_path / f"x.{ending}", width=500)
    root = ElementTree.fromstring((tmp_path / "x.svg").read_text())
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    text = " ".join(root.itertext())
    assert chart.title[:20] in text
    assert png_size((tmp_path / "x.png").read_bytes())[0] == pytest.approx(1000, abs=120)
    pdf = (tmp_path / "x.pdf").read_bytes()
    assert pdf.startswith(b"%PDF-") and pdf.rstrip().endswith(b"%%EOF")
    assert json.loads((tmp_path / "x.json").read_text()) == chart.themed(width=500)


@pytest.mark.slow
def test_pictures_have_the_size_and_the_colours_that_were_asked_for(charts):
    chart = charts["GoodGain", "gain"]
    assert png_size(chart.png(scale=3))[0] == pytest.approx(
        3 * png_size(chart.png(scale=1))[0], abs=6
    )
    assert png_size(chart.png(width=340, scale=1))[0] < 400
    assert "#16181c" in chart.svg(dark=True) and "#16181c" not in chart.svg()


def test_colours_are_explained(results):
    """A legend stands above every chart whose colours mean something."""
    explained = {"effects": "not significant", "differences": "worse", "histogram": "worse"}
    for kind, word in explained.items():
        svg = ElementTree.fromstring(results["Comparison"].plot(kind).svg())
        assert word in {t.strip() for t in svg.itertext()}, kind
    for kind in ("gain", "efficiency", "budget"):
        svg = ElementTree.fromstring(results["GoodGain"].plot(kind).svg())
        assert {"agent-a", "agent-b"} <= {t.strip() for t in svg.itertext()}, kind


def test_other_endings_are_refused(charts, tmp_path):
    with pytest.raises(UsageError, match=r"unsupported image format: 'x\.docx'"):
        charts["Comparison", "effects"].save("x.docx")
    with pytest.raises(InputError, match="cannot write"):
        charts["Comparison", "effects"].save(tmp_path / "no" / "x.svg")


def test_notebooks_get_a_specification_and_pictures(charts):
    chart = charts["Comparison", "effects"]
    bundle = chart._repr_mimebundle_()
    assert bundle["application/vnd.vegalite.v6+json"] == chart.themed()
    png_size(base64.b64decode(bundle["image/png"]))
    assert bundle["text/plain"] == repr(chart)
    html = bundle["text/html"]
    svg = base64.b64decode(html.partition("base64,")[2].partition('"')[0])
    assert ElementTree.fromstring(svg.decode()).tag.endswith("svg")


def test_what_is_missing_says_how_to_get_it(monkeypatch, results, charts):
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(MissingExtraError, match=r"a chart needs the package 'altair'") as caught:
        results["GSB"].plot()
    assert caught.value.hint == "pip install 'goodgain[plot]'"
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(MissingExtraError, match="vl-convert-python"):
        charts["GSB", "sides"].png()


# --- the numbers ---


def test_the_colour_of_a_system_is_the_same_on_all_charts(results):
    names = list(sample_results.NAMES)
    for kind in ("leaderboard", "trade-off"):
        spec = results["Comparison"].plot(kind).spec
        assert names in [v for path, v in walk(spec) if path[-3:] == ("color", "scale", "domain")]


def test_leaderboard_has_the_means_and_their_intervals(results):
    evaluated = results["Evaluation"]
    rows = table(evaluated.plot("leaderboard", measure="AP"))
    assert [r["system"] for r in rows] == sorted(evaluated.names, key=lambda n: -evaluated[n]["AP"])
    for row in rows:
        mean, low, high, n = mean_interval(evaluated[row["system"]].values("AP"))
        assert [row["mean"], row["low"], row["high"], row["queries"]] == pytest.approx(
            [mean, low, high, n]
        )


def test_leaderboard_of_sums_has_no_interval():
    qrels, runs = sample_results.collection(5)
    evaluated = gg.evaluate(qrels, runs, "NumRelRet AP")
    for row in table(evaluated.plot("leaderboard", measure="NumRelRet")):
        assert row["mean"] == evaluated[row["system"]]["NumRelRet"]
        assert row["low"] is row["high"] is None


def test_what_takes_longest_is_last(results):
    rows = table(results["Evaluation"].plot("leaderboard", measure="Latency"))
    assert [r["system"] for r in rows] == ["keyword", "dense", "hybrid"]


def test_effects_are_the_pairs(results):
    compared = results["Comparison"]
    for row in table(compared.plot("effects")):
        pair = compared[row["system"], "nDCG@10"]
        assert (row["difference"], row["low"], row["high"]) == (
            pair.difference,
            pair.low,
            pair.high,
        )
        assert row["corrected"] == pair.p_corrected
    values = compared.plot("effects").spec["data"]["values"]
    assert {v["verdict"] for v in values} == {"better"}
    worse = gg.compare(results["Evaluation"], baseline="hybrid").plot("effects")
    assert {v["verdict"] for v in worse.spec["data"]["values"]} == {"worse"}


def test_less_time_is_better(results):
    slower = results["Comparison"].plot("effects", measure="Latency")
    assert {v["verdict"] for v in slower.spec["data"]["values"]} == {"worse"}
    assert "negative is better" in slower.description


def test_differences_are_those_of_the_queries(results):
    evaluated = results["Evaluation"]
    chart = evaluated.plot("differences", system="hybrid", baseline="dense", measure="RR")
    of = {r.name: dict(zip(r.queries, r.column("RR"), strict=True)) for r in evaluated.runs}
    expected = {q: of["hybrid"][q] - of["dense"][q] for q in of["dense"]}
    assert {row["query"]: row["difference"] for row in table(chart)} == expected
    values = [row["difference"] for row in table(chart)]
    assert values == sorted(values, reverse=True)
    wins, losses = sum(d > 0 for d in values), sum(d < 0 for d in values)
    assert (
        f"better on {wins}, equal on {len(values) - wins - losses}, worse on {losses}"
        in chart.description
    )
    counts = table(evaluated.plot("histogram", system="hybrid", baseline="dense", measure="RR"))
    for row in counts:
        assert row["queries"] == sum(row["from"] <= d < row["to"] for d in values)
    assert sum(row["queries"] for row in counts) == 60


def scores(queries: int, systems: int = 3) -> dict:
    chance = random.Random(2)
    return {
        f"s{s}": {"AP": {f"q{q}": chance.random() for q in range(queries)}} for s in range(systems)
    }


def test_many_queries_stay_small_and_keep_their_sum():
    compared = gg.compare(scores(7000))
    chart = compared.plot("differences")
    assert len(json.dumps(chart.spec)) < 40_000 and len(chart.rows) == 200
    assert "Each bar is the mean of 35 or 36 queries" in chart.description
    total = sum((r["to"] - r["from"] + 1) * r["difference"] for r in table(chart))
    assert total / 7000 == pytest.approx(compared["s1", "AP"].difference)
    assert [r["from"] for r in table(chart)][1:] == [r["to"] + 1 for r in table(chart)][:-1]
    assert len(json.dumps(compared.plot("histogram").spec)) < 10_000
    # At the limit every query still has a bar of its own.
    assert len(gg.compare(scores(200)).plot("differences").rows) == 200


def test_undefined_and_missing_queries_are_left_out():
    systems = scores(10)
    systems["s1"]["AP"]["q3"] = math.nan
    del systems["s1"]["AP"]["q4"]
    chart = gg.compare(systems).plot("differences", system="s1")
    assert {r["query"] for r in table(chart)} == {f"q{i}" for i in range(10)} - {"q3", "q4"}
    assert (
        next(r for r in table(gg.compare(systems).plot("leaderboard")) if r["system"] == "s1")[
            "queries"
        ]
        == 8
    )


def test_equal_systems_have_a_chart():
    same = {"a": {"AP": {"q1": 0.5, "q2": 0.5}}, "b": {"AP": {"q1": 0.5, "q2": 0.5}}}
    for kind in ("effects", "leaderboard", "differences", "histogram"):
        png_size(gg.compare(same).plot(kind).png(scale=1))


def test_trade_off_is_the_pareto_front(results):
    means = results["Comparison"].means
    chart = results["Comparison"].plot("trade-off", measure="AP")
    front = {
        t.system: t
        for t in pareto_front({s: m["AP"] for s, m in means.items()},
                              {s: m["Latency"] for s, m in means.items()})
    }  # fmt: skip
    assert chart.columns == [
        "system", "AP", "low", "high", "Latency (ms)", "low ", "high ", "standing", "beaten by",
    ]  # fmt: skip
    for system, quality, low, high, price, cheap, dear, standing, beaten in chart.rows:
        expected = front[system]
        assert (quality, standing == "on the front") == (expected.quality, expected.on_front)
        assert (beaten is None) == expected.on_front
        assert price == pytest.approx(1000 * expected.price)
        assert low < quality < high
        assert 0 < cheap < price < dear


def test_groups_are_the_pairs_of_groups(results):
    compared = results["Comparison"]
    rows = table(compared.plot("groups", measure="RR"))
    expected = [p for p in compared.group_pairs if p.measure == "RR"]
    assert [(r["group"], r["system"], r["difference"]) for r in rows] == [
        (p.group, p.system, p.difference) for p in expected
    ]


def test_precision_and_recall_are_measured_again_where_they_must(results, tmp_path):
    evaluated = results["Evaluation"]
    qrels, runs = sample_results.collection()
    levels = [f"IPrec@{i / 10}" for i in range(11)]
    direct = gg.evaluate(qrels, runs, " ".join(levels))
    rows = table(evaluated.plot("precision-recall"))
    assert rows == table(direct.plot("precision-recall"))
    for row in rows:
        values = direct[row["system"]].values(f"IPrec@{row['recall']}")
        expected = mean_interval(values)
        assert [row[c] for c in ("precision", "low", "high", "queries")] == pytest.approx(expected)
    direct.save(tmp_path / "with.json")
    assert table(gg.Evaluation.load(tmp_path / "with.json").plot("precision-recall")) == rows
    evaluated.save(tmp_path / "without.json")
    with pytest.raises(
        InputError, match="has no precision-recall data, and its inputs are not available"
    ) as caught:
        gg.Evaluation.load(tmp_path / "without.json").plot("precision-recall")
    assert "IPrec@0.5" in caught.value.hint


def test_precision_of_several_seeds_is_their_mean():
    from goodgain.experiment.retrievers import Swarm

    texts = {f"d{i}": f"{'even' if i % 2 else 'odd'} words number {i} {i % 7}" for i in range(30)}
    queries = {f"q{i}": f"even words {i}" for i in range(6)}
    qrels = {q: {f"d{i}": 1 for i in range(n, 30, 5)} for n, q in enumerate(queries)}
    systems = {"knn": "knn", "swarm": Swarm("knn")}
    result = gg.Experiment(texts, queries, qrels, systems, seeds=[0, 1, 2], measures="MRR").run()
    rows = table(result.plot("precision-recall"))
    assert [r["system"] for r in rows] == ["knn"] * 11 + ["swarm"] * 11
    half = gg.evaluate(qrels, result.runs["swarm"], "IPrec@0.5")
    expected = np.mean([run["IPrec@0.5"] for run in half.runs])
    assert next(r for r in rows[11:] if r["recall"] == 0.5)["precision"] == pytest.approx(expected)


@pytest.mark.parametrize("measure", ["CG", "RG@i", "DCG", "SRE", "MarginalGain", "nCG", "Tokens"])
@pytest.mark.parametrize("align", ["active", "carry"])
def test_gain_by_iteration_is_the_figures(measure, align):
    traces = [sample_results.trace(s, n) for s in ("a", "b") for n in range(9)]
    result = gg.good_gain(traces, align=align)
    rows = table(result.plot("gain", measure=measure))
    longest = max(s.iterations for s in result.systems)
    assert {r["iteration"] for r in rows} == set(range(1, longest + 1))
    for r in rows:
        f = result.figure(measure, r["iteration"], r["system"])
        undefined = [None if math.isnan(v) else v for v in (f.low, f.high)]
        assert [r["value"], r["n"], r["low"], r["high"]] == [f.value, f.n, *undefined]


def test_budgets_are_the_curves(results):
    result = results["GoodGain"]
    for budget in ("searches", "seconds", "tokens"):
        rows = result.plot("budget", budget=budget).rows
        for name in result.names:
            curve = [(x, y) for s, x, y in rows if s == name]
            assert curve == [(0, 0), *result.budget_curve(budget, name)]
    with pytest.raises(InputError, match="the traces do not record cost"):
        result.plot("budget", budget="cost")


def test_stopping_rules_are_their_outcomes(results):
    result = results["Stopping"]
    for system in result.names:
        rows = table(result.plot("stopping", budget="seconds", system=system))
        assert [r["rule"] for r in rows] == list(result.rules)
        for row, o in zip(rows, (o for o in result.outcomes if o.system == system), strict=True):
            assert (row["gain"], row["spent"]) == (o.retained.value, 1 - o.saved["seconds"].value)
            assert row["best gain"] == o.best["seconds"] and row["needs labels"] == o.is_oracle
            assert row["gain"] <= row["best gain"] + 1e-9
    with pytest.raises(InputError, match="cost of 'agent-a' are not known for every conversation"):
        result.plot(budget="cost")
    with pytest.raises(UsageError, match="unknown budget 'money'"):
        result.plot(budget="money")
    assert result.plot().key == "stopping-tokens"
    assert results["GoodGain"].plot("stopping").rows[0][0] == "after 1"
    with pytest.raises(InputError, match="no gain is known for 'agent-a'"):
        sample_results.good_gain(labelled=0).plot("stopping")


def test_names_of_rules_and_functions_are_only_text():
    rules = {name: (lambda progress: progress.searches >= 2) for name in HOSTILE}
    chart = gg.stopping(sample_results.good_gain(("a",)), rules).plot()
    assert [row[0] for row in chart.rows] == list(HOSTILE)
    assert all("\x1b" not in str(value) for _, value in walk(chart.spec))


def test_a_curve_that_falls_because_conversations_end_says_so():
    long, short = sample_results.trace("a", 1), sample_results.trace("a", 2)
    short["turns"][0]["iterations"] = short["turns"][0]["iterations"][:1]
    long["turns"][0]["iterations"] *= 3
    sentence = "Conversations end: 2 reach iteration 1, and 1 the last one"
    assert sentence in gg.good_gain([long, short]).plot("gain").description
    for quiet in (
        gg.good_gain([long, short], align="carry").plot("gain"),
        gg.good_gain([long, short]).plot("marginal"),
        gg.good_gain([long]).plot("gain"),
    ):
        assert "Conversations end" not in quiet.description


def test_without_labels_only_what_is_known_is_shown():
    result = sample_results.good_gain(labelled=0)
    assert result.plot().title == "UR@i by iteration"
    assert {r["measure"] for r in table(result.plot("efficiency"))} == {"SRR"}
    for kind in ("marginal", "budget"):
        with pytest.raises(InputError, match="no result has a label"):
            result.plot(kind)
    assert (
        "no label and count as no gain" in sample_results.good_gain(labelled=0.5).plot().description
    )


def test_a_band_of_two_conversations_does_not_hide_the_rest():
    result = sample_results.good_gain()
    chart = result.plot("gain")
    highest = max(r["value"] for r in table(chart))
    (domain,) = {
        tuple(v["domain"]) for path, v in walk(chart.spec)
        if path[-2:] == ("y", "scale")
    }  # fmt: skip
    assert max(r["high"] or 0 for r in table(chart)) > 2 * highest  # there is one
    assert domain == (0, pytest.approx(1.35 * highest))


def test_confusion_and_reliability_are_the_matrix(results):
    calibration = results["Calibration"]
    for row in table(calibration.plot("confusion")):
        i, j = (calibration.grades.index(float(row[k])) for k in ("human", "judge"))
        assert row["documents"] == calibration.matrix[i][j]
        assert row["share of the row"] == pytest.approx(
            calibration.matrix[i][j] / sum(calibration.matrix[i])
        )
    from statsmodels.stats.proportion import proportion_confint

    matrix = np.array(calibration.matrix)
    for row in table(calibration.plot("reliability")):
        column = matrix[:, calibration.grades.index(float(row["judge"]))]
        good = column[[g >= 2 for g in calibration.grades]].sum()
        assert row["labelled good"] == pytest.approx(good / column.sum())
        expected = proportion_confint(good, column.sum(), method="wilson")
        assert (row["low"], row["high"]) == pytest.approx(expected)


def test_corrected_means_are_those_of_the_calibration(results):
    rows = table(results["Calibration"].plot("corrected"))
    for row, c in zip(rows, results["Calibration"].corrected, strict=True):
        assert (row["run"], row["corrected"], row["human labels"], row["judge labels"]) == (
            c.run, c.corrected, c.human, c.labels
        )  # fmt: skip


def test_labels_are_counted(results):
    rows = table(results["Labels"].plot())
    gains = [label.gain for label in results["Labels"]]
    assert {r["label"]: r["documents"] for r in rows} == {
        f"{g:g}": gains.count(g) for g in set(gains)
    }


def test_sides_and_checks(results):
    assert {r["label"]: r["items"] for r in table(results["GSB"].plot())} == {
        "bad": 4,
        "same": 5,
        "good": 12,
    }
    (check,) = results["Gate"].checks
    (row,) = table(results["Gate"].plot())
    assert (row["difference"], row["bound"], row["margin"]) == (
        check.difference,
        check.bound,
        check.margin,
    )


# --- refusals ---


def test_what_cannot_be_drawn_is_said(results):
    with pytest.raises(UsageError, match="unknown chart 'pie'"):
        results["Comparison"].plot("pie")
    with pytest.raises(
        UsageError, match="chart 'gain' is not available for a Comparison"
    ) as caught:
        results["Comparison"].plot("gain")
    assert caught.value.hint.startswith("available charts: effects, leaderboard")
    with pytest.raises(UsageError, match="unknown option 'budget' for chart 'effects'"):
        results["Comparison"].plot("effects", budget="tokens")
    with pytest.raises(UsageError, match="measure 'nope' not found"):
        results["Comparison"].plot("effects", measure="nope")
    with pytest.raises(UsageError, match="baseline 'nope' not found"):
        results["Evaluation"].plot("differences", baseline="nope")
    with pytest.raises(UsageError, match="measure 'AreaSearches' is not available by iteration"):
        results["GoodGain"].plot("gain", measure="AreaSearches")
    with pytest.raises(UsageError, match="cannot plot an int"):
        plot(3)


def test_results_without_what_a_chart_needs(results, tmp_path):
    one = sample_results.evaluation(("keyword",))
    with pytest.raises(UsageError, match="needs two systems, got one"):
        one.plot("differences")
    png_size(one.plot("trade-off").png(scale=1))
    with pytest.raises(InputError, match="no groups to plot"):
        gg.compare(results["Evaluation"]).plot("groups")
    with pytest.raises(InputError, match="no measure of time or cost"):
        gg.evaluate({"q": {"d": 1}}, {"q": {"d": 1.0}}, "AP").plot("trade-off")
    results["Comparison"].save(tmp_path / "c.json")
    loaded = gg.Comparison.load(tmp_path / "c.json")
    with pytest.raises(InputError, match="a saved comparison has no per-query scores"):
        loaded.plot("differences")
    assert loaded.plot("effects").spec == results["Comparison"].plot("effects").spec
    assert [r["low"] for r in table(loaded.plot("leaderboard"))] == [None] * 3
    empty = gg.good_gain([{"conversation": "c", "turns": []}])
    with pytest.raises(InputError, match="no data to plot"):
        empty.plot("gain")
