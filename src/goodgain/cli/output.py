"""How a command writes its result, and what it says about it."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any


def command_line(args: argparse.Namespace) -> str:
    """The command as it was typed, for the provenance of reports."""
    from shlex import join

    from goodgain.redaction import redacted

    return join(["goodgain", *redacted(args.arguments)])


def side_files(
    args: argparse.Namespace, result: Any, *others: Any, **options: Any
) -> dict[str, str]:
    """The contents of the files that --save and --report name.

    `others` are results that the report shows as well.
    """
    files = {args.save: result.to_json()} if getattr(args, "save", None) else {}
    if args.report:
        from goodgain.reports import report_text

        texts = {name: getattr(args, name, None) for name in ("queries", "documents")}
        options = {**texts, "command": command_line(args), **options}
        files[args.report] = report_text(result, *others, **options)
    return files


def write(
    args: argparse.Namespace,
    text: str | Iterable[bytes],
    side_files: Mapping[str, str] | None = None,
) -> None:
    """Write to --output or to standard output, and `side_files` with it: all files or none.

    A long text comes as pieces of bytes.
    """
    to_file = args.output and args.output != "-"
    files = {**({args.output: text} if to_file else {}), **(side_files or {})}
    if files:
        from goodgain.io.atomic import encoded, write_files

        if to_file and isinstance(text, str):
            _refuse_binary(args.output)
        write_files({path: encoded(content) for path, content in files.items()})
    if to_file:
        return
    out = sys.stdout
    if hasattr(out, "reconfigure"):  # ids that are not UTF-8 leave as they came
        out.reconfigure(errors="surrogateescape")
    for piece in (text,) if isinstance(text, str) else text:
        out.write(piece if isinstance(piece, str) else piece.decode("utf-8", "surrogateescape"))
    out.flush()


def _refuse_binary(path: str) -> None:
    """Refuse to write text under the name of a format that is none."""
    from goodgain.errors import UsageError
    from goodgain.io.naming import format_of

    if (form := format_of(path)) in ("parquet", "arrow", "orc"):
        raise UsageError(
            f"cannot write this result as {form}: '{path}'",
            hint="use .csv, .jsonl or another format of --format",
        )


def warn(args: argparse.Namespace, messages: Iterable[Any] | Callable[[], Iterable[Any]]) -> None:
    """Print warnings to standard error, unless --quiet; those that take work are looked for only then."""
    if not args.quiet:
        for message in messages() if callable(messages) else messages:
            print(f"warning: {message}", file=sys.stderr)


def skip_warnings(skipped: int) -> list[str]:
    """What --skip-bad left out of traces, if anything."""
    return [f"skipped {skipped:,} malformed conversations"] if skipped else []
