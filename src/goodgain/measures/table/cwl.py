"""The C/W/L framework: measures as models of a reader who may go on at every rank."""

from __future__ import annotations

from functools import partial

from goodgain.measures.definition import COUNT, Definition, Param
from goodgain.measures.table.common import MAX_GRADE, continuation

_MOFFAT = "Moffat, Bailey, Scholer & Thomas, INST: an adaptive metric for IR evaluation, ADCS 2015"
_INSQ = "Moffat, Scholer & Thomas, Models and metrics: IR evaluation as a user process, ADCS 2012"
_ZHANG = "Zhang et al., Evaluating web search with a Bejeweled player model, SIGIR 2017"
_JARVELIN = "Järvelin & Kekäläinen, Cumulated gain-based evaluation of IR techniques, TOIS 2002"
_AZZOPARDI = (
    "Azzopardi, Mackenzie & Moffat, ERR is not C/W/L: exploring the relationship between expected "
    "reciprocal rank and other metrics, ICTIR 2021"
)
_FRAMEWORK = "; Azzopardi, Thomas & Moffat, cwl_eval: an evaluation tool for IR, SIGIR 2019"
_EXPECTED = Param(
    name="expected",
    default="utility",
    meaning="what is expected: gain per document read, total gain, cost per document, total cost, or "
    "documents read; every document costs 1",
    choices=("utility", "total-utility", "cost", "total-cost", "items"),
)
_TARGET = Param(
    name="T",
    default=1.0,
    meaning="the gain that the reader wants, in documents of the highest grade",
    low=0,
    open_low=True,
)
_CONTINUES = (
    "Gains are shares of the highest grade; unjudged and negative count 0. Lists are read to rank "
    "1000, and shorter ones are padded with documents of no gain, as in cwl_eval."
)
_SUMS = "; expected utility: sum of g_i x C(1)..C(i-1) / sum of C(1)..C(i-1)"


def _step(name: str, option: str, meaning: str) -> Param:
    return Param(name=name, default=0.0, meaning=meaning, low=0, options=(option,))


_model = partial(
    Definition,
    namespace="ranked",
    family="C/W/L",
    level="query",
    unit="",
    direction="higher",
    range=COUNT,
)

MEASURES: tuple[Definition, ...] = (
    _model(
        name="INST",
        summary="A reader who wants T documents' worth of gain and loses patience with rank and success.",
        formula="C(i) = ((i + 2T - G_i - 1) / (i + 2T - G_i))^2, G_i: gain so far" + _SUMS,
        edge_cases="Nothing relevant retrieved: 0." + _CONTINUES,
        citation=_MOFFAT + _FRAMEWORK,
        kernel="inst",
        params=(_TARGET, MAX_GRADE, _EXPECTED),
        elsewhere={"ir_measures": "INST(T=1.0, max_rel=3)", "cwl_eval": "INST-T"},
    ),
    _model(
        name="INSQ",
        summary="A reader who wants T documents' worth of gain and loses patience with rank.",
        formula="C(i) = ((i + 2T - 1) / (i + 2T))^2" + _SUMS,
        edge_cases="Nothing relevant retrieved: 0." + _CONTINUES,
        citation=_INSQ + _FRAMEWORK,
        kernel="insq",
        params=(_TARGET, MAX_GRADE, _EXPECTED),
        elsewhere={"ir_measures": "INSQ(T=1.0, max_rel=3)", "cwl_eval": "INSQ-T"},
    ),
    _model(
        name="BPM",
        summary="Bejeweled player model: a reader stops with gain T or at rank k, whichever comes first.",
        formula="C(i) = 1 while G_i < T and i < k, else 0; dynamic: T and k move by step x (g_i - median)"
        + _SUMS,
        edge_cases=(
            "Static with both steps 0. cwl_eval's dynamic form adds the cost step to T, not to k, after T "
            "was used, so it has no effect there." + _CONTINUES
        ),
        citation=_ZHANG + _FRAMEWORK,
        kernel="bpm",
        params=(
            _TARGET,
            _step("hb", "benefit_step", "dynamic: how far a document moves the gain wanted"),
            _step("hc", "cost_step", "dynamic: how far a document moves the last rank"),
            Param(
                name="median",
                default=0.5,
                meaning="dynamic: the gain that moves nothing, as a share of the highest grade",
                low=0,
                high=1,
                options=("median_gain",),
            ),
            MAX_GRADE,
            _EXPECTED,
        ),
        cutoff="required",
        elsewhere={"ir_measures": "BPM(T=1.0, max_rel=3)@k", "cwl_eval": "BPM-Static-T-K"},
    ),
    _model(
        name="SDCG",
        summary="Scaled DCG: as if k documents of the highest grade existed.",
        formula="sum of g_i / log2(i+1) / sum of 1 / log2(i+1), i = 1..k",
        edge_cases="Nothing relevant retrieved: 0." + _CONTINUES,
        citation=_JARVELIN + _FRAMEWORK,
        kernel="sdcg",
        params=(MAX_GRADE, _EXPECTED),
        cutoff="required",
        elsewhere={"ir_measures": "SDCG(max_rel=3)@k", "cwl_eval": "NDCG-k@k"},
    ),
    *(
        _model(
            name=name,
            namespace="ranked",
            family="C/W/L",
            level="query",
            unit="",
            direction="higher",
            range=COUNT,
            summary=summary,
            formula=formula + _SUMS,
            edge_cases="Nothing relevant retrieved: 0." + _CONTINUES,
            citation=_AZZOPARDI,
            kernel=name.lower(),
            params=(*params, MAX_GRADE, _EXPECTED),
            cutoff="none" if params else "required",
            elsewhere={"ir_measures": f"{name}(max_rel=3)" + ("" if params else "@k")},
        )
        for name, summary, formula, params in (
            ("NERR8", "Nearly ERR: a reader stops with the gain of a document, or at rank k.",
             "C(i) = 1 - g_i for i < k, else 0", ()),
            ("NERR9", "Nearly ERR with the reciprocal of the rank.",
             "C(i) = i / (i+1) x (1 - g_i) for i < k, else 0", ()),
            ("NERR10", "Nearly ERR with the persistence of RBP.", "C(i) = p (1 - g_i)",
             (continuation("p", 0.9, "the probability of continuing after a document of no gain"),)),
            ("NERR11", "Nearly ERR with the persistence of INSQ.",
             "C(i) = ((i + 2T - 1) / (i + 2T))^2 x (1 - g_i)", (_TARGET,)),
        )
    ),
)  # fmt: skip
