"""Values per query as files: CSV, TSV, JSON lines, Parquet and Arrow, in pieces, whatever their number."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from goodgain import _core
from goodgain.errors import InputError, MissingExtraError, UsageError
from goodgain.results.text import render_data

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from goodgain.measures.definition import Measure
    from goodgain.ranking.result import Evaluation
    from goodgain.ranking.scores import RunScores

_BLOCK = 1 << 16  # queries that are written at once
_DELIMITERS = {"csv": ",", "tsv": "\t", "jsonl": ""}
TEXTS = tuple(_DELIMITERS)
FILES = (*TEXTS, "parquet", "arrow")


def file_bytes(evaluation: Evaluation, form: str, per_query: bool = True) -> Iterable[bytes]:
    """A file of one row per run, query and measure, or per run and measure."""
    if form in ("parquet", "arrow"):
        return _arrow_bytes(evaluation, form, per_query)
    if form not in _DELIMITERS:
        raise UsageError(
            f"cannot write '{form}': its suffix names no table", hint=f"one of: {', '.join(FILES)}"
        )
    if not per_query:
        return [_encoded(render_data(form, *evaluation.rows()))]
    return _lines(evaluation, form)


def _lines(evaluation: Evaluation, form: str) -> Iterator[bytes]:
    columns, _ = evaluation.columns()
    bounds = columns[4:]
    if _DELIMITERS[form]:
        yield _encoded(render_data(form, columns, []))
    for run in evaluation.runs:
        for measure in evaluation.measures:
            yield from _lines_of(run, measure, form, bounds)


def _lines_of(run: RunScores, measure: Measure, form: str, bounds: list[str]) -> Iterator[bytes]:
    native = run.native(measure, bounds)
    if native is None:
        columns = ["run", "query", "measure", "value", *bounds]
        values = [run.column(measure), *(run.column(measure, b) for b in bounds)]
        rows = [
            [run.name, query, measure.label, *row]
            for query, *row in zip(run.queries, *values, strict=True)
        ]
        text = render_data(form, columns, rows)
        yield _encoded(text.partition("\n")[2] if _DELIMITERS[form] else text)
        return
    scores, places, only_present = native
    before, between, after = _layout(run.name, measure.label, form, bounds)
    for begin in range(0, len(scores), _BLOCK):
        yield _core.score_lines(
            scores, places, before, between, after, _DELIMITERS[form], only_present, begin,
            begin + _BLOCK,
        )  # fmt: skip


def _layout(
    run: str, measure: str, form: str, bounds: list[str]
) -> tuple[bytes, list[bytes], bytes]:
    """What stands before the query, before each value, and after the last."""
    delimiter = _DELIMITERS[form]
    if delimiter:
        between = [f"{delimiter}{_cell(measure, form)}{delimiter}", *(delimiter for _ in bounds)]
        return _encoded(f"{_cell(run, form)}{delimiter}"), list(map(_encoded, between)), b"\n"
    name, label = (json.dumps(text, ensure_ascii=False) for text in (run, measure))
    between = [f', "measure": {label}, "value": ', *(f', "{bound}": ' for bound in bounds)]
    return _encoded(f'{{"run": {name}, "query": '), list(map(_encoded, between)), b"}\n"


def _cell(text: str, form: str) -> str:
    return render_data(form, ["x"], [[text]])[2:-1]


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


# --- Arrow ---


def arrow_tables(evaluation: Evaluation, per_query: bool = True) -> Iterator[Any]:
    """One table per run and measure, or one for all means."""
    try:
        import pyarrow as pa
    except ImportError:
        raise MissingExtraError.for_package(
            "pyarrow", "arrow", "writing Parquet or Arrow"
        ) from None
    columns, types = evaluation.columns(per_query)
    schema = pa.schema(
        [(name, getattr(pa, kind)()) for name, kind in zip(columns, types, strict=True)]
    )
    if not per_query:
        _, rows = evaluation.rows()
        yield pa.table({c: [row[i] for row in rows] for i, c in enumerate(columns)}, schema=schema)
        return
    yield schema.empty_table()
    for run in evaluation.runs:
        for measure in evaluation.measures:
            yield _arrow_table(run, measure, columns[4:]).cast(schema)


def _arrow_table(run: RunScores, measure: Measure, bounds: list[str]) -> Any:
    import pyarrow as pa

    native = run.native(measure, bounds)
    if native is None:
        queries = pa.array(run.queries, pa.string())
        values = [pa.array(run.column(measure, b), pa.float64()) for b in ("", *bounds)]
    else:
        scores, places, only_present = native
        offsets, texts = map(pa.py_buffer, _core.query_texts(scores, only_present))
        size = len(offsets) // 8 - 1
        queries = pa.Array.from_buffers(pa.large_string(), size, [None, offsets, texts])
        values = [
            pa.Array.from_buffers(
                pa.float64(),
                size,
                [None, pa.py_buffer(_core.column_bytes(scores, place, only_present))],
            )
            for place in places
        ]
        try:
            queries.validate(full=True)
        except pa.ArrowInvalid:
            raise InputError(
                "Arrow cannot hold ids that are not valid UTF-8", hint="use csv, tsv or jsonl"
            ) from None
    names = [pa.repeat(pa.scalar(text), len(queries)) for text in (run.name, measure.label)]
    return pa.table(
        [names[0], queries, names[1], *values],
        names=["run", "query", "measure", "value", *bounds],
    )


def _arrow_bytes(evaluation: Evaluation, form: str, per_query: bool) -> Iterator[bytes]:
    import pyarrow as pa
    import pyarrow.ipc as ipc
    import pyarrow.parquet as pq

    sink, writer = _Pieces(), None
    for table in arrow_tables(evaluation, per_query):
        if writer is None:
            file = pa.PythonFile(sink, mode="w")
            writer = (
                pq.ParquetWriter(file, table.schema)
                if form == "parquet"
                else ipc.new_file(file, table.schema)
            )
        if len(table):
            writer.write_table(_undefined_as_null(table))
        yield from sink.take()
    if writer is not None:
        writer.close()
    yield from sink.take()


def _undefined_as_null(table: Any) -> Any:
    """A missing value where a measure is undefined: an average over NaN would be none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for i, field in enumerate(table.schema):
        if pa.types.is_floating(field.type):
            column = table.column(i)
            missing = pa.scalar(None, field.type)
            table = table.set_column(i, field, pc.if_else(pc.is_nan(column), missing, column))
    return table


class _Pieces:
    """A file that holds what was written until it is taken."""

    closed = False

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._size = 0

    def write(self, data: Any) -> int:
        self._pieces.append(bytes(data))
        self._size += len(self._pieces[-1])
        return len(self._pieces[-1])

    def tell(self) -> int:
        return self._size

    def flush(self) -> None:
        """Nothing is held back."""

    def close(self) -> None:
        """Nothing to close."""

    def take(self) -> list[bytes]:
        pieces, self._pieces = self._pieces, []
        return pieces
