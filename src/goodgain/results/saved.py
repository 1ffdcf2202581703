"""Results as JSON files: written atomically, and readable by this and later versions."""

from __future__ import annotations

import os

from goodgain.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar, Self


class SavedAsJson:
    """Adds `to_json`, `save` and `load` to a result with `to_dict` and `from_dict`."""

    __slots__ = ()
    KIND: ClassVar[str]  # the kind of result, as saved in the file
    FORMAT: ClassVar[int]  # the newest format that this version reads, and the one it writes

    def to_dict(self) -> dict[str, Any]:
        """The result as plain data."""
        raise NotImplementedError

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """A result from what `to_dict` returned."""
        raise NotImplementedError

    def to_json(self) -> str:
        """The JSON text that `save` writes; bytes of ids that are no text are escaped: it is UTF-8."""
        import json
        import re

        text = json.dumps(self.to_dict(), ensure_ascii=False, indent=1) + "\n"
        return re.sub("[\ud800-\udfff]", lambda match: f"\\u{ord(match[0]):04x}", text)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the result as JSON, atomically."""
        from goodgain.io.atomic import write_texts

        write_texts({os.fspath(path): self.to_json()})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Load a result that `save` wrote, in this or an earlier version."""
        from goodgain.io.files import read_json

        name = os.fspath(path)
        data = read_json(name)
        if not isinstance(data, dict) or data.get("goodgain") != cls.KIND:
            raise InputError(
                f"not a saved {cls.KIND}",
                where=name,
                hint="expected what goodgain has saved as JSON",
            )
        written = data.get("format", 0)
        if not isinstance(written, int):
            raise InputError(
                f"the saved {cls.KIND} is damaged: its format is not a number", where=name
            )
        if written > cls.FORMAT:
            raise InputError(
                f"the file has format {written}, but this version reads formats up to {cls.FORMAT}",
                where=name,
                hint="pip install --upgrade goodgain",
            )
        try:
            return cls.from_dict(data)
        except (AttributeError, LookupError, OverflowError, TypeError, ValueError) as error:
            raise InputError(
                f"the saved {cls.KIND} is damaged: {error} is missing or invalid", where=name
            ) from None
