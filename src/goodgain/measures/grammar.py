"""Measures as values: `nDCG(gain=exp)@10` reads, prints and parses alike."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goodgain.errors import MeasureError
from goodgain.measures.table.ranked import DEFINITIONS, Definition, Param, Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_BY_NAME: dict[str, Definition] = {d.name: d for d in DEFINITIONS}
_ALIASES: dict[str, str] = {alias: d.name for d in DEFINITIONS for alias in d.aliases}

# Names of other tools: our name, and the parameters it stands for.
_FOREIGN: dict[str, tuple[str, dict[str, Value]]] = {
    # trec_eval
    "map": ("AP", {}), "map_cut": ("AP", {}), "gm_map": ("GMAP", {}), "recip_rank": ("RR", {}),
    "ndcg": ("nDCG", {}), "ndcg_cut": ("nDCG", {}), "recall": ("R", {}), "success": ("Hit", {}),
    "bpref": ("Bpref", {}), "iprec_at_recall": ("IPrec", {}), "11pt_avg": ("AP11", {}),
    "set_P": ("SetP", {}), "set_recall": ("SetR", {}), "set_F": ("SetF", {}),
    "set_map": ("SetAP", {}), "relative_P": ("R_cap", {}), "num_ret": ("NumRet", {}),
    "num_rel": ("NumRel", {}), "num_rel_ret": ("NumRelRet", {}), "num_q": ("NumQ", {}),
    "rbp": ("RBP", {"p": 0.9}), "rbp_resid": ("RBP_resid", {"p": 0.9}), "unj": ("Unjudged", {}),
    "dcg": ("DCG", {}),
    # ranx
    "ndcg_burges": ("nDCG", {"gain": "exp"}), "dcg_burges": ("DCG", {"gain": "exp"}),
    "mrr": ("RR", {}), "precision": ("P", {}), "f1": ("F", {}), "r-precision": ("Rprec", {}),
    "hits": ("NumRelRet", {}),
    # BEIR, MTEB, sentence-transformers
    "hole": ("Unjudged", {}), "r_cap": ("R_cap", {}), "accuracy": ("Hit", {}), "hit": ("Hit", {}),
}  # fmt: skip
# Names of trec_eval that stand for several cut-offs when none is given.
_TREC_CUTOFFS = {
    **dict.fromkeys(
        ("ndcg_cut", "map_cut", "relative_P"),
        ("5", "10", "15", "20", "30", "100", "200", "500", "1000"),
    ),
    "success": ("1", "5", "10"),
    "unj": ("5", "10", "20"),
    "iprec_at_recall": tuple(f"{r / 10:.2f}" for r in range(11)),
}


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure with its parameters and cut-off.

    `label` is how it is printed: as the user typed it, or in the grammar's own form.
    """

    definition: Definition
    params: tuple[tuple[str, Value], ...] = ()
    cutoff: float | None = None
    label: str = ""

    def __call__(self, **params: Value) -> Measure:
        """The same measure with other parameters."""
        merged = dict(self.params)
        for name, value in params.items():
            merged[name] = _checked(self.definition, name, value)
        return make(self.definition, merged, self.cutoff)

    def __matmul__(self, cutoff: float) -> Measure:
        """The same measure with a cut-off: `nDCG@10`."""
        return make(self.definition, dict(self.params), cutoff)

    def __str__(self) -> str:
        return self.label

    def __repr__(self) -> str:
        return self.label

    @property
    def name(self) -> str:
        """The name in the table of measures."""
        return self.definition.name

    def get(self, param: str) -> Value | None:
        """The value of a parameter: the given one, or the default."""
        given = dict(self.params)
        if param in given:
            return given[param]
        found = self.definition.param(param)
        return found.default if found else None

    def with_defaults(self, params: Mapping[str, Value]) -> Measure:
        """The same measure, printed as before, where other tools have other defaults."""
        if not params:
            return self
        return make(self.definition, {**params, **dict(self.params)}, self.cutoff, self.label)

    def complete(self) -> Measure:
        """Itself, or an error when it lacks a cut-off that it cannot do without."""
        if self.cutoff is None and self.definition.cutoff in ("required", "recall"):
            example = "0.5" if self.definition.cutoff == "recall" else "10"
            raise MeasureError(
                f"the measure '{self.label}' needs a cut-off",
                hint=f"for example {self.definition.name}@{example}",
            )
        return self

    def options(self) -> dict[str, Any]:
        """What the core's kernel is told."""
        d = self.definition
        options: dict[str, Any] = {"kernel": d.kernel, **d.options}
        if d.function is not None:
            options["function"] = d.function
        if self.cutoff is not None:
            options["recall" if d.cutoff == "recall" else "cutoff"] = (
                float(self.cutoff) if d.cutoff == "recall" else int(self.cutoff)
            )
        for param in d.params:
            value = self.get(param.name)
            if value is None:
                continue
            match param.name, value:
                case "gain", _:
                    options["exp_gain"] = value == "exp"
                    options["reference"] = value == "reference"
                case "ideal", _:
                    options["ideal_retrieved"] = value == "retrieved"
                    options["ideal_length"] = value == "length"
                case "denominator", _:
                    options["returned"] = value == "returned"
                case "negative", _:
                    options["negative_judged"] = value == "nonrelevant"
                case "depth", _:
                    options["overlap_depth"] = value
                case "rounding", _:
                    options["recall_ceil"] = value == "up"
                case "fp" | "fn", _:
                    options[f"{param.name}_penalty"] = value
                case "rel", _:
                    options["rel"] = value
                    options["binary"] = d.name == "RBP"
                    if d.family == "gain":
                        options["min_gain"] = value
                case _:
                    options[param.name] = value
        return options


def make(
    definition: Definition, params: Mapping[str, Value], cutoff: float | None, label: str = ""
) -> Measure:
    """A checked measure; without a label it prints in the grammar's own form."""
    given = {name: _checked(definition, name, value) for name, value in params.items()}
    ordered = tuple((p.name, given[p.name]) for p in definition.params if p.name in given)
    if cutoff is not None:
        cutoff = _checked_cutoff(definition, cutoff)
    return Measure(definition, ordered, cutoff, label or _printed(definition, ordered, cutoff))


def _printed(
    definition: Definition, params: tuple[tuple[str, Value], ...], cutoff: float | None
) -> str:
    text = definition.name
    if params:
        text += "(" + ", ".join(f"{name}={_shown(value)}" for name, value in params) + ")"
    return text if cutoff is None else f"{text}@{_number_text(cutoff)}"


def _number_text(cutoff: float) -> str:
    """All digits and no exponent, so that it is read again as the same number."""
    text = repr(cutoff)
    if "e" in text:
        from decimal import Decimal

        text = f"{Decimal(text):f}"
    return text.removesuffix(".0")


def _shown(value: Value) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else repr(value).removesuffix(".0")


def _checked_cutoff(definition: Definition, cutoff: float) -> float:
    if definition.cutoff == "none":
        raise MeasureError(
            f"the measure '{definition.name}' takes no cut-off, but got @{cutoff:g}",
            hint=f"write {definition.name}",
        )
    if definition.cutoff == "recall":
        if not 0 <= cutoff <= 1:
            raise MeasureError(
                f"the recall point {cutoff:g} of {definition.name} is not between 0 and 1",
                hint=f"for example {definition.name}@0.5",
            )
        return float(cutoff)
    if cutoff != int(cutoff) or not 1 <= cutoff < 2**32:
        raise MeasureError(
            f"the cut-off {cutoff:g} of {definition.name} is not a whole number from 1 on",
            hint=f"for example {definition.name}@10",
        )
    return int(cutoff)


def _checked(definition: Definition, name: str, value: Value) -> Value:
    param = definition.param(name)
    if param is None:
        names = ", ".join(p.name for p in definition.params) or "none"
        raise MeasureError(
            f"the measure '{definition.name}' has no parameter '{name}'",
            hint=f"its parameters: {names}; see: goodgain measures {definition.name}",
        )
    if param.choices:
        if value in param.choices:
            return value
        raise MeasureError(
            f"{name}='{value}' is no value of {definition.name}",
            hint=f"one of: {', '.join(param.choices)}",
        )
    if isinstance(param.default, bool):
        if isinstance(value, bool):
            return value
        if str(value).lower() in ("true", "false"):
            return str(value).lower() == "true"
        raise MeasureError(
            f"{name}='{value}' is no value of {definition.name}", hint="true or false"
        )
    return _number(definition, param, value)


def _number(definition: Definition, param: Param, value: Value) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = float("nan")
    low_ok = param.low is None or (number > param.low if param.open_low else number >= param.low)
    high_ok = param.high is None or (
        number < param.high if param.open_high else number <= param.high
    )
    if low_ok and high_ok and number - number == 0:
        return number
    limits = []
    if param.low is not None:
        limits.append(f"above {param.low:g}" if param.open_low else f"from {param.low:g}")
    if param.high is not None:
        limits.append(f"below {param.high:g}" if param.open_high else f"up to {param.high:g}")
    raise MeasureError(
        f"{param.name}='{value}' is no value of {definition.name}",
        hint=f"a number {' and '.join(limits)}".rstrip(),
    )


# --- parsing ---

_FORM = re.compile(
    r"(?P<name>[^\W\d][\w-]*?|11pt_avg)"
    r"(?:\((?P<params>[^()]*)\))?(?:@(?P<cutoff>\d*\.?\d+))?(?:-l(?P<level>\d+))?"
)
_TREC_FORM = re.compile(
    r"(?P<name>\w*?[^\W\d]\w*?|11pt_avg)[._](?P<values>\.?\d[\d.,]*|p=\d*\.?\d+)"
)
_AT_FORM = re.compile(r"(?P<name>\w+?)_at_(?P<cutoff>\d+)")


def parse(text: str) -> Measure:
    """One measure from its text."""
    found = parse_all(text)
    if len(found) != 1:
        raise MeasureError(f"'{text}' names {len(found)} measures, not one")
    return found[0]


def parse_all(measures: str | Measure | Iterable[str | Measure]) -> tuple[Measure, ...]:
    """Measures from one text (separated by blanks or commas), or from several texts and measures."""
    if isinstance(measures, Measure):
        return (measures.complete(),)
    if isinstance(measures, str):
        if measures.count("(") != measures.count(")"):
            raise MeasureError(f"a bracket in '{measures}' has no partner")
        found = [m for item in _split(measures) for m in _parse_item(item)]
    else:
        found = []
        for item in measures:
            if not isinstance(item, str | Measure):
                raise MeasureError(f"{item!r} is neither a measure nor the name of one")
            found.extend(parse_all(item))
    if not found:
        raise MeasureError("no measure is named", hint='for example "nDCG@10 AP RR"')
    complete = tuple(m.complete() for m in found)
    labels = [m.label for m in complete]
    repeated = {label for label in labels if labels.count(label) > 1}
    return tuple(
        m for i, m in enumerate(complete) if not (m.label in repeated and m.label in labels[:i])
    )


def _split(text: str) -> list[str]:
    """At blanks and commas outside brackets; trec_eval's lists (`P.5,10`) stay whole."""
    items: list[str] = []
    for word in re.findall(r"(?:\([^()]*\)|[^\s()])+", text):
        if _TREC_FORM.fullmatch(word):
            items.append(word)
        else:
            items.extend(part for part in re.split(r",(?![^()]*\))", word) if part)
    return items


def _parse_item(text: str) -> list[Measure]:
    for form, made in ((_FORM, _own), (_AT_FORM, _at), (_TREC_FORM, _trec_values)):
        match = form.fullmatch(text)
        definition, params = _resolve(match["name"]) if match else (None, {})
        if match and definition:
            return made(definition, params, match)
    raise _unknown(text)


def _own(definition: Definition, params: dict[str, Value], form: re.Match[str]) -> list[Measure]:
    """`NAME(param=value)@cutoff`, and ranx's `NAME@cutoff-lLEVEL`."""
    name, cutoff, text = form["name"], form["cutoff"], form[0]
    if name in _TREC_CUTOFFS and not cutoff:
        return [make(definition, params, float(k), f"{name}_{k}") for k in _TREC_CUTOFFS[name]]
    if name == "rbp" and cutoff:  # ranx: rbp@95
        return [make(definition, {**params, "p": float(f"0.{cutoff}")}, None, text)]
    params = {**params, **_params(definition, form["params"] or "")}
    if form["level"]:
        params["rel"] = float(form["level"])
    return [
        make(definition, params, float(cutoff) if cutoff else None, _label(form, definition, text))
    ]


def _at(definition: Definition, params: dict[str, Value], form: re.Match[str]) -> list[Measure]:
    """`ndcg_at_10`, as MTEB and sentence-transformers write."""
    return [make(definition, params, float(form["cutoff"]), form[0])]


def _label(form: re.Match[str], definition: Definition, text: str) -> str:
    """The grammar's own form for its own names; an alias stays as it was typed."""
    return (
        "" if form["name"] == definition.name and not form["level"] and "dcg=" not in text else text
    )


def _trec_values(
    definition: Definition, params: dict[str, Value], form: re.Match[str]
) -> list[Measure]:
    """trec_eval's `P.5,10`, `ndcg_cut_10`, `iprec_at_recall..10`; ranx's `rbp.95`."""
    name, values, text = form["name"], form["values"], form[0]
    if definition.name in ("RBP", "RBP_resid"):  # trec_eval: rbp.p=0.5
        p = float(values.removeprefix("p=")) if "=" in values else float(f"0.{values}")
        return [make(definition, {**params, "p": p}, None, text)]
    if definition.name == "SetF":  # trec_eval's number is the square of beta
        return [make(definition, {**params, "beta": float(values) ** 0.5}, None, text)]
    found = []
    for value in values.split(","):
        try:
            cutoff = float(value)
        except ValueError:
            raise _unknown(text) from None
        shown = f"{cutoff:.2f}" if definition.cutoff == "recall" else value
        label = text if "," not in values else f"{name}_{shown}"
        found.append(make(definition, params, cutoff, label))
    return found


def _resolve(name: str) -> tuple[Definition | None, dict[str, Value]]:
    if name in _BY_NAME:
        return _BY_NAME[name], {}
    if name in _ALIASES:
        return _BY_NAME[_ALIASES[name]], {}
    if name in _FOREIGN:
        ours, params = _FOREIGN[name]
        return _BY_NAME[ours], dict(params)
    folded = name.casefold()
    for known in (*_BY_NAME, *_ALIASES):
        if known.casefold() == folded:
            return _resolve(known)
    return None, {}


def _params(definition: Definition, text: str) -> dict[str, Value]:
    params: dict[str, Value] = {}
    for part in filter(None, (p.strip() for p in text.split(","))):
        name, equals, value = part.partition("=")
        if not equals:
            raise MeasureError(
                f"'{part}' in {definition.name}({text}) is no parameter",
                hint="parameters are name=value",
            )
        name, value = name.strip(), value.strip().strip("'\"")
        if name == "dcg" and definition.name in ("nDCG", "DCG"):  # ir_measures
            name, value = "gain", {"log2": "linear", "exp-log2": "exp"}.get(value, value)
        params[name] = _checked(definition, name, value)
    return params


def _unknown(text: str) -> MeasureError:
    from difflib import get_close_matches

    bare = re.split(r"[@(]", text)[0]
    names = [*_BY_NAME, *_ALIASES, *_FOREIGN]
    folded = {n.casefold(): n for n in reversed(names)}
    near = get_close_matches(bare.casefold(), folded, n=3, cutoff=0.5)
    hint = f"near it: {', '.join(folded[n] for n in near)}; " if near else ""
    return MeasureError(
        f"there is no measure '{text}'", hint=hint + "all of them: goodgain measures"
    )


def add_definition(definition: Definition) -> None:
    """Make a measure known by its name."""
    known, _ = _resolve(definition.name)
    if known is not None and known.family != "registered":
        raise MeasureError(
            f"the name '{definition.name}' is that of a built-in measure",
            hint=f"see: goodgain measures {definition.name}",
        )
    _BY_NAME[definition.name] = definition


def definitions() -> tuple[Definition, ...]:
    """All measures, registered ones last."""
    return tuple(_BY_NAME.values())


def definition_of(name: str) -> Definition:
    """The entry of a measure by its name, an alias, or another tool's name."""
    found, _ = _resolve(re.split(r"[@(]", name)[0])
    if found is None:
        return parse(name).definition
    return found
