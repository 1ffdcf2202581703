"""Checksums of rows: a hash of every column but the id, the same in every database."""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from goodgain.labels.database import columns

if TYPE_CHECKING:
    from collections.abc import Sequence

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


def _written(value: Any) -> str:
    """A value that can be stored, as JSON."""
    if type(value) is str:
        return _quoted(value)
    if type(value) is int:
        return str(value)
    return "null" if value is None else _encode(value)


def checksum(table: str, values: Sequence[Any]) -> str:
    """The checksum of a row from its values in the order of the schema."""
    text = f'["{table}",{",".join(map(_written, values))}]'
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def stored_row(table: str, row: dict[str, Any]) -> list[Any]:
    """The values of a row in the order of the schema, with the checksum at the end."""
    kinds = columns(table)
    if row.keys() != kinds.keys():
        raise TypeError(f"columns of {table}: {', '.join(kinds)}; not {', '.join(row)}")
    values = [storable(row[name], kind) for name, kind in kinds.items()]
    values.append(checksum(table, values))
    return values


def summand(row_checksum: str) -> int:
    """What a row adds to the sum of its table."""
    return int(row_checksum, 16) % MODULUS
