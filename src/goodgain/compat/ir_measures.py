r"""A drop-in replacement for ir_measures: `import goodgain.compat.ir_measures as ir_measures`.

Its measure objects and their names, `calc_aggregate`, `iter_calc`, `calc` and `evaluator`, with the numbers
of the preset `ir_measures`.

>>> from pathlib import Path
>>> import goodgain.compat.ir_measures as ir_measures
>>> from goodgain.compat.ir_measures import AP, nDCG
>>> _ = Path("qrels.txt").write_text("q1 0 d1 2\nq1 0 d2 0\n")
>>> _ = Path("run.txt").write_text("q1 Q0 d2 1 2.0 mine\nq1 Q0 d1 2 1.0 mine\n")
>>> qrels = list(ir_measures.read_trec_qrels("qrels.txt"))
>>> run = list(ir_measures.read_trec_run("run.txt"))
>>> ir_measures.calc_aggregate([AP], qrels, run)
{AP: 0.5}
>>> [(m.query_id, round(m.value, 4)) for m in ir_measures.iter_calc([nDCG @ 10], qrels, run)]
[('q1', 0.6309)]
>>> ir_measures.calc([AP], qrels, run).aggregated
{AP: 0.5}
>>> ir_measures.evaluator([ir_measures.parse_measure("AP(rel=2)")], qrels).calc_aggregate(run)
{AP(rel=2): 0.5}
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from goodgain.compat.trec_measures import BY_NAME
from goodgain.errors import MeasureError, core_errors
from goodgain.measures.grammar import definition_of, make
from goodgain.ranking.policy import PRESETS
from goodgain.ranking.presets import convention

_PRESET = "ir_measures"
_REL = {"rel": 1}
_JUDGED = {"judged_only": False}
_DIVERSITY = {"cutoff": None, "rel": 1, "judged_only": False}

# Parameters by measure, with their defaults; None where there is no default.
_PARAMS: dict[str, dict[str, Any]] = {
    "P": {"cutoff": None, **_REL, **_JUDGED}, "R": {"cutoff": None, **_REL, **_JUDGED},
    "Success": {"cutoff": None, **_REL, **_JUDGED}, "AP": {"cutoff": None, **_REL, **_JUDGED},
    "RR": {"cutoff": None, **_REL, **_JUDGED}, "Rprec": {**_REL, **_JUDGED},
    "IPrec": {"recall": None, **_REL, **_JUDGED}, "Bpref": _REL, "infAP": _REL,
    "nDCG": {"cutoff": None, "dcg": "log2", "gains": None, **_JUDGED},
    "RBP": {"cutoff": None, "p": 0.8, "rel": None}, "ERR": {"cutoff": None},
    "SetP": {**_REL, "relative": False, **_JUDGED}, "SetR": _REL,
    "SetF": {**_REL, "beta": 1.0, **_JUDGED}, "SetAP": {**_REL, **_JUDGED},
    "Judged": {"cutoff": None}, "Accuracy": {"cutoff": None, **_REL},
    "Compat": {"p": 0.95, "normalize": True},
    "NumQ": {}, "NumRel": _REL, "NumRet": {"rel": None},
    "StRecall": {"cutoff": None, **_REL}, "P_IA": _DIVERSITY, "ERR_IA": _DIVERSITY,
    "nERR_IA": _DIVERSITY, "AP_IA": {**_REL, **_JUDGED},
    "alpha_DCG": {**_DIVERSITY, "alpha": 0.5}, "alpha_nDCG": {**_DIVERSITY, "alpha": 0.5},
    "NRBP": {**_REL, "alpha": 0.5, "beta": 0.5},
}  # fmt: skip
_ALIASES = {
    "Precision": "P", "Recall": "R", "MAP": "AP", "MRR": "RR", "NDCG": "nDCG", "RPrec": "Rprec",
    "BPref": "Bpref", "MAP_IA": "AP_IA", "α_DCG": "alpha_DCG", "α_nDCG": "alpha_nDCG",
}  # fmt: skip
_NOT_COMPUTED = ("BPM", "SDCG", "NERR8", "NERR9", "NERR10", "NERR11", "INST", "INSQ", "nNRBP")
_SUMS = ("NumQ", "NumRel", "NumRet")
_NEED_CUTOFF = ("P", "R", "Success", "ERR", "P_IA")


class Qrel(NamedTuple):
    """A judgment."""

    query_id: str
    doc_id: str
    relevance: int
    iteration: str = "0"


class ScoredDoc(NamedTuple):
    """A retrieved document."""

    query_id: str
    doc_id: str
    score: float


class Metric(NamedTuple):
    """The value of a measure for one query."""

    query_id: str
    measure: Measure
    value: float


class CalcResults(NamedTuple):
    """Aggregated values and values per query."""

    aggregated: Any
    per_query: list[Metric]


class Measure:
    """A measure as a value: `nDCG(dcg='exp-log2')@10`."""

    __slots__ = ("NAME", "params")

    def __init__(self, name: str, **params: Any) -> None:
        self.NAME = name
        unknown = sorted(params.keys() - _PARAMS[name].keys())
        if unknown:
            raise MeasureError(
                f"unknown parameter '{unknown[0]}' for {name}",
                hint=f"parameters: {', '.join(_PARAMS[name]) or 'none'}",
            )
        self.params = params

    @property
    def _at(self) -> str:
        return "recall" if self.NAME == "IPrec" else "cutoff"

    def __call__(self, **params: Any) -> Measure:
        """The same measure with other parameters."""
        return Measure(self.NAME, **{**self.params, **params})

    def __matmul__(self, at: float) -> Measure:
        return self(**{self._at: at})

    def __getitem__(self, name: str) -> Any:
        return self.params.get(name, _PARAMS[self.NAME][name])

    def __repr__(self) -> str:
        params = ",".join(
            f"{name}={_format(value)}"
            for name, value in self.params.items()
            if name != self._at and value != _PARAMS[self.NAME][name]
        )
        text = f"{self.NAME}({params})" if params else self.NAME
        return f"{text}@{self.params[self._at]}" if self._at in self.params else text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Measure) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))

    def calc_aggregate(self, qrels: Any, run: Any) -> float:
        """The value over all queries."""
        return calc_aggregate([self], qrels, run)[self]

    def iter_calc(self, qrels: Any, run: Any) -> Iterator[Metric]:
        """The values, query by query."""
        return iter_calc([self], qrels, run)

    def calc(self, qrels: Any, run: Any) -> CalcResults:
        """The value over all queries, and the values per query."""
        results = calc([self], qrels, run)
        return CalcResults(results.aggregated[self], results.per_query)

    def evaluator(self, qrels: Any) -> Evaluator:
        """Prepare the measure for any number of runs."""
        return Evaluator([self], qrels)

    def spec(self) -> dict[str, Any]:
        """Options for the native core."""
        name = {"Success": "Hit"}.get(self.NAME, self.NAME)
        values = {k: v for k, v in self.params.items() if v is not None}
        judged_only = values.pop("judged_only", False)
        options: dict[str, Any] = {}
        at = values.pop(self._at, None)
        if at is None and self.NAME in (*_NEED_CUTOFF, "IPrec"):
            raise MeasureError(
                f"missing cutoff for {self.NAME}", hint=f"for example {self.NAME}@10"
            )
        if self.NAME == "nDCG":
            dcg = values.pop("dcg", "log2")
            if dcg not in ("log2", "exp-log2"):
                raise MeasureError(f"invalid dcg='{dcg}' for nDCG", hint="one of: log2, exp-log2")
            values["gain"] = "exp" if dcg == "exp-log2" else "linear"
            if gains := values.pop("gains", None):
                numbers = [float(n) for pair in gains.items() for n in pair]
                options = {"kernel": "te_ndcg", "numbers": numbers}
        elif self.NAME == "SetP" and values.pop("relative", False):
            options = {"kernel": "te_set_relative_p"}
        elif self.NAME == "NumRet" and "rel" in values:
            name = "NumRelRet"
        elif self.NAME == "Compat" and not values.pop("normalize", True):
            raise MeasureError("unsupported measure Compat(normalize=False)")
        elif self.NAME == "RBP" and "rel" not in values:
            raise MeasureError("missing parameter 'rel' for RBP", hint="for example RBP(rel=1)")
        params = {
            k: float(v) if isinstance(v, int) and not isinstance(v, bool) else v
            for k, v in values.items()
        }
        policy = PRESETS[_PRESET]
        measure = make(definition_of(name), params, at)
        rules = convention(measure, policy, _PRESET)
        if judged_only:
            rules = replace(rules, policy=rules.policy.change({"unjudged": "remove-negative"}))
        return {**rules.for_core(), **options}


def _format(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ",".join(f"{k}:{v}" for k, v in sorted(value.items()) if k != v) + "}"
    return repr(value)


_MEASURES: dict[str, Measure] = {name: Measure(name) for name in _PARAMS}
_MEASURES |= {alias: _MEASURES[name] for alias, name in _ALIASES.items()}
_MEASURES["SetRelP"] = Measure("SetP", relative=True)
_MEASURES["NumRelRet"] = Measure("NumRet", rel=1)
BaseMeasure = Measure


def __getattr__(name: str) -> Measure:
    """Every measure is an attribute of the module."""
    if name in _MEASURES:
        return _MEASURES[name]
    if name in _NOT_COMPUTED:
        raise AttributeError(f"goodgain does not compute the measure '{name}' of ir_measures")
    raise AttributeError(f"module 'goodgain.compat.ir_measures' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted({*globals(), *_MEASURES})


# --- parsing ---


def parse_measure(measure: str | Measure) -> Measure:
    """Parse a measure: `Name(param=value)@cutoff`."""
    if isinstance(measure, Measure):
        return measure
    try:
        node: ast.expr = ast.parse(measure, mode="eval").body
        at = None
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            at, node = ast.literal_eval(node.right), node.left
        params = {}
        if isinstance(node, ast.Call):
            params = {str(k.arg): ast.literal_eval(k.value) for k in node.keywords}
            node = node.func
        if not isinstance(node, ast.Name):
            raise ValueError
    except (SyntaxError, ValueError):
        raise ValueError(
            f"problem parsing measure {measure!r}; must be in format Measure(k1=v1, k2=v2)@c"
        ) from None
    if node.id not in _MEASURES:
        more = "; goodgain does not compute it" if node.id in _NOT_COMPUTED else ""
        raise NameError(f"measure not found: {node.id}{more}")
    parsed = _MEASURES[node.id](**params)
    return parsed if at is None else parsed @ at


_TREC_NAMES = {
    "ndcg": "nDCG", "P": "P", "map_cut": "AP", "set_map": "SetAP", "set_P": "SetP", "infAP": "infAP",
    "bpref": "Bpref", "num_rel_ret": "NumRelRet", "recip_rank": "RR", "recall": "R",
    "set_recall": "SetR", "set_relative_P": "SetRelP", "num_ret": "NumRet", "num_rel": "NumRel",
    "ndcg_cut": "nDCG", "Rprec": "Rprec", "num_q": "NumQ", "map": "AP", "success": "Success",
    "set_F": "SetF", "iprec_at_recall": "IPrec",
}  # fmt: skip


def parse_trec_measure(measure: str) -> list[Measure]:
    """Parse a trec_eval name: `ndcg_cut_10`, `P.5,10`, `official`."""
    from goodgain.compat.pytrec_eval import parameters, supported_nicknames

    if measure in supported_nicknames:
        members = sorted(m for m in supported_nicknames[measure] if m in _TREC_NAMES)
        return [m for name in members for m in parse_trec_measure(name)]
    name, params = next(iter(parameters([measure]).items()))
    if name not in _TREC_NAMES:
        raise ValueError(f"known trec name {name}, but not yet supported")
    base, trec = _MEASURES[_TREC_NAMES[name]], BY_NAME[name]
    numbers = sorted(map(float, params.split(","))) if params else trec.defaults
    if trec.params == "cutoffs":
        return [base @ int(k) for k in numbers]
    if trec.params == "points":
        return [base @ r for r in numbers]
    return [base(beta=float(params))] if params and name == "set_F" else [base]


def read_trec_qrels(file: Any) -> Iterator[Qrel]:
    """Read judgments from a path, a text or an open file."""
    for fields in _lines(file):
        query, iteration, doc, grade = fields
        yield Qrel(query, doc, int(grade), iteration)


def read_trec_run(file: Any) -> Iterator[ScoredDoc]:
    """Read retrieved documents from a path, a text or an open file."""
    for fields in _lines(file):
        query, _, doc, _, score, _ = fields
        yield ScoredDoc(query, doc, float(score))


def _lines(file: Any) -> Iterator[list[str]]:
    if isinstance(file, str) and "\n" not in file:
        from goodgain.io.compression import open_decompressed

        with open_decompressed(file) as stream:
            yield from _lines(stream.read().decode("utf-8", "surrogateescape"))
        return
    lines = file.splitlines() if isinstance(file, str) else file
    for line in lines:
        if line.strip():
            yield line.split()


# --- evaluation ---


class Evaluator:
    """Judgments and measures, prepared once for any number of runs."""

    def __init__(self, measures: Iterable[str | Measure], qrels: Any) -> None:
        from goodgain import _core

        self.measures = list(dict.fromkeys(parse_measure(m) for m in measures))
        rows = _rows(qrels, "relevance")
        policy = {**PRESETS[_PRESET].for_core(), "may_be_disjoint": True}
        with core_errors():
            self._plan = _core.Plan([m.spec() for m in self.measures], policy)
        by_aspect = any(definition_of(_own(m)).by_aspect for m in self.measures)
        with core_errors():
            if by_aspect and len({row[3] for row in rows}) > 1:
                table = [(q, d, g, None, a) for q, d, g, a in rows]
                self._qrels = _core.Qrels.from_rows(table, "qrels") if rows else None
            else:
                self._qrels = _core.Qrels.from_dict(_nested(rows), "qrels", True) if rows else None

    def iter_calc(self, run: Any) -> Iterator[Metric]:
        """The values, query by query; 0 for a query missing from the run."""
        from goodgain import _core
        from goodgain.cores import available_cores

        if self._qrels is None:
            return
        table = run if isinstance(run, dict) else _nested(_rows(run, "score"))
        with core_errors():
            prepared = _core.Prepared(self._qrels, self._plan, available_cores())
            scores = prepared.dict(table, "run", True)
        columns = [scores.column(i) for i in range(len(self.measures))]
        for row, query in enumerate(self._qrels.queries()):
            for measure, column in zip(self.measures, columns, strict=True):
                value = column[row]
                if value == value:
                    yield Metric(query, measure, value)
                elif measure.NAME != "Accuracy":  # undefined values are left out
                    yield Metric(query, measure, 0.0)

    def calc(self, run: Any) -> CalcResults:
        """Aggregated values and values per query."""
        metrics = list(self.iter_calc(run))
        values: dict[Measure, list[float]] = {m: [] for m in self.measures}
        for metric in metrics:
            values[metric.measure].append(metric.value)
        return CalcResults({m: _over_queries(m, v) for m, v in values.items()}, metrics)

    def calc_aggregate(self, run: Any) -> dict[Measure, float]:
        """Aggregated values."""
        aggregated: dict[Measure, float] = self.calc(run).aggregated
        return aggregated


def evaluator(measures: Iterable[str | Measure], qrels: Any) -> Evaluator:
    """Prepare judgments and measures for any number of runs."""
    return Evaluator(measures, qrels)


def calc_aggregate(measures: Iterable[str | Measure], qrels: Any, run: Any) -> dict[Measure, float]:
    """Aggregated values."""
    return Evaluator(measures, qrels).calc_aggregate(run)


def iter_calc(measures: Iterable[str | Measure], qrels: Any, run: Any) -> Iterator[Metric]:
    """The values, query by query."""
    return Evaluator(measures, qrels).iter_calc(run)


def calc(measures: Iterable[str | Measure], qrels: Any, run: Any) -> CalcResults:
    """Aggregated values and values per query."""
    return Evaluator(measures, qrels).calc(run)


def _own(measure: Measure) -> str:
    return {"Success": "Hit"}.get(measure.NAME, measure.NAME)


def _over_queries(measure: Measure, values: list[float]) -> float:
    if measure.NAME in _SUMS:
        return sum(values)
    return sum(values) / len(values) if values else float("nan")


def _rows(table: Any, value: str) -> list[tuple[Any, ...]]:
    """(query, document, number, iteration) from a dictionary, a data frame or named tuples."""
    if isinstance(table, Mapping):
        return [(q, d, v, "0") for q, docs in table.items() for d, v in docs.items()]
    items = table.itertuples() if hasattr(table, "itertuples") else table
    try:
        return [
            (r.query_id, r.doc_id, getattr(r, value), getattr(r, "iteration", "0")) for r in items
        ]
    except AttributeError as error:
        raise ValueError(
            f"unknown {'qrels' if value == 'relevance' else 'run'} format: {error}"
        ) from None


def _nested(rows: Iterable[tuple[Any, ...]]) -> dict[Any, dict[Any, Any]]:
    nested: dict[Any, dict[Any, Any]] = {}
    for query, doc, value, _ in rows:
        nested.setdefault(query, {})[doc] = value
    return nested
