"""The measures as type checkers see them, never imported. Written by scripts/typed_names.py."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from goodgain.measures.definition import Measure

_measure = cast("Measure", None)
# fmt: off
AP = AP11 = AP_IA = Accuracy = Answer = AreaSearches = _measure
AreaSeconds = AreaTokens = AvgGain_i = BPM = BPref = Bpref = _measure
CG = CalibrationError = CitationPrecision = CitedOfReturned = CitedRecall = Compat = _measure
Confidence = Cost = DCG = DR = Diversity = DryIterations = _measure
Dup_i = ERR = ERR_IA = F = F1 = GMAP = _measure
GR_i = G_i = Hit = INSQ = INST = IPrec = _measure
IterationsForAllGoodResults = Judged = Latency = MAP = MAP_IA = MRR = _measure
MarginalGain_i = NDCG = NERR10 = NERR11 = NERR8 = NERR9 = _measure
NRBP = NRDCGL = NuggetAll = NuggetAllStrict = NuggetVital = NuggetVitalStrict = _measure
NuggetWeighted = NuggetWeightedStrict = NumQ = NumRel = NumRelRet = NumRet = _measure
OpenedRecall = P = PNRDCGL = P_IA = Precision = R = _measure
RBP = RBP_resid = RDCGL = RPrec = RR = R_cap = _measure
R_i = Recall = Rndcg = Rprec = SDCG = SetAP = _measure
SetF = SetP = SetR = SpanIoU = SpanPrecision = SpanRecall = _measure
StRecall = Success = TotalCost = TotalSeconds = TotalTokens = UR_i = _measure
Unjudged = UnsupportedCitations = alpha_DCG = alpha_nDCG = hit_rate = infAP = _measure
nDCG = nERR = nERR_IA = nNRBP = α_DCG = α_nDCG = _measure

__all__ = [
    "AP", "AP11", "AP_IA", "Accuracy", "Answer", "AreaSearches", "AreaSeconds", "AreaTokens",
    "AvgGain_i", "BPM", "BPref", "Bpref", "CG", "CalibrationError", "CitationPrecision",
    "CitedOfReturned", "CitedRecall", "Compat", "Confidence", "Cost", "DCG", "DR", "Diversity",
    "DryIterations", "Dup_i", "ERR", "ERR_IA", "F", "F1", "GMAP", "GR_i", "G_i", "Hit", "INSQ",
    "INST", "IPrec", "IterationsForAllGoodResults", "Judged", "Latency", "MAP", "MAP_IA", "MRR",
    "MarginalGain_i", "NDCG", "NERR10", "NERR11", "NERR8", "NERR9", "NRBP", "NRDCGL", "NuggetAll",
    "NuggetAllStrict", "NuggetVital", "NuggetVitalStrict", "NuggetWeighted", "NuggetWeightedStrict",
    "NumQ", "NumRel", "NumRelRet", "NumRet", "OpenedRecall", "P", "PNRDCGL", "P_IA", "Precision",
    "R", "RBP", "RBP_resid", "RDCGL", "RPrec", "RR", "R_cap", "R_i", "Recall", "Rndcg", "Rprec",
    "SDCG", "SetAP", "SetF", "SetP", "SetR", "SpanIoU", "SpanPrecision", "SpanRecall", "StRecall",
    "Success", "TotalCost", "TotalSeconds", "TotalTokens", "UR_i", "Unjudged",
    "UnsupportedCitations", "alpha_DCG", "alpha_nDCG", "hit_rate", "infAP", "nDCG", "nERR",
    "nERR_IA", "nNRBP", "α_DCG", "α_nDCG",
]
