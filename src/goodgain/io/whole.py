"""Small files that are read as a whole: settings, prompts, golden sets and the like, all refused alike."""

from __future__ import annotations

import os

from goodgain.errors import InputError
from goodgain.io.files import plain_descriptor, read_errors
from goodgain.io.naming import display_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def read_document(path: str | os.PathLike[str], *, exact: bool = False) -> str:
    """The text of a file, decompressed by its suffix.

    Without a byte order mark and with plain line ends, unless it is to be `exact`.
    """
    name = os.fspath(path)
    with read_errors(name), os.fdopen(plain_descriptor(name), "rb") as file:
        file.seek(0)
        data = file.read()
    try:
        text = data.decode("utf-8" if exact else "utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(
            "the file is not UTF-8 text",
            where=f"{display_name(name)}:{line}",
            hint="save it as UTF-8; is it a text file?",
        ) from None
    return text if exact else text.replace("\r\n", "\n")


def read_toml(path: str | os.PathLike[str], content: str) -> dict[str, Any]:
    """The tables of a TOML file; `content` says what it should hold."""
    import re
    import tomllib

    name = display_name(os.fspath(path))
    try:
        return tomllib.loads(read_document(path))
    except tomllib.TOMLDecodeError as error:
        place = re.search(r" \(at line (\d+), column \d+\)", str(error))
        where = f"{name}:{place[1]}" if place else name
        reason = str(error).replace(place[0], "") if place else str(error)
        hint = f"expected {content} as TOML"
        raise InputError(f"invalid TOML: {reason}", where=where, hint=hint) from None
    except RecursionError:
        raise InputError(
            "the TOML is nested too deeply", where=name, hint=f"expected {content} as TOML"
        ) from None
