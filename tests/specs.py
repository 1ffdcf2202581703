"""Every measure of the table with several parameters and cut-offs: (name, parameters, cut-off)."""

from __future__ import annotations

from typing import Any

Spec = tuple[str, dict[str, Any], "float | None"]


def label(spec: Spec) -> str:
    """The text of a measure in the grammar."""
    name, params, cutoff = spec
    inside = ", ".join(
        f"{k}={str(v).lower() if isinstance(v, bool) else v}" for k, v in params.items()
    )
    return (
        f"{name}({inside})" * bool(params)
        + name * (not params)
        + ("" if cutoff is None else f"@{cutoff:g}")
    )


def _cross(name: str, params: list[dict[str, Any]], cutoffs: list[float | None]) -> list[Spec]:
    return [(name, p, k) for p in params for k in cutoffs]


_REL: list[dict[str, Any]] = [{}, {"rel": 2}]
_K: list[float | None] = [None, 1, 3, 10]
_LOSS: list[dict[str, Any]] = [
    {},
    {"fp": 0, "fn": 2},
    {"rel": 2, "punish_max": True},
]
_PUBLISHED: list[dict[str, Any]] = [
    {"gain": "reference"},
    {"gain": "reference", "fp": 0.5},
    {"gain": "reference", "punish_max": True},
]

GAIN: list[Spec] = [
    *_cross("CG", [{}, {"gain": "exp"}], _K),
    *_cross("DCG", [{}, {"gain": "exp"}], _K),
    *_cross("nDCG", [{}, {"gain": "exp"}, {"ideal": "retrieved"}], _K),
    *_cross("Rndcg", [{}, {"gain": "exp"}], [None]),
    *_cross("ERR", [{}, {"max_grade": 4}, {"max_grade": 1}], _K),
    *_cross("nERR", [{}, {"max_grade": 4}], _K),
    *_cross("RBP", [{}, {"p": 0.5}, {"rel": 2}, {"max_grade": 2}], _K),
    *_cross("RBP_resid", [{}, {"p": 0.5}], [None, 2]),
]
BINARY: list[Spec] = [
    *_cross("P", [*_REL, {"denominator": "returned"}], [None, 1, 3, 10]),
    *_cross("R", _REL, _K),
    *_cross("R_cap", _REL, [1, 3, 10]),
    *_cross("F", [*_REL, {"beta": 2}, {"rel": 2, "beta": 0.5}], _K),
    *_cross("AP", _REL, _K),
    *_cross("GMAP", _REL, [None, 2]),
    *_cross("RR", _REL, _K),
    *_cross("Hit", _REL, _K),
    *_cross("Rprec", _REL, [None]),
    *_cross("IPrec", [*_REL, {"rounding": "up"}], [0.0, 0.3, 0.5, 1.0]),
    *_cross("AP11", [*_REL, {"rounding": "up"}], [None]),
    *_cross("Bpref", _REL, [None]),
    *_cross("infAP", _REL, [None]),
    *_cross("SetP", _REL, [None]),
    *_cross("SetR", _REL, [None]),
    *_cross("SetF", [*_REL, {"beta": 2}], [None]),
    *_cross("SetAP", _REL, [None]),
    *_cross("Compat", [{}, {"p": 0.5}, {"p": 0.5, "normalize": False}, {"depth": 0}], [None]),
    *_cross("Accuracy", _REL, [None, 3]),
]
TARGETS: list[Spec] = [*_cross("DR", _REL, _K), *_cross("Diversity", _REL, _K)]
ASPECTS: list[Spec] = [
    *_cross("StRecall", _REL, _K),
    *_cross("alpha_DCG", [*_REL, {"alpha": 0.25}, {"alpha": 1}, {"alpha": 0}], _K),
    *_cross("alpha_nDCG", [*_REL, {"alpha": 0.25}, {"alpha": 1}], _K),
    *_cross("ERR_IA", [*_REL, {"alpha": 0.25}], _K),
    *_cross("nERR_IA", [*_REL, {"alpha": 0.25}], _K),
    *_cross("AP_IA", _REL, [None, 2]),
    *_cross("P_IA", _REL, [1, 3, 10]),
    *_cross("NRBP", [*_REL, {"alpha": 0.25, "beta": 0.75}], [None]),
    *_cross("nNRBP", [*_REL, {"alpha": 0.25, "beta": 0.75}], [None]),
]
_ALL_EXPECTED = [{"expected": e} for e in ("total-utility", "cost", "total-cost", "items")]
CWL: list[Spec] = [
    *_cross("INST", [{}, {"T": 2.5}, {"max_grade": 4}, *_ALL_EXPECTED], [None]),
    *_cross("INSQ", [{}, {"T": 2.5}, *_ALL_EXPECTED], [None]),
    *_cross(
        "BPM",
        [{}, {"T": 2}, {"hb": 0.5}, {"hb": 0.5, "hc": 2, "median": 0.25}, *_ALL_EXPECTED],
        [1, 3, 10],
    ),
    *_cross("SDCG", [{}, {"max_grade": 4}, *_ALL_EXPECTED], [1, 3, 10]),
    *_cross("NERR8", [{}, *_ALL_EXPECTED], [1, 3]),
    *_cross("NERR9", [{}, *_ALL_EXPECTED], [1, 3]),
    *_cross("NERR10", [{}, {"p": 0.5}, *_ALL_EXPECTED], [None]),
    *_cross("NERR11", [{}, {"T": 2}, *_ALL_EXPECTED], [None]),
]
LOSS: list[Spec] = [
    *_cross("RDCGL", _LOSS, [None, 2, 10]),
    *_cross("NRDCGL", _LOSS, [None, 2]),
    *_cross("PNRDCGL", _LOSS, [None, 2]),
]
PUBLISHED_LOSS: list[Spec] = [
    *_cross("RDCGL", _PUBLISHED, [None, 2, 10]),
    *_cross("NRDCGL", _PUBLISHED, [None, 2]),
    *_cross("PNRDCGL", _PUBLISHED, [None, 2]),
]
COVERAGE: list[Spec] = [
    *_cross("Judged", [{}], _K),
    *_cross("Unjudged", [{}], _K),
    *_cross("NumRet", [{}], [None, 2]),
    *_cross("NumRel", _REL, [None]),
    *_cross("NumRelRet", _REL, [None, 2]),
    ("NumQ", {}, None),
]
FAMILIES = {
    "gain": GAIN, "binary": BINARY, "targets": TARGETS, "aspects": ASPECTS, "C/W/L": CWL, "loss": LOSS,
    "published loss": PUBLISHED_LOSS, "coverage": COVERAGE,
}  # fmt: skip
ALL = [spec for family in FAMILIES.values() for spec in family]
