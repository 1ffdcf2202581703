"""The write-ahead log of a SQLite file: SQLite drops what follows a damaged page without saying so."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_HEADER, _FRAME = 32, 24  # bytes


def damage_in_log(path: str) -> Iterator[str]:
    """What is damaged in the log of a store, in its own checksums (sqlite.org/fileformat.html#walformat)."""
    log = Path(f"{path}-wal")
    try:
        data = log.read_bytes()
    except OSError:
        return
    if len(data) < _HEADER:
        return
    magic, version, size, _, salt1, salt2, sum1, sum2 = struct.unpack(">8I", data[:_HEADER])
    order = ">" if magic & 1 else "<"
    sums = _checksum(order, data[: _HEADER - 8], (0, 0))
    if magic & ~1 != 0x377F0682 or version != 3007000 or sums != (sum1, sum2):
        yield "its header is damaged, and its contents are lost"
        return
    broken = 0
    for number, start in enumerate(range(_HEADER, len(data), _FRAME + size), 1):
        frame = data[start : start + _FRAME + size]
        if len(frame) < _FRAME + size:
            return  # a process was killed while it wrote this; it had not committed
        own1, own2, frame1, frame2 = struct.unpack(">4I", frame[8:_FRAME])
        current = (own1 == salt1) + (own2 == salt2)  # frames of earlier logs have neither
        if not broken:
            if current == 2:
                sums = _checksum(order, frame[:8] + frame[_FRAME:], sums)
            if current == 2 and sums == (frame1, frame2):
                continue
            if not current:
                return
            broken = number
        if broken and current:
            yield f"frame {broken} is damaged: changes from there on are lost"
            return


def _checksum(order: str, data: bytes, sums: tuple[int, int]) -> tuple[int, int]:
    first, second = sums
    words = struct.unpack(f"{order}{len(data) // 4}I", data)
    for i in range(0, len(words), 2):
        first = (first + words[i] + second) & 0xFFFFFFFF
        second = (second + words[i + 1] + first) & 0xFFFFFFFF
    return first, second
