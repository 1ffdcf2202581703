"""What fails on a cluster, in one sentence instead of hundreds of lines of Java."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from goodgain import __version__
from goodgain.errors import GoodgainError, InputError, UsageError, file_not_found

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_INSTALL = "see 'Getting goodgain to the executors' in docs/spark.md"
_MISSING = re.compile(r"ModuleNotFoundError: No module named '([\w.]+)'")
_VERSIONS = re.compile(r"goodgain (\S+) on an executor, (\S+) on the driver")
_PYTHONS = re.compile(r"Python in worker has different version: (\S+) than that in driver: (\S+)")
_LOADING = re.compile(r"(AttributeError|ImportError|TypeError): [^\n]*goodgain[^\n]*")
_CONDITION = re.compile(r"\[([A-Z][A-Z0-9_.]+)\] ([^\n]+)")
_CAUSE = re.compile(r"Caused by: [\w.$]+: ([^\n]+)")
_PYTHON = re.compile(r"^(?:[\w.]+(?:Error|Exception|Interrupt|Exit)): [^\n]+", re.MULTILINE)
_FRAMES = re.compile(r"\s*SQLSTATE: \w+|\s*\n\s*at .*", re.DOTALL)


def same_version(function: Callable[[Iterator[Any]], Iterator[Any]]) -> Any:
    """The function for executors, which first makes sure that they have the driver's version of goodgain."""
    expected = __version__

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        import goodgain

        if goodgain.__version__ != expected:
            raise RuntimeError(
                f"goodgain {goodgain.__version__} on an executor, {expected} on the driver"
            )
        yield from function(batches)

    return run


@contextmanager
def cluster_errors(name: str = "") -> Iterator[None]:
    """Turn what Spark raises into an error that a person can use; `name` is the table's."""
    try:
        yield
    except GoodgainError:
        raise
    except Exception as error:
        if not _is_sparks(error):
            raise
        raise sentence(str(error), name) from None


@contextmanager
def reading_errors(says: str, *, where: str = "", hint: str = "") -> Iterator[None]:
    """One sentence for what Spark raises of a table that it cannot open: `says`, and the reason."""
    try:
        yield
    except Exception as error:
        if not _is_sparks(error):
            raise
        raise InputError(f"{says}: {_reason(str(error))}", where=where, hint=hint) from None


def _is_sparks(error: Exception) -> bool:
    return type(error).__module__.split(".")[0] in ("pyspark", "py4j", "grpc")


def sentence(text: str, name: str = "") -> GoodgainError:
    """The one sentence in what a failed job reports."""
    if match := _MISSING.search(text):
        package = match[1].split(".")[0]
        return UsageError(f"the executors have no package '{package}'", hint=_INSTALL)
    if match := _VERSIONS.search(text):
        return UsageError(
            f"the executors have goodgain {match[1]}, the driver has {match[2]}", hint=_INSTALL
        )
    if match := _PYTHONS.search(text):
        return UsageError(
            f"the executors have Python {match[1]}, the driver has {match[2]}",
            hint="set PYSPARK_PYTHON to the driver's version",
        )
    if match := _LOADING.search(text):
        return UsageError(
            f"the executors have another version of goodgain than the driver: {match[0]}",
            hint=_INSTALL,
        )
    reason = _reason(text)
    if name and reason.startswith("Path does not exist: "):
        return file_not_found(name)
    return InputError(f"Spark cannot finish the job: {reason}", where=name)


def _reason(text: str) -> str:
    """The innermost cause: the last line of a Python traceback, a named condition, or Java's root cause."""
    causes = [match[1] for match in _CAUSE.finditer(text)]
    conditions = [
        match[2]
        for match in _CONDITION.finditer(text)
        if not match[1].startswith("PYTHON_EXCEPTION")
    ]
    python = [match[0] for match in _PYTHON.finditer(text)]
    chosen = (
        python[-1] if python else conditions[-1] if conditions else causes[-1] if causes else text
    )
    line = _FRAMES.sub("", chosen.strip()).splitlines()
    return line[0].strip() if line else "unknown reason"
