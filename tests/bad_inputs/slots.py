"""Every place of a command line that names a file to read, taken from the parsers of all commands.

A new command, or a new option, is covered at once if it uses names that are known here; if not,
`test_every_argument_is_classified` asks for them.
"""

from __future__ import annotations

from argparse import SUPPRESS
from importlib import import_module
from typing import NamedTuple

from goodgain.cli import COMMANDS, OUTPUTS


class Slot(NamedTuple):
    """A place for a file in a command line."""

    command: str
    dest: str
    option: str  # empty for a positional argument
    many: bool  # it takes several files
    kind: str  # the kind of its content

    @property
    def name(self) -> str:
        """The slot as `command --option` or `command ARGUMENT`."""
        return f"{self.command} {self.option or self.dest.upper()}"


# What an argument holds, by its metavar, or by its destination where the metavar is only FILE.
KINDS = {
    "QRELS": "qrels",
    "RUN": "run",
    "TRACES": "traces",
    "SAVED": "saved",
    "STORE": "store",
    "HUMAN": "qrels",
    "LABELS": "labels",
    "TABLE": "published",
    "BASELINE CANDIDATE": "run",
    "QRELS RUN": "run",
    "PATH": "saved",
    "IN": "run",
    "SOURCE": "traces",
    "FILE.toml|FOLDER": "experiment",
    "[init|lint|history] FILE": "golden",
    ("OLD", "NEW"): "run",
}
FILE_KINDS = {
    "answers": "answers",
    "baseline": "approved",
    "documents": "documents",
    "earlier_passport": "passport",
    "extra_body": "json",
    "files": "files",
    "gsb": "gsb",
    "guidelines": "text",
    "human": "qrels",
    "identity": "identity",
    "labels": "gains",
    "log": "log",
    "pairs": "pairs",
    "prices": "prices",
    "prompt": "prompt",
    "qrels": "qrels",
    "queries": "queries",
    "scores": "scores",
    "search_rules": "rules",
    "store": "store",
    "target": "run",
    "template": "template",
    "traces": "traces",
    "zscores": "zscores",
}
FILES = ("FILE", "FILE.toml", "NAME|FILE", "JSON|@FILE", "TARGET")
# Files and folders that are written, not read.
WRITTEN = {*OUTPUTS, "ledger", "labelled_traces", "history", "passport", "folder", "cache"}
# What else is typed after an option, and is not a file.
NOT_FILES = {
    "MEASURES", "MEASURE", "NAME", "NAME=VALUE", "ROLE=NAME,...", "URL", "KEY=VALUE", "ID", "PRESET",
    "COLUMN", "FORMAT", "[MEASURE=]M", "last|all|N", "TEXT", "REASON", "MEASURE=V", "TAG", "P=T", "WHO",
    "RULE", "SERVER", "WHEN", "T", "LOW..HIGH", "LEVEL", "NAME:VALUE", "IN/OUT", "STATUS,...",
    "LABEL=GAIN,...", "KEY,...", "HOST", "SAMPLE|NAME", "[pN=]TIME", "[pN=]AMOUNT", "W,W,...", "KIND",
    "FOLDER", "DIR", "OUT", "N[.QUERY]", "NAME=VALUE,...",
}  # fmt: skip
# Names of tables in a database, and the labels of --prompt in a store, are no files.
NO_FILES_HERE = {("sql", "qrels"), ("sql", "run"), ("labels", "prompt"), ("calibrate", "prompt")}


def text_arguments(command: str) -> list:
    """The arguments of a command that take a free text."""
    parser = import_module(f"goodgain.cli.{command.replace('-', '_')}").parser()
    return [
        action
        for action in parser._actions
        if action.nargs != 0
        and action.type is None
        and not action.choices
        and action.help != SUPPRESS
    ]


def kind_of(command: str, action) -> str | None:
    """The kind of file that an argument names; None for no file, KeyError if nobody has said."""
    metavar = action.metavar
    if action.dest in WRITTEN and metavar in ("FILE", "FOLDER", "DIR", "OUT"):
        return None
    if (command, action.dest) in NO_FILES_HERE or metavar in NOT_FILES:
        return None
    return FILE_KINDS[action.dest] if metavar in FILES else KINDS[metavar]


def all_slots() -> list[Slot]:
    """Every slot of every command."""
    slots = []
    for command in COMMANDS:
        for action in text_arguments(command):
            kind = kind_of(command, action)
            if kind:
                option = max(action.option_strings, key=len, default="")
                many = action.nargs in ("+", "*", 2)
                slots.append(Slot(command, action.dest, option, many, kind))
    return slots
