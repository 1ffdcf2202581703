"""Frozen dataclasses that are cheap to define, for the modules that every command imports.

The standard decorator imports `inspect` and compiles six methods for each class: together 15 ms before
`goodgain evaluate` can begin. Here methods are shared functions. Type checkers see the standard decorator;
`dataclasses.fields`, `replace` and `asdict` work, and so does `inspect.signature`.
"""

from __future__ import annotations

from functools import cache
from operator import attrgetter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from dataclasses import dataclass, field
    from typing import Any
else:

    def dataclass(*, frozen, slots=False, init=True, eq=True, repr=True, kw_only=False):  # noqa: A002
        """The standard decorator of this name, for frozen classes."""
        if not frozen:
            raise TypeError("records are frozen")
        return lambda cls: _record(cls, slots, init, eq, repr, kw_only)

    def field(*, default_factory):
        """A default that is created for each record."""
        return _Factory(default_factory)


__all__ = ["dataclass", "field"]


class _Factory:
    """Makes the default of a field."""

    __slots__ = ("make",)

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make


class _Lazy:
    """A class attribute that is computed when it is read."""

    __slots__ = ("compute",)

    def __init__(self, compute: Callable[[type], Any]) -> None:
        self.compute = compute

    def __get__(self, instance: object, owner: type) -> Any:
        return self.compute(owner)


def _record(cls: type, slots: bool, init: bool, eq: bool, repr: bool, kw_only: bool) -> type:  # noqa: A002
    """The class with the methods of a frozen dataclass; with slots it has to be a new class."""
    names = tuple(n for n, kind in cls.__annotations__.items() if "ClassVar" not in str(kind))
    body = {k: v for k, v in vars(cls).items() if k not in ("__dict__", "__weakref__")}
    if eq and body.get("__hash__", hash) is None:  # the class has an __eq__ of its own
        del body["__hash__"]
    defaults = {name: body[name] for name in names if name in body}
    values = attrgetter(*names) if len(names) > 1 else lambda self: (getattr(self, names[0]),)
    methods: dict[str, Any] = {
        "__setattr__": _refuse_change,
        "__delattr__": _refuse_change,
        "__match_args__": names if init and not kw_only else (),
        "__record_fields__": (names, defaults, kw_only),
        "__dataclass_fields__": _Lazy(lambda cls: _standard(cls).__dataclass_fields__),
    }
    if init:
        checked = "__post_init__" in body
        methods["__init__"] = _init(cls.__name__, names, defaults, kw_only, checked)
        methods["__signature__"] = _Lazy(_signature)
    if repr:
        methods["__repr__"] = _repr
    if eq:
        methods["__eq__"] = lambda self, other: (
            values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented
        )
        methods["__hash__"] = lambda self: hash(values(self))
    if not slots:
        for name, value in methods.items():
            if name not in body:
                setattr(cls, name, value)
        return cls
    methods |= {
        "__slots__": names,
        "__getstate__": lambda self: values(self),
        "__setstate__": _set_all,
    }
    methods |= {name: value for name, value in body.items() if name not in defaults}
    new = type(cls)(cls.__name__, cls.__bases__, methods)
    new.__qualname__ = cls.__qualname__
    return new


def _init(
    name: str, names: tuple[str, ...], defaults: dict[str, Any], kw_only: bool, checked: bool
) -> Callable[..., None]:
    positional = 0 if kw_only else len(names)
    set_field = object.__setattr__

    def init(self: Any, /, *args: Any, **values: Any) -> None:
        if len(args) > positional:
            raise TypeError(f"{name}() takes {positional} positional arguments, got {len(args)}")
        for field_name, value in zip(names, args, strict=False):
            set_field(self, field_name, value)
        for field_name in names[len(args) :]:
            try:
                value = values.pop(field_name) if field_name in values else defaults[field_name]
            except KeyError:
                raise TypeError(f"{name}() missing required argument: '{field_name}'") from None
            set_field(self, field_name, value.make() if value.__class__ is _Factory else value)
        if values:
            raise TypeError(f"{name}() got an unexpected or repeated argument '{min(values)}'")
        if checked:
            self.__post_init__()

    return init


def _refuse_change(self: Any, name: str, value: object = None) -> None:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot change field '{name}' of {type(self).__name__}")


def _set_all(self: Any, state: tuple[Any, ...]) -> None:
    for name, value in zip(self.__record_fields__[0], state, strict=True):
        object.__setattr__(self, name, value)


def _repr(self: Any) -> str:
    fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__record_fields__[0])
    return f"{type(self).__qualname__}({fields})"


@cache
def _standard(cls: type) -> Any:
    """A standard dataclass with the same fields, for those who inspect the class."""
    import dataclasses

    names, defaults, kw_only = cls.__record_fields__  # type: ignore[attr-defined]
    fields: list[Any] = []
    for name in names:
        options = {}
        if name in defaults:
            default = defaults[name]
            is_factory = isinstance(default, _Factory)
            options = {"default_factory": default.make} if is_factory else {"default": default}
        fields.append((name, cls.__annotations__[name], dataclasses.field(**options)))
    return dataclasses.make_dataclass(cls.__name__, fields, frozen=True, kw_only=kw_only)


def _signature(cls: type) -> Any:
    import inspect

    return inspect.signature(_standard(cls))
