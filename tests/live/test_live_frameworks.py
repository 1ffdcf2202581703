"""What is captured of each framework is what its tools logged, however it runs and whatever happens to it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter, defaultdict
from importlib.util import find_spec
from pathlib import Path

import pytest

import goodgain as gg

HERE = Path(__file__).parent
QUESTION = "Where does the Seine rise, and how long is it?"
ANSWER = "It rises at Source-Seine and is 777 km long."
NEEDS = {
    "functions": "goodgain",
    "langchain": "langchain",
    "llama_index": "llama_index.core",
    "openai_agents": "agents",
    "pydantic_ai": "pydantic_ai",
    "haystack": "haystack",
    "openinference": "openinference.instrumentation.langchain",
    "openllmetry": "opentelemetry.instrumentation.langchain",
}
NESTED = {"functions", "langchain", "llama_index", "haystack", "openinference", "openllmetry"}


def is_installed(module):
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


FRAMEWORKS = [
    pytest.param(
        name,
        marks=pytest.mark.skipif(not is_installed(module), reason=f"{module} is not installed"),
    )
    for name, module in NEEDS.items()
]


def command(framework, mode, path, log):
    return [sys.executable, str(HERE / "live_agents.py"), framework, mode, str(path), str(log)]


ENVIRONMENT = {
    **os.environ,
    "OPENAI_AGENTS_DISABLE_TRACING": "0",
    "HAYSTACK_TELEMETRY_ENABLED": "False",
    "LANGSMITH_TRACING": "false",
}


def run(framework, mode, path, log, **environment):
    done = subprocess.run(
        command(framework, mode, path, log),
        capture_output=True,
        text=True,
        env=ENVIRONMENT | environment,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done


def read_log(path):
    """By conversation: what the tools logged."""
    entries = defaultdict(list)
    for line in path.read_text().splitlines():
        entry = json.loads(line)
        entries[entry["tag"]].append(entry)
    return entries


def outcome(search):
    return "failed" if search.error else "unread" if search.unread else len(search.results)


def logged_searches(entries):
    return Counter(
        (e["query"], "failed" if "error" in e else e["results"])
        for e in entries
        if e["tool"] == "web_search"
    )


def captured_searches(trace):
    return Counter((s.query, outcome(s)) for s in trace.searches())


def tag_of(trace):
    return trace.turns[0].user.removeprefix(QUESTION)


def check(path, log, number):
    """Compare each conversation with the tools' log."""
    reader = gg.read_traces(path)
    traces = {tag_of(t): t for t in reader}
    logged = read_log(log)
    assert len(traces) == number == len(logged)
    for tag, entries in logged.items():
        trace = traces[tag]
        (turn,) = trace.turns
        assert captured_searches(trace) == logged_searches(entries)
        opens = [o.url for i in turn.iterations for o in i.opens]
        assert opens == [e["url"] for e in entries if e["tool"] == "fetch_page"]
        assert turn.answer == entries[-1]["answer"] == ANSWER
    assert reader.ledger.is_exact
    return traces


@pytest.mark.slow
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_what_is_captured_is_what_happened(framework, tmp_path):
    """One conversation after another, on 8 threads, and in 50 asyncio tasks."""
    path, log = tmp_path / "t.jsonl", tmp_path / "log"
    done = run(framework, "all", path, log)
    assert json.loads(done.stdout) == [ANSWER] * 68
    assert json.loads(done.stderr.splitlines()[-1]) == [0, 0]
    traces = check(path, log, 68)
    for tag, trace in traces.items():
        sizes = [len(i.searches) for i in trace.turns[0].iterations if i.searches]
        is_nested = tag == " #1" and framework in NESTED  # a tool around a retriever is one search
        assert sizes == ([2] if is_nested else [2, 1, 1])
        assert trace.system == framework
        assert all(s.latency is not None for s in trace.searches())
        first = next(r for s in trace.searches() for r in s.results if "Source-Seine" in r.content)
        assert (first.url, first.title) == ("https://example.org/seine", "Seine")
    used = [i.tokens for i in traces[" #1"].turns[0].iterations]
    assert used and set(used) == {120}, used


@pytest.mark.slow
@pytest.mark.parametrize("framework", FRAMEWORKS[1:-2])  # those two do not set the current span
def test_a_decorated_function_inside_a_tool_is_one_search(framework, tmp_path):
    path, log = tmp_path / "t.jsonl", tmp_path / "log"
    done = run(framework, "decorated", path, log)
    assert json.loads(done.stderr.splitlines()[-1]) == [0, 0]
    check(path, log, 2)


@pytest.mark.slow
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_redaction(framework, tmp_path):
    path, log = tmp_path / "t.jsonl", tmp_path / "log"
    done = run(framework, "once", path, log, REDACT="drop")
    assert json.loads(done.stderr.splitlines()[-1]) == [0, 0]
    text = path.read_text()
    secrets = (
        "Seine source",
        "rises at",
        "Langres",
        QUESTION,
        "777 km",
        "Burgundy",
        "kilometres",
        "Rivers",
    )
    assert not [s for s in secrets if s in text]
    logged = read_log(log)
    traces = list(gg.read_traces(path))
    assert len(traces) == 2
    captured = Counter(outcome(s) for t in traces for s in t.searches())
    expected = sum((logged_searches(entries) for entries in logged.values()), Counter())
    assert captured == Counter(x for (_, x), n in expected.items() for _ in range(n))
    urls = {r.url for t in traces for s in t.searches() for r in s.results}
    assert "https://example.org/langres" in urls and None not in urls
    opens = [o.url for t in traces for turn in t.turns for i in turn.iterations for o in i.opens]
    assert Counter(opens) == Counter(
        e["url"] for entries in logged.values() for e in entries if e["tool"] == "fetch_page"
    )


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs kill -9")
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_kill_loses_no_finished_search(framework, tmp_path):
    path, log = tmp_path / "t.jsonl", tmp_path / "log"
    process = subprocess.Popen(
        command(framework, "forever", path, log),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
    )
    for _ in range(5):
        assert process.stdout.readline()
    process.kill()
    process.communicate()
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    searches = [e["query"] for e in lines if e["tool"] == "web_search"]
    recorded = [s for t in gg.read_traces(path) for s in t.searches()]
    captured = Counter(s.query for s in recorded)
    running = 2  # the last step may not have returned to the agent
    assert len(searches) >= 20
    for query in searches[:-running]:
        assert captured[query] == 1, query
    # A call that the model asked for and no tool began is a search without an output, never an empty one.
    assert set(captured.values()) == {1}
    assert {s.unread for s in recorded if s.query not in searches} <= {"no output is recorded"}


@pytest.mark.slow
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_an_unwritable_target_changes_nothing(framework, tmp_path):
    log, plain_log = tmp_path / "log", tmp_path / "plain"
    done = run(framework, "once", tmp_path / "no" / "t.jsonl", log)
    assert json.loads(done.stdout) == [ANSWER, ANSWER]
    assert done.stderr.count("capture:") == 1
    errors, dropped = json.loads(done.stderr.splitlines()[-1])
    assert dropped > 0 and errors >= dropped
    if framework != "functions":  # it needs the capture for its conversations
        plain = run(framework, "once", "-", plain_log)
        assert plain.stdout == done.stdout
        assert [sorted(map(str, entries)) for entries in read_log(log).values()] == [
            sorted(map(str, entries)) for entries in read_log(plain_log).values()
        ]
