"""Identity for ranked runs: equal documents, and chunks of one document, under one id.

The best-ranked document of an identity represents it; the others are removed from the list.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from goodgain.data.qrels import Qrels
from goodgain.data.run import Run
from goodgain.errors import UsageError

Canonical = Callable[[str], str]


def canonical_ids(identity: Any) -> Canonical:
    """Document id -> the id it counts as.

    A mapping (other ids stay as they are), a function, a pattern that is cut off the end or whose first
    group is the id (`#.*`, `(.+)_[0-9]+`), the separator form `doc#chunk`, or results with ids.
    """
    if isinstance(identity, Mapping):
        table = {str(k): str(v) for k, v in identity.items()}
        return lambda doc: table.get(doc, doc)
    if isinstance(identity, str):
        return _pattern(identity)
    if callable(identity):
        return lambda doc: str(identity(doc))
    if isinstance(identity, Iterable):
        return canonical_ids(_corpus(identity))
    raise UsageError(
        f"invalid identity={identity!r}",
        hint="a mapping, a function, a pattern such as 'doc#chunk', or results with ids",
    )


def _pattern(text: str) -> Canonical:
    form = re.fullmatch(r"doc(?P<mark>\W+|_+)chunk", text)
    try:
        pattern = re.compile(
            re.escape(form["mark"]) + r"(?!.*" + re.escape(form["mark"]) + ").*$" if form else text
        )
    except re.error as error:
        raise UsageError(
            f"identity='{text}' is not a valid pattern: {error}", hint="for example 'doc#chunk'"
        ) from None

    def reduce(doc: str) -> str:
        match = pattern.search(doc)
        if match is None:
            return doc
        return match[1] if pattern.groups else doc[: match.start()] or doc

    return reduce


def _corpus(results: Iterable[Any]) -> dict[str, str]:
    """Results clustered by identity: each id to that of the first result of its cluster."""
    from goodgain.identity import Identity

    plain = [r.to_dict() if hasattr(r, "to_dict") else dict(r) for r in results]
    missing = next((i for i, r in enumerate(plain) if r.get("id") in (None, "")), None)
    if missing is not None:
        raise UsageError(
            f"result {missing + 1} of the corpus has no id",
            hint="the id is the document's id in the run",
        )
    # The ids are those of the run's documents, so they are no evidence of identity here.
    clusters = Identity().cluster({k: v for k, v in r.items() if k != "id"} for r in plain)
    ids = [str(r["id"]) for r in plain]
    return {own: ids[first] for own, first in zip(ids, clusters.first, strict=True)}


def with_identity(qrels: Qrels, runs: list[Run], identity: Any) -> tuple[Qrels, list[Run]]:
    """Judgments and runs over canonical ids, with the best gain and the best score of each."""
    canonical = canonical_ids(identity)
    judged: dict[str, dict[str, float]] = {}
    for query in qrels.queries:
        gains: dict[str, float] = {}
        for doc, gain in qrels[query].items():
            name = canonical(doc)
            gains[name] = max(gain, gains.get(name, gain))
        judged[query] = gains
    return Qrels(judged, name=qrels.name), [_mapped(run, canonical) for run in runs]


def _mapped(run: Run, canonical: Canonical) -> Run:
    best: dict[str, dict[str, float]] = {}
    for query, doc, score in zip(*run.rows(), strict=True):
        docs = best.setdefault(query, {})
        name = canonical(doc)
        docs[name] = max(score, docs.get(name, score))
    return Run(best, name=run.name, latency=run.latency, cost=run.cost)
