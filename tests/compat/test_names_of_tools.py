"""Every name in docs/differences.md means here, under the preset of its tool, what it means in the tool."""

from __future__ import annotations

import math
import random
import re
import shutil
import warnings
from pathlib import Path

import pytest

from goodgain import evaluate
from goodgain.errors import UsageError

PAGE = Path(__file__).parents[2] / "docs" / "differences.md"
PRESETS = {
    "trec_eval": "trec_eval9", "ir_measures": "ir_measures", "ranx": "ranx", "BEIR": "beir",
    "Elasticsearch": "elasticsearch",
}  # fmt: skip
K = 3
# What the page describes in words, as it is written here.
WORDS = {"dcg@3 with normalize": "nDCG@3"}


def listed():
    """(tool, name, note, our measure) of the table, with k = 3 and r = .5."""
    table = (
        PAGE.read_text(encoding="utf-8").partition("## Measure by measure")[2].partition("\n## ")[0]
    )
    for row in re.findall(r"^\| `(\w+)` \| (.*?) \|", table, re.MULTILINE):
        for tool, names in re.findall(r"(\w+): `([^`]+)`", row[1]):
            for item in re.split(r", (?![^()]*\))", names):
                name, _, note = item.partition(" (")
                name = re.sub(r"(?<=[@_])k\b", str(K), re.sub(r"(?<=[@_])r$", "0.50", name))
                yield tool, name, note.removesuffix(")"), row[0]


LISTED = list(listed())


def collection(seed, with_aspects=False):
    """Two queries, distinct scores; every query has a relevant document and unjudged ones."""
    rng = random.Random(seed)
    qrels, run, rows = {}, {}, []
    for query in ("1", "2"):
        docs = [f"d{i}" for i in range(9)]
        judged = {d: rng.choice([0, 0, 1, 2, 3]) for d in rng.sample(docs, 6)} | {"d0": 2, "d1": 0}
        qrels[query] = judged
        names = rng.sample([*docs, "x", "y"], 7)
        run[query] = {d: float(s) for d, s in zip(names, rng.sample(range(1, 50), 7), strict=True)}
        if with_aspects:
            rows += [(query, d, g, None, str(rng.randint(1, 3))) for d, g in judged.items()]
            rows += [(query, "d2", 1, None, "4")]
    return qrels, run, rows


SEEDS = range(8)


def ours(name, preset, qrels, run):
    result = evaluate(qrels, run, WORDS.get(name, name), preset=preset)
    return list(result["run"].means.items())


def names_of(tool):
    names = [pytest.param(name, note, id=name) for t, name, note, _ in LISTED if t == tool]
    assert names, f"the page lists no name of {tool}"
    return names


def test_every_tool_of_the_page_is_walked():
    tools = {tool for tool, *_ in LISTED}
    # cwl_eval's own names are those of its classes: tests/measures/test_differential_cwl.py runs them.
    assert tools == {*PRESETS, "cwl_eval", "gdeval", "ndeval", "torchmetrics"}
    assert len(LISTED) > 80


@pytest.mark.parametrize(("name", "note"), names_of("trec_eval"))
def test_trec_eval(name, note):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    for seed in SEEDS:
        qrels, run, _ = collection(seed)
        if note == "10":
            by_hand = {q: version_10(name, qrels[q], run[q]) for q in qrels}
            expected = {name: math.fsum(by_hand.values()) / 2}
            values = ours(name, "trec_eval", qrels, run)
        else:
            base, _, cutoff = name.rpartition("_")
            given = f"{base}.{cutoff}" if re.fullmatch(r"[\d.]+", cutoff) else name
            theirs = pytrec_eval.RelevanceEvaluator(qrels, {given}).evaluate(run)
            keys = list(next(iter(theirs.values())))
            expected = {
                key: pytrec_eval.compute_aggregated_measure(
                    key, [row[key] for row in theirs.values()]
                )
                for key in keys
            }
            values = ours(name, "trec_eval9", qrels, run)
            if name == "num_q":
                expected = {"num_q": 2.0}
        assert len(values) == len(expected)
        for label, value in values:
            assert value == pytest.approx(expected[label], abs=1e-12), label


def version_10(name, judged, scores):
    """The measures of trec_eval 10 that pytrec_eval does not contain."""
    ranking = [judged.get(d) for d in sorted(scores, key=scores.__getitem__, reverse=True)]
    top = max(judged.values())
    graded = [g or 0 for g in ranking]
    if name == "dcg":
        return math.fsum(g / math.log2(i + 2) for i, g in enumerate(graded))
    if name == "rbp":
        return 0.1 * math.fsum(g / max(top, 1) * 0.9**i for i, g in enumerate(graded))
    if name == "rbp_resid":
        unjudged = 0.1 * math.fsum(0.9**i for i, g in enumerate(ranking) if g is None)
        return unjudged + 0.9 ** len(ranking) if unjudged else 0.0
    assert name == "unj_3"
    return sum(g is None for g in ranking[:K]) / K


@pytest.mark.parametrize(("name", "note"), names_of("ir_measures"))
def test_ir_measures(name, note):
    ir_measures = pytest.importorskip("ir_measures")
    own = name
    if name.startswith("Compat"):  # the page names our parameter for its depth
        name = own = "Compat"
    if ("exp-log2" in name or name.startswith("ERR@")) and not shutil.which("perl"):
        pytest.skip("gdeval is a Perl program")
    aspects = "_IA" in name or name.startswith(("alpha", "StRecall", "NRBP", "nNRBP"))
    measure = ir_measures.parse_measure("Compat(p=0.95)" if own == "Compat" else name)
    for seed in SEEDS if "exp" not in name else range(2):
        qrels, run, rows = collection(seed, with_aspects=aspects)
        theirs = [ir_measures.Qrel(q, d, g, a) for q, d, g, _, a in rows] if aspects else qrels
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = ir_measures.calc_aggregate([measure], theirs, run)[measure]
        ((_, value),) = ours(own, "ir_measures", rows if aspects else qrels, run)
        # gdeval rounds to five digits
        digits = 1e-5 if "exp" in name or "ERR" in name else 1e-9
        assert value == pytest.approx(expected, abs=digits, nan_ok=True)


@pytest.mark.parametrize(("name", "note"), names_of("ranx"))
def test_ranx(name, note):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ranx = pytest.importorskip("ranx")
        for seed in SEEDS:
            qrels, run, _ = collection(seed)
            expected = ranx.evaluate(
                ranx.Qrels(qrels), ranx.Run(run), name, make_comparable=True, threads=1
            )
            ((_, value),) = ours(name, "ranx", qrels, run)
            assert value == pytest.approx(expected, abs=1e-9)


def test_ranx_averages_hits():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ranx = pytest.importorskip("ranx")
        qrels, run, _ = collection(1)
        expected = ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), "hits@3", threads=1)
    result = evaluate(qrels, run, "hits@3", preset="ranx")
    assert result["hits@3"] == expected
    assert evaluate(qrels, run, "hits@3")["hits@3"] == 2 * expected
    from goodgain import Evaluation

    assert Evaluation.from_dict(result.to_dict())["hits@3"] == expected


@pytest.mark.parametrize(("name", "note"), names_of("BEIR"))
def test_beir(name, note):
    evaluation = pytest.importorskip("beir_evaluation").EvaluateRetrieval
    for seed in SEEDS:
        qrels, run, _ = collection(seed)
        if name.startswith("Hole"):
            with pytest.raises(UsageError, match="Hole@3 is not available under the preset 'beir'"):
                ours(name, "beir", qrels, run)
            continue
        copies = [{q: dict(docs) for q, docs in run.items()} for _ in range(4)]
        theirs = {}
        for part in evaluation.evaluate(qrels, copies[0], [K]):
            theirs |= part
        for copy, metric in zip(copies[1:], ("mrr", "r_cap", "accuracy"), strict=True):
            theirs |= evaluation.evaluate_custom(qrels, copy, [K], metric)
        ((_, value),) = ours(name, "beir", qrels, run)
        assert value == pytest.approx(theirs[name], abs=1.1e-5)


@pytest.mark.parametrize(("name", "note"), names_of("Elasticsearch"))
def test_elasticsearch(name, note):
    """By the documented definitions of its rank evaluation; the service itself is not installed."""
    for seed in SEEDS:
        qrels, run, _ = collection(seed)
        highest = max(g for judged in qrels.values() for g in judged.values())
        total = 0.0
        for query, judged in qrels.items():
            scores = run[query]
            top = [judged.get(d) for d in sorted(scores, key=scores.__getitem__, reverse=True)][:K]
            total += elasticsearch(name, judged, top, highest)
        ((_, value),) = ours(name, "elasticsearch", qrels, run)
        assert value == pytest.approx(total / 2, abs=1e-12)


def elasticsearch(name, judged, top, highest):
    relevant = [g is not None and g >= 1 for g in top]

    def dcg(grades):
        return math.fsum((2 ** (g or 0) - 1) / math.log2(i + 2) for i, g in enumerate(grades))

    match name:
        case "precision@3":
            return sum(relevant) / len(top)
        case "recall@3":
            return sum(relevant) / sum(g >= 1 for g in judged.values())
        case "mean_reciprocal_rank@3":
            return 1 / (relevant.index(True) + 1) if any(relevant) else 0.0
        case "dcg@3":
            return dcg(top)
        case "dcg@3 with normalize":
            return dcg(top) / dcg(sorted(judged.values(), reverse=True)[: len(top)])
    assert name == "expected_reciprocal_rank@3"
    total, reading = 0.0, 1.0
    for rank, grade in enumerate(top, 1):
        stop = (2 ** (grade or 0) - 1) / 2**highest
        total, reading = total + reading * stop / rank, reading * (1 - stop)
    return total


@pytest.mark.parametrize(("name", "note"), names_of("ndeval"))
def test_ndeval(name, note):
    pyndeval = pytest.importorskip("pyndeval")
    for seed in SEEDS:
        _, run, rows = collection(seed, with_aspects=True)
        qrels = [(q, a, d, g) for q, d, g, _, a in rows]
        listed_run = [(q, d, s) for q, docs in run.items() for d, s in docs.items()]
        theirs = pyndeval.RelevanceEvaluator(qrels, [name]).evaluate(listed_run)
        expected = math.fsum(row[name] for row in theirs.values()) / 2
        assert evaluate(rows, run, name)[name] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("name", "note"), names_of("gdeval"))
def test_gdeval(name, note):
    """Through ir_measures, which runs it; the page says which parameter it stands for."""
    ir_measures = pytest.importorskip("ir_measures")
    if not shutil.which("perl"):
        pytest.skip("gdeval is a Perl program")
    base, _, cutoff = name.partition("@")
    measure = ir_measures.parse_measure(f"{base.upper()}@{cutoff}")
    for seed in range(3):
        qrels, run, _ = collection(seed)
        expected = ir_measures.calc_aggregate([measure], qrels, run)[measure]
        own = f"{base}({note})@{cutoff}"
        assert evaluate(qrels, run, own)[own] == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize(("name", "note"), names_of("torchmetrics"))
def test_torchmetrics(name, note):
    """Its value is that of scikit-learn without averaging over ties, over the documents of the list."""
    metrics = pytest.importorskip("sklearn.metrics")
    for seed in SEEDS:
        qrels, run, _ = collection(seed)
        values = [
            metrics.ndcg_score(
                [[judged.get(d, 0) for d in run[q]]], [list(run[q].values())], ignore_ties=True
            )
            for q, judged in qrels.items()
        ]
        assert evaluate(qrels, run, name)[name] == pytest.approx(math.fsum(values) / 2, abs=1e-12)


@pytest.mark.parametrize("preset", ["default", *PRESETS.values()])
def test_another_tools_name_is_not_ours_in_another_case(preset):
    """`accuracy@k` of MTEB and sentence-transformers is a hit; `rbp` is trec_eval's, with p = .9."""
    qrels, run, _ = collection(2)
    pairs = {"accuracy@3": "Hit@3", "Accuracy@3": "Hit@3" if preset == "beir" else "Accuracy@3"}
    if preset in ("default", "trec_eval9"):
        pairs |= {"rbp": "RBP(p=0.9)", "RBP": "RBP(p=0.8)"}
    for name, own in pairs.items():
        expected = evaluate(qrels, run, own, preset="default" if own == "Accuracy@3" else preset)
        value = evaluate(qrels, run, name, preset=preset)["run"].means[name]
        assert value == pytest.approx(*expected["run"].means.values(), nan_ok=True), name


def test_numret_of_relevant_documents_everywhere():
    qrels, run, _ = collection(3)
    for preset in ("default", *PRESETS.values()):
        result = evaluate(qrels, run, "NumRet(rel=1) NumRelRet NumRet(rel=2)@3", preset=preset)
        assert result["NumRet(rel=1)"] == result["NumRelRet"]
        assert result["NumRet(rel=2)@3"] == evaluate(qrels, run, "NumRelRet(rel=2)@3")["run"].means[
            "NumRelRet(rel=2)@3"
        ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "preset"), [("Accuracy@3", "beir"), ("precision", "ranx"), ("P", "trec_eval")]
)
def test_names_on_the_command_line(tmp_path, capsys, name, preset):
    import csv
    import json

    from goodgain.cli import run as cli

    qrels, run, _ = collection(4)
    (tmp_path / "q.json").write_text(json.dumps(qrels))
    (tmp_path / "r.json").write_text(json.dumps(run))
    paths = [str(tmp_path / "q.json"), str(tmp_path / "r.json")]
    assert cli(["evaluate", *paths, "-m", name, "--preset", preset, "--format", "csv"]) == 0
    rows = list(csv.DictReader(capsys.readouterr().out.splitlines()))
    expected = evaluate(qrels, run, name, preset=preset)["run"].means
    assert {row["measure"]: float(row["value"]) for row in rows} == pytest.approx(expected)
