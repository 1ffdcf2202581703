"""Who judged: what tells one judge from another, so that no two share labels.

A judge that has a `model` is identified by that name and its `parameters`. Any other is identified by a hash
of its code and of all that the code refers to: defaults, closure, globals, the state of the object it is
bound to. The hash is the same in every process of one version of Python. What cannot be known, such as the
state of a client, is refused: the user then has to name the judge.
"""

from __future__ import annotations

import builtins
import datetime
import decimal
import enum
import fractions
import functools
import hashlib
import math
import os
import re
import sys
import sysconfig
import types
import uuid
from collections import deque
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from goodgain.errors import UsageError

_MAX_VALUES = 2_000_000
_SIMPLE = (str, bytes, int, float, complex, type(None), type(...), range)
_AS_TEXT = (
    PurePath, datetime.date, datetime.time, datetime.timedelta, datetime.tzinfo, decimal.Decimal,
    fractions.Fraction, uuid.UUID, types.GenericAlias, types.UnionType,
)  # fmt: skip
_CONTAINERS = (str, bytes, int, float, complex, dict, list, tuple, set, frozenset, BaseException)
# They order or report calls, but do not decide what is returned.
_IRRELEVANT_MODULES = ("_thread", "threading", "asyncio", "logging", "warnings", "queue")
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
_SECRET = re.compile(
    r"key|token|secret|password|pwd|auth|credential|signature|\bsig\b", re.IGNORECASE
)
_PORTS = {"http": 80, "https": 443}


class _UnknownError(Exception):
    """A value that cannot be told from another one."""


def model_of(judge: Any, name: str | None = None) -> str:
    """The name under which its labels are stored: `name`, its `model`, or its qualified name."""
    model = name or getattr(judge, "model", None)
    if model:
        return str(model)
    while isinstance(judge, functools.partial):
        judge = judge.func
    kind = judge if hasattr(judge, "__qualname__") else type(judge)
    return f"{kind.__module__}.{kind.__qualname__}"


def has_name(judge: Any) -> bool:
    """Whether its author has named it, so that its code need not be read."""
    return bool(getattr(judge, "model", None))


def parameters_of(judge: Any, name: str | None = None) -> dict[str, Any]:
    """What else tells it from other judges: its `parameters`, and a hash of its code if it has no name."""
    parameters = getattr(judge, "parameters", None)
    settings = dict(parameters) if isinstance(parameters, Mapping) else {}
    if not (name or has_name(judge)):
        settings["code"] = code_digest(judge)
    return settings


def code_digest(judge: Any) -> str:
    """A hash of a callable's code and state; refuses one whose state cannot be known."""
    try:
        return _Digest().of(judge).hex()[:20]
    except RecursionError:
        problem = "its state is nested too deeply"
    except _UnknownError as error:
        problem = str(error)
    raise UsageError(
        f"cannot tell the judge '{model_of(judge)}' from others: {problem}",
        hint="name it, and rename it whenever it changes: label(..., judge, name='my-judge-1')",
    )


def plain_url(url: str) -> str:
    """A URL in its usual form, without account and secrets: the same server has the same name."""
    parts = urlsplit(url.strip())
    scheme, host = parts.scheme.lower(), (parts.hostname or "").lower()
    host = f"[{host}]" if ":" in host else host
    port = parts.port
    if port is not None and port != _PORTS.get(scheme):
        host = f"{host}:{port}"
    query = sorted((k, v) for k, v in parse_qsl(parts.query) if not _SECRET.search(k))
    path = re.sub("/{2,}", "/", parts.path).rstrip("/")
    return urlunsplit((scheme, host, path, urlencode(query), ""))


class _Digest:
    """One computation: an object inside itself is replaced by its distance."""

    def __init__(self) -> None:
        self._open: list[int] = []  # ids of the objects around the current one
        self._done: dict[int, tuple[Any, bytes]] = {}  # functions and classes, which many refer to
        self._values = 0

    def of(self, value: Any, name: str = "") -> bytes:
        """The hash of a value; `name` is where it was found, for the error."""
        self._values += 1
        if self._values > _MAX_VALUES:
            raise _UnknownError("it refers to too much data")
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
            return _hash(
                *sorted(self.of(k) + self.of(v, f"{name}[{k!r:.20}]") for k, v in value.items())
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
        if _is_installed(function.__module__, function.__code__.co_filename):
            return _hash("function", _qualified(function), _version(function.__module__))
        closure = []
        for name, cell in zip(
            function.__code__.co_freevars, function.__closure__ or (), strict=True
        ):
            try:
                closure.append(self.of(cell.cell_contents, name))
            except ValueError:  # not assigned yet
                closure.append(b"")
        references = []
        for name in sorted(_names(function.__code__)):
            if name not in function.__globals__:
                if hasattr(builtins, name):
                    references.append(_hash("builtin", name))
                continue
            value = function.__globals__[name]
            references.append(_hash(name, self.of(value, name)))
            if isinstance(value, types.ModuleType) and not _is_installed(value.__name__):
                references += self._module(value, function.__code__, name)
        return _hash(
            "function", self._code(function.__code__), *closure, *references,
            self.of(function.__defaults__, "a default"), self.of(function.__kwdefaults__, "a default"),
        )  # fmt: skip

    def _module(self, module: types.ModuleType, code: types.CodeType, name: str) -> list[bytes]:
        """What code may use of a module of the user's own."""
        names = (each for each in sorted(_names(code)) if each in vars(module))
        return [_hash(each, self.of(vars(module)[each], f"{name}.{each}")) for each in names]

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
        if isinstance(model := getattr(value, "model", None), str) and callable(value):
            return _hash("judge", _qualified(kind), model, self.of(parameters_of(value)))
        if any(map(_has_hidden_state, kind.__mro__)):
            what = f"{kind.__module__}.{kind.__qualname__}"
            what = f"it uses '{name}', a {what}" if name else f"it is a {what}"
            raise _UnknownError(f"{what}, whose state cannot be read")
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
    return os.path.realpath(file).startswith(_installed_folders())


def _version(module: str) -> str:
    package = sys.modules.get(module.partition(".")[0])
    return str(getattr(package, "__version__", ""))
