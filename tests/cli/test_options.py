"""One habit: an option means the same, and reads the same, in every command that has it."""

from __future__ import annotations

import re
from collections import defaultdict
from importlib import import_module

import pytest

from goodgain.cli import COMMANDS, GROUPS, help_text, run

# The flags of trec-eval are those of trec_eval, whatever they are called elsewhere.
OURS = [command for command in COMMANDS if command != "trec-eval"]

# Options that several commands have with different objects, and what those are.
DIFFERENT_OBJECTS = {
    "--by": "a column that groups queries; what groups conversations",
    "--system": "a column of score tables; a system to draw; what to call a recorded system",
    "-o": "a file to write; a file to append to",
    "--output": "a file to write; a file to append to",
    "--port": "of the page; of the proxy",
    "--sample": "queries to recompute; share of conversations to record; a sample to judge",
    "--conversation": "one to compare; what to call a recorded one",
    "--query": "a column of score tables; a query to explain",
    "--model": "the judge to call; the labels to use",
    "--prompt": "the prompt to send; the labels to use",
    "--max-latency": "percentiles of a check, also relative; the budget of one setting",
    "--price": "of tokens; the measure on an axis",
    "--budget": "of labelling; the measure on an axis",
    "--qrels": "pairs that need no label; judgments of an experiment; judgments to start from",
    "--baseline": "a system to compare with; a file of approved results",
}


def options(command):
    """The optional arguments of a command."""
    parser = import_module(f"goodgain.cli.{command.replace('-', '_')}").parser()
    return [action for action in parser._actions if action.option_strings]


def without_default(text):
    """The help without the default, which commands may choose."""
    return re.sub(r" ?\(default: [^()]*\)$", "", text)


def uses(key):
    """{key of an option: {how it is declared: [commands]}}."""
    table = defaultdict(lambda: defaultdict(list))
    for command in OURS:
        for action in options(command):
            declared = (
                tuple(action.option_strings),
                action.metavar,
                without_default(action.help),
                action.type,
            )
            for name in key(action):
                table[name][declared].append(command)
    return table


def test_a_flag_has_one_declaration():
    several = {
        name: dict(how) for name, how in uses(lambda a: a.option_strings).items() if len(how) > 1
    }
    assert set(several) == set(DIFFERENT_OBJECTS), several


def test_a_meaning_has_one_flag():
    several = {
        name: dict(how)
        for name, how in uses(lambda a: [a.dest]).items()
        if len({flags for flags, *_ in how}) > 1
    }
    assert several == {}


@pytest.mark.parametrize("command", OURS)
def test_every_option_has_a_help(command):
    for action in options(command):
        assert without_default(action.help).strip(), action.option_strings
        assert not re.search(r"[^.]\.$", action.help), action.help
        if action.default not in (None, False, [], "", "==SUPPRESS==", 0):
            assert "(default: " in action.help or action.dest == "preset", action.option_strings


@pytest.mark.parametrize("option", ["-m", "--seed", "-o", "--save", "--report", "--queries"])
def test_shared_options_are_shared(option):
    having = [c for c in OURS if any(option in a.option_strings for a in options(c))]
    assert len(having) > 2


# --- the list of commands ---


def test_commands_are_grouped_by_purpose():
    assert list(GROUPS) == [
        "measure",
        "compare",
        "agents",
        "labels",
        "experiments",
        "look",
        "tools",
    ]
    lines = help_text().splitlines()
    for group, commands in GROUPS.items():
        start = lines.index(f"{group}:") + 1
        listed = [line.split()[0] for line in lines[start : start + len(commands)]]
        assert listed == list(commands)
    assert all(len(line) <= 80 for line in lines)


# --- spellings that are no option ---


def refusal(capsys, *arguments):
    with pytest.raises(SystemExit) as exit_:
        run(list(arguments))
    out, err = capsys.readouterr()
    assert (exit_.value.code, out) == (2, "")
    return err


@pytest.mark.parametrize(
    ("arguments", "option", "hint"),
    [
        ("compare qrels a b --random-seed 3", "--random-seed", "use --seed"),
        ("fuse a b --random-seed=3", "--random-seed", "use --seed"),
        ("evaluate qrels run --metric nDCG", "--metric", "use --measures"),
        ("evaluate qrels run --metrics nDCG", "--metrics", "use --measures"),
        ("explain qrels run --measure nDCG", "--measure", "use --measures"),
        ("plot gain saved.json --measure CG -o x.svg", "--measure", "use --measures"),
        ("evaluate qrels run --out x", "--out", "use --output"),
        ("evaluate qrels run --json", "--json", "use --format"),
        ("evaluate qrels run --per_query", "--per_query", "did you mean --per-query?"),
        ("evaluate qrels run --treads 2", "--treads", "did you mean --threads?"),
        ("trace t.jsonl --metric CG", "--metric", "see: goodgain trace --help"),
        ("evaluate qrels run --nonsense", "--nonsense", "see: goodgain evaluate --help"),
        ("evaluate qrels run -x", "-x", "see: goodgain evaluate --help"),
    ],
)
def test_other_spellings_get_a_hint(arguments, option, hint, capsys):
    err = refusal(capsys, *arguments.split())
    assert err == f"goodgain: unknown option '{option}'\nhint: {hint}\n"


def test_an_argument_too_many(capsys):
    err = refusal(capsys, "measures", "nDCG", "AP")
    assert err == "goodgain: unexpected argument 'AP'\nhint: see: goodgain measures --help\n"


def test_what_follows_two_dashes_is_no_option(capsys):
    assert run(["evaluate", "--", "none.txt", "--out"]) == 2
    assert "unknown option" not in capsys.readouterr().err


def test_hints_name_options_that_exist():
    from goodgain.cli.parser import _OTHER_SPELLINGS

    known = {
        name for command in OURS for action in options(command) for name in action.option_strings
    }
    assert set(_OTHER_SPELLINGS.values()) <= known
    assert not set(_OTHER_SPELLINGS) & known
