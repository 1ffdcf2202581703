"""Collections for SQL and the comparison of what it computes with the core, bit by bit."""

from __future__ import annotations

import math
import random

EXACT = (
    "nDCG@10 nDCG(gain=exp)@5 nDCG(ideal=retrieved)@7 DCG@3 CG@5 AP AP@5 AP(rel=2) RR RR@3 P@5 "
    "P(denominator=returned)@5 R@3 R_cap@3 F@5 F(beta=2)@5 Rprec SetP SetR SetF SetAP Hit@1 NumRet NumRet@3 "
    "NumRel NumRelRet NumQ Judged@10 Unjudged@3 RBP(p=0.8)@10 IPrec@0.1 AP11 Bpref GMAP"
)
POLICIES = [
    {}, {"ties": "docid-ascending"}, {"missing": "skip"}, {"unjudged": "remove"},
    {"unjudged": "remove-negative"}, {"scores": "single"}, {"same_id": "drop"}, {"duplicates": "best"},
]  # fmt: skip
DOCS = [*(f"d{i}" for i in range(30)), "é", "007", "zz", "Z", "q3", "q7", "日本"]


def collection(seed, gains=(-1.0, 0.0, 1.0, 2.0, 3.0), twice=False):
    """Ties, negative zeros, unjudged documents, queries missing on either side, ids in other scripts."""
    rng = random.Random(seed)
    judged, ranked = [], []
    for number in range(40):
        query = f"q{number}"
        if rng.random() < 0.9:
            judged += [(query, d, rng.choice(gains)) for d in rng.sample(DOCS, rng.randint(1, 12))]
        if rng.random() < 0.85:
            for doc in rng.sample(DOCS, rng.randint(1, 30)):
                score = rng.choice([-1.5, 0.0, -0.0, 1.0, 2.0, 0.1, rng.random()])
                ranked += [(query, doc, score)] * (1 + (twice and rng.random() < 0.1))
    return judged, ranked


def values(names, rows):
    """{query: {measure: value}}; null is undefined."""
    return {
        row[1]: {
            n: math.nan if v is None else float(v) for n, v in zip(names[2:], row[2:], strict=True)
        }
        for row in rows
    }


def same_bits(local, computed):
    scores = local.runs[0]
    assert set(computed) == set(scores.queries)
    for measure in scores.measures:
        for query, value in zip(scores.queries, scores.column(measure.label), strict=True):
            assert repr(computed[query][measure.label] + 0.0) == repr(value + 0.0), (measure, query)
