"""A sample of the queries of an experiment, the same for any order of them."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from goodgain.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable


def sample_queries(queries: Iterable[str], count: int, seed: int) -> list[str]:
    """`count` queries drawn without replacement, in their own order.

    Every query has a number drawn from the seed and its id, and the smallest are taken: a larger sample of
    the same seed holds a smaller one.
    """
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise UsageError(f"sample must be a positive number of queries, got {count!r}")
    listed = list(queries)
    if count >= len(listed):
        return listed

    def number(query: str) -> bytes:
        return sha256(f"{seed} {query}".encode("utf-8", "surrogateescape")).digest()

    chosen = set(sorted(listed, key=number)[:count])
    return [query for query in listed if query in chosen]
