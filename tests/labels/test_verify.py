"""`verify` finds every flipped bit that changes what a store says, and rows that are missing."""

import json
import os
import random
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from goodgain.errors import GoodgainError
from goodgain.labels import Store, Vote, label
from goodgain.labels.database import checked_tables
from goodgain.labels.store import now
from goodgain.labels.verify import verify

FLIPS = int(os.environ.get("GOODGAIN_FLIPS", "1500"))


def fill(path: Path) -> None:
    def judge(request: Any) -> int | None:
        return None if "3" in request.document else 2

    label([("q", f"d{i}", "wóuld it?", f"text {i}") for i in range(4)], judge, path, keep="text")
    with Store(path) as store:
        for name in ("ann", "bob"):
            store.add_votes([Vote(annotator=name, query="q", doc="d1", gain=3, note="nöte")])
        store.insert("spending", [{
            "setting": 1, "calls": 1, "tokens_in": 10, "tokens_out": 3, "cost": 0.25, "estimated": 0,
            "created": now(),
        }])  # fmt: skip
        store.insert("preferences", [{
            "annotator": "ann", "query": "q", "first": "a", "second": "b", "choice": "same",
            "sides": "ab", "reason": "", "note": "", "seconds": 2.5, "source": "", "created": now(),
        }])  # fmt: skip
        store.insert("samples", [{"name": "s", "design": "{}", "seed": 7, "created": now()}])
        store.insert("sampled", [{
            "sample": 1, "query": "q", "doc": None, "probability": 0.5, "stratum": "", "position": 1,
        }])  # fmt: skip
        store.insert("annotators", [{"name": "ann", "role": "annotator", "created": now()}])
        store.insert("nuggets", [{
            "query": "q", "text": "a fact", "vital": 1, "source": "ann", "created": now(),
        }])  # fmt: skip


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("verify") / "l.db"
    fill(path)
    assert not Path(f"{path}-wal").exists()
    return path


def reading(path: Path) -> list[Any]:
    """Everything that a store says, as its readers see it."""
    with Store(path, read_only=True) as store:
        return [
            store.db.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall()
            for table in (*checked_tables(), "labels", "claims")
        ]


def test_a_sound_store_has_no_damage(store: Path) -> None:
    verification = verify(store)
    assert verification.damages == ()
    assert verification.rows == sum(len(rows) for rows in reading(store)[:-2]) > 20


def places(data: bytes) -> Iterator[tuple[int, int]]:
    """All bits of the header, and a bit of each byte of the rest: random ones if these are too many."""
    yield from ((byte, bit) for byte in range(100) for bit in range(8))
    chance = random.Random(5)
    rest = [byte for byte in range(100, len(data)) if data[byte]]
    rest += chance.sample(range(100, len(data)), 200)  # free space as well
    yield from ((byte, chance.randrange(8)) for byte in chance.sample(rest, min(FLIPS, len(rest))))


@pytest.mark.slow
def test_every_flipped_bit_is_noticed_or_changes_nothing(store: Path, tmp_path: Path) -> None:
    data = store.read_bytes()
    before = reading(store)
    path = tmp_path / "flipped.db"
    noticed = harmless = 0
    for byte, bit in places(data):
        flipped = bytearray(data)
        flipped[byte] ^= 1 << bit
        path.write_bytes(flipped)
        if verify(path).damages:
            noticed += 1
        else:
            assert reading(path) == before, f"bit {bit} of byte {byte}"
            harmless += 1
    assert noticed > 1_000
    assert harmless < noticed


def test_damage_is_reported_with_its_place(store: Path, tmp_path: Path) -> None:
    data = bytearray(store.read_bytes())
    place = data.index("nöte".encode())
    data[place] ^= 1
    path = tmp_path / "l.db"
    path.write_bytes(data)
    (damage,) = verify(path).damages
    assert (damage.where, damage.what) == ("votes, row 2", "the row does not match its checksum")


@pytest.mark.parametrize(
    ("statement", "where", "what"),
    [
        ("DELETE FROM votes WHERE id = 2", "votes", "1 rows, but 2 were written"),
        ("DELETE FROM nuggets", "nuggets", "0 rows, but 1 were written"),
        ("UPDATE votes SET gain = 0 WHERE id = 1", "votes, row 1", "does not match its checksum"),
        ("DELETE FROM settings", "asked, row 1", "refers to a row of settings that is missing"),
        (
            "INSERT INTO votes SELECT 9, annotator, query, doc, question, document, status, gain, "
            "low, high, reason, note, seconds, source, created, checksum FROM votes WHERE id = 1",
            "votes",
            "3 rows, but 2 were written",
        ),
        (
            "UPDATE votes SET annotator = v.annotator, created = v.created, checksum = v.checksum "
            "FROM votes v WHERE votes.id = 1 AND v.id = 2",
            "votes",
            "rows are not those that were written",
        ),
        ("UPDATE documents SET hash = 'x' WHERE text = 'text 1'", "documents, x", "checksum"),
        ("DROP TRIGGER replies_keep", "schema", "missing or changed: CREATE TRIGGER replies_keep"),
        ("CREATE TABLE mine (x)", "schema", "not part of a label store: CREATE TABLE mine"),
    ],
)
def test_changes_by_other_programs_are_reported(
    store: Path, tmp_path: Path, statement: str, where: str, what: str
) -> None:
    path = tmp_path / "l.db"
    shutil.copyfile(store, path)
    with closing(sqlite3.connect(path)) as db:
        triggers = db.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
        ).fetchall()
        if not statement.startswith("DROP"):
            for name, _ in triggers:
                db.execute(f"DROP TRIGGER {name}")
        db.execute(statement)
        if not statement.startswith("DROP"):
            for _, sql in triggers:
                db.execute(sql)
        db.commit()
    damages = [(damage.where, damage.what) for damage in verify(path).damages]
    assert any(place == where and what in text for place, text in damages), damages


def test_a_damaged_log_is_reported(tmp_path: Path) -> None:
    """SQLite ignores a damaged page of its log and all that follows, and says nothing."""
    with Store(tmp_path / "l.db") as store:
        for i in range(5):
            store.add_votes([Vote(annotator="ann", query="q", doc=f"d{i}", gain=1)])
        copy = tmp_path / "copy.db"
        log = Path(f"{store.path}-wal").read_bytes()
        data = Path(store.path).read_bytes()
    chance = random.Random(3)
    lost = 0
    for byte in (3, 17, 25, 33, 41, *chance.sample(range(len(log)), 60)):
        for old in tmp_path.glob("copy.db*"):
            old.unlink()
        flipped = bytearray(log)
        flipped[byte] ^= 1 << chance.randrange(8)
        copy.write_bytes(data)
        Path(f"{copy}-wal").write_bytes(flipped)
        damages = [damage.where for damage in verify(copy).damages]
        assert "write-ahead log" in damages, byte
        lost += 1
    assert lost == 65
    for old in tmp_path.glob("copy.db*"):
        old.unlink()
    copy.write_bytes(data)
    Path(f"{copy}-wal").write_bytes(log)
    assert verify(copy).damages == ()


def test_an_upgraded_store_is_sound(old_store: Path) -> None:
    assert verify(old_store).checksums is False
    with Store(old_store):
        pass
    verification = verify(old_store)
    assert verification.checksums
    assert verification.damages == ()
    assert verification.rows == 1 + 2 + 16 + 16 + 1  # with the sum of what was spent


def test_what_is_not_a_store(tmp_path: Path) -> None:
    with pytest.raises(GoodgainError, match="label store not found"):
        verify(tmp_path / "none.db")
    (tmp_path / "text.db").write_text(
        "not a database at all, but long enough to be read as one" * 20
    )
    (damage,) = verify(tmp_path / "text.db").damages
    assert damage.where == "file"
    assert "not a label store" in damage.what


def test_rows_that_no_database_would_take_are_made_storable() -> None:
    store = Store()
    text = "lone \ud800 surrogate, NUL \0"
    store.add_votes([Vote(annotator="ann", query=text, doc="d", gain=1, note=text)])
    store.insert("spending", [{
        "setting": 0, "calls": True, "tokens_in": 2**80, "tokens_out": 1.0, "cost": None,
        "estimated": 0, "created": now(),
    }])  # fmt: skip
    row = store.db.execute("SELECT calls, tokens_in, tokens_out FROM spending").fetchone()
    assert json.dumps(row) == json.dumps([1, 2**63 - 1, 1])
    assert store.db.execute("SELECT note FROM votes").fetchone() == (
        "lone \\ud800 surrogate, NUL \\x00",
    )
