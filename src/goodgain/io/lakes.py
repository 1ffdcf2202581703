"""Delta and Iceberg tables: which files belong to one now, from its own metadata.

The folder of such a table also holds files that were replaced or deleted since. Read as plain Parquet, their
rows would count as well. Where rows are not those of the files (deletion vectors, delete files, renamed
columns), the format's own package reads them.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from urllib.parse import unquote, urlsplit

from goodgain.errors import GoodgainError, InputError, MissingExtraError
from goodgain.io.naming import METADATA, is_metadata
from goodgain.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

LAKES = ("delta", "iceberg")
_LOGS = {"_delta_log": "Delta", ".hoodie": "Hudi"}
_HINT = "version-hint.text"


@dataclass(frozen=True, slots=True, kw_only=True)
class LakeTable:
    """The state of a table when it was opened."""

    form: str
    place: str
    version: str  # of the table, as its format counts
    files: tuple[str, ...]  # paths, or URLs of an object store
    names: tuple[str, ...]  # of its columns
    read_columns: Callable[[], Any]
    partitions: tuple[str, ...] = ()  # columns whose values stand in the names of folders
    schema: str = ""  # as JSON that Spark reads, if the format has it
    reason: str = ""  # why its rows are not those of the files, if so
    # Columns as a reader of Arrow batches, by the format's package; None if it cannot.
    rows: Callable[[Sequence[str]], Any] | None

    @property
    def facts(self) -> dict[str, Any]:
        """What a saved result records."""
        return {"format": self.form, "version": self.version}

    @property
    def columns(self) -> Any:
        """The schema of pyarrow."""
        return self.read_columns()

    def partition_types(self) -> dict[str, Any]:
        """The types of columns that stand only in the names of folders: integers or text."""
        import pyarrow as pa

        kinds = {name: self.columns.field(name).type for name in self.partitions}
        return {
            name: pa.int64() if pa.types.is_integer(kind) else pa.string()
            for name, kind in kinds.items()
        }


def log_of(names: Iterable[str], metadata: Callable[[], Iterable[str]]) -> str | None:
    """The format of the table whose folder has these names, and in its folder `metadata` those."""
    top = set(names)
    for log, form in _LOGS.items():
        if log in top:
            return form
    has_metadata = "metadata" in top and any(name.endswith(METADATA) for name in metadata())
    return "Iceberg" if has_metadata else None


def lake_form(path: str | os.PathLike[str]) -> str | None:
    """The format of a local folder that is such a table and can be read; None for any other path."""
    place = _local(os.fspath(path))
    if place is None or not place.is_dir():
        return None
    form = (log_of(_names_in(place), lambda: _names_in(place / "metadata")) or "").lower()
    return form if form in LAKES else None


def table_folder(path: str) -> str:
    """The folder of the table that a file of metadata describes."""
    return path.rpartition("/")[0].rpartition("/")[0] or path


def _names_in(folder: Path) -> list[str]:
    return [entry.name for entry in folder.iterdir()] if folder.is_dir() else []


def open_lake(form: str, place: str, options: str = "") -> LakeTable:
    """Read the metadata of a table; `options` are those of a URL, such as `?region=eu-west-1`."""
    with lake_errors(place, form, "opened"):
        return _OPENERS[form](place, options)


def _delta(place: str, options: str) -> LakeTable:
    table = _delta_table(str(_local(place) or place), options)
    metadata = table.metadata()
    files = tuple(sorted(table.file_uris()))
    partitions = tuple(metadata.partition_columns)
    reason = ""
    if metadata.configuration.get("delta.columnMapping.mode", "none") != "none":
        reason = "its columns are mapped to other names in the files"
    elif "deletionVectors" in (table.protocol().reader_features or ()) and _deleted_rows(table):
        reason = "it has deletion vectors"
    elif any(f"{column}=" not in unquote(file) for column in partitions for file in files):
        reason = "its partition values are only in its log"
    return LakeTable(
        form="delta",
        place=place,
        version=str(table.version()),
        files=files,
        names=tuple(field.name for field in table.schema().fields),
        read_columns=lambda: _arrow_schema(table.schema().to_arrow()),
        partitions=partitions,
        schema=table.schema().to_json(),
        reason=reason,
        rows=partial(_delta_rows, table),
    )


def _arrow_schema(schema: Any) -> Any:
    import pyarrow as pa

    return pa.schema(schema)


def _delta_table(place: str, options: str) -> Any:
    from deltalake import DeltaTable

    return DeltaTable(place, storage_options=_delta_settings(options))


def _deleted_rows(table: Any) -> bool:
    return any(batch.num_rows for batch in table.deletion_vectors())


def _delta_rows(table: Any, columns: Sequence[str]) -> Any:
    import pyarrow as pa
    from deltalake import QueryBuilder

    quoted = ", ".join('"' + name.replace('"', '""') + '"' for name in columns)
    in_order = {"datafusion.execution.target_partitions": "1"}
    rows = QueryBuilder(in_order).register("lake", table).execute(f"SELECT {quoted} FROM lake")
    return pa.RecordBatchReader.from_stream(rows)


def _iceberg(place: str, options: str) -> LakeTable:
    table = _iceberg_table(str(_local(place) or place), options)
    tasks, unread = _iceberg_files(table)
    names = {field.name: field.field_id for field in table.schema().fields}
    ids = {number: name for name, number in names.items()}
    reason = unread
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
    elif any(
        getattr(field, "initial_default", None) is not None for field in table.schema().fields
    ):
        reason = "a column with a default may be missing from its files"
    return LakeTable(
        form="iceberg",
        place=place,
        version=str(table.metadata.current_snapshot_id),
        files=tuple(sorted(_plain(task.file.file_path) for task in tasks)),
        names=tuple(names),
        read_columns=lambda: table.schema().as_arrow().remove_metadata(),
        reason=reason,
        rows=None if unread else partial(_iceberg_rows, table),
    )


def _iceberg_files(table: Any) -> tuple[list[Any], str]:
    """The files of a table with their delete files, or why the package cannot tell."""
    try:
        return list(table.scan().plan_files()), ""
    except (ValueError, NotImplementedError) as error:
        if "equality delete" not in str(error):
            raise
        return [], "it has equality deletes"


def _iceberg_rows(table: Any, columns: Sequence[str]) -> Any:
    return table.scan(selected_fields=tuple(columns)).to_arrow_batch_reader()


def _iceberg_table(place: str, options: str) -> Any:
    from pyiceberg.table import StaticTable

    return StaticTable.from_metadata(_newest_metadata(place, options), _iceberg_settings(options))


def _newest_metadata(place: str, options: str) -> str:
    """The file that describes the table now: the one named, or the one that was written last."""
    from goodgain.io.locations import names_in, open_file

    if is_metadata(place):
        return place
    folder = f"{place.rstrip('/')}/metadata"
    names = names_in(folder + options)
    if _HINT in names:
        with open_file(f"{folder}/{_HINT}{options}") as file:
            number = file.read(40).decode("utf-8", "replace").strip()
        if (named := f"v{number}{METADATA}") in names:
            return f"{folder}/{named}"
    files = sorted((name for name in names if name.endswith(METADATA)), key=_number)
    if not files:
        raise InputError(f"the folder has no metadata/*{METADATA}", where=place)
    if len(files) > 1 and _number(files[-1]) == _number(files[-2]):
        raise InputError(
            f"two files claim to be the newest metadata: '{files[-2]}' and '{files[-1]}'",
            where=place,
            hint="pass the file named by the catalog",
        )
    return f"{folder}/{files[-1]}"


def _number(name: str) -> int:
    digits = name.lstrip("v").split("-", 1)[0].split(".", 1)[0]
    return int(digits) if digits.isdecimal() else -1


# --- object stores: the packages take the options of pyarrow's URLs under other names ---


def _store(options: str) -> dict[str, str]:
    """Endpoint and region of an object store: from the options of a URL, or from the environment."""
    from urllib.parse import parse_qsl

    values = dict(parse_qsl(options.removeprefix("?")))
    endpoint = values.get("endpoint_override") or os.environ.get("AWS_ENDPOINT_URL", "")
    if endpoint and "://" not in endpoint:
        endpoint = f"{values.get('scheme', 'https')}://{endpoint}"
    regions = (
        values.get("region"),
        os.environ.get("AWS_REGION"),
        os.environ.get("AWS_DEFAULT_REGION"),
    )
    region = next(filter(None, regions), "")
    return {name: value for name, value in (("endpoint", endpoint), ("region", region)) if value}


def _delta_settings(options: str) -> dict[str, str]:
    store = _store(options)
    names = {"endpoint": "AWS_ENDPOINT_URL", "region": "AWS_REGION"}
    settings = {names[name]: value for name, value in store.items()}
    is_plain = store.get("endpoint", "").startswith("http:")
    return {**settings, "AWS_ALLOW_HTTP": "true"} if is_plain else settings


def _iceberg_settings(options: str) -> dict[str, str]:
    return {f"s3.{name}": value for name, value in _store(options).items()}


_OPENERS: dict[str, Callable[[str, str], LakeTable]] = {"delta": _delta, "iceberg": _iceberg}
_PACKAGES = {"delta": "deltalake", "iceberg": "pyiceberg"}


@contextmanager
def lake_errors(place: str, form: str, done: str) -> Iterator[None]:
    """What a package raises, as one sentence."""
    try:
        yield
    except ImportError:
        raise MissingExtraError.for_package(
            _PACKAGES[form], "lakes", f"reading a table in the {form} format"
        ) from None
    except GoodgainError:
        raise
    except Exception as error:  # both packages have many kinds
        text = (str(error).splitlines() or [type(error).__name__])[0]
        raise InputError(f"the {form} table cannot be {done}: {text}", where=place) from None


def _plain(uri: str) -> str:
    """A path of this machine without its scheme; Iceberg does not encode it."""
    return "/" + uri[len("file:") :].lstrip("/") if uri.startswith("file:") else uri


def _local(place: str) -> Path | None:
    return Path(place) if len(urlsplit(place).scheme) < 2 else None
