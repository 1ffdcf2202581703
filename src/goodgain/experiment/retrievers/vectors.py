"""Vectors of documents, computed in batches and streamed to disk."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError
from goodgain.io.atomic import write_texts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

VECTORS = "vectors.npy"
_DONE = "done"  # how many rows are complete
BATCH = 256  # texts per call of an embedding


def unit(vectors: Any) -> Vectors:
    """The vectors scaled to length 1; zero vectors stay zero."""
    import numpy as np

    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: Vectors = (vectors / np.where(lengths == 0, 1, lengths)).astype(np.float32)
    return scaled


def checked_rows(vectors: Any, texts: int, name: Callable[[int], str] | None = None) -> Vectors:
    """What an embedding returned as unit vectors, one per text; `name` says which text a row is of."""
    import numpy as np

    try:
        rows: Vectors = np.asarray(vectors, dtype=np.float32)
    except (TypeError, ValueError):
        raise InputError(
            f"the embedding returned {type(vectors).__name__} instead of rows of numbers",
            hint="it must return one row of numbers per text, all of the same length",
        ) from None
    if rows.ndim != 2 or len(rows) != texts:
        raise InputError(
            f"the embedding returned an array of shape {rows.shape} for {texts} texts",
            hint="it must return one row of numbers per text",
        )
    if not np.isfinite(rows).all():
        row = int(np.flatnonzero(~np.isfinite(rows).all(axis=1))[0])
        which = f" of '{name(row)}'" if name else ""
        raise InputError(f"the vector{which} is not finite")
    return unit(rows)


def require_dimensions(queries: Vectors, documents: int | None) -> Vectors:
    """Refuse vectors of queries from another space than those of the documents."""
    if documents not in (None, queries.shape[1]):
        raise InputError(
            f"the vectors of queries have {queries.shape[1]} numbers, those of documents {documents}"
        )
    return queries


def compute_in_batches(
    ids: Sequence[str],
    texts: Sequence[str],
    embed: Callable[[list[str]], Any],
    batch: int,
    folder: Path | None,
) -> Vectors:
    """The vectors of all texts, `batch` at a time.

    With a folder they are appended to its file, and the batches that a killed run finished are not computed
    again; without one they stay in memory.
    """
    if not texts:
        raise InputError("there are no documents to embed")
    store = _FileRows(folder, len(texts)) if folder is not None else _MemoryRows(len(texts))
    for start in range(store.begin(batch), len(texts), batch):
        some = list(texts[start : start + batch])

        def name(row: int, start: int = start) -> str:
            return ids[start + row]

        rows = checked_rows(embed(some), len(some), name)
        if store.dimensions not in (None, rows.shape[1]):
            raise InputError(
                f"the embedding returned vectors of {store.dimensions} and of {rows.shape[1]} numbers"
            )
        store.append(start, rows)
    return store.finish()


class _MemoryRows:
    def __init__(self, count: int) -> None:
        self._count = count
        self._rows: Vectors | None = None

    dimensions: int | None = None

    def begin(self, batch: int) -> int:
        return 0

    def append(self, start: int, rows: Vectors) -> None:
        import numpy as np

        if self._rows is None:
            self.dimensions = rows.shape[1]
            self._rows = np.empty((self._count, rows.shape[1]), dtype=np.float32)
        self._rows[start : start + len(rows)] = rows

    def finish(self) -> Vectors:
        assert self._rows is not None
        return self._rows


class _FileRows:
    """Rows appended to a .npy file; how many are complete is written after each batch."""

    def __init__(self, folder: Path, count: int) -> None:
        self._path, self._done, self._count = folder / VECTORS, folder / _DONE, count
        self.dimensions: int | None = None

    def begin(self, batch: int) -> int:
        """Where to continue; rows after the last complete batch are dropped."""
        import numpy as np

        try:
            done = int(self._done.read_text())
            rows = np.load(self._path, mmap_mode="r")
            if rows.shape[0] != self._count or (done % batch and done != self._count):
                raise ValueError
            self.dimensions = rows.shape[1]
        except (OSError, ValueError):
            for path in (self._done, self._path):
                path.unlink(missing_ok=True)
            return 0
        return done

    def append(self, start: int, rows: Vectors) -> None:
        import numpy as np

        if self.dimensions is None:
            self.dimensions = rows.shape[1]
            np.lib.format.open_memmap(
                self._path, mode="w+", dtype=np.float32, shape=(self._count, self.dimensions)
            ).flush()
        with self._path.open("r+b") as file:
            offset = os.fstat(file.fileno()).st_size - 4 * self.dimensions * (self._count - start)
            file.seek(offset)
            file.write(rows.tobytes())
            file.flush()
            os.fsync(file.fileno())
        write_texts({str(self._done): str(start + len(rows))})

    def finish(self) -> Vectors:
        self._done.unlink(missing_ok=True)
        return load_rows(self._path.parent)


def load_rows(folder: Path) -> Vectors:
    """The vectors of a finished stage, mapped into memory as they are needed."""
    import numpy as np

    rows: Vectors = np.load(folder / VECTORS, mmap_mode="r")
    return rows


def save_rows(rows: Vectors, folder: Path) -> None:
    """Write vectors that are not on disk yet."""
    import numpy as np

    if not (folder / VECTORS).exists():
        np.save(folder / VECTORS, rows)
