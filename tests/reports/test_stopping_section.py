"""The section on stopping: charts, table and headline, of Good Gain and of rules that were chosen."""

from __future__ import annotations

import pytest
import sample_results
from test_accessible import serious

import goodgain as gg
from goodgain.cli import run
from goodgain.reports.card import opening
from goodgain.reports.contents import gather_contents
from goodgain.reports.sections import stopping


def headline(*results):
    return opening(gather_contents(results)).text


def section(*results):
    return stopping.section(gather_contents(results))


def test_good_gain_has_the_usual_rules():
    gain = sample_results.good_gain(("agent",), count=20)
    shown = section(gain)
    keys = [element.key for element in shown.elements if hasattr(element, "key")]
    assert keys == ["stopping-tokens", "stopping-searches", "stopping"]
    table = next(e for e in shown.elements if getattr(e, "key", "") == "stopping")
    result = gg.stopping(gain)
    assert [row[0] for row in table.rows] == [
        f"{o.rule} (oracle)" if o.is_oracle else o.rule for o in result.outcomes
    ]
    for row, o in zip(table.rows, result.outcomes, strict=True):
        assert row[2].value == pytest.approx(100 * o.retained.value)
        assert row[-1] == pytest.approx(100 * o.best["tokens"])
    notes = [e.text for e in shown.elements if getattr(e, "style", "") == "note"]
    assert any("labels, which no agent has" in note for note in notes)


def test_several_systems_have_a_chart_each():
    shown = section(sample_results.good_gain(count=20))
    keys = [element.key for element in shown.elements if hasattr(element, "key")]
    assert keys == ["stopping-tokens-1", "stopping-tokens-2", "stopping"]


def test_nothing_to_stop_or_to_lose_is_no_section():
    assert section(sample_results.good_gain(labelled=0)) is None
    one = {"searches": [{"query": "q", "results": [{"id": "a", "gain": 4}]}]}
    assert section(gg.good_gain([{"conversation": "c", "turns": [{"iterations": [one]}]}])) is None


def test_chosen_rules_replace_the_usual_ones_and_make_the_headline():
    gain = sample_results.good_gain(("agent",), count=20)
    chosen = gg.stopping(gain, ["after 2"])
    table = next(e for e in section(gain, chosen).elements if getattr(e, "key", "") == "stopping")
    assert [row[0] for row in table.rows] == ["after 2"]
    text = headline(gain, chosen)
    assert "agent has a mean good gain of" in text
    assert f"{chosen.sentences()[0]}." in text and "more outcome" not in text
    assert "more outcomes below" in headline(gg.stopping(gain))


@pytest.mark.parametrize("share", [0.0, 0.5])
def test_traces_without_labels_have_no_gain_in_the_headline(share):
    labelled = sample_results.good_gain(("a",), labelled=share)
    text = headline(labelled)
    assert ("its gain is unknown" in text) == (share == 0) and ("good gain of" in text) == (
        share > 0
    )
    unread = {"searches": [{"query": "q", "results": [], "unread": "not kept"}]}
    hosted = gg.good_gain([{"conversation": "c", "turns": [{"iterations": [unread]}]}])
    assert "its gain is unknown" in headline(hosted) and "0.00" not in headline(hosted)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_of_saved_rules(look, tmp_path, dark, width):
    names = ("agent", "<img src=x onerror='window.ran=1'>")
    result = gg.stopping(sample_results.good_gain(names, labelled=0.9, count=15))
    result.save(tmp_path / "stopping.json")
    page = tmp_path / "page.html"
    assert run(["report", str(tmp_path / "stopping.json"), "-o", str(page), "-q"]) == 0
    opened = look(page, dark=dark, width=width)
    opened.draw_charts()
    assert serious(opened.page) == []
    cells = opened.page.locator("#table-stopping tbody tr").first.inner_text()
    assert "after 1" in cells and "of 15 conversations" in cells
    sideways = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert opened.page.evaluate(sideways) == 0
