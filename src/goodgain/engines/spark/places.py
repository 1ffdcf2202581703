"""Paths of this machine as Spark reads them: with a scheme, and with the signs of patterns escaped."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlsplit

_SIGNS = re.compile(r"([\\{}\[\]*?])")
_ESCAPED = re.compile(r"\\(.)")
_FILE = "file://"


def place_of(path: str | Path) -> str:
    """A local path for Spark, which may have started in another folder; it does not decode `%20`."""
    return _FILE + _SIGNS.sub(r"\\\1", str(Path(path).absolute()))


def local_path(place: str) -> Path | None:
    """The path of a file or folder that this process sees; None for other places."""
    if place.startswith(_FILE):
        path = Path(_ESCAPED.sub(r"\1", place.removeprefix(_FILE)))
    elif len(urlsplit(place).scheme) < 2:
        path = Path(place)
    else:
        return None
    return path if path.exists() else None
