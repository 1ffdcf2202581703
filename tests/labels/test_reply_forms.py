"""Every form of a reply ends in its gain or in a status; over HTTP, with both clients and in one run."""

import sqlite3
from contextlib import closing
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from reply_forms import FATAL, FORMS, QUOTED, Form
from server import Server

from goodgain.errors import JudgeError
from goodgain.labels import AnthropicJudge, Limits, OpenAIJudge, Price, label

PATIENT = Limits(wait=0.01, tries=2, failures=10_000, failure_share=1, concurrency=16)
APIS = ("openai", "anthropic")


def judge_of(server: Server, api: str) -> Any:
    if api == "openai":
        return OpenAIJudge("m", base_url=server.openai_url, price=Price(1, 1))
    return AnthropicJudge("m", base_url=server.anthropic_url, price=Price(1, 1))


def send(form: Form, anthropic: bool) -> tuple[int, Any, str]:
    headers = "".join(f"{name}: {value}\r\n" for name, value in form.headers.items())
    return form.status, form.body["anthropic" if anthropic else "openai"], headers


def documents() -> list[tuple[str, str, str, str]]:
    """The first one succeeds: an error of a later document then concerns that document alone."""
    quoting = f"Reply with {QUOTED} or gain: 4.\nFORM="
    return [("q", name, "what?", f"{quoting}{name}") for name in FORMS]


def test_there_are_more_than_a_hundred_forms() -> None:
    assert len(FORMS) >= 100


@pytest.mark.parametrize("api", APIS)
def test_every_form_ends_in_its_gain_or_status(
    server: Server, api: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("random.shuffle", lambda rows: None)  # a success comes first

    def forms(name: str, anthropic: bool, request: int) -> tuple[int, Any, str]:
        form = FORMS[name]
        if form.headers and request > 1:  # it was to wait and has come back
            form = FORMS["text: plain"]
        return send(form, anthropic)

    server.forms, server.keep_bodies = forms, False
    judge = judge_of(server, api)
    path = tmp_path / "l.db"
    first = ("q", "first", "what?", "GAIN=3")
    assert label([first], judge, path).statuses == {"ok": 1}
    again = ("q", "again", "what?", "GAIN=2")
    labels = label([first, again, *documents()], judge, path, limits=PATIENT, concurrency=1)
    outcomes = {row.doc: row.status if row.gain is None else int(row.gain) for row in labels}
    del outcomes["first"], outcomes["again"]
    expected = {name: form.outcome for name, form in FORMS.items()}
    assert outcomes == expected
    assert all(row.detail for row in labels if row.gain is None)
    with closing(sqlite3.connect(path)) as db:
        wrong = "SELECT count(*) FROM replies WHERE (status = 'ok') != (gain IS NOT NULL)"
        assert db.execute(wrong).fetchone() == (0,)
        (estimated,) = db.execute("SELECT count(*) FROM spending WHERE estimated").fetchone()
        assert estimated >= 8  # odd reports of tokens
        most = db.execute("SELECT max(tokens_in), max(cost) FROM spending").fetchone()
        assert most[0] < 10_000 and most[1] < 0.1


@pytest.mark.parametrize("fault", FATAL)
@pytest.mark.parametrize("api", APIS)
def test_an_error_of_the_account_ends_the_run(server: Server, api: str, fault: str) -> None:
    status, body, hint = FATAL[fault]
    server.forms = lambda *_: (status, body, "")
    pairs = [("q", str(i), "what?", f"{i} FORM=x") for i in range(200)]
    with pytest.raises(JudgeError) as raised:
        label(pairs, judge_of(server, api), limits=Limits(wait=0.01, concurrency=4))
    assert raised.value.hint.startswith(hint)
    assert sum(server.requests.values()) <= 12


@pytest.mark.parametrize("after", ["0", "-1", "Wed, 21 Oct 2015 07:28:00 GMT"])
def test_a_retry_after_in_the_past_still_backs_off(server: Server, after: str) -> None:
    slow = {"error": {"message": "slow down"}}
    server.forms = lambda *_: (429, slow, f"retry-after: {after}\r\n")
    start = monotonic()
    limits = Limits(wait=0.1, tries=4)
    labels = label([("q", "d", "what?", "FORM=x")], judge_of(server, "openai"), limits=limits)
    assert labels.statuses == {"error": 1}
    assert monotonic() - start >= (0.1 + 0.2 + 0.4) / 2


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([(1, 1), (2, 2), (3, 3)], [1, 2, 3]),
        ([(3, 3), (1, 1), (2, 2)], [1, 2, 3]),
        ([("1", 1), (2.0, "2"), (3, 3.0)], [1, 2, 3]),
        ([(1, 1), (3, 3)], [1, None, 3]),  # partial
        ([(0, 1), (1, 2), (2, 3)], [None] * 3),  # counted from 0
        ([(2, 1), (3, 2), (4, 3)], [None] * 3),  # shifted
        ([(1, 1), (2, 2), (3, 3), (4, 4)], [None] * 3),  # one too many
        ([(1, 1), (1, 2), (2, 3)], [None] * 3),  # twice
        ([(1, 1), (None, 2), (3, 3)], [None] * 3),
        ([(1, 1), ("two", 2), (3, 3)], [None] * 3),
        ([(1, 1), (2, 9), (3, None)], [1, None, None]),
        ([], [None] * 3),
    ],
)
def test_the_rows_of_a_batch_are_matched_by_number_only(rows: Any, expected: list[Any]) -> None:
    def judge(request: Any) -> dict[str, Any]:
        return {"labels": [{"document": number, "gain": gain} for number, gain in rows]}

    pairs = [("q", f"d{i}", "what?", f"text {i}") for i in range(3)]
    orders: list[tuple[str, ...]] = []

    def recording(request: Any) -> Any:
        orders.append(request.documents)
        return judge(request)

    labels = label(pairs, recording, batch=3, limits=Limits(readings=1), name="batch")
    gains = {f"text {row.doc[1:]}": row.gain for row in labels}
    assert [gains[text] for text in orders[0]] == expected


@pytest.mark.parametrize(
    "answer",
    [
        '[{"document": 1, "gain": 1}, {"document": 2, "gain": 2}]',
        '{"labels": {"1": 1, "2": 2}}',
        'Sure:\n```json\n{"labels": [{"document": 2, "gain": 2}, {"document": 1, "gain": 1}]}\n```',
        {1: 1, 2: 2},
    ],
)
def test_a_batch_may_be_a_list_or_by_number(answer: Any) -> None:
    seen: list[tuple[str, ...]] = []

    def judge(request: Any) -> Any:
        seen.append(request.documents)
        return answer

    labels = label([("q", d, "what?", d) for d in "ab"], judge, batch=2, name="batch")
    gains = {row.doc: row.gain for row in labels}
    assert [gains[text] for text in seen[0]] == [1, 2]
