"""Lines of trec_eval's small files: preferences, judgment groups, z-scores."""

from __future__ import annotations

import os

from goodgain.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import NoReturn


class Line:
    """The fields of a line, and its place for messages."""

    def __init__(self, path: str, number: int, text: bytes) -> None:
        self.where = f"{path}:{number}"
        self.text = _decoded(text)
        self.fields = [_decoded(field) for field in text.split()]

    def refuse(self, kind: str, form: str) -> NoReturn:
        """Raise the error for a line that is not of this form."""
        raise InputError(
            f"invalid {kind} line '{self.text:.80}'", where=self.where, hint=f"a line is: {form}"
        ) from None


def read_lines(path: str) -> Iterator[Line]:
    """The lines that are neither empty nor comments; fields end at blanks and tabs."""
    from goodgain.io.files import plain_descriptor

    with os.fdopen(plain_descriptor(path), "rb") as file:
        file.seek(0)
        for number, text in enumerate(file, 1):
            if text.strip() and not text.startswith(b"#"):
                yield Line(path, number, text.rstrip(b"\r\n"))


def _decoded(text: bytes) -> str:
    return text.decode("utf-8", "surrogateescape")
