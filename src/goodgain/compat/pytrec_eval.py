"""A drop-in replacement for pytrec_eval: `import goodgain.compat.pytrec_eval as pytrec_eval`.

The same names, results and numbers (those of trec_eval 9), computed by goodgain's core.

>>> import goodgain.compat.pytrec_eval as pytrec_eval
>>> qrels = pytrec_eval.parse_qrel(["q1 0 d1 1", "q1 0 d2 0"])
>>> run = pytrec_eval.parse_run(["q1 Q0 d2 1 2.0 mine", "q1 Q0 d1 2 1.0 mine"])
>>> values = pytrec_eval.RelevanceEvaluator(qrels, {"map", "ndcg"}).evaluate(run)
>>> values["q1"]["map"]
0.5
>>> pytrec_eval.compute_aggregated_measure("map", [0.5, 1.0])
0.75
>>> "ndcg_cut" in pytrec_eval.supported_measures, "official" in pytrec_eval.supported_nicknames
(True, True)
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

from goodgain.compat.trec_measures import BY_NAME, MEASURES, NICKNAMES, Value, parse_measures
from goodgain.errors import core_errors

__all__ = [
    "RelevanceEvaluator",
    "compute_aggregated_measure",
    "parse_qrel",
    "parse_run",
    "supported_measures",
    "supported_nicknames",
]

_NOT_SUPPORTED = {m.name for m in MEASURES if m.since > 9 or m.format not in ("qrels", "any")} | {
    "yaap"
}
supported_measures: set[str] = set(BY_NAME) - _NOT_SUPPORTED
supported_nicknames: dict[str, set[str]] = {
    name: set(members) - _NOT_SUPPORTED
    for name, members in NICKNAMES.items()
    if name in ("official", "set", "all_trec")
}
# After a name: a period or underscore, then numbers, as in `P_5`, `P.5,10`, `iprec_at_recall_0.25`.
_NUMBERS = r"[._](\d+(?:\.\d+)?(?:,\d+(?:\.\d+)?)*)"


def parse_run(f_run: Iterable[str]) -> dict[str, dict[str, float]]:
    """{query: {document: score}} from the lines of a TREC run."""
    run: dict[str, dict[str, float]] = {}
    for line in f_run:
        query, _, document, _, score, _ = line.strip().split()
        documents = run.setdefault(query, {})
        assert document not in documents, f"duplicate document {document!r} for query {query!r}"
        documents[document] = float(score)
    return run


def parse_qrel(f_qrel: Iterable[str]) -> dict[str, dict[str, int]]:
    """{query: {document: grade}} from the lines of TREC qrels."""
    qrels: dict[str, dict[str, int]] = {}
    for line in f_qrel:
        query, _, document, grade = line.strip().split()
        documents = qrels.setdefault(query, {})
        assert document not in documents, (
            f"duplicate judgment of document {document!r} for query {query!r}"
        )
        documents[document] = int(grade)
    return qrels


def compute_aggregated_measure(measure: str, values: Iterable[float]) -> float:
    """Aggregate over queries: the sum for counts, the geometric mean for `gm_`, otherwise the mean."""
    numbers = list(values)
    if measure.startswith("num_"):
        return math.fsum(numbers)
    if not numbers:
        return math.nan
    mean = math.fsum(numbers) / len(numbers)
    return math.exp(mean) if measure.startswith("gm_") else mean


class RelevanceEvaluator:
    """Judgments and measures, prepared once for any number of runs."""

    def __init__(
        self,
        query_relevance: Mapping[str, Mapping[str, int]],
        measures: Iterable[str],
        relevance_level: int = 1,
        judged_docs_only_flag: bool = False,
    ) -> None:
        if relevance_level < 1:
            raise TypeError("Argument relevance_level should be positive.")
        request = parse_measures(parameters(measures).items(), level=relevance_level, version=9)
        self._names = [_result_name(v.measure.name, v.name) for v in request.values]
        self._specs = [
            request.specs[v.columns[0]] if _is_number(v) else _ZERO for v in request.values
        ]
        self._policy = {
            "ties": "docid",
            "missing": "skip",
            "unjudged": "remove-negative" if judged_docs_only_flag else "nonrelevant",
            "duplicates": "error",
            "scores": "single",
            "may_be_disjoint": True,
        }
        self._qrels = _qrels(query_relevance)
        self._prepared: Any = None

    def evaluate(self, scores: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
        """Return {query: {measure: value}} for the judged queries, in the order of the run."""
        from goodgain import _core
        from goodgain.cores import available_cores

        if not isinstance(scores, Mapping):
            raise TypeError("Argument object scores should be of type dictionary.")
        if not scores or self._qrels is None:
            return {}
        run = scores if isinstance(scores, dict) else dict(scores)
        with core_errors():
            if self._prepared is None:
                plan = _core.Plan(self._specs, self._policy)
                self._prepared = _core.Prepared(self._qrels, plan, available_cores())
            values = self._prepared.dict(run, "run", True)
        nested: dict[str, dict[str, float]] = _core.nested_scores(values, run, self._names)
        return nested


# pytrec_eval returns 0 for values that are not numbers: the name of the run, and grades as text.
_ZERO: dict[str, Any] = {"kernel": "num_rel_ret", "rel": math.inf}


def _is_number(value: Value) -> bool:
    return value.measure.over != "none"


def _result_name(measure: str, name: str) -> str:
    """Measures with a list of numbers keep their bare name."""
    return measure if BY_NAME[measure].params in ("numbers", "gains") else name


def _qrels(table: Mapping[str, Mapping[str, int]]) -> Any:
    """The core's table; None if nothing is judged."""
    from goodgain import _core

    judged = {query: documents for query, documents in table.items() if len(documents) > 0}
    for documents in judged.values():
        for grade in documents.values():
            if not isinstance(grade, int):
                raise TypeError("Expected relevance to be integer.")
    if not judged:
        return None
    with core_errors():
        return _core.Qrels.from_dict(judged, "qrels", True)


def parameters(measures: Iterable[str]) -> dict[str, str | None]:
    """Map measures to their parameters, merged over all names, with nicknames expanded."""
    params_of: dict[str, set[str]] = {}
    for measure in measures:
        for name in supported_nicknames.get(measure, (measure,)):
            base, params = _split(name)
            params_of.setdefault(base, set()).update(params)
    return {name: ",".join(sorted(params)) or None for name, params in params_of.items()}


def _split(name: str) -> tuple[str, list[str]]:
    if name in supported_measures:
        return name, []
    for base in supported_measures:
        if form := re.match(re.escape(base) + _NUMBERS, name):
            return base, form[1].split(",")
    raise ValueError(f"unsupported measure {name}")
