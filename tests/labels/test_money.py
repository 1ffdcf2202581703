"""Money: budgets over all processes, costs without labels, circuit breaker, claims."""

import asyncio
import json
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from server import KEY, Server

from goodgain.errors import JudgeError
from goodgain.labels import Labels, Limits, OpenAIJudge, Price, Reply, Retry, Store, label
from goodgain.labels import claims as claims_module
from goodgain.labels.claims import Claims
from goodgain.labels.money import Budget
from goodgain.labels.store import ReplyRow

QUICK = Limits(wait=0.01, concurrency=8)


def pairs(count: int, text: str = "document") -> list[tuple[str, str, str, str]]:
    return [("q", f"d{i}", "what?", f"{text} {i}") for i in range(count)]


def rows(store: Store, sql: str) -> list[Any]:
    return store.db.execute(sql).fetchall()


def judge_of(server: Server, **options: Any) -> OpenAIJudge:
    return OpenAIJudge("m", base_url=server.openai_url, price=Price(1, 1), **options)


def command(
    server: Server, folder: Path, count: int, *more: str, text: str = "document"
) -> list[str]:
    path = folder / "pairs.jsonl"
    names = ("query_id", "doc_id", "question", "text")
    lines = (json.dumps(dict(zip(names, pair, strict=True))) for pair in pairs(count, text))
    path.write_text("".join(f"{line}\n" for line in lines))
    return [
        sys.executable, "-m", "goodgain", "label", str(path), "--model", "m", "--base-url",
        server.openai_url, "--store", str(folder / "l.db"), "--price", "1/1", *more,
    ]  # fmt: skip


def run(argv: list[str]) -> tuple[int, str]:
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=120)
    assert "Traceback" not in done.stderr
    return done.returncode, done.stderr


# --- what every call has cost ---


def test_every_paid_call_is_stored_even_if_its_label_is_not_used(server: Server) -> None:
    store = Store()
    labels = label(
        [("q", "a", "what?", "FAULT=outside"), ("q", "b", "what?", "FAULT=500"),
         ("q", "c", "what?", "GAIN=1"), ("q", "d", "what?", "FAULT=half")],
        judge_of(server), store, limits=Limits(wait=0.01, tries=2),
    )  # fmt: skip
    spent = rows(store, "SELECT calls, tokens_in, tokens_out, cost, estimated FROM spending")
    assert Counter(row[4] for row in spent) == {0: 3, 1: 2}  # two readings of a; c; two tries of d
    assert all(row[:4] == (1, 100, 10, pytest.approx(110e-6)) for row in spent if not row[4])
    assert store.cost() == pytest.approx(sum(row[3] for row in spent))
    assert labels.summary is not None
    assert labels.summary.cost == pytest.approx(store.cost())
    assert labels.summary.estimated == 2


def test_a_second_gain_of_a_key_is_paid_for_but_not_used(tmp_path: Path) -> None:
    """Whatever happens to a claim: the cost of both calls is in the store."""
    path = tmp_path / "l.db"

    class Slow:
        model, price, max_tokens = "slow", Price(1, 1), 10

        async def __call__(self, request: Any) -> Reply:
            with Store(path) as other:
                other.db.execute("DELETE FROM claims")  # as if it had expired
                if not other.last_reply():
                    label(pairs(1), Plain(), other)
            return Reply('{"gain": 1}', tokens_in=5, tokens_out=5)

    class Plain(Slow):
        async def __call__(self, request: Any) -> Reply:
            return Reply('{"gain": 2}', tokens_in=5, tokens_out=5)

    assert label(pairs(1), Slow(), path).to_dict() == {"q": {"d0": 2}}
    with Store(path) as store:
        assert rows(store, "SELECT count(*) FROM spending") == [(2,)]


def test_a_server_that_reports_no_usage_is_counted_by_estimate(server: Server) -> None:
    server.reports_usage = False
    store = Store()
    labels = label(pairs(5), judge_of(server), store, limits=QUICK)
    assert labels.summary is not None
    assert labels.summary.estimated == 5
    tokens = rows(store, "SELECT DISTINCT tokens_in > 100, tokens_out > 5, estimated FROM spending")
    assert tokens == [(1, 1, 1)]
    limited = label(pairs(400, "other"), judge_of(server), store, limits=QUICK,
                    budget=store.cost() * 3)  # fmt: skip
    assert limited.summary is not None
    assert limited.summary.stopped == "budget"
    assert store.cost() <= 3 * 5 * 1e-3


def test_the_command_says_that_costs_are_estimates(server: Server, tmp_path: Path) -> None:
    server.reports_usage = False
    status, errors = run(command(server, tmp_path, 3))
    assert status == 0
    assert "did not report the tokens of 3 of 3 calls" in errors


def test_a_lost_reply_counts_at_most_what_was_reserved() -> None:
    class Lossy:
        model, price, max_tokens, timeout = "lossy", Price(1, 1), 10, 0.05

        async def __call__(self, request: Any) -> Reply:
            await asyncio.sleep(5)
            raise AssertionError

    store = Store()
    labels = label(pairs(1), Lossy(), store, limits=Limits(tries=3, wait=0.01))
    assert labels.statuses == {"error": 1}
    spent = rows(store, "SELECT tokens_out, estimated FROM spending")
    assert spent == [(10, 1)] * 3


# --- one budget for all processes ---


def test_the_budget_holds_over_processes(server: Server, tmp_path: Path) -> None:
    server.delay = 0.02
    budget = 100 * 110e-6
    argv = command(server, tmp_path, 600, "--budget", f"{budget}", "--concurrency", "8", "-q")
    both = [subprocess.Popen(argv, stdout=subprocess.PIPE) for _ in range(3)]
    statuses = []
    for process in both:
        process.communicate(timeout=120)
        statuses.append(process.returncode)
    assert set(statuses) == {1}
    with Store(tmp_path / "l.db") as store:
        assert 0.7 * budget < store.cost() <= budget
        assert rows(store, "SELECT count(*) FROM claims WHERE key <> 'lock'") == [(0,)]
    assert sum(server.answered.values()) <= 100
    assert max(server.answered.values()) == 1


def test_money_of_a_dead_process_returns_to_the_budget(tmp_path: Path) -> None:
    from goodgain.labels.limits import Stop

    path = tmp_path / "l.db"
    with Store(path) as store:
        claims = Claims(store, ())
        claims.reserve(0.9)
        mine = Budget(1.0, store, Claims(store, ()), calls=1, stop=Stop())
        assert mine._take(0.5) == pytest.approx(0.9)  # another run may spend it
        store.db.execute("UPDATE claims SET until = 0")
        assert mine._take(0.5) is None
        store.db.execute("DELETE FROM claims")
        dead = subprocess.Popen([sys.executable, "-c", ""])
        dead.wait()
        place, _, _, number = claims.holder.split("/")
        claims.holder = f"{place}/{dead.pid}/1/{number}"
        claims.reserve(0.9)
        assert mine._take(0.5) is None


# --- claims ---


def test_two_processes_pay_for_nothing_twice(server: Server, tmp_path: Path) -> None:
    server.delay = 0.01
    argv = command(server, tmp_path, 500, "--concurrency", "8", "-q")
    both = [subprocess.Popen(argv, stderr=subprocess.PIPE) for _ in range(3)]
    for process in both:
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors.decode()
    assert Labels.of(tmp_path / "l.db").statuses == {"ok": 500}
    assert set(server.answered.values()) == {1}


def test_two_processes_retry_a_failure_once(tmp_path: Path) -> None:
    """A failure that another process has stored since this run began is not requested again."""
    with Store(tmp_path / "l.db") as store:
        label(pairs(2), lambda request: None, store)
        setting = Labels.of(store).setting
        keys = [setting.key("what?", f"document {i}", 0) for i in range(2)]
        mine = Claims(store, ("refused",))
        assert mine.take(keys[:1]) == (set(), set())
        store.add_replies(setting, [ReplyRow(keys[1], 0, "refused", None)])
        assert mine.take(keys) == ({keys[1]}, set())
        assert Claims(store, ("refused",)).take(keys[1:]) == (set(), set())  # a later run may


def test_a_claim_is_taken_over_when_it_expires_or_its_process_is_dead(tmp_path: Path) -> None:
    path = tmp_path / "l.db"
    with Store(path) as store:
        first, second = Claims(store, ()), Claims(store, ())
        assert first.take(["a", "b"]) == (set(), set())
        assert second.take(["a", "b", "c"]) == (set(), {"a", "b"})
        first.release(["a"])
        assert second.take(["a", "b"]) == (set(), {"b"})
        store.db.execute("UPDATE claims SET until = ? WHERE key = 'b'", (time.time() - 1,))
        assert second.take(["b"]) == (set(), set())
        second.release_all()
    code = (
        "import os, sys; from goodgain.labels.claims import Claims; from goodgain.labels import Store\n"
        "Claims(Store(sys.argv[1]), ()).take(['a', 'b']); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", code, str(path)], check=False)
    with Store(path) as store:
        assert rows(store, "SELECT count(*) FROM claims WHERE until > 1") == [(2,)]
        assert Claims(store, ()).take(["a", "b"]) == (set(), set())


def test_claims_are_renewed_while_a_call_takes_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims_module, "LEASE", 0.3)
    monkeypatch.setattr("goodgain.labels.runner.RENEWAL", 0.1)
    path = tmp_path / "l.db"
    held: list[set[str]] = []

    async def slow(request: Any) -> int:
        await asyncio.sleep(1.0)
        with Store(path) as other:
            keys = [key for (key,) in rows(other, "SELECT key FROM claims WHERE key <> 'lock'")]
            held.append(Claims(other, ()).take(keys).held)
        return 2

    assert label(pairs(1), slow, path, name="slow").statuses == {"ok": 1}
    assert [len(keys) for keys in held] == [1]


def test_a_run_waits_for_what_another_is_labelling(tmp_path: Path) -> None:
    path = tmp_path / "l.db"
    with Store(path) as store:
        other = Claims(store, ())

        class Judge:
            model = "j"

            async def __call__(self, request: Any) -> int:
                if request.document == "document 0":
                    asyncio.get_running_loop().call_later(0.3, other.release_all)
                return 2

        assert label(pairs(1, "first"), Judge(), path).statuses == {"ok": 1}
        setting = Labels.of(path).setting
        other.take([setting.key("what?", f"document {i}", 0) for i in range(1, 5)])
        start = time.monotonic()
        assert label(pairs(5), Judge(), path).statuses == {"ok": 5}
        assert 0.3 <= time.monotonic() - start < 20


# --- the circuit breaker ---


@pytest.mark.parametrize(
    ("fault", "word", "setting"),
    [
        ("length", "truncated", "--max-tokens"),
        ("notjson", "invalid", "--temperature 0"),
        ("refusal", "refused", "another model"),
        ("filter400", "filtered", "another model"),
        ("400", "in a row failed", "run the same command again"),
    ],
)
def test_useless_replies_end_the_run_with_the_setting_to_change(
    server: Server, fault: str, word: str, setting: str
) -> None:
    store = Store()
    with pytest.raises(JudgeError, match=word) as raised:
        label(pairs(2_000, f"FAULT={fault}"), judge_of(server), store, limits=QUICK)
    assert setting in str(raised.value.hint)
    assert sum(server.requests.values()) <= 2 * 60
    assert rows(store, "SELECT count(*) FROM replies")[0][0] >= 20  # what was paid is stored


def test_the_breaker_ignores_a_share_that_is_accepted(server: Server) -> None:
    bad = pairs(80, "FAULT=refusal")
    good = pairs(100, "GAIN=2")
    mixed = [pair for group in zip(good, bad, strict=False) for pair in group]
    mixed = [(q, f"{d}{i}", question, t) for i, (q, d, question, t) in enumerate(mixed)]
    labels = label(mixed, judge_of(server), limits=Limits(failure_share=0.75))
    assert labels.statuses == {"ok": 80, "refused": 80}
    assert label(bad, judge_of(server), limits=Limits(failure_share=1)).statuses == {"refused": 80}


def test_a_run_that_begins_to_fail_late_is_ended() -> None:
    calls: list[int] = []

    def late(request: Any) -> int | None:
        calls.append(1)
        return 2 if len(calls) <= 300 else None

    with pytest.raises(JudgeError, match="101 of the last 200 labels"):
        label(pairs(2_000), late, concurrency=1, name="late")
    assert len(calls) == 401


def test_a_parameter_that_the_model_rejects_is_named() -> None:
    class Picky:
        model = "picky"

        async def __call__(self, request: Any) -> Reply:
            return Reply("", "error", detail="status 400: 'temperature' does not support 0.0")

    with pytest.raises(JudgeError) as raised:
        label(pairs(50), Picky())
    assert "--temperature none" in raised.value.hint


# --- exit statuses ---


def test_exit_statuses_and_how_to_retry(server: Server, tmp_path: Path) -> None:
    assert run(command(server, tmp_path, 5, text="GAIN=1"))[0] == 0
    bad = command(server, tmp_path, 5, text="FAULT=refusal")
    status, errors = run(bad)
    assert status == 3
    assert "all 5 labels failed and have no gain (5 refused); the last: the model refused" in errors
    status, errors = run(bad)
    assert status == 3
    assert "they failed in an earlier run and were not requested again" in errors
    assert "--retry refused" in errors
    assert sum(server.requests.values()) == 10
    path = tmp_path / "pairs.jsonl"
    mixed = path.read_text() + path.read_text().replace("d0", "ok").replace(
        "FAULT=refusal", "GAIN=1"
    )
    lines = mixed.splitlines(keepends=True)
    path.write_text("".join(lines[:6]))
    status, errors = run(bad)
    assert status == 3
    assert "warning: 5 labels failed" in errors
    status, errors = run([*bad, "--retry", "refused"])
    assert (
        sum(server.requests.values()) == 10 + 5
    )  # that with a gain has the text of an earlier one
    assert status == 3
    path.write_text(
        json.dumps({"query_id": "q", "doc_id": "e", "question": "x", "text": ""}) + "\n"
    )
    status, errors = run(bad)
    assert status == 3  # nothing was labelled at all
    assert "1 documents have no text" in errors


def test_a_failed_server_never_ends_in_success(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    path.write_text('{"query_id": "q", "doc_id": "d", "question": "what?", "text": "x"}\n')
    argv = [
        sys.executable, "-m", "goodgain", "label", str(path), "--model", "m", "--base-url",
        "http://127.0.0.1:9/v1", "--store", str(tmp_path / "l.db"), "--timeout", "1",
    ]  # fmt: skip
    code = f"import sys; from goodgain.labels import Limits; sys.argv = {argv[2:]!r}\n" + (
        "import goodgain.labels.limits as m; m.Limits.backoff = lambda self, tries: 0.01\n"
        "from goodgain.cli import run; sys.exit(run(sys.argv[1:]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False,
        env={**os.environ, "OPENAI_API_KEY": KEY},
    )  # fmt: skip
    assert done.returncode == 3, done.stderr
    assert "the only label failed" in done.stderr and "no connection" in done.stderr


def test_a_403_of_one_document_does_not_end_the_run(server: Server) -> None:
    server.forms = lambda name, *_: (403, "<html>blocked</html>", "")
    mixed = [("q", str(i), "what?", f"GAIN=2 {i}" if i % 5 else f"{i} FORM=x") for i in range(60)]
    labels = label(mixed, judge_of(server), limits=QUICK)
    assert labels.statuses == {"ok": 48, "error": 12}


def test_a_reply_that_cannot_be_retried_is_not_lost() -> None:
    calls: list[int] = []

    async def flaky(request: Any) -> int:
        calls.append(1)
        if len(calls) < 3:
            raise Retry("busy", after=0.0)
        return 2

    start = time.monotonic()
    labels = label(pairs(1), flaky, limits=Limits(wait=0.2), name="flaky")
    assert labels.statuses == {"ok": 1}
    assert time.monotonic() - start >= 0.3 * 0.9  # a server that asks for 0 seconds
