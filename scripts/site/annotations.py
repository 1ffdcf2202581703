"""What names in annotations stand for: the text of an alias or a typed dictionary, the class of a record."""

from __future__ import annotations

import ast
import dataclasses
import functools
import inspect
import re
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

WORD = re.compile(r"(?<![\w.'\"])[A-Z]\w*")
UNPACKED = re.compile(r"\*\*\w+: Unpack\[(?:~?[\w.]+\.)?(\w+)\]")


@functools.cache
def scope(module: str) -> dict[str, ast.stmt]:
    """The statements of a module that define or import a name, also for type checkers only."""
    path = import_module(module).__file__
    if path is None or not path.endswith(".py"):
        return {}
    names: dict[str, ast.stmt] = {}
    for node in statements(ast.parse(Path(path).read_text(encoding="utf-8")).body):
        if isinstance(node, ast.ImportFrom):
            names |= {alias.asname or alias.name: node for alias in node.names}
        elif isinstance(node, ast.ClassDef):
            names[node.name] = node
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            names[node.targets[0].id] = node
    return names


def statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements at the top of a module, including those under a condition."""
    for node in body:
        yield node
        if isinstance(node, ast.If):
            yield from statements(node.body)


def resolve(module: str, name: str) -> tuple[str, ast.stmt] | None:
    """The module of goodgain and the statement that define a name; None if it is from elsewhere."""
    node = scope(module).get(name)
    while isinstance(node, ast.ImportFrom):
        if node.level or not (node.module or "").startswith("goodgain"):
            return None
        module = str(node.module)
        name = next(a.name for a in node.names if (a.asname or a.name) == name)
        node = scope(module).get(name)
    return (module, node) if node else None


def class_of(module: str, name: str) -> type | None:
    """The class of goodgain that a name in a module is."""
    found = resolve(module, name)
    if found is None or not isinstance(found[1], ast.ClassDef):
        return None
    value = getattr(import_module(found[0]), found[1].name, None)
    return value if inspect.isclass(value) else None


def expanded(text: str, module: str) -> str:
    """An annotation with aliases written out."""

    def alias(match: re.Match[str]) -> str:
        found = resolve(module, match[0])
        if found is None or not isinstance(found[1], ast.Assign):
            return match[0]
        return expanded(ast.unparse(found[1].value), found[0])

    return WORD.sub(alias, text)


def unpacked(signature: str, module: str) -> str:
    """A signature with the keywords of typed dictionaries written out."""

    def keywords(match: re.Match[str]) -> str:
        found = resolve(module, match[1])
        if found is None or not isinstance(found[1], ast.ClassDef):
            return match[0]
        rows = [row for row in found[1].body if isinstance(row, ast.AnnAssign)]
        fields = (f"{ast.unparse(row.target)}: {ast.unparse(row.annotation)} = ..." for row in rows)
        return ", ".join(expanded(field, found[0]) for field in fields)

    return UNPACKED.sub(keywords, signature)


def rewrite(values: Iterable[object], names: Mapping[type, str]) -> None:
    """Write out the aliases in the annotations of functions and classes, with full names of classes."""
    for value in values:
        for function in functions_of(value):
            for key, text in function.__annotations__.items():
                if isinstance(text, str):
                    function.__annotations__[key] = qualified(text, function.__module__, names)


def qualified(text: str, module: str, names: Mapping[type, str], form: str = "~{}") -> str:
    """An annotation in which classes of goodgain have full names: those of their entries, if there are."""

    def full(match: re.Match[str]) -> str:
        cls = class_of(module, match[0])
        name = cls and names.get(cls, f"{cls.__module__}.{cls.__qualname__}")
        return form.format(name) if name else match[0]

    return WORD.sub(full, expanded(text, module))


def functions_of(value: object) -> Iterator[FunctionType]:
    """A function, or those of a class: its methods and properties."""
    if isinstance(value, FunctionType):
        yield value
    elif inspect.isclass(value):
        for cls in value.__mro__:
            if cls.__module__.startswith("goodgain"):
                functions = map(function_of, vars(cls).values())
                yield from (each for each in functions if isinstance(each, FunctionType))


def function_of(member: object) -> object:
    """The function behind a member of a class, if there is one."""
    for name in ("fget", "func", "__func__"):
        member = getattr(member, name, member)
    return member


def records(public: Iterable[object], known: Iterable[object]) -> list[type]:
    """The records that public names return or hold, directly or in other records, without those known."""
    waiting = list(public)
    seen = {id(value) for value in (*waiting, *known)}
    classes: list[type] = []
    while waiting:
        named = [cls for value in waiting for cls in records_of(value)]
        waiting = [cls for cls in dict.fromkeys(named) if id(cls) not in seen]
        seen |= set(map(id, waiting))
        classes += waiting
    return sorted(classes, key=lambda cls: (cls.__name__, cls.__module__))


def records_of(value: object) -> Iterator[type]:
    """The records that a function returns, or that a class and its members hold and return."""
    for module, text in results_of(value):
        for name in WORD.findall(expanded(text, module)):
            cls = class_of(module, name)
            if dataclasses.is_dataclass(cls):
                yield cls


def results_of(value: object) -> Iterator[tuple[str, str]]:
    """The annotations of what a function returns, or of the fields of a class and what its members return."""
    if dataclasses.is_dataclass(value):
        fields = (field for field in dataclasses.fields(value) if not field.name.startswith("_"))
        yield from ((value.__module__, str(field.type)) for field in fields)
    for function in functions_of(value):
        if not function.__name__.startswith("_"):
            yield function.__module__, str(function.__annotations__.get("return", ""))
