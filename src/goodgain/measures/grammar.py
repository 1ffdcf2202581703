"""Measures as text: `nDCG(gain=exp)@10` is parsed and printed alike."""

from __future__ import annotations

import re

from goodgain.errors import MeasureError
from goodgain.measures import registry
from goodgain.measures.aliases import (
    AVERAGED,
    CUTOFFS_OF_PRESET,
    FOREIGN,
    OF_PRESET,
    TREC_CUTOFFS,
)
from goodgain.measures.definition import Definition, Measure, Param, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from goodgain.measures.definition import Namespace


def make(
    definition: Definition,
    params: Mapping[str, Value],
    cutoff: float | None,
    label: str = "",
    budget: int | None = None,
) -> Measure:
    """A validated measure; without a label it prints in the grammar's own form."""
    if definition.name == "NumRet" and "rel" in params:  # ir_measures: of those retrieved
        own = make(registry.find("NumRelRet") or definition, params, cutoff, budget=budget)
        return own.with_label(label or own.label.replace("NumRelRet", "NumRet", 1))
    values: dict[str, Value] = {}
    for spelling, text in params.items():
        name, value = _own_spelling(definition, spelling, text)
        values[name] = _valid(definition, name, value)
    ordered = tuple((p.name, values[p.name]) for p in definition.params if p.name in values)
    if cutoff is not None:
        cutoff = _valid_cutoff(definition, cutoff)
    if budget is not None:
        _require_budget(definition, budget)
    text = label or _text(definition, ordered, cutoff, budget)
    return Measure(definition, ordered, cutoff, text, None, budget)


def read_cutoff(cutoff: float | str) -> tuple[float | None, int | None]:
    """A cut-off as (rank, budget in tokens), one of which is None."""
    if not isinstance(cutoff, str):
        return cutoff, None
    match = re.fullmatch(r"(\d+) ?tokens?", cutoff)
    if match is None:
        raise MeasureError(
            f"invalid cut-off '{cutoff}'",
            hint="a rank such as 10, or a budget such as '2000tokens'",
        )
    return None, _budget(match[1])


def _budget(digits: str) -> int:
    """Tokens; Python refuses to convert very long texts, and they are too large anyway."""
    return int(digits) if len(digits) < 20 else 2**60


def _require_budget(definition: Definition, budget: int) -> None:
    if definition.cutoff != "optional" or definition.namespace not in ("ranked", "spans"):
        raise MeasureError(
            f"{definition.name} does not accept a token budget",
            hint="measures with an optional cut-off do, for example nDCG@2000tokens",
        )
    if not 1 <= budget < 2**53:
        raise MeasureError(
            f"the budget of {definition.name} must be a positive number of tokens, got {budget}"
        )


def _text(
    definition: Definition,
    params: tuple[tuple[str, Value], ...],
    cutoff: float | None,
    budget: int | None,
) -> str:
    text = str(definition.kernel) if definition.namespace == "agentic" else definition.name
    if params:
        text += "(" + ", ".join(f"{name}={_value_text(value)}" for name, value in params) + ")"
    if budget is not None:
        return f"{text}@{budget}tokens"
    return text if cutoff is None else f"{text}@{_number_text(cutoff)}"


def _number_text(cutoff: float) -> str:
    """All digits and no exponent, so that it parses to the same number."""
    text = repr(cutoff)
    if "e" in text:
        from decimal import Decimal

        text = f"{Decimal(text):f}"
    return text.removesuffix(".0")


def _value_text(value: Value) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else repr(value).removesuffix(".0")


def _valid_cutoff(definition: Definition, cutoff: float) -> float:
    if definition.cutoff == "none":
        raise MeasureError(
            f"{definition.name} takes no cut-off, got @{cutoff:g}", hint=f"write {definition.name}"
        )
    if definition.cutoff == "recall":
        if not 0 <= cutoff <= 1:
            raise MeasureError(
                f"the recall point of {definition.name} must be between 0 and 1, got {cutoff:g}",
                hint=f"for example {definition.name}@0.5",
            )
        return float(cutoff)
    if not 1 <= cutoff < 2**32 or cutoff != int(cutoff):  # in this order: infinity is no integer
        raise MeasureError(
            f"the cut-off of {definition.name} must be a positive integer, got {cutoff:g}",
            hint=f"for example {definition.name}@10",
        )
    return int(cutoff)


def _valid(definition: Definition, name: str, value: Value) -> Value:
    param = definition.param(name)
    if param is None:
        names = ", ".join(p.name for p in definition.params) or "none"
        raise MeasureError(
            f"{definition.name} has no parameter '{name}'",
            hint=f"its parameters: {names}; see: goodgain measures {definition.name}",
        )
    if param.choices:
        if value in param.choices:
            return value
        raise MeasureError(
            f"invalid {name}='{value}' for {definition.name}",
            hint=f"one of: {', '.join(param.choices)}",
        )
    if isinstance(param.default, bool):
        if isinstance(value, bool):
            return value
        if str(value).lower() in ("true", "false"):
            return str(value).lower() == "true"
        raise MeasureError(f"invalid {name}='{value}' for {definition.name}", hint="true or false")
    return _valid_number(definition, param, value)


def _valid_number(definition: Definition, param: Param, value: Value) -> float:
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
        f"invalid {param.name}='{value}' for {definition.name}",
        hint=f"a number {' and '.join(limits)}".rstrip(),
    )


# --- parsing ---

_FORM = re.compile(
    r"(?P<name>[^\W\d][\w-]*?|11pt_avg)"
    r"(?:\((?P<params>[^()]*)\))?(?:@(?P<cutoff>\d*\.?\d+)(?P<tokens>tokens?)?)?(?:-l(?P<level>\d+))?"
)
_TREC_FORM = re.compile(
    r"(?P<name>\w*?[^\W\d]\w*?|11pt_avg)[._](?P<values>\.?\d[\d.,]*|p=\d*\.?\d+)"
)
_AT_FORM = re.compile(r"(?P<name>\w+?)_at_(?P<cutoff>\d+)")


def parse(text: str, preset: str = "default") -> Measure:
    """The measure of a run that a text names, such as `nDCG@10`, in the words of a preset's tool.

    >>> import goodgain as gg
    >>> gg.parse("nDCG(gain=exp)@10")
    nDCG(gain=exp)@10
    >>> gg.parse("ndcg_cut_10").name, gg.parse("ndcg_cut_10").cutoff
    ('nDCG', 10)
    >>> gg.parse("ndcg_cut_10").same_values(gg.parse("nDCG@10"))
    True
    """
    measures = parse_all(text, preset)
    if len(measures) != 1:
        raise MeasureError(f"expected one measure, got {len(measures)} in '{text}'")
    return measures[0]


def parse_agentic(text: str) -> Measure:
    """The Good Gain measure that a text names: `SRR`, `SRR@i`, `R_i`."""
    definition = registry.find(text, ("agentic",))
    if definition is None:
        from difflib import get_close_matches

        names = [str(d.kernel) for d in registry.definitions("agentic")]
        near = get_close_matches(text, names, n=1)
        raise MeasureError(
            f"unknown Good Gain measure '{text}'",
            hint=(f"did you mean {near[0]}? " if near else "") + f"known: {', '.join(names)}",
        )
    return make(definition, {}, None)


def parse_all(
    measures: str | Measure | Iterable[str | Measure], preset: str = "default"
) -> tuple[Measure, ...]:
    """Measures from one text (separated by blanks or commas), or from several texts and measures.

    Under a preset, names that its tool uses differently mean what they mean there.
    """
    if isinstance(measures, Measure):
        return (measures.complete(),)
    if isinstance(measures, str):
        if measures.count("(") != measures.count(")"):
            raise MeasureError(f"unbalanced parenthesis in '{measures}'")
        listed = [m for item in _split(measures) for m in _parse_item(item, preset)]
    else:
        listed = []
        for item in measures:
            if not isinstance(item, str | Measure):
                raise MeasureError(f"expected a measure or its name, got {item!r}")
            listed.extend(parse_all(item, preset))
    if not listed:
        raise MeasureError("no measure given", hint='for example "nDCG@10 AP RR"')
    unique: dict[str, Measure] = {}
    for measure in listed:
        if unique.setdefault(measure.label, measure.complete()) != measure:
            raise MeasureError(f"two different measures are both called '{measure.label}'")
    return tuple(unique.values())


def _split(text: str) -> list[str]:
    """At blanks and commas outside parentheses; trec_eval's lists (`P.5,10`) stay whole."""
    items: list[str] = []
    for word in re.findall(r"(?:\([^()]*\)|[^\s()])+", text):
        if _TREC_FORM.fullmatch(word):
            items.append(word)
        else:
            items.extend(part for part in re.split(r",(?![^()]*\))", word) if part)
    return items


def _parse_item(text: str, preset: str) -> list[Measure]:
    for form, read in ((_FORM, _own), (_AT_FORM, _at), (_TREC_FORM, _trec_values)):
        match = form.fullmatch(text)
        definition, params = _resolve(match["name"], preset) if match else (None, {})
        if match and definition:
            return (_several(definition, params, match, preset) if read is _own else []) or read(
                definition, params, match
            )
    raise _unknown(text)


def _several(
    definition: Definition, params: dict[str, Value], form: re.Match[str], preset: str
) -> list[Measure]:
    """A bare name that stands for several cut-offs, as trec_eval's `ndcg_cut`."""
    name = form["name"]
    cutoffs = {**TREC_CUTOFFS, **CUTOFFS_OF_PRESET.get(preset, {})}.get(name, ())
    if form["cutoff"] or form["params"]:
        return []
    return [make(definition, params, float(k), f"{name}_{k}") for k in cutoffs]


def _own(definition: Definition, params: dict[str, Value], form: re.Match[str]) -> list[Measure]:
    """`NAME(param=value)@cutoff`, and ranx's `NAME@cutoff-lLEVEL`."""
    name, cutoff, text = form["name"], form["cutoff"], form[0]
    if form["tokens"] and not cutoff.isdigit():
        raise MeasureError(
            f"the budget in '{text}' must be a whole number of tokens", hint=f"{name}@2000tokens"
        )
    if name == "rbp" and cutoff and not form["tokens"]:  # ranx: rbp@95
        return [make(definition, {**params, "p": _number(f"0.{cutoff}", text)}, None, text)]
    params = {**params, **_params(definition, form["params"] or "")}
    if form["level"]:
        params["rel"] = float(form["level"])
    label = _label(form, definition, text)
    if form["tokens"]:
        return [make(definition, params, None, label, _budget(cutoff))]
    return [make(definition, params, float(cutoff) if cutoff else None, label)]


def _at(definition: Definition, params: dict[str, Value], form: re.Match[str]) -> list[Measure]:
    """`ndcg_at_10`, as MTEB and sentence-transformers write it."""
    return [make(definition, params, float(form["cutoff"]), form[0])]


def _label(form: re.Match[str], definition: Definition, text: str) -> str:
    """The grammar's own form for our own names; an alias stays as it was typed."""
    return (
        "" if form["name"] == definition.name and not form["level"] and "dcg=" not in text else text
    )


def _trec_values(
    definition: Definition, params: dict[str, Value], form: re.Match[str]
) -> list[Measure]:
    """trec_eval's `P.5,10`, `ndcg_cut_10`, `iprec_at_recall..10`; ranx's `rbp.95`."""
    name, values, text = form["name"], form["values"], form[0]
    if definition.name in ("RBP", "RBP_resid"):  # trec_eval: rbp.p=0.5
        p = _number(values.removeprefix("p=") if "=" in values else f"0.{values}", text)
        return [make(definition, {**params, "p": p}, None, text)]
    if definition.name == "SetF":  # trec_eval's number is the square of beta
        return [make(definition, {**params, "beta": _number(values, text) ** 0.5}, None, text)]
    measures = []
    for value in values.split(","):
        cutoff = _number(value, text)
        digits = f"{cutoff:.2f}" if definition.cutoff == "recall" else value
        label = text if "," not in values else f"{name}_{digits}"
        measures.append(make(definition, params, cutoff, label))
    return measures


def _number(digits: str, text: str) -> float:
    """The number in another tool's name of a measure."""
    try:
        return float(digits)
    except ValueError:
        raise _unknown(text) from None


def _resolve(name: str, preset: str = "default") -> tuple[Definition | None, dict[str, Value]]:
    """The definition of our own name, else of another tool's, else of ours in another case.

    What the preset's own tool calls by this name comes first.
    """
    exact = registry.find(name, fold=False)
    foreign = OF_PRESET.get(preset, {}).get(name) or (FOREIGN.get(name) if exact is None else None)
    if foreign is None:
        return exact or registry.find(name), {}
    definition, params = registry.find(foreign[0]), dict(foreign[1])
    if definition and name in AVERAGED.get(preset, ()):
        from dataclasses import replace

        definition = replace(definition, aggregate="mean")
    return definition, params


def _params(definition: Definition, text: str) -> dict[str, Value]:
    params: dict[str, Value] = {}
    for part in filter(None, (p.strip() for p in text.split(","))):
        name, equals, value = part.partition("=")
        if not equals:
            raise MeasureError(
                f"invalid parameter '{part}' in {definition.name}({text})",
                hint="parameters are name=value",
            )
        params[name.strip()] = value.strip().strip("'\"")
    return params


def _own_spelling(definition: Definition, name: str, value: Value) -> tuple[str, Value]:
    """A parameter as it is called here; ir_measures writes `nDCG(dcg='exp-log2')` and `max_rel`."""
    if name == "dcg" and definition.name in ("nDCG", "DCG"):
        return "gain", {"log2": "linear", "exp-log2": "exp"}.get(str(value), value)
    if name == "max_rel" and definition.param("max_grade"):
        return "max_grade", value
    return name, value


# What measures that runs do not have are of, and where they come from.
_ELSEWHERE: dict[Namespace, tuple[str, str]] = {
    "agentic": (
        "conversations",
        "it comes from traces: goodgain trace, or goodgain.good_gain(traces)",
    ),
    "answers": (
        "answers",
        "it comes from nuggets: goodgain label --task assignment, then goodgain compare",
    ),
}


def _unknown(text: str) -> MeasureError:
    from difflib import get_close_matches

    bare, at, cutoff = text.partition("@")
    definition = registry.find(bare)
    if at and definition and definition.cutoff in ("optional", "required"):
        return MeasureError(
            f"the cut-off of {definition.name} must be a positive integer, got '{cutoff}'",
            hint=f"for example {definition.name}@10",
        )
    bare = bare.partition("(")[0]
    for namespace, (what, hint) in _ELSEWHERE.items():
        if registry.find(bare) is None and registry.find(bare, (namespace,)) is not None:
            return MeasureError(f"'{text}' is a measure of {what}, not of runs", hint=hint)
    folded = {name.casefold(): name for name in reversed([*registry.names(), *FOREIGN])}
    near = get_close_matches(bare.casefold(), folded, n=3, cutoff=0.5)
    meant = [folded[name] for name in near]
    without_at = re.fullmatch(r"(\D+?)_?(\d+)", bare)
    if without_at and _resolve(without_at[1])[0]:
        meant = [f"{without_at[1]}@{without_at[2]}"]
    hint = f"did you mean {' or '.join(meant)}? " if meant else ""
    return MeasureError(f"unknown measure '{text}'", hint=hint + "list all: goodgain measures")


def definition_of(name: str) -> Definition:
    """The definition of a measure by its name, an alias, or another tool's name."""
    bare = re.split(r"[@(]", name)[0]
    definition, _ = _resolve(bare)
    if definition is None:
        definition = registry.find(name, ("agentic",)) or registry.find(bare, ("agentic",))
    return definition or parse(name).definition
