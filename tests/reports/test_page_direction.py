"""The direction of a measure holds on the whole page: order, best marks, words, colours, counts."""

from __future__ import annotations

import base64
import json
import random
import re
import struct
import subprocess
import sys
from dataclasses import dataclass
from html import unescape

import pytest
import sample_results
from playwright.sync_api import expect

import goodgain as gg
from goodgain.cli import run
from goodgain.reports import report, report_text
from goodgain.reports.theme import LIGHT
from goodgain.reports.view.pages import page as view_page

QUERIES = 30


def rows(column: str) -> list[dict]:
    """Scores of three systems: `low` has the lowest values, `high` the highest."""
    chance = random.Random(5)
    levels = {"middle": 0.5, "high": 0.8, "low": 0.2}
    return [
        {"system": s, "query_id": f"q{q}", column: level + chance.uniform(-0.1, 0.1)}
        for s, level in levels.items()
        for q in range(QUERIES)
    ]


def with_costs() -> list[dict]:
    """Quality that hardly differs, and a cost that does."""
    chance = random.Random(6)
    return [{**row, "nDCG@10": 0.5 + chance.uniform(-0.1, 0.1)} for row in rows("cost_usd")]


def agents() -> gg.GoodGain:
    """`again` returns nearly everything twice, `once` nearly nothing."""
    traces = []
    for system, repeated in (("some", 2), ("again", 4), ("once", 0)):
        for c in range(12):
            searches = []
            for i in range(3):
                pages = [0 if r < repeated - c % 2 else 10 * i + r for r in range(5)]
                results = [
                    {
                        "url": f"https://example.org/{c}/{page}",
                        "title": f"Page {page} of {c}",
                        "gain": 2,
                    }
                    for page in pages
                ]
                searches.append({"searches": [{"query": f"{c} {i}", "results": results}]})
            turn = {"user": f"question {c}", "iterations": searches}
            traces.append({"conversation": f"c{c}", "system": system, "turns": [turn]})
    return gg.good_gain(traces)


@dataclass(frozen=True)
class Case:
    """A comparison, the measure that it is about, and the systems from best to worst."""

    comparison: gg.Comparison
    label: str
    order: tuple[str, ...]
    title: str  # of the measure in tables


LOW_FIRST, HIGH_FIRST = ("low", "middle", "high"), ("high", "middle", "low")
AGENTS = ("once", "some", "again")
CASES = {
    "stated lower": lambda: Case(
        gg.compare(rows("wer"), lower_is_better=["wer"]), "wer", LOW_FIRST, "wer ↓"
    ),
    "an arrow": lambda: Case(gg.compare(rows("wer ↓")), "wer ↓", LOW_FIRST, "wer ↓"),
    "an arrow that the user contradicts": lambda: Case(
        gg.compare(rows("wer ↓"), higher_is_better=["wer"]), "wer ↓", HIGH_FIRST, "wer"
    ),
    "stated higher": lambda: Case(
        gg.compare(rows("time_saved"), higher_is_better=["time_saved"]), "time_saved", HIGH_FIRST,
        "time_saved",
    ),
    "a registered measure, turned over": lambda: Case(
        gg.compare(rows("nDCG@10"), lower_is_better=["nDCG@10"]), "nDCG@10", LOW_FIRST, "nDCG@10 ↓"
    ),
    "SRR of agents": lambda: Case(
        gg.compare(agents(), measures=["SRR", "DupR@i"]), "SRR", AGENTS, "SRR ↓"
    ),
    "DupR@i of agents": lambda: Case(
        gg.compare(agents(), measures=["DupR@i", "SRR"]), "DupR@i", AGENTS, "DupR@i ↓"
    ),
    "repetition that the user wants": lambda: Case(
        gg.compare(agents(), measures=["SRR"], higher_is_better=["SRR"]), "SRR", AGENTS[::-1], "SRR"
    ),
}  # fmt: skip


@pytest.fixture(params=CASES)
def case(request) -> Case:
    return CASES[request.param]()


@pytest.fixture(params=["live", "saved"])
def result(request, case, tmp_path) -> gg.Comparison:
    """The comparison itself, and as it was saved: without scores, with its measures."""
    if request.param == "live":
        return case.comparison
    case.comparison.save(tmp_path / "saved.json")
    return gg.Comparison.load(tmp_path / "saved.json")


def blocks(text: str) -> dict:
    matches = re.findall(
        r'<script type="application/json" id="data-([^"]+)">(.*?)</script>', text, re.S
    )
    return {key: json.loads(value) for key, value in matches}


def elements(text: str) -> dict[str, dict]:
    """Tables by their keys, charts by "chart-" and their keys."""
    page = blocks(text)["page"]
    return {
        ("chart-" if e["kind"] == "chart" else "") + e["key"]: e
        for s in page["sections"]
        for e in s["elements"]
        if e["kind"] in ("table", "chart")
    }


def lead(text: str) -> str:
    """What opens the page, as it reads without scripts: a line for each thing that it says."""
    html = re.search(r'<section id="opening"[^>]*>(.*?)</section>', text, re.S)[1]
    html = re.sub(r"<svg.*?</svg>", "", html)
    html = re.sub(r"</dt>", ": ", re.sub(r"</dd>|</p>|</strong> ", "\n", html))
    return unescape(re.sub(r"<[^>]+>", "", html))


def best_cells(table: dict, title: str) -> list[str]:
    """The systems whose value of a measure is marked as the best."""
    column = next(i for i, c in enumerate(table["columns"]) if c["name"] == title)
    return [row[0]["value"] for row in table["rows"] if row[column].get("best")]


def test_leaderboards(case, result):
    page = elements(report_text(result))
    table = page["leaderboard"]
    assert [row[0]["value"] for row in table["rows"]] == list(case.order)
    assert best_cells(table, case.title) == [case.order[0]]
    chart = result.plot("leaderboard", measure=case.label)
    assert [row[0] for row in chart.rows] == list(case.order)
    is_lower = case.title.endswith("↓")
    assert ("(lower is better)" in chart.description) == is_lower
    assert ("(lower is better)" in json.dumps(chart.spec)) == is_lower


def test_headline(case, result):
    best, middle, worst = case.order
    text = lead(report_text(result))
    assert text.startswith(f"Better\n{best} is better than {middle} by {case.label}.\n")
    assert f"Others: {worst} is worse than {middle}\n" in text
    assert (", lower is better: " in text) == case.title.endswith("↓")
    pair = case.comparison[best, case.label]
    assert f": {pair.difference:+.3f}, 95% interval {pair.low:+.3f} to {pair.high:+.3f}, " in text
    noun = "12 conversations" if case.order[1] == "some" else f"{QUERIES} queries"
    assert f" on {noun}" in text


def test_effects_and_the_table_of_differences(case, result):
    best, _, worst = case.order
    expected = {best: "better", worst: "worse"}
    chart = result.plot("effects", measure=case.label)
    assert {v["system"]: v["verdict"] for v in chart.spec["data"]["values"]} == expected
    sign = "negative" if case.title.endswith("↓") else "positive"
    assert f"{sign} is better" in chart.description
    table = elements(report_text(result))["differences"]
    names = [c["name"] for c in table["columns"]]
    difference, verdict = names.index("difference"), names.index("verdict")
    own = [r for r in table["rows"] if r[1] == case.title]
    assert {r[0]: r[difference]["tone"] for r in own} == expected
    assert {r[0]: r[verdict] for r in own} == expected


def test_queries(case):
    """The counts of the charts are the pair's, and the flag for the page's script is the measure's."""
    best, middle, worst = case.order
    comparison = case.comparison
    for system in (best, worst):
        pair = comparison[system, case.label]
        counts = f"better on {pair.wins}, equal on {pair.ties}, worse on {pair.losses}"
        for kind in ("differences", "histogram"):
            chart = comparison.plot(kind, measure=case.label, system=system)
            assert counts in chart.description
        assert pair.wins > pair.losses if system == best else pair.wins < pair.losses
    chart = comparison.plot("differences", measure=case.label, system=best)
    values = next(
        layer["data"]["values"]
        for layer in chart.spec["layer"]
        if layer.get("data", {}).get("values") != [{}]
    )
    outcomes = [v["outcome"] for v in values]
    assert outcomes.count("better") == comparison[best, case.label].wins
    ranks = {"better": 0, "equal": 1, "worse": 2}
    assert [ranks[o] for o in outcomes] == sorted(ranks[o] for o in outcomes)  # best first
    data = blocks(report_text(comparison))["queries"]
    (index,) = [i for i, m in enumerate(data["measures"]) if m["name"] == case.label]
    measure = data["measures"][index]
    assert (measure["lower"], measure["title"]) == (case.title.endswith("↓"), case.title)
    base, own = (unpacked(data["values"][data["systems"].index(s)][index]) for s in (middle, best))
    better = sum(
        (b - a) * (-1 if measure["lower"] else 1) > 0 for a, b in zip(base, own, strict=True)
    )
    assert better == comparison[best, case.label].wins


def unpacked(column: dict[str, str]) -> tuple[float, ...]:
    data = base64.b64decode(column["f64"])
    return struct.unpack(f"<{len(data) // 8}d", data)


def test_groups():
    groups = {f"q{q}": ("short", "long")[q % 2] for q in range(QUERIES)}
    compared = gg.compare(rows("wer"), lower_is_better=["wer"], by=groups)
    table = elements(report_text(compared))["group-differences"]
    tones = {(r[0], r[1]): r[5]["tone"] for r in table["rows"]}
    assert tones == {
        (g, s): tone
        for g in ("short", "long")
        for s, tone in (("low", "better"), ("high", "worse"))
    }
    assert {r[2] for r in table["rows"]} == {"wer ↓"}
    assert "negative is better" in compared.plot("groups").description


# --- time and cost ---


@pytest.mark.parametrize("saved", [False, True], ids=["live", "saved"])
def test_a_cost_is_lower_unless_the_user_says_otherwise(saved, tmp_path):
    def pages(**options):
        compared = gg.compare(with_costs(), **options)
        if saved:
            compared.save(tmp_path / "saved.json")
            compared = gg.Comparison.load(tmp_path / "saved.json")
        return compared, elements(report_text(compared))

    compared, page = pages()
    assert compared.measure("cost_usd").is_cost
    assert best_cells(page["leaderboard"], "cost_usd ↓") == ["low"]
    effects = compared.plot("effects", measure="cost_usd")
    expected = {"low": "better", "high": "worse"}
    assert {v["system"]: v["verdict"] for v in effects.spec["data"]["values"]} == expected
    assert front(page)["low"] == "on the front"
    cheapest, *_ = page["pareto"]["rows"]
    assert cheapest[0] == "low"  # the best price first
    assert "lower is better" in json.dumps(page["chart-trade-off"]["spec"])
    assert {row[1] for row in page["prices"]["rows"]} == {"cost_usd ↓"}
    cost = re.search(r"Cost: cost_usd (\S+) vs (\S+) \((\S+) less\)", lead(report_text(compared)))
    assert [text[0] for text in cost.groups()] == ["$", "$", "$"]
    compared, page = pages(higher_is_better=["cost_usd"])
    assert best_cells(page["leaderboard"], "cost_usd") == ["high"]
    effects = compared.plot("effects", measure="cost_usd")
    assert {v["system"]: v["verdict"] for v in effects.spec["data"]["values"]} == {
        "low": "worse",
        "high": "better",
    }
    assert front(page)["high"] == "on the front"
    assert "cost_usd, higher is better" in json.dumps(page["chart-trade-off"]["spec"])
    assert {t.system for t in compared.trade_off if t.on_front} == {
        s for s, on in front(page).items() if on == "on the front"
    }


def front(page: dict) -> dict[str, str]:
    table = {row[0]: row[-2]["value"] for row in page["pareto"]["rows"]}
    chart = {row[0]: row[-2] for row in page["chart-trade-off"]["rows"]}
    assert {s for s, on in table.items() if on == "on the front"} == {
        s for s, on in chart.items() if on == "on the front"
    }
    return table


@pytest.mark.parametrize("kind", ["effects", "leaderboard", "trade-off", "groups"])
def test_saved_comparisons_with_latency_are_drawn(kind, tmp_path, capsys):
    path = tmp_path / "compared.json"
    sample_results.comparison().save(path)
    assert run(["plot", kind, str(path), "-o", str(tmp_path / "x.svg"), "-q"]) == 0
    assert run(["report", str(path), "-o", str(tmp_path / "x.html"), "-q"]) == 0
    viewed = view_page([path]).decode()
    page = elements((tmp_path / "x.html").read_text())
    assert set(elements(viewed)) == set(page)
    assert {"chart-trade-off", "pareto", "prices"} <= set(page)
    cells = [cell for row in page["pareto"]["rows"] for cell in row]
    assert not any(
        isinstance(cell, dict) and cell.get("best") for cell in cells
    )  # a front has no best
    assert page["prices"]["rows"][0][:3] == ["keyword", "Latency ↓", "s"]


def test_a_saved_comparison_tells_the_evaluation_its_directions(tmp_path):
    evaluated = sample_results.evaluation()
    gg.compare(evaluated, lower_is_better=["nDCG@10"]).save(tmp_path / "compared.json")
    loaded = gg.Comparison.load(tmp_path / "compared.json")
    text = report_text(loaded, gg.Evaluation.from_dict(evaluated.to_dict()))
    assert lead(text).startswith("Worse\ndense is worse than keyword by nDCG@10.\n")
    table = elements(text)["leaderboard"]
    assert best_cells(table, "nDCG@10 ↓") == ["keyword"]
    assert blocks(text)["queries"]["measures"][0]["lower"] is True
    for key in ("chart-leaderboard", "chart-differences", "chart-histogram"):
        assert "(lower is better)" in json.dumps(elements(text)[key]["spec"])


def test_a_measure_under_another_label_has_its_values():
    """`compare` may print a measure as the user wrote it, not as the scores name it."""
    evaluated = sample_results.evaluation()
    compared = gg.compare(evaluated, measures=["ndcg_cut_10"])
    data = blocks(report_text(compared))["queries"]
    values = unpacked(data["values"][0][0])
    assert list(values) == pytest.approx(evaluated["keyword"].column("nDCG@10"))


# --- agents ---


@pytest.mark.parametrize("labelled", [1.0, 0.5, 0.0])
def test_pages_that_compare_agents(labelled, tmp_path, look):
    result = sample_results.good_gain(labelled=labelled)
    compared = gg.compare(result)
    path = tmp_path / "agents.html"
    report(compared, result, output=path)
    text = path.read_text()
    words = lead(text)
    page = elements(text)
    verdicts = {r[2]: r[7] for r in page["agents"]["rows"]}
    if labelled == 1:
        assert words.startswith(
            "Not enough evidence\nagent-b is not shown to be better or worse than agent-a by CG"
        )
        assert "on 12 conversations" in words and re.search(r"about \S+ conversations", words)
    elif labelled:
        pair = compared["agent-b", "CG"]
        assert compared.verdict(pair) == "open"
        assert words.startswith(
            "Not enough evidence\nMissing labels leave open whether agent-b is better than agent-a by CG"
        )
        assert f"could be {pair.bound_low:+.3f} to {pair.bound_high:+.3f}" in words
        assert verdicts["CG@i"] == "open" and verdicts["SRR@i ↓"] != "open"
        chart = compared.plot("effects")
        assert [v["verdict"] for v in chart.spec["data"]["values"]] == ["open"]
        assert "Open: missing labels allow another verdict." in chart.description
        assert LIGHT.series[3] in chart.svg()
        tones = {r[1]: r[2].get("tone", "") for r in page["differences"]["rows"]}
        assert tones["CG"] == ""
    else:
        assert words.startswith(
            "Not enough evidence\nagent-b is not shown to be better or worse than agent-a by SRR"
        )
        assert "CG@i" not in verdicts
    assert "12 conversations" in words and "quer" not in words
    opened = look(path)
    assert opened.page.locator("#queries h2").inner_text() == "Conversations"
    table = opened.page.locator("#table-queries")
    assert table.locator("h3").inner_text() == "All conversations"
    assert "Select a conversation to see its values." in table.locator(".note").inner_text()
    first = table.locator("tbody .open").first.inner_text()  # the worst regression
    table.locator("tbody .open").first.press("Enter")
    expect(opened.page.locator("dialog[open] h2")).to_have_text(f"Conversation {first}")
    opened.page.keyboard.press("Escape")
    opened.draw_charts()


def test_agents_with_a_baseline_are_compared():
    text = report_text(agents(), baseline="again")
    assert "than again by CG" in lead(text)
    assert elements(text)["leaderboard"]["rows"]


# --- gates ---


def test_the_gate_names_what_is_open_and_what_lacks_evidence(tmp_path):
    for labelled, verdict in ((0.5, "open"), (0.0, "no evidence")):
        gate = gg.gate(
            sample_results.good_gain(labelled=labelled), measures=["CG", "SRR"], margin=0.5
        )
        chart = gate.plot()
        rows_ = {row[0]: dict(zip(chart.columns, row, strict=True)) for row in chart.rows}
        assert rows_["CG"]["verdict"] == verdict
        assert rows_["CG"]["reason"] == gate.checks[0].reason
        assert gate.checks[0].reason in chart.description
        assert rows_["SRR ↓"]["verdict"] in ("no worse", "not shown", "worse")
        svg = chart.svg()
        assert verdict in svg and "NaN" not in svg
        by_measure = {v["measure"]: v for v in chart.spec["data"]["values"]}
        assert by_measure["CG"]["margin"] == -0.5 and by_measure["SRR ↓"]["margin"] == 0.5
    assert by_measure["CG"]["difference"] is None
    assert "12 conversations" in chart.description


# --- measures that are not registered here ---


def test_a_saved_evaluation_with_a_measure_of_another_process(tmp_path):
    path = tmp_path / "scores.json"
    script = f"""
import sys
sys.path[:0] = {sys.path!r}
import goodgain as gg, sample_results
from goodgain.measures.custom import register
register("Misses", lambda gains: float(sum(g == 0 for g in gains[:10])), lower_is_better=True)
qrels, runs = sample_results.collection(20)
gg.evaluate(qrels, runs, "Misses nDCG@10").save({str(path)!r})
"""
    subprocess.run([sys.executable, "-c", script], check=True)
    loaded = gg.Evaluation.load(path)
    means = loaded.means
    text = report_text(loaded, baseline="keyword")
    best = min(means, key=lambda s: means[s]["Misses"])
    assert best_cells(elements(text)["leaderboard"], "Misses ↓") == [best]
    assert lead(text).startswith(f"Better\n{best} is better than keyword by Misses.\n")
    chart = loaded.plot("leaderboard")
    assert chart.rows[0][0] == best
    definitions = {row[0]: row for row in elements(text)["definitions"]["rows"]}
    assert definitions["Misses"][3] == "lower"


# --- in a browser ---


def test_the_page_of_a_lower_measure(tmp_path, look):
    """Bold, arrows, tones and filters, as people see them."""
    path = tmp_path / "wer.html"
    gg.compare(rows("wer"), lower_is_better=["wer"]).report(path)
    page = look(path).page
    board = page.locator("#table-leaderboard")
    assert board.locator("tbody th").all_inner_texts() == ["low", "middle (baseline)", "high"]
    assert board.locator("strong").count() == 1
    assert board.locator("tbody tr").first.locator("strong").count() == 1
    assert board.locator("thead").inner_text().split() == ["system", "rank", "wer", "↓"]
    tones = {
        row.locator("th").inner_text(): row.locator("td.better, td.worse").get_attribute("class")
        for row in page.locator("#table-differences tbody tr").all()
    }
    assert "better" in tones["low"] and "worse" in tones["high"]
    table = page.locator("#table-queries")
    choice = table.get_by_label("Filter by difference")
    choice.select_option(label="low better")
    expect(table.locator(".status")).to_contain_text(f"{QUERIES} queries")
    choice.select_option(label="high better")
    expect(table.locator(".status")).to_contain_text(f"0 of {QUERIES} queries")
    choice.select_option(label="high worse")
    expect(table.locator(".status")).to_contain_text(f"{QUERIES} queries")
    assert table.locator("td.better").count() == table.locator("td.worse").count() > 0
    table.locator("tbody .open").first.press("Enter")
    values = page.locator("dialog[open] #table-query-values")
    assert values.locator("tbody th").inner_text() == "wer ↓"
    cells = [c.inner_text() for c in values.locator("tbody td").all()]
    best = values.locator("tbody strong").inner_text()
    assert float(best) == min(float(c.split()[0]) for c in cells)
