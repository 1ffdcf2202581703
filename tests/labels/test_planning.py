"""Planning: calls begin while pairs are still being read, and the progress says so."""

import gc
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from goodgain.cli.label import line
from goodgain.errors import InputError
from goodgain.labels import Labels, Request, Store, estimate, label, labeller
from goodgain.labels.hashes import HashTable
from goodgain.labels.progress import Progress


def pairs(count: int) -> Iterator[tuple[str, str, str, str]]:
    for i in range(count):
        yield f"q{i // 10}", f"d{i}", f"question {i // 10}", f"text {i}"


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(labeller, "_PLAN_AHEAD", 0.0)


@pytest.mark.parametrize("batch", [1, 4])
def test_calls_begin_before_the_last_pair_is_read(batch: int) -> None:
    events: list[str] = []

    def slowly() -> Iterator[tuple[str, str, str, str]]:
        yield from pairs(6_000)
        time.sleep(0.05)
        events.append("last pair")

    async def judge(request: Request) -> dict[str, dict[int, int]] | int:
        events.append("call")
        count = len(request.documents)
        return 2 if count == 1 else {"labels": dict.fromkeys(range(1, count + 1), 2)}

    states: list[tuple[bool, int, int]] = []
    labels = label(
        slowly(), judge, batch=batch, concurrency=4,
        progress=lambda p: states.append((p.planning, p.pairs, p.total)),
    )  # fmt: skip
    assert events.index("call") < events.index("last pair")
    assert labels.summary is not None
    assert (labels.summary.pairs, labels.summary.planning) == (6_000, False)
    assert labels.statuses == {"ok": 6_000}
    assert states[0][0] and states[0][1] < 6_000
    assert states[-1] == (False, 6_000, 6_000)


def test_a_run_without_calls_shows_that_it_is_planning(tmp_path: Path) -> None:
    async def judge(request: object) -> int:
        return 1

    label(pairs(1_500), judge, tmp_path / "l.db")
    lines: list[str] = []
    again = label(pairs(1_500), judge, tmp_path / "l.db", progress=lambda p: lines.append(line(p)))
    assert again.summary is not None
    assert (again.summary.calls, again.summary.stored) == (0, 1_500)
    assert lines[0].startswith("planning: ")
    assert line(Progress(total=10, planning=True)).startswith(
        "[....................] 0/10+ (planning)"
    )


def test_an_error_in_a_late_pair_keeps_the_labels_before_it(tmp_path: Path) -> None:
    def broken() -> Iterator[tuple[str, str, str, str]]:
        yield from pairs(1_000)
        yield "q", "d", " ", "no question"

    async def judge(request: object) -> int:
        return 1

    with pytest.raises(InputError, match="query 'q' has no text"):
        label(broken(), judge, tmp_path / "l.db")
    with Store(tmp_path / "l.db", read_only=True) as store:
        stored = store.db.execute("SELECT count(*) FROM asked").fetchone()[0]
    assert stored == 1_000
    again = label(pairs(1_000), judge, tmp_path / "l.db")
    assert again.statuses == {"ok": 1_000}


def test_an_estimate_counts_every_call_of_a_long_plan() -> None:
    counts = estimate(pairs(5_000), lambda request: 1, batch=5)
    assert (counts.pairs, counts.labels) == (5_000, 5_000)
    assert 1_000 <= counts.calls <= 1_004  # at most one more for each window of the plan


@pytest.mark.parametrize("keep", ["hash", "text"])
def test_the_store_keeps_the_hash_of_a_document_or_also_its_text(keep: str, tmp_path: Path) -> None:
    label(pairs(3), lambda request: 1, tmp_path / "l.db", keep=keep)
    with Store(tmp_path / "l.db", read_only=True) as store:
        rows = store.db.execute(
            "SELECT a.doc, length(a.document), d.text FROM asked a "
            "LEFT JOIN documents d ON d.hash = a.document ORDER BY a.doc"
        ).fetchall()
    assert rows == [(f"d{i}", 64, f"text {i}" if keep == "text" else None) for i in range(3)]
    assert Labels.of(tmp_path / "l.db").statuses == {"ok": 3}


def test_a_hash_stands_for_what_was_added_first() -> None:
    table = HashTable()
    assert table.add([(n, n + 1, 2) for n in range(1_500)]) == {}
    stored = table.add([(n, 0, 0) for n in range(1_499, 2_600)])
    assert len(stored) == 1_101
    assert stored[1_499] == (1_500, 2)
    assert stored[2_599] == (0, 0)
    assert table.add([(-1, 5, 6), (-1, 7, 8)]) == {-1: (5, 6)}


def test_a_full_disk_under_temporary_files_is_an_input_error() -> None:
    table = HashTable()
    table._db.execute("PRAGMA max_page_count = 20")
    with pytest.raises(InputError, match=r"cannot write a temporary file.*full"):
        table.add([(n * 7_919, n, n) for n in range(100_000)])


def test_pairs_in_the_same_words_are_asked_once_however_far_apart() -> None:
    """Also across batches of the plan in which some calls were left out."""
    calls: list[str] = []

    def judge(request: Request) -> int:
        calls.append(request.document)
        return int(request.document.split()[1]) % 5

    texts = [f"text {i % 1_700}" for i in range(5_100)]
    rows = [("q", f"d{i}", "what?", text) for i, text in enumerate(texts)]
    labels = label(rows, judge, name="counted")
    assert sorted(calls) == sorted(set(texts))
    assert labels.summary is not None
    assert (labels.summary.calls, labels.summary.total) == (1_700, 1_700)
    assert labels.to_dict() == {"q": {f"d{i}": i % 1_700 % 5 for i in range(5_100)}}


def test_a_table_of_hashes_closes_its_file():
    table = HashTable()
    connection = table._db
    del table
    gc.collect()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        connection.execute("SELECT 1")
