"""Frames: what a sample is drawn from, and what divides it into strata."""

from __future__ import annotations

import base64
import json
import zlib
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError, UsageError
from goodgain.labels.canaries import PREFIX
from goodgain.labels.pooling import top_documents
from goodgain.ranking.evaluator import several_runs

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from goodgain.labels.result import Labels
    from goodgain.labels.scale import Gains

Pair = tuple[str, str]
STRATA = {
    "label": "the judge's gain of a document, or of a whole query by thirds of the mean gain",
    "rank": "the best rank of a document in the runs: 1-3, 4-10, 11-",
    "system": "which of the runs return a document",
}
_RANKS = ((3, "rank 1-3"), (10, "rank 4-10"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """The documents of every query that can be drawn, with what strata are made of."""

    documents: dict[str, tuple[str, ...]]
    gains: Gains  # of the judge
    ranks: dict[Pair, int]  # the best over all runs
    systems: dict[Pair, tuple[str, ...]]

    @property
    def pairs(self) -> list[Pair]:
        """Every query and document."""
        return [(query, doc) for query, docs in self.documents.items() for doc in docs]

    def stratum_of_pair(self, pair: Pair, by: Sequence[str]) -> str:
        """The name of the stratum of a pair."""
        query, doc = pair
        names = []
        for key in by:
            if key == "label":
                gain = self.gains.get(query, {}).get(doc)
                names.append("no label" if gain is None else f"label {gain:g}")
            elif key == "rank":
                names.append(_rank_name(self.ranks.get(pair)))
            else:
                names.append(" + ".join(self.systems.get(pair, ())) or "no system")
        return ", ".join(names) or "all"

    def strata_of_queries(self, by: Sequence[str]) -> dict[str, str]:
        """The name of the stratum of every query: thirds of the judge's mean gain, or all."""
        if not by:
            return dict.fromkeys(self.documents, "all")
        means = {
            query: sum(gains.values()) / len(gains) if (gains := self.gains.get(query)) else -1.0
            for query in self.documents
        }
        order = sorted(means, key=lambda query: (means[query], query))
        names = ("lowest third", "middle third", "highest third")
        return {query: names[3 * i // len(order)] for i, query in enumerate(order)}


def build_frame(labels: Labels | None, runs: Any, depth: int) -> Frame:
    """The labelled documents and those in the top `depth` of any run; decoys of the judge are left out."""
    documents: dict[str, dict[str, None]] = defaultdict(dict)
    gains: Gains = {}
    for label in labels or ():
        if label.doc.startswith(PREFIX):
            continue
        documents[label.query][label.doc] = None
        if label.gain is not None:
            gains.setdefault(label.query, {})[label.doc] = label.gain
    ranks: dict[Pair, int] = {}
    systems: dict[Pair, list[str]] = defaultdict(list)
    for run in several_runs(runs) if runs else ():
        for query, docs in top_documents(run, depth).items():
            for rank, doc in enumerate(docs, 1):
                documents[query][doc] = None
                ranks[query, doc] = min(rank, ranks.get((query, doc), rank))
                systems[query, doc].append(run.name)
    if not documents:
        raise InputError(
            "there is nothing to draw from: the store has no labels",
            hint="give runs (--runs), or label documents first",
        )
    return Frame(
        documents={query: tuple(sorted(docs)) for query, docs in sorted(documents.items())},
        gains=gains,
        ranks=ranks,
        systems={pair: tuple(sorted(names)) for pair, names in systems.items()},
    )


def check_strata(by: Sequence[str], unit: str, runs: Any) -> None:
    """Refuse what a unit cannot be divided by."""
    for key in by:
        if key not in STRATA:
            raise UsageError(f"unknown stratum '{key}'", hint=f"choose from: {', '.join(STRATA)}")
        if unit == "queries" and key != "label":
            raise UsageError(
                f"whole queries cannot be divided by {key}", hint="by label, or not at all"
            )
        if key in ("rank", "system") and not runs:
            raise UsageError(f"dividing by {key} needs runs", hint="--runs RUN...")


def _rank_name(rank: int | None) -> str:
    if rank is None:
        return "in no run"
    return next((name for last, name in _RANKS if rank <= last), "rank 11-")


def pack(value: Any) -> str:
    """Plain data as short text."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode("utf-8", "surrogatepass"), 9)).decode()


def unpack(text: str) -> Any:
    """The reverse of `pack`."""
    return json.loads(zlib.decompress(base64.b64decode(text)).decode("utf-8", "surrogatepass"))


def shares(
    count: int, sizes: Mapping[str, int], wanted: Mapping[str, float], least: int = 2
) -> dict[str, int]:
    """Divide `count` draws in proportion to `wanted`, with at least two of each stratum and at most all."""
    drawn = {name: min(least, size) for name, size in sizes.items()}
    if sum(drawn.values()) > count:
        raise UsageError(
            f"{count:,} draws cannot give {len(sizes):,} strata two each",
            hint=f"draw at least {sum(drawn.values()):,}, or use fewer strata",
        )
    for _ in range(count - sum(drawn.values())):
        open_strata = [name for name in sizes if drawn[name] < sizes[name]]
        if not open_strata:
            break
        best = max(open_strata, key=lambda name: (wanted[name] / (drawn[name] + 0.5), name))
        drawn[best] += 1
    return drawn


def spread_of(values: Iterable[float]) -> float:
    """The standard deviation, as if one further value were one away, so that it is never 0."""
    own = list(values)
    if not own:
        return 1.0
    mean = sum(own) / len(own)
    return float(((sum((v - mean) ** 2 for v in own) + 1) / (len(own) + 1)) ** 0.5)
