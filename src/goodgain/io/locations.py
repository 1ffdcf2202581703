"""Where tables lie: files, folders, globs and object stores, and which files of a folder are one table.

A folder is one table if it is an export: it has a marker such as `_SUCCESS`, folders named `key=value`, only
files named as parts (`part-00000`, `export-000000000000`, `data_0_0_0`), or a name that ends like a table
(`run.parquet/`). A folder of other files holds one run in each. Files whose names differ only in a number
could be either, so the caller has to say.
"""

from __future__ import annotations

import os
import re
from functools import lru_cache

from goodgain.errors import InputError, MissingExtraError, file_not_found
from goodgain.io.lakes import LAKES, log_of, open_lake, table_folder
from goodgain.io.naming import (
    FORMATS,
    format_of,
    is_glob,
    is_metadata,
    is_url,
    split_options,
    system_name,
    without_options,
)
from goodgain.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import IO, Any, Literal

    from goodgain.io.lakes import LakeTable

    Meaning = Literal["table", "runs", "either"]

_REQUESTS = 16  # to an object store at once
_SCHEMES = {"s3a": "s3", "s3n": "s3"}  # of Hadoop, for the same stores
_NO_CREDENTIALS = re.compile(r"credential|access token|authenticat|ACCESS_DENIED", re.IGNORECASE)
_GS_CREDENTIALS = (
    "set GOOGLE_APPLICATION_CREDENTIALS, or write gs://anonymous@BUCKET if all may read it"
)
_CREDENTIALS = {
    "s3": "set AWS_PROFILE or AWS_ACCESS_KEY_ID, or write ?anonymous=true if all may read it",
    "gs": _GS_CREDENTIALS,
    "gcs": _GS_CREDENTIALS,
    "abfs": "sign in with az login, or set AZURE_CLIENT_ID and what belongs to it",
}
_RETRIES = "retry_limit_seconds"  # of Google's client, which tries for a quarter of an hour
_MAGIC = re.compile(r"[*?\[]")
_MARKERS = re.compile(
    r"_(SUCCESS|committed_.*|started_.*|(common_)?metadata|symlink_format_manifest)$"
)
_PART = re.compile(
    r"""part[-._] .*                      # Spark, Hadoop, Dask, pyarrow
    | .* \d{12}                           # BigQuery
    | .* _\d+_\d+_\d+ (\.\w+)?            # Snowflake
    | data_\d+ | \d{6,} | \d{6}_\d+       # DuckDB, polars, Hive
    | \d{8}_\d{6}_\d{5}_\w+ (_.*)?        # Athena, Trino
    | (.*[-_])? [0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12} .*""",  # names made of UUIDs
    re.VERBOSE | re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class File:
    """One file: a path or a URL, what is known of its content, and the `key=value` folders above it."""

    name: str
    size: int
    modified: int  # nanoseconds
    keys: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Files:
    """The files of one table, or of a folder of runs."""

    name: str  # as the caller wrote it
    files: tuple[File, ...]
    lake: LakeTable | None = None  # whose metadata lists the files

    @property
    def stat(self) -> tuple[int, int]:
        """The sum of sizes, and the time of the last change or the version of the table."""
        size = sum(f.size for f in self.files)
        if self.lake is not None:
            return size, int(self.lake.version)
        return size, max((f.modified for f in self.files), default=0)


def files_of(path: str) -> Files:
    """All files behind a URL, a glob or a folder as one table, if they can be one."""
    place = _entries(path)
    if isinstance(place, File):
        return Files(path, (place,))
    if place.tables:
        raise InputError(
            f"'{path}' contains a table with its own log: '{place.tables[0]}'",
            hint="name that table: its files may hold deleted rows",
        )
    if not is_glob_of(path) and place.meaning == "runs" and len(place.files) > 1:
        raise InputError(
            f"'{path}' has {len(place.files):,} files that are not parts of one table, such as "
            f"{_examples(place.files)}",
            hint=f"name one of them, or all as one table with the glob '{path.rstrip('/')}/*'",
        )
    return Files(path, place.files, place.lake)


def all_files(path: str) -> Files:
    """The files behind a path, whatever they are."""
    place = _entries(path)
    if isinstance(place, File):
        return Files(path, (place,))
    return Files(path, place.files, place.lake)


def check_glob(path: str) -> None:
    """An error if a pattern names files of a table that has a log of its own."""
    _refuse_tables_around(_matches(path))


def runs_of(path: str) -> list[str]:
    """The path of each run behind a URL, a glob or a folder; `files_of` gives its files."""
    place = _entries(path)
    if isinstance(place, File):
        return [path]
    if place.meaning == "table":
        return _by_run_folder(path, place.files)
    if place.meaning == "either":
        raise InputError(
            f"'{path}' could be one run in {len(place.files):,} files or as many runs: "
            f"{_examples(place.files)}",
            hint=f"several runs: '{path.rstrip('/')}/*'; one run: NAME={path}, in Python "
            f"{{'NAME': '{path}'}}",
        )
    return list(place.names)


def holds_runs(folder: str, files: Iterable[str]) -> bool:
    """Whether the files below a URL, as another reader lists them, look like a run each."""
    from urllib.parse import unquote

    base = without_options(folder).rstrip("/") + "/"
    paths = [unquote(file) for file in files]
    below = {path.removeprefix(base) for path in paths if path.startswith(base)}
    names = tuple(sorted({path.partition("/")[0] for path in below}))
    if len(names) < 2 or len(below) < len(paths) or all("=" in name for name in names):
        return False
    return _meaning(names, [(name, name in below) for name in names]) == "runs"


def _by_run_folder(path: str, files: tuple[File, ...]) -> list[str]:
    """Text has no column for the folders `run=NAME` above it: each of them is a run. Parquet has one."""
    from goodgain.io.columns import has_column

    if format_of(files[0].name) in ("parquet", "arrow"):
        return [path]
    for key in dict.fromkeys(key for file in files for key, _ in file.keys):
        if has_column([key], "run", "run"):
            return list(dict.fromkeys(_folder_above(file.name, key) for file in files))
        for role in ("query", "doc", "value", "rank"):
            if has_column([key], "run", role):
                raise InputError(
                    f"the folders '{key}=...' of '{path}' are a column that its files do not have",
                    hint="text is read without the columns of its folders: write Parquet",
                )
    return [path]


def _folder_above(name: str, key: str) -> str:
    """The path up to and with the folder `key=value`."""
    levels = name.split("/")
    place = next(
        (i for i, level in enumerate(levels) if level.partition("=")[:2] == (key, "=")), None
    )
    if place is None:
        raise InputError(f"'{name}' is not in a folder '{key}=...'", hint="others of the table are")
    return "/".join(levels[: place + 1])


def run_name(path: str) -> str:
    """The name of the system whose output a place holds."""
    if is_glob_of(path):  # the folder before the first wildcard
        path = path[: _MAGIC.search(path).start()].rpartition("/")[0] or path  # type: ignore[union-attr]
    path = without_options(path)
    stem = system_name(table_folder(path) if is_metadata(path) else path)
    key, _, value = stem.partition("=")
    return _keys(f"{key}={value}/")[0][1] if key and value else stem  # the folder run=bm25


def open_file(name: str) -> IO[bytes]:
    """A stream of the bytes of a file or URL."""
    if not is_url(name):
        return open(name, "rb")
    system, path = _file_system(name)
    with store_errors(name):
        return system.open_input_stream(path, compression=None)  # type: ignore[no-any-return]


def open_random(name: str) -> Any:
    """The same for readers that jump: the path itself where that will do."""
    if not is_url(name):
        return name
    system, path = _file_system(name)
    with store_errors(name):
        return system.open_input_file(path)


class store_errors:  # noqa: N801 - used like contextlib.suppress
    """Turn what a file system raises into an error that names the place."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        """Nothing to prepare."""

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if isinstance(error, FileNotFoundError):
            raise file_not_found(self._name) from None
        if isinstance(error, InputError) or not isinstance(error, OSError | _arrow_error()):
            return
        reason = str(error).split("\n")[0]
        if is_url(self._name) and _NO_CREDENTIALS.search(reason):
            raise InputError(
                f"no credentials for '{self._name}'",
                hint=f"{_CREDENTIALS.get(self._name.partition(':')[0], 'set them')}; {reason[:120]}",
            ) from None
        raise InputError(f"cannot read '{self._name}'", hint=reason[:200]) from None


def _arrow_error() -> type[BaseException]:
    """What pyarrow raises beside what Python has: some of its file systems do."""
    import sys

    pyarrow = sys.modules.get("pyarrow")
    return pyarrow.ArrowException if pyarrow is not None else OSError


# --- what lies in a folder ---


@dataclass(frozen=True, slots=True)
class _Folder:
    """The files below a folder or of a glob, the names at its top, and what they look like."""

    files: tuple[File, ...]
    names: tuple[str, ...]
    meaning: Meaning
    tables: tuple[str, ...] = ()  # folders below it that have a log of their own
    lake: LakeTable | None = None  # set if it is such a table itself


def is_glob_of(path: str) -> bool:
    """Whether a path or URL has wildcards."""
    return bool(_MAGIC.search(_split_url(path)[1])) if is_url(path) else is_glob(path)


def _entries(path: str) -> File | _Folder:
    """One file, or the content of a folder or glob."""
    if is_glob_of(path):
        return _glob(path)
    top = _look(path)
    if isinstance(top, File):
        return _lake(path, "iceberg") if is_metadata(without_options(path)) else top
    folder = path.rstrip("/") or "/"
    if (form := (_log_of(path, top) or "").lower()) in LAKES:
        return _lake(folder, form)
    hidden = [name for name in top if _is_hidden(name)]
    visible = [name for name in top if not _is_hidden(name)]
    _refuse_unfinished(path, top)
    listed, tables = _walk(folder, visible)
    files = tuple(listed)
    if not files:
        raise InputError(
            f"'{path}' is a directory without files", hint="name a file, or another directory"
        )
    size = len(without_options(folder).rstrip("/")) + 1
    names = tuple(sorted({without_options(f.name)[size:].partition("/")[0] for f in files}))
    is_table = (
        any(_MARKERS.match(name) for name in hidden)
        or os.path.splitext(without_options(folder))[1].lower() in FORMATS
        or all("=" in name and not is_file for name, is_file in _kinds(folder, names, files))
    )
    meaning = "table" if is_table else _meaning(names, _kinds(folder, names, files))
    paths = tuple(_inside(folder, name) for name in names)
    return _Folder(files, paths, meaning, tuple(tables))


def _lake(path: str, form: str) -> _Folder:
    """The files of the newest version of a table, as its own metadata lists them."""
    start, key, options = _split_url(path) if is_url(path) else ("", path, "")
    table = open_lake(form, start + key, options)
    if table.rows is None:
        raise InputError(
            f"the {form} table is not read here: {table.reason}",
            where=path,
            hint=f"use --engine spark with Spark's package for {form}",
        )
    if not table.files:
        raise InputError(f"the table is empty: '{path}'", hint="is this its newest version?")
    folder = f"{start}{table_folder(key) if is_metadata(key) else key}".rstrip("/")
    from concurrent.futures import ThreadPoolExecutor

    def listed(name: str) -> File:
        file = _look(name + options if is_url(name) else name)
        if not isinstance(file, File):
            raise InputError(f"the table lists a folder as a file: '{name}'", where=path)
        if not table.partitions:
            return file
        relative = name[len(folder) + 1 :] if name.startswith(f"{folder}/") else name
        return File(file.name, file.size, file.modified, _keys(relative))

    with ThreadPoolExecutor(_REQUESTS) as pool:
        files = tuple(pool.map(listed, table.files))
    return _Folder(files, (path,), "table", lake=table)


def _kinds(folder: str, names: Iterable[str], files: Iterable[File]) -> list[tuple[str, bool]]:
    """The names at the top of a folder, and whether each is a file."""
    plain = {f.name for f in files}
    return [(name, _inside(folder, name) in plain) for name in names]


def _meaning(names: tuple[str, ...], kinds: list[tuple[str, bool]]) -> Meaning:
    """One table in parts, a run in each file, or either: by the names of the files."""
    if not all(is_file for _, is_file in kinds):
        return "runs"
    stems = [system_name(name) for name in names]
    suffixes = {name[len(stem) :] for name, stem in zip(names, stems, strict=True)}
    if all(_PART.fullmatch(stem) for stem in stems):
        return "table" if len(suffixes) == 1 else "either"
    if any(_PART.fullmatch(stem) for stem in stems) and len(names) > 1:
        return "either"
    shapes = {re.sub(r"\d+", "0", stem) for stem in stems}
    return "either" if len(names) > 1 and len(shapes) == 1 else "runs"


def _glob(path: str) -> _Folder:
    """The files that match; folders that match are entered. Parts are one table, all else are runs."""
    matches = _matches(path)
    _refuse_tables_around(matches)
    files, tables = [], []
    for match in matches:
        top = _look(match)
        if isinstance(top, File):
            files.append(top)
            continue
        tables += [match] if _log_of(match, top) else []
        below = _walk(match, [name for name in top if not _is_hidden(name)])
        files += below[0]
        tables += below[1]
    if not files:
        raise InputError(f"no file matches '{path}'", hint="check the spelling and the folder")
    names = tuple(_last(without_options(match)) for match in matches)
    plain = {f.name for f in files}
    kinds = [(name, match in plain) for name, match in zip(names, matches, strict=True)]
    meaning: Meaning = "table" if _meaning(names, kinds) == "table" else "runs"
    return _Folder(tuple(files), tuple(matches), meaning, tuple(tables))


def _refuse_unfinished(path: str, names: Iterable[str]) -> None:
    """Refuse a folder that a job is still writing, or whose files hold deleted rows too."""
    _refuse_table(path, names)
    if "_temporary" in names:
        raise InputError(
            f"the job that writes '{path}' has not finished: '_temporary' is still there",
            hint="wait until it has, or write it again",
        )


def _log_of(path: str, names: Iterable[str]) -> str | None:
    """The format of the table whose folder this is, if it has a log of its own."""
    return log_of(names, lambda: names_in(_inside(path, "metadata")))


def _refuse_table(path: str, names: Iterable[str]) -> None:
    """Refuse tables of which only their own log says which files count."""
    kind = _log_of(path, names)
    if kind:
        raise InputError(
            f"'{path}' is {'an' if kind == 'Iceberg' else 'a'} {kind} table, whose files may hold "
            "deleted rows",
            hint="read it with its own library and pass the data frame, or use --engine spark"
            if kind.lower() not in LAKES
            else f"name the table itself: '{path}'",
        )


def _refuse_tables_around(matches: Iterable[str]) -> None:
    """A pattern that names files of such a table is no way around its log."""
    seen: set[str] = set()
    for match in matches:
        folder, is_inside = _parent(match), True
        while folder and is_inside and folder not in seen:
            seen.add(folder)
            _refuse_table(folder, names_in(folder))
            level = _last(_split_url(folder)[1] if is_url(folder) else folder)
            is_inside = "=" in level or level == "data"  # partitions, and the files of Iceberg
            folder = _parent(folder)


def _parent(path: str) -> str:
    """The folder of a file or folder; empty at the top."""
    if not is_url(path):
        return os.path.dirname(path) or ("." if path not in (".", "/", "") else "")
    start, key, end = _split_url(path)
    above = key.rpartition("/")[0]
    return f"{start}{above}{end}" if above else ""


def names_in(folder: str) -> list[str]:
    """The names in a folder or below a URL; none if there is no such folder."""
    try:
        listed = _look(folder)
    except InputError:
        return []
    return [] if isinstance(listed, File) else listed


def _is_hidden(name: str) -> bool:
    return name.startswith(("_", "."))


def _examples(files: tuple[File, ...]) -> str:
    names = [f"'{file.name.rpartition('/')[2]}'" for file in files[:2]]
    return ", ".join(names) + (", ..." if len(files) > 2 else "")


def _keys(relative: str) -> tuple[tuple[str, str], ...]:
    """The `key=value` folders of a path."""
    from urllib.parse import unquote

    pairs = [part.partition("=") for part in relative.split("/")[:-1]]
    return tuple((key, unquote(value)) for key, equals, value in pairs if equals and key)


# --- looking: on disk, or through pyarrow ---


def _look(path: str) -> File | list[str]:
    """A file, or the names in a folder; an error if there is neither."""
    if is_url(path):
        return _look_in_store(path)
    try:
        if os.path.isdir(path):
            return sorted(os.listdir(path))
        info = os.stat(path)
    except PermissionError:
        raise InputError(f"permission denied: '{path}'") from None
    except OSError:
        raise file_not_found(path) from None
    return File(path, info.st_size, info.st_mtime_ns)


def _walk(folder: str, names: Iterable[str]) -> tuple[list[File], list[str]]:
    """The files below some names of a folder, sorted, without hidden ones; and tables with logs."""
    if is_url(folder):
        return _walk_store(folder, set(names))
    files, tables = [], []
    for name in names:
        top = f"{folder.rstrip('/')}/{name}"
        if not os.path.isdir(top):
            files.append((name, top))
        for root, folders, inner in os.walk(top):
            tables += [root] if _log_of(root, [*folders, *inner]) else []
            folders[:] = [f for f in folders if not _is_hidden(f)]
            files += [
                (os.path.relpath(os.path.join(root, f), folder), os.path.join(root, f))
                for f in inner
                if not _is_hidden(f)
            ]
    listed = []
    for relative, path in sorted(files):
        info = os.stat(path)
        listed.append(File(path, info.st_size, info.st_mtime_ns, _keys(relative)))
    return listed, tables


def _matches(path: str) -> list[str]:
    if not is_url(path):
        from glob import glob

        return sorted(m.rstrip("/") for m in glob(path, recursive=True) if not _is_hidden(_last(m)))
    import fnmatch

    start, pattern, end = _split_url(path)
    base = pattern[: _MAGIC.search(pattern).start()].rpartition("/")[0]  # type: ignore[union-attr]
    depth = pattern.count("/")
    names = set()
    for file in _walk_store(f"{start}{base}{end}", None)[0]:
        key = _split_url(file.name)[1]
        for size in {depth, key.count("/")}:  # a folder that matches, or below `**` a file
            candidate = "/".join(key.split("/")[: size + 1])
            if fnmatch.fnmatchcase(candidate, pattern) and (
                "**" in pattern or candidate.count("/") == depth
            ):
                names.add(f"{start}{candidate}{end}")
    return sorted(names)


def _inside(folder: str, name: str) -> str:
    """The path of a name in a folder; options of a URL come last."""
    if not is_url(folder):
        return f"{folder.rstrip('/')}/{name}"
    start, key, options = _split_url(folder)
    return f"{start}{key.rstrip('/')}/{name}{options}" if key.strip("/") else start + name + options


def _last(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]


def _look_in_store(url: str) -> File | list[str]:
    system, path = _file_system(url)
    from pyarrow.fs import FileSelector, FileType

    with store_errors(url):
        info = system.get_file_info(path)
        if info.type == FileType.File and not url.endswith("/"):
            return File(url, info.size, info.mtime_ns or 0)
        if info.type == FileType.NotFound:
            raise FileNotFoundError
        return sorted({_last(i.path) for i in system.get_file_info(FileSelector(path))})


def _walk_store(url: str, names: set[str] | None) -> tuple[list[File], list[str]]:
    """The files below a URL, of some names at its top; and the tables with logs of their own."""
    system, path = _file_system(url)
    from pyarrow.fs import FileSelector, FileType

    start, key, end = _split_url(url)
    with store_errors(url):
        listed = system.get_file_info(FileSelector(path, recursive=True, allow_not_found=True))
    files: list[File] = []
    inner: dict[str, list[str]] = {}  # names by folder
    above = f"{start}{key.rstrip('/')}/" if key.strip("/") else start
    for info in listed:
        relative = info.path[len(path.rstrip("/")) + 1 :]
        levels = relative.split("/")
        if names is not None and levels[0] not in names:
            continue
        inner.setdefault(relative.rpartition("/")[0], []).append(levels[-1])
        if info.type == FileType.File and not any(map(_is_hidden, levels)):
            name = f"{above}{relative}{end}"
            files.append(File(name, info.size, info.mtime_ns or 0, _keys(relative)))
    tables = []
    for folder, below in inner.items():
        metadata = inner.get(f"{folder}/metadata", [])
        if folder and log_of(below, metadata.__iter__):
            tables.append(f"{above}{folder}{end}")
    return sorted(files, key=lambda f: f.name), tables


def _split_url(url: str) -> tuple[str, str, str]:
    """`s3://bucket/`, the key, and options such as `?region=eu-west-1`."""
    url, options = split_options(url)
    scheme, _, rest = url.partition("://")
    authority, _, key = rest.partition("/")
    return f"{scheme}://{authority}/", key, options


def _file_system(url: str) -> tuple[Any, str]:
    """Pyarrow's file system behind a URL, and the path in it."""
    start, key, options = _split_url(url)
    system, root = _root_of(start, options)
    return system, f"{root.rstrip('/')}/{key}".rstrip("/")


@lru_cache(maxsize=64)
def _root_of(start: str, options: str) -> tuple[Any, str]:
    try:
        import pyarrow as pa
        from pyarrow.fs import FileSystem
    except ImportError:
        raise MissingExtraError.for_package("pyarrow", "arrow", f"reading from '{start}'") from None
    scheme, _, authority = start.partition("://")
    if scheme in ("gs", "gcs") and _RETRIES not in options:
        options += f"{'&' if options else '?'}{_RETRIES}=10"
    try:
        system, root = FileSystem.from_uri(f"{_SCHEMES.get(scheme, scheme)}://{authority}{options}")
    except (pa.ArrowException, OSError, ValueError, ImportError) as error:
        reason = str(error).split("\n")[0][:200]
        known = "s3://, gs:// and abfs:// can be read, and files that are mounted"
        is_known = scheme in (*_SCHEMES, *_CREDENTIALS)
        raise InputError(
            f"pyarrow {pa.__version__} cannot open '{start}'",
            hint=reason if is_known else f"{reason}; {known}",
        ) from None
    return system, root
