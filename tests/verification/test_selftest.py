"""`goodgain selftest`: proof on one's own data, differences explained, and mutations noticed."""

import json
import sys
from dataclasses import replace

import pytest

import goodgain as gg
from goodgain.cli import run
from goodgain.errors import UsageError
from goodgain.measures import definitions
from goodgain.verification import checks, peers
from goodgain.verification import definitions as brute_force
from goodgain.verification.definitions.common import _TABLE

MEASURES = "nDCG@10 AP RR@10 IPrec@0.5 alpha_nDCG@10 Judged@10 NumRet"


@pytest.fixture(autouse=True)
def quick_peers(monkeypatch):
    """Without ranx, which compiles for many seconds; one test asks for it."""
    monkeypatch.setattr(checks, "PEERS", tuple(p for p in peers.PEERS if p.package != "ranx"))


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_generated_queries_pass(seed):
    result = gg.selftest(seed=seed, queries=8)
    assert result.passed, str(result)
    assert result.not_covered == ()
    assert result.missing == ()
    by_source = {check.against.split()[0]: check.values for check in result.checks}
    assert by_source["the"] > 5000
    assert min(by_source[name] for name in ("trec_eval's", "ir_measures", "scipy")) > 50


def test_every_ranked_measure_has_a_definition():
    assert brute_force.names() == {d.name for d in definitions("ranked")}


@pytest.mark.slow
def test_ranx(monkeypatch):
    monkeypatch.setattr(checks, "PEERS", tuple(p for p in peers.PEERS if p.package == "ranx"))
    result = gg.selftest(queries=8)
    assert result.passed, str(result)
    assert any(check.against.startswith("ranx") and check.values > 50 for check in result.checks)


def test_ir_measures_is_asked_without_its_parser(monkeypatch, capsys):
    """It needs `ast.Num`, which Python 3.14 no longer has: every cut-off ended the command."""
    import ir_measures.util

    def removed(node):
        raise AttributeError("module 'ast' has no attribute 'Num'")

    monkeypatch.setattr(ir_measures.util, "_ast_to_value", removed)
    assert run(["selftest", "-m", "AP P@5 nDCG@10 IPrec@0.5 Judged@3 StRecall@5"]) == 0
    assert "ir_measures" in capsys.readouterr().out


def test_ir_measures_without_its_extra(monkeypatch, capsys):
    """Aspects need pyndeval there; without it every generated query ended in an internal error."""
    import ir_measures

    monkeypatch.setitem(sys.modules, "pyndeval", None)
    monkeypatch.setattr(ir_measures.pyndeval, "_is_available", None)
    assert run(["selftest", "-m", "AP P@5 alpha_nDCG@10"]) == 0
    assert "ir_measures" in capsys.readouterr().out


def test_known_conventions_explain_differences():
    """ir_measures ranks RR@k by ascending ids, trec_eval reads scores as 32 bits."""
    qrels = {"q": {"a": 1, "b": 0}, "absent": {"a": 1}}
    tied = gg.selftest(qrels, {"q": {"a": 1.0, "b": 1.0}}, measures="RR@10")
    assert tied.passed
    assert [c.causes() for c in tied.checks if c.differences] == [
        {"RR@10: ties=docid-ascending": 1}
    ]
    near = gg.selftest(qrels, {"q": {"a": 1.0 + 1e-10, "b": 1.0}}, measures="RR")
    assert near.passed
    causes = [c.causes() for c in near.checks if c.differences]
    assert causes == [{"RR: scores=single": 1}] * 2


@pytest.mark.parametrize("measure", ["AP", "nDCG@10", "NumRet", "GMAP"])
def test_a_wrong_number_is_unexplained(monkeypatch, capsys, measure):
    """A definition that says something else stands for a core that is wrong."""
    name = measure.partition("@")[0]
    right = _TABLE[name]
    monkeypatch.setitem(_TABLE, name, lambda *args, **params: right(*args, **params) + 1e-6)
    result = gg.selftest(measures=measure, queries=5)
    assert not result.passed
    assert "unexplained" in str(result)
    assert run(["selftest", "-m", measure, "--sample", "5"]) == 1
    assert f"unexplained: {measure} of query" in capsys.readouterr().out


def test_a_tool_that_differs_without_a_reason(monkeypatch):
    peer = peers.PEERS[0]
    other = {"AP": "map", "RR": "recip_rank"}

    def wrong(sample, names):
        return {key: value * 0.9 for key, value in peer.values(sample, names).items()}

    from dataclasses import replace

    monkeypatch.setattr(checks, "PEERS", (replace(peer, values=wrong),))
    result = gg.selftest(measures=list(other), queries=5)
    assert not result.passed
    assert all(d.measure in other for c in result.checks for d in c.unexplained)


def test_the_sample_is_of_the_users_queries(tmp_path, capsys):
    qrels, ranked = tmp_path / "qrels.txt", tmp_path / "run.txt"
    qrels.write_text("".join(f"q{i} 0 d{j} {j % 3}\n" for i in range(30) for j in range(6)))
    lines = (f"q{i} Q0 d{j} 1 {(i * j) % 5} t\n" for i in range(29) for j in range(8))
    ranked.write_text("".join(lines))
    arguments = ["selftest", str(qrels), str(ranked), "-m", MEASURES, "--sample", "7"]
    assert run([*arguments, "--seed", "1"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("7 of 30 judged queries of run:\nchecked ")
    assert "against the definitions, by brute force: 0 differ" in printed
    assert run([*arguments, "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {row["unexplained"] for row in rows} == {0}


def test_real_gains_leave_out_the_other_tools():
    result = gg.selftest({"q": {"a": 0.5, "b": 1.5}}, {"q": ["b", "a"]}, measures=MEASURES)
    assert result.passed
    assert "gains must be integers, got 0.5" in str(result)


def test_bad_use():
    with pytest.raises(UsageError, match="judgments and a run"):
        gg.selftest({"q": {"a": 1}})
    with pytest.raises(UsageError, match="positive integer"):
        gg.selftest(queries=0)


def test_differences_below_the_resolution_of_the_peer_are_not_compared():
    """Exact here: 2 of 64 assignments of signs; scipy's means round the small ones away."""
    import numpy as np

    from goodgain.stats.paired import Resampling, run_test
    from goodgain.verification.statistics import check_statistics

    d = np.array([-1e-3, -3e-4, -2e-5, -4e-6, -5e-7, -3e-15])
    assert run_test("randomisation", d, resampling=Resampling()).p == 2 / 64
    check = check_statistics({"one": d, "two": np.zeros(6)}, "scipy")
    assert (check.values, check.differences) == (3, ())
    check = check_statistics({"one": d[:5], "two": np.zeros(5)}, "scipy")
    assert (check.values, check.differences) == (4, ())


def test_values_of_every_tool_agree_to_ten_digits(monkeypatch):
    """No tool of these computes in single precision, so none has a wider tolerance."""
    peer = next(p for p in peers.PEERS if p.package == "ir_measures")
    off = replace(peer, values=lambda *a: {key: v + 1e-9 for key, v in peer.values(*a).items()})
    monkeypatch.setattr(checks, "PEERS", (off,))
    assert not gg.selftest(queries=3, measures="AP").passed
    monkeypatch.setattr(checks, "PEERS", (peer,))
    assert gg.selftest(queries=3, measures="AP alpha_nDCG@10 ERR_IA@10 infAP Compat").passed


def test_a_tool_that_fails_costs_its_own_row_only(monkeypatch):
    """Such as one that wants to write to a home folder that is not there."""

    def fail(sample, names):
        raise FileNotFoundError(2, "No such file or directory", "/nonexistent")

    broken = (replace(checks.PEERS[0], values=fail), *checks.PEERS[1:])
    monkeypatch.setattr(checks, "PEERS", broken)
    result = gg.selftest({"q": {"a": 1, "b": 0}}, {"q": ["b", "a"]}, measures="nDCG@10")
    assert result.passed
    text = result.render()
    assert "not checked against trec_eval's code: it failed: FileNotFoundError" in text
    assert "checked 1 values against ir_measures" in text
