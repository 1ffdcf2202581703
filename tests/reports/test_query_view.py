"""The query view: systems from an address, shared documents, the ideal order, what judging could change."""

from __future__ import annotations

import pytest
from page_results import comparison, evaluation, judged, ranked
from playwright.sync_api import expect
from test_accessible import serious

import goodgain as gg
from goodgain.ranking.explain import explain
from goodgain.ranking.top_lists import unjudged_bounds
from goodgain.reports.addresses import queries_link

SYSTEMS = 6


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """Three systems with texts of queries and documents."""
    page = tmp_path_factory.mktemp("view") / "page.html"
    queries = {f"q{i}": " ".join(["word"] * (1 + i % 7)) for i in range(40)}
    documents = {
        f"d{i}": {"text": f"first line {i}\nsecond <b>line</b>", "title": f"Title {i}"}
        for i in range(600)
    }
    comparison().report(page, queries=queries, documents=documents)
    return page


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    """More systems than fit side by side."""
    page = tmp_path_factory.mktemp("wide") / "page.html"
    qrels = judged(30)
    runs = [ranked(qrels, f"team/system-{i}", 2.6 - 0.4 * i, 0.01, i) for i in range(SYSTEMS)]
    gg.compare(gg.evaluate(qrels, runs, "nDCG@10 AP")).report(page)
    return page


def at(look, path, fragment: str, **options):
    """The page at an address."""
    opened = look(path, **options)
    opened.page.goto("about:blank")
    opened.page.goto(path.as_uri() + fragment)
    return opened.page


def differences(system: str = "hybrid", measure: str = "nDCG@10") -> dict[str, float]:
    scores = comparison().scores
    base = scores.values("bm25", measure)
    return {q: v - base[q] for q, v in scores.values(system, measure).items()}


def listed(page) -> list[str]:
    return page.locator("#table-queries tbody th").all_inner_texts()


def test_a_link_shows_the_queries_it_names(path, look):
    link = queries_link(
        systems=["bm25", "dense"],
        measure="AP",
        group="long",
        words=(3, 5),
        outcome="worse",
        sort="-change",
    )
    page = at(look, path, link)
    worse = differences("dense", "AP")
    expected = [
        q for q in sorted(worse, key=lambda q: -worse[q])
        if worse[q] < 0 and int(q[1:]) % 2 and 3 <= 1 + int(q[1:]) % 7 <= 5
    ]  # fmt: skip
    expect(page.locator("#table-queries .status")).to_have_text(f"{len(expected)} of 40 queries")
    assert listed(page) == expected and len(expected) > 2
    heads = page.locator("#table-queries thead .sort").all_inner_texts()
    assert heads[3:6] == ["bm25", "dense", "dense - bm25"]
    expect(page.get_by_label("Measure", exact=True)).to_have_value("1")
    expect(page.locator("#queries")).to_be_in_viewport()  # folded sections are opened


@pytest.mark.parametrize("name", ["relevant", "unjudged"])
def test_facts_filter_as_they_were_computed(path, look, name):
    from goodgain.reports.contents import gather_contents

    contents = gather_contents([comparison()])
    facts = contents.facts
    if name == "relevant":
        values = {q: float(n) for q, n in facts.relevant.items()}
        gains = evaluation()["bm25"].tables()[0].qrels.to_dict()
        assert values == {q: sum(g > 0 for g in docs.values()) for q, docs in gains.items()}
    else:
        systems = ("bm25", "dense", "hybrid")
        values = {q: facts.unjudged_share(q, systems) for q in contents.units}
        terms = [
            explain(
                evaluation()[s].tables()[0].qrels, evaluation()[s].tables()[1], "AP", "q3"
            ).terms[:10]
            for s in systems
        ]
        share = sum(t.judged is None for ts in terms for t in ts) / 30
        assert values["q3"] == pytest.approx(share)
    middle = sorted(values.values())[20]
    page = at(look, path, queries_link(**{name: (middle, None)}))
    expected = {q for q, v in values.items() if v >= middle - 1e-9}
    expect(page.locator("#table-queries .status")).to_contain_text("of 40 queries")
    assert 0 < len(expected) < 40
    total = page.locator("#table-queries .status").inner_text()
    assert f"{len(expected)} of 40 queries" in total


def test_a_link_on_the_page_filters_the_table_and_back_undoes_it(path, look):
    page = look(path).page
    expect(page.locator("#table-queries .status")).to_have_text("1–25 of 40 queries")
    page.evaluate("location.hash = '#group=short&outcome=worse'")
    expect(page.locator("#table-queries .status")).to_contain_text("of 40 queries")
    expect(page.get_by_label("Filter by group")).to_have_value("1")
    count = page.locator("#table-queries tbody tr").count()
    assert 0 < count < 25
    page.go_back()
    expect(page.locator("#table-queries .status")).to_have_text("1–25 of 40 queries")


def test_the_worst_regressions_come_first(path, look):
    page = look(path).page
    values = differences()
    assert listed(page) == sorted(values, key=values.__getitem__)[:25]
    heat = page.locator("#table-queries tbody tr").first.locator("td.worse")
    assert "heat-" in heat.first.get_attribute("class")


def test_back_closes_a_query_and_forward_opens_it(path, look):
    page = look(path).page
    first, second = listed(page)[:2]
    page.get_by_role("button", name=first, exact=True).press("Enter")
    dialog = page.locator("dialog[open]")
    expect(dialog.locator("h2")).to_have_text(f"Query {first}")
    dialog.get_by_label("Next query").click()
    expect(dialog.locator("h2")).to_have_text(f"Query {second}")
    page.go_back()
    expect(dialog).to_have_count(0)
    expect(page).to_have_url(path.as_uri())
    page.go_forward()
    expect(dialog.locator("h2")).to_have_text(f"Query {second}")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(page).to_have_url(path.as_uri())


def test_filters_and_search_are_in_the_address(path, look):
    page = look(path).page
    page.get_by_label("Search: All queries").fill("q1")
    page.get_by_label("Filter by group").select_option(label="long")
    parameters = "[...new URLSearchParams(location.hash.slice(1))].sort().join(' ')"
    assert page.evaluate(parameters) == "group,long search,q1"
    order = listed(page)
    page.reload()
    expect(page.get_by_label("Search: All queries")).to_have_value("q1")
    assert listed(page) == order


def test_systems_are_chosen_up_to_four(wide, look):
    page = look(wide).page
    heads = page.locator("#table-queries thead .sort")
    expect(heads.nth(1)).to_have_text("…0")  # the shared beginning is left out
    assert heads.count() == 6  # query, two systems, their difference, two facts
    picker = page.locator("#table-queries .picker")
    assert picker.locator("select").count() == 3
    picker.get_by_label("Add a system").select_option(label="team/system-2")
    picker.get_by_label("Add a system").select_option(label="team/system-3")
    expect(picker.get_by_label("Add a system")).to_have_count(0)
    expect(heads).to_have_count(1 + 4 + 3 + 2)
    picker.get_by_label("Reference system").select_option(label="team/system-3")
    expect(page).to_have_url(
        f"{wide.as_uri()}#system=team%2Fsystem-3&system=team%2Fsystem-5&system=team%2Fsystem-2&system=team%2Fsystem-0"
    )
    picker.get_by_label("System 4").select_option(label="(remove)")
    expect(heads).to_have_count(1 + 3 + 2 + 2)
    page.locator("#table-queries .open").first.press("Enter")
    dialog = page.locator("dialog[open]")
    expect(dialog.locator(".lists > .table")).to_have_count(3)
    expect(dialog.locator(".lists h3").first).to_have_text("team/system-3 (reference)")
    dialog.get_by_label("Add a system").select_option(label="team/system-1")
    expect(dialog.locator(".lists > .table")).to_have_count(4)


def test_the_same_document_is_marked_and_followed(path, look):
    page = at(look, path, "#query=q7&system=bm25&system=hybrid")
    dialog = page.locator("dialog[open]")
    chip = dialog.locator("#table-list-2 .chip").first
    row = chip.locator("xpath=ancestor::tr")
    doc = row.locator("[data-doc]").get_attribute("data-doc")
    row.hover()
    marked = dialog.locator("tr.same")
    expect(marked).to_have_count(2)
    assert {e.get_attribute("data-doc") for e in marked.locator("[data-doc]").all()} == {doc}
    chip.click()
    target = dialog.locator(f"#table-list-0 [data-doc='{doc}']")
    expect(target).to_be_focused()
    rank = target.locator("xpath=ancestor::tr").locator("th").inner_text()
    assert chip.inner_text() == f"bm25 #{rank}"


def test_the_ideal_order_names_what_was_missed(path, look):
    page = at(look, path, "#query=q7&system=bm25&system=hybrid")
    table = page.locator("dialog[open] #table-query-ideal")
    gains = evaluation()["bm25"].tables()[0].qrels["q7"]
    relevant = {d: g for d, g in gains.items() if g > 0}
    rows = [
        [c.inner_text().split("\n")[0] for c in row.locator("th, td").all()]
        for row in table.locator("tbody tr").all()
    ]
    assert [float(row[2]) for row in rows] == sorted(relevant.values(), reverse=True)
    assert {row[1] for row in rows} == set(relevant)
    missed = 0
    for column, system in ((3, "bm25"), (4, "hybrid")):
        evaluator, run = evaluation()[system].tables()
        ranks = {t.doc: str(t.rank) for t in explain(evaluator.qrels, run, "AP", "q7").terms}
        for row in rows:
            assert row[column] == ranks.get(row[1], "missed")
            missed += row[column] == "missed"
    assert missed > 0
    expect(table).to_contain_text(f"Of {len(relevant)} relevant documents")


def test_the_text_of_a_document_opens(path, look):
    page = at(look, path, "#query=q7")
    cell = page.locator("dialog[open] #table-list-0 [data-doc]").first
    doc = cell.locator("bdi").first.inner_text()
    cell.locator("summary").click()
    text = cell.locator(".document-text")
    expect(text).to_have_text(f"Title {doc[1:]}\nfirst line {doc[1:]}\nsecond <b>line</b>")
    assert text.locator("b").count() == 0


def test_what_judging_could_change(path, look):
    page = at(look, path, "#query=q7&system=bm25&system=hybrid")
    dialog = page.locator("dialog[open]")
    bounds = {}
    for name in ("bm25", "hybrid"):
        run = evaluation()[name]
        queries, sides = unjudged_bounds(run)
        bounds[name] = [float(side[queries.index("q7")]) for side in sides["nDCG@10"]]
    cells = dialog.locator("#table-query-values tbody tr").first.locator("td")
    for i, name in enumerate(("bm25", "hybrid")):
        low, high = bounds[name]
        expect(cells.nth(i)).to_contain_text(f"{low:.4f} to {high:.4f}")
    text = dialog.locator(".could-change").inner_text().replace("−", "-")
    low, high = bounds["hybrid"][0] - bounds["bm25"][1], bounds["hybrid"][1] - bounds["bm25"][0]
    assert f"it lies between {low:+.4f} and {high:+.4f}" in text
    assert ("the order may change" in text) == (low < 0 < high)
    assert "These ranges are loose" in text


def test_head_and_first_column_stay(wide, look):
    page = look(wide, width=390).page
    region = page.locator("#table-queries .scroll")
    region.scroll_into_view_if_needed()
    region.evaluate("e => { e.scrollLeft = 200; e.scrollTop = 150; }")
    box = region.bounding_box()
    head = page.locator("#table-queries thead th").first.bounding_box()
    assert head["x"] == pytest.approx(box["x"], abs=2)
    assert head["y"] == pytest.approx(box["y"], abs=3)
    name = page.locator("#table-queries tbody th").nth(10).bounding_box()
    assert name["x"] == pytest.approx(box["x"], abs=2)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_it_is_accessible(path, look, dark):
    page = at(look, path, "#query=q7&words=1..9", dark=dark)
    expect(page.locator("dialog[open] #table-query-ideal")).to_be_visible()
    page.locator("dialog[open] .document summary").first.click()
    assert serious(page) == []
    page.keyboard.press("Escape")
    page.locator(".ranges > summary").click()
    page.get_by_label("Lowest relevant").fill("5")
    assert serious(page) == []


NAMES = {
    "Persian": "می‌خواهم کتاب‌ها",
    "Hindi": "क्‍षमा",
    "emoji": "👩‍💻 👨🏽‍🚒 🏴‍☠️",
}


@pytest.mark.parametrize("kind", NAMES)
def test_joiners_are_part_of_the_spelling(tmp_path, look, kind):
    text = NAMES[kind]
    page_path = tmp_path / "page.html"
    result = gg.evaluate(
        {"q1": {"d": 1}, text: {"d": 1}}, {text: {"q1": {"d": 1.0}, text: {"x": 1.0}}}, "AP"
    )
    result.report(page_path, queries={"q1": text, text: text}, documents={"d": text})
    page = look(page_path).page
    body = page.locator("body").inner_text()
    assert text in body and "\\u200" not in body
    assert page.locator(".control").count() == 0
    assert text in result.render("table") and "\\u200" not in result.render("table")
    assert text in result._repr_html_()


def test_dangerous_controls_stay_escaped(tmp_path, look):
    names = ["a\u202eb", "a\u200db", "bm25\u200c", "x\u2066y", "t\U000e0041", "z\u200b"]
    page_path = tmp_path / "page.html"
    runs = {name: {"q1": {"d": float(i)}} for i, name in enumerate(names)}
    result = gg.evaluate({"q1": {"d": 1}}, runs, "AP")
    result.report(page_path)
    page = look(page_path).page
    body = page.locator("body").inner_text()
    for character in "\u202e\u200d\u200c\u2066\U000e0041\u200b":
        assert character not in body
        assert character not in result.render("table")
    assert "\\U000e0041" in body and "\\u202e" in body


@pytest.mark.parametrize("name", ["x" * 250, "a_very/long-name." * 15, "ﷺ" * 120])
def test_a_long_name_does_not_widen_a_phone(tmp_path, look, name):
    qrels = judged(14)
    runs = [ranked(qrels, n, 2.0, 0.01, i) for i, n in enumerate((name, f"{name}-2", "short"))]
    page_path = tmp_path / "page.html"
    kinds = {q: (name, "other")[i % 2] for i, q in enumerate(qrels)}
    gg.compare(gg.evaluate(qrels, runs, "nDCG@10 Latency"), by=kinds).report(
        page_path, queries=dict.fromkeys(qrels, name), documents={f"d{i}": name for i in range(600)}
    )
    page = look(page_path, width=390).page
    sideways = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(sideways) == 0
    page.locator("#table-queries .open").first.press("Enter")
    dialog = page.locator("dialog[open]")
    expect(dialog.locator(".lists > .table")).to_have_count(3)
    assert dialog.evaluate("d => d.scrollWidth - d.clientWidth") == 0
