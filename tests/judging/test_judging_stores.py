"""What people did on the page, in a file and on a PostgreSQL server: verified, merged, exported."""

from __future__ import annotations

import os

import pytest
from judging_client import Client, desk_of, rows, running

from goodgain.judging import JudgingServer
from goodgain.judging.sides_desk import SideItem, SidesDesk
from goodgain.labels import Store
from goodgain.labels.merge import merge
from goodgain.labels.people import aggregate, read_votes
from goodgain.labels.preferences import gsb_rows
from goodgain.labels.verify import verify

pytestmark = pytest.mark.slow


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request, tmp_path):
    if request.param == "sqlite":
        path = str(tmp_path / "labels.db")
    else:
        server = request.getfixturevalue("postgres_server")
        home = dict(word.split("=") for word in server.split())["host"]
        path = f"postgresql://test@/postgres?host={home}&schema=judge{os.getpid()}_{id(tmp_path)}"
    with Store(path) as one:
        one.address = path
        yield one


def vote(desk, name, key, choice, number, **more):
    item = desk._present(key, name)
    return desk.vote({
        "id": f"{name}{number:08}", "annotator": name, "item": key, "seen": item["seen"], "choice": choice,
        "note": "a note with é and \udcff", "reason": "", "seconds": 1.5, **more,
    })  # fmt: skip


def fill(store):
    """Two people and an adjudicator on four documents, and one comparison."""
    desk = desk_of(store, rows(2, 2), overlap=1.0)
    for name, role in (("ann", None), ("bob", None), ("eve", "adjudicator")):
        desk.start(name, role)
    keys = list(desk.items)
    for i, key in enumerate(keys):
        vote(desk, "ann", key, 1, i)
        vote(desk, "bob", key, 1 if i else 4, i)
    desk.undo({"id": "undo00001", "annotator": "bob", "item": keys[1]})
    vote(desk, "bob", keys[1], 2, 77)
    desk.adjudicate({"id": "settle001", "annotator": "eve", "item": keys[0], "choice": 3})
    contents = ({"answer": "a", "results": []}, {"answer": "b", "results": []})
    sides = SidesDesk(store, [
        SideItem(query="q", question="why?", narrative="", systems=("old", "new"), contents=contents),
        SideItem(query="r", question="how?", narrative="", systems=("old", "new"),
                 contents=(contents[0], contents[0])),
    ])  # fmt: skip
    (key,) = sides.items
    vote(sides, "ann", key, "left", 99)
    return desk, keys


def test_a_desk_means_the_same_in_every_store(store):
    _, keys = fill(store)
    gains = aggregate(read_votes(store)).gains
    assert gains == {"q0": {"d0-0": 3, "d0-1": 1}, "q1": {"d1-0": 1, "d1-1": 1}}
    assert len(read_votes(store, history=True)) == 4 + 4 + 2 + 1
    assert {row["label"] for row in gsb_rows(store)} >= {"same"} and len(gsb_rows(store)) == 2
    again = desk_of(store, rows(2, 2), overlap=1.0)  # after a restart
    assert again.work("ann")["item"] is None
    assert again.role("eve") == "adjudicator"
    assert again.disagreements("eve")["settled"] == 1
    assert "they differ on 2" in again.agreement("ann")["sentence"]
    assert vote(again, "ann", keys[0], 1, 0)["message"] == "Saved: 1."  # the same request again
    assert len(read_votes(store, history=True)) == 11


def test_a_restart_of_the_server_loses_no_vote(postgres_server, tmp_path):
    """The connections end under the page, as they do when the server restarts."""
    import psycopg

    home = dict(word.split("=") for word in postgres_server.split())["host"]
    schema = f"restart{os.getpid()}"
    url = f"postgresql://test@/postgres?host={home}&schema={schema}"

    def end_connections():
        with psycopg.connect(postgres_server, autocommit=True) as other:
            other.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE application_name = 'goodgain' AND pid <> pg_backend_pid()"
            )

    with Store(url) as store:
        desk = desk_of(store, rows(2, 2), overlap=1.0)
        with running(JudgingServer(desk)) as server:
            client = Client(server)
            client.start("ann")
            for number in range(4):
                item = client.get("work?annotator=ann")["item"]
                end_connections()
                assert client.vote("ann", item, number)["message"] == f"Saved: {number}."
        assert sorted(vote.gain for vote in read_votes(store, history=True)) == [0, 1, 2, 3]
        (mode,) = store.db.execute("SHOW synchronous_commit").fetchone()
        assert mode == "on"
    assert verify(url).damages == ()


def test_the_store_verifies_and_merges(store, tmp_path):
    fill(store)
    assert verify(store.address).damages == ()
    target = tmp_path / "merged.db"
    for _ in range(2):  # the second time adds nothing
        with Store(target) as merged:
            merge(merged, store)
            assert aggregate(read_votes(merged)).gains == aggregate(read_votes(store)).gains
            assert gsb_rows(merged) == gsb_rows(store)
            roles = "SELECT name, role FROM annotators ORDER BY name"
            assert [tuple(r) for r in merged.db.execute(roles).fetchall()] == [
                ("ann", "annotator"), ("bob", "annotator"), ("eve", "adjudicator"),
            ]  # fmt: skip
    assert verify(target).damages == ()
