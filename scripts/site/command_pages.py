"""A page for every command, from its --help."""

from __future__ import annotations

import argparse
import re
import textwrap
from importlib import import_module
from pathlib import Path

from goodgain.cli import COMMANDS, GROUPS

ROOT = Path(__file__).resolve().parent.parent.parent
OPTION = re.compile(r"(?<![\w`-])--?[a-z][a-z-]*(?![\w`-])")
# The guide that explains each command.
GUIDES = {
    "evaluate": "guide",
    "explain": "differences",
    "compare": "comparison",
    "gate": "comparison",
    "check": "check",
    "trace": "agentic",
    "live": "live",
    "dedup": "identity",
    "label": "labels",
    "labels": "labels",
    "judge": "judge",
    "calibrate": "labels",
    "experiment": "experiment",
    "optimise": "optimise",
    "fuse": "fusion",
    "demo": "gallery",
    "report": "report",
    "view": "report",
    "plot": "plots",
    "measures": "measures",
    "convert": "guide",
    "trec-eval": "migrate",
    "sql": "sql",
    "doctor": "guide",
    "selftest": "proofs",
    "audit": "proofs",
}


def pages() -> dict[str, str]:
    """Path to text of every page."""
    return {f"reference/commands/{command}.md": command_page(command) for command in COMMANDS}


def parser_of(command: str) -> argparse.ArgumentParser:
    """The parser of a command."""
    return import_module(f"goodgain.cli.{command.replace('-', '_')}").parser()  # type: ignore[no-any-return]


def command_page(command: str) -> str:
    """Description, examples, usage, arguments and options, and notes."""
    parser = parser_of(command)
    usage = wrapped(parser.format_usage().removeprefix("usage: "))
    examples, notes = epilog(parser)
    guide = f"Guide: [{title_of(GUIDES[command])}](../../{GUIDES[command]}.md)."
    lines = [f"# goodgain {command}", "", prose(parser.description or COMMANDS[command]), ""]
    lines += [guide, "", *block("Examples", examples), *block("Usage", usage)]
    for group in parser._action_groups:
        rows = [row(action) for action in group._group_actions if action.help != argparse.SUPPRESS]
        if rows:
            title = (group.title or "options").capitalize()
            text = [prose(group.description), ""] if group.description else []
            lines += [
                f"## {title}",
                "",
                *text,
                "| argument | meaning |",
                "| --- | --- |",
                *rows,
                "",
            ]
    return "\n".join([*lines, *block("Notes", notes)])


def title_of(guide: str) -> str:
    """The heading of a page of docs/."""
    text = (ROOT / "docs" / f"{guide}.md").read_text(encoding="utf-8")
    return text.partition("\n")[0].removeprefix("# ")


def block(title: str, text: str) -> list[str]:
    """A section of text as it is; nothing if there is none."""
    return [f"## {title}", "", "```text", text, "```", ""] if text else []


def wrapped(usage: str, width: int = 72) -> str:
    """The line of usage in lines that fit on a page; an option and its value stay on one."""
    depth, flat = 0, ""
    for character in " ".join(usage.split()):
        depth += (character in "[{(") - (character in "]})")
        flat += "\0" if character == " " and depth else character
    lines = textwrap.wrap(
        flat, width, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
    )
    return "\n".join(lines).replace("\0", " ")


def row(action: argparse.Action) -> str:
    """A row of the table: how the argument is written, and what it means."""
    value = "" if action.nargs == 0 else metavar(action)
    names = [f"`{name}{f' {value}' if value else ''}`" for name in action.option_strings]
    text = (action.help or "") % {**vars(action), "prog": "goodgain"} if action.help else ""
    choices = [f"`{c}`" for c in action.choices or ()]
    one_of = f"; one of {', '.join(choices)}" if choices and action.metavar else ""
    cells = (", ".join(names) or f"`{value}`").replace("|", r"\|"), prose(text) + one_of
    return f"| {cells[0]} | {cells[1]} |"


def metavar(action: argparse.Action) -> str:
    """How the value of an argument is written."""
    if isinstance(action.metavar, tuple):
        return " ".join(action.metavar)
    if action.metavar:
        return action.metavar
    if action.choices:
        return "{" + ",".join(map(str, action.choices)) + "}"
    return action.dest.upper()


def epilog(parser: argparse.ArgumentParser) -> tuple[str, str]:
    """The examples at the end of --help, and what else is there: lists of tests, methods, formats."""
    parts: dict[bool, list[str]] = {True: [], False: []}
    is_example = False
    for line in (parser.epilog or "").strip("\n").split("\n"):
        if line and not line.startswith(" "):
            is_example = line.startswith("example")
        if line != "examples:":
            parts[is_example].append(line)
    examples, notes = (textwrap.dedent("\n".join(parts[key])).strip("\n") for key in (True, False))
    return examples, notes


def prose(text: str) -> str:
    """Plain text as Markdown, with options as code."""
    return OPTION.sub(lambda match: f"`{match[0]}`", escape(text))


def escape(text: str) -> str:
    """Plain text as Markdown, on one line."""
    flat = " ".join(text.split())
    return re.sub(r"([|<>*_\\\[\]{}])", r"\\\1", flat)


def index() -> str:
    """docs/commands.md for the site: every heading stays, with a sentence and a link to its page."""
    lines = ["# Commands", "", "`goodgain COMMAND --help` prints the same.", ""]
    for group, commands in GROUPS.items():
        lines += [f"**{group.capitalize()}**", ""]
        lines += [f"- [`goodgain {c}`](#goodgain-{c}): {text}" for c, text in commands.items()]
        lines.append("")
    for command in COMMANDS:
        first = prose(parser_of(command).description or COMMANDS[command])
        lines += [
            f"## goodgain {command}",
            "",
            first,
            "",
            f"[All options](reference/commands/{command}.md)",
            "",
        ]
    return "\n".join(lines)
