"""Converts traces of any format to canonical JSON lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError, core_errors

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

    from goodgain.traces.ledger import Ledger


@dataclass(frozen=True, slots=True, kw_only=True)
class Converted:
    """What was written, what was left out, and what became of every item."""

    written: int
    skipped: int
    notes: list[str]
    ledger: Ledger


def convert_traces(
    source: str, target: str | os.PathLike[str], *, skip_bad: bool = False, **reading: Any
) -> Converted:
    """Write the canonical form atomically; `reading` are the options of `open_traces`.

    `target` is compressed if its suffix says so; `-` is standard output.
    """
    import os
    import sys

    from goodgain._core import check_trace
    from goodgain.io.atomic import write_files
    from goodgain.traces.files import open_traces

    opened = open_traces(source, skip_bad=skip_bad, **reading)
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
        write_files({name: lines()})
    return Converted(
        written=written,
        skipped=skipped + opened.skipped,
        notes=opened.notes,
        ledger=opened.ledger,
    )
