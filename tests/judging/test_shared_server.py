"""Who may speak to the server: the secret, the Host, the origin, and the password of a shared page."""

from __future__ import annotations

import pytest
from judging_client import Client, desk_of, rows, running

from goodgain.errors import UsageError
from goodgain.judging import JudgingServer
from goodgain.labels import Store
from goodgain.serving import Attempts, LocalServer

PASSWORD = "correct horse"


@pytest.fixture
def shared(tmp_path):
    with Store(tmp_path / "labels.db") as store:
        server = JudgingServer(desk_of(store, rows(1, 2)), host="127.0.0.1", password=PASSWORD)
        with running(server):
            yield Client(server)


def log_in(client, password=PASSWORD):
    status, headers, _ = client.ask(f"/{client.server.secret}/login", {"password": password})
    return status, headers.get("Set-Cookie", "").partition(";")[0], headers


def test_a_wrong_secret_or_host_reaches_nothing(serve):
    client = serve(rows(1, 1))
    port = client.server.server_port
    for path in (
        "/",
        "/setup",
        "/x/setup",
        "//[/",
        "//[x]/setup",
        f"/{client.server.secret}x/setup",
    ):
        assert client.ask(path)[0] == 404
    for host in ("evil.example", f"evil.example:{port}", "127.0.0.1", f"192.168.1.1:{port}", ""):
        assert client.ask(f"/{client.server.secret}/setup", Host=host)[0] == 404
    assert client.ask(f"/{client.server.secret}/setup", Host=f"localhost:{port}")[0] == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://127.0.0.1:1"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "none"}, 403),
        ({"Sec-Fetch-Site": "same-origin", "Origin": "https://judge.example"}, 200),  # behind TLS
        ({"Content-Type": "text/plain"}, 415),
        ({"Content-Type": "application/x-www-form-urlencoded"}, 415),
        ({"Content-Length": "x"}, 411),
        ({"Content-Length": "2000000"}, 413),
    ],
)
def test_only_the_page_itself_may_post(serve, headers, status):
    client = serve(rows(1, 1))
    posted = {"annotator": "ann", "role": None}
    assert client.ask(f"/{client.server.secret}/start", posted, **headers)[0] == status
    names = client.get("setup")["annotators"]
    assert names == (["ann"] if status == 200 else [])


@pytest.mark.parametrize("posted", [[], "text", 3, None])
def test_what_is_no_object_is_refused(serve, posted):
    client = serve(rows(1, 1))
    status, _, _ = client.ask(
        f"/{client.server.secret}/start", posted if posted is not None else [None]
    )
    assert status == 400


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"])
def test_other_methods_do_nothing(serve, method):
    client = serve(rows(1, 1))
    assert client.ask(f"/{client.server.secret}/vote", method=method)[0] == 501


def test_every_response_has_its_policy(serve):
    client = serve(rows(1, 1))
    for path in ("", "judge.css", "judge.js", "dom.js", "setup"):
        status, headers, _ = client.ask(f"/{client.server.secret}/{path}")
        assert status == 200
        assert headers["Content-Security-Policy"].startswith("default-src 'none'")
        assert "unsafe" not in headers["Content-Security-Policy"]
        assert headers["Referrer-Policy"] == "no-referrer"
        assert headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize(
    "path", ["judge.html", "../server.py", "assets/judge.js", "%2e%2e/desk.py"]
)
def test_no_other_file_is_served(serve, path):
    client = serve(rows(1, 1))
    assert client.ask(f"/{client.server.secret}/{path}")[0] == 404


def test_elsewhere_needs_a_password():
    with pytest.raises(UsageError, match="needs a password"):
        LocalServer(host="0.0.0.0")
    with pytest.raises(UsageError, match="at least 8 characters"):
        LocalServer(host="0.0.0.0", password="short")


def test_a_shared_page_holds_nothing_before_the_password(shared):
    secret = shared.server.secret
    for path in ("", "judge.js", "dom.js", "judge.css"):
        assert shared.ask(f"/{secret}/{path}")[0] == 200
    for path in ("setup", "work?annotator=ann", "agreement?annotator=ann", "disagreements", "x"):
        assert shared.ask(f"/{secret}/{path}")[0] == 401
    for path in ("start", "vote", "undo", "adjudicate"):
        assert shared.ask(f"/{secret}/{path}", {"annotator": "ann"})[0] == 401
    assert not any(b"How does thing" in body for body in shared.bodies)


def test_the_password_opens_the_page(shared):
    status, cookie, headers = log_in(shared)
    assert status == 200
    assert "HttpOnly" in headers["Set-Cookie"] and "SameSite=Lax" in headers["Set-Cookie"]
    assert PASSWORD not in headers["Set-Cookie"]
    assert shared.get("setup", Cookie=cookie)["status"] == 200
    assert shared.get("setup", Cookie=f"a=b; {cookie}")["status"] == 200
    for wrong in (
        "goodgain=x",
        cookie[:-1],
        cookie + "0",
        "goodgain=",
        "=;=",
        '"',
        "goodgain=\xe4",
    ):
        assert shared.get("setup", Cookie=wrong)["status"] == 401


def test_the_secret_is_needed_besides_the_password(shared):
    _, cookie, _ = log_in(shared)
    assert shared.ask("/wrong/setup", Cookie=cookie)[0] == 404
    assert shared.ask("/wrong/login", {"password": PASSWORD})[0] == 404


def test_a_shared_page_has_the_names_of_its_machine_and_any_address(shared):
    _, cookie, _ = log_in(shared)
    path = f"/{shared.server.secret}/setup"
    for host in ("192.168.1.7:8000", "[::1]:8000", "localhost:1"):
        assert shared.ask(path, Host=host, Cookie=cookie)[0] == 200
    for host in ("evil.example", "evil.example:8000", "127.0.0.1.evil.example", "[", ""):
        assert shared.ask(path, Host=host, Cookie=cookie)[0] == 404


def test_guessing_is_slowed_down(shared):
    statuses = [log_in(shared, f"guess number {i}")[0] for i in range(8)]
    assert statuses == [403] * 5 + [429] * 3
    assert log_in(shared)[0] == 429  # the right one has to wait, too


def test_the_wait_doubles_and_ends():
    now = [0.0]
    attempts = Attempts(lambda: now[0])
    waits = []
    for _ in range(16):
        attempts.failed("a")
        waits.append(attempts.wait("a"))
    assert waits[:4] == [0, 0, 0, 0] and waits[4:8] == [2, 4, 8, 16] and waits[-1] == 300
    assert attempts.wait("b") == 0
    now[0] = 300
    assert attempts.wait("a") == 0
    attempts.succeeded("a")
    attempts.failed("a")
    assert attempts.wait("a") == 0


def test_many_addresses_share_a_limit():
    now = [0.0]
    attempts = Attempts(lambda: now[0])
    for i in range(50):
        attempts.failed(f"address {i}")
    assert attempts.wait("another") == 300
    now[0] = 301
    assert attempts.wait("another") == 0


def test_the_cookie_stays_valid_after_a_restart(tmp_path):
    with Store(tmp_path / "labels.db") as store:
        desk = desk_of(store, rows(1, 1))
        with running(JudgingServer(desk, password=PASSWORD)) as server:
            secret, port = server.secret, server.server_port
            _, cookie, _ = log_in(Client(server))
        with running(JudgingServer(desk, port, secret=secret, password=PASSWORD)) as server:
            assert Client(server).get("setup", Cookie=cookie)["status"] == 200
        with running(JudgingServer(desk, port, secret=secret, password="another one")) as server:
            assert Client(server).get("setup", Cookie=cookie)["status"] == 401
