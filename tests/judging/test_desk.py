"""Queues, votes, undo, agreement and adjudication, through the server but without a browser."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from judging_client import MODEL, rows

from goodgain.judging import desk as desk_module
from goodgain.labels import Store, label
from goodgain.labels.people import aggregate, read_votes


def finish(client, name, choose=lambda item: 2):
    """Judge until nothing is left; returns the items."""
    items = []
    answer = client.get(f"work?annotator={name}")
    while answer["item"] is not None:
        items.append(answer["item"])
        answer = client.vote(name, answer["item"], choose(answer["item"]))
        assert answer["status"] == 200, answer
    return items


def test_a_vote_is_stored_with_all_that_belongs_to_it(serve, tmp_path):
    client = serve(rows(1, 1))
    assert client.start("  Ann   Smith ")["annotator"] == "Ann Smith"
    item = client.get("work?annotator=Ann+Smith")["item"]
    answer = client.vote("Ann Smith", item, 3, note="clear", seconds=12.3)
    assert answer["message"] == "Saved: 3."
    with Store(tmp_path / "labels.db", read_only=True) as store:
        (vote,) = read_votes(store)
    assert (vote.annotator, vote.query, vote.doc, vote.gain) == ("Ann Smith", "q0", "d0-0", 3)
    assert (vote.low, vote.high, vote.note, vote.seconds) == (0, 4, "clear", 12.3)
    assert vote.question == "How does thing 0 work?"
    assert vote.document == "0" * 40
    assert vote.source == "page request00000002"


def test_the_model_s_label_is_about_the_last_text(serve, tmp_path):
    class Judge:
        model = MODEL

        def __call__(self, request):
            return 0 if request.document == "old" else 4

    (row,) = rows(1, 1)
    for text, replicates in (("old", 3), (row["text"], 1)):
        label([{**row, "text": text}], Judge(), tmp_path / "labels.db", replicates=replicates)
    client = serve([row])
    client.start("ann")
    answer = client.vote("ann", client.get("work?annotator=ann")["item"], 3)
    shown = {each["model"]: each["gain"] for each in answer["last"]["models"]}
    assert shown[MODEL] == 4


def test_what_is_saved_is_on_disk(serve):
    client = serve(rows(1, 1))
    store = client.server.desk.store
    assert store.db.execute("PRAGMA synchronous").fetchone()[0] == 2  # FULL


def test_two_annotators_share_the_work_and_never_hold_one_item(serve):
    client = serve(rows(4, 5))
    client.start("ann")
    client.start("bob")
    holding = {name: client.get(f"work?annotator={name}")["item"] for name in ("ann", "bob")}
    judged = Counter()
    for turn in range(20):
        name = "ann" if turn % 3 else "bob"
        if holding[name] is None:
            continue
        keys = {item["key"] for item in holding.values() if item}
        assert len(keys) == sum(item is not None for item in holding.values())
        judged[holding[name]["key"]] += 1
        holding[name] = client.vote(name, holding[name], turn % 5)["item"]
    for name in ("ann", "bob"):
        while holding[name]:
            judged[holding[name]["key"]] += 1
            holding[name] = client.vote(name, holding[name], 1)["item"]
    assert len(judged) == 20 and set(judged.values()) == {1}


def test_an_item_that_was_left_goes_to_somebody_else(serve, monkeypatch):
    client = serve(rows(1, 1))
    client.start("ann")
    client.start("bob")
    assert client.get("work?annotator=ann")["item"]
    assert client.get("work?annotator=bob")["item"] is None
    monkeypatch.setattr(desk_module, "LEASE", -1.0)
    assert client.get("work?annotator=bob")["item"]


def test_overlap_gives_a_share_of_the_items_to_everyone(serve):
    client = serve(rows(20, 10), overlap=0.3, seed=4)
    client.start("ann")
    client.start("bob")
    first = {item["key"] for item in finish(client, "ann")}
    second = {item["key"] for item in finish(client, "bob")}
    assert len(first) == 200
    assert 40 <= len(second) <= 80  # 60 expected
    everyone = {key for key in first if client.server.desk.is_shared(key)}
    assert second == everyone


def test_everyone_has_an_order_of_their_own_with_queries_together(serve):
    client = serve(rows(6, 4), overlap=1.0)
    orders = []
    for name in ("ann", "bob"):
        client.start(name)
        queries = [item["query"] for item in finish(client, name)]
        assert all(len(set(queries[i : i + 4])) == 1 for i in range(0, 24, 4))
        orders.append(queries)
    assert orders[0] != orders[1]


def test_a_sample_is_judged_in_its_order(serve):
    client = serve(rows(3, 3)[::-1], ordered=True)
    client.start("ann")
    docs = [item["doc"] for item in finish(client, "ann")]
    assert docs == [row["doc_id"] for row in rows(3, 3)[::-1]]


def test_a_reload_returns_to_the_same_item(serve):
    client = serve(rows(3, 3))
    client.start("ann")
    desk = client.server.desk
    keys = list(desk.items)
    for key in keys:
        assert client.get(f"work?annotator=ann&item={key}")["item"]["key"] == key
    client.vote("ann", client.get(f"work?annotator=ann&item={keys[4]}")["item"], 1)
    assert client.get(f"work?annotator=ann&item={keys[4]}")["item"]["key"] != keys[4]


def test_a_request_that_is_sent_again_counts_once(serve, tmp_path):
    client = serve(rows(1, 3))
    client.start("ann")
    item = client.get("work?annotator=ann")["item"]
    answers = [client.vote("ann", item, 4, id="samerequest") for _ in range(3)]
    assert [a["status"] for a in answers] == [200, 200, 200]
    undone = [client.post("undo", {"id": "sameundo1", "annotator": "ann", "item": item["key"]})
              for _ in range(2)]  # fmt: skip
    assert [a["status"] for a in undone] == [200, 200]
    assert undone[1]["item"]["key"] == item["key"]
    with Store(tmp_path / "labels.db", read_only=True) as store:
        assert [v.status for v in read_votes(store, history=True)] == ["label", "withdrawn"]


def test_undo_goes_back_and_a_second_label_is_marked(serve, tmp_path):
    client = serve(rows(1, 3), labelled=True)
    client.start("ann")
    item = client.get("work?annotator=ann")["item"]
    answer = client.vote("ann", item, 1, note="hasty")
    assert answer["last"]["models"] == [{"model": MODEL, "gain": 3}]
    back = client.post("undo", {"annotator": "ann", "item": item["key"]})
    assert (back["item"]["key"], back["item"]["note"], back["last"]) == (item["key"], "hasty", None)
    assert client.vote("ann", back["item"], 2)["status"] == 200
    with Store(tmp_path / "labels.db", read_only=True) as store:
        history = read_votes(store, history=True)
        assert [(v.status, v.gain) for v in history] == [
            ("label", 1),
            ("withdrawn", None),
            ("label", 2),
        ]
        assert history[2].source.startswith("page, revised ")
        assert [v.gain for v in read_votes(store)] == [2]


def test_a_skip_needs_a_reason_and_leaves_the_item_to_others(serve):
    client = serve(rows(1, 1), labelled=True)
    client.start("ann")
    client.start("bob")
    item = client.get("work?annotator=ann")["item"]
    assert client.vote("ann", item, None)["status"] == 400
    answer = client.vote("ann", item, None, reason="I cannot read the document")
    assert answer["item"] is None and answer["progress"] == {"done": 0, "skipped": 1, "left": 0}
    assert answer["last"]["models"] == []  # a skip shows nothing of the model's label
    assert client.get("work?annotator=bob")["item"]["key"] == item["key"]


@pytest.mark.parametrize("choice", [5, -1, 2.5, "3", True, [3], {"a": 1}, float("1e300")])
def test_what_is_not_on_the_scale_is_refused(serve, choice):
    client = serve(rows(1, 1))
    client.start("ann")
    answer = client.vote("ann", client.get("work?annotator=ann")["item"], choice)
    assert (answer["status"], "scale" in answer["error"]) == (400, True)


@pytest.mark.parametrize(
    "more",
    [{"note": 3}, {"note": "x" * 10_001}, {"id": "short"}, {"id": None}, {"item": "unknown"},
     {"item": ["a"]}, {"annotator": ""}, {"annotator": "a\u0000b"}, {"annotator": "x" * 101},
     {"annotator": "nobody"}, {"annotator": {"a": 1}}, {"seen": "other"}],
)  # fmt: skip
def test_a_malformed_vote_is_refused_and_stores_nothing(serve, tmp_path, more):
    client = serve(rows(1, 1))
    client.start("ann")
    answer = client.vote("ann", client.get("work?annotator=ann")["item"], 2, **more)
    assert answer["status"] in (400, 409) and answer["error"]
    with Store(tmp_path / "labels.db", read_only=True) as store:
        assert read_votes(store, history=True) == []


@pytest.mark.parametrize("seconds", [-1, "12", None, True, float("1e9")])
def test_a_time_that_cannot_be_is_not_stored(serve, tmp_path, seconds):
    client = serve(rows(1, 1))
    client.start("ann")
    client.vote("ann", client.get("work?annotator=ann")["item"], 2, seconds=seconds)
    with Store(tmp_path / "labels.db", read_only=True) as store:
        (vote,) = read_votes(store)
    assert vote.seconds == (3600.0 if seconds == 1e9 else None)


def test_nothing_unblinds_before_the_vote(serve):
    """Every byte that the server sends: no model, no gain, no vote of others about open items."""
    pairs = rows(3, 4)
    client = serve(pairs, labelled=True, overlap=1.0)
    for name in ("ann", "bob"):
        client.start(name)
    finish(client, "bob", lambda item: 4)
    client.bodies.clear()
    for path in ("", "setup", "work?annotator=ann", "agreement?annotator=ann",
                 "disagreements?annotator=ann"):  # fmt: skip
        client.ask(f"/{client.server.secret}/{path}")
    for key in client.server.desk.items:
        client.get(f"work?annotator=ann&item={key}")
    sent = b"".join(client.bodies).decode()
    assert MODEL not in sent
    allowed = {"key", "seen", "query", "doc", "question", "narrative", "title", "text", "cut", "url",
               "note"}  # fmt: skip
    item = client.get("work?annotator=ann")["item"]
    assert set(item) == allowed
    assert client.get("disagreements?annotator=ann") == {
        "status": 200, "items": [], "hidden": 0, "settled": 0,
    }  # fmt: skip
    answer = client.vote("ann", item, 0)
    assert answer["last"]["models"] == [{"model": MODEL, "gain": 3}]
    others = [body for body in client.bodies if MODEL.encode() in body]
    assert len(others) == 1  # the answer to the vote
    assert "models" not in json.dumps(answer["item"])


def test_blind_never_shows_the_model(serve):
    client = serve(rows(2, 2), labelled=True, blind=True)
    client.start("ann")
    finish(client, "ann")
    assert all(MODEL.encode() not in body for body in client.bodies)


def test_annotators_adjudicate_only_what_they_have_judged(serve, tmp_path):
    client = serve(rows(2, 2), overlap=1.0)
    for name in ("ann", "bob", "eve"):
        client.start(name)
    client.start("judge", "adjudicator")
    finish(client, "ann", lambda item: 1)
    finish(client, "bob", lambda item: 1 if item["doc"].endswith("0") else 4)
    assert client.get("disagreements?annotator=eve") | {"items": []} == {
        "status": 200, "items": [], "hidden": 2, "settled": 0,
    }  # fmt: skip
    assert client.get("disagreements?annotator=eve")["items"] == []
    (first, second) = client.get("disagreements?annotator=judge")["items"]
    assert {(v["annotator"], v["gain"]) for v in first["votes"]} == {("ann", 1), ("bob", 4)}
    refused = client.post("adjudicate", {"annotator": "eve", "item": first["key"], "choice": 2})
    assert refused["status"] == 409
    settled = client.post(
        "adjudicate", {"annotator": "judge", "item": first["key"], "choice": 2, "note": "between"}
    )
    assert settled["message"] == "Saved: settled as 2."
    client.post("adjudicate", {"annotator": "ann", "item": second["key"], "choice": 0})
    assert client.get("disagreements?annotator=judge")["settled"] == 2
    with Store(tmp_path / "labels.db", read_only=True) as store:
        votes = read_votes(store)
    assert len(votes) == 10  # nobody's own vote was replaced
    for method in ("majority", "mean", "median", "dawid-skene"):
        gains = aggregate(votes, method).gains
        assert gains[first["query"]][first["doc"]] == 2
        assert gains[second["query"]][second["doc"]] == 0
    assert client.get("work?annotator=eve")["progress"]["left"] == 2  # settled ones are closed


def test_an_adjudicator_cannot_label_and_an_annotator_does_not_become_one(serve):
    client = serve(rows(1, 2))
    assert client.start("judge", "adjudicator")["role"] == "adjudicator"
    assert client.start("judge")["role"] == "adjudicator"
    assert client.get("work?annotator=judge")["item"] is None
    key = next(iter(client.server.desk.items))
    assert client.vote("judge", {"key": key, "seen": "0" * 16}, 2)["status"] == 409
    client.start("ann")
    assert client.start("ann", "adjudicator")["status"] == 409
    assert client.start("judge", "annotator")["status"] == 409
    assert client.start("adjudicated by ann")["status"] == 400


def test_agreement_is_that_of_the_definitions(serve):
    import numpy as np
    from krippendorff import alpha

    client = serve(rows(15, 4), overlap=1.0)
    rng = np.random.default_rng(1)
    names = ("ann", "bob", "cat")
    gains = {}
    for name in names:
        client.start(name)
        noise = dict(zip(client.server.desk.items, rng.integers(0, 3, 60).tolist(), strict=True))
        own = {
            key: min(4, int(item.doc[-1]) + noise[key])
            for key, item in client.server.desk.items.items()
        }
        finish(client, name, lambda item, own=own: own[item["key"]])
        gains |= {(name, key): gain for key, gain in own.items()}
    data = client.get("agreement?annotator=ann")
    table = [[gains[name, key] for key in client.server.desk.items] for name in names]
    figures = {figure["name"]: figure for figure in data["figures"]}
    everyone = figures["Krippendorff's alpha (ordinal), everyone"]
    assert everyone["value"] == pytest.approx(alpha(table, level_of_measurement="ordinal"))
    assert everyone["low"] < everyone["value"] < everyone["high"]
    assert (everyone["pairs"], everyone["queries"]) == (60, 15)
    assert len(figures) == 7
    assert {(p["name"], p["labels"], p["seconds"]) for p in data["people"]} == {
        (name, 60, 2.5) for name in names
    }


def test_agreement_says_when_it_cannot_be_known(serve):
    client = serve(rows(4, 1), overlap=1.0)
    for name in ("ann", "bob"):
        client.start(name)
    assert "none of them by two people" in client.get("agreement?annotator=ann")["sentence"]
    finish(client, "ann", lambda item: int(item["query"][1]))
    finish(client, "bob", lambda item: 2)
    for figure in client.get("agreement?annotator=ann")["figures"]:
        assert figure["low"] is None and "too few" in figure["why"]


def test_votes_on_another_scale_are_not_mixed_in(serve, tmp_path):
    from goodgain.labels.people import Vote

    with Store(tmp_path / "labels.db") as store:
        store.add_votes([
            Vote(annotator="old", query="q0", doc="d0-0", gain=3, low=0, high=3),
            Vote(annotator="new", query="q0", doc="d0-1", gain=3, low=0, high=4),
        ])  # fmt: skip
    client = serve(rows(1, 2))
    client.start("ann")
    assert client.get("work?annotator=ann")["progress"]["left"] == 1
    assert "1 votes on another scale" in client.get("agreement?annotator=ann")["sentence"]


def test_a_store_that_cannot_be_written_is_not_saved(serve, monkeypatch):
    from goodgain.errors import InputError

    client = serve(rows(1, 2))
    client.start("ann")
    item = client.get("work?annotator=ann")["item"]

    def full(votes):
        raise InputError("cannot write to the label store: database or disk is full")

    store = client.server.desk.store
    with monkeypatch.context() as patch:
        patch.setattr(store, "add_votes", full)
        answer = client.vote("ann", item, 2, id="therequest")
        assert (answer["status"], "disk is full" in answer["error"]) == (503, True)
    assert client.vote("ann", item, 2, id="therequest")["message"] == "Saved: 2."


def test_votes_of_another_process_are_noticed(serve, tmp_path):
    from goodgain.labels.people import Vote

    client = serve(rows(1, 2))
    client.start("ann")
    item = client.get("work?annotator=ann")["item"]
    with Store(tmp_path / "labels.db") as other:
        other.add_votes([Vote(annotator="bob", query=item["query"], doc=item["doc"], gain=2)])
    answer = client.get(f"work?annotator=ann&item={item['key']}")
    assert answer["item"]["key"] != item["key"] and answer["progress"]["left"] == 1
