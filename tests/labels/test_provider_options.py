"""Options of providers, narratives, gold answers and published prompts, over HTTP with both clients."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from server import Server

from goodgain.cli import run
from goodgain.errors import GoodgainError
from goodgain.labels import AnthropicJudge, OpenAIJudge, Pair, Prompt, Store, label, pool
from goodgain.labels.judges.options import parse_extra_body, parse_headers
from goodgain.labels.raw import RawPrompt

PAIRS = [("q", "d", "what?", "GAIN=3")]

# The form of the UMBRELA prompt: its own placeholders, its own rule for the reply.
UMBRELA = (
    "Given a query and a passage, you must provide a score on an integer scale of 0 to 3.\r\n"
    "Query: {query}\n  Passage: {passage}\n\n"
    'Example: {"M": 2}. Provide each score in the format of: ##final score: score\n\n'
)
RULE = r"##final score:\s*([0-3])"


def judge_of(server: Server, api: str, **options: Any) -> Any:
    if api == "openai":
        return OpenAIJudge("m", base_url=server.openai_url, **options)
    return AnthropicJudge("m", base_url=server.anthropic_url, **options)


def raw(tmp_path: Path, text: str = UMBRELA, rule: str = RULE, scale: str = "0..3") -> RawPrompt:
    path = tmp_path / "umbrela.txt"
    path.write_bytes(text.encode())
    return RawPrompt.read_file(path, scale=scale, reply=rule)


@pytest.mark.parametrize("api", ["openai", "anthropic"])
def test_extra_body_headers_and_effort_are_sent(server: Server, api: str) -> None:
    judge = judge_of(
        server,
        api,
        extra_body={"top_p": 0.5, "metadata": {"user_id": "u"}},
        headers={"X-Route": "blue-secret"},
        reasoning_effort="low",
        temperature=None,
    )
    assert label(PAIRS, judge).to_dict() == {"q": {"d": 3}}
    body, head = server.bodies[0], server.headers[0]
    assert body["top_p"] == 0.5 and body["metadata"] == {"user_id": "u"}
    assert head["x-route"] == "blue-secret"
    effort = body["reasoning_effort"] if api == "openai" else body["output_config"]["effort"]
    assert effort == "low"
    schema = body["response_format"] if api == "openai" else body["output_config"]["format"]
    assert schema["type"] == "json_schema"


def test_the_seed_is_sent_where_there_is_one(server: Server) -> None:
    label(PAIRS, judge_of(server, "openai", seed=7))
    assert server.bodies[0]["seed"] == 7
    with pytest.raises(GoodgainError, match="no seed"):
        judge_of(server, "anthropic", seed=7)


def test_every_option_is_part_of_the_key(server: Server, tmp_path: Path) -> None:
    options: list[dict[str, Any]] = [
        {}, {"seed": 1}, {"seed": 2}, {"reasoning_effort": "low"}, {"extra_body": {"top_p": 0.5}},
        {"extra_body": {"top_p": 0.6}}, {"headers": {"X-Route": "blue"}},
        {"headers": {"X-Route": "green"}},
    ]  # fmt: skip
    for option in options:
        summary = label(PAIRS, judge_of(server, "openai", **option), tmp_path / "s.db").summary
        assert summary is not None and summary.calls == 1
    again = label(PAIRS, judge_of(server, "openai", **options[-1]), tmp_path / "s.db").summary
    assert again is not None and again.calls == 0


def test_values_of_headers_are_neither_stored_nor_printed(server: Server, tmp_path: Path) -> None:
    secret = "Bearer gateway-secret-99"
    pairs = [("q", "d", "gateway-secret-99?", "GAIN=2 FAULT=echokey")]
    judge = judge_of(server, "openai", headers={"Authorization": secret})
    label(pairs, judge, tmp_path / "s.db")
    with closing(sqlite3.connect(tmp_path / "s.db")) as db:
        rows = [*db.execute("SELECT raw, detail FROM replies")]
        rows += [*db.execute("SELECT parameters, model FROM settings")]
    assert "gateway-secret" not in str(rows)


@pytest.mark.parametrize("name", ["messages", "model", "n", "max_tokens"])
def test_extra_fields_cannot_replace_what_goodgain_sets(name: str) -> None:
    with pytest.raises(GoodgainError, match=name):
        OpenAIJudge("m", extra_body={name: 1})


@pytest.mark.parametrize("key", ["1", "g", "none"])
def test_a_short_key_is_not_taken_out_of_replies(
    server: Server, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    """Local servers take any key; a word of a reply is not one."""
    monkeypatch.setenv("OPENAI_API_KEY", key)
    labels = label([("q", "d", "what?", "GAIN=1")], OpenAIJudge("m", base_url=server.openai_url))
    assert labels.to_dict() == {"q": {"d": 1}}


def test_options_are_parsed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ROUTE", "blue")
    assert parse_headers(["X-A: 1", "X-B: Bearer ${ROUTE}"]) == {"X-A": "1", "X-B": "Bearer blue"}
    for wrong in ("X-A", "X A: 1", "X-A: $NOT_SET", "X-A: ", "X-A: a\nb"):
        with pytest.raises(GoodgainError):
            parse_headers([wrong])
    path = tmp_path / "body.json"
    path.write_text('{"top_k": 3}')
    assert parse_extra_body(f"@{path}") == {"top_k": 3} == parse_extra_body('{"top_k": 3}')
    for wrong in ("{", "[1]", "3"):
        with pytest.raises(GoodgainError):
            parse_extra_body(wrong)


@pytest.mark.parametrize("api", ["openai", "anthropic"])
def test_a_raw_prompt_is_sent_byte_for_byte(server: Server, api: str, tmp_path: Path) -> None:
    server.reply = "M: 1\n##final score: 2"
    labels = label(
        [("q", "d", "what is {passage}?", "the {query} text")],
        judge_of(server, api),
        prompt=raw(tmp_path),
    )
    assert labels.to_dict() == {"q": {"d": 2}}
    body = server.bodies[0]
    expected = UMBRELA.replace("{query}", "\0").replace("{passage}", "the {query} text")
    expected = expected.replace("\0", "what is {passage}?")
    assert body["messages"] == [{"role": "user", "content": expected}]
    assert not {"system", "response_format", "output_config"} & body.keys()


def test_a_raw_prompt_may_have_a_system_message(server: Server, tmp_path: Path) -> None:
    server.reply = "##final score: 1"
    text = "--- system\nYou are an assessor.\n--- user\n{{ query }} / {{passage}}"
    label(PAIRS, judge_of(server, "openai"), prompt=raw(tmp_path, text))
    assert server.bodies[0]["messages"] == [
        {"role": "system", "content": "You are an assessor.\n"},
        {"role": "user", "content": "what? / GAIN=3"},
    ]


@pytest.mark.parametrize(
    ("rule", "text", "status", "gain"),
    [
        (RULE, "##final score: 3", "ok", 3),
        (RULE, "##final score: 3. So ##final score:3", "ok", 3),
        (RULE, "##final score: 3 or ##final score: 2", "invalid", None),
        (RULE, "I would say three", "invalid", None),
        (RULE, "", "invalid", None),
        (RULE, "<think>##final score: 1?</think>##final score: 2", "ok", 2),
        (RULE, "<think>##final score: 1", "truncated", None),
        (r"score (\S+)", "score 9", "invalid", None),
        (r"score (\S+)", "score 2.5", "invalid", None),
        (r"score (\S+)", "score nan", "invalid", None),
        (r"score (\S+)", "score 1e999", "invalid", None),
        (r"\d", "2", "ok", 2),
        ("$.O", '{"M": 2, "T": 1, "O": 1}', "ok", 1),
        ("$.O", 'Results: ```json\n{"M": 2, "O": "3"}\n```', "ok", 3),
        ("$.O", '{"O": 1} {"O": 2}', "invalid", None),
        ("$.O", '{"O": true}', "invalid", None),
        ("$.O", '{"M": 1}', "invalid", None),
        ("$.scores[0]['final']", '{"scores": [{"final": 2.0}]}', "ok", 2),
        ("$.scores[3].x", '{"scores": []}', "invalid", None),
    ],
)
def test_a_raw_prompt_reads_replies_by_its_own_rule(
    server: Server, tmp_path: Path, rule: str, text: str, status: str, gain: float | None
) -> None:
    server.reply = text
    (row,) = label(PAIRS, judge_of(server, "openai"), prompt=raw(tmp_path, rule=rule))
    assert (row.status, row.gain) == (status, gain)


def test_a_function_judges_with_a_raw_prompt(tmp_path: Path) -> None:
    assert label(PAIRS, lambda request: 2, prompt=raw(tmp_path)).to_dict() == {"q": {"d": 2}}
    assert label(PAIRS, lambda request: 9, prompt=raw(tmp_path)).statuses == {"invalid": 1}


def test_the_rule_and_the_scale_are_part_of_the_version(tmp_path: Path) -> None:
    prompts = [
        raw(tmp_path), raw(tmp_path, rule=r"score: (\d)"), raw(tmp_path, scale="0..4"),
        raw(tmp_path, UMBRELA + " "),
    ]  # fmt: skip
    assert len({prompt.version for prompt in prompts}) == 4


@pytest.mark.parametrize(
    ("text", "rule", "scale", "problem"),
    [
        ("{query}", RULE, "0..3", "no place for the document"),
        ("{passage}", RULE, "0..3", "no place for the question"),
        (UMBRELA, "", "0..3", "needs a rule"),
        (UMBRELA, "(a)(b)", "0..3", "2 groups"),
        (UMBRELA, "(a", "0..3", "invalid --reply"),
        (UMBRELA, "$.a[", "0..3", "invalid JSON path"),
        (UMBRELA, RULE, "0..2.5", "whole ends"),
    ],
)
def test_what_a_raw_prompt_refuses(
    tmp_path: Path, text: str, rule: str, scale: str, problem: str
) -> None:
    with pytest.raises(GoodgainError, match=problem):
        raw(tmp_path, text, rule, scale)


def test_a_raw_prompt_shows_one_document(tmp_path: Path) -> None:
    with pytest.raises(GoodgainError, match="one document"):
        label(PAIRS, lambda request: 1, prompt=raw(tmp_path), batch=2)


def test_narrative_and_answer_are_shown_where_the_prompt_has_them(server: Server) -> None:
    pair = Pair("q", "d", "what?", "GAIN=4", narrative="only recent ones", answer="forty-two")
    for prompt, shown in (("narrative-0-4", "only recent ones"), ("gold-0-4", "forty-two")):
        label([pair], judge_of(server, "openai"), prompt=prompt)
        assert shown in server.bodies[-1]["messages"][1]["content"]
    label([pair], judge_of(server, "openai"))
    assert "forty-two" not in json.dumps(server.bodies[-1])


def test_narrative_and_answer_are_part_of_the_key_only_if_shown() -> None:
    def calls(store: Store, prompt: str, narrative: str) -> int:
        pair = Pair("q", "d", "what?", "that", narrative=narrative, answer="x")
        summary = label([pair], lambda request: 1, store, prompt=prompt).summary
        assert summary is not None
        return summary.calls

    with Store() as store:
        assert [calls(store, "narrative-0-4", n) for n in ("one", "two", "one")] == [1, 1, 0]
        assert [calls(store, "gain-0-4", n) for n in ("one", "two")] == [1, 0]


def test_a_missing_narrative_is_an_error() -> None:
    with pytest.raises(GoodgainError, match="query 'q' has no narrative"):
        label(PAIRS, lambda request: 1, prompt="narrative-0-4")


def test_batches_do_not_mix_answers(server: Server) -> None:
    pairs = [
        Pair("q", f"d{i}", "what?", f"GAIN={i} text {i}", answer=answer)
        for i, answer in enumerate(["a", "b", "a", "b"])
    ]
    labels = label(pairs, judge_of(server, "openai"), prompt="gold-0-4", batch=4)
    assert labels.to_dict() == {"q": {"d0": 0, "d1": 1, "d2": 2, "d3": 3}}
    assert len(server.bodies) == 2


@pytest.mark.parametrize("form", ["jsonl", "csv", "dict"])
def test_pools_take_narratives_and_answers_from_the_queries(tmp_path: Path, form: str) -> None:
    row = {"_id": "q", "text": "what?", "narrative": "recent", "answer": "42"}
    source: Any = {"q": row}
    if form == "jsonl":
        source = tmp_path / "queries.jsonl"
        source.write_text(json.dumps(row) + "\n")
    elif form == "csv":
        source = tmp_path / "queries.csv"
        source.write_text("_id,text,narrative,answer\nq,what?,recent,42\n")
    (pair,) = pool([{"q": {"d": 1.0}}], queries=source, documents={"d": "that"})
    assert pair == Pair("q", "d", "what?", "that", narrative="recent", answer="42")


def test_placeholders_in_inserted_text_stay(tmp_path: Path) -> None:
    prompt = Prompt.of("gold-0-4")
    text = prompt.user_message("{document}?", ["{answer}"], answer="{question}")
    assert "{document}?" in text and "{answer}" in text and "{question}" in text


def test_the_command_line_sends_a_published_prompt_with_options(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setenv("ROUTE", "blue")
    monkeypatch.chdir(tmp_path)
    Path("umbrela.txt").write_bytes(UMBRELA.encode())
    Path("pairs.jsonl").write_text(
        '{"query_id": "q", "doc_id": "d", "question": "w?", "text": "x"}\n'
    )
    server.reply = "##final score: 3"
    common = ["label", "pairs.jsonl", "--store", "s.db", "--base-url", server.openai_url, "-q"]
    raw_options = ["--template", "umbrela.txt", "--raw", "--reply", RULE, "--grades", "0..3"]
    provider = ["--extra-body", '{"top_p": 0.9}', "--header", "X-Route: $ROUTE", "--model-seed", "5",
                "--reasoning-effort", "low", "--temperature", "none"]  # fmt: skip
    assert run([*common, "--model", "m", *raw_options, *provider]) == 0
    body = server.bodies[0]
    assert body["messages"][0]["content"].startswith("Given a query")
    assert (body["top_p"], body["seed"], body["reasoning_effort"]) == (0.9, 5, "low")
    assert "temperature" not in body and server.headers[0]["x-route"] == "blue"
    capsys.readouterr()
    for wrong, problem in (
        (["--model", "m", "--template", "umbrela.txt"], "--raw"),
        (["--model", "m", "--raw"], "--raw requires --template"),
        (["--model", "m", "--template", "umbrela.txt", "--raw", "--reply", RULE], "scale"),
        (["--model", "m", *raw_options, "--prompt", "gain-0-4"], "exclude"),
        (["--model", "m", "--ensemble", "vote"], "several"),
        (["--model", "m", "--extra-body", "{"], "JSON"),
    ):
        assert run([*common, *wrong]) == 2
        assert problem in capsys.readouterr().err


def test_the_command_line_labels_with_an_ensemble(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pairs.jsonl").write_text(
        '{"query_id": "q", "doc_id": "d", "question": "w?", "text": "GAIN=3"}\n'
    )
    common = ["label", "pairs.jsonl", "--store", "s.db", "--base-url", server.openai_url, "-q"]
    assert run([*common, "--model", "a", "--model", "b", "--ensemble", "mean"]) == 0
    assert {body["model"] for body in server.bodies} == {"a", "b"}
    assert run([*common, "--model", "a", "--model", "b", "--ensemble", "mean", "--dry-run"]) == 0
    capsys.readouterr()
    assert run(["labels", "show", "s.db", "--model", "mean(a, b)", "--format", "csv"]) == 0
    assert capsys.readouterr().out.splitlines()[1].startswith("q,d,3,ok,2,0")


def test_fields_that_the_prompt_does_not_show_are_reported(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    row = {"query_id": "q", "doc_id": "d", "question": "w?", "text": "GAIN=1", "narrative": "n"}
    Path("pairs.jsonl").write_text(json.dumps(row) + "\n")
    args = ["label", "pairs.jsonl", "--store", "s.db", "--base-url", server.openai_url]
    assert run([*args, "--model", "m"]) == 0
    assert "1 pairs have a field 'narrative' that the prompt does not show" in (
        capsys.readouterr().err
    )
