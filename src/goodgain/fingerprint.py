"""What a callable would do: a hash of its code and of all that the code refers to.

Defaults, closure, globals, and the state of the object it is bound to count; names and places in files do
not. The hash is the same in every process of one version of Python. What cannot be known, such as the
state of a client, is listed.
"""

from __future__ import annotations

import builtins
import datetime
import decimal
import dis
import enum
import fractions
import functools
import hashlib
import importlib.util
import math
import os
import re
import sys
import sysconfig
import types
import uuid
from collections import deque
from contextlib import suppress
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

_MAX_VALUES = 2_000_000
_PACKAGE_FOLDERS = {"site-packages", "dist-packages"}
_SIMPLE = (str, bytes, int, float, complex, type(None), type(...), range)
_AS_TEXT = (
    PurePath, datetime.date, datetime.time, datetime.timedelta, datetime.tzinfo, decimal.Decimal,
    fractions.Fraction, uuid.UUID, types.GenericAlias, types.UnionType,
)  # fmt: skip
_CONTAINERS = (str, bytes, int, float, complex, dict, list, tuple, set, frozenset, BaseException)
# They order or report calls, but do not decide what is returned.
_IRRELEVANT_MODULES = ("_thread", "threading", "asyncio", "logging", "warnings", "queue", "_queue")
_DESCRIPTORS = (
    types.MemberDescriptorType, types.GetSetDescriptorType, types.WrapperDescriptorType,
    types.MethodDescriptorType, types.ClassMethodDescriptorType,
)  # fmt: skip
_CLASS_NAMES = frozenset({
    "__dict__", "__weakref__", "__module__", "__doc__", "__annotations__", "__abstractmethods__",
    "_abc_impl", "__slots__", "__firstlineno__", "__static_attributes__", "__qualname__", "__annotate__",
    "__annotate_func__", "__annotations_cache__", "__dataclass_fields__", "__dataclass_params__",
    "__match_args__", "__orig_bases__", "__parameters__", "__protocol_attrs__",
    "__non_callable_proto_members__", "__hash__",
})  # fmt: skip


class _TooMuchError(Exception):
    """More data than is worth reading."""


class Fingerprint(NamedTuple):
    """A hash, and what it does not cover: "it uses 'client', a Client, whose state cannot be read"."""

    digest: str
    unknown: tuple[str, ...] = ()


def fingerprint(value: Any, stand_in: Callable[[Any], Any] | None = None) -> Fingerprint:
    """The fingerprint of a function, an object that can be called, or plain data.

    `stand_in` returns what an object is known by instead of its state, or None.
    """
    digest = _Digest(stand_in)
    try:
        return Fingerprint(digest.of(value).hex()[:20], tuple(digest.unknown))
    except RecursionError:
        problem = "its state is nested too deeply"
    except _TooMuchError:
        problem = "it refers to too much data"
    return Fingerprint(_hash("unread", _qualified(type(value))).hex()[:20], (problem,))


class _Digest:
    """One computation: an object inside itself is replaced by its distance."""

    def __init__(self, stand_in: Callable[[Any], Any] | None) -> None:
        self.unknown: list[str] = []
        self._stand_in = stand_in
        self._open: list[int] = []  # ids of the objects around the current one
        self._done: dict[int, tuple[Any, bytes]] = {}  # functions and classes, which many refer to
        self._values = 0

    def of(self, value: Any, name: str = "") -> bytes:
        """The hash of a value; `name` is where it was found, for the error."""
        self._values += 1
        if self._values > _MAX_VALUES:
            raise _TooMuchError
        if isinstance(value, _SIMPLE) and type(value).__module__ == "builtins":
            return _hash(type(value).__name__, _simple(value))
        if id(value) in self._done:
            return self._done[id(value)][1]
        if id(value) in self._open:
            return _hash("inside", str(len(self._open) - self._open.index(id(value))))
        self._open.append(id(value))
        try:
            result = self._compound(value, name)
        finally:
            self._open.pop()
        if isinstance(value, types.FunctionType | type) and not self._open:
            self._done[id(value)] = (value, result)
        return result

    def _compound(self, value: Any, name: str) -> bytes:
        if isinstance(value, types.FunctionType):
            return self._function(value)
        if isinstance(value, types.CodeType):
            return self._code(value)
        if isinstance(value, types.MethodType):
            return _hash("method", self.of(value.__func__), self.of(value.__self__, name))
        if isinstance(value, functools.partial):
            return _hash("partial", *map(self.of, (value.func, value.args, value.keywords)))
        if isinstance(value, staticmethod | classmethod) or hasattr(value, "cache_info"):
            return _hash(type(value).__name__, self.of(value.__wrapped__, name))
        if isinstance(value, property):
            return _hash("property", *map(self.of, (value.fget, value.fset, value.fdel)))
        if isinstance(value, functools.cached_property):
            return _hash("property", self.of(value.func))
        if isinstance(value, types.BuiltinFunctionType):
            owner = value.__self__
            if owner is None or isinstance(owner, types.ModuleType | type):
                return _hash("builtin", f"{value.__module__}.{value.__qualname__}")
            return _hash("builtin", value.__name__, self.of(owner, name))
        if isinstance(value, _DESCRIPTORS):
            return _hash("descriptor", value.__name__)
        if isinstance(value, types.ModuleType):
            return _hash("module", value.__name__, _version(value.__name__))
        if isinstance(value, type):
            return self._class(value)
        return self._data(value, name)

    def _data(self, value: Any, name: str) -> bytes:
        kind = type(value)
        if kind is bool:
            return _hash("bool", str(value))
        if isinstance(value, enum.Enum):
            return _hash("enum", _qualified(kind), value.name, self.of(value.value))
        if isinstance(value, re.Pattern):
            return _hash("pattern", self.of(value.pattern), str(value.flags))
        if isinstance(value, _AS_TEXT) or kind.__module__ == "typing":
            return _hash(_qualified(kind), repr(value))
        if kind.__module__ == "numpy" and hasattr(value, "tobytes") and not value.dtype.hasobject:
            return _hash("numpy", str(value.dtype), str(value.shape), value.tobytes())
        if kind.__module__.partition(".")[0] in _IRRELEVANT_MODULES:
            return _hash("irrelevant", _qualified(kind))
        contents = self._contents(value, name)
        if kind.__module__ in ("builtins", "collections") and contents is not None:
            return _hash(kind.__name__, contents)
        return self._object(value, name, contents or b"")

    def _contents(self, value: Any, name: str) -> bytes | None:
        """The hash of what a container or a subclass of a plain type holds; None for other objects."""
        if isinstance(value, dict | types.MappingProxyType):
            return _hash(  # in its order: the first rule that fits may be the one that counts
                *(self.of(k) + self.of(v, f"{name}[{k!r:.20}]") for k, v in value.items())
            )
        if isinstance(value, set | frozenset):
            return _hash(*sorted(map(self.of, value)))
        if isinstance(value, list | tuple | deque):
            return _hash(*(self.of(each, f"{name}[{i}]") for i, each in enumerate(value)))
        if isinstance(value, bytearray | memoryview):
            return _hash(bytes(value))
        if isinstance(value, slice):
            return self.of((value.start, value.stop, value.step))
        if isinstance(value, str | bytes | int | float | complex):
            return _hash(_simple(value))
        return None

    def _function(self, function: types.FunctionType) -> bytes:
        closure = self._closure(function)
        if _is_installed(function.__module__, function.__code__.co_filename):
            # Its version stands for the code, but not for what it was made with when it was called.
            varies = "<locals>" in function.__code__.co_qualname
            held = (function.__defaults__, function.__kwdefaults__) if varies else ()
            return _hash(
                "function", _qualified(function), _version(function.__module__), *closure,
                *(self.of(each, "a default") for each in held),
            )  # fmt: skip
        references = []
        for name in sorted(_names(function.__code__)):
            if name not in function.__globals__:
                if hasattr(builtins, name):
                    references.append(_hash("builtin", name))
                continue
            value = function.__globals__[name]
            references.append(_hash(name, self.of(value, name)))
            if isinstance(value, types.ModuleType):
                references += self._module(value, function.__code__, name)
        for module in _imported(function):
            references.append(_hash(module.__name__, self.of(module)))
            references += self._module(module, function.__code__, module.__name__)
        return _hash(
            "function", self._code(function.__code__), *closure, *references,
            self.of(function.__defaults__, "a default"), self.of(function.__kwdefaults__, "a default"),
            self.of(vars(function), "an attribute"),
        )  # fmt: skip

    def _closure(self, function: types.FunctionType) -> list[bytes]:
        """What the function refers to of the one around it."""
        closure = []
        for name, cell in zip(
            function.__code__.co_freevars, function.__closure__ or (), strict=True
        ):
            try:
                closure.append(self.of(cell.cell_contents, name))
            except ValueError:  # not assigned yet
                closure.append(b"")
        return closure

    def _module(
        self,
        module: types.ModuleType,
        code: types.CodeType,
        name: str,
        around: tuple[str, ...] = (),
    ) -> list[bytes]:
        """What code may use of a module of the user's own, and of the modules in it."""
        if _is_installed(module.__name__) or module.__name__ in around:
            return []
        hashes = []
        for each in sorted(_names(code) & vars(module).keys()):
            value, place = vars(module)[each], f"{name}.{each}"
            hashes.append(_hash(each, self.of(value, place)))
            if isinstance(value, types.ModuleType):
                hashes += self._module(value, code, place, (*around, module.__name__))
        return hashes

    def _code(self, code: types.CodeType) -> bytes:
        """The hash of what code does, without its name and its place in a file."""
        return _hash(
            "code", code.co_code, code.co_exceptiontable, str(code.co_flags), *map(repr, (
                code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars, code.co_argcount,
                code.co_posonlyargcount, code.co_kwonlyargcount,
            )), *map(self.of, code.co_consts),
        )  # fmt: skip

    def _class(self, kind: type) -> bytes:
        if kind.__module__ == "builtins" or _is_installed(kind.__module__):
            return _hash("class", _qualified(kind), _version(kind.__module__))
        own = [
            _hash(name, self.of(value, f"{kind.__name__}.{name}"))
            for name, value in sorted(vars(kind).items())
            if name not in _CLASS_NAMES
        ]
        return _hash("class", kind.__qualname__, *own, *map(self.of, kind.__bases__))

    def _object(self, value: Any, name: str, contents: bytes) -> bytes:
        kind = type(value)
        if self._stand_in is not None and (known := self._stand_in(value)) is not None:
            return _hash("known", _qualified(kind), self.of(known))
        if any(map(_has_hidden_state, kind.__mro__)):
            what = f"{kind.__module__}.{kind.__qualname__}"
            what = f"it uses '{name}', a {what}" if name else f"it is a {what}"
            self.unknown.append(f"{what}, whose state cannot be read")
            return _hash("hidden", _qualified(kind))
        prefix = f"{name}." if name else ""
        state = dict(getattr(value, "__dict__", {}))
        for base in kind.__mro__:
            slots = vars(base).get("__slots__", ())
            for slot in (slots,) if isinstance(slots, str) else slots:
                if slot not in ("__dict__", "__weakref__") and hasattr(value, slot):
                    state[slot] = getattr(value, slot)
        fields = (_hash(key, self.of(state[key], f"{prefix}{key}")) for key in sorted(state))
        return _hash("object", self.of(kind), contents, *fields)


def _has_hidden_state(kind: type) -> bool:
    """Whether instances hold more than Python can read: the class is written in C."""
    if kind is object or (kind.__module__ == "builtins" and issubclass(kind, _CONTAINERS)):
        return False
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    if file is None and kind.__module__ != "__main__":
        return True
    if file is not None and not file.endswith((".py", ".pyc")) and kind.__module__ != "__main__":
        return True
    slots = vars(kind).get("__slots__", ())
    own = 8 * (1 if isinstance(slots, str) else len(tuple(slots)))
    base = max(each.__basicsize__ for each in kind.__bases__)
    return kind.__basicsize__ > base + own + 16  # the pointers to __dict__ and to weak references


def _hash(*pieces: bytes | str) -> bytes:
    digest = hashlib.sha256()
    for piece in pieces:
        data = piece.encode("utf-8", "surrogatepass") if isinstance(piece, str) else piece
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.digest()


def _simple(value: Any) -> bytes | str:
    if isinstance(value, str | bytes):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{int(value):x}"
    if isinstance(value, float):
        return "nan" if math.isnan(value) else float(value).hex()
    return repr(value)


def _names(code: types.CodeType) -> set[str]:
    """The names of globals and attributes that code and the functions in it use."""
    inner = (each for each in code.co_consts if isinstance(each, types.CodeType))
    return set(code.co_names).union(*map(_names, inner))


def _imported(function: types.FunctionType) -> list[types.ModuleType]:
    """The modules that a function imports when it is called."""
    package = function.__globals__.get("__package__") or ""
    modules = {}
    for name, level in sorted(_imports(function.__code__)):
        with suppress(Exception, SystemExit):  # then it cannot be called either, or does without
            full = importlib.util.resolve_name("." * level + name, package or None)
            modules[full] = importlib.import_module(full)
    return list(modules.values())


def _imports(code: types.CodeType) -> set[tuple[str, int]]:
    """The names and levels of the import statements in code and the functions in it."""
    imports: set[tuple[str, int]] = set()
    constants: list[Any] = []
    for instruction in dis.get_instructions(code):
        if instruction.opname == "IMPORT_NAME":
            level = constants[-2] if len(constants) > 1 else 0
            imports.add((instruction.argval, level if isinstance(level, int) else 0))
        elif instruction.opname.startswith("LOAD_"):
            constants.append(instruction.argval)
    inner = (each for each in code.co_consts if isinstance(each, types.CodeType))
    return imports.union(*map(_imports, inner))


def _qualified(value: Any) -> str:
    return f"{value.__module__}.{value.__qualname__}"


@functools.cache
def _installed_folders() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    return tuple(
        {os.path.realpath(paths[name]) + os.sep for name in ("stdlib", "purelib", "platlib")}
    )


def _is_installed(module: str | None, file: str | None = None) -> bool:
    """Whether code belongs to Python or to an installed package, whose version stands for it."""
    if module in sys.builtin_module_names:
        return True
    if file is None or file.startswith("<"):
        file = getattr(sys.modules.get(module or ""), "__file__", None)
    if file is None:
        return (module or "").partition(".")[0] in sys.stdlib_module_names
    real = os.path.realpath(file)
    # of another environment, too: that of the system, of the user, or on a path of one's own
    return real.startswith(_installed_folders()) or not _PACKAGE_FOLDERS.isdisjoint(
        PurePath(real).parts
    )


def _version(module: str) -> str:
    package = sys.modules.get(module.partition(".")[0])
    return str(getattr(package, "__version__", ""))
