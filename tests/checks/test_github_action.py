"""The GitHub action's script against a fake of the comment API on loopback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def comments():
    """(URL, comments of pull request 7) of a service that keeps comments as GitHub does."""
    store: list[dict[str, object]] = [{"id": n, "body": f"chatter {n}"} for n in range(150)]

    class Handler(BaseHTTPRequestHandler):
        def body(self):
            return json.loads(self.rfile.read(int(self.headers["Content-Length"])))

        def reply(self, value):
            content = json.dumps(value).encode()
            self.send_response(200 if self.headers["Authorization"] == "Bearer t0ken" else 401)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def do_GET(self):
            assert self.path.startswith("/repos/o/r/issues/7/comments")
            page = int(self.path.rpartition("page=")[2])
            self.reply(store[100 * (page - 1) : 100 * page])

        def do_POST(self):
            store.append({"id": len(store), **self.body()})
            self.reply(store[-1])

        def do_PATCH(self):
            own = next(c for c in store if str(c["id"]) == self.path.rpartition("/")[2])
            own.update(self.body())
            self.reply(own)

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}", store
    server.shutdown()
    server.server_close()


def act(golden, tmp_path, url, **more):
    event = tmp_path / "event.json"
    event.write_text(json.dumps({"pull_request": {"number": 7}}))
    environment = {
        **os.environ, "GOODGAIN_GOLDEN": str(golden), "GOODGAIN_TOKEN": "t0ken", "GITHUB_API_URL": url,
        "GITHUB_REPOSITORY": "o/r", "GITHUB_EVENT_PATH": str(event), "RUNNER_TEMP": str(tmp_path),
        "GITHUB_OUTPUT": str(tmp_path / "output"), "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"), **more,
    }  # fmt: skip
    return subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "action.py")],
        env=environment, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


def test_one_comment_is_kept_up_to_date(golden, service, comments, tmp_path):
    from goodgain.checks import check

    url, store = comments
    check(golden, update="first")
    assert act(golden, tmp_path, url).returncode == 0
    assert len(store) == 151 and "✅ Search check" in store[-1]["body"]
    _, search = service
    search.down = True
    done = act(golden, tmp_path, url, GOODGAIN_ARGUMENTS="--retries 0")
    assert done.returncode == 1
    assert len(store) == 151 and "❌ Search check" in store[-1]["body"]
    output = (tmp_path / "output").read_text()
    assert "verdict=pass" in output and "verdict=fail" in output
    page = output.rpartition("page=")[2].strip()
    assert Path(page).stat().st_size > 10_000
    assert "❌" in (tmp_path / "summary").read_text()


def test_a_comment_that_cannot_be_written_does_not_change_the_verdict(golden, comments, tmp_path):
    url, store = comments
    done = act(golden, tmp_path, url, GOODGAIN_TOKEN="wrong")
    assert done.returncode == 0 and "::warning::" in done.stdout
    assert len(store) == 150


def test_a_check_that_cannot_run(tmp_path, comments):
    url, store = comments
    done = act(tmp_path / "absent.yaml", tmp_path, url)
    assert done.returncode == 2
    assert "did not run" in store[-1]["body"]


def test_the_action_is_composite_and_pinned():
    import yaml

    action = yaml.safe_load((ROOT / "action.yml").read_text())
    assert action["runs"]["using"] == "composite"
    uses = [step["uses"] for step in action["runs"]["steps"] if "uses" in step]
    assert all(len(use.partition("@")[2].split()[0]) == 40 for use in uses)
