"""Labels, their store and their cost, with plain functions as judges."""

import asyncio
import io
import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from goodgain.cli.label import Bar, line
from goodgain.errors import GoodgainError
from goodgain.labels import (
    Labels,
    Limits,
    Pair,
    Price,
    Prompt,
    Reply,
    Request,
    Retry,
    Store,
    label,
    pool,
)
from goodgain.labels.exchange import export, statistics
from goodgain.labels.imports import import_labels
from goodgain.labels.labeller import estimate
from goodgain.labels.progress import Progress
from goodgain.labels.template import BUILT_IN


class Counting:
    """A judge that counts its calls."""

    model = "counting"

    def __init__(self, gain: Any = 2, price: Price | None = None) -> None:
        self.calls: list[Request] = []
        self.gain = gain
        self.price = price

    def __call__(self, request: Request) -> Any:
        self.calls.append(request)
        return self.gain


def pairs(count: int) -> list[Pair]:
    return [Pair(f"q{i % 3}", f"d{i}", f"question {i % 3}", f"text {i}") for i in range(count)]


def test_any_callable_is_a_judge() -> None:
    async def later(request: Request) -> int:
        await asyncio.sleep(0)
        return len(request.document) % 5

    class Object:
        async def __call__(self, request: Request) -> Reply:
            return Reply('{"gain": 1}', tokens_in=5)

    for judge, gain in ((lambda r: 3, 3), (later, 4), (Object(), 1), (lambda r: later(r), 4)):
        assert label([("q", "d", "what?", "four")], judge).to_dict() == {"q": {"d": gain}}


@pytest.mark.parametrize(
    "answer", [None, 7, -1, 2.5, True, "three", Reply("nonsense"), Reply("{}", "refused")]
)
def test_an_invalid_gain_is_a_failure(answer: Any) -> None:
    labels = label([("q", "text")], lambda request: answer)
    assert labels.to_dict() == {}
    assert labels.statuses.keys() <= {"refused", "invalid"}


def test_an_exception_of_a_judge_is_an_error() -> None:
    def broken(request: Request) -> int:
        raise ZeroDivisionError("oh")

    (row,) = label([("q", "text")], broken)
    assert (row.status, row.gain, row.detail) == ("error", None, "ZeroDivisionError: oh")


def test_a_deadline_holds_for_any_judge() -> None:
    class Slow:
        timeout = 0.05

        async def __call__(self, request: Request) -> int:
            await asyncio.sleep(30)
            return 1

    (row,) = label([("q", "text")], Slow(), limits=Limits(tries=2, wait=0.01))
    assert row.status == "error"
    assert "no reply in 0.05 seconds" in row.detail


def test_stored_labels_are_not_requested_again_unless_the_text_changes(tmp_path: Path) -> None:
    path = tmp_path / "l.db"
    judge = Counting()
    label(pairs(10), judge, path)
    again = label(pairs(12), judge, path)
    assert len(judge.calls) == 12
    assert again.summary is not None
    assert again.summary.stored == 10
    judge.gain = 4
    label([Pair("q0", "d0", "question 0", "another text")], judge, path)
    assert Labels.of(path)  # one setting
    assert Labels.of(path).to_dict()["q0"]["d0"] == 4


@pytest.mark.parametrize("change", ["model", "prompt", "parameters", "question"])
def test_everything_that_affects_a_label_is_in_its_key(change: str, tmp_path: Path) -> None:
    judge = Counting()
    label(pairs(1), judge, tmp_path / "l.db")
    prompt, rows = None, pairs(1)
    match change:
        case "model":
            judge.model = "another"
        case "prompt":
            prompt = "relevance-0-3"
        case "parameters":
            judge.parameters = {"temperature": 1}  # type: ignore[attr-defined]
        case "question":
            rows = [Pair("q0", "d0", "another question", "text 0")]
    label(rows, judge, tmp_path / "l.db", prompt=prompt)
    assert len(judge.calls) == 2


def test_the_same_text_under_two_ids_is_paid_for_once() -> None:
    judge = Counting()
    labels = label([("q", "a", "what?", "same"), ("q", "b", "what?", "same")], judge)
    assert len(judge.calls) == 1
    assert labels.to_dict() == {"q": {"a": 2, "b": 2}}


def test_failures_are_retried_on_request(tmp_path: Path) -> None:
    path = tmp_path / "l.db"
    judge = Counting(9)
    label(pairs(1), judge, path)
    assert len(judge.calls) == 2  # two replies, both outside the scale
    judge.gain = 3
    assert label(pairs(1), judge, path).statuses == {"invalid": 1}
    assert label(pairs(1), judge, path, retry=["invalid"]).statuses == {"ok": 1}
    with closing(sqlite3.connect(path)) as db:
        rows = db.execute("SELECT status, gain FROM replies ORDER BY id").fetchall()
    assert rows == [("invalid", None), ("invalid", None), ("ok", 3.0)]
    with pytest.raises(GoodgainError, match="not a failure"):
        label(pairs(1), judge, path, retry=["ok"])


def test_errors_are_always_retried(tmp_path: Path) -> None:
    calls = []

    def flaky(request: Request) -> int:
        calls.append(request)
        if len(calls) < 3:
            raise Retry("busy")
        return 1

    path = tmp_path / "l.db"
    assert label(pairs(1), flaky, path, name="flaky", limits=Limits(tries=1)).statuses == {
        "error": 1
    }
    assert label(
        pairs(1), flaky, path, name="flaky", limits=Limits(tries=5, wait=0.01)
    ).statuses == {"ok": 1}


def test_the_budget_covers_the_store_and_is_never_exceeded(tmp_path: Path) -> None:
    class Paid(Counting):
        max_tokens = 100

        def __call__(self, request: Request) -> Reply:
            super().__call__(request)
            return Reply('{"gain": 1}', tokens_in=1000, tokens_out=100)

    judge = Paid(price=Price(1000, 1000))  # a call costs 1.1; about 0.5 is reserved before it
    with Store(tmp_path / "l.db") as store:
        first = label(pairs(50), judge, store, budget=11, concurrency=1)
        assert first.summary is not None
        assert first.summary.stopped == "budget"
        spent = store.cost()
        assert spent == pytest.approx(1.1 * len(judge.calls))
        assert 9 < spent < 11 + 1.1
        second = label(pairs(50), judge, store, budget=11)
        assert second.summary is not None
        assert second.summary.calls == 0  # resuming does not start a new budget
        assert label(pairs(50), judge, store, budget=200).statuses == {"ok": 50}
    with pytest.raises(GoodgainError, match="price"):
        label(pairs(1), Counting(), budget=1)


def test_an_estimate_makes_no_call_and_writes_nothing(tmp_path: Path) -> None:
    judge = Counting(price=Price(1, 2))
    estimated = estimate(pairs(10), judge, tmp_path / "l.db", replicates=2)
    assert (estimated.pairs, estimated.labels, estimated.calls, estimated.stored) == (10, 20, 20, 0)
    assert estimated.tokens_in > 20 * 100
    assert estimated.cost is not None
    assert not judge.calls
    assert not list(tmp_path.iterdir())
    assert estimate(pairs(10), judge, tmp_path / "l.db", batch=4).calls == 3


def test_a_long_plan_goes_on_inside_a_running_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("goodgain.labels.labeller._PLAN_AHEAD", 0.0)

    async def inside() -> Labels:
        return label(pairs(2_000), Counting())

    assert len(asyncio.run(inside())) == 2_000


def test_labelling_works_inside_a_running_loop() -> None:
    async def inside() -> Labels:
        return label(pairs(5), Counting())

    labels = asyncio.run(inside())
    assert len(labels) == 5
    assert repr(labels).startswith("Labels(counting, gain-0-4@")
    assert "text" not in labels.render("csv")
    assert labels.to_pandas().shape == (5, 7) if "pandas" in sys.modules else True


def test_the_bar_shows_share_rate_time_left_and_cost() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    progress = Progress(
        total=200, cost=0.125, tokens_in=9000, tokens_out=1000, started=0.0, ended=10.0
    )
    progress.statuses.update(ok=45, refused=5)
    assert line(progress) == (
        "[#####...............] 50/200 25%  5.0/s  0:30 left  10,000 tokens  cost 0.1250  5 failed"
    )
    out = Terminal()
    bar = Bar(out)
    label(pairs(3), Counting(), progress=bar)
    bar.end()
    assert out.getvalue().startswith("\r")
    assert out.getvalue().endswith("3/3 100%" + out.getvalue().rpartition("3/3 100%")[2])
    log = io.StringIO()
    label(pairs(3), Counting(), progress=Bar(log))
    assert "\r" not in log.getvalue()


# --- the store ---


def test_a_store_is_append_only_and_never_has_a_gain_for_a_failure(tmp_path: Path) -> None:
    label(pairs(2), Counting(), tmp_path / "l.db")
    db = sqlite3.connect(tmp_path / "l.db")
    insert = "INSERT INTO replies SELECT"
    for statement in (
        "UPDATE replies SET gain = 4",
        "DELETE FROM replies",
        f"{insert} 99, 'k', setting, 0, 'refused', 1.0, '', '', 0, 0, 0, 0, 0, '', '' FROM replies LIMIT 1",
        f"{insert} 99, key, setting, 0, 'ok', 1.0, '', '', 0, 0, 0, 0, 0, '', '' FROM replies LIMIT 1",
    ):
        with pytest.raises(sqlite3.IntegrityError):
            db.execute(statement)
    assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    db.close()


@pytest.mark.parametrize("wal", [False, True])
def test_a_store_of_a_later_version_is_refused_and_not_damaged(tmp_path: Path, wal: bool) -> None:
    path = tmp_path / "l.db"
    label(pairs(2), Counting(), Store(path)).store.close()
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA user_version = 99")
    db.execute("CREATE TABLE news (x)")
    if not wal:
        db.execute("PRAGMA journal_mode = DELETE")
    db.close()
    before = path.read_bytes()
    with pytest.raises(GoodgainError, match="format 99") as error:
        Store(path)
    assert "upgrade" in str(error.value)
    assert path.read_bytes() == before


def test_another_file_is_refused_and_not_damaged(tmp_path: Path) -> None:
    text = tmp_path / "a.txt"
    text.write_text("q1 0 d1 1\n" * 200)
    other = tmp_path / "b.db"
    with closing(sqlite3.connect(other)) as db:
        db.execute("CREATE TABLE x (y)")
    for path in (text, other, tmp_path):
        before = path.read_bytes() if path.is_file() else b""
        with pytest.raises(GoodgainError, match="store"):
            Store(path)
        assert (path.read_bytes() if path.is_file() else b"") == before
    with pytest.raises(GoodgainError, match="label store not found"):
        Store(tmp_path / "none.db", create=False)


def test_a_store_is_created_once_when_many_open_it(tmp_path: Path) -> None:
    code = "import sys; from goodgain.labels import Store; Store(sys.argv[1]).close()"
    openers = [
        subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "l.db")]) for _ in range(6)
    ]
    assert [p.wait(60) for p in openers] == [0] * 6


def test_exports_and_imports(tmp_path: Path) -> None:
    answers = iter([3, 9, 9, None])
    with Store(tmp_path / "l.db") as store:
        judge = Counting()
        judge.__class__ = type(
            "Scripted", (Counting,), {"__call__": lambda self, request: next(answers)}
        )
        labels = label([("q", d, "what?", d) for d in "abc"], judge, store, concurrency=1)
        statuses = sorted(labels.statuses.items())
        assert statuses == [("invalid", 1), ("ok", 1), ("refused", 1)]
        assert len(export(labels, "qrels").splitlines()) == 1
        assert export(labels, "csv").count("\n") == 4
        lines = export(labels, "jsonl")
        assert len(lines.splitlines()) == 4
    (tmp_path / "e.jsonl").write_text(lines)
    with Store(tmp_path / "new.db") as new:
        assert import_labels(new, tmp_path / "e.jsonl").replies == 4
        assert import_labels(new, tmp_path / "e.jsonl").replies == 0
        assert sorted(Labels.of(new).statuses.items()) == statuses
        (tmp_path / "human.txt").write_text("q 0 a 3\nq 0 b 0\n")
        assert import_labels(new, tmp_path / "human.txt", "human").replies == 2
        assert Labels.of(new, model="human").to_dict() == {"q": {"a": 3, "b": 0}}
        with pytest.raises(GoodgainError, match="2 settings"):
            Labels.of(new)
        _, rows = statistics(new)
        assert [row[0] for row in rows] == ["counting", "human"]
        bad = json.loads(lines.splitlines()[0]) | {"status": "refused", "gain": 3.0, "key": "x"}
        (tmp_path / "bad.jsonl").write_text(json.dumps(bad) + "\n")
        with pytest.raises(GoodgainError, match="status 'refused' and gain"):
            import_labels(new, tmp_path / "bad.jsonl")


# --- pairs, pools, prompts ---


def test_a_pool_takes_the_unjudged_top_of_every_run(tmp_path: Path) -> None:
    (tmp_path / "q.tsv").write_text("q1\tfirst question\nq2\tsecond\n")
    (tmp_path / "d.jsonl").write_text(
        "".join(
            json.dumps({"_id": d, "title": f"T{d}", "text": f"text {d}"}) + "\n" for d in "abcde"
        )
    )
    runs = [{"q1": {"a": 3.0, "b": 2.0, "c": 2.0}}, {"q1": {"d": 1.0, "x": 0.5}, "q2": {"e": 1.0}}]
    pooled = pool(
        runs,
        2,
        queries=tmp_path / "q.tsv",
        documents=tmp_path / "d.jsonl",
        qrels={"q1": {"a": 0}},
    )
    assert [(p.query, p.doc) for p in pooled] == [
        ("q1", "c"),
        ("q1", "d"),
        ("q1", "x"),
        ("q2", "e"),
    ]
    assert pooled[0] == Pair("q1", "c", "first question", "Tc\ntext c")
    labels = label(pooled, Counting())
    assert {row.doc: row.status for row in labels} == {
        "c": "ok",
        "d": "ok",
        "x": "no_text",
        "e": "ok",
    }
    with pytest.raises(GoodgainError, match="no text for query 'q2'"):
        pool(runs, 2, queries={"q1": "x"}, documents={})


def test_pairs_are_read_from_files_and_rows(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    path.write_text('{"query_id": 1, "doc_id": "d", "question": "what?", "text": "that"}\n\n')
    assert label(path, Counting()).to_dict() == {"1": {"d": 2}}
    for wrong in ("nonsense\n", "[1]\n", '{"text": "x"}\n'):
        path.write_text(wrong)
        with pytest.raises(GoodgainError, match=r"p\.jsonl"):
            label(path, Counting())


def test_prompts_are_versioned_by_their_text(tmp_path: Path) -> None:
    locked = {
        "answer-0-1": "answer-0-1@032b5710a9ca",
        "answer-0-4": "answer-0-4@370c733dc87a",
        "gain-0-4": "gain-0-4@1ca5c9f109ba",
        "gold-0-4": "gold-0-4@8dde2cc15528",
        "narrative-0-4": "narrative-0-4@65538f51e455",
        "relevance-0-3": "relevance-0-3@5b8545b84d9b",
    }
    assert tuple(locked) == BUILT_IN
    assert {name: Prompt.of(name).version for name in BUILT_IN} == locked
    mine = tmp_path / "mine.txt"
    mine.write_text("scale: 1-2\n--- system\nRate.\n--- user\n{question} {document}\n")
    prompt = Prompt.of(mine)
    assert (prompt.name, prompt.low, prompt.high) == ("mine", 1, 2)
    assert label([("q", "text")], lambda r: 0, prompt=prompt).statuses == {"invalid": 1}
    mine.write_text(mine.read_text().replace("Rate.", "Rate it."))
    assert Prompt.of(mine).version != prompt.version
    for wrong in (
        "",
        "scale: 0-4\n--- system\nx\n--- user\n{question}\n",
        "scale: 3-3\n--- system\n--- user\n{question}{document}",
    ):
        mine.write_text(wrong)
        with pytest.raises(GoodgainError):
            Prompt.of(mine)


def test_the_base_install_says_what_is_missing(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['openai'] = None\n"
        "from goodgain.labels import label, OpenAIJudge\n"
        "label([('q', 'd')], OpenAIJudge('m', base_url='http://127.0.0.1:9'))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install 'goodgain[label]'" in done.stderr


def test_labels_import_no_client() -> None:
    code = (
        "import sys, goodgain.labels, goodgain.cli.label, goodgain.cli.labels, goodgain.cli.calibrate\n"
        "assert not {'openai', 'anthropic', 'httpx2', 'numpy', 'pandas'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
