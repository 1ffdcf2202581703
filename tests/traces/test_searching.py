"""What is a search: names, descriptions, arguments and outputs as evidence, and the user's own rules."""

import re

import pytest
from tool_names import CALLS, OPENS, OTHERS, SEARCHES

from goodgain.errors import InputError
from goodgain.traces.results import find_results
from goodgain.traces.searching import Call, SearchRules, split_name

RULES = SearchRules.load()


def account(tool, **evidence):
    return RULES.classify(Call(tool=tool, **evidence)).account


def test_the_tables_are_large_enough():
    names = [*SEARCHES, *OPENS, *OTHERS]
    assert len(names) >= 120
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("tool", SEARCHES)
def test_searches_by_name(tool):
    assert account(tool) == "search"
    assert account(tool, arguments={"query": "where does the Seine rise"}) == "search"


@pytest.mark.parametrize("tool", OPENS)
def test_opens_by_name(tool):
    assert account(tool) == "open"
    assert account(tool, arguments={"url": "https://a.example/1"}) == "open"


@pytest.mark.parametrize("tool", OTHERS)
def test_other_tools_by_name(tool):
    assert account(tool) == "not a search"


@pytest.mark.parametrize(("tool", "description", "arguments", "output", "expected"), CALLS)
def test_calls(tool, description, arguments, output, expected):
    call = Call(tool=tool, description=description, arguments=arguments)
    assert RULES.classify(call, find_results(output) if output else None).account == expected


@pytest.mark.parametrize("tool", [*SEARCHES, *OPENS, *OTHERS])
def test_every_verdict_names_its_rule(tool):
    rule = RULES.classify(Call(tool=tool)).rule
    assert re.match(r"name has '[^']+': \w|neither its name", rule)
    assert tool not in rule.split(": ", 1)[-1].split()  # rules are counted, so they name no tool


@pytest.mark.parametrize(
    ("tool", "words", "server"),
    [
        ("webSearch", {"web", "search"}, set()),
        ("WebSearchTool", {"web", "search", "tool"}, set()),
        ("web-search", {"web", "search"}, set()),
        ("mcp__brave-search__brave_web_search", {"brave", "web", "search"}, {"brave", "search"}),
        ("github.search_code", {"search", "code"}, {"github"}),
        ("functions.web_search", {"web", "search"}, set()),
        ("search_documents", {"search", "document"}, set()),
        ("HTTPFetch", {"http", "fetch"}, set()),
        ("", set(), set()),
    ],
)
def test_words_of_a_name(tool, words, server):
    name = split_name(tool)
    assert name.words == words
    assert name.server == server


def test_what_the_source_says_comes_before_the_name():
    verdict = RULES.classify(Call(tool="calculator", kind="retriever"))
    assert (verdict.account, verdict.rule) == ("search", "the source says that it is a retriever")


def test_the_users_lists_come_first():
    rules = SearchRules.load(search_tools=["Calculator"], not_search_tools=["web_*"])
    assert rules.classify(Call(tool="calculator")).account == "search"
    assert rules.classify(Call(tool="mcp__x__calculator")).account == "search"
    verdict = rules.classify(Call(tool="web_search", kind="hosted search"))
    assert (verdict.account, verdict.rule) == (
        "not a search",
        "the tool is listed by the user as 'web_*'",
    )
    others = rules.classify(Call(tool="wikipedia"))
    assert others.account == "not a search"
    assert "not among" in others.rule
    assert rules.classify(Call(tool="visit")).account == "open"


def test_not_a_search_alone_leaves_the_others():
    rules = SearchRules.load(not_search_tools=["wikipedia"])
    assert rules.classify(Call(tool="wikipedia")).account == "not a search"
    assert rules.classify(Call(tool="arxiv")).account == "search"


def test_rules_of_a_file(tmp_path):
    path = tmp_path / "rules.toml"
    path.write_text(
        'open_tools = ["peek"]\n'
        '[[rule]]\naccount = "not a search"\nname = ["wikipedia"]\nbecause = "it is a cache"\n'
        '[[rule]]\naccount = "search"\nname = "ask+oracle"\nwhen = ["query"]\n'
    )
    rules = SearchRules.load(path)
    assert rules.classify(Call(tool="peek")).account == "open"
    assert rules.classify(Call(tool="wikipedia")).rule == "name has 'wikipedia': it is a cache"
    assert rules.classify(Call(tool="ask_the_oracle", arguments={"q": "x"})).account == "search"
    assert rules.classify(Call(tool="ask_the_oracle", arguments={"n": 3})).account != "search"
    assert rules.classify(Call(tool="arxiv")).account == "search"  # the built-in rules follow


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rule = 3", "must be a list of tables"),
        ("rules = []", "unknown key 'rules'"),
        ('[[rule]]\naccount = "searching"', "invalid account 'searching'"),
        ('[[rule]]\naccount = "search"\nnames = []', "unknown key 'names'"),
        ('[[rule]]\naccount = "search"\nwhen = ["often"]', "unknown evidence 'often'"),
        ('[[rule]]\naccount = "search"\nname = [3]', "'name' must be a list of texts"),
        ("search_tools = 3", "'search_tools' must be a list of texts"),
        ("[[", "invalid TOML"),
    ],
)
def test_bad_rules_are_errors_with_their_place(tmp_path, text, message):
    path = tmp_path / "rules.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=re.escape(message)) as error:
        SearchRules.load(path)
    assert str(path) in error.value.where


def test_a_missing_file_is_an_error(tmp_path):
    with pytest.raises(InputError, match="file not found"):
        SearchRules.load(tmp_path / "none.toml")


@pytest.mark.parametrize(
    "arguments",
    [
        None, {}, [], "", 3, "x" * 10_000, {"a": {"b": {"c": []}}}, [[]], {"query": None},
        {"query": {"a": 1}}, "{'a': 1", "[1, 2]",
    ],
)  # fmt: skip
def test_any_arguments_are_evidence(arguments):
    assert account("web_search", arguments=arguments) == "search"
    assert account("hunt", arguments=arguments) == "not a search"
