"""Ways in which a file can be bad, each made from a good one."""

from __future__ import annotations

import gzip
import random
import socket
import sys
from collections.abc import Callable
from pathlib import Path

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

NOISE = random.Random(18).randbytes(6000)
DEEP = 20_000
# A damage writes a file whose name starts with the stem, and returns what to type in the command line.
Damage = Callable[[str, bytes], str]
DAMAGES: dict[str, Damage] = {}


def damage(name: str) -> Callable[[Damage], Damage]:
    """Register a damage under a name."""

    def register(function: Damage) -> Damage:
        DAMAGES[name] = function
        return function

    return register


def _put(name: str, data: bytes) -> str:
    Path(name).write_bytes(data)
    return name


def _suffix(name: str) -> str:
    return name[name.index(".") :]


# --- no file at all ---

DAMAGES["missing"] = lambda name, data: name
DAMAGES["in a missing folder"] = lambda name, data: f"nowhere/{name}"
DAMAGES["below a file"] = lambda name, data: _put("plain", b"x") + f"/{name}"
DAMAGES["name too long"] = lambda name, data: "n" * 300 + name
DAMAGES["name that is no UTF-8"] = lambda name, data: "bad\udcff" + _suffix(name)


@damage("folder")
def _folder(name: str, data: bytes) -> str:
    Path(name).mkdir()
    return name


@damage("dangling link")
def _dangling(name: str, data: bytes) -> str:
    Path(name).symlink_to("nowhere")
    return name


@damage("link to itself")
def _loop(name: str, data: bytes) -> str:
    Path(name).symlink_to(name)
    return name


@damage("socket")
def _socket(name: str, data: bytes) -> str:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(name)
    return name


@damage("unreadable")
def _unreadable(name: str, data: bytes) -> str:
    _put(name, data)
    Path(name).chmod(0)
    return name


@damage("read error")
def _read_error(name: str, data: bytes) -> str:
    Path(name).symlink_to("/proc/self/mem")  # opens, and fails when it is read
    return name


# --- bytes that are nothing of the kind ---

WHOLE = {
    "empty": b"",
    "blank lines": b"\n  \n\t\n\n",
    "zeros": bytes(5000),
    "noise": NOISE,
    "program": b"\x7fELF\x02\x01\x01\x00" + bytes(range(256)) * 20,
    "picture": b"\x89PNG\r\n\x1a\n" + NOISE[:500],
    "web page": b"<!DOCTYPE html>\n<html><head><title>404</title></head>\n<body>Not found</body></html>\n",
    "prose": b"Dear colleague,\n\nplease find the results attached.\n\nYours\n",
    "huge line": b"x" * 1_000_000,
    "huge line of brackets": b"[" * 100_000 + b"\n",
    "wrong columns": b"alpha,beta\n1,2\n3,4\n",
    "byte order mark alone": b"\xef\xbb\xbf",
    "SQLite file of another program": b"SQLite format 3\0" + bytes(84) + NOISE,
}
for _name, _data in WHOLE.items():
    DAMAGES[_name] = lambda name, data, content=_data: _put(name, content)

# --- JSON of another shape ---

JSON = {
    "null": b"null",
    "number": b"17",
    "text": b'"text"',
    "true": b"true",
    "empty list": b"[]",
    "empty object": b"{}",
    "list of numbers": b"[1, 2]",
    "list of lists": b"[[1], []]",
    "list of nulls": b"[null]",
    "object of null": b'{"q0": null}',
    "object of numbers": b'{"q0": 1}',
    "object of lists": b'{"q0": [[]]}',
    "NaN": b'{"q0": {"d0": NaN}}',
    "half": b'{"q0": {"d0": 1',
    "two values": b'{"q0": {"d0": 1}} {"q0"',
    "duplicate key": b'{"q0": {"d0": 1, "d0": 2}}',
    "long number": b'{"q0": {"d0": ' + b"9" * 5000 + b"}}",
    "lone surrogate": b'{"q\\ud800": {"d\\udfff": "\\ud800"}}',
    "NUL in a text": b'{"q\\u0000": {"d\\u0000": "\\u0000"}}',
    "deep list": b"[" * DEEP + b"]" * DEEP,
    "deep object": b'{"a":' * DEEP + b"1" + b"}" * DEEP,
}
for _name, _data in JSON.items():
    for _kind in ("json", "jsonl"):
        DAMAGES[f"{_kind}: {_name}"] = lambda name, data, content=_data, kind=_kind: _put(
            f"bad.{kind}", content + b"\n"
        )

# --- other formats, damaged ---

OTHER: dict[str, tuple[str, bytes | None]] = {
    "Parquet: noise": ("parquet", NOISE),
    "Parquet: half": ("parquet", None),
    "Arrow: noise": ("arrow", b"ARROW1\0\0" + NOISE),
    "Feather: text": ("feather", b"text"),
    "CSV: open quotes": ("csv", b'query,doc,score,gain\nq0,"d0,1,1\n'),
    "CSV: short row": ("csv", b"query,doc,score,gain\nq0,d0\n"),
    "CSV: header alone": ("csv", b"query,doc,score,gain\n"),
    "CSV: duplicate column": ("csv", b"query,query,doc,score,gain\nq0,q0,d0,1,1\n"),
    "CSV: NaN": ("csv", b"query,doc,score,gain\nq0,d0,nan,nan\n"),
    "CSV: infinity": ("csv", b"query,doc,score,gain\nq0,d0,1e999,-inf\n"),
    "TSV: words for numbers": ("tsv", b"query\tdoc\tscore\tgain\nq0\td0\tmany\tmany\n"),
    "TREC: NaN in a run": ("txt", b"q0 Q0 d0 1 nan t\n"),
    "TREC: NaN in qrels": ("txt", b"q0 0 d0 nan\n"),
    "TOML: half": ("toml", b"[[rule]\nname = \n"),
    "TOML: unknown": ("toml", b"[unknown]\nkey = 1\n"),
    "YAML: broken": ("yaml", b"cases: [\n  - {id: *nothing\n"),
    "YAML: aliases": ("yaml", b"a: &a [x, x]\nb: &b [*a, *a]\ncases: [*b, *b]\n"),
    "YAML: object": ("yaml", b"cases: !!python/object/apply:os.getcwd []\n"),
}


def _other(suffix: str, content: bytes | None) -> Damage:
    def write(name: str, data: bytes) -> str:
        whole = Path("run.parquet").read_bytes() if content is None else b""
        return _put(f"bad.{suffix}", whole[: len(whole) // 2] if content is None else content)

    return write


for _name, (_kind, _content) in OTHER.items():
    DAMAGES[_name] = _other(_kind, _content)

# --- a good file, damaged ---


def _edited(edit: Callable[[bytes], bytes], suffix: str = "") -> Damage:
    return lambda name, data: _put(name + suffix, edit(data))


def _middle(data: bytes) -> int:
    return len(data) // 2


def _zst(data: bytes) -> bytes:
    return zstd.compress(data * 20 + NOISE)


def _flipped(data: bytes) -> bytes:
    packed = bytearray(gzip.compress(data + NOISE))
    packed[len(packed) // 2] ^= 0xFF
    return bytes(packed)


def _half(data: bytes) -> bytes:
    """The first half, which ends within a line."""
    start = data.rfind(b"\n", 0, _middle(data)) + 1
    return data[: start + 3]


DAMAGES["half of it"] = _edited(_half)
DAMAGES["UTF-16"] = _edited(lambda data: data.decode("utf-8", "replace").encode("utf-16"))
DAMAGES["invalid UTF-8 in the middle"] = _edited(
    lambda data: data[: _middle(data)] + b"\xff\xfe\xc3" + data[_middle(data) :]
)
DAMAGES["NUL in the middle"] = _edited(
    lambda data: data[: _middle(data)] + b"\0\0" + data[_middle(data) :]
)
DAMAGES["every line twice"] = _edited(
    lambda data: b"".join(line * 2 for line in data.splitlines(keepends=True))
)
DAMAGES["itself twice"] = _edited(lambda data: data + data)
DAMAGES["a line of noise at the end"] = _edited(lambda data: data + NOISE[:200] + b"\n")
DAMAGES["a line too much"] = _edited(lambda data: data + b"one two three\n")
DAMAGES["a deep line at the end"] = _edited(lambda data: data + b"[" * DEEP + b"\n")
DAMAGES["truncated gz"] = _edited(lambda data: gzip.compress(data + NOISE)[:-40], ".gz")
DAMAGES["damaged gz"] = _edited(_flipped, ".gz")
DAMAGES["plain text as gz"] = _edited(lambda data: data, ".gz")
DAMAGES["noise as gz"] = _edited(lambda data: gzip.compress(NOISE), ".gz")
DAMAGES["empty gz"] = _edited(lambda data: b"", ".gz")
DAMAGES["truncated zst"] = _edited(lambda data: _zst(data)[:-40], ".zst")
DAMAGES["plain text as zst"] = _edited(lambda data: data, ".zst")
DAMAGES["plain text as xz"] = _edited(lambda data: data, ".xz")
DAMAGES["plain text as bz2"] = _edited(lambda data: data, ".bz2")
# What editors and other systems do to a file, which is not damage.
HARMLESS = {
    "byte order mark": lambda data: b"\xef\xbb\xbf" + data,
    "Windows line ends": lambda data: data.replace(b"\n", b"\r\n"),
    "mixed line ends": lambda data: data.replace(b"\n", b"\r\n", max(1, data.count(b"\n") // 2)),
    "no line end at the end": lambda data: data.rstrip(b"\n"),
    "blank lines at the end": lambda data: data + b"\n\n",
}
for _name, _edit in HARMLESS.items():
    DAMAGES[_name] = _edited(_edit)


def damaged_file(name: str, good: str) -> str:
    """Write a damaged copy of a good file; returns what to type for it."""
    data = Path(good).read_bytes()
    return DAMAGES[name](f"bad{_suffix(good)}", data)
