"""The bits of every measure under every policy, in a form that version 0.1 of the package can compute too.

`digests-0.1.json` was written by that version: built from the last commit before the modules moved, with
this file as a program, `python version_01.py LABELS.json DATA > digests-0.1.json`.
"""

from __future__ import annotations

import hashlib
import json
import random
import struct
import sys
from pathlib import Path

import goodgain as gg

POLICIES = {
    "ties": ("docid", "docid-ascending", "input", "average", "bounds"),
    "missing": ("zero", "skip"),
    "unjudged": ("nonrelevant", "remove", "remove-negative", "bounds"),
    "duplicates": ("error", "first", "best"),
    "scores": ("double", "single"),
    "same_id": ("keep", "drop"),
}
# Bounds over gains of all measures take long.
BOUNDED = [
    "nDCG",
    "nDCG@10",
    "DCG@3",
    "RR",
    "RR@3",
    "P@1",
    "P@10",
    "R@10",
    "Hit@3",
    "RBP",
    "ERR@10",
]
REAL = {
    "trec_eval": ("trec_eval/qrels.test", "trec_eval/results.test"),
    "cacm": ("cacm/qrels.cacm.txt", "cacm/cacm-bm25.run"),
    "robust03": ("robust03/robust03_qrels.txt", "robust03/runs/input.humR03dc.gz"),
    "robust03 uic": ("robust03/robust03_qrels.txt", "robust03/runs/input.uic0301.gz"),
    "trec_covid": ("trec_covid/round1/qrels-rnd1.txt", "trec_covid/round1/runs/BITEM_stem.gz"),
}
COLLECTIONS = ("generated", "docs_rag", *REAL)
PRESETS = ("trec_eval", "trec_eval9", "ir_measures", "ranx", "beir", "elasticsearch")
SETTINGS = [
    {}, {"threshold": 1}, {"gain": "exp"}, {"discount": "none"}, {"patience": 0.5}, {"turn": "all"},
]  # fmt: skip


def policies():
    """The default, every choice of every policy, and the conventions of every other tool, by name."""
    yield "default", {}
    for name, values in POLICIES.items():
        for value in values:
            yield f"{name}={value}", {name: value}
    for preset in PRESETS:
        yield f"preset={preset}", {"preset": preset}


def collection(name, data):
    """(judgments, run) of one of the collections."""
    if name == "docs_rag":
        return docs_rag(Path(data) / name)
    if name != "generated":
        qrels, run = REAL[name]
        return str(Path(data) / qrels), str(Path(data) / run)
    rng = random.Random(1)
    judged, run = [], {}
    for q in range(24):
        query = f"q{q}"
        docs = [f"d{rng.randrange(10**6)}" for _ in range(90)]
        if q == 3:
            docs[0] = query  # a document with the id of the query
        for doc in rng.sample(docs, rng.randrange(1, 40)) if q else ():
            gain, target = (
                rng.choice((-1, 0, 0, 1, 2, 3)),
                rng.choice((None, f"t{rng.randrange(6)}")),
            )
            aspects = rng.sample("abcd", rng.randrange(1, 3))
            judged += [(query, doc, gain, target, aspect) for aspect in aspects]
        if q != 5:
            retrieved = rng.sample(docs, rng.randrange(1, 90))
            run[query] = {doc: rng.choice((1.0, 2.5, rng.random())) for doc in retrieved}
    return gg.Qrels(judged), run


def docs_rag(folder):
    """Chunks by how many words they share with a question, so that many tie."""
    questions = json.loads((folder / "docs_evaluation_dataset.json").read_text())
    chunks = {
        chunk["chunk_link"]: set(chunk["text"].lower().split())
        for chunk in json.loads((folder / "anthropic_docs.json").read_text())
    }
    judged = {each["id"]: dict.fromkeys(each["correct_chunks"], 1) for each in questions}
    run = {}
    for each in questions:
        words = set(each["question"].lower().split())
        run[each["id"]] = {link: float(len(words & text)) for link, text in chunks.items()}
    return gg.Qrels(judged), run


def labels_of(collection_name, policy, labels):
    """The measures that are compared: those over targets and aspects need such judgments."""
    if policy.startswith("preset="):
        labels = supported(labels, policy.partition("=")[2])
    if policy == "unjudged=bounds":
        return [label for label in labels if label in BOUNDED]
    if collection_name == "generated":
        return labels
    return [label for label in labels if not label.startswith(NEEDS_MORE)]


NEEDS_MORE = (
    "DR", "Diversity", "StRecall", "alpha_", "ERR_IA", "nERR_IA", "AP_IA", "P_IA", "NRBP", "nNRBP", "RDCGL",
    "NRDCGL", "PNRDCGL",
)  # fmt: skip


def digests(name, data, labels, only=None, of_collection=None, **resources):
    """{policy: {measure: digest}}, of all labels of a measure; policies that change nothing are left out.

    `only` are some policies; `of_collection` is the same data in another form or order.
    """
    qrels, run = of_collection or collection(name, data)
    result = {}
    for policy, choice in policies():
        if only and policy not in only:
            continue
        chosen = labels_of(name, policy, labels)
        scores = gg.evaluate(qrels, {"run": run}, chosen, **choice, **resources)["run"]
        bounds = ("", "lower", "upper") if "bounds" in policy else ("",)
        states = {}
        for label in chosen:
            state = states.setdefault(label.partition("(")[0].partition("@")[0], hashlib.sha256())
            for bound in bounds:
                state.update(_bits([*scores.column(label, bound)]))
            state.update(_bits([scores[label]]))
        digest = {measure: state.hexdigest()[:12] for measure, state in sorted(states.items())}
        if digest != result.get("default"):
            result[policy] = digest
    return result


def _bits(values):
    """The bits of numbers; one pattern for those that are undefined."""
    return struct.pack(f"<{len(values)}d", *(v if v == v else 1e300 for v in values))


def traces():
    """Conversations in canonical form, with repeated results, several turns and unlabelled results."""
    rng = random.Random(2)
    result = []
    for number in range(40):
        turns = []
        for _ in range(rng.randrange(1, 3)):
            iterations = []
            for _ in range(rng.randrange(1, 6)):
                ids = sorted({rng.randrange(30) for _ in range(rng.randrange(0, 9))})
                listed = [{"id": f"r{i}", "gain": i * 7 % 5} for i in rng.sample(ids, len(ids))]
                spent = {
                    "latency": rng.random(),
                    "cost": rng.random(),
                    "tokens": rng.randrange(900),
                }
                iterations.append({"searches": [{"query": "q", "results": listed, **spent}]})
            turns.append({"user": "how?", "iterations": iterations})
        result.append({"conversation": f"c{number}", "system": f"s{number % 3}", "turns": turns})
    return result


def gain_digests(measures=None):
    """{settings: {measure: digest}} of Good Gain."""
    result = {}
    for settings in SETTINGS:
        scored = gg.good_gain(traces(), **settings)
        named = measures or [str(m) for m in scored.measures]
        result[json.dumps(settings)] = {
            measure: hashlib.sha256(
                b"".join(_bits([*scored[name].final(measure).values()]) for name in scored.names)
            ).hexdigest()[:12]
            for measure in named
        }
    return result


def supported(labels, preset="default"):
    """Those of the labels that this version of the package knows, and has in a preset."""
    known = []
    for label in labels:
        try:
            gg.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, label, preset=preset)
        except gg.GoodgainError as error:
            if "target" not in str(error) and "aspect" not in str(error):
                continue
        known.append(label)
    return known


if __name__ == "__main__":
    known = supported(json.loads(Path(sys.argv[1]).read_text()))
    content = {
        "labels": known,
        "collections": {name: digests(name, sys.argv[2], known) for name in COLLECTIONS},
        "good_gain": gain_digests(),
    }
    print(json.dumps(content, indent=1))
