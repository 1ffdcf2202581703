"""Gold by hop: labels that say at which hop of a question each piece of evidence is needed."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from goodgain.errors import InputError
from goodgain.io.columns import find_columns, has_column
from goodgain.io.files import is_sqlite, read_head
from goodgain.io.naming import format_of
from goodgain.io.tables import load_table

Hops = dict[str, dict[str, str]]  # {conversation: {name of a label: hop}}


class GoldByHop(NamedTuple):
    """Labels in a form of judgments, and the hop of each where they say it."""

    labels: Any
    hops: Hops


def split_hops(labels: Any, max_gain: float) -> GoldByHop:
    """Labels with a column `hop`, or a list of documents per hop, as judgments and hops.

    Lists have no gains: what they hold counts with the highest. All other labels are returned as they are.
    """
    if isinstance(labels, Mapping):
        return _of_mapping(labels, max_gain)
    if not _may_have_hops(labels):
        return GoldByHop(labels, {})
    table = load_table(labels, "the labels")
    names = list(table.columns)
    if "hops" in names:
        roles = find_columns(names, "gold by hop", table.name)
        rows = zip(table.columns[roles["query"]], table.columns["hops"], strict=True)
        return _of_mapping({str(query): hops for query, hops in rows}, max_gain, table.name)
    if not has_column(names, "labels by hop", "hop"):
        return GoldByHop(labels, {})
    roles = find_columns(names, "labels by hop", table.name)
    hops: Hops = {}
    columns = (table.columns[roles[role]] for role in ("query", "doc", "hop"))
    for query, doc, hop in zip(*columns, strict=True):
        if hop is not None and str(hop) != "":
            hops.setdefault(str(query), {})[str(doc)] = _text(hop)
    return GoldByHop(labels, hops)


def _may_have_hops(labels: Any) -> bool:
    """Whether it is worth reading as a table: only names in its first line can say so."""
    if isinstance(labels, str | os.PathLike):
        path = os.fspath(labels)
        if not Path(path).is_file() or is_sqlite(path):  # a pipe can be read only once
            return False
        if format_of(path) in ("parquet", "arrow"):
            return True
        head = read_head(path)
        named = '"hop' if head.lstrip().startswith(("{", "[")) else "hop"
        return named in (head if named[0] == '"' else head.partition("\n")[0])
    if isinstance(labels, list | tuple):
        return (
            bool(labels)
            and isinstance(labels[0], Mapping)
            and not {"hop", "hops"}.isdisjoint(labels[0])
        )
    return hasattr(labels, "columns") and not {"hop", "hops"}.isdisjoint(map(str, labels.columns))


def _of_mapping(labels: Mapping[Any, Any], max_gain: float, where: str = "") -> GoldByHop:
    gains: dict[str, dict[str, float]] = {}
    hops: Hops = {}
    for query, listed in labels.items():
        if isinstance(listed, str) and listed.lstrip().startswith("["):
            listed = _parsed(listed)
        if not _are_hops(listed):
            if not where:
                return GoldByHop(labels, {})
            raise InputError(
                f"the hops of conversation '{query}' must be lists of ids or URLs", where=where
            )
        own = gains.setdefault(str(query), {})
        for number, documents in enumerate(listed, 1):
            for document in documents:
                own[str(document)] = float(max_gain)
                hops.setdefault(str(query), {}).setdefault(str(document), str(number))
    return GoldByHop(gains, hops)


def _are_hops(listed: Any) -> bool:
    """Whether this is a list of documents per hop, and not of documents with their gains."""
    return isinstance(listed, list | tuple) and all(
        isinstance(hop, list | tuple)
        and (all(isinstance(d, str) for d in hop) or all(type(d) is int for d in hop))
        for hop in listed
    )


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _text(hop: Any) -> str:
    """A hop as text: 1 for 1.0."""
    return str(int(hop)) if isinstance(hop, float) and hop.is_integer() else str(hop)
