"""The measures as type checkers see them, never imported. Written by scripts/typed_names.py."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from goodgain.measures.definition import Measure

_measure = cast("Measure", None)
# fmt: off
AP = AP11 = AP_IA = Accuracy = Answer = AreaSearches = AreaSeconds = AreaTokens = _measure
AvgGain_i = BPM = BPref = Bpref = CG = CalibrationError = CitationPrecision = CitedOfReturned = _measure
CitedRecall = Compat = Confidence = Cost = DCG = DR = Diversity = DryIterations = _measure
Dup_i = ERR = ERR_IA = F = F1 = GMAP = GR_i = G_i = _measure
Hit = INSQ = INST = IPrec = IterationsForAllGoodResults = Judged = Latency = MAP = _measure
MAP_IA = MRR = MarginalGain_i = NDCG = NERR10 = NERR11 = NERR8 = NERR9 = _measure
NRBP = NRDCGL = NuggetAll = NuggetAllStrict = NuggetVital = NuggetVitalStrict = NuggetWeighted = NuggetWeightedStrict = _measure
NumQ = NumRel = NumRelRet = NumRet = OpenedRecall = P = PNRDCGL = P_IA = _measure
Precision = R = RBP = RBP_resid = RDCGL = RPrec = RR = R_cap = _measure
R_i = Recall = Rndcg = Rprec = SDCG = SetAP = SetF = SetP = _measure
SetR = SpanIoU = SpanPrecision = SpanRecall = StRecall = Success = TotalCost = TotalSeconds = _measure
TotalTokens = UR_i = Unjudged = UnsupportedCitations = alpha_DCG = alpha_nDCG = hit_rate = infAP = _measure
nDCG = nERR = nERR_IA = nNRBP = α_DCG = α_nDCG = _measure

__all__ = [
    "AP",
    "AP11",
    "AP_IA",
    "BPM",
    "CG",
    "DCG",
    "DR",
    "ERR",
    "ERR_IA",
    "F1",
    "GMAP",
    "INSQ",
    "INST",
    "MAP",
    "MAP_IA",
    "MRR",
    "NDCG",
    "NERR8",
    "NERR9",
    "NERR10",
    "NERR11",
    "NRBP",
    "NRDCGL",
    "PNRDCGL",
    "P_IA",
    "RBP",
    "RDCGL",
    "RR",
    "SDCG",
    "Accuracy",
    "Answer",
    "AreaSearches",
    "AreaSeconds",
    "AreaTokens",
    "AvgGain_i",
    "BPref",
    "Bpref",
    "CalibrationError",
    "CitationPrecision",
    "CitedOfReturned",
    "CitedRecall",
    "Compat",
    "Confidence",
    "Cost",
    "Diversity",
    "DryIterations",
    "Dup_i",
    "F",
    "GR_i",
    "G_i",
    "Hit",
    "IPrec",
    "IterationsForAllGoodResults",
    "Judged",
    "Latency",
    "MarginalGain_i",
    "NuggetAll",
    "NuggetAllStrict",
    "NuggetVital",
    "NuggetVitalStrict",
    "NuggetWeighted",
    "NuggetWeightedStrict",
    "NumQ",
    "NumRel",
    "NumRelRet",
    "NumRet",
    "OpenedRecall",
    "P",
    "Precision",
    "R",
    "RBP_resid",
    "RPrec",
    "R_cap",
    "R_i",
    "Recall",
    "Rndcg",
    "Rprec",
    "SetAP",
    "SetF",
    "SetP",
    "SetR",
    "SpanIoU",
    "SpanPrecision",
    "SpanRecall",
    "StRecall",
    "Success",
    "TotalCost",
    "TotalSeconds",
    "TotalTokens",
    "UR_i",
    "Unjudged",
    "UnsupportedCitations",
    "alpha_DCG",
    "alpha_nDCG",
    "hit_rate",
    "infAP",
    "nDCG",
    "nERR",
    "nERR_IA",
    "nNRBP",
    "α_DCG",
    "α_nDCG",
]
