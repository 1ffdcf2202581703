"""`goodgain view`: what it lists, what it serves, and all that it does not."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest
from playwright.sync_api import expect

import goodgain
from goodgain.errors import GoodgainError, UsageError
from goodgain.reports.view import Library, Viewer

QRELS = {f"q{i}": {"a": 2, "b": 1, "c": 0} for i in range(6)}
BEST = {q: {"a": 3.0, "b": 2.0, "c": 1.0} for q in QRELS}
WORST = {q: {"c": 3.0, "b": 2.0, "a": float(i % 2)} for i, q in enumerate(QRELS)}


@pytest.fixture
def folder(tmp_path):
    inner = tmp_path / "results"
    (inner / "old").mkdir(parents=True)
    goodgain.evaluate(QRELS, {"best": BEST}, "nDCG@3 AP").save(inner / "best.json")
    goodgain.evaluate(QRELS, {"worst": WORST}, "nDCG@3 AP").save(inner / "old" / "worst.json")
    (inner / "other.json").write_text('{"a": 1}')
    (inner / "why.json").write_text('{"goodgain": "explanation"}')  # has no page
    (inner / "secret.txt").write_text("not for the page")
    (tmp_path / "outside.json").write_text((inner / "best.json").read_text())
    return inner


@pytest.fixture
def viewer(folder):
    with Viewer(Library(folder)) as one:
        thread = threading.Thread(target=one.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield one
        one.shutdown()
        thread.join()


def ask(viewer, path, method="GET", **headers):
    """Status, headers and body of a raw path, sent as it is."""
    connection = http.client.HTTPConnection("127.0.0.1", viewer.server_port, timeout=20)
    connection.putrequest(method, path, skip_host=True)
    for name, value in {"Host": f"127.0.0.1:{viewer.server_port}", **headers}.items():
        connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse()
    response = answer.status, dict(answer.getheaders()), answer.read()
    connection.close()
    return response


def listed(viewer):
    _, _, body = ask(viewer, f"/{viewer.secret}/state")
    return {entry["name"]: entry for entry in json.loads(body)["entries"]}


def test_only_saved_results_are_listed(viewer):
    entries = listed(viewer)
    assert {name: entry["kind"] for name, entry in entries.items()} == {
        "best.json": "evaluation",
        "old/worst.json": "evaluation",
    }


def test_a_link_out_of_the_folder_is_not_followed(folder):
    (folder / "link.json").symlink_to(folder.parent / "outside.json")
    (folder / "linked").symlink_to(folder.parent)
    (folder / "inside.json").symlink_to(folder / "best.json")
    names = {entry.name for entry in Library(folder).entries().values()}
    assert names == {"best.json", "old/worst.json", "inside.json"}


def test_one_file_is_listed_alone(folder):
    (entry,) = Library(folder / "best.json").entries().values()
    assert entry.name == "best.json"


def test_a_missing_folder_is_an_error(tmp_path):
    with pytest.raises(GoodgainError, match="path not found"):
        Library(tmp_path / "none")


def test_a_result_has_its_page(viewer):
    key = listed(viewer)["best.json"]["key"]
    status, headers, body = ask(viewer, f"/{viewer.secret}/page?of={key}")
    assert status == 200
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    assert b"Content-Security-Policy" in body
    assert b"nDCG@3" in body
    assert b"best" in body


def test_the_page_is_the_one_that_report_writes(viewer, folder, tmp_path):
    key = listed(viewer)["best.json"]["key"]
    _, _, body = ask(viewer, f"/{viewer.secret}/page?of={key}")
    goodgain.Evaluation.load(folder / "best.json").report(tmp_path / "best.html")
    written = (tmp_path / "best.html").read_bytes()
    date = re.compile(rb"on \d{4}-\d\d-\d\d \d\d:\d\d UTC")
    assert date.sub(b"", body) == date.sub(b"", written)


def test_two_results_are_compared(viewer):
    entries = listed(viewer)
    keys = "&".join(f"of={entries[name]['key']}" for name in ("old/worst.json", "best.json"))
    status, _, body = ask(viewer, f"/{viewer.secret}/page?{keys}")
    assert status == 200
    difference = goodgain.compare(
        goodgain.evaluate(QRELS, {"worst": WORST}, "nDCG@3 AP"),
        goodgain.evaluate(QRELS, {"best": BEST}, "nDCG@3 AP"),
    )["best", "nDCG@3"].difference
    assert f"{difference:.3f}".encode()[:4] in body


def test_what_cannot_be_compared_says_why(viewer, folder):
    compared = goodgain.compare(
        goodgain.evaluate(QRELS, {"worst": WORST}, "AP"),
        goodgain.evaluate(QRELS, {"best": BEST}, "AP"),
    )
    compared.save(folder / "one.json")
    compared.save(folder / "two.json")
    entries = listed(viewer)
    keys = "&".join(f"of={entries[name]['key']}" for name in ("one.json", "two.json"))
    status, _, body = ask(viewer, f"/{viewer.secret}/page?{keys}")
    assert status == 200
    assert b"a report can hold only one comparison" in body


def test_a_damaged_result_says_so_in_its_page(viewer, folder):
    (folder / "bad.json").write_text('{"goodgain": "evaluation", "format": 1, "<b>": 1}')
    key = listed(viewer)["bad.json"]["key"]
    status, _, body = ask(viewer, f"/{viewer.secret}/page?of={key}")
    assert status == 200
    assert b"damaged" in body
    assert b"<b>" not in body


def test_a_changed_result_has_another_version_and_page(viewer, folder):
    before = listed(viewer)["best.json"]
    _, _, page = ask(viewer, f"/{viewer.secret}/page?of={before['key']}")
    goodgain.evaluate(QRELS, {"changed": WORST}, "P@1").save(folder / "best.json")
    until = time.monotonic() + 60
    while (after := listed(viewer)["best.json"])["version"] == before["version"]:
        assert time.monotonic() < until  # after a slow scan the next one waits
        time.sleep(0.05)
    assert before["key"] == after["key"]
    _, _, changed = ask(viewer, f"/{viewer.secret}/page?of={after['key']}")
    assert b"changed" in changed
    assert b"nDCG@3" in page
    assert b"nDCG@3" not in changed


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "//",
        "/state",
        "/page",
        "/{wrong}/",
        "/{wrong}/state",
        "/{secret}",
        "/{secret}/page",
        "/{secret}/page?of=",
        "/{secret}/page?of=0000000000000000",
        "/{secret}/page?of={key}&of={key}",
        "/{secret}/page?of=../outside.json",
        "/{secret}/../outside.json",
        "/{secret}/..%2foutside.json",
        "/{secret}/%2e%2e/outside.json",
        "/{secret}/secret.txt",
        "/{secret}/best.json",
        "/{secret}//etc/passwd",
        "/{secret}/shell.html",
        "/{secret}/shell.js/../pages.py",
        "http://127.0.0.1/{secret}/x",
    ],
)
def test_nothing_else_is_reachable(viewer, path):
    key = listed(viewer)["best.json"]["key"]
    wrong = viewer.secret[:-1] + ("a" if viewer.secret[-1] != "a" else "b")
    status, _, body = ask(viewer, path.format(secret=viewer.secret, wrong=wrong, key=key))
    assert status == 404
    assert b"not for the page" not in body


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"])
def test_nothing_can_be_written(viewer, method):
    status, _, _ = ask(viewer, f"/{viewer.secret}/", method=method)
    assert status == 501


def test_a_name_of_elsewhere_does_not_lead_here(viewer):
    """DNS rebinding: a page of the web whose name resolves to this machine."""
    for host in ("evil.example", f"evil.example:{viewer.server_port}", "127.0.0.1", ""):
        status, _, _ = ask(viewer, f"/{viewer.secret}/", Host=host)
        assert status == 404
    status, _, _ = ask(viewer, f"/{viewer.secret}/", Host=f"localhost:{viewer.server_port}")
    assert status == 200


def test_it_listens_on_loopback_only(viewer):
    assert viewer.server_address[0] == "127.0.0.1"
    with socket.socket() as other, pytest.raises(OSError, match="refused"):
        other.settimeout(5)
        other.connect(("127.0.0.2", viewer.server_port))


def test_headers_keep_the_secret_and_the_frame(viewer):
    for path in ("", "shell.js", "shell.css", "state"):
        status, headers, _ = ask(viewer, f"/{viewer.secret}/{path}")
        assert status == 200
        assert headers["Referrer-Policy"] == "no-referrer"
        assert headers["Cache-Control"] == "no-store"
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert "unsafe" not in headers["Content-Security-Policy"]
        assert headers["Content-Security-Policy"].startswith("default-src 'none'")


def test_head_has_the_headers_and_no_body(viewer):
    status, headers, body = ask(viewer, f"/{viewer.secret}/", method="HEAD")
    assert (status, body) == (200, b"")
    assert int(headers["Content-Length"]) > 100


def test_every_viewer_has_its_own_secret(folder):
    with Viewer(Library(folder)) as one, Viewer(Library(folder)) as two:
        assert one.secret != two.secret
        assert len(one.secret) >= 32


def test_a_taken_port_is_an_error(viewer, folder):
    with pytest.raises(UsageError, match="cannot bind port"):
        Viewer(Library(folder), viewer.server_port)


def test_the_command_prints_its_address_and_ends_with_ctrl_c(folder):
    command = [sys.executable, "-m", "goodgain", "view", os.fspath(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        url = process.stdout.readline().decode().strip()
        match = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/([\w-]{32,})/", url)
        connection = http.client.HTTPConnection("127.0.0.1", int(match[1]), timeout=20)
        connection.request("GET", f"/{match[2]}/state")
        assert connection.getresponse().status == 200
        connection.close()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (0, b"", b"")


@pytest.fixture
def opened(viewer, browser):
    """The list in a real browser; at the end nothing has gone wrong on it."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    problems = []
    page.on("console", lambda m: problems.append(m.text) if m.type in ("error", "warning") else 0)
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda r: r.url.startswith((viewer.url, "blob:")) or problems.append(r.url))
    page.goto(viewer.url)
    yield page
    context.close()
    assert problems == []


def test_a_result_is_chosen_and_followed(opened, folder):
    opened.get_by_role("link", name="best.json").click()
    inside = opened.frame_locator("#page")
    inside.get_by_text("nDCG@3").first.wait_for()
    goodgain.evaluate(QRELS, {"another": WORST}, "P@1").save(folder / "best.json")
    inside.get_by_text("another").first.wait_for()  # without a click
    goodgain.evaluate(QRELS, {"new": WORST}, "P@1").save(folder / "new.json")
    opened.go_back()
    opened.get_by_role("link", name="new.json").wait_for()


def test_two_are_ticked_and_compared_in_the_order_of_ticking(opened):
    button = opened.get_by_role("button", name="Compare")
    expect(button).to_be_disabled()
    opened.get_by_label("compare old/worst.json").check()
    opened.get_by_label("compare best.json").check()
    button.click()
    inside = opened.frame_locator("#page")
    inside.get_by_role("heading", name="best vs worst").wait_for()


def test_the_list_is_searched(opened):
    opened.get_by_role("link", name="best.json").wait_for()
    opened.get_by_label("Search").fill("worst eval")
    expect(opened.locator("#entries tbody tr")).to_have_count(1)
    expect(opened.locator("#status")).to_contain_text("1 result of 2")


def test_a_hostile_name_is_only_text(opened, folder):
    name = "<img src=x onerror=window.ran=1>.json"
    goodgain.evaluate(QRELS, {name: BEST}, "P@1").save(folder / name)
    opened.get_by_role("link", name=name).click()
    opened.frame_locator("#page").get_by_text("P@1").first.wait_for()
    assert opened.evaluate("window.ran") is None


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_list_is_accessible(opened, scheme):
    from axe_core_python.sync_playwright import Axe

    opened.emulate_media(color_scheme=scheme)
    opened.get_by_role("link", name="best.json").wait_for()
    violations = Axe().run(opened)["violations"]
    assert [v["id"] for v in violations if v["impact"] in ("serious", "critical")] == []
