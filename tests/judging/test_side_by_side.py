"""Side by side: random sides, nothing that tells the systems apart, and GSB from the store."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from judging_client import Client, running

import goodgain
from goodgain.cli import run
from goodgain.errors import GoodgainError
from goodgain.judging import JudgingServer
from goodgain.judging.opening import sides_desk
from goodgain.labels import Store
from goodgain.labels.preferences import gsb_rows, read_preferences

N = 30
SECRETS = ("zebra", "yak")  # the systems' names, which must not reach the page


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Two runs over 30 queries, of which the last five have identical lists."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "queries.tsv").write_text("".join(f"q{i}\tquestion {i}\n" for i in range(N)))
    docs = [{"_id": f"{s}{i}-{k}", "title": f"title {s}{i}-{k}", "text": "a long text " * [1, 3000, 1][k],
             "url": f"https://example.org/{s}{i}/{k}"}
            for i in range(N) for s in "xyz" for k in range(3)]  # fmt: skip
    (tmp_path / "docs.jsonl").write_text("".join(json.dumps(d) + "\n" for d in docs))
    for name, letter in zip(SECRETS, "xy", strict=True):
        lines = []
        for i in range(N):
            own = letter if i < 25 else "z"
            lines += [f"q{i} Q0 {own}{i}-{k} {k + 1} {9 - k} {name}\n" for k in range(3)]
        (tmp_path / f"{name}.run").write_text("".join(lines))
    return tmp_path


def open_sides(store, **options):
    desk, warnings = sides_desk(
        store, "zebra.run", "yak.run",
        **{"queries": "queries.tsv", "documents": "docs.jsonl", **options},
    )  # fmt: skip
    return desk, warnings


@pytest.fixture
def client(folder):
    with Store(folder / "labels.db") as store:
        desk, _ = open_sides(store, overlap=1.0)
        with running(JudgingServer(desk)) as server:
            yield Client(server)


def better_side(item, system="y"):
    """The side on which a system stands, told from its documents' titles."""
    return "left" if item["left"]["results"][0]["title"].startswith(f"title {system}") else "right"


def finish(client, name, choose):
    client.start(name)
    items = []
    answer = client.get(f"work?annotator={name}")
    while answer["item"]:
        items.append(answer["item"])
        answer = client.vote(name, answer["item"], choose(answer["item"], len(items)))
        assert answer["status"] == 200
    return items


def test_sides_are_random_seeded_and_stored(client, folder):
    items = finish(client, "ann", lambda item, n: better_side(item))
    sides = Counter(better_side(item) for item in items)
    assert len(items) == 25 and min(sides.values()) >= 5
    again = client.server.desk
    with Store(folder / "labels.db", read_only=True) as store:
        stored = [p for p in read_preferences(store) if p.annotator == "ann"]
    assert {p.choice for p in stored} == {"second"}
    assert Counter(p.sides for p in stored) == Counter(
        {"second first": sides["left"], "first second": sides["right"]}
    )
    assert all(again._sides("ann", p.query) == p.sides for p in stored)
    bob = finish(client, "bob", lambda item, n: "same")
    assert [better_side(i) for i in bob] != [
        better_side(i) for i in sorted(items, key=lambda i: i["query"])
    ]


def test_no_response_names_a_system_or_says_who_is_ahead(client):
    client.start("bob")
    finish(client, "ann", lambda item, n: better_side(item) if n < 10 else "same")
    client.get("work?annotator=bob")
    client.get("agreement?annotator=bob")
    client.get("setup")
    sent = b"".join(client.bodies).decode()
    assert not any(name in sent for name in SECRETS)
    # who has judged everything may see it
    assert "yak against zebra: " in client.get("agreement?annotator=ann")["gsb"]


def test_gsb_counts_from_the_store(client, folder, capsys):
    def choose(item, n):
        return better_side(item, "y" if n <= 15 else "x") if n <= 20 else "same"

    finish(client, "ann", choose)
    with Store(folder / "labels.db", read_only=True) as store:
        result = goodgain.gsb_labels(gsb_rows(store))
    assert (result.good, result.same, result.bad) == (15, 5 + 5, 5)  # five lists are identical
    assert result.annotators == 1
    assert run(["compare", "--gsb", "labels.db", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["good"] == 15
    assert run(["compare", "--gsb", "labels.db", "--baseline", "yak", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["bad"] == 15


def test_two_annotators_agree_or_not(client):
    finish(client, "ann", lambda item, n: better_side(item))
    finish(client, "bob", lambda item, n: better_side(item) if item["query"] < "q2" else "same")
    data = client.get("agreement?annotator=bob")
    assert "25 of them by several people" in data["sentence"]
    assert {p["name"] for p in data["people"]} == {"ann", "bob"}


def test_undo_and_skip(client, folder):
    client.start("ann")
    item = client.get("work?annotator=ann")["item"]
    answer = client.vote("ann", item, "left")
    assert answer["last"]["choice"] == "left" and answer["message"] == "Saved: left."
    back = client.post("undo", {"annotator": "ann", "item": item["key"]})
    assert back["item"]["left"] == item["left"]  # on the same side again
    client.vote("ann", back["item"], None, reason="I should not judge this")
    with Store(folder / "labels.db", read_only=True) as store:
        own = [p for p in read_preferences(store) if p.annotator == "ann"]
        assert [(p.choice, p.reason) for p in own] == [("skipped", "I should not judge this")]
        assert len(gsb_rows(store)) == 5  # the identical ones


@pytest.mark.parametrize("choice", ["first", "second", "good", 1, ["left"]])
def test_other_choices_are_refused(client, choice):
    client.start("ann")
    item = client.get("work?annotator=ann")["item"]
    assert client.vote("ann", item, choice)["status"] == 400


def test_sides_that_changed_under_the_page_are_not_mistaken(folder):
    """The server was started again with another seed: a vote for the left must not count for the other."""
    with Store(folder / "labels.db") as store:
        desk, _ = open_sides(store, seed=1)
        other, _ = open_sides(store, seed=2)
        desk.start("ann", None)
        moved = 0
        for key in list(desk.items):
            item = desk._present(key, "ann")
            if item["left"] == other._present(key, "ann")["left"]:
                continue
            moved += 1
            posted = {"id": f"request{moved:04}", "annotator": "ann", "item": key,
                      "seen": item["seen"], "choice": "left", "note": "", "reason": ""}  # fmt: skip
            with pytest.raises(Exception, match="changed since the page showed it"):
                other.vote(posted)
        assert moved > 5


def test_answers_are_compared_too(folder):
    for name, word in (("old", "short"), ("new", "long")):
        (folder / f"{name}.jsonl").write_text("".join(
            json.dumps({"query_id": f"q{i}", "question": f"question {i}", "answer": f"{word} {i}"}) + "\n"
            for i in range(3 if name == "old" else 4)
        ))  # fmt: skip
    with Store(folder / "labels.db") as store:
        desk, warnings = sides_desk(store, "old.jsonl", "new.jsonl")
        assert len(desk.items) == 3 and "1 queries have an answer of one system only" in warnings[0]
        item = desk._present(next(iter(desk.items)), "ann")
    assert {item["left"]["answer"][:4], item["right"]["answer"][:4]} == {"shor", "long"}
    assert item["question"].startswith("question")


@pytest.mark.parametrize(
    ("first", "second", "options", "message"),
    [
        ("zebra.run", "yak.run", {"documents": "docs.jsonl"}, "no text for query"),
        ("zebra.run", "yak.run", {"queries": "queries.tsv"}, "none of the .* documents has a text"),
        ("zebra.run", "none.run", {}, "not found"),
    ],
)
def test_what_lacks_is_an_error(folder, first, second, options, message):
    with Store(folder / "labels.db") as store, pytest.raises(GoodgainError, match=message):
        sides_desk(store, first, second, **options)


def test_a_store_without_preferences_says_so(folder, capsys):
    Store(folder / "labels.db").close()
    assert run(["compare", "--gsb", "labels.db"]) == 2
    assert "no preferences" in capsys.readouterr().err


def test_the_page_by_keyboard(client, browser):
    from axe_core_python.sync_playwright import Axe
    from playwright.sync_api import expect

    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto(client.server.url)
    page.get_by_label("Your name").fill("eve")
    page.keyboard.press("Enter")
    expect(page.locator(".side")).to_have_count(2)
    for key, text in (("ArrowLeft", "left"), ("ArrowRight", "right"), ("0", "same")):
        page.keyboard.press(key)
        expect(page.locator("#status")).to_have_text(f"Saved: {text}.")
    expect(page.locator(".side").first).to_contain_text("[cut: 36,000 characters]")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert [v["id"] for v in Axe().run(page)["violations"]] == []
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("() => document.documentElement.scrollWidth - innerWidth") == 0
    page.get_by_role("button", name="Agreement").click()
    expect(page.locator("#main")).to_contain_text("3 of 25 comparisons are judged.")
    context.close()
