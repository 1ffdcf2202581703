"""A store on a PostgreSQL server means the same as one in a file."""

import asyncio
import json
import os
import random
import subprocess
import sys
import threading
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from server import Server
from test_verify import fill

from goodgain.errors import GoodgainError
from goodgain.labels import Labels, Request, Store, Vote, estimate, label
from goodgain.labels.claims import Claims
from goodgain.labels.exchange import export, statistics
from goodgain.labels.imports import import_labels
from goodgain.labels.merge import merge
from goodgain.labels.people import read_votes
from goodgain.labels.result import judgments_of
from goodgain.labels.verify import verify

pytestmark = pytest.mark.slow
numbers = count()


@pytest.fixture
def url(postgres_server: str) -> Iterator[str]:
    home = dict(word.split("=") for word in postgres_server.split())["host"]
    yield f"postgresql://test:SECRET%21@/postgres?host={home}&schema=s{os.getpid()}_{next(numbers)}"


def judge(request: Request) -> int | None:
    return None if "7" in request.document else len(request.document) % 5


PAIRS = [(f"q{i % 3}", f"d{i}", f"why {i % 3}?", "x" * i + f" é 100% ? {i}") for i in range(20)]


@pytest.mark.parametrize("options", [{}, {"replicates": 2}, {"canaries": 2}, {"keep": "text"}])
def test_labels_resume_and_exports_are_those_of_a_file(
    options: dict[str, Any], url: str, tmp_path: Path
) -> None:
    results = []
    for store in (url, tmp_path / "l.db"):
        assert estimate(PAIRS, judge, store if store != url else None, **{
            k: v for k, v in options.items() if k != "keep"
        }).stored == 0  # fmt: skip
        labels = label(PAIRS, judge, store, **options)
        again = label(PAIRS, judge, store, **options)
        assert again.summary is not None
        assert again.summary.calls == 0
        changed = [(*PAIRS[0][:3], "another text"), *PAIRS[1:]]
        later = label(changed, judge, store, **options)
        assert later.summary is not None
        whole = Labels.of(store)
        lines = [json.loads(line) for line in export(whole, "jsonl").splitlines()]
        for line in lines:
            del line["seconds"], line["created"]
        lines.sort(key=lambda line: (line["query"], line["doc"], line["replicate"], line["key"]))
        results.append((
            labels.to_dict(), list(labels), whole.to_dict(), whole.statuses, later.summary.calls,
            judgments_of(store).to_dict(), lines, statistics(whole.store), len(whole),
        ))  # fmt: skip
        assert verify(store).damages == ()
    assert results[0] == results[1]


def test_votes_documents_and_the_view(url: str) -> None:
    with Store(url) as store:
        store.add_documents(["one"], text=False)
        store.add_documents(["one", "two"])
        for gain in (1, 3):
            store.add_votes([Vote(annotator="ann", query="q\0", doc="d", gain=gain, note="\ud800")])
        assert [vote.gain for vote in read_votes(store)] == [3]
        assert [vote.gain for vote in read_votes(store, "ann", history=True)] == [1, 3]
        assert store.db.execute("SELECT gain, annotator FROM labels").fetchall() == [(3.0, "ann")]
    assert verify(url).damages == ()


def test_stores_merge_between_file_and_server(url: str, tmp_path: Path) -> None:
    fill(tmp_path / "a.db")
    with Store(tmp_path / "a.db", read_only=True) as source, Store(url) as target:
        assert sum(merge(target, source).values()) == verify(tmp_path / "a.db").rows
        assert not any(merge(target, source).values())
    assert verify(url).damages == ()
    with Store(url, read_only=True) as source, Store(tmp_path / "b.db") as target:
        merge(target, source)
    assert Labels.of(tmp_path / "b.db").to_dict() == Labels.of(tmp_path / "a.db").to_dict()
    assert verify(tmp_path / "b.db").rows == verify(tmp_path / "a.db").rows


def test_rows_cannot_be_changed_and_damage_is_noticed(url: str) -> None:
    psycopg = pytest.importorskip("psycopg")
    with Store(url) as store:
        import_labels(store, {"q": {"d": 1}}, annotator="ann")
        for statement in ("UPDATE votes SET gain = 4", "DELETE FROM votes"):
            with pytest.raises(psycopg.Error, match="votes are append-only"):
                store.db.execute(statement)
        store.db.execute("ALTER TABLE votes DISABLE TRIGGER ALL")
        store.db.execute("UPDATE votes SET gain = 4")
    (damage,) = verify(url).damages
    assert (damage.where, damage.what) == ("votes, row 1", "the row does not match its checksum")


def test_two_processes_share_one_store(url: str, server: Server, tmp_path: Path) -> None:
    server.delay = 0.02
    pairs = tmp_path / "pairs.jsonl"
    rows = (
        {"query_id": "q", "doc_id": f"d{i}", "question": "what?", "text": f"document {i}"}
        for i in range(200)
    )
    pairs.write_text("".join(json.dumps(row) + "\n" for row in rows))
    argv = [
        sys.executable, "-m", "goodgain", "label", str(pairs), "--model", "m", "--base-url",
        server.openai_url, "--store", url, "--concurrency", "8",
    ]  # fmt: skip
    both = [
        subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    for process in both:
        out, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
        assert "SECRET" not in out + errors
    labels = Labels.of(url)
    assert labels.statuses == {"ok": 200}
    assert set(server.answered.values()) == {1}  # nothing is paid for twice
    assert verify(url).damages == ()
    keys = labels.store.db.execute("SELECT count(*) FROM asked")
    assert keys.fetchone()[0] == 200  # each pair is planned once, though both plan it at one moment


def test_processes_that_claim_the_same_labels_share_them(url: str) -> None:
    keys = [f"key {i}" for i in range(60)]
    taken: list[set[str]] = []

    def claim(seed: int) -> None:
        with Store(url) as store:
            claims, own = Claims(store, ()), set()
            for _ in range(20):
                some = random.Random(seed).sample(keys, 20)
                own |= set(some) - claims.take(some).held
                seed += 1
            taken.append(own)

    Store(url).close()
    threads = [threading.Thread(target=claim, args=(1000 * i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(taken) == 4
    assert sum(map(len, taken)) == len(set().union(*taken)) == len(keys)


def test_a_claim_of_a_dead_or_silent_process_is_taken_over(url: str) -> None:
    with Store(url) as store, Store(url) as elsewhere:
        first, second = Claims(store, ()), Claims(elsewhere, ())
        assert first.take(["a", "b"]) == (set(), set())
        assert second.take(["a", "b", "c"]) == (set(), {"a", "b"})
        first.release(["a"])
        assert second.take(["a", "b"]) == (set(), {"b"})
        store.db.execute("UPDATE claims SET until = 1 WHERE key = 'b'")
        assert second.take(["b"]) == (set(), set())
        second.release_all()
    code = (
        "import os, sys; from goodgain.labels.claims import Claims; from goodgain.labels import Store\n"
        "Claims(Store(sys.argv[1]), ()).take(['a', 'b']); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", code, url], check=False)
    with Store(url) as store:
        held = store.db.execute("SELECT count(*) FROM claims WHERE until > 1")
        assert held.fetchone()[0] == 2
        assert Claims(store, ()).take(["a", "b"]) == (set(), set())


def test_a_run_waits_for_what_another_labels_on_the_server(url: str) -> None:
    pairs = [("q", f"d{i}", "what?", f"document {i}") for i in range(5)]
    with Store(url) as store:
        other = Claims(store, ())

        class Judge:
            model = "j"

            async def __call__(self, request: Any) -> int:
                asyncio.get_running_loop().call_later(0.1, other.release_all)
                return 2

        label([("q", "e", "what?", "first")], Judge(), url)
        setting = Labels.of(url).setting
        other.take([setting.key("what?", f"document {i}", 0) for i in range(1, 5)])
        summary = label(pairs, Judge(), url).summary
        assert summary is not None and summary.statuses == {"ok": 5}


def test_the_budget_holds_over_processes_of_one_server(
    url: str, server: Server, tmp_path: Path
) -> None:
    server.delay = 0.02
    pairs = tmp_path / "pairs.jsonl"
    rows = ({"question": "what?", "text": f"document {i}"} for i in range(400))
    pairs.write_text("".join(json.dumps(row) + "\n" for row in rows))
    budget = 100 * 110e-6
    argv = [
        sys.executable, "-m", "goodgain", "label", str(pairs), "--model", "m", "--base-url",
        server.openai_url, "--store", url, "--concurrency", "8", "--price", "1/1", "--budget",
        f"{budget}", "-q",
    ]  # fmt: skip
    both = [subprocess.Popen(argv, stdout=subprocess.PIPE) for _ in range(2)]
    for process in both:
        process.communicate(timeout=120)
        assert process.returncode == 1
    with Store(url) as store:
        assert 0 < store.cost() <= budget
    assert max(server.answered.values()) == 1


def test_the_password_is_never_shown(url: str) -> None:
    with Store(url) as store:
        assert "SECRET" not in f"{store!r} {store.path} {store.db.name}"  # type: ignore[attr-defined]
        with pytest.raises(GoodgainError) as error:
            Labels.of(store)
        assert "SECRET" not in str(error.value)
    for wrong in (
        url.replace("/postgres?", "/nothing?"),
        "postgresql://test:SECRET!@nowhere.invalid/postgres",
        url.replace("schema=", "password=SECRET&schema=none_"),
    ):
        with pytest.raises(GoodgainError) as error:
            Store(wrong, create=False)
        assert "SECRET" not in str(error.value)
        assert "\n" not in error.value.message


def test_what_is_wrong_with_the_server_is_one_sentence(url: str) -> None:
    psycopg = pytest.importorskip("psycopg")
    with pytest.raises(GoodgainError, match="label store not found"):
        Store(url, create=False)
    with pytest.raises(GoodgainError, match="invalid schema 'A-B'"):
        Store(url.partition("&schema=")[0] + "&schema=A-B")
    with Store(url) as store:
        number = store.db.execute("SELECT pg_backend_pid()").fetchone()[0]
        with psycopg.connect(url.partition("&schema=")[0], autocommit=True) as other:
            other.execute("SELECT pg_terminate_backend(%s)", (number,))
        with pytest.raises(GoodgainError, match="cannot use the label store") as error:
            store.add_votes([Vote(annotator="ann", query="q", doc="d", gain=1)])
        assert "\n" not in error.value.message
    schema = url.partition("schema=")[2]
    with psycopg.connect(url.partition("&schema=")[0], autocommit=True) as other:
        other.execute(f"CREATE SCHEMA {schema}_other")
        other.execute(f"CREATE TABLE {schema}_other.mine (x int)")
    with pytest.raises(GoodgainError, match="other tables than those of a label store"):
        Store(f"{url}_other")


def test_the_command_line_takes_a_url(url: str, tmp_path: Path) -> None:
    def goodgain(*words: str, status: int = 0) -> str:
        argv = [sys.executable, "-m", "goodgain", *words]
        done = subprocess.run(argv, capture_output=True, text=True, cwd=tmp_path, check=False)
        assert done.returncode == status, done.stderr
        assert "SECRET" not in done.stdout + done.stderr
        return done.stdout + done.stderr

    (tmp_path / "human.txt").write_text("q 0 a 3\nq 0 b 0\n")
    assert "2 new votes" in goodgain("labels", "import", url, "human.txt", "--annotator", "ann")
    assert "no damage" in goodgain("labels", "verify", url)
    assert "ann" in goodgain("labels", "stats", url)
    assert "by mean of the votes" in goodgain("labels", "export", url, "--people", "mean")
    (tmp_path / "run.txt").write_text("q Q0 a 1 2 r\n")
    assert "3" in goodgain("evaluate", f"{url}#people", "run.txt", "-m", "CG")
    goodgain("evaluate", f"{url}#annotator=bob", "run.txt", status=2)
    assert "2 votes" in goodgain("labels", "merge", "new.db", url)
    assert "added nothing" in goodgain("labels", "merge", "new.db", url)


def test_ensembles_nuggets_preferences_and_batches_are_those_of_a_file(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from batch_server import BatchServer

    from goodgain.labels import Ensemble, OpenAIJudge
    from goodgain.labels.calibration import calibrate
    from goodgain.labels.nuggets import assign_nuggets, import_nuggets, read_nuggets
    from goodgain.labels.pairwise import compare_documents, grade_preferences
    from goodgain.labels.passport import make_passport

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    monkeypatch.setattr("goodgain.labels.batches.POLL", 0.01)
    results: list[Any] = []
    for path in (url, tmp_path / "l.db"):
        with Store(path) as store, BatchServer() as server:
            ensemble = Ensemble([judge, lambda request: 1, lambda request: 3], "mean", name="trio")
            labels = label(PAIRS, ensemble, store)
            whole = Labels.of(store, model="trio")
            facts = [*map(tuple, labels)], [*map(tuple, whole)], export(whole, "qrels")
            import_nuggets(store, [{"query": "q", "text": "one é", "vital": True}], "ann")
            answers = [{"system": "a", "query": "q", "question": "how?", "answer": "é"}]
            scores = assign_nuggets(answers, lambda request: 1, store)
            grades = grade_preferences(compare_documents(PAIRS[:6], lambda request: 2, store))
            remote = OpenAIJudge("m", base_url=f"{server.url}/v1")
            batched = label(PAIRS[:3], remote, store, batch_api=True)
            human = {"q0": {"d0": 1, "d3": 2}, "q1": {"d1": 2}}
            passport = make_passport(human, whole, calibrate(human, whole))
            results.append(
                (facts, read_nuggets(store), scores.to_dict(), grades.to_dict(), batched.to_dict(),
                 passport.judged, passport.prompt_text)
            )  # fmt: skip
        assert verify(str(path)).damages == ()
    assert results[0] == results[1]
