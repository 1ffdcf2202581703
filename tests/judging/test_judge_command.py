"""`goodgain judge`: its sources, its scale, its address, its password, and what it refuses."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys

import pytest
from judging_client import MODEL, judge_with_model, rows, write_pairs

from goodgain.cli import run
from goodgain.errors import GoodgainError, UsageError
from goodgain.judging.address import Address
from goodgain.judging.items import file_items, items_of, store_pairs
from goodgain.judging.opening import labels_desk
from goodgain.judging.scales import grades
from goodgain.labels import Store
from goodgain.labels.people import Vote
from goodgain.labels.store import document_hash


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Pairs, queries, documents and two runs; in the store, a model's labels of the pairs."""
    monkeypatch.chdir(tmp_path)
    pairs = rows(3, 4)
    write_pairs(tmp_path / "pairs.jsonl", pairs)
    judge_with_model(tmp_path / "labels.db", pairs)
    (tmp_path / "queries.jsonl").write_text("".join(
        json.dumps({"_id": f"q{i}", "text": f"question {i}", "narrative": f"more about {i}"}) + "\n"
        for i in range(3)
    ))  # fmt: skip
    (tmp_path / "docs.tsv").write_text(
        "id\ttitle\ttext\turl\n"
        + "".join(f"{p['doc_id']}\ta title\ttext of {p['doc_id']}\t{p['url']}\n" for p in pairs)
    )
    for name in ("one", "two"):
        lines = [f"q{q} Q0 d{q}-{d} 1 {(d if name == 'one' else 9 - d)} {name}\n"
                 for q in range(3) for d in range(4)]  # fmt: skip
        (tmp_path / f"{name}.run").write_text("".join(lines))
    return tmp_path


def test_a_file_of_pairs_has_titles_urls_and_narratives(folder):
    extra = {
        "query_id": "q9",
        "doc_id": "d9",
        "question": "why?",
        "text": "so",
        "narrative": "tell me",
    }
    write_pairs(folder / "more.jsonl", [*rows(1, 1), extra])
    first, second = file_items("more.jsonl")
    assert (first.title, first.url) == ("Document 0 about thing 0", "https://example.org/0/0")
    assert first.text.startswith("Thing 0 works")
    assert first.document == document_hash(f"{first.title}\n{first.text}")
    assert (second.narrative, second.title, second.url) == ("tell me", "", "")


def test_one_id_with_two_texts_is_an_error(folder):
    write_pairs(folder / "more.jsonl", [rows(1, 1)[0], {**rows(1, 1)[0], "text": "another"}])
    with pytest.raises(GoodgainError, match="has two texts"):
        file_items("more.jsonl")


def test_pairs_of_the_store_take_their_texts_from_it_or_from_a_file(folder):
    with Store("labels.db") as store:
        pairs = store_pairs(store)
        assert len(pairs) == 12
        items, _warnings = items_of(store, pairs, queries="queries.jsonl", documents="docs.tsv")
        assert {item.narrative for item in items} == {
            "more about 0",
            "more about 1",
            "more about 2",
        }
        stored = store.db.execute(
            "SELECT count(*) FROM documents WHERE text IS NOT NULL"
        ).fetchone()
        if stored[0]:  # the model's text is shown, with a warning that the file has another
            assert items[0].text.startswith("Document 0 about thing 0\nThing 0 works")
        else:
            assert items[0].text == "text of d0-0" and items[0].title == "a title"
        assert items[0].url == "https://example.org/0/0"


def test_documents_without_a_text_are_left_out_and_counted(folder):
    (folder / "few.tsv").write_text("id\ttext\nd0-0\tsome text\n")
    with Store(folder / "new.db") as store:
        pairs = [("q0", "d0-0"), ("q0", "d0-1"), ("q0", "https://example.org/page")]
        items, warnings = items_of(store, pairs, queries="queries.jsonl", documents="few.tsv")
        assert [item.doc for item in items] == ["d0-0", "https://example.org/page"]
        assert warnings == ["1 documents have neither text nor URL and are left out"]
        with pytest.raises(GoodgainError, match="none of the 1 documents has a text"):
            items_of(store, [("q0", "d9")], queries="queries.jsonl")
        with pytest.raises(GoodgainError, match="no text for query 'q0'"):
            items_of(store, pairs, documents="few.tsv")


def test_unjudged_documents_of_runs(folder):
    (folder / "qrels.txt").write_text("q0 0 d0-3 1\n")
    with Store("new.db") as store:
        desk, _ = labels_desk(
            store, runs=["one.run", "two.run"], qrels="qrels.txt", depth=1,
            queries="queries.jsonl", documents="docs.tsv",
        )  # fmt: skip
        docs = {item.doc for item in desk.items.values()}
        assert docs == {"d0-0", "d1-3", "d1-0", "d2-3", "d2-0"}
        store.add_votes([Vote(annotator="ann", query="q0", doc="d0-0", gain=1)])
        desk.start("bob", None)
        assert desk.work("bob")["progress"]["left"] == 4


def test_an_empty_store_without_a_source_says_what_to_name(folder):
    with Store("new.db") as store, pytest.raises(GoodgainError, match="nothing to judge"):
        labels_desk(store)


def test_the_scale_is_that_of_the_labels_in_the_store(folder):
    with Store("labels.db") as store:
        scale = grades(None, store)
        assert [gain for gain, _ in scale] == [0, 1, 2, 3, 4]
        assert scale[1][1] == "on topic only: the same subject, but no part of the answer"
        assert grades("relevance-0-3", store)[2][1] == (
            "the passage has some answer for the query, but the answer may be a bit unclear, or hidden "
            "amongst extraneous information"
        )
    import goodgain

    goodgain.label(rows(1, 1), lambda request: 3, "labels.db", prompt="relevance-0-3")
    with Store("labels.db") as store, pytest.raises(UsageError, match="several scales: 0-3, 0-4"):
        grades(None, store)
    goodgain.label(rows(1, 1), lambda request: 3, "third.db", prompt="relevance-0-3")
    with Store("third.db") as store:
        assert len(grades(None, store)) == 4


def test_the_address_stays_and_is_private(folder, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "state"))

    class Server:
        server_port = 4321
        secret = "s" * 32

    first = Address.of("labels.db", "127.0.0.1")
    assert (first.port, first.secret) == (0, None)
    first.remember(Server)
    again = Address.of(str(folder / "labels.db"), "127.0.0.1")
    assert (again.port, again.secret) == (4321, "s" * 32)
    assert again.path.stat().st_mode & 0o777 == 0o600
    assert Address.of("other.db", "127.0.0.1").secret is None
    again.path.write_text("{")
    assert Address.of("labels.db", "127.0.0.1").secret is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--pairs pairs.jsonl --sample first", "--sample cannot be combined with --pairs"),
        ("--runs one.run --side-by-side one.run two.run", "--runs cannot be combined"),
        ("--settle", "--settle needs --runs"),
        ("--next --pairs pairs.jsonl", "--next needs --runs"),
        ("--settle --runs one.run", "--settle compares two runs, got 1"),
        ("--qrels qrels.txt", "--qrels needs --runs"),
        ("--runs one.run --depth 0", "--depth must be a positive integer, got 0"),
        ("--pairs pairs.jsonl --overlap 2", "overlap must be a share from 0 to 1, got 2.0"),
        ("--pairs none.jsonl", "none.jsonl"),
        ("--pairs pairs.jsonl --guidelines none.md", "file not found: 'none.md'"),
        ("--pairs pairs.jsonl --prompt none", "prompt not found: 'none'"),
        ("--pairs pairs.jsonl --share 0.0.0.0", "--share needs a password"),
    ],
)
def test_what_it_refuses(folder, arguments, message, capsys, monkeypatch):
    monkeypatch.delenv("GOODGAIN_PASSWORD", raising=False)
    monkeypatch.setattr(sys.stdin, "isatty", lambda: False, raising=False)
    assert run(["judge", "labels.db", *arguments.split()]) == 2
    assert message in capsys.readouterr().err


def start(folder, *arguments, **environment):
    command = [sys.executable, "-m", "goodgain", "judge", "labels.db", *arguments]
    env = {**os.environ, "XDG_STATE_HOME": str(folder / "state"), **environment}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)


def test_it_prints_its_address_and_ends_with_ctrl_c(folder):
    urls = []
    for _ in range(2):
        with start(folder, "--pairs", "pairs.jsonl") as process:
            urls.append(process.stdout.readline().decode().strip())
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=20)
        assert (process.returncode, out, err) == (0, b"", b"0 of 12 items are judged\n")
    assert re.fullmatch(r"http://127\.0\.0\.1:(\d+)/([\w-]{32,})/", urls[0])
    assert urls[0] == urls[1]  # open pages go on by themselves


def test_a_taken_port_does_not_stop_it(folder):
    with start(folder, "--pairs", "pairs.jsonl") as first:
        one = first.stdout.readline().decode()
        with start(folder, "--pairs", "pairs.jsonl") as second:
            two = second.stdout.readline().decode()
            second.send_signal(signal.SIGINT)
        first.send_signal(signal.SIGINT)
    assert one.strip() and two.strip() and one != two


def test_sharing_says_what_it_means_and_shows_no_password(folder):
    with start(
        folder, "--pairs", "pairs.jsonl", "--share", "127.0.0.1", GOODGAIN_PASSWORD="correct horse"
    ) as process:
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
    text = err.decode()
    assert "plain HTTP" in text and "TLS" in text and "under any name" in text
    assert "correct horse" not in text
    with start(
        folder, "--pairs", "pairs.jsonl", "--share", "x", GOODGAIN_PASSWORD="short"
    ) as other:
        _, err = other.communicate(timeout=20)
    assert (other.returncode, b"at least 8 characters" in err) == (2, True)


def test_the_password_is_asked_for_on_the_page(folder, browser):
    from axe_core_python.sync_playwright import Axe
    from playwright.sync_api import expect

    with start(
        folder, "--pairs", "pairs.jsonl", "--share", "127.0.0.1", GOODGAIN_PASSWORD="correct horse"
    ) as process:
        page = browser.new_page()
        page.goto(process.stdout.readline().decode().strip())
        page.get_by_label("The password").fill("wrong horse")
        page.keyboard.press("Enter")
        expect(page.locator(".warning")).to_have_text("wrong password.")
        assert [v["id"] for v in Axe().run(page)["violations"]] == []
        page.get_by_label("The password").fill("correct horse")
        page.keyboard.press("Enter")
        page.get_by_label("Your name").fill("Ann")
        page.keyboard.press("Enter")
        expect(page.locator(".document")).to_be_visible()
        page.keyboard.press("2")
        expect(page.locator(".last")).to_contain_text(MODEL)
        page.close()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
    assert b"1 of 12 items are judged" in err
