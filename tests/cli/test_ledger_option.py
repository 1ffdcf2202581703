"""The ledger, the rules of what is a search, and prices on the command line."""
# ruff: noqa: E501

import json

import pytest

import goodgain as gg
from goodgain.cli import run
from goodgain.errors import InputError
from goodgain.traces.usage import Prices, read_usage

RESULTS = json.dumps([{"url": "https://x.org/1", "title": "One"}, {"url": "https://x.org/1"}])


def call(name, tool, query):
    arguments = json.dumps({"query": query})
    return {"id": name, "type": "function", "function": {"name": tool, "arguments": arguments}}


def chat(second="web_search", output=RESULTS, **facts):
    usage = {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100}
    asks = {"role": "assistant", "content": None, "usage": usage, "model": "gpt-4o-2024-08-06"}
    return {"id": "c", "messages": [
        {"role": "user", "content": "?"},
        {**asks, "tool_calls": [call("c1", "web_search", "a"), call("c2", second, "b")]},
        {"role": "tool", "tool_call_id": "c1", "content": RESULTS},
        {"role": "tool", "tool_call_id": "c2", "content": output},
        {"role": "assistant", "content": "Done."},
    ], **facts}  # fmt: skip


@pytest.fixture
def write(tmp_path):
    def write(content, name="chat.json"):
        path = tmp_path / name
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return str(path)

    return write


def test_one_line_when_all_is_well(write, capsys):
    path = write(chat("calculator", "42"))
    assert run(["trace", path, "--no-plot"]) == 0
    lines = [x for x in capsys.readouterr().err.splitlines() if not x.startswith("warning: ")]
    assert lines == [f"{path}: 1 conversation, 1 search, 2 results; not searches: calculator 1"]
    assert run(["trace", path, "--no-plot", "--quiet"]) == 0
    assert capsys.readouterr().err == ""


def test_a_table_when_something_is_unread(write, capsys):
    path = write(chat(output="The Seine is a river that flows through Paris."))
    assert run(["trace", path, "--no-plot"]) == 0
    error = capsys.readouterr().err
    assert f"{path}: 1 conversation, 2 searches (1 with results, 1 unread), 2 results" in error
    assert "1 of 2 searches are unread: figures are bounds" in error
    assert "messages[3]" in error


@pytest.mark.parametrize("canonical", [False, True])
def test_items_in_a_file(canonical, write, tmp_path):
    path = write(chat())
    if canonical:
        assert run(["convert", path, str(tmp_path / "c.jsonl"), "--quiet"]) == 0
        path = str(tmp_path / "c.jsonl")
    target = tmp_path / "items.jsonl"
    assert run(["trace", path, "--quiet", "--ledger", str(target)]) == 0
    items = [json.loads(line) for line in target.read_text().splitlines()]
    ledger = gg.good_gain(path).ledger
    assert {i["file"] for i in items} == {path}
    for kind, number in ledger.met.items():
        assert sum(i.get("number", 1) for i in items if i["kind"] == kind) == number
    assert ledger.searches == 2 and ledger.is_exact
    assert (ledger.count("result", "result"), ledger.count("result", "duplicate")) == (1, 3)


@pytest.mark.parametrize("command", ["convert", "dedup"])
def test_items_of_other_commands(command, write, tmp_path):
    target = tmp_path / "items.jsonl"
    more = [str(tmp_path / "out.jsonl")] if command == "convert" else []
    assert run([command, write(chat()), *more, "--quiet", "--ledger", str(target)]) == 0
    items = [json.loads(line) for line in target.read_text().splitlines()]
    assert sum(i["kind"] == "call" for i in items) == 2


def test_counts_of_canonical_lines_come_from_all_turns(write):
    def turn(*searches):
        return {"iterations": [{"searches": list(searches), "opens": [{"url": "https://x.org/1"}]}]}

    searches = [
        {"query": "a", "results": [{"id": "1"}, {"id": "2"}]},
        {"query": "b", "results": []},
        {"query": "c", "results": [], "error": "timeout"},
        {"query": "d", "results": [], "unread": "text"},
    ]
    traces = [
        {"conversation": "1", "turns": [turn(*searches), turn(searches[0])]},
        {"conversation": "2", "turns": [turn(searches[1])]},
        {"conversation": "3", "turns": []},
    ]
    path = write("".join(json.dumps(t) + "\n" for t in traces), "t.jsonl")
    from_core = gg.good_gain(path).ledger
    reader = gg.read_traces(path)
    assert len(list(reader)) == 3
    assert from_core.met == reader.ledger.met == {"conversation": 3, "call": 9, "result": 4}
    assert from_core.counts["call", "unread"] == reader.ledger.counts["call", "unread"] == 1
    assert +from_core.counts == +reader.ledger.counts
    assert from_core.differences() == {} and not from_core.is_exact


def test_the_ledger_is_saved(write, tmp_path):
    result = gg.good_gain(write(chat()))
    result.save(tmp_path / "r.json")
    loaded = gg.load(tmp_path / "r.json")
    assert loaded.ledger.to_dict() == result.ledger.to_dict()
    assert list(loaded.ledgers) == list(result.ledgers)


def test_tools_that_are_not_searches(write):
    path = write(chat("search_files"))
    assert gg.good_gain(path).ledger.searches == 2
    ledger = gg.good_gain(path, not_search_tools=["search_files"]).ledger
    assert ledger.searches == 1
    assert ledger.tools["search_files", "not a search"] == 1


def test_rules_in_a_file(write, tmp_path):
    rules = tmp_path / "rules.toml"
    rules.write_text('[[rule]]\naccount = "search"\nname = ["=calculator"]\nbecause = "ours"\n')
    path = write(chat("calculator", RESULTS))
    assert gg.good_gain(path, search_rules=rules).ledger.searches == 2
    assert run(["trace", path, "--quiet", "--search-rules", str(rules)]) == 0


# --- prices ---


def test_costs_from_prices(write, tmp_path, capsys):
    path = write(chat())
    (trace,) = gg.read_traces(path)
    assert trace.turns[0].iterations[0].tokens == 1100
    assert trace.turns[0].iterations[0].cost == pytest.approx((1000 * 2.5 + 100 * 10) / 1e6)
    table = tmp_path / "prices.toml"
    table.write_text('date = "2026-11"\n[models]\n"gpt-4o" = { input = 1, output = 2 }\n')
    reader = gg.read_traces(path, prices=table)
    (trace,) = reader
    assert trace.turns[0].iterations[0].cost == pytest.approx((1000 * 1 + 100 * 2) / 1e6)
    assert reader.notes == [f"{path}: costs are computed from {table} of 2026-11"]
    assert run(["trace", path, "--prices", str(table), "--no-plot"]) == 0
    assert f"costs are computed from {table}" in capsys.readouterr().err


def test_a_model_without_a_price_has_no_cost(write):
    content = chat()
    content["messages"][1]["model"] = "our-model"
    reader = gg.read_traces(write(content))
    (trace,) = reader
    assert trace.turns[0].iterations[0].cost is None
    assert "no price of model 'our-model' is known" in reader.notes[0]


@pytest.mark.parametrize(
    "text",
    ["[models", "[other]", '[models]\n"m" = { input = 1 }', '[models]\n"m" = { input = -1, output = 1 }',
     '[models]\n"m" = { input = 1, output = 1, extra = 2 }', '[models]\n"m" = 3'],
)  # fmt: skip
def test_bad_tables_of_prices(text, write):
    with pytest.raises(InputError) as error:
        Prices.load(write(text, "p.toml"))
    assert error.value.where.endswith("p.toml")


def test_missing_table_of_prices(tmp_path):
    with pytest.raises(InputError, match="file not found"):
        Prices.load(tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("usage", "tokens", "cached", "cost"),
    [
        ({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}, 15, 0, None),
        ({"prompt_tokens": 10, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 4}}, 15, 4, None),
        ({"input_tokens": 10, "output_tokens": 5, "input_tokens_details": {"cached_tokens": 4}, "total_tokens": 15}, 15, 4, None),
        ({"input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 20}, 135, 100, None),
        ({"promptTokenCount": 10, "candidatesTokenCount": 5, "thoughtsTokenCount": 7, "totalTokenCount": 22}, 22, 0, None),
        ({"promptTokenCount": 10, "candidatesTokenCount": 5, "thoughtsTokenCount": 7}, 22, 0, None),
        ({"inputTokens": 10, "outputTokens": 5, "totalTokens": 15}, 15, 0, None),
        ({"input": 10, "output": 5, "total": 15, "totalCost": 0.5}, 15, 0, 0.5),
        ({"prompt_tokens": 10, "completion_tokens": 5, "cost": {"total_cost": 0.25}}, 15, 0, 0.25),
        ({"input_tokens": 10, "output_tokens": 5, "input_token_details": {"cache_read": 3}}, 15, 3, None),
        ({"prompt_cost": 1, "completion_cost": 2}, None, 0, 3),
        ({"prompt_tokens": -1, "total_tokens": "many"}, None, 0, None),
        ({}, None, 0, None),
        ("text", None, 0, None),
    ],
)  # fmt: skip
def test_usage_of_providers(usage, tokens, cached, cost):
    read = read_usage(usage)
    assert (read.tokens, read.cached, read.cost) == (tokens, cached, cost)
