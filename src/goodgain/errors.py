"""What goodgain raises.

GoodgainError
├── InputError         data that cannot be used: a file, a table, a row
│   ├── DuplicateError a document twice for one query
│   ├── DisjointError  a run and judgments without a common query
│   └── NoThreadsError a thread that the system refuses to start (goodgain.threads)
├── MeasureError       a measure that does not exist, or a parameter it does not take
├── UsageError         options that do not fit together
├── JudgeError         a judge of labels that cannot go on: a wrong key, no money, no server
└── MissingExtraError  an optional package that is not installed

Interrupted (a KeyboardInterrupt) is Ctrl-C after the work so far was saved.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from functools import lru_cache, wraps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from re import Pattern
    from typing import ParamSpec, TypeVar

    P = ParamSpec("P")
    R = TypeVar("R")


def plain(text: str) -> str:
    """Text that cannot move the cursor or reorder a line: control characters are shown, not sent."""
    if text.isprintable():
        return text
    joiners = (
        {match.start() for match in _joiners().finditer(text)}
        if "\u200c" in text or "\u200d" in text
        else ()
    )
    return "".join(
        c
        if c.isprintable() or i in joiners
        else c.encode("unicode_escape").decode("ascii", "replace")
        for i, c in enumerate(text)
    )


@lru_cache
def _joiners() -> Pattern[str]:
    """Joiners that are part of the spelling: after a letter of a script that joins, between two emoji.

    Elsewhere they would make two names look alike. Pages use the same rule (assets/dom.js).
    """
    import re

    joining = (
        "\u0600-\u109f\u1780-\u18af\u1900-\u1cff\ua800-\uabff\ufb50-\ufdff\ufe70-\ufefc"
        "\U00010a00-\U00010aff\U00010d00-\U00010fff\U00011000-\U00011fff"
    )
    emoji = (
        "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u25a0-\u27bf\u2900-\u297f"
        "\u2b00-\u2bff\U0001f000-\U0001faff"
    )
    return re.compile(
        f"(?<=[{joining}])[\u200c\u200d](?![\u200c\u200d])|(?<=[{emoji}\ufe0f])\u200d(?=[{emoji}])"
    )


_LONGEST = 500  # characters of a message: a whole file may stand in one line
_LONGEST_HINT = 1000  # room for the reason of every format that was tried


def _without_secrets(text: str) -> str:
    if "://" not in text and "goodgain.redaction" not in sys.modules:  # then no secret is known
        return text
    from goodgain.redaction import hide_in_urls

    return hide_in_urls(text)


def _short(text: str, longest: int = _LONGEST) -> str:
    escaped = plain(_without_secrets(text)[: longest + 1])
    return escaped if len(escaped) <= longest else f"{escaped[:longest]}..."


class GoodgainError(Exception):
    """One sentence, then where, then a hint on the next line.

    >>> import goodgain as gg
    >>> try:
    ...     gg.evaluate({"q1": {"a": 1}}, {"q1": ["a"]}, "nDGC@10")
    ... except gg.GoodgainError as error:
    ...     print(error)
    ...
    unknown measure 'nDGC@10'
    hint: did you mean nDCG or Rndcg or α_nDCG? list all: goodgain measures
    """

    def __init__(self, message: str, *, where: str = "", hint: str = "") -> None:
        self.message, self.where, self.hint = (
            _short(message),
            plain(_without_secrets(where)),
            _short(hint, _LONGEST_HINT),
        )
        super().__init__(self.message)

    def __str__(self) -> str:
        text = f"{self.message} ({self.where})" if self.where else self.message
        return f"{text}\nhint: {self.hint}" if self.hint else text

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuilt, (type(self), self.message, self.where, self.hint))


def _rebuilt(kind: type[GoodgainError], message: str, where: str, hint: str) -> GoodgainError:
    return kind(message, where=where, hint=hint)


class InputError(GoodgainError, ValueError):
    """Data that cannot be used."""


class DuplicateError(InputError):
    """The same document twice for one query."""


class DisjointError(InputError):
    """A run and judgments without a common query."""


class MeasureError(GoodgainError, ValueError):
    """A measure that does not exist, or a parameter it does not take."""


class UsageError(GoodgainError, ValueError):
    """Options that do not fit together."""


class JudgeError(GoodgainError):
    """A judge of labels that cannot go on."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C: the calls in flight have finished, and `result` holds what there is."""

    def __init__(self, message: str, result: object = None) -> None:
        super().__init__(message)
        self.result = result


class MissingExtraError(GoodgainError, ImportError):
    """An optional package that is not installed."""

    @classmethod
    def for_package(cls, package: str, extra: str, purpose: str) -> MissingExtraError:
        """Say what is missing, what for, and how to install it."""
        return cls(
            f"{purpose} needs the package '{package}', which is not installed",
            hint=f"pip install 'goodgain[{extra}]'",
        )


@contextmanager
def core_errors() -> Iterator[None]:
    """Turn what the native core raises into this tree."""
    from goodgain._core import CoreError

    try:
        yield
    except CoreError as error:
        raise from_core(error) from None
    except MemoryError:
        raise out_of_memory() from None
    except RecursionError:
        raise nested_too_deeply() from None


def nested_too_deeply() -> InputError:
    """The error for objects that are deep, or contain themselves, where numbers are expected."""
    return InputError("the data are nested too deeply, or contain themselves")


def out_of_memory() -> InputError:
    """The error for an input that does not fit into memory, which is not damaged."""
    return InputError(
        "not enough memory",
        hint="use fewer threads (threads=, --threads) or hold fewer rows (memory=, --memory)",
    )


def from_core(error: Exception) -> GoodgainError:
    """The error that a person sees for one of the core's."""
    return from_report(error.args)


_KINDS: dict[str, type[GoodgainError]] = {
    "input": InputError,
    "duplicate": DuplicateError,
    "disjoint": DisjointError,
    "usage": UsageError,
    "measure": MeasureError,
}


def from_report(fields: tuple[str, ...]) -> GoodgainError:
    """The same for an error of the core that comes from another process, as kind, message, where, hint."""
    kind, message, where, hint = fields
    return _KINDS[kind](message, where=where, hint=hint)


def to_report(error: GoodgainError) -> tuple[str, ...]:
    """Inverse of `from_report`."""
    kind = next((name for name, kind in _KINDS.items() if type(error) is kind), "input")
    return kind, error.message, error.where, error.hint


# What users of other tools call a parameter, and what it is called here.
_OTHER_NAMES = {
    "metrics": "measures",
    "metric": "measures",
    "measure": "measures",
    "baselines": "baseline",
    "random_seed": "seed",
    "random_state": "seed",
    "n_jobs": "threads",
    "num_threads": "threads",
    "judgments": "qrels",
    "relevance_level": "rel, a parameter of measures: 'AP(rel=2)'",
    "make_comparable": "missing",
    "stat_test": "test",
    "max_p": "alpha",
}


def file_not_found(path: str) -> InputError:
    """The error for a file that does not exist, with the file of the same folder that may be meant."""
    from difflib import get_close_matches
    from pathlib import Path

    place = Path(path)
    try:
        names = [entry.name for entry in place.parent.iterdir()]
    except OSError:
        names = []
    near = get_close_matches(place.name, names, n=1, cutoff=0.75)
    meant = f"did you mean '{place.with_name(near[0])}'?" if near else ""
    return InputError(
        f"file not found: '{path}'", hint=meant or "check the spelling and the folder"
    )


def keyword_hint(name: str, known: Iterable[str]) -> str:
    """A hint for a parameter that does not exist: its name here, or the nearest one."""
    names = list(known)
    other = _OTHER_NAMES.get(name)
    if other is not None and other.split(",")[0] in (*names, "rel"):
        return f"use {other}" if " " in other else f"use {other}="
    from difflib import get_close_matches

    near = get_close_matches(name, names, n=1)
    return f"did you mean {near[0]}=?" if near else f"parameters: {', '.join(names)}"


def suggest_keywords(function: Callable[P, R]) -> Callable[P, R]:
    """Turn the TypeError for an unknown keyword into a UsageError with the name that was meant."""

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except TypeError as error:
            code = function.__code__
            known = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
            unknown = next((name for name in kwargs if name not in known), None)
            if unknown is None or "unexpected keyword argument" not in str(error):
                raise
            name = function.__qualname__.removesuffix(".__init__")
            raise UsageError(
                f"{name}() has no parameter '{unknown}'",
                hint=keyword_hint(unknown, known),
            ) from None

    return call
