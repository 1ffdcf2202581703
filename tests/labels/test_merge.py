"""Merging stores: nothing is lost, nothing is there twice, and merging again adds nothing."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from test_verify import fill

from goodgain.errors import GoodgainError
from goodgain.labels import Labels, Store, Vote, label
from goodgain.labels.merge import merge
from goodgain.labels.people import read_votes
from goodgain.labels.store import now
from goodgain.labels.verify import verify


def judge(gain: int, name: str = "m") -> Any:
    class Judge:
        model = name
        parameters: dict[str, object] = {}  # noqa: RUF012

        def __call__(self, request: object) -> int:
            return gain

    return Judge()


def pairs(*numbers: int, text: str = "text") -> list[tuple[str, str, str, str]]:
    return [(f"q{i % 2}", f"d{i}", f"question {i % 2}", f"{text} {i}") for i in numbers]


def sums(store: Store) -> dict[str, tuple[int, int]]:
    return {n: (t, s) for n, t, s in store.db.execute("SELECT name, total, sum FROM totals") if t}


def test_everything_of_both_stores_is_in_the_merged_one(tmp_path: Path) -> None:
    a, b = tmp_path / "a.db", tmp_path / "b.db"
    label(pairs(0, 1, 2), judge(1, "other"), a)  # so that ids differ
    label(pairs(0, 1, 2), judge(2), a)
    label(pairs(2, 3, 4, 5), judge(3), b, keep="text")
    with Store(b) as store:
        store.add_votes([Vote(annotator="ann", query="q0", doc="d0", gain=4, question="new")])
    with Store(a) as target, Store(b, read_only=True) as source:
        new = merge(target, source)
        again = merge(target, source)
        assert read_votes(target) == read_votes(source)
        assert target.db.execute("SELECT count(*) FROM documents").fetchone() == (4,)
    assert {table: n for table, n in new.items() if n} == {
        "documents": 4, "questions": 1, "asked": 4, "replies": 3, "votes": 1,
    }  # fmt: skip
    assert not any(again.values())
    gains = Labels.of(a, model="m").to_dict()
    assert gains == {"q0": {"d0": 2, "d2": 2, "d4": 3}, "q1": {"d1": 2, "d3": 3, "d5": 3}}
    assert Labels.of(a, model="other").statuses == {"ok": 3}
    assert verify(a).damages == ()


def test_merging_in_either_order_gives_the_same_rows(tmp_path: Path) -> None:
    label(pairs(0, 1), judge(2), tmp_path / "a.db")
    label(pairs(2, 3), judge(3), tmp_path / "b.db")
    contents = []
    for order in ("ab", "ba"):
        with Store() as target:
            for name in order:
                with Store(tmp_path / f"{name}.db", read_only=True) as source:
                    merge(target, source)
            contents.append(
                (Labels.of(target).to_dict(), {t: n for t, (n, _) in sums(target).items()})
            )
    assert contents[0] == contents[1]


def test_all_tables_are_merged(tmp_path: Path) -> None:
    fill(tmp_path / "a.db")
    with Store(tmp_path / "b.db") as target, Store(tmp_path / "a.db", read_only=True) as source:
        merge(target, source)
        assert sums(target) == sums(source)


def test_equal_rows_stay_as_many_as_they_are(tmp_path: Path) -> None:
    """Two calls of one moment that cost the same are two calls."""
    row = {"setting": 0, "calls": 1, "tokens_in": 1, "tokens_out": 1, "cost": 0.5, "estimated": 0,
           "created": now()}  # fmt: skip
    with Store() as target, Store() as source:
        for store in (target, source):
            label(pairs(1), judge(1), store)
        row["setting"] = source.settings()[0][0]
        source.insert("spending", [row, row])
        target.insert("spending", [row])
        before = target.db.execute("SELECT count(*) FROM spending").fetchone()[0]
        assert merge(target, source)["spending"] == 1
        assert merge(target, source)["spending"] == 0
        assert target.db.execute("SELECT count(*) FROM spending").fetchone()[0] == before + 1


def test_the_later_text_of_a_document_counts_in_either_order(tmp_path: Path) -> None:
    label(pairs(0, text="old"), judge(1), tmp_path / "a.db")
    label(pairs(0, text="new"), judge(4), tmp_path / "b.db")
    for first, second in ("ab", "ba"):
        with Store() as target:
            for name in (first, second):
                with Store(tmp_path / f"{name}.db", read_only=True) as source:
                    merge(target, source)
            assert Labels.of(target).to_dict() == {"q0": {"d0": 4}}


def test_the_later_vote_counts_in_either_order() -> None:
    stores = [Store(), Store()]
    for store, gain in zip(stores, (1, 4), strict=True):
        store.add_votes([Vote(annotator="ann", query="q", doc="d", gain=gain)])
    for order in (stores, stores[::-1]):
        target = Store()
        for source in order:
            merge(target, source)
        assert [vote.gain for vote in read_votes(target)] == [4]
        assert [vote.gain for vote in read_votes(target, history=True)] == [1, 4]


def test_a_store_of_format_1_can_be_merged(old_store: Path) -> None:
    with Store() as target, Store(old_store, read_only=True) as source:
        assert merge(target, source)["replies"] == 16
        assert Labels.of(target).to_dict() == Labels.of(old_store).to_dict()


def test_a_damaged_store_is_not_merged(tmp_path: Path) -> None:
    label(pairs(0, 1), judge(2), tmp_path / "a.db")
    with closing(sqlite3.connect(tmp_path / "a.db")) as db:
        db.execute("DROP TRIGGER replies_keep")
        db.execute("UPDATE replies SET gain = 4 WHERE id = 2")
        db.commit()
    with Store() as target, Store(tmp_path / "a.db", read_only=True) as source:
        with pytest.raises(GoodgainError, match="row 2 of replies does not match its checksum"):
            merge(target, source)
        assert not sums(target)


def test_different_samples_of_one_name_are_refused() -> None:
    stores = [Store(), Store()]
    for seed, store in enumerate(stores):
        store.insert("samples", [{"name": "s", "design": "{}", "seed": seed, "created": now()}])
    with pytest.raises(GoodgainError, match="both stores have a sample named 's'"):
        merge(*stores)


def test_a_store_is_not_merged_with_itself(tmp_path: Path) -> None:
    label(pairs(0), judge(2), tmp_path / "a.db")
    stores = Store(tmp_path / "a.db"), Store(tmp_path / "a.db", read_only=True)
    with pytest.raises(GoodgainError, match="cannot be merged with itself"):
        merge(*stores)
