"""The page of records: what results hold, and which name each documented class has."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING

import annotations
import package_pages

import goodgain

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = "reference/python/records.md"
INTRODUCTION = (
    "What results hold: each of `compare(...).pairs` is a `Pair`, and `evaluate(...).runs[0].coverage` is "
    "a `Coverage`. Functions make them, so you never do; they cannot be changed, and their "
    "fields are read by name."
)


def public() -> list[object]:
    """The public names of the package itself."""
    return [getattr(goodgain, name) for name in goodgain.__all__]


def packaged() -> Iterator[tuple[str, object]]:
    """The names of subpackages that have an entry, in full."""
    for package in package_pages.PACKAGES:
        for name in package.all_names:
            yield f"{package.module}.{name}", package_pages.value_of(package.module, name)


@functools.cache
def records() -> tuple[type, ...]:
    """The records without an entry of their own elsewhere."""
    local = (package for package in package_pages.PACKAGES if package.module != "goodgain.spark")
    types = [package_pages.value_of(each.module, name) for each in local for name in each.types]
    return tuple(annotations.records([*public(), *types], (value for _, value in packaged())))


@functools.cache
def names() -> dict[type, str]:
    """The name under which each class has an entry: the shortest one."""
    full = {cls: path(cls) for cls in records()}
    full |= {value: name for name, value in packaged() if inspect.isclass(value)}
    values = zip(goodgain.__all__, public(), strict=True)
    return full | {value: f"goodgain.{name}" for name, value in values if inspect.isclass(value)}


def path(cls: type) -> str:
    """Where a class is defined."""
    return f"{cls.__module__}.{cls.__name__}"


def pages() -> dict[str, str]:
    """Path to text of the page."""
    lines = ["# Records", "", INTRODUCTION, ""]
    for cls in records():
        lines += ["```{eval-rst}", f".. autoclass:: {path(cls)}()", "```", ""]
    return {PAGE: "\n".join(lines)}
