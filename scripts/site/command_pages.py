"""A page for every command, from its --help."""

from __future__ import annotations

import argparse
import re
import textwrap
from importlib import import_module
from typing import TYPE_CHECKING

from goodgain.cli import COMMANDS, GROUPS

if TYPE_CHECKING:
    from collections.abc import Iterable


def pages() -> dict[str, str]:
    """Path to text of every page."""
    return {f"reference/commands/{command}.md": command_page(command) for command in COMMANDS}


def parser_of(command: str) -> argparse.ArgumentParser:
    """The parser of a command."""
    return import_module(f"goodgain.cli.{command.replace('-', '_')}").parser()  # type: ignore[no-any-return]


def command_page(command: str) -> str:
    """Description, usage, arguments and options, and examples."""
    parser = parser_of(command)
    usage = wrapped(parser.format_usage().removeprefix("usage: "))
    lines = [f"# goodgain {command}", "", escape(parser.description or COMMANDS[command]), ""]
    lines += ["```text", usage, "```", ""]
    for group in parser._action_groups:
        rows = [row(action) for action in group._group_actions if action.help != argparse.SUPPRESS]
        if rows:
            title = (group.title or "options").capitalize()
            text = [escape(group.description), ""] if group.description else []
            lines += [
                f"## {title}",
                "",
                *text,
                "| argument | meaning |",
                "| --- | --- |",
                *rows,
                "",
            ]
    for line in epilog(parser):
        lines.append(line)
    return "\n".join(lines)


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
    cells = (", ".join(names) or f"`{value}`").replace("|", r"\|"), escape(text) + one_of
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


def epilog(parser: argparse.ArgumentParser) -> Iterable[str]:
    """What --help says at its end: examples, and tables as they are."""
    if parser.epilog:
        yield from ("## Examples and notes", "", "```text", parser.epilog.strip("\n"), "```", "")


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
        first = escape(parser_of(command).description or COMMANDS[command])
        lines += [
            f"## goodgain {command}",
            "",
            first,
            "",
            f"[All options](reference/commands/{command}.md)",
            "",
        ]
    return "\n".join(lines)
