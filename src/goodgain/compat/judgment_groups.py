"""trec_eval's measures over judgment groups (`-R qrels_jg`): one per group of judges, then the mean."""

from __future__ import annotations

import math

from goodgain.compat.trec_lines import read_lines
from goodgain.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def read(path: str) -> dict[str, dict[str, dict[str, float]]]:
    """{query: {group: {document: grade}}} from lines of query, group, document and grade."""
    queries: dict[str, dict[str, dict[str, float]]] = {}
    for line in read_lines(path):
        try:
            query, group, doc, grade = line.fields
            value = float(math.trunc(float(grade)))
        except (ValueError, OverflowError):
            line.refuse("judgment", "query group document grade")
        grades = queries.setdefault(query, {}).setdefault(group, {})
        if doc in grades:
            raise InputError(
                f"duplicate judgment of document '{doc}' for query '{query}' in group '{group}'",
                where=line.where,
                hint="keep one of the two",
            )
        grades[doc] = value
    if not queries:
        raise InputError("the file contains no judgments", where=path)
    return queries


def rounds(
    queries: dict[str, dict[str, dict[str, float]]],
) -> Iterator[dict[str, dict[str, float]]]:
    """Judgments of one group for each query that has that many: all first groups, all second ones, ..."""
    ordered = {
        query: [
            groups[name]
            for name in sorted(groups, key=lambda n: n.encode(errors="surrogateescape"))
        ]
        for query, groups in queries.items()
    }
    for i in range(max(map(len, ordered.values()))):
        yield {query: groups[i] for query, groups in ordered.items() if i < len(groups)}
