"""Delta and Iceberg tables: which files belong to one now, from its own metadata.

The folder of such a table also holds files that were replaced or deleted since. Read as plain Parquet, their
rows would count as well.
"""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import unquote, urlsplit

from goodgain.errors import InputError, MissingExtraError
from goodgain.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

LAKES = ("delta", "iceberg")
_LOGS = {"_delta_log": "Delta", ".hoodie": "Hudi"}
_METADATA = ".metadata.json"
_HINT = "version-hint.text"


@dataclass(frozen=True, slots=True, kw_only=True)
class LakeTable:
    """The state of a table when it was opened."""

    form: str
    place: str
    version: str  # of the table, as its format counts
    files: tuple[str, ...]  # paths, or URLs of an object store
    partitions: tuple[str, ...] = ()  # columns whose values stand in the names of folders
    schema: str = ""  # as JSON that Spark reads, if the format has it
    reason: str = ""  # why its rows are not those of the files, if so

    @property
    def facts(self) -> dict[str, Any]:
        """What a saved result records."""
        return {"format": self.form, "version": self.version}


def log_of(names: Iterable[str], metadata: Callable[[], Iterable[str]]) -> str | None:
    """The format of the table whose folder has these names, and in its folder `metadata` those."""
    top = set(names)
    for log, form in _LOGS.items():
        if log in top:
            return form
    has_metadata = "metadata" in top and any(name.endswith(_METADATA) for name in metadata())
    return "Iceberg" if has_metadata else None


def lake_form(path: str | os.PathLike[str]) -> str | None:
    """The format of a local folder that is such a table and can be read; None for any other path."""
    place = _local(os.fspath(path))
    if place is None or not place.is_dir():
        return None
    form = (log_of(_names_in(place), lambda: _names_in(place / "metadata")) or "").lower()
    return form if form in LAKES else None


def _names_in(folder: Path) -> list[str]:
    return [entry.name for entry in folder.iterdir()] if folder.is_dir() else []


def open_lake(form: str, place: str) -> LakeTable:
    """Read the metadata of a table."""
    return _OPENERS[form](place)


def _delta(place: str) -> LakeTable:
    table = _opened(place, "delta", _delta_table)
    metadata = table.metadata()
    files = tuple(sorted(table.file_uris()))
    partitions = tuple(metadata.partition_columns)
    reason = ""
    if metadata.configuration.get("delta.columnMapping.mode", "none") != "none":
        reason = "its columns are mapped to other names in the files"
    elif "deletionVectors" in (table.protocol().reader_features or ()) and _deleted_rows(table):
        reason = "it has deletion vectors"
    elif any(f"{column}=" not in unquote(file) for column in partitions for file in files):
        reason = "the values of its partitions stand only in its log"
    return LakeTable(
        form="delta",
        place=place,
        version=str(table.version()),
        files=files,
        partitions=partitions,
        schema=table.schema().to_json(),
        reason=reason,
    )


def _delta_table(place: str) -> Any:
    from deltalake import DeltaTable

    return DeltaTable(place)


def _deleted_rows(table: Any) -> bool:
    return any(batch.num_rows for batch in table.deletion_vectors())


def _iceberg(place: str) -> LakeTable:
    table = _opened(place, "iceberg", _iceberg_table)
    tasks = list(table.scan().plan_files())
    names = {field.name: field.field_id for field in table.schema().fields}
    ids = {number: name for name, number in names.items()}
    reason = ""
    if any(task.delete_files for task in tasks):
        reason = "it has delete files"
    elif any(str(task.file.file_format).rpartition(".")[2] != "PARQUET" for task in tasks):
        reason = "not all its files are Parquet"
    elif any(
        names.get(field.name, field.field_id) != field.field_id
        or ids.get(field.field_id, field.name) != field.name
        for schema in table.metadata.schemas
        for field in schema.fields
    ):
        reason = "its columns were renamed"
    return LakeTable(
        form="iceberg",
        place=place,
        version=str(table.metadata.current_snapshot_id),
        files=tuple(sorted(task.file.file_path for task in tasks)),
        reason=reason,
    )


def _iceberg_table(place: str) -> Any:
    from pyiceberg.table import StaticTable

    return StaticTable.from_metadata(_newest_metadata(place))


def _newest_metadata(place: str) -> str:
    """The file that describes the table now: the one named, or the one that was written last."""
    if place.endswith(_METADATA):
        return place
    folder = _local(place)
    if folder is None:
        raise InputError(
            "the table has no catalog here that names its newest metadata",
            where=place,
            hint=f"give the file: .../metadata/00012-...{_METADATA}",
        )
    hint = folder / "metadata" / _HINT
    if hint.is_file():
        number = hint.read_text().strip()
        named = folder / "metadata" / f"v{number}{_METADATA}"
        if named.is_file():
            return str(named)
    files = sorted((folder / "metadata").glob(f"*{_METADATA}"), key=_number)
    if not files:
        raise InputError(f"the folder has no metadata/*{_METADATA}", where=place)
    if len(files) > 1 and _number(files[-1]) == _number(files[-2]):
        raise InputError(
            f"two files claim to be the newest metadata: '{files[-2].name}' and '{files[-1].name}'",
            where=place,
            hint="give the file that the catalog names",
        )
    return str(files[-1])


def _number(file: Path) -> int:
    digits = file.name.lstrip("v").split("-", 1)[0].split(".", 1)[0]
    return int(digits) if digits.isdecimal() else -1


_OPENERS: dict[str, Callable[[str], LakeTable]] = {"delta": _delta, "iceberg": _iceberg}
_PACKAGES = {"delta": "deltalake", "iceberg": "pyiceberg"}


def _opened(place: str, form: str, opened: Callable[[str], Any]) -> Any:
    local = _local(place)
    try:
        return opened(str(local) if local else place)
    except ImportError:
        raise MissingExtraError.for_package(
            _PACKAGES[form], "lakes", f"reading a table in the {form} format"
        ) from None
    except InputError:
        raise
    except Exception as error:  # both packages have many kinds
        text = (str(error).splitlines() or [type(error).__name__])[0]
        raise InputError(f"the {form} table cannot be opened: {text}", where=place) from None


def _local(place: str) -> Path | None:
    return Path(place) if len(urlsplit(place).scheme) < 2 else None
