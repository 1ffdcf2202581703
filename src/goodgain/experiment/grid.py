"""A grid of settings, expanded to ordinary systems: `hybrid[size=200, alpha=0.3]`.

A parameter of the grid belongs to one system, or to all systems that have it; those then share its value in
every point, also inside a hybrid. A system built on others has a point for every point of these.
"""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

from goodgain.errors import UsageError, keyword_hint
from goodgain.experiment.chunks import SETTINGS as CHUNK_SETTINGS
from goodgain.experiment.chunks import Chunked
from goodgain.experiment.retrievers.base import Retriever

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LIMIT = 500  # systems of a grid that nobody has to confirm
CHUNK = "chunk"  # the settings of a system over chunks, as in a TOML file
COMPONENTS = "of"  # the parameter of retrievers that names other systems
_LABEL = 40  # characters of a value in a name


class Expansion(NamedTuple):
    """The systems by name, the points of each grid, and the parameters of each point."""

    systems: dict[str, Any]
    grids: dict[str, tuple[str, ...]]
    points: dict[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Recipe:
    """A system that a function makes of parameters."""

    make: Callable[..., Any]
    parameters: Mapping[str, Any]
    where: str = ""  # for messages

    def system(self, name: str) -> Any:
        """The system."""
        try:
            return self.make(**self.parameters)
        except TypeError as error:
            raise UsageError(
                f"the system '{name}' has an invalid parameter: {error}", where=self.where
            ) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """One parameter and its values; `system` is empty if all systems that have it share it."""

    path: str
    values: tuple[Any, ...]
    labels: tuple[str, ...]
    system: str = ""

    @property
    def key(self) -> str:
        """Its full name."""
        return f"{self.system}.{self.path}" if self.system else self.path

    @property
    def short(self) -> str:
        """The last part of its name: "size" for "chunk.size"."""
        return self.path.rpartition(".")[2]


def expand(systems: Mapping[str, Any], grid: Mapping[str, Any], limit: int = LIMIT) -> Expansion:
    """Every system at every point of the grid; systems without a parameter in it stay as they are."""
    axes = _axes(systems, grid)
    own = _assigned(systems, axes)
    all_axes = {name: _with_components(name, systems, own, ()) for name in systems}
    ordered = {name: [axis for axis in axes if axis.key in keys] for name, keys in all_axes.items()}
    sizes = {name: _size(each) for name, each in ordered.items() if each}
    total = sum(sizes.values())
    if total > limit:
        largest = ", ".join(f"{name} has {size:,}" for name, size in sizes.items())
        raise UsageError(
            f"the grid has {total:,} points, more than grid_limit = {limit:,}",
            hint=f"{largest}; grid_limit = {total} runs them all",
        )
    expanded: dict[str, Any] = {}
    grids: dict[str, tuple[str, ...]] = {}
    points: dict[str, dict[str, Any]] = {}
    for name, search in systems.items():
        if not ordered[name]:
            expanded[name] = search
            continue
        labels = _axis_labels(ordered[name])
        names = []
        for choice in _choices(ordered[name]):
            point = _point_name(name, ordered[name], choice)
            changes = {axis.path: axis.values[choice[axis.key]] for axis in own[name]}
            components = {
                other: _point_name(other, ordered[other], choice)
                for other in _component_names(search)
                if ordered.get(other)
            }
            if point in systems or point in expanded:
                raise UsageError(f"duplicate system '{point}'", hint="a point has this name")
            expanded[point] = renamed(vary(search, changes, name), components)
            points[point] = {
                labels[axis.key]: axis.values[choice[axis.key]] for axis in ordered[name]
            }
            names.append(point)
        grids[name] = tuple(names)
    return Expansion(expanded, grids, points)


def _axes(systems: Mapping[str, Any], grid: Mapping[str, Any]) -> list[Axis]:
    """The parameters of a grid: {parameter: values}, nested or with dots, and {system: {...}}."""
    if not isinstance(grid, Mapping):
        raise UsageError(f"a grid has values by parameter, got {type(grid).__name__}")
    axes = []
    for name, value in grid.items():
        system = name if name in systems and isinstance(value, Mapping) else ""
        for path, values in _leaves(value, "" if system else name):
            axes.append(_axis(path, values, system))
    keys = [axis.key for axis in axes]
    for key in keys:
        if keys.count(key) > 1:
            raise UsageError(f"duplicate parameter '{key}' in the grid")
    if not axes:
        raise UsageError("the grid has no parameters", hint="for example grid={'k1': [0.9, 1.2]}")
    return axes


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if not isinstance(value, Mapping):
        yield path, value
        return
    for name, inner in value.items():
        yield from _leaves(inner, f"{path}.{name}" if path else str(name))


def _axis(path: str, values: Any, system: str) -> Axis:
    where = f"'{path}' of the system '{system}'" if system else f"'{path}'"
    if hasattr(values, "tolist"):
        values = values.tolist()
    if isinstance(values, str | bytes) or not isinstance(values, Sequence):
        raise UsageError(
            f"the grid needs a list of values for {where}, got {values!r:.60}",
            hint=f"a single value belongs to the system itself: {path} = [{values!r:.30}] is a list",
        )
    if not values:
        raise UsageError(f"the grid has an empty list for {where}")
    for i, value in enumerate(values):
        if any(_is_same(value, other) for other in values[:i]):
            raise UsageError(f"the grid has the value {value!r:.60} twice for {where}")
    return Axis(path=path, values=tuple(values), labels=_value_labels(values), system=system)


def _is_same(a: Any, b: Any) -> bool:
    if a is b:
        return True
    plain = (str, int, float, bool, list, tuple, dict, type(None))
    return isinstance(a, plain) and type(a) is type(b) and bool(a == b)


def _assigned(systems: Mapping[str, Any], axes: list[Axis]) -> dict[str, list[Axis]]:
    """The parameters that vary in each system itself.

    A parameter without a system varies in those that set it or, if none does, in all that have it.
    """
    assigned: dict[str, list[Axis]] = {name: [] for name in systems}
    for axis in axes:
        first = axis.path.partition(".")[0]
        if axis.system:
            _require_parameter(systems[axis.system], first, axis.system)
            assigned[axis.system].append(axis)
            continue
        having = [name for name, search in systems.items() if first in parameters_of(search)]
        users = [name for name in having if _is_set(systems[name], first)] or having
        if not users:
            known = dict.fromkeys(p for search in systems.values() for p in parameters_of(search))
            raise UsageError(
                f"no system has the parameter '{first}' of the grid",
                hint=keyword_hint(first, [*known, *systems]),
            )
        for name in users:
            assigned[name].append(axis)
    for name, own in assigned.items():
        paths = [axis.path for axis in own]
        for axis in own:
            if paths.count(axis.path) > 1:
                raise UsageError(
                    f"the grid varies '{axis.path}' of the system '{name}' twice",
                    hint="once for all systems and once for this one",
                )
    return assigned


def _with_components(
    name: str, systems: Mapping[str, Any], own: Mapping[str, list[Axis]], above: tuple[str, ...]
) -> set[str]:
    """The keys of all parameters that vary in a system or in those it is built on."""
    keys = {axis.key for axis in own[name]}
    for other in _component_names(systems[name]):
        if other in systems and other not in (*above, name):
            keys |= _with_components(other, systems, own, (*above, name))
    return keys


def _component_names(search: Any) -> list[str]:
    """The names of systems that a retriever is built on, also inside its components."""
    names: list[str] = []
    for parameter, value in _component_values(search):
        for each in value if isinstance(value, list | tuple) else [value]:
            if isinstance(each, Retriever):
                names += _component_names(each)
            elif isinstance(each, str) and parameter == COMPONENTS:
                names.append(each)
    return names


def _component_values(search: Any) -> Iterator[tuple[str, Any]]:
    for name in _own_parameters(search) if isinstance(search, Retriever) else ():
        yield name, getattr(search, name, None)


def _size(axes: list[Axis]) -> int:
    size = 1
    for axis in axes:
        size *= len(axis.values)
    return size


def _choices(axes: list[Axis]) -> Iterator[dict[str, int]]:
    """Every point as the position of its value on each axis."""
    for positions in product(*(range(len(axis.values)) for axis in axes)):
        yield {axis.key: i for axis, i in zip(axes, positions, strict=True)}


def _point_name(name: str, axes: list[Axis], choice: Mapping[str, int]) -> str:
    labels = _axis_labels(axes)
    values = (f"{labels[axis.key]}={axis.labels[choice[axis.key]]}" for axis in axes)
    return f"{name}[{', '.join(values)}]"


def _axis_labels(axes: list[Axis]) -> dict[str, str]:
    """The shortest name of each parameter that no other has: its last part, its path, or all of it."""
    labels = {}
    for axis in axes:
        for level in ("short", "path", "key"):
            label = getattr(axis, level)
            if sum(getattr(other, level) == label for other in axes) == 1:
                labels[axis.key] = label
                break
    return labels


def _value_labels(values: Sequence[Any]) -> tuple[str, ...]:
    """A text for each value; equal ones are numbered."""
    labels: list[str] = []
    for value in values:
        label = _value_label(value)
        number = 1
        while (unique := label if number == 1 else f"{label}#{number}") in labels:
            number += 1
        labels.append(unique)
    return tuple(labels)


def _value_label(value: Any) -> str:
    if isinstance(value, str):
        text = value
    elif isinstance(value, Retriever):
        text = value.name or type(value).__name__
    elif callable(value):
        text = getattr(value, "__name__", type(value).__name__)
    elif value is None or isinstance(value, bool | int | float):
        text = json.dumps(value)
    else:
        try:
            text = json.dumps(value, separators=(",", ":")).replace('"', "")
        except (TypeError, ValueError):
            text = type(value).__name__
    return " ".join(text.split())[:_LABEL]


# --- systems with other parameters ---


def parameters_of(search: Any) -> dict[str, inspect.Parameter]:
    """What can vary: its own parameters and, of a system over chunks, also those of what searches these."""
    if isinstance(search, Chunked):
        own = _own_parameters(search)
        return {**parameters_of(search.of), **own, CHUNK: own["splitter"]}
    return _own_parameters(search)


def _own_parameters(search: Any) -> dict[str, inspect.Parameter]:
    """The parameters of a constructor, or those of a function after the query."""
    if isinstance(search, Recipe):
        return dict(inspect.signature(search.make).parameters)
    target = search if _is_function(search) else type(search)
    try:
        parameters = dict(inspect.signature(target).parameters)
    except (TypeError, ValueError):
        return {}
    if _is_function(search):
        parameters = dict(list(parameters.items())[1:])
    fixed = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    return {name: p for name, p in parameters.items() if p.kind not in fixed}


def _is_function(search: Any) -> bool:
    return inspect.isroutine(search) or isinstance(search, functools.partial)


def _is_set(search: Any, name: str) -> bool:
    """Whether a system has a value of its own for a parameter."""
    if isinstance(search, Recipe):
        return name in search.parameters
    if isinstance(search, Chunked) and name not in _own_parameters(search):
        return name == CHUNK or _is_set(search.of, name)
    default = parameters_of(search)[name].default
    if isinstance(search, functools.partial):
        return name in search.keywords
    value = getattr(search, name, default) if not _is_function(search) else default
    return not _is_same(value, default)


def _require_parameter(search: Any, name: str, system: str) -> None:
    parameters = parameters_of(search)
    if name not in parameters:
        raise UsageError(
            f"unknown parameter '{name}' for the system '{system}' in the grid",
            hint=keyword_hint(name, list(parameters)) if parameters else "it has no parameters",
        )


def vary(search: Any, changes: Mapping[str, Any], system: str) -> Any:
    """The same system with other values of some parameters; a path such as "chunk.size" goes inside."""
    if not changes:
        return search
    for path in changes:
        _require_parameter(search, path.partition(".")[0], system)
    if isinstance(search, Chunked):
        changes = {
            _inside_chunked(search, path): value
            for change in changes.items()
            for path, value in _chunk_settings(change)
        }
    if isinstance(search, Recipe):
        return replace(search, parameters=_changed(dict(search.parameters), changes, system))
    if _is_function(search):
        nested = next((path for path in changes if "." in path), None)
        if nested is not None:
            raise UsageError(f"the function of the system '{system}' has no '{nested}'")
        return functools.partial(search, **changes)
    return type(search)(**_changed(_arguments(search, system), changes, system))


def _chunk_settings(change: tuple[str, Any]) -> list[tuple[str, Any]]:
    """All settings of chunks where the grid varies them together: chunk = [{...}, {...}]."""
    path, value = change
    if path != CHUNK or not isinstance(value, Mapping):
        return [change]
    return [
        (f"{CHUNK}.{name}", value.get(name)) for name in dict.fromkeys([*CHUNK_SETTINGS, *value])
    ]


def _inside_chunked(search: Chunked, path: str) -> str:
    """Where a parameter of a system over chunks is: "chunk.size" is its own, "k1" that of its retriever."""
    first, _, rest = path.partition(".")
    if first == CHUNK and rest:
        known = _own_parameters(search)
        return rest if rest.partition(".")[0] in known else f"parameters.{rest}"
    return path if first in _own_parameters(search) else f"{COMPONENTS}.{path}"


def _arguments(search: Any, system: str) -> dict[str, Any]:
    """The arguments that an object was made with, which it stores under their own names."""
    arguments = {}
    for name in _own_parameters(search):
        if not hasattr(search, name):
            raise UsageError(
                f"the grid cannot vary the system '{system}': a {type(search).__name__} does not store its "
                f"parameter '{name}'",
                hint=f"store it as self.{name}",
            )
        arguments[name] = getattr(search, name)
    return arguments


def _changed(values: dict[str, Any], changes: Mapping[str, Any], system: str) -> dict[str, Any]:
    for path, value in changes.items():
        first, _, rest = path.partition(".")
        values[first] = _set_inside(values.get(first), rest, value, system)
    return values


def _set_inside(old: Any, path: str, value: Any, system: str) -> Any:
    """A copy of what a parameter holds, with another value at a path inside it."""
    if not path:
        return value
    first, _, rest = path.partition(".")
    if old is None or isinstance(old, Mapping):
        inner = dict(old or {})
        inner[first] = _set_inside(inner.get(first), rest, value, system)
        return inner
    if isinstance(old, list | tuple):
        if not first.isdigit() or int(first) >= len(old):
            raise UsageError(f"'{first}' is not a position in a list of {len(old)} in the grid")
        items = list(old)
        items[int(first)] = _set_inside(items[int(first)], rest, value, system)
        return items
    if isinstance(old, str | int | float):
        raise UsageError(f"the grid has '{path}' inside {old!r:.40} of the system '{system}'")
    return vary(old, {path: value}, system)


def renamed(search: Any, names: Mapping[str, str]) -> Any:
    """The same retriever built on other systems."""
    if not set(names) & set(_component_names(search)):
        return search

    def rename(value: Any, parameter: str) -> Any:
        if isinstance(value, list | tuple) and parameter == COMPONENTS:
            return [rename(each, parameter) for each in value]
        if isinstance(value, str) and parameter == COMPONENTS:
            return names.get(value, value)
        return renamed(value, names)

    arguments = _arguments(search, search.name)
    return type(search)(**{name: rename(value, name) for name, value in arguments.items()})
