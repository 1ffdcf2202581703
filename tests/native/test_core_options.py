"""The core knows its options by name and refuses all others."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from goodgain import _core
from goodgain.agentic.settings import GainSettings
from goodgain.errors import MeasureError, UsageError, core_errors, from_core
from goodgain.identity import aliases, profiles
from goodgain.ranking.policy import Policy

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

POLICY = Policy().for_core()
FUSION: dict[str, Any] = {
    "norm": "none",
    "points": "score",
    "combine": "sum",
    "parameter": 0.0,
    "exponent": 1.0,
    "log_shift": 0.0,
    "absent": 0.0,
    "weights": [1.0],
    "tables": [],
}
GAIN = GainSettings().for_core(skip_bad=False)
LINE = b'{"conversation": "c", "turns": []}\n'
PROFILE = profiles.PROFILES[0].for_core("document")
URLS = aliases.built_in().for_core()
ALIAS: dict[str, Any] = {"name": "a", "hosts": ["x.org"], "key": "a:b"}
ID_RULE: dict[str, Any] = {"name": "a", "patterns": ["{id}"], "key": "{id}"}
NAMES = {"query": "query", "doc": "doc", "value": "gain"}
DELIMITED = {
    "kind": "delimited",
    "delimiter": ",",
    "quotes": True,
    "columns": 3,
    "query": 0,
    "doc": 1,
    "value": 2,
}


def run() -> _core.RankedRun:
    return _core.RankedRun.of(["q"], ["d"], [1.0], "run")


def rules() -> _core.IdentityRules:
    return _core.IdentityRules.of([PROFILE], "document", URLS)


def arrow() -> _core.ArrowTable:
    pa = pytest.importorskip("pyarrow")
    return _core.ArrowTable.of(pa.table({"query": ["q"], "doc": ["d"], "gain": [1]}), "table")


def read_file(path: Path, line_format: dict[str, Any]) -> _core.Qrels:
    path.write_text("q,d,1\n" if line_format.get("kind") == "delimited" else "q 0 d 1\n")
    return _core.Qrels.from_file(os.open(path, os.O_RDONLY), "qrels", line_format)


def error_of(call: Callable[[], object]) -> tuple[str, ...]:
    with pytest.raises(_core.CoreError) as caught:
        call()
    return caught.value.args


# Reader: a call that takes its options, and options that it accepts.
READERS: dict[str, tuple[Callable[[dict[str, Any]], object], dict[str, Any]]] = {
    "a measure": (lambda o: _core.Plan([o], POLICY), {"kernel": "ndcg"}),
    "a custom measure": (
        lambda o: _core.Plan([o], POLICY),
        {"kernel": None, "function": lambda gains, ideal: 0.0},
    ),
    "a list": (lambda o: _core.measure_list([1.0], o), {"kernel": "ndcg"}),
    "gain and loss": (
        lambda o: _core.gain_loss([1.0], [], [1.0], o, True, 1.0, True),
        {"kernel": None},
    ),
    "a plan": (lambda o: _core.Plan([], o), POLICY),
    "a policy": (lambda o: _core.Plan([{"kernel": "ndcg", "policy": o}], POLICY), POLICY),
    "fusion": (lambda o: _core.fuse([run()], o, 0, 1), FUSION),
    "Good Gain": (lambda o: rules().score([(LINE, "traces")], None, o, 1), GAIN),
    "a counted line": (lambda o: rules().counted([LINE], None, o), GAIN),
    "a profile": (lambda o: _core.IdentityRules.of([o], "document", URLS), PROFILE),
    "URL rules": (lambda o: _core.IdentityRules.of([PROFILE], "document", o), URLS),
    "an alias": (
        lambda o: _core.IdentityRules.of([PROFILE], "document", {**URLS, "aliases": [o]}),
        ALIAS,
    ),
    "an id rule": (
        lambda o: _core.IdentityRules.of([PROFILE], "document", {**URLS, "ids": [o]}),
        ID_RULE,
    ),
    "columns": (lambda o: arrow().qrels(o), NAMES),
    "a packer": (lambda o: _core.Packer(o, False, 0), NAMES),
}


@pytest.mark.parametrize("reader", READERS)
def test_unknown_option(reader: str) -> None:
    call, options = READERS[reader]
    call(options)
    _, message, _, hint = error_of(lambda: call({**options, "xyzzy": 1}))
    assert message.startswith("unknown option 'xyzzy' for ")
    assert hint.startswith("one of: ")


@pytest.mark.parametrize("options", [{"kind": "trec"}, DELIMITED])
def test_unknown_option_of_a_line_format(options: dict[str, Any], tmp_path: Path) -> None:
    assert read_file(tmp_path / "qrels", options).judgments == 1
    _, message, _, hint = error_of(lambda: read_file(tmp_path / "qrels", {**options, "skp": 1}))
    assert message == "unknown option 'skp' for the line format"
    assert hint == "did you mean 'skip'?"
    # An option of another format is unknown too.
    assert "'keys'" in error_of(lambda: read_file(tmp_path / "qrels", {**options, "keys": 1}))[1]


def test_typo_in_a_measure() -> None:
    kind, message, where, hint = error_of(
        lambda: _core.Plan([{"kernel": "ndcg", "exp_gian": True}], POLICY)
    )
    assert (kind, where) == ("measure", "")
    assert message == "unknown option 'exp_gian' for kernel 'ndcg'"
    assert hint == "did you mean 'exp_gain'?"


def test_unknown_kernel() -> None:
    error = error_of(lambda: _core.Plan([{"kernel": "ndgc"}], POLICY))
    assert error[:2] == ("measure", "unknown kernel 'ndgc'")
    assert error[3] == "did you mean 'ndcg'?"


@pytest.mark.parametrize(
    ("reader", "name"),
    [
        ("a measure", "kernel"),
        ("a custom measure", "function"),
        ("a plan", "ties"),
        ("a policy", "missing"),
        ("fusion", "weights"),
        ("Good Gain", "threshold"),
        ("a profile", "rules"),
        ("URL rules", "select"),
        ("an alias", "hosts"),
        ("an id rule", "key"),
        ("columns", "doc"),
    ],
)
def test_missing_option(reader: str, name: str) -> None:
    call, options = READERS[reader]
    left = {key: value for key, value in options.items() if key != name}
    assert f"missing option '{name}' for " in error_of(lambda: call(left))[1]


@pytest.mark.parametrize(
    ("reader", "name", "value", "hint"),
    [
        ("a measure", "cutoff", -1, "expected a non-negative integer"),
        ("a measure", "rel", "high", "expected a number"),
        ("a measure", "binary", 1, "expected True or False"),
        ("a measure", "numbers", 1.0, "expected a list"),
        ("a measure", "scale", "half", "one of: collection, query, none"),
        ("a measure", "policy", "docid", "expected a dictionary"),
        ("a custom measure", "function", 3, "expected a function"),
        ("a plan", "ties", "random", "one of: docid, docid-ascending, input, average, bounds"),
        ("a plan", "scores", "half", "one of: double, single"),
        ("fusion", "norm", "zscore", "one of: none, min-max, min-max-inverted, max, sum"),
        ("Good Gain", "gain", "square", "one of: linear, exp"),
        ("Good Gain", "discount", "log10", "one of: log2, none, reciprocal, geometric"),
        ("Good Gain", "turn", "first", "expected an integer"),
        ("a profile", "name", 1, "expected text"),
    ],
)
def test_invalid_value(reader: str, name: str, value: object, hint: str) -> None:
    call, options = READERS[reader]
    _, message, _, text = error_of(lambda: call({**options, name: value}))
    assert message.startswith(f"invalid {name}={value!r} for ")
    assert text.startswith(hint)


def test_invalid_unit() -> None:
    error = error_of(lambda: _core.IdentityRules.of([PROFILE], "page", URLS))
    assert error[1] == "invalid unit='page' for identity"
    assert error[3] == "one of: document, passage"


def test_invalid_delimiter(tmp_path: Path) -> None:
    error = error_of(lambda: read_file(tmp_path / "qrels", {**DELIMITED, "delimiter": ", "}))
    assert error[1] == "invalid delimiter=', ' for the line format"


def test_unknown_option_of_a_field() -> None:
    field = {**PROFILE["fields"][0], "rejcts": True}
    error = error_of(
        lambda: _core.IdentityRules.of([{**PROFILE, "fields": [field]}], "document", URLS)
    )
    assert error[1] == "unknown option 'rejcts' for a field of an identity profile"
    assert error[3] == "did you mean 'rejects'?"


def test_option_names_are_text() -> None:
    assert "got 3" in error_of(lambda: _core.Plan([{"kernel": "ndcg", 3: 1}], POLICY))[1]


def test_a_function_needs_no_kernel_and_a_kernel_no_function() -> None:
    options = {"kernel": "ndcg", "function": len}
    assert "'function'" in error_of(lambda: _core.Plan([options], POLICY))[1]
    assert error_of(lambda: _core.measure_list([1.0], {"kernel": None}))[0] == "measure"


def test_fusion_needs_a_weight_and_a_table_for_each_run() -> None:
    message = error_of(lambda: _core.fuse([run()], {**FUSION, "weights": []}, 0, 1))[1]
    assert message == "expected 1 weight, one per run, got 0"
    message = error_of(lambda: _core.fuse([run()], {**FUSION, "points": "inverse"}, 0, 1))[1]
    assert message == "expected 1 table of points, one per run, got 0"


def test_kinds_become_python_errors() -> None:
    with pytest.raises(MeasureError, match="unknown option 'exp_gian'"), core_errors():
        _core.Plan([{"kernel": "ndcg", "exp_gian": True}], POLICY)
    with pytest.raises(UsageError, match="unknown option 'tie'"), core_errors():
        _core.Plan([], {**POLICY, "tie": "docid"})
    error = from_core(_core.CoreError("measure", "message", "", "hint"))
    assert (str(error), type(error)) == ("message\nhint: hint", MeasureError)


def test_names_of_all_readers() -> None:
    names = _core.option_names()
    assert set(POLICY) <= set(names["policy"])
    assert set(names["policy"]) <= set(names["plan"])
    assert set(names["fusion"]) == set(FUSION)
    assert set(names["traces"]) == set(GAIN)
    assert set(names["profile"]) == set(PROFILE)
    assert set(names["urls"]) == set(URLS)
    assert set(names["alias"]) >= set().union(*URLS["aliases"])
    assert set(names["id"]) == set().union(*URLS["ids"])
    assert all(len(set(n)) == len(n) for n in names.values())
