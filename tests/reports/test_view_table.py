# ruff: noqa: F811 (fixtures of test_view)
"""`goodgain view` as a table of results: measures, history, any number compared, odd and many files."""

from __future__ import annotations

import json
import os
import shutil
import time

import pytest
from playwright.sync_api import expect
from test_view import BEST, QRELS, WORST, ask, folder, listed, opened, viewer  # noqa: F401

import goodgain
from goodgain.reports.view import Library, Viewer
from goodgain.reports.view import library as library_module
from goodgain.reports.view import summaries as summaries_module


def read(viewer, since="") -> dict:
    return json.loads(ask(viewer, f"/{viewer.secret}/state?since={since}")[2])


def read_all(viewer, since="") -> dict:
    """The state once every result is read."""
    for _ in range(600):
        state = read(viewer, since)
        if not state["pending"]:
            return state
        time.sleep(0.05)
    raise AssertionError("the results are not read")


def test_every_result_has_its_measures(viewer, folder):
    saved = {
        "best.json": goodgain.evaluate(QRELS, {"best": BEST}, "nDCG@3 AP"),
        "old/worst.json": goodgain.evaluate(QRELS, {"worst": WORST}, "nDCG@3 AP"),
    }
    goodgain.compare(
        goodgain.evaluate(QRELS, {"a": WORST}, "AP"), goodgain.evaluate(QRELS, {"b": BEST}, "AP")
    ).save(folder / "compared.json")
    entries = {e["name"]: e for e in read_all(viewer)["entries"]}
    for name, result in saved.items():
        ((system, values, queries, created, _),) = entries[name]["rows"]
        assert values == result.means[system]
        assert queries == len(QRELS)
        assert abs(created - time.time()) < 600
    systems = {row[0]: row[1] for row in entries["compared.json"]["rows"]}
    assert systems["b"]["AP"] == 1.0 and systems["a"]["AP"] < 1


def test_agents_experiments_and_checks_are_rows_too(viewer, folder):
    import sample_results

    agents = sample_results.good_gain(count=4)
    agents.save(folder / "agents.json")
    sample_results.experiment(folder / "trial")
    lines = [
        {"date": f"2026-01-0{i}T00:00:00Z", "version": "1", "verdict": "no worse", "cases": 9,
         "failed": 0, "p50": None, "p95": None, "means": {"RR": i / 10}}
        for i in (1, 2, 3)
    ]  # fmt: skip
    (folder / "nightly.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (folder / "other.jsonl").write_text('{"query": 1}\n')
    entries = {e["name"]: e for e in read_all(viewer)["entries"]}
    assert entries["agents.json"]["rows"][0][1]["CG"] == pytest.approx(
        agents["agent-a"].figure("CG").value
    )
    assert [row[0] for row in entries["trial"]["rows"]] == ["near", "far"]
    assert entries["nightly.jsonl"]["kind"] == "check history"
    assert [row[1] for row in entries["nightly.jsonl"]["rows"]] == [
        {"RR": 0.1}, {"RR": 0.2}, {"RR": 0.3},
    ]  # fmt: skip
    assert "other.jsonl" not in entries
    key = entries["nightly.jsonl"]["key"]
    status, _, body = ask(viewer, f"/{viewer.secret}/page?of={key}")
    assert status == 200 and b"RR over time" in body


def test_any_number_is_compared(viewer, folder):
    for i in range(5):
        run = {q: {"a": float(i), "b": 2.5, "c": 0.5} for q in QRELS}
        goodgain.evaluate(QRELS, {f"system {i}": run}, "AP").save(folder / f"s{i}.json")
    entries = listed(viewer)
    keys = "&".join(f"of={entries[f's{i}.json']['key']}" for i in (2, 0, 1, 3, 4))
    status, _, body = ask(viewer, f"/{viewer.secret}/page?{keys}")
    assert status == 200
    assert b"vs system 2" in body  # the first is the baseline
    assert all(f"system {i}".encode() in body for i in range(5))


def test_the_history_of_a_measure(viewer, folder):
    for day in range(1, 5):
        run = {q: {"a": float(day), "b": 2.5, "c": 0.5} for q in QRELS}
        data = goodgain.evaluate(QRELS, {"nightly": run}, "AP").to_dict()
        data["created"] = f"2026-02-0{day}T03:00:00+00:00"
        (folder / f"n{day}.json").write_text(json.dumps(data))
    status, headers, body = ask(viewer, f"/{viewer.secret}/history?measure=AP&search=nightly")
    assert status == 200 and headers["Content-Type"].startswith("text/html")
    page = body.decode()
    data = json.loads(page.partition('id="data-page">')[2].partition("</script>")[0])
    (section,) = data["sections"]
    chart, table = section["elements"]
    assert [row[0] for row in chart["rows"]] == [f"2026-02-0{d} 03:00 UTC" for d in range(1, 5)]
    assert [row[1] for row in table["rows"]] == ["nightly"] * 4
    _, _, none = ask(viewer, f"/{viewer.secret}/history?measure=nope")
    assert b"have the measure" in none


def test_a_looping_link_and_other_odd_files_are_said_and_do_no_harm(viewer, folder):
    (folder / "loop.json").symlink_to(folder / "loop.json")
    (folder / "one.json").symlink_to(folder / "two.json")
    (folder / "two.json").symlink_to(folder / "one.json")
    (folder / "nowhere.json").symlink_to(folder / "missing.json")
    (folder / "round").symlink_to(folder)
    os.mkfifo(folder / "pipe.json")
    (folder / "empty.json").write_text("")
    (folder / "bytes.json").write_bytes(b"\xff\xfe\x00")
    (folder / "cut.json").write_text('{"goodgain": "evaluation", "format": 1, ')
    (folder / "deep.json").write_text('{"goodgain": "evaluation", "runs": ' + "[" * 100_000)
    (folder / "list.json").write_text('{"goodgain": "evaluation", "runs": 7, "created": []}')
    closed = folder / "closed"
    closed.mkdir()
    closed.chmod(0)
    try:
        state = read_all(viewer)
    finally:
        closed.chmod(0o700)
    assert {"best.json", "old/worst.json"} < {e["name"] for e in state["entries"]}
    problems = dict(state["problems"])
    assert {"loop.json", "one.json", "two.json"} <= set(problems)
    assert "symbolic links" in problems["loop.json"]
    assert "nowhere.json" not in problems or "no such file" in problems["nowhere.json"]
    assert state["foreign"] >= 3
    damaged = {e["name"]: e["problem"] for e in state["entries"] if e.get("problem")}
    assert {"cut.json", "deep.json", "list.json"} <= set(damaged)
    for name in damaged:
        key = next(e["key"] for e in state["entries"] if e["name"] == name)
        status, _, body = ask(viewer, f"/{viewer.secret}/page?of={key}")
        assert status == 200 and b"cannot be shown" in body, name
    assert ask(viewer, f"/{viewer.secret}/")[0] == 200


def test_a_huge_result_is_listed_without_its_measures(viewer, folder, monkeypatch):
    monkeypatch.setattr(summaries_module, "MAX_BYTES", 100)
    entries = {e["name"]: e for e in read_all(viewer)["entries"]}
    assert entries["best.json"]["rows"] == []
    assert entries["best.json"]["problem"].startswith("too large to list its measures")


def test_only_what_changed_is_read_and_sent(folder, monkeypatch):
    opened_files, summarised = [], []
    kind, rows = Library._kind, summaries_module.summarise
    monkeypatch.setattr(
        Library, "_kind", lambda s, path: opened_files.append(path.name) or kind(s, path)
    )
    monkeypatch.setattr(
        summaries_module, "summarise", lambda entry: summarised.append(entry.name) or rows(entry)
    )
    import threading

    with Viewer(Library(folder)) as one:
        thread = threading.Thread(target=one.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            first = read_all(one)
            assert {e["name"] for e in first["entries"]} == {"best.json", "old/worst.json"}
            opened_files.clear(), summarised.clear()
            again = read(one, first["state"])
            assert (again["state"], again["entries"], again["removed"]) == (first["state"], [], [])
            assert opened_files == summarised == []
            goodgain.evaluate(QRELS, {"new": BEST}, "P@1").save(folder / "new.json")
            (folder / "old" / "worst.json").unlink()
            later = read_all(one, first["state"])
            assert [e["name"] for e in later["entries"]] == ["new.json"]
            gone = {e["key"] for e in first["entries"] if e["name"] == "old/worst.json"}
            assert set(later["removed"]) == gone
            assert opened_files == ["new.json"] and summarised == ["new.json"]
        finally:
            one.shutdown()
            thread.join()


@pytest.mark.slow
def test_ten_thousand_files_without_lag(tmp_path, browser):
    """Bounds are generous for busy machines; a scan takes about 0.1 s on a quiet one."""
    import threading

    text = goodgain.evaluate(QRELS, {"nightly": BEST}, "nDCG@3 AP").to_json()
    for i in range(100):
        (tmp_path / f"f{i}").mkdir()
    (tmp_path / "first.json").write_text(text)
    for i in range(10_000):
        shutil.copyfile(tmp_path / "first.json", tmp_path / f"f{i % 100}" / f"r{i}.json")
    with Viewer(Library(tmp_path)) as one:
        thread = threading.Thread(target=one.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        context = browser.new_context(viewport={"width": 1280, "height": 800})
        try:
            state = read(one)
            assert state["total"] == 10_001
            quickest = min(_timed(lambda: read(one, state["state"])) for _ in range(4))
            assert quickest < 3
            page = context.new_page()
            page.goto(one.url)
            expect(page.locator("#entries tbody tr")).to_have_count(25, timeout=60_000)
            for _ in range(240):
                if not read(one, state["state"])["pending"]:
                    break
                time.sleep(0.5)
            expect(page.locator("#status")).to_have_text("10,001 saved results", timeout=60_000)
            search = page.get_by_label("Search: Saved results")
            search.fill("r777.json nightly")
            expect(page.locator("#entries tbody tr")).to_have_count(1, timeout=10_000)
            sort = """() => {
              const start = performance.now();
              document.querySelector("#entries .sort").click();
              document.body.offsetHeight;
              return performance.now() - start;
            }"""
            assert page.evaluate(sort) < 3000  # some 20 ms on a quiet machine
        finally:
            context.close()
            one.shutdown()
            thread.join()


def _timed(act) -> float:
    start = time.perf_counter()
    act()
    return time.perf_counter() - start


def test_the_table_is_sorted_and_a_measure_followed_in_a_browser(opened, viewer, folder):
    read_all(viewer)
    table = opened.locator("#table-results")
    expect(table.locator("thead")).to_contain_text("nDCG@3")
    table.get_by_role("button", name="nDCG@3").click()
    names = table.locator("tbody th a").all_inner_texts()
    assert names == ["best.json", "old/worst.json"]
    table.get_by_role("button", name="nDCG@3").click()
    expect(table.locator("tbody th a").first).to_have_text("old/worst.json")
    opened.get_by_label("Measure over time").select_option("AP")
    opened.get_by_role("button", name="History").click()
    inside = opened.frame_locator("#page")
    expect(inside.locator("h1")).to_have_text("History of AP")
    expect(inside.locator("#table-history tbody tr")).to_have_count(2)
    opened.go_back()
    expect(table).to_be_visible()


def test_a_query_opens_and_closes_inside_the_viewer(opened):
    opened.get_by_role("link", name="best.json").click()
    inside = opened.frame_locator("#page")
    inside.locator("#queries summary").first.click()
    inside.locator("#table-queries .open").first.click()
    expect(inside.locator("dialog[open] h2")).to_contain_text("Query q")
    inside.locator("dialog .close").click()
    expect(inside.locator("dialog[open]")).to_have_count(0)
    expect(inside.locator("#table-queries")).to_be_visible()


def test_unreadable_starts_are_problems(tmp_path, monkeypatch):
    (tmp_path / "a.json").write_text("{}")

    def refused(self, path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(library_module.Library, "_kind", refused)
    one = Library(tmp_path)
    assert one.entries() == {}
    assert [(p.name, p.why) for p in one.problems] == [("a.json", "permission denied")]
