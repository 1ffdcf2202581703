"""The funnel on the page: charts and tables with the numbers of the result, and evidence by conversation."""

from __future__ import annotations

import pytest
import sample_results
from playwright.sync_api import expect
from test_accessible import serious

import goodgain as gg
from goodgain.errors import InputError, UsageError
from goodgain.reports.contents import gather_contents
from goodgain.reports.sections import funnel


@pytest.fixture(scope="module")
def result():
    return sample_results.answered()


def section(result):
    return funnel.section(gather_contents([result]))


def table(result, key):
    return next(e for e in section(result).elements if getattr(e, "key", "") == key)


def test_the_chart_has_the_steps(result):
    rows = result.plot("funnel").rows
    for system in result.funnel.systems:
        own = [row[1:] for row in rows if row[0] == system.name]
        known = system.steps[0].evidence
        assert [row[:5] for row in own[:-1]] == [
            [{"known": "evidence known"}.get(s.name, s.name), s.evidence, known, s.share, s.lost]
            for s in system.steps
        ]
        right, wrong = system.answers["right"], system.answers["wrong"]
        assert own[-1][:5] == ["answer right", right, right + wrong, right / (right + wrong), wrong]
        assert known == own[-2][1] + sum(row[4] for row in own[:-1])  # cited, and all losses


@pytest.mark.parametrize("which", ["any", "all"])
def test_the_square_has_the_cells(result, which):
    for system in result.funnel.systems:
        chart = result.plot("answers", evidence=which, system=system.name)
        square = system.square(which)
        assert [row[2:] for row in chart.rows] == [
            [c.count, c.share, c.low, c.high] for c in square.cells
        ]
        assert chart.description.startswith(f"{square.n} conversations by whether")


def test_what_cannot_be_drawn():
    plain = sample_results.good_gain()
    with pytest.raises(InputError, match="no answer was checked"):
        plain.plot("answers")
    with pytest.raises(UsageError, match="invalid evidence='some'"):
        sample_results.answered().plot("answers", evidence="some")
    with pytest.raises(InputError, match="no evidence is known"):
        sample_results.good_gain(labelled=0).plot("funnel")
    assert section(plain) is None  # neither an open, nor a citation, nor an answer


def test_answers_that_are_not_known_are_said_to_be():
    traces, labels, answers = sample_results.answered_traces(("agent",))
    for trace in traces[:4]:
        del trace["turns"][0]["answer"]
    result = gg.good_gain(traces, labels=labels, answers=answers)
    square = result.funnel["agent"].square("any")
    assert square.unknown == 4
    assert (
        "4 conversations left out: their evidence or their answer"
        in result.plot("answers").description
    )
    assert "4 missing or not judged" in str(result.plot("funnel").spec)
    assert table(result, "square").rows[-1][:2] == ["not known", 4]


def test_the_tables_have_the_figures(result):
    rows = {row[0].split(" ")[0]: row[1:] for row in table(result, "evidence").rows}
    for name in ("Answer", "EvidenceRecall", "Searches", "CalibrationError", "CitationPrecision"):
        assert [cell.value for cell in rows[name]] == [s.figure(name).value for s in result.systems]
    square = table(result, "square")
    assert [column.name for column in square.columns[1::2]] == [
        "agent-a, any", "agent-a, all", "agent-b, any", "agent-b, all"
    ]  # fmt: skip
    cells = result.funnel["agent-b"].square("all").cells
    assert [row[7] for row in square.rows[:4]] == [c.count for c in cells]
    assert [row[8].value for row in square.rows[:4]] == [100 * c.share for c in cells]
    counts = {row[0]: row[1:3] for row in table(result, "citations").rows}
    assert counts["cited"] == [s.citations["cited"] for s in result.funnel.systems]


def test_hops_have_a_table():
    traces, labels, answers = sample_results.answered_traces(("agent",))
    rows = [
        {"query": c, "doc": d, "gain": g, "hop": d[-1]} for c, docs in labels.items() for d, g in docs.items()
    ]  # fmt: skip
    result = gg.good_gain(traces, labels=rows, answers=answers)
    hops = result.funnel["agent"].hops
    assert len(hops) == 3
    listed = table(result, "hops").rows
    assert [row[1:] for row in listed] == [list(hop.values()) for hop in hops]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_page(look, tmp_path, dark, width):
    page = tmp_path / "page.html"
    sample_results.answered(("agent", "<img src=x onerror='window.ran=1'>")).report(page)
    opened = look(page, dark=dark, width=width)
    opened.draw_charts()
    assert serious(opened.page) == []
    assert (
        opened.page.locator("#chart-funnel svg, #chart-answers-1 svg, #chart-answers-2 svg").count()
        == 3
    )
    sideways = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert opened.page.evaluate(sideways) == 0


def test_the_evidence_of_a_conversation(result, look, tmp_path):
    page = tmp_path / "page.html"
    result.report(page)
    opened = look(page).page
    first = next(result.funnel.conversations("agent-a"))
    opened.locator("#table-conversations tbody .open").first.press("Enter")
    rows = opened.locator("dialog[open] #table-conversations-evidence tbody tr")
    expect(rows).to_have_count(len(first.evidence))
    for row, e in zip(rows.all(), first.evidence, strict=True):
        place = f"{e.iteration}.{e.search}.{e.rank}" if e.iteration else "–"
        cells = [cell.inner_text() for cell in row.locator("th, td").all()]
        was_opened = "–" if e.opened is None else f"iteration {e.opened}"
        assert cells == [e.name, f"{e.gain:.2f}", place, was_opened, "yes" if e.cited else "no"]
    note = opened.locator("dialog[open] .table", has_text="Known good results").inner_text()
    verdict = "right" if first.answer == 1 else "wrong"
    assert f"The answer is {verdict}. Stated confidence: {round(100 * first.confidence)}%." in note
    returned = next(e for e in first.evidence if e.iteration)
    place = f"{returned.iteration}.{returned.search}.{returned.rank}"
    evidence = opened.locator("dialog[open] #table-conversations-evidence")
    evidence.get_by_role("button", name=f"Go to result {place}").click()
    expect(opened.locator(".result.target")).to_contain_text(f"Document {returned.name}")
    assert serious(opened) == []
