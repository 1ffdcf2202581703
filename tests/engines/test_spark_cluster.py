"""A standalone cluster of a master and two workers on loopback; one executor is killed during the job."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from executors import executor_of
from hard_rows import collection
from needs_spark import require_spark
from suites import run_suite
from test_engines import TRACES

import goodgain as gg

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HERE = Path(__file__).parent
PATIENCE = 400.0  # seconds; a busy machine takes minutes to start all of it


def spark_program(name: str) -> str:
    import pyspark

    return str(Path(pyspark.__file__).parent / "bin" / name)


def environment() -> dict[str, str]:
    return {
        **os.environ,
        "SPARK_MASTER_OPTS": "-Dspark.deploy.maxExecutorRetries=-1",  # executors are killed here
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
    }


def wait_for(what: Callable[[], object]) -> object:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        value = what()
        if value:
            return value
        time.sleep(0.1)
    raise AssertionError("waited in vain")


@contextlib.contextmanager
def daemon(log: Path, *arguments: str) -> Iterator[None]:
    """One of Spark's servers in its own process group, which is stopped afterwards."""
    with log.open("wb") as out:
        process = subprocess.Popen(
            [spark_program("spark-class"), *arguments],
            stdout=out,
            stderr=out,
            env=environment(),
            start_new_session=True,
        )
        try:
            yield
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def said(log: Path, pattern: str) -> re.Match[str] | None:
    return re.search(pattern, log.read_text(errors="replace"))


@pytest.fixture(scope="module")
def master(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    require_spark()
    folder = tmp_path_factory.mktemp("cluster")
    deploy = "org.apache.spark.deploy"
    here = ("--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
    with contextlib.ExitStack() as stack:
        log = folder / "master.log"
        stack.enter_context(daemon(log, f"{deploy}.master.Master", *here))
        match = wait_for(lambda: said(log, r"Starting Spark master at (spark://127\.0\.0\.1:\d+)"))
        url = match[1]  # type: ignore[index]
        for number in (1, 2):
            own = folder / f"worker{number}.log"
            room = ("--cores", "1", "--memory", "1g", "--work-dir", str(folder / f"work{number}"))
            stack.enter_context(daemon(own, f"{deploy}.worker.Worker", *here, *room, url))
            wait_for(lambda own=own: said(own, "Successfully registered with master"))
        yield url


def write(path: Path, rows: list[dict[str, object]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds processes by /proc")
def test_an_executor_is_killed_in_the_middle(master, tmp_path):
    judged, ranked = collection(60)
    qrels: dict[str, dict[str, float]] = {}
    for query, doc, gain, *_ in judged:
        qrels.setdefault(query, {})[doc] = gain
    rows = [(q, d, g) for q, docs in qrels.items() for d, g in docs.items()]
    write(tmp_path / "qrels.jsonl", [{"query": q, "doc": d, "gain": g} for q, d, g in rows])
    write(tmp_path / "run.jsonl", [{"query": q, "doc": d, "score": s} for q, d, s in ranked])
    write(tmp_path / "traces.jsonl", TRACES)

    with (tmp_path / "job.log").open("wb") as log:
        job = subprocess.Popen(
            [sys.executable, str(HERE / "cluster_job.py"), master, str(tmp_path)],
            stdout=log,
            stderr=log,
            env=environment(),
        )
        try:
            first = wait_for(
                lambda: job.poll() is not None or next(tmp_path.glob("started-*"), None)
            )
            assert isinstance(first, Path), (tmp_path / "job.log").read_text()[-3000:]
            worker = int(first.name.removeprefix("started-"))
            os.kill(executor_of(worker), signal.SIGKILL)
            wait_for(lambda: not Path(f"/proc/{worker}").exists())
            (tmp_path / "go").touch()
            assert job.wait(PATIENCE) == 0, (tmp_path / "job.log").read_text()[-3000:]
        finally:
            job.kill()
            job.wait()

    started = [int(path.name.removeprefix("started-")) for path in tmp_path.glob("started-*")]
    assert len(started) >= 2  # what the dead one had begun was done by another
    assert "Lost executor" in (tmp_path / "job.log").read_text(errors="replace")
    result = json.loads((tmp_path / "result.json").read_text())
    gg.register("Waiting", lambda gains: float(len(gains)))
    local = gg.evaluate(qrels, ranked, "nDCG@10 AP Waiting")
    assert result["runs"] == json.loads(json.dumps(local.to_dict()["runs"]))
    assert result["traces"] == {s.name: s.final("CG") for s in gg.good_gain(TRACES).systems}


@pytest.mark.skipif("GOODGAIN_CLUSTER" not in os.environ, reason="takes minutes: make soak runs it")
def test_the_engine_suite(master):
    """Executors die in it; in another process, because this one may have a session."""
    run_suite("cluster", "test_engines.py", GOODGAIN_MASTER=master, **environment())


def test_spark_submit(master, tmp_path):
    """The command line as a cluster job, with the two lines of docs/spark.md."""
    (tmp_path / "job.py").write_text(
        "from goodgain.__main__ import main\n\nraise SystemExit(main())\n"
    )
    (tmp_path / "qrels.txt").write_text("q1 0 a 1\nq2 0 b 2\n")
    (tmp_path / "run.txt").write_text(
        "q1 Q0 a 1 2.5 t\nq2 Q0 a 1 1.5 t\nq2 Q0 b 2 1 t\nq2 Q0 b 2 nan t\n"
    )
    done = subprocess.run(
        [
            spark_program("spark-submit"), "--master", master, "--conf", "spark.executor.memory=512m",
            "--conf", "spark.driver.host=127.0.0.1", "--conf", "spark.ui.enabled=false",
            "--conf", "spark.sql.shuffle.partitions=2",
            str(tmp_path / "job.py"), "evaluate", "--engine", "spark", "--skip-bad",
            str(tmp_path / "qrels.txt"), str(tmp_path / "run.txt"), "-m", "RR AP", "--format", "csv",
            "-o", str(tmp_path / "scores.csv"),
        ],
        capture_output=True, text=True, env=environment(), timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    scores = (tmp_path / "scores.csv").read_text()
    assert scores == "run,measure,value,queries\nrun,RR,0.75,2\nrun,AP,0.75,2\n"
    # spark-submit hands both streams of a job on as one
    assert "warning: run: 1 bad row skipped, for example: the score" in done.stdout + done.stderr
