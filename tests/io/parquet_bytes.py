"""Parquet files made byte by byte: what no library writes, but a stranger can."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

INT32, INT64, DOUBLE, BYTES = 1, 2, 5, 6
PLAIN, DICTIONARY = 0, 8


@dataclass(frozen=True)
class Number:
    """An integer or, of type 5, a shorter one."""

    value: int
    kind: int = 6


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def _value(value: object) -> tuple[int, bytes]:
    """The type and the bytes of a value in Thrift's compact protocol."""
    match value:
        case Number(number, kind):
            return kind, _varint((number << 1) ^ (number >> 63))
        case int():
            return _value(Number(value, 5))
        case str():
            return 8, _varint(len(value)) + value.encode()
        case list():
            parts = [_value(each) for each in value]
            kind = parts[0][0] if parts else 12
            return 9, bytes([0xF0 | kind]) + _varint(len(parts)) + b"".join(p for _, p in parts)
        case dict():
            return 12, record(value)
    raise TypeError(value)


def record(fields: dict[int, object]) -> bytes:
    """Fields by their numbers, in the order of the numbers."""
    out, last = b"", 0
    for number, value in sorted(fields.items()):
        kind, data = _value(value)
        out += bytes([(number - last) << 4 | kind]) + data
        last = number
    return out + b"\0"


def data_page(values: int, body: bytes, encoding: int = PLAIN, **sizes: int) -> bytes:
    """A data page of the first version, uncompressed."""
    header = {5: {1: Number(values, 5), 2: encoding, 3: 3, 4: 3}}
    return _page(0, body, header, **sizes)


def dictionary_page(values: int, body: bytes) -> bytes:
    return _page(2, body, {7: {1: values, 2: PLAIN}})


def _page(
    kind: int, body: bytes, header: dict[int, object], size: int = -1, compressed: int = -1
) -> bytes:
    size = len(body) if size < 0 else size
    compressed = len(body) if compressed < 0 else compressed
    return record({1: kind, 2: Number(size, 5), 3: Number(compressed, 5), **header}) + body


def texts(*values: str) -> bytes:
    return b"".join(struct.pack("<I", len(v.encode())) + v.encode() for v in values)


def doubles(*values: float) -> bytes:
    return struct.pack(f"<{len(values)}d", *values)


def places(*numbers: int) -> bytes:
    """Numbers below 256 of values in the dictionary: packed bits, eight at a time."""
    whole = [*numbers, *[0] * (-len(numbers) % 8)]
    return bytes([8]) + _varint(len(whole) // 8 << 1 | 1) + bytes(whole)


@dataclass
class Column:
    name: str
    kind: int
    pages: bytes
    values: int
    more: dict[int, object] = field(default_factory=dict)  # of its metadata


def file_of(rows: int, *columns: Column) -> bytes:
    """A file of one row group, whose columns are all required."""
    data, chunks = b"PAR1", []
    for column in columns:
        metadata: dict[int, object] = {
            1: column.kind,
            2: [PLAIN, 3, DICTIONARY],
            3: [column.name],
            4: 0,
            5: Number(column.values),
            6: Number(len(column.pages)),
            7: Number(len(column.pages)),
            9: Number(len(data)),
            **column.more,
        }
        chunks.append({2: Number(len(data)), 3: metadata})
        data += column.pages
    schema = [{4: "schema", 5: len(columns)}]
    schema += [{1: c.kind, 3: 0, 4: c.name, **({6: 0} if c.kind == BYTES else {})} for c in columns]
    group = {1: chunks, 2: Number(len(data)), 3: Number(rows)}
    footer = record({1: 1, 2: schema, 3: Number(rows), 4: [group]})
    return data + footer + struct.pack("<I", len(footer)) + b"PAR1"
