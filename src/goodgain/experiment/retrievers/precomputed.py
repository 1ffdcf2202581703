"""Vectors that were computed before: files or arrays, by the ids of documents and queries."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from goodgain.errors import InputError, file_not_found
from goodgain.experiment.retrievers.base import import_extra
from goodgain.experiment.retrievers.vectors import (
    BATCH,
    checked_rows,
    compute_in_batches,
    load_rows,
    require_dimensions,
    save_rows,
)
from goodgain.io.sources import sha256_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodgain.experiment.retrievers.embed import Embedding
    from goodgain.experiment.retrievers.vectors import Vectors
    from goodgain.experiment.stages import Stages

_ID_COLUMNS = ("id", "_id", "doc", "doc_id", "docid", "docno", "query", "query_id", "qid")
_VECTOR_COLUMNS = ("vector", "embedding", "vec", "values")
# A file, {id: vector}, or (ids, rows)
VectorSource: TypeAlias = str | os.PathLike[str] | Mapping[str, Any] | tuple[Any, Any]


class PrecomputedEmbedding:
    """Vectors of documents, and perhaps of queries, that were computed before."""

    def __init__(
        self, vectors: VectorSource, queries: VectorSource | None, fallback: Embedding | None
    ) -> None:
        self._source, self._query_source, self._fallback = vectors, queries, fallback
        self._dimensions: int | None = None
        self._by_text: dict[str, Vectors] = {}

    def documents(
        self, documents: Mapping[str, str], stages: Stages, version: str | None = None
    ) -> Vectors:
        """The vectors of the documents, in their order."""
        names = list(documents)

        def compute(folder: Path | None) -> Vectors:
            table = VectorTable(self._source)
            table.require(names, "documents")
            return compute_in_batches(names, names, table.rows, BATCH, folder)

        vectors = stages.run(
            "embed",
            compute=compute,
            save=save_rows,
            load=load_rows,
            model=_known_by(self._source),
            inputs=[documents],
            version=version,
        ).value
        for text in list(self._by_text)[:1]:
            require_dimensions(self._by_text[text][None], vectors.shape[1])
        self._dimensions = vectors.shape[1]
        return vectors

    def use_queries(self, queries: Mapping[str, str]) -> None:
        """Assign the vectors of queries to their texts, which is what a search gets."""
        if self._query_source is None:
            return
        table = VectorTable(self._query_source)
        table.require(list(queries), "queries")
        rows = checked_rows(table.rows(list(queries)), len(queries), list(queries).__getitem__)
        for (query, text), row in zip(queries.items(), rows, strict=True):
            if text in self._by_text and (self._by_text[text] != row).any():
                raise InputError(
                    f"query '{query}' has the text of another query and another vector",
                    hint="a search gets the text only, so equal texts need equal vectors",
                )
            self._by_text[text] = row

    def embed(self, texts: Sequence[str]) -> Vectors:
        """The vectors of queries."""
        import numpy as np

        if self._query_source is None:
            assert self._fallback is not None
            return require_dimensions(self._fallback.embed(texts), self._dimensions)
        for text in texts:
            if text not in self._by_text:
                raise InputError(f"no precomputed vector for the query '{text}'")
        return np.stack([self._by_text[text] for text in texts])


class VectorTable:
    """Precomputed vectors by id.

    From a .npy file with the ids in a text file of the same name (`docs.npy`, `docs.txt`, one id per line), a
    .npz with `ids` and `vectors`, a table (Parquet, JSON lines) with an id and a vector, {id: vector}, or
    (ids, rows). The rows of a .npy file are read only as they are needed.
    """

    def __init__(self, source: VectorSource) -> None:
        ids, self._rows, self._name = _read(source)
        self._positions = {str(each): row for row, each in enumerate(ids)}
        if len(self._positions) != len(ids):
            raise InputError(f"duplicate id '{_first_duplicate(ids)}'", where=self._name)
        if len(ids) != len(self._rows):
            raise InputError(f"{len(ids):,} ids for {len(self._rows):,} vectors", where=self._name)

    def require(self, ids: Sequence[str], what: str) -> None:
        """Refuse if an id has no vector."""
        missing = [each for each in ids if each not in self._positions]
        if missing:
            example = next(iter(self._positions), "")
            raise InputError(
                f"{len(missing):,} of {len(ids):,} {what} have no vector, such as '{missing[0]}'",
                where=self._name,
                hint=f"ids are those of the experiment; the vectors have ids such as '{example}'",
            )

    def rows(self, ids: Sequence[str]) -> Any:
        """The vectors of these ids."""
        import numpy as np

        chosen = [self._positions[each] for each in ids]
        if isinstance(self._rows, np.ndarray):
            return self._rows[chosen]
        return [self._rows[row] for row in chosen]


def _read(source: VectorSource) -> tuple[Sequence[Any], Any, str]:
    """The ids, the rows, and where they are from."""
    import numpy as np

    if isinstance(source, Mapping):
        return list(source), list(source.values()), "the vectors"
    if isinstance(source, tuple):
        return [str(each) for each in source[0]], np.asarray(source[1]), "the vectors"
    path = Path(source)
    if not path.exists():
        raise file_not_found(str(path))
    try:
        if path.suffix == ".npy":
            return _lines(path.with_suffix(".txt"), path), np.load(path, mmap_mode="r"), str(path)
        if path.suffix == ".npz":
            with np.load(path) as arrays:
                return [str(each) for each in arrays["ids"]], arrays["vectors"], str(path)
    except KeyError:
        raise InputError("the file has no arrays 'ids' and 'vectors'", where=str(path)) from None
    except (ValueError, EOFError) as error:
        raise InputError(f"cannot read the vectors: {error}", where=str(path)) from None
    if path.suffix == ".parquet":
        return _parquet(path)
    from goodgain.io.tables import load_table

    table = load_table(path)
    key, vector = _columns(list(table.columns), path)
    return [str(each) for each in table.columns[key]], list(table.columns[vector]), str(path)


def _lines(path: Path, vectors: Path) -> list[str]:
    if not path.exists():
        raise InputError(
            f"file not found: '{path}'",
            where=str(vectors),
            hint="the ids of its rows, one per line",
        )
    return path.read_text(encoding="utf-8").splitlines()


def _parquet(path: Path) -> tuple[Sequence[Any], Any, str]:
    import numpy as np

    reader = import_extra("pyarrow.parquet", "reading Parquet", "pyarrow", "arrow")
    key, vector = _columns(reader.read_schema(path).names, path)
    table = reader.read_table(path, columns=[key, vector])
    ids = [str(each) for each in table[key].to_pylist()]
    column = table[vector].combine_chunks()
    flat = column.flatten().to_numpy(zero_copy_only=False)
    lengths = np.diff(column.offsets.to_numpy()) if hasattr(column, "offsets") else np.array([])
    if column.null_count or len(set(lengths.tolist())) > 1 or (len(ids) and len(flat) % len(ids)):
        raise InputError(f"the vectors in '{vector}' have different lengths", where=str(path))
    return ids, flat.reshape(len(ids), -1), str(path)


def _columns(names: Sequence[str], path: Path) -> tuple[str, str]:
    chosen = []
    for what, usual in (("id", _ID_COLUMNS), ("vector", _VECTOR_COLUMNS)):
        own = [name for name in usual if name in names]
        if len(own) != 1:
            problem = f"columns {' and '.join(own)} both look like" if own else "no column for"
            raise InputError(
                f"{problem} the {what}",
                where=str(path),
                hint=f"columns: {', '.join(names)}; the {what} may be called {', '.join(usual)}",
            )
        chosen.append(own[0])
    return chosen[0], chosen[1]


def _first_duplicate(ids: Sequence[Any]) -> str:
    seen: set[str] = set()
    return next(str(each) for each in ids if str(each) in seen or seen.add(str(each)))  # type: ignore[func-returns-value]


def _known_by(source: VectorSource) -> Any:
    """What vectors are known by: the content of their file, or of the arrays themselves."""
    if isinstance(source, str | os.PathLike):
        return [sha256_of(str(each)) for each in (source, Path(source).with_suffix(".txt"))]
    return source
