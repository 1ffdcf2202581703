"""`goodgain check` against real servers on loopback, as a team would use it."""

from __future__ import annotations

import io
import json
import socket
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree

import pytest

from goodgain.checks import check, read_golden
from goodgain.cli import run
from goodgain.errors import InputError, UsageError


def approve(golden) -> None:
    check(golden, update="first")


def test_first_run_update_and_unchanged(golden, capsys):
    assert run(["check", str(golden)]) == 0
    assert "no baseline" in capsys.readouterr().err
    assert run(["check", str(golden), "--update", "reviewed by hand"]) == 0
    baseline = golden.with_suffix(".baseline.jsonl")
    head, *cases = map(json.loads, baseline.read_text().splitlines())
    assert head["reason"] == "reviewed by hand"
    assert len(cases) == 30
    assert cases[0] == {"case": "rotate-keys", "results": cases[0]["results"]}
    capsys.readouterr()
    assert run(["check", str(golden)]) == 0
    out = capsys.readouterr().out
    assert out.startswith("PASSED: 30 cases as required and no worse than the baseline")


def test_a_regression_fails_and_names_the_queries(golden, service, capsys, tmp_path):
    approve(golden)
    _, search = service
    search.reversed_for = {
        "keys",
        "quotas",
        "backups",
        "invoices",
        "webhooks",
        "tokens",
        "alerts",
        "regions",
    }
    summary, junit = tmp_path / "comment.md", tmp_path / "junit.xml"
    status = run(["check", str(golden), "--summary", str(summary), "--junit", str(junit)])
    assert status == 1
    out = capsys.readouterr().out
    first = out.splitlines()[0]
    assert first.startswith("FAILED: nDCG@10 is worse by ")
    assert "rotate-keys" in out and "worse than the baseline (8)" in out
    assert "docs/keys/rotate.md 1 → absent" in out
    text = summary.read_text()
    assert text.startswith("## ❌ Search check") and "<details>" in text
    assert "-docs/keys/rotate.md" in text
    suite = ElementTree.parse(junit).getroot()[0]
    assert suite.attrib["failures"] == "2" and len(suite) == 32


def test_an_improvement_passes(golden, service):
    _, search = service
    search.reversed_for = {
        "keys",
        "quotas",
        "backups",
        "invoices",
        "webhooks",
        "tokens",
        "alerts",
        "regions",
    }
    approve(golden)
    search.reversed_for = set()
    result = check(golden)
    assert result.verdict == "pass", result.sentence
    assert {row.outcome for row in result.rows} == {"no worse"}
    assert len(result.changes()) == 8


def test_few_losses_are_not_enough_evidence(golden, service, capsys):
    approve(golden)
    _, search = service
    search.reversed_for = {"keys", "quotas"}
    assert run(["check", str(golden)]) == 3
    out = capsys.readouterr().out
    assert out.startswith("NOT ENOUGH EVIDENCE: 30 cases cannot show that nDCG@10 holds")
    assert "about" in out.splitlines()[0]
    assert run(["check", str(golden), "--unsure", "pass"]) == 0


def test_a_flaky_target_gives_no_false_verdict(golden, service):
    approve(golden)
    _, search = service
    search.fail_every = 4
    result = check(golden)
    assert result.verdict == "pass", result.sentence
    assert any("after a retry" in note for note in result.notes)


def test_a_target_that_is_down(golden, service, capsys):
    approve(golden)
    _, search = service
    search.down = True
    assert run(["check", str(golden), "--retries", "0"]) == 1
    out = capsys.readouterr().out
    assert out.startswith("FAILED: 30 of 30 cases fail their own requirements")
    assert "503" in out
    with pytest.raises(InputError, match="the baseline was not written"):
        check(golden, update="no", retries=0)


def test_nobody_listens(golden):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    result = check(golden, f"http://127.0.0.1:{port}/?q={{query}}", retries=0)
    assert result.verdict == "fail"
    assert {r.call.status for r in result.cases} == {"error"}


def test_a_time_out_is_told_apart_from_an_error(golden, service):
    _, search = service
    search.slow = 0.4
    cases = read_golden(golden)
    result = check(golden, timeout=0.1, retries=0, concurrency=30)
    assert {r.call.status for r in result.cases} == {"timeout"}
    assert len(result.cases) == len(cases.cases)
    assert result.cases[0].failures[0].startswith("timed out")


def test_a_changed_corpus_is_bounded(golden, service, capsys):
    """New documents nobody judged push approved ones down: whether that is bad depends on their grades."""
    approve(golden)
    _, search = service
    subjects = [
        "keys",
        "quotas",
        "backups",
        "invoices",
        "webhooks",
        "tokens",
        "alerts",
        "regions",
        "logs",
    ]
    search.add({f"new/{s}.md": f"How to rotate delete list {s} {s}. rotate {s}" for s in subjects})
    result = check(golden)
    row = result.rows[0]
    assert row.low < row.before
    assert row.unjudged >= 9
    assert result.verdict == "not enough evidence"
    assert "without a judgment could change" in result.sentence
    assert check(golden, complete=True).verdict in ("fail", "not enough evidence")


def test_latency_is_a_gate_of_its_own(golden):
    result = check(golden, latency={"p95": "0.001 ms"})
    assert result.verdict == "fail"
    assert "p95 is" in result.sentence
    assert check(golden, latency={"p95": "60 s"}).verdict == "pass"


def test_a_floor(golden):
    result = check(golden, floors={"nDCG@10": 0.99, "RR": 0.01})
    assert "the floor is 0.99" in result.sentence
    assert check(golden, floors={"RR": 0.01}).verdict == "pass"


def test_tags_gate_when_asked_for(golden, service):
    approve(golden)
    _, search = service
    search.reversed_for = {
        "keys",
        "invoices",
        "alerts",
        "teams",
        "imports",
        "queues",
        "schemas",
        "plugins",
    }
    result = check(golden, tags="all")
    outcomes = {row.tag: row.outcome for row in result.rows if row.measure == "nDCG@10"}
    assert outcomes["rotate"] == "worse"
    assert outcomes["delete"] == outcomes["list"] == "no worse"


def test_an_mcp_server_over_its_standard_streams(golden, mcp_script):
    command = f"{sys.executable} {mcp_script}"
    result = check(golden, {"mcp": command, "tool": "search_docs"})
    assert result.verdict == "pass", result.sentence
    assert result.target["server"] == "docs 1.2"
    assert {r.call.status for r in result.cases} == {"ok"}
    plain = check(golden)
    assert [r.keys for r in result.cases] == [r.keys for r in plain.cases]
    with pytest.raises(UsageError, match="no tool 'serch'"):
        check(golden, f"mcp:{command}#serch")


@pytest.mark.parametrize("stream", [io.StringIO(), None])
def test_an_mcp_server_where_standard_error_is_no_file(golden, mcp_script, monkeypatch, stream):
    """As in a notebook, and in a program without a console."""
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    monkeypatch.setattr(sys, "__stderr__", stream)
    result = check(golden, {"mcp": f"{sys.executable} {mcp_script}", "tool": "search_docs"})
    assert result.verdict == "pass", result.sentence


def test_an_mcp_server_over_http(golden, mcp_script):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen(
        [sys.executable, str(mcp_script), str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        for _ in range(600):
            try:
                socket.create_connection(("127.0.0.1", port), 0.1).close()
                break
            except OSError:
                time.sleep(0.1)
        result = check(golden, f"mcp:http://127.0.0.1:{port}/mcp#search_docs")
        assert result.verdict == "pass", result.sentence
        assert {r.call.status for r in result.cases} == {"ok"}
    finally:
        server.terminate()
        server.wait(10)


def test_a_server_that_does_not_start(golden):
    with pytest.raises(InputError, match="cannot talk to the MCP server"):
        check(golden, "mcp:/no/such/server")


def test_a_command_as_target(golden, tmp_path):
    script = tmp_path / "search.py"
    script.write_text(
        "import json, sys\nq = sys.argv[1].split()\n"
        "print(json.dumps([{'id': f'docs/{q[-1]}/{q[-2]}.md'}, {'id': f'docs/{q[-1]}/overview.md'}]))\n"
    )
    target = {"command": [sys.executable, str(script), "{query}"]}
    result = check(golden, target, measures="nDCG@10 RR", warm_up=0, concurrency=2)
    assert result.means == pytest.approx({"nDCG@10": 1.0, "RR": 1.0})


def test_a_run_file_and_a_function_as_targets(golden, tmp_path):
    cases = read_golden(golden).cases
    run_file = tmp_path / "made.run"
    run_file.write_text(
        "".join(f"{c.id} Q0 {d} 1 {3 - i} r\n" for c in cases for i, d in enumerate(c.relevant))
    )
    assert check(golden, str(run_file)).means["nDCG@10"] == pytest.approx(1.0)
    ranked = {c.query: list(c.relevant) for c in cases}
    assert check(golden, ranked.get).means["nDCG@10"] == pytest.approx(1.0)
    assert check(golden, lambda q: [(d, 1.0) for d in ranked[q]]).means["R@10"] == pytest.approx(
        1.0
    )
    empty = check(golden, lambda _: [])
    assert {r.call.status for r in empty.cases} == {"empty"}
    assert all(r.failures == ("no results",) for r in empty.cases)


def test_results_that_cannot_be_read_are_errors(golden):
    result = check(golden, lambda _: {"weather": {"degrees": 3}}, retries=0)
    assert {r.call.status for r in result.cases} == {"error"}


def test_history(golden, tmp_path, capsys):
    history = tmp_path / "history.jsonl"
    for _ in range(3):
        assert run(["check", str(golden), "--history", str(history), "-q"]) == 0
    capsys.readouterr()
    assert run(["check", "history", str(history)]) == 0
    out = capsys.readouterr().out
    assert "nDCG@10" in out and len(history.read_text().splitlines()) == 3


def test_the_page(golden, service, tmp_path):
    approve(golden)
    _, search = service
    search.reversed_for = {"keys"}
    page = tmp_path / "check.html"
    run(["check", str(golden), "--report", str(page), "-q", "-o", str(tmp_path / "out.txt")])
    text = page.read_text()
    assert "Content-Security-Policy" in text and "rotate-keys" in text


def test_init_from_judgments_a_log_and_the_target(tmp_path, service, capsys):
    url, _ = service
    (tmp_path / "qrels.txt").write_text(
        "q1 0 docs/keys/rotate.md 2\nq1 0 x 0\nq2 0 docs/logs/list.md 1\n"
    )
    (tmp_path / "queries.tsv").write_text("id\ttext\nq1\trotate keys\nq2\tlist logs\n")
    path = tmp_path / "golden.yaml"
    arguments = ["--qrels", str(tmp_path / "qrels.txt"), "--queries", str(tmp_path / "queries.tsv")]
    assert run(["check", "init", str(path), *arguments, "--target", url]) == 0
    cases = read_golden(path).cases
    assert [(c.id, c.query, dict(c.relevant)) for c in cases] == [
        ("q1", "rotate keys", {"docs/keys/rotate.md": 2.0}),
        ("q2", "list logs", {"docs/logs/list.md": 1.0}),
    ]
    assert run(["check", str(path), "-q"]) == 0
    assert run(["check", "init", str(path), *arguments]) == 2  # nothing is overwritten
    (tmp_path / "log.csv").write_text(
        "query,clicked\nrotate keys,a\nrotate keys,a\nrotate keys,b\nlogs,c\n"
    )
    assert (
        run(["check", "init", str(tmp_path / "log.yaml"), "--log", str(tmp_path / "log.csv")]) == 0
    )
    first = read_golden(tmp_path / "log.yaml").cases[0]
    assert (first.query, dict(first.relevant)) == ("rotate keys", {"a": 2.0, "b": 1.0})


def test_grading_the_pool_by_hand(tmp_path, service):
    from goodgain.checks.start import start_golden

    url, _ = service
    (tmp_path / "queries.tsv").write_text("id\ttext\nq1\trotate keys\n")
    replies = iter(["3", "", "1", *[""] * 20])
    path = tmp_path / "golden.yaml"
    text, count = start_golden(
        str(path),
        queries=str(tmp_path / "queries.tsv"),
        target=url,
        grade="ask",
        reply=lambda _: next(replies),
    )
    path.write_text(text)
    assert count == 1
    assert sorted(read_golden(path).cases[0].relevant.values()) == [1.0, 3.0]


def test_grading_the_pool_by_a_judge_or_later(tmp_path, service):
    from goodgain.checks.start import start_golden

    url, _ = service
    (tmp_path / "queries.tsv").write_text("id\ttext\nq1\trotate keys\n")
    path = tmp_path / "golden.yaml"

    def judge(request):
        return 3 if "How to rotate keys" in request.document else 0

    text, _ = start_golden(
        str(path), queries=str(tmp_path / "queries.tsv"), target=url, grade=judge
    )
    path.write_text(text)
    assert read_golden(path).cases[0].relevant == {"docs/keys/rotate.md": 3.0}
    text, _ = start_golden(str(path), queries=str(tmp_path / "queries.tsv"), target=url)
    assert '# relevant: {"docs/keys/rotate.md": ?}' in text
    path.write_text(text)
    with pytest.raises(InputError, match="expects nothing"):
        read_golden(path)


def test_lint(golden, capsys):
    text = golden.read_text()
    golden.write_text(
        text + "  - {id: again, query: how do I rotate  Keys, relevant: [docs/nowhere.md]}\n"
    )
    assert run(["check", "lint", str(golden)]) == 1
    out = capsys.readouterr().out
    assert "'again' asks the same as 'rotate-keys'" in out
    assert "'docs/nowhere.md' is in no result of any query" in out


def test_golden_set_as_pytest_tests(golden, tmp_path, service):
    text = golden.read_text()
    golden.write_text(
        text.replace(
            "3, docs/keys/overview.md: 1}",
            "3}\n    must: {hit: 1}\n    forbidden: ['docs/keys/*']",
            1,
        )
    )
    (tmp_path / "pytest.ini").write_text("[pytest]\ngoodgain_golden = golden.yaml\n")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "golden.yaml"],
        cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert "2 failed, 29 passed" in done.stdout, done.stdout + done.stderr
    assert "forbidden result docs/keys/" in done.stdout
