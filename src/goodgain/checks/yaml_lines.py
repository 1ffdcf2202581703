"""YAML in which every mapping knows its line, so that an error can name the place."""

from __future__ import annotations

from typing import Any

from goodgain.errors import InputError, MissingExtraError

_HINT = "is the file complete, and YAML?"
_MOST_VALUES = 1_000_000  # after aliases are replaced by what they stand for


def load_yaml(text: str, name: str) -> Any:
    """Parse YAML; each mapping has its line under the key None, and repeated keys are errors."""
    try:
        import yaml
    except ModuleNotFoundError:
        raise MissingExtraError.for_package("pyyaml", "check", "reading YAML") from None

    class Loader(yaml.SafeLoader):  # type: ignore[misc]
        pass

    def mapping(loader: Any, node: Any) -> dict[Any, Any]:
        loader.flatten_mapping(node)
        values: dict[Any, Any] = {None: node.start_mark.line + 1}
        for key_node, value_node in node.value:
            key = loader.construct_object(key_node, deep=True)
            line = key_node.start_mark.line + 1
            if not isinstance(key, str | int | float):
                raise InputError(f"a key must be text, got {key!r:.40}", where=f"{name}:{line}",
                                 hint="put it in quotes")  # fmt: skip
            if str(key) in values:
                raise InputError(f"duplicate key '{key}'", where=f"{name}:{line}",
                                 hint="remove one of them")  # fmt: skip
            values[str(key)] = loader.construct_object(value_node, deep=True)
        return values

    Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, mapping)
    try:
        loader = Loader(text)
        try:
            node = loader.get_single_node()
            if node is None:
                return None
            if _expanded(node, {}) > _MOST_VALUES:
                raise InputError(
                    f"the aliases of the YAML stand for more than {_MOST_VALUES:,} values",
                    where=name, hint="write the values out",
                )  # fmt: skip
            return loader.construct_document(node)
        finally:
            loader.dispose()
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{name}:{mark.line + 1}" if mark else name
        problem = getattr(error, "problem", None) or str(error).split("\n")[0]
        raise InputError(f"invalid YAML: {problem}", where=where, hint=_HINT) from None
    except RecursionError:
        raise InputError("the YAML is nested too deeply", where=name, hint=_HINT) from None
    except ValueError as error:  # a date that does not exist, for example
        if isinstance(error, InputError):
            raise
        raise InputError(f"invalid YAML: {error}", where=name, hint=_HINT) from None


def _expanded(node: Any, sizes: dict[int, float]) -> float:
    """How many values a node has with its aliases expanded; infinitely many if it holds itself."""
    if id(node) not in sizes:
        sizes[id(node)] = float("inf")
        items = node.value if isinstance(node.value, list) else ()
        nodes = (n for item in items for n in (item if isinstance(item, tuple) else (item,)))
        sizes[id(node)] = 1 + sum(_expanded(each, sizes) for each in nodes)
    return sizes[id(node)]
