"""Extensions that other installed packages provide as entry points.

A group (`goodgain.measures`, `goodgain.trace_formats`, `goodgain.retrievers`, `goodgain.judges`) maps names
to objects. Nothing is imported until a name is used or the group is listed, a plug-in that fails to load is
a warning, and a built-in name always means the built-in.
"""

from __future__ import annotations

import sys
import warnings
from functools import lru_cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from importlib.metadata import EntryPoint
    from typing import Any


def plugin_names(group: str) -> list[str]:
    """The names in a group, sorted, without importing any plug-in."""
    return sorted(_entry_points(group, tuple(sys.path)))


def load_plugin(group: str, name: str, kind: type = object) -> Any | None:
    """The object that a plug-in provides under this name, or None.

    Look among the built-ins first, so that a plug-in cannot replace one. `kind` is the class that the
    object must be an instance of; one that is not, or that fails to load, is a warning and None.
    """
    return _load(group, name, kind, tuple(sys.path))


def load_plugins(group: str, builtin: Collection[str] = (), kind: type = object) -> dict[str, Any]:
    """Every plug-in of a group by name; one with the name of a built-in is left out with a warning."""
    plugins: dict[str, Any] = {}
    for name in plugin_names(group):
        if name in builtin:
            _warn_reserved(group, name, tuple(sys.path))
            continue
        plugin = load_plugin(group, name, kind)
        if plugin is not None:
            plugins[name] = plugin
    return plugins


@lru_cache(maxsize=64)
def _entry_points(group: str, search_path: tuple[str, ...]) -> dict[str, EntryPoint]:
    """The entry points of a group; of two with one name the first on the search path counts."""
    from importlib.metadata import entry_points

    by_name: dict[str, EntryPoint] = {}
    for entry_point in entry_points(group=group):
        first = by_name.setdefault(entry_point.name, entry_point)
        if first.value != entry_point.value:
            _warn(f"{_title(entry_point)} ignored: {_title(first)} has the same name")
    return by_name


@lru_cache(maxsize=1024)
def _load(group: str, name: str, kind: type, search_path: tuple[str, ...]) -> Any | None:
    entry_point = _entry_points(group, search_path).get(name)
    if entry_point is None:
        return None
    try:
        plugin = entry_point.load()
    except Exception as error:  # whatever someone else's module raises
        _warn(f"{_title(entry_point)} failed to load: {type(error).__name__}: {error}")
        return None
    if not isinstance(plugin, kind):
        _warn(
            f"{_title(entry_point)} ignored: it is a {type(plugin).__name__}, not a {kind.__name__}"
        )
        return None
    return plugin


@lru_cache(maxsize=1024)
def _warn_reserved(group: str, name: str, search_path: tuple[str, ...]) -> None:
    entry_point = _entry_points(group, search_path)[name]
    _warn(f"{_title(entry_point)} ignored: '{name}' is built in")


def _title(entry_point: EntryPoint) -> str:
    package = f" of package '{entry_point.dist.name}'" if entry_point.dist else ""
    return f"plug-in '{entry_point.name}' ({entry_point.group}, {entry_point.value}){package}"


def _warn(message: str) -> None:
    warnings.warn(message, UserWarning, stacklevel=4)
