"""Checksums of rows: a hash of every column but the id, the same in every database."""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from goodgain.labels.database import columns

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_quoted = json.encoder.encode_basestring  # as `_encode` writes a text
_LARGEST = 2**63 - 1
MODULUS = 2**62  # of the sums in `totals`


def storable(value: Any, kind: str) -> Any:
    """A value as both databases give it back: no lone surrogates, no NUL, no type of its own."""
    if value is None or (type(value) is str and kind == "TEXT" and value.isprintable()):
        return value  # the usual case; neither surrogates nor NUL are printable
    if kind == "REAL":
        return float(value)
    if kind == "INTEGER":
        return max(-_LARGEST, min(_LARGEST, int(value)))
    return str(value).encode("utf-8", "backslashreplace").decode("utf-8").replace("\0", "\\x00")


def clean(text: str) -> str:
    """A text that can be stored; mostly the text itself."""
    return text if text.isprintable() else str(storable(text, "TEXT"))


def _written(value: Any) -> str:
    """A value that can be stored, as JSON."""
    if type(value) is str:
        return _quoted(value)
    if type(value) is int:
        return str(value)
    return "null" if value is None else _encode(value)


def checksum(table: str, values: Sequence[Any]) -> str:
    """The checksum of a row from its values in the order of the schema."""
    return _hash(table, [_written(value) for value in values])


def _hash(table: str, written: list[str]) -> str:
    text = f'["{table}",{",".join(written)}]'
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def stored_row(table: str, row: Mapping[str, Any]) -> list[Any]:
    """The values of a row in the order of the schema, with the checksum at the end."""
    kinds = columns(table)
    if row.keys() != kinds.keys():
        raise TypeError(f"columns of {table}: {', '.join(kinds)}; not {', '.join(row)}")
    values, written = [], []
    for name, kind in kinds.items():
        value = row[name]
        if type(value) is str and kind == "TEXT" and value.isprintable():  # as `storable` decides
            written.append(_quoted(value))
        else:
            value = storable(value, kind)
            written.append(_written(value))
        values.append(value)
    values.append(_hash(table, written))
    return values


def summand(row_checksum: str) -> int:
    """What a row adds to the sum of its table."""
    return int(row_checksum, 16) % MODULUS
