"""Kills, interrupts and concurrent runs: nothing is lost, and at most calls in flight are paid twice."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from server import Server

from goodgain.labels import Labels, Store, label

pytestmark = pytest.mark.slow

KILLS = int(os.environ.get("GOODGAIN_KILLS", "50"))


def command(server: Server, folder: Path, count: int, *more: str) -> list[str]:
    pairs = folder / "pairs.jsonl"
    rows = (
        {"query_id": "q", "doc_id": f"d{i}", "question": "what?", "text": f"document {i}"}
        for i in range(count)
    )
    pairs.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return [
        sys.executable, "-m", "goodgain", "label", str(pairs), "--model", "m", "--base-url",
        server.openai_url, "--store", str(folder / "l.db"), "--price", "1/1", *more,
    ]  # fmt: skip


@pytest.mark.parametrize("processes", [1, 2])
def test_after_random_kills_every_label_exists_once(
    server: Server, tmp_path: Path, processes: int
) -> None:
    server.delay = 0.03
    server.keep_bodies = False
    script = Path(__file__).parent / "kill_loop.py"
    store = str(tmp_path / "l.db")
    kills = KILLS // 2
    number = 24 * kills  # enough work for every kill
    argv = [script, server.openai_url, store, number, kills, 7, processes]
    done = subprocess.run(
        [sys.executable, *map(str, argv)],
        capture_output=True, text=True, timeout=300 + 12 * KILLS, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    counts = json.loads(done.stdout)
    assert counts["killed"] == kills
    assert (counts["lost"], counts["twice"], counts["failed"], counts["damaged"]) == (0, 0, 0, 0)
    assert counts["labels"] == number
    paid = sum(server.answered.values())
    assert number <= paid <= number + kills * counts["concurrency"]  # only calls in flight
    assert counts["while_working"] >= kills / 3  # otherwise the kills prove nothing
    gains = Labels.of(store).to_dict()["q"]
    assert gains == {f"d{i}": sum(f"document {i}".encode()) % 4 for i in range(number)}
    with Store(store) as after:
        assert (
            after.db.execute("SELECT count(*) FROM claims WHERE key <> 'lock'").fetchone()[0] == 0
        )
        stored = after.db.execute("SELECT sum(calls) FROM spending").fetchone()[0]
    assert stored == number  # every reply that was stored has its cost beside it


def test_a_kill_while_the_store_is_created_leaves_a_usable_one(tmp_path: Path) -> None:
    path = tmp_path / "l.db"
    dying = (
        f"import os, sqlite3; db = sqlite3.connect({str(path)!r}, isolation_level=None)\n"
        "db.execute('PRAGMA cache_size = 1'); db.execute('BEGIN'); db.execute('CREATE TABLE t (x)')\n"
        "for _ in range(100): db.execute('INSERT INTO t VALUES (?)', ('x' * 1000,))\n"
        "os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", dying], check=False)
    assert path.stat().st_size > 0
    assert (tmp_path / "l.db-journal").exists()
    assert label([("q", "d", "what?", "text")], lambda request: 2, path).statuses == {"ok": 1}


def test_two_processes_on_one_store_share_the_work(server: Server, tmp_path: Path) -> None:
    server.delay = 0.02
    argv = command(server, tmp_path, 400, "--concurrency", "8", "-q")
    both = [
        subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(2)
    ]
    for process in both:
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors.decode()
    labels = Labels.of(tmp_path / "l.db")
    assert labels.statuses == {"ok": 400}
    assert set(server.answered.values()) == {1}  # nothing is paid for twice


def test_ctrl_c_lets_calls_in_flight_finish_and_sums_up(server: Server, tmp_path: Path) -> None:
    server.delay = 0.2
    argv = command(server, tmp_path, 2000, "--concurrency", "8")
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while sum(server.answered.values()) < 10 and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in errors
    assert "run the same command to continue" in errors
    assert "labels ok" in out
    labels = Labels.of(tmp_path / "l.db")
    assert labels.statuses["ok"] == sum(server.answered.values())  # everything paid for is stored


def test_a_second_ctrl_c_ends_at_once(server: Server, tmp_path: Path) -> None:
    server.delay = 30
    argv = command(server, tmp_path, 50, "--concurrency", "4")
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not server.in_flight and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    assert process.stderr is not None
    assert "press Ctrl-C again to abort them" in process.stderr.readline()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=25)  # a reply would take 30 seconds
    assert process.returncode == 130
    assert "Traceback" not in errors


def test_the_command_from_estimate_to_qrels(server: Server, tmp_path: Path) -> None:
    def goodgain(*words: str) -> str:
        argv = [sys.executable, "-m", "goodgain", *words]
        done = subprocess.run(argv, capture_output=True, text=True, cwd=tmp_path, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    label = command(server, tmp_path, 30)[3:]
    estimate = dict(
        json.loads(line).values()
        for line in goodgain(*label, "--dry-run", "--format", "jsonl").splitlines()
    )
    assert estimate["calls"] == 30
    assert not (tmp_path / "l.db").exists()
    assert not server.requests
    summary = dict(
        json.loads(line).values()
        for line in goodgain(*label, "--canaries", "1", "--format", "jsonl").splitlines()
    )
    assert summary["labels ok"] == 34  # with three decoys and a known answer
    assert summary["cost"] == pytest.approx(34 * 110e-6, abs=1e-4)
    assert "34" in goodgain("labels", "stats", "l.db")
    goodgain("labels", "export", "l.db", "--to", "qrels", "-o", "qrels.txt")
    assert len((tmp_path / "qrels.txt").read_text().splitlines()) == 30
    figures = goodgain("calibrate", "qrels.txt", "l.db", "--format", "csv")
    assert "Cohen's kappa,1.0" in figures
    assert "canary injection found good" in figures
