"""The argument parser of every command: argparse with goodgain's errors and hints."""

from __future__ import annotations

import argparse
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, NoReturn

    from goodgain.errors import GoodgainError

# Spellings of other tools and of goodgain 0.1: the option to use instead, where the command has it.
_OTHER_SPELLINGS = {
    **dict.fromkeys(("--measure", "--metric", "--metrics"), "--measures"),
    **dict.fromkeys(("--random-seed", "--random-state", "--rng"), "--seed"),
    **dict.fromkeys(("--out", "--out-file", "--output-file", "--file"), "--output"),
    **dict.fromkeys(("--html", "--page"), "--report"),
    **dict.fromkeys(("--json", "--csv", "--latex", "--markdown"), "--format"),
    **dict.fromkeys(("--control", "--reference"), "--baseline"),
    **dict.fromkeys(("--jobs", "--cores", "--cpus", "--workers"), "--threads"),
    **dict.fromkeys(("--topics", "--questions"), "--queries"),
    **dict.fromkeys(("--docs", "--corpus", "--collection"), "--documents"),
    **dict.fromkeys(("--by-query", "--query-eval-wanted"), "--per-query"),
}


def print_error(error: GoodgainError, command: str) -> None:
    """Print one sentence with its place, and a hint: where there is no better one, the command's help."""
    hint = "" if error.hint else f"\nhint: see: goodgain {command} --help"
    print(f"goodgain: {error}{hint}", file=sys.stderr)


def format_of_suffix(output: str | None, choices: list[str]) -> str | None:
    """The format that the name of an output asks for, compressed or not; None if it names none.

    A format for data that the command does not have is refused: the file would be read by its name.
    """
    if not output or output == "-":
        return None
    from pathlib import Path

    from goodgain.io.naming import format_of

    others = {".md": "markdown", ".tex": "latex", ".xml": "junit"}
    form = format_of(output) or others.get(Path(output).suffix.lower())
    if form in ("csv", "tsv", "json", "jsonl") and form not in choices:
        from goodgain.errors import UsageError

        raise UsageError(
            f"this cannot be written as {form}: '{output}'",
            hint=f"formats: {', '.join(choices)}; name one, or use another suffix",
        )
    return form if form in choices else None


class Parser(argparse.ArgumentParser):
    """Reports errors as all of goodgain does: one sentence, a hint, exit status 2."""

    status = 2

    def error(self, message: str, hint: str = "") -> NoReturn:
        """Print what is wrong and how to put it right, and exit."""
        hint = hint or f"see: {self.prog} --help"
        print(f"goodgain: {message}\nhint: {hint}", file=sys.stderr)
        sys.exit(self.status)

    def parse_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> argparse.Namespace:
        """Parse the arguments; unknown options are reported before missing ones."""
        words = list(sys.argv[1:] if args is None else args)
        for word in words[: words.index("--")] if "--" in words else words:
            option = word.partition("=")[0]
            if word.startswith("--") and option not in self._option_string_actions:
                self._refuse_unknown(option)
        parsed, rest = self.parse_known_args(words, namespace)
        if rest:
            self._refuse_unknown(rest[0])
        if "--format" in self._option_string_actions and parsed.format is None:
            choices = list(self._option_string_actions["--format"].choices or ())
            parsed.format = format_of_suffix(parsed.output, choices) or choices[0]
        return parsed

    def _print_message(self, message: str, file: Any = None) -> None:
        """Unlike argparse, which ignores it, let a help that cannot be written be seen."""
        if message:
            (file or sys.stderr).write(message)

    def _refuse_unknown(self, word: str) -> NoReturn:
        if not word.startswith("-"):
            self.error(f"unexpected argument '{word}'")
        from difflib import get_close_matches

        options = [name for name in self._option_string_actions if name.startswith("--")]
        spelling = word.lower().replace("_", "-")
        near = get_close_matches(spelling, options, n=1, cutoff=0.75)
        if (other := _OTHER_SPELLINGS.get(spelling)) in options:
            hint = f"use {other}"
        else:
            hint = f"did you mean {near[0]}?" if near else ""
        self.error(f"unknown option '{word}'", hint)


class _HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """As wide as the terminal; argparse would import shutil to find that out, for every option."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_terminal_width() - 2)


def _terminal_width() -> int:
    try:
        return int(os.environ["COLUMNS"])
    except (KeyError, ValueError):
        pass
    try:
        return os.get_terminal_size().columns or 80
    except OSError:  # not a terminal
        return 80


def command_parser(
    command: str, description: str, epilog: str = "", kind: type[Parser] = Parser, **options: Any
) -> Parser:
    """The parser of one command; what every command has is added here."""
    parser = kind(
        prog=f"goodgain {command}",
        description=description,
        epilog=epilog,
        formatter_class=_HelpFormatter,
        allow_abbrev=False,
        **options,
    )
    parser.add_argument(
        "--limits", metavar="NAME=VALUE,...",
        help="reject larger inputs: bytes (decompressed), rows, nesting, seconds, memory",
    )  # fmt: skip
    return parser
