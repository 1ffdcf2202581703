"""Hints for keyword arguments that have another name here."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from goodgain.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
R = TypeVar("R")

# Other tools' names for `measures`.
METRIC_HINTS = dict.fromkeys(("metric", "metrics", "measure"), "use measures=")


def argument_hints(**hints: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Refuse these keyword arguments of a function with a hint: `@argument_hints(metric="use measures=")`."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        name = function.__qualname__.removesuffix(".__init__")

        @wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            for argument in kwargs:
                if argument in hints:
                    raise UsageError(f"{name}() has no argument '{argument}'", hint=hints[argument])
            return function(*args, **kwargs)

        return checked

    return decorate
