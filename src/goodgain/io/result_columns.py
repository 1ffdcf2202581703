"""Arrow tables with a row per query, whose results are a list of ids or of structs, as flat rows."""

from __future__ import annotations

from goodgain.errors import InputError, MissingExtraError
from goodgain.io.columns import find_columns, has_column, looks_like_header
from goodgain.io.span_tables import names_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


def has_result_lists(names: list[str], columns: Mapping[str, str] | None) -> bool:
    """Whether the columns of a table look like a query and the list of its results."""
    if columns and "results" in columns:
        return True
    return (
        not looks_like_header(names, "run")
        and has_column(names, "result lists", "results")
        and has_column(names, "result lists", "query")
    )


def flat_rows(
    source: Any, columns: Mapping[str, str] | None, name: str
) -> tuple[Any, list[tuple[str | None, str]]] | None:
    """A table with a row per result, and (run, query) of the queries without results.

    It has the columns query and doc, score or rank, and run if there are several; None if the column of
    results holds no lists.
    """
    try:
        import pyarrow as pa
    except ImportError:
        raise MissingExtraError.for_package(
            "pyarrow", "arrow", f"reading lists of {name}"
        ) from None
    chosen = {r: c for r, c in (columns or {}).items() if r in ("query", "results", "run")}
    roles = find_columns(names_of(source), "result lists", name, chosen)
    wanted = list(dict.fromkeys(roles.values()))
    table = (
        source.read(wanted) if hasattr(source, "read_pieces") else pa.table(source).select(wanted)
    )
    lists = table.column(roles["results"])
    if not _is_list(lists.type):
        return None
    keys: dict[str, Any] = {
        role: _plain(table.column(roles[role])) for role in ("run", "query") if role in roles
    }
    _refuse_repeated(keys, name)
    flat = _Flat(lists.combine_chunks() if lists.num_chunks != 1 else lists.chunk(0))
    fields = flat.fields(columns or {}, name)
    if fields is None:  # nested deeper, or irregular: read as Python objects, which name the place
        fields = _through_python(table, roles, columns, name)
    taken = {role: column.take(flat.parents) for role, column in keys.items()}
    empty = flat.empty()
    pairs = zip(
        keys["run"].filter(empty).to_pylist() if "run" in keys else _nones(),
        keys["query"].filter(empty).to_pylist(),
        strict=False,
    )
    without = [(None if run is None else str(run), str(query)) for run, query in pairs]
    return pa.table({**taken, **fields}), without


def _nones() -> Any:
    from itertools import repeat

    return repeat(None)


def _is_list(kind: Any) -> bool:
    import pyarrow as pa

    of = pa.types
    checks = (
        of.is_list,
        of.is_large_list,
        of.is_fixed_size_list,
        of.is_list_view,
        of.is_large_list_view,
    )
    return any(check(kind) for check in checks)


def _plain(column: Any) -> Any:
    """A column that can be taken from: views of text cannot."""
    import pyarrow as pa

    return column.cast(pa.large_string()) if pa.types.is_string_view(column.type) else column


def _refuse_repeated(keys: dict[str, Any], name: str) -> None:
    import pyarrow as pa

    table = pa.table(keys)
    names = list(keys)
    counted = table.group_by(names).aggregate([([], "count_all")])
    if len(counted) < len(table):
        twice = next(row for row in counted.to_pylist() if row["count_all"] > 1)
        run = f" of run {twice['run']!r}" if "run" in twice else ""
        raise InputError(f"duplicate query {twice['query']!r}{run}", where=name)


class _Flat:
    """The elements of all lists, one after another."""

    def __init__(self, lists: Any) -> None:
        import pyarrow.compute as pc

        self._lists = lists
        self.parents = pc.list_parent_indices(lists)
        self._elements = pc.list_flatten(lists)

    def empty(self) -> Any:
        """Which lists have no element."""
        import pyarrow.compute as pc

        return pc.equal(pc.fill_null(pc.list_value_length(self._lists), 0), 0)

    def fields(self, columns: Mapping[str, str], name: str) -> dict[str, Any] | None:
        """The columns doc and score, or doc and rank; None if they are not plain fields of every result."""
        import pyarrow as pa
        import pyarrow.compute as pc

        elements = self._elements
        if elements.null_count:
            return None
        if not pa.types.is_struct(elements.type):
            is_id = pa.types.is_string(elements.type) or pa.types.is_large_string(elements.type)
            is_id = (
                is_id
                or pa.types.is_integer(elements.type)
                or pa.types.is_string_view(elements.type)
            )
            return {"doc": elements, "rank": self._places()} if is_id else None
        values = {f.name: pc.struct_field(elements, [i]) for i, f in enumerate(elements.type)}
        present = [n for n, v in values.items() if not len(v) or v[0].is_valid]
        chosen = {
            role if role != "score" else "value": columns[role]
            for role in ("doc", "score", "rank")
            if columns.get(role) in values
        }
        if any(
            role in columns and columns[role] not in values for role in ("doc", "score", "rank")
        ):
            return None
        roles = find_columns(present, "result", name, chosen)
        if "doc" not in roles or pa.types.is_nested(values[roles["doc"]].type):
            return None
        number = roles.get("value") or roles.get("rank")
        used = [values[roles["doc"]], *([values[number]] if number else ())]
        if any(column.null_count for column in used):
            return None
        if number is None:
            others = find_columns(list(values), "result", name)
            if "value" in others or "rank" in others:  # of some results only
                return None
            return {"doc": used[0], "rank": self._places()}
        if "value" in roles:
            if "score" not in columns and self._ascends(used[1]):
                return None
            return {"doc": used[0], "score": used[1]}
        return {"doc": used[0], "rank": used[1]}

    def _places(self) -> Any:
        """The place of each element in its list, from 1."""
        import pyarrow as pa
        import pyarrow.compute as pc

        number = pc.cumulative_sum(pa.repeat(pa.scalar(1, pa.int64()), len(self._elements)))
        sizes = pc.fill_null(pc.cast(pc.list_value_length(self._lists), pa.int64()), 0)
        before = pc.subtract(pc.cumulative_sum(sizes), sizes)
        return pc.subtract(number, before.take(self.parents))

    def _ascends(self, scores: Any) -> bool:
        """Whether a score is above the one before it in its list: those may be distances."""
        import pyarrow.compute as pc

        if len(scores) < 2:
            return False
        same = pc.equal(self.parents[1:], self.parents[:-1])
        return bool(pc.any(pc.and_(same, pc.less(scores[:-1], scores[1:]))).as_py())


def _through_python(
    table: Any, roles: Mapping[str, str], columns: Mapping[str, str] | None, name: str
) -> dict[str, Any]:
    """Results as dictionaries of Python, by the rules for lists of them; errors name the result."""
    import pyarrow as pa

    from goodgain.io.result_lists import read_results

    rows = table.select([roles["query"], roles["results"]]).to_pylist()
    lists = [row[roles["results"]] or [] for row in rows]
    pairs, ranking = read_results([row[roles["query"]] for row in rows], lists, columns, name)
    docs = pa.array([doc for doc, _ in pairs])
    return {"doc": docs, "score" if ranking == "score" else "rank": pa.array([v for _, v in pairs])}
