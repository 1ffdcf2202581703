"""Results as JSON files: written whole or not at all, and read again by this and later versions."""

from __future__ import annotations

import os
from typing import Any, ClassVar, Self

from goodgain.errors import InputError


class SavedAsJson:
    """A result with `to_dict` and `from_dict` gets `to_json`, `save` and `load`."""

    __slots__ = ()
    KIND: ClassVar[str]  # what the file says it holds
    FORMAT: ClassVar[int]  # the newest that this version writes and reads

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data."""
        raise NotImplementedError

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """The reverse of `to_dict`."""
        raise NotImplementedError

    def to_json(self) -> str:
        """What `save` writes, as text."""
        import json

        return json.dumps(self.to_dict(), ensure_ascii=False, indent=1) + "\n"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it as JSON, whole or not at all."""
        from goodgain.io.atomic import write_texts

        write_texts({os.fspath(path): self.to_json()})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """What `save` wrote, in this version or an earlier one."""
        from goodgain.io.files import read_json

        name = os.fspath(path)
        data = read_json(name)
        if not isinstance(data, dict) or data.get("goodgain") != cls.KIND:
            raise InputError(f"the file is not a saved {cls.KIND}", where=name)
        if data.get("format", 0) > cls.FORMAT:
            raise InputError(
                f"the file has format {data['format']}, this version reads up to {cls.FORMAT}",
                where=name,
                hint="pip install --upgrade goodgain",
            )
        try:
            return cls.from_dict(data)
        except (KeyError, TypeError, AttributeError) as error:
            raise InputError(
                f"the saved {cls.KIND} is damaged: {error} is missing or wrong", where=name
            ) from None
