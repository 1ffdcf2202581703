"""The details of a query: lists side by side, rank changes, judgments, and contributions that add up."""

from __future__ import annotations

import pytest
from page_results import comparison, evaluation
from playwright.sync_api import expect

import goodgain
from goodgain.ranking.explain import explain


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    page = tmp_path_factory.mktemp("query") / "page.html"
    documents = {
        f"d{i}": {"text": f"body {i}", "title": f"Title {i}", "url": f"https://example.org/{i}"}
        for i in range(600)
    }
    comparison().report(page, documents=documents)
    return page


def opened(page, query: str):
    page.get_by_label("Search: All queries").fill(query)
    page.get_by_role("button", name=query, exact=True).press("Enter")
    dialog = page.locator("dialog[open]")
    expect(dialog.locator("h2")).to_have_text(f"Query {query}")
    return dialog


def rows(dialog, system: int) -> list[list[str]]:
    lines = dialog.locator(f"#table-list-{system} tbody tr")
    return [
        [c.inner_text().split("\n")[0] for c in lines.nth(i).locator("th, td").all()]
        for i in range(lines.count())
    ]


def explained(system: str, query: str, measure: str = "nDCG@10"):
    evaluator, run = evaluation()[system].tables()
    return explain(evaluator.qrels, run, measure, query)


def test_lists_stand_side_by_side_as_explain_has_them(path, look):
    dialog = opened(look(path).page, "q7")
    heads = dialog.locator(".lists h3").all_inner_texts()
    assert heads == ["bm25 (baseline)", "dense", "hybrid"]
    tops = [box["y"] for h in dialog.locator(".lists h3").all() if (box := h.bounding_box())]
    assert len(set(tops)) == 1
    for system, name in enumerate(("bm25", "dense", "hybrid")):
        listed = rows(dialog, system)
        terms = explained(name, "q7").terms[:20]
        skip = 1 if name == "bm25" else 2  # the baseline did not move
        assert len(listed) == len(terms) == 20
        for row, term in zip(listed, terms, strict=True):
            assert row[0] == str(term.rank)
            assert row[skip] == term.doc
            judged = "unjudged" if term.judged is None else f"{term.judged:g}"
            assert row[skip + 1] == judged
            contribution = "0" if term.contribution == 0 else f"{term.contribution:.4f}"
            assert row[skip + 2] == contribution
            assert float(row[skip + 3]) == pytest.approx(term.score, rel=1e-4)


def test_rank_changes(path, look):
    dialog = opened(look(path).page, "q7")
    before = {t.doc: t.rank for t in explained("bm25", "q7").terms[:20]}
    terms = explained("hybrid", "q7").terms[:20]
    kinds = set()
    for row, term in zip(rows(dialog, 2), terms, strict=True):
        if term.doc not in before:
            assert row[1] == "new"
        else:
            up = before[term.doc] - term.rank
            assert row[1] == ("=" if up == 0 else f"{'▲' if up > 0 else '▼'}{abs(up)}")
        kinds.add(row[1][0])
    assert {"▲", "n"} <= kinds
    gone = [d for d in before if d not in {t.doc for t in terms}]
    notes = dialog.locator("#table-list-2 .note").all_inner_texts()
    assert any(
        n.startswith("Dropped out of the top 20: ") and f"{gone[0]} (was " in n for n in notes
    )


def test_the_measure_of_the_contributions_is_selected(path, look):
    page = look(path).page
    dialog = opened(page, "q3")
    choice = dialog.get_by_label("Measure of the contributions")
    assert choice.locator("option").all_inner_texts() == ["nDCG@10", "AP", "RR"]
    choice.select_option("AP")
    explanation = explained("dense", "q3", "AP")
    below = explanation.value - sum(t.contribution for t in explanation.terms[:20])
    note = dialog.locator("#table-list-1 .note").first
    expect(note).to_contain_text(
        f"AP {explanation.value:.4f} (including {below:+.4f} from further down)."
    )
    contributions = [row[4] for row in rows(dialog, 1)]
    assert contributions == [
        "0" if not t.contribution else f"{t.contribution:.4f}" for t in explanation.terms[:20]
    ]
    assert f"{len(explanation.terms) - 20} more documents further down." in note.inner_text()


def test_documents_have_titles_and_links(path, look):
    dialog = opened(look(path).page, "q3")
    doc = explained("bm25", "q3").terms[0].doc
    cell = dialog.locator("#table-list-0 tbody tr").first.locator("td").first
    assert cell.locator("a").get_attribute("href") == f"https://example.org/{doc[1:]}"
    assert cell.locator(".subtext").inner_text().startswith(f"Title {doc[1:]} · body")


def test_next_previous_and_the_address(path, look):
    page = look(path).page
    page.locator("#table-queries thead .sort", has_text="hybrid - bm25").press("Enter")
    expect(page.locator("#table-queries thead [aria-sort]")).to_have_text("hybrid - bm25")
    order = page.locator("#table-queries .open").all_inner_texts()
    page.locator("#table-queries .open").first.press("Enter")
    dialog = page.locator("dialog[open]")
    expect(dialog.get_by_label("Previous query")).to_be_disabled()
    dialog.get_by_label("Next query").click()
    expect(dialog.locator("h2")).to_have_text(f"Query {order[1]}")
    table = f"{path.as_uri()}#sort=-change%3Ahybrid"
    address = f"{table}&query={order[1]}"
    expect(page).to_have_url(address)
    dialog.locator(".close").click()
    expect(page).to_have_url(table)
    page.goto("about:blank")
    page.goto(address)
    expect(dialog.locator("h2")).to_have_text(f"Query {order[1]}")
    dialog.locator(".close").click()
    expect(dialog).to_have_count(0)


def test_a_page_without_tables_says_so(tmp_path, look):
    loaded = goodgain.Evaluation.from_dict(evaluation().to_dict())
    path = tmp_path / "loaded.html"
    loaded.report(path, baseline="bm25")
    dialog = opened(look(path).page, "q3")
    assert (
        "Ranked lists are not available: the saved result records no file for its judgments"
        in dialog.inner_text()
    )
    assert dialog.locator("#table-query-values tbody tr").count() == 4


def test_policies_without_one_order_have_lists_without_contributions(tmp_path, look):
    _, run = evaluation()["dense"].tables()
    qrels = evaluation()["dense"].tables()[0].qrels
    path = tmp_path / "average.html"
    goodgain.evaluate(qrels, run, "nDCG@10", ties="average").report(path)
    dialog = opened(look(path).page, "q3")
    assert "the documents have no contributions" in dialog.inner_text()
    assert dialog.locator("#table-list-0 thead .sort").all_inner_texts() == [
        "#", "document", "gain", "score",
    ]  # fmt: skip


def test_contributions_of_a_seed_add_up_to_its_own_value(tmp_path, look):
    """The table has means over seeds, the list is of the first of them."""
    scores = evaluation().runs
    path = tmp_path / "seeds.html"
    seeds = [scores[1], scores[2]]
    goodgain.compare(scores[0], seeds).report(path)
    page = look(path).page
    assert (
        "the lists are those of the first seed" in page.locator("#table-queries .note").inner_text()
    )
    dialog = opened(page, "q3")
    explanation = explained("dense", "q3")
    note = dialog.locator("#table-list-1 .note").first.inner_text()
    assert note.endswith(f"nDCG@10 {explanation.value:.4f}.")
