"""Converts traces of any format to canonical JSON lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodgain.errors import InputError, core_errors

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator


def convert_traces(
    source: str,
    target: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 - the command line's word
    search_tools: tuple[str, ...] = (),
    merge_adjacent: bool = False,
    skip_bad: bool = False,
) -> tuple[int, int, list[str]]:
    """Write the canonical form atomically; returns conversations written, skipped, and notes.

    `target` is compressed if its suffix says so; `-` is standard output.
    """
    import os
    import sys

    from goodgain._core import check_trace
    from goodgain.io.atomic import write_files
    from goodgain.io.compression import compress
    from goodgain.traces.files import open_traces

    opened = open_traces(
        source, format, search_tools, merge_adjacent=merge_adjacent, skip_bad=skip_bad
    )
    written = skipped = 0

    def lines() -> Iterator[bytes]:
        nonlocal written, skipped
        for number, line in enumerate(opened.lines(), 1):
            try:
                with core_errors():
                    check_trace(line, 1e300)
            except InputError as error:
                if not skip_bad:
                    where = f"{opened.name} conversation {number}"
                    raise InputError(error.message, where=where, hint=error.hint) from None
                skipped += 1
                continue
            written += 1
            yield line + b"\n"

    name = os.fspath(target)
    if name == "-":
        sys.stdout.buffer.write(b"".join(lines()))
    else:
        write_files({name: compress(name, lines())})
    return written, skipped + opened.skipped, opened.notes
