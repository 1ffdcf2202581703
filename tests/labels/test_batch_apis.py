"""Batch APIs over HTTP: submitted once whatever happens, resumed, collected, and paid at their price."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from batch_server import BatchServer
from server import KEY

from goodgain.cli import run
from goodgain.errors import GoodgainError
from goodgain.labels import AnthropicJudge, OpenAIJudge, Pair, Price, Store, label
from goodgain.labels.batches import BatchRunner, open_batches
from goodgain.labels.claims import Claims
from goodgain.labels.labeller import _plan
from goodgain.labels.limits import Limits
from goodgain.labels.runner import Runner
from goodgain.labels.template import tokens_of

PAIRS = [Pair("q", f"d{i}", "what?", f"GAIN={i % 5} number {i}") for i in range(7)]
GAINS = {"q": {f"d{i}": i % 5 for i in range(7)}}


@pytest.fixture
def batches(monkeypatch: pytest.MonkeyPatch) -> Iterator[BatchServer]:
    pytest.importorskip("openai")
    pytest.importorskip("anthropic")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setattr("goodgain.labels.batches.POLL", 0.01)
    with BatchServer() as server:
        yield server


@pytest.fixture(params=["openai", "anthropic"])
def judge(request: Any, batches: BatchServer) -> Any:
    if request.param == "openai":
        return OpenAIJudge("m", base_url=f"{batches.url}/v1", price=Price(10, 20))
    return AnthropicJudge("m", base_url=batches.url, price=Price(10, 20))


def accepted(batches: BatchServer) -> int:
    return sum(batches.created.values())


def test_calls_are_submitted_and_collected_at_the_price_of_a_batch(
    batches: BatchServer, judge: Any, tmp_path: Path
) -> None:
    with Store(tmp_path / "s.db") as store:
        labels = label(PAIRS, judge, store, batch_api=True)
        assert labels.to_dict() == GAINS
        assert len(batches.batches) == 1 and accepted(batches) == 7
        cost = 7 * (100 * 5 + 10 * 10) / 1e6  # half of 10 and 20
        assert store.cost() == pytest.approx(cost)
        assert labels.summary is not None and labels.summary.cost == pytest.approx(cost)
        again = label(PAIRS, judge, store, batch_api=True).summary
        assert again is not None and (again.calls, again.stored) == (0, 7)
        assert accepted(batches) == 7


def test_what_a_batch_does_not_report_is_estimated(
    batches: BatchServer, judge: Any, tmp_path: Path
) -> None:
    """Both sides of a call cost money, so neither counts as 0."""
    batches.reports_usage = False
    with Store(tmp_path / "s.db") as store:
        summary = label(PAIRS, judge, store, batch_api=True).summary
        assert summary is not None and summary.estimated == 7
        assert summary.tokens_out == 7 * tokens_of('{"gain": 0, "reason": "so"}')
        assert summary.tokens_in > 7 * 100
        assert store.cost() == pytest.approx(
            (summary.tokens_in * 5 + summary.tokens_out * 10) / 1e6
        )


def test_without_waiting_a_later_run_collects(
    batches: BatchServer, judge: Any, tmp_path: Path
) -> None:
    batches.finish = False
    with Store(tmp_path / "s.db") as store:
        first = label(PAIRS, judge, store, batch_api=True, wait=False)
        assert first.to_dict() == {} and first.statuses == {"pending": 7}
        label(PAIRS, judge, store, batch_api=True, wait=False)
        assert accepted(batches) == 7
        with pytest.raises(GoodgainError, match="7 calls of this judge are in a batch"):
            label(PAIRS, judge, store)  # would pay again
        batches.finish = True
        more = [*PAIRS, Pair("q", "d7", "what?", "GAIN=1 new")]
        assert label(more, judge, store, batch_api=True).to_dict()["q"]["d7"] == 1
        assert (accepted(batches), max(batches.created.values())) == (8, 1)


@pytest.mark.parametrize("fault", ["lost_reply", "500_after"])
def test_a_batch_whose_creation_is_unknown_is_found_again(
    batches: BatchServer, judge: Any, tmp_path: Path, fault: str
) -> None:
    batches.faults[fault] = 1
    with Store(tmp_path / "s.db") as store:
        assert label(PAIRS, judge, store, batch_api=True).to_dict() == GAINS
        assert accepted(batches) == 7


def test_a_running_batch_that_may_be_ours_is_waited_for(
    batches: BatchServer, judge: Any, tmp_path: Path
) -> None:
    batches.faults["lost_reply"] = 1
    batches.finish = False
    with Store(tmp_path / "s.db") as store:
        try:  # OpenAI lists the name of a batch; Anthropic shows it only when the batch has ended
            label(PAIRS, judge, store, batch_api=True, wait=False)
        except GoodgainError as error:
            assert "not known whether a batch was submitted" in str(error)
            with pytest.raises(GoodgainError, match="not yet known"):
                label(PAIRS, judge, store, batch_api=True, wait=False)
        assert accepted(batches) == 7
        batches.finish = True
        assert label(PAIRS, judge, store, batch_api=True).to_dict() == GAINS
        assert accepted(batches) == 7


def test_a_batch_that_was_never_taken_is_submitted_again_after_a_while(
    batches: BatchServer, judge: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    batches.faults["not_taken"] = 1
    with Store(tmp_path / "s.db") as store:
        with pytest.raises(GoodgainError, match="not known whether a batch was submitted"):
            label(PAIRS, judge, store, batch_api=True)
        with pytest.raises(GoodgainError, match="not yet known"):
            label(PAIRS, judge, store, batch_api=True, wait=False)
        assert accepted(batches) == 0
        monkeypatch.setattr("goodgain.labels.batches.GRACE", 0.0)
        assert label(PAIRS, judge, store, batch_api=True).to_dict() == GAINS
        assert accepted(batches) == 7


def test_a_refused_batch_ends_the_run_and_costs_nothing(
    batches: BatchServer, judge: Any, tmp_path: Path
) -> None:
    batches.faults["refused"] = 1
    with Store(tmp_path / "s.db") as store:
        with pytest.raises(GoodgainError, match="no such model"):
            label(PAIRS, judge, store, batch_api=True)
        assert store.cost() == 0
        assert label(PAIRS, judge, store, batch_api=True).to_dict() == GAINS


def test_results_are_matched_by_id_only(batches: BatchServer, judge: Any, tmp_path: Path) -> None:
    batches.shuffle = True
    batches.left_out = {2}
    batches.garbage = [
        "not json", "[1]", '{"custom_id": "someone-else-1", "response": {"body": {}}}', "{}",
        '{"custom_id": "x", "result": {"type": "succeeded", "message": {}}}', "",
    ]  # fmt: skip
    with Store(tmp_path / "s.db") as store:
        labels = label(PAIRS, judge, store, batch_api=True)
        missing = [row for row in labels if row.gain is None]
        assert [row.status for row in missing] == ["error"]
        assert missing[0].detail == "the batch has no result for the call"
        lost = missing[0].doc
        assert labels.to_dict()["q"] == {d: g for d, g in GAINS["q"].items() if d != lost}
        batches.left_out = set()  # errors are tried again
        assert label(PAIRS, judge, store, batch_api=True).to_dict() == GAINS
        assert accepted(batches) == 8


def test_calls_that_fail_have_a_status_and_no_gain(
    batches: BatchServer, judge: Any, tmp_path: Path
) -> None:
    pairs = [Pair("q", kind, "what?", kind) for kind in ("EXPIRED", "MODERATED", "BROKEN")]
    labels = label([*pairs, PAIRS[3]], judge, tmp_path / "s.db", batch_api=True)
    assert {row.doc: row.status for row in labels} == {
        "EXPIRED": "error", "MODERATED": "filtered", "BROKEN": "error", "d3": "ok",
    }  # fmt: skip


def test_reading_is_retried(batches: BatchServer, judge: Any, tmp_path: Path) -> None:
    batches.faults["read500"] = 2
    assert label(PAIRS, judge, tmp_path / "s.db", batch_api=True).to_dict() == GAINS


def test_a_failed_batch_says_why(batches: BatchServer, tmp_path: Path) -> None:
    batches.status = "failed"
    judge = OpenAIJudge("m", base_url=f"{batches.url}/v1")
    with pytest.raises(GoodgainError, match="line 1 is wrong"):
        label(PAIRS, judge, tmp_path / "s.db", batch_api=True)


def test_the_budget_covers_what_is_submitted(
    batches: BatchServer, judge: Any, tmp_path: Path
) -> None:
    with Store(tmp_path / "s.db") as store:
        plan = _plan(PAIRS, judge, store, record=True)
        runner = BatchRunner(plan, judge, wait=False)
        _, _, (one,) = runner._next_batch("x", [next(iter(runner._calls.values()))])
        labels = label(PAIRS, judge, store, batch_api=True, budget=3.5 * one)
        assert labels.summary is not None and labels.summary.stopped == "budget"
        assert accepted(batches) == 3
        assert store.cost() <= 3.5 * one


def test_two_processes_do_not_submit_the_same_calls(
    batches: BatchServer, judge: Any, tmp_path: Path
) -> None:
    batches.finish = False
    with Store(tmp_path / "s.db") as one, Store(tmp_path / "s.db") as two:
        runners = [
            BatchRunner(_plan(PAIRS, judge, store, record=True), judge, wait=False)
            for store in (one, two)
        ]  # both have planned before either submits
        for runner in runners:
            runner.run()
        assert accepted(batches) == 7


def test_what_another_process_has_collected_meanwhile_is_not_submitted(
    batches: BatchServer, judge: Any, tmp_path: Path
) -> None:
    with Store(tmp_path / "s.db") as one, Store(tmp_path / "s.db") as two:
        first, second = (
            BatchRunner(_plan(PAIRS, judge, store, record=True), judge) for store in (one, two)
        )
        assert first.run().statuses == {"ok": 7}
        assert second.run().calls == 0
        assert accepted(batches) == 7
        assert two.db.execute("SELECT count(*) FROM claims WHERE key <> 'lock'").fetchone()[0] == 0


def test_a_batch_that_another_process_is_submitting_is_waited_for(
    batches: BatchServer, judge: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even if the submission takes longer than a lost one is looked for."""
    monkeypatch.setattr("goodgain.labels.batches.GRACE", 0.0)
    more = [*PAIRS, Pair("q", "d7", "what?", "GAIN=1 new")]
    with Store(tmp_path / "s.db") as one, Store(tmp_path / "s.db") as two:
        slow = BatchRunner(_plan(PAIRS, judge, one, record=True), judge, wait=False)
        create = slow.api.create

        def while_another_looks(name: str, requests: Any) -> str:
            with pytest.raises(GoodgainError, match="not yet known"):
                label(more, judge, two, batch_api=True, wait=False)
            return create(name, requests)

        monkeypatch.setattr(slow.api, "create", while_another_looks)
        slow.run()
        assert label(more, judge, two, batch_api=True).to_dict()["q"] == {**GAINS["q"], "d7": 1}
        assert (accepted(batches), max(batches.created.values())) == (8, 1)


def test_what_is_left_is_submitted_once_an_undecided_batch_is_decided(
    batches: BatchServer, judge: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    batches.faults["not_taken"] = 1
    with Store(tmp_path / "s.db") as store:
        with pytest.raises(GoodgainError, match="not known whether a batch was submitted"):
            label(PAIRS, judge, store, batch_api=True)
        monkeypatch.setattr("goodgain.labels.batches.GRACE", 1.0)
        assert label(PAIRS, judge, store, batch_api=True).to_dict() == GAINS
        assert accepted(batches) == 7


def test_calls_one_by_one_leave_out_what_a_batch_is_being_paid_for(
    batches: BatchServer, judge: Any, tmp_path: Path
) -> None:
    """The batch is submitted while the other run has planned and not yet begun."""
    batches.finish = False
    with Store(tmp_path / "s.db") as one, Store(tmp_path / "s.db") as two:
        plan = _plan(PAIRS, judge, one, record=True)
        plan.advance(60)
        label(PAIRS[:4], judge, two, batch_api=True, wait=False)
        runner = Runner(plan, judge, limits=Limits(), batch=1, retry=("error",))
        with pytest.raises(GoodgainError, match="4 calls of this judge are in a batch"):
            runner.run()
        taken = {key for (key,) in two.db.execute("SELECT key FROM replies")}
        pending = {key for (key,) in two.db.execute("SELECT key FROM batch_calls")}
        assert not taken & pending


def test_calls_that_another_run_is_making_are_not_submitted(
    batches: BatchServer, judge: Any, tmp_path: Path
) -> None:
    with Store(tmp_path / "s.db") as one, Store(tmp_path / "s.db") as two:
        runner = BatchRunner(_plan(PAIRS, judge, one, record=True), judge)
        keys = list(runner._calls)
        assert Claims(two, ()).take(keys[:3]) == (set(), set())
        assert runner.run().calls == 4
        assert accepted(batches) == 4


def test_a_budget_is_shared_by_batches_of_all_judges_and_other_runs(
    batches: BatchServer, judge: Any, tmp_path: Path
) -> None:
    batches.finish = False
    with Store(tmp_path / "s.db") as one, Store(tmp_path / "s.db") as two:
        plans = [_plan(PAIRS, judge, store, record=True) for store in (one, two)]
        runners = [BatchRunner(plan, judge, wait=False, budget=1.0) for plan in plans]
        call = next(iter(runners[0]._calls.values()))
        _, _, (price,) = runners[0]._next_batch("x", [call])
        for runner in runners:
            runner.budget = 4.5 * price
        chosen = runners[1]._next_batch("x", list(runners[1]._calls.values()))
        assert len(chosen[0]) == 4  # before the other one has written its batch
        assert runners[0].run().stopped == "budget"
        others = [Pair("p", f"d{i}", "who?", f"GAIN={i} more") for i in range(3)]
        other = BatchRunner(_plan(others, judge, two, record=True), judge, wait=False)
        other.budget = 4.5 * price
        assert other._write("y", list(other._calls.values()), [price] * 3) == []
        assert other.run().calls == 0
        assert other.progress.stopped == "budget"
        assert accepted(batches) == 4


@pytest.mark.parametrize("event", ["submitted", "collected"])
def test_a_kill_before_the_event_is_stored_loses_no_batch(
    batches: BatchServer, judge: Any, tmp_path: Path, event: str
) -> None:
    """The provider has the batch, or has been asked for its results, and the store does not say so."""
    api = "openai" if isinstance(judge, OpenAIJudge) else "anthropic"
    dying = SCRIPT.replace(
        'print("ready"',
        f"""
from goodgain.labels.store import Store
insert = Store.insert
def dies(self, table, rows):
    rows = list(rows)
    if table == "batch_events" and rows[0]["event"] == {event!r}:
        import os, signal
        os.kill(os.getpid(), signal.SIGKILL)
    return insert(self, table, rows)
Store.insert = dies
print("ready\"""",
        1,
    )
    arguments = [api, batches.url, str(tmp_path / "s.db"), "early"]
    killed = subprocess.run([sys.executable, "-c", dying, *arguments], timeout=60)
    assert killed.returncode == -signal.SIGKILL
    assert accepted(batches) == 7
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *arguments], capture_output=True, text=True, timeout=60
    )
    assert str({"q": {d: float(g) for d, g in GAINS["q"].items()}}) in done.stdout, done.stderr
    assert accepted(batches) == 7


def test_a_batch_is_collected_once(batches: BatchServer, judge: Any, tmp_path: Path) -> None:
    batches.finish = False
    with Store(tmp_path / "s.db") as store:
        label(PAIRS, judge, store, batch_api=True, wait=False)
        batches.finish = True
        empty = label(PAIRS[:0], judge, store, batch_api=True, wait=False)
        assert open_batches(store, empty.setting) == []  # collected, without the pairs at hand
        assert label(PAIRS, judge, store, batch_api=True).to_dict() == GAINS
        assert store.db.execute("SELECT count(*) FROM spending").fetchone()[0] == 1


def test_what_has_no_batch_api(tmp_path: Path) -> None:
    with pytest.raises(GoodgainError, match="built-in judges only"):
        label(PAIRS, lambda request: 1, tmp_path / "s.db", batch_api=True)


SCRIPT = """
import sys
from goodgain.labels import AnthropicJudge, OpenAIJudge, Pair, Price, label
import goodgain.labels.batches as batches
batches.POLL = 0.05
batches.GRACE = 0.0 if sys.argv[4] == "late" else 600.0
api, url, store, _ = sys.argv[1:]
judge = OpenAIJudge("m", base_url=url + "/v1") if api == "openai" else AnthropicJudge("m", base_url=url)
pairs = [Pair("q", f"d{i}", "what?", f"GAIN={i % 5} number {i}") for i in range(7)]
print("ready", flush=True)
print(label(pairs, judge, store, batch_api=True).to_dict(), flush=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize("api", ["openai", "anthropic"])
def test_kills_at_any_moment_submit_nothing_twice(
    batches: BatchServer, tmp_path: Path, api: str
) -> None:
    import time

    store = tmp_path / "s.db"
    batches.finish = False
    for delay in (0.0, 0.02, 0.04, 0.08, 0.15, 0.3):
        process = subprocess.Popen(
            [sys.executable, "-c", SCRIPT, api, batches.url, str(store), "early"],
            stdout=subprocess.PIPE, env=os.environ,
        )  # fmt: skip
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
    batches.finish = True
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, api, batches.url, str(store), "late"],
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert str({"q": {d: float(g) for d, g in GAINS["q"].items()}}) in done.stdout, done.stderr
    assert (accepted(batches), max(batches.created.values())) == (7, 1)


def test_the_command_line_submits_and_collects(
    batches: BatchServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.jsonl").write_text(
        '{"query_id": "q", "doc_id": "d", "question": "what?", "text": "GAIN=3"}\n'
    )
    batches.finish = False
    args = [
        "label",
        "p.jsonl",
        "--store",
        "s.db",
        "--model",
        "m",
        "--base-url",
        f"{batches.url}/v1",
    ]
    assert run([*args, "--batch-api", "--no-wait"]) == 0
    assert "1 labels are in batches" in capsys.readouterr().err
    batches.finish = True
    assert run([*args, "--batch-api", "-q"]) == 0
    assert "labels ok" in capsys.readouterr().out
