"""Stores that version 0.1 wrote can still be read and resumed: same tables, same keys."""

from pathlib import Path
from typing import Any

from goodgain.labels import Labels, Pair, Reply, Request, Store, label
from goodgain.labels.exchange import export, statistics
from goodgain.labels.imports import import_labels

PAIRS = [
    Pair(f"q{i % 2}", f"d{i}", f"question {i % 2}", "" if i == 4 else f"text {i}") for i in range(5)
]
GOOD_CANARY = "At what temperature does water boil at sea level?"
GAINS = {"q0": {"d0": 0.0, "d2": 2.0}, "q1": {"d1": 1.0}}


class Counting:
    """The judge that made the labels of the store; it counts its calls."""

    model = "counting"
    parameters: dict[str, Any] = {"temperature": 0}  # noqa: RUF012

    def __init__(self) -> None:
        self.calls: list[Request] = []

    def __call__(self, request: Request) -> Reply | None:
        self.calls.append(request)
        return Reply('{"gain": 4, "reason": "new"}')


def test_an_old_store_can_be_read(old_store: Path) -> None:
    labels = Labels.of(old_store)
    assert labels.to_dict() == GAINS
    assert labels.statuses == {"ok": 6, "no_text": 1, "refused": 1}  # canaries included
    assert [label.spread for label in labels if label.gain is not None] == [0.0] * 6
    assert str(labels.setting) == "counting, gain-0-4@1ca5c9f109ba"
    _, rows = statistics(labels.store)
    assert len(rows) == 1


def test_an_old_store_can_be_resumed(old_store: Path) -> None:
    judge = Counting()
    label(PAIRS, judge, old_store, replicates=2, canaries=1)
    # Every key is the same; only the known answers are new, which version 0.1 did not ask about.
    assert [request.question for request in judge.calls] == [
        "At what temperature does water boil at sea level?"
    ] * 2
    judge.calls.clear()
    label(PAIRS, judge, old_store, replicates=2, canaries=1, retry="refused")
    assert len(judge.calls) == 2
    assert Labels.of(old_store).to_dict() == {"q0": GAINS["q0"], "q1": {"d1": 1.0, "d3": 4.0}}


def test_the_tables_of_a_new_store_are_those_of_an_old_one(old_store: Path) -> None:
    def columns(store: Store) -> dict[str, list[tuple[Any, ...]]]:
        names = store.db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        return {
            name: store.db.execute(f"PRAGMA table_info({name})").fetchall() for (name,) in names
        }

    with Store(old_store) as old, Store() as new:
        assert columns(old) == columns(new)


def test_an_export_of_an_old_store_can_be_imported(old_store: Path, tmp_path: Path) -> None:
    (tmp_path / "labels.jsonl").write_text(export(Labels.of(old_store), "jsonl"))
    with Store() as store:
        assert import_labels(store, tmp_path / "labels.jsonl").replies == 16
        assert Labels.of(store).to_dict() == GAINS
