"""The one registry of measures: ranked, agentic, cost, and users' own."""

from __future__ import annotations

from goodgain.errors import MeasureError
from goodgain.measures.table import FAMILIES, built_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from goodgain.measures.definition import Definition, Namespace

# What the measures of a ranked run can be; names are unique across these four.
RUN_NAMESPACES: tuple[Namespace, ...] = ("ranked", "cost", "spans", "custom")
_BUILT_IN: tuple[Namespace, ...] = ("ranked", "cost", "spans")
PLUGINS = "goodgain.measures"  # the entry-point group

_tables: dict[Namespace, dict[str, Definition]] = {"custom": {}}
_names: dict[Namespace, dict[str, Definition]] = {"custom": {}}


def _load(namespace: Namespace) -> None:
    table = {d.name: d for d in built_in(namespace)}
    _tables[namespace] = table
    # Names win over aliases, aliases over their spellings in other cases.
    spellings = [(name, d) for d in table.values() for name in _spellings(d)]
    _names[namespace] = {
        **{name.casefold(): d for name, d in reversed(spellings)},
        **dict(reversed(spellings)),
        **table,
    }


def _spellings(definition: Definition) -> tuple[str, ...]:
    """The names under which a measure is known: for agentic ones also as tables print them."""
    if definition.namespace == "agentic":
        return (definition.name, str(definition.kernel), definition.name.removesuffix("@i"))
    return (definition.name, *definition.aliases)


def definitions(*namespaces: Namespace) -> tuple[Definition, ...]:
    """All measures of the namespaces (by default: of all), in the order of the tables."""
    listed = namespaces or ("ranked", "cost", "spans", "custom", "agentic", "answers")
    if "custom" in listed:
        _add_plugins()
    return tuple(d for namespace in listed for d in _table(namespace).values())


def _table(namespace: Namespace) -> dict[str, Definition]:
    if namespace not in _tables and namespace in FAMILIES:
        _load(namespace)
    return _tables.get(namespace, {})


def find(
    name: str, namespaces: Iterable[Namespace] = RUN_NAMESPACES, *, fold: bool = True
) -> Definition | None:
    """The measure of this name or alias; with `fold` ignoring case if nothing matches exactly."""
    listed = tuple(namespaces)
    for text in (name, name.casefold()) if fold else (name,):
        for namespace in listed:
            _table(namespace)
            definition = _names.get(namespace, {}).get(text)
            if definition and (fold or text in _spellings(definition)):
                return definition
    return _plugin(name) if "custom" in listed and fold else None


def add(definition: Definition) -> None:
    """Add a user's measure; a name of a built-in measure is refused."""
    known = find(definition.name, _BUILT_IN)
    if known is not None:
        raise MeasureError(
            f"'{definition.name}' is the name of a built-in measure",
            hint=f"choose another name; see: goodgain measures {known.name}",
        )
    _tables["custom"][definition.name] = definition
    _names["custom"][definition.name] = definition
    _names["custom"].setdefault(definition.name.casefold(), definition)


def _plugin(name: str) -> Definition | None:
    """The measure that an installed package provides under this name."""
    from goodgain.plugins import load_plugin

    value = load_plugin(PLUGINS, name)
    if value is None:
        return None
    from goodgain.measures.custom import register_plugin

    return register_plugin(name, value)


def _add_plugins() -> None:
    from goodgain.plugins import load_plugins

    reserved = [name for namespace in _BUILT_IN for name in _table(namespace)]
    for name in load_plugins(PLUGINS, reserved):
        if name not in _tables["custom"]:
            _plugin(name)


def names() -> list[str]:
    """Every name and alias of measures of runs, for suggestions."""
    return [
        name
        for definition in definitions(*RUN_NAMESPACES)
        for name in (definition.name, *definition.aliases)
    ]
