"""Services repeat keys in their errors: nothing that an experiment or a check writes contains them."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from goodgain.cli import run
from goodgain.redaction import hide_in


@pytest.fixture(scope="module")
def address():
    class Echo(BaseHTTPRequestHandler):
        """Repeats all it gets: in an error, in a page that is no JSON, or as values alone."""

        def do_GET(self):
            request = f"{self.path} {dict(self.headers)}"
            if "plain" in self.path:
                request = "x" * 180 + ", ".join(self.headers.values())
            self.send_response(200 if "page" in self.path else 400)
            self.end_headers()
            self.wfile.write(request.encode())

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OF_THE_SERVICE", "SECRET-of-the-environment")
    (tmp_path / "documents.jsonl").write_text('{"id": "d1", "text": "a river"}\n')
    (tmp_path / "queries.tsv").write_text("id\ttext\nq1\triver\n")
    (tmp_path / "qrels.txt").write_text("q1 0 d1 1\n")
    return tmp_path


def leaks(folder, *settings):
    """Files, but the settings themselves, that contain a secret or the start of one."""
    return {
        path.name: path.read_text(errors="replace").partition("SECRET")[2][:80]
        for path in folder.rglob("*")
        if path.is_file() and path.name not in settings and b"SECRET" in path.read_bytes()
    }


def test_an_experiment(folder, address, capsys):
    systems = "".join(
        f'[systems.{name}]\nretriever = "http"\n'
        f'url = "http://me:SECRET-account@{address}/{name}?q={{query}}&api_key=SECRET-parameter"\n'
        'headers = {Authorization = "Bearer SECRET-literal", X-Own = "${OF_THE_SERVICE}"}\n'
        for name in ("error", "page", "plain")
    )
    (folder / "experiment.toml").write_text(
        'corpus = "documents.jsonl"\nqueries = "queries.tsv"\nqrels = "qrels.txt"\n'
        f'measures = "AP"\n[systems.fine]\nretriever = "bm25"\n{systems}'
        '[systems.tool]\nretriever = "mcp"\n'
        'server = ["python", "-c", "raise SystemExit(3)", "--token", "SECRET-word"]\n'
    )
    words = "experiment experiment.toml --folder out -o out.txt --report out.html"
    assert run(words.split()) == 0
    assert "the service returned 400" in (folder / "out.txt").read_text()
    assert leaks(folder, "experiment.toml") == {}
    assert "SECRET" not in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["error", "page", "plain"])
def test_a_check(folder, address, capsys, kind):
    url = f"http://me:SECRET-account@{address}/{kind}?q={{query}}&key=SECRET-parameter"
    target = {"http": url, "headers": {"X-Own": "SECRET-literal-2", "token": "${OF_THE_SERVICE}"}}
    (folder / "golden.yaml").write_text(
        f"target: {json.dumps(target)}\ncases:\n  - {{id: a, query: river, relevant: [d1]}}\n"
    )
    outputs = "-o out.json --format json --report out.html --junit out.xml --summary out.md"
    words = f"check golden.yaml {outputs} --history out.jsonl"
    assert run(words.split()) == 1
    assert "river" in (folder / "out.json").read_text()
    assert leaks(folder, "golden.yaml") == {}
    assert "SECRET" not in capsys.readouterr().err


def test_the_target_of_a_baseline(folder):
    words = "check golden.yaml --update ok --target"
    (folder / "golden.yaml").write_text("cases:\n  - {id: a, query: river, relevant: [d1]}\n")
    target = """command:sh -c 'echo "[\\"d1\\"]"' {query} --token SECRET-word"""
    assert run([*words.split(), target]) == 0
    assert "--token ***" in (folder / "golden.baseline.jsonl").read_text()


def test_words_of_a_command():
    settings = {"server": ["serve", "--token", "abc", "--fields", "token", "title"]}
    assert hide_in(settings) == {
        "server": ["serve", "--token", "***", "--fields", "token", "title"]
    }
