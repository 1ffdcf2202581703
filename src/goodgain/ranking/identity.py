"""Identity for ranked runs: equal documents, and chunks of one document, under one id.

The best-ranked document of an identity represents it; the others are removed from the list.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from goodgain.data.qrels import Qrels
from goodgain.data.run import Run
from goodgain.errors import UsageError
from goodgain.io.rows import rows_of

if TYPE_CHECKING:
    from goodgain._core import Qrels as CoreQrels

Canonical = Callable[[str], str]


def canonical_ids(identity: Any) -> Canonical:
    """Document id -> the id it counts as.

    A mapping (other ids stay as they are), a function, a pattern that is cut off the end or whose first
    group is the id (`#.*`, `(.+)_[0-9]+`), the separator form `doc#chunk`, or results with ids.
    """
    if isinstance(identity, Mapping):
        table = {str(k): _id(str(k), v) for k, v in identity.items()}
        return lambda doc: table.get(doc, doc)
    if isinstance(identity, str):
        return _pattern(identity)
    if callable(identity):
        return lambda doc: _id(doc, identity(doc))
    if isinstance(identity, Iterable):
        return canonical_ids(_corpus(identity))
    raise UsageError(
        f"invalid identity={identity!r}",
        hint="a mapping, a function, a pattern such as 'doc#chunk', or results with ids",
    )


def _id(doc: str, value: Any) -> str:
    """The id that a document counts as; without one, unrelated documents would count as the same."""
    if value is None or value == "":
        raise UsageError(
            f"the identity of document '{doc}' is {value!r}",
            hint="it must be an id; the judged documents are mapped, too: return their own ids as they are",
        )
    return str(value)


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
        return _id(doc, match[1]) if pattern.groups else doc[: match.start()] or doc

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


def with_identity(
    qrels: Qrels, core: CoreQrels, runs: list[Run], identity: Any
) -> tuple[Qrels, list[Run]]:
    """Judgments and runs over canonical ids, with the best gain and the best score of each.

    `core` is what the measures read of the judgments; targets and aspects stay with their documents.
    """
    canonical = canonical_ids(identity)
    best: dict[tuple[str, str, str | None, str | None], float] = {}
    for query, doc, gain, target, aspect in _judged_rows(qrels, core):
        key = query, canonical(doc), target, aspect
        best[key] = max(gain, best.get(key, gain))
    rows = [
        (query, doc, gain, target, aspect) for (query, doc, target, aspect), gain in best.items()
    ]
    merged = Qrels(rows, name=qrels.name).judged_by(qrels.source.judge)
    return merged, [_mapped(run, canonical) for run in runs]


def _judged_rows(
    qrels: Qrels, core: CoreQrels
) -> Iterator[tuple[str, str, float, str | None, str | None]]:
    if core.has_targets or core.has_aspects:
        rows = rows_of(qrels.source, "qrels")
        yield from zip(*(rows if core.has_aspects else rows.without_aspects()), strict=True)
        return
    for query in core.queries():
        for doc, gain in (core.judgments_of(query) or {}).items():
            yield query, doc, gain, None, None


def _mapped(run: Run, canonical: Canonical) -> Run:
    best: dict[str, dict[str, float]] = {}
    if run.source.kind == "dict":  # a query without results is not missing
        best = {str(query): {} for query in run.source.value}
    for query, doc, score in zip(*run.rows(), strict=True):
        docs = best.setdefault(query, {})
        name = canonical(doc)
        docs[name] = max(score, docs.get(name, score))
    return Run(best, name=run.name, latency=run.latency, cost=run.cost)
