"""Every measure under every policy has the stored bits, whatever the order, memory, threads and packing.

`python tests/ranking/test_digests.py` writes the digests anew; it should never be needed.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import platform
import random
import struct
import sys
from itertools import zip_longest
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from specs import ALL, FAMILIES, label

import goodgain as gg
from goodgain.measures.grammar import parse_all
from goodgain.ranking.policy import CHOICES

STORED = Path(__file__).with_name("digests.json")
MEASURES = [label(spec) for spec in ALL]
PLAIN = [label(spec) for name in ("gain", "binary", "coverage") for spec in FAMILIES[name]]
BOUNDED = "nDCG nDCG@10 DCG@3 RR RR@3 P@1 P@10 R@10 Hit@3 RBP ERR@10"
POLICIES = [{}, *({name: value} for name, values in CHOICES.items() for value in values)]
# Logarithms of another mathematical library may differ in the last bit.
SAME_LIBRARY = platform.libc_ver()[0] == "glibc" and platform.machine() == "x86_64"


def made_collection():
    """(rows of judgments, lines of a run), with ties, negative gains, targets, aspects, missing queries."""
    rng = random.Random(22)
    rows, lines = [], []
    for q in range(24):
        query = f"q{q}"
        docs = [f"d{rng.randrange(10**6)}" for _ in range(90)]
        if q == 3:
            docs[0] = query  # a document with the id of the query
        for doc in rng.sample(docs, rng.randrange(1, 40)) if q else ():
            gain = rng.choice((-1, 0, 0, 1, 2, 3))
            target = rng.choice((None, f"t{rng.randrange(6)}"))
            aspects = rng.sample("abcd", rng.randrange(1, 3))
            rows += [(query, doc, gain, target, aspect) for aspect in aspects]
        if q != 5:
            retrieved = rng.sample(docs, rng.randrange(1, 90))
            scored = [(doc, rng.choice((1, 2.5, rng.random()))) for doc in retrieved]
            lines += [f"{query} Q0 {doc} 1 {score!r} tag\n" for doc, score in scored]
    return rows, lines


def digest(qrels, run, measures, policy, **resources):
    """Of the bits of all values, with their bounds."""
    exact_bounds = policy.get("unjudged") == "bounds"  # those of all measures take long
    parsed = parse_all(BOUNDED if exact_bounds else measures, "default")
    evaluation = gg.evaluate(qrels, run, parsed, **policy, **resources)
    scores = evaluation.runs[0]
    state = hashlib.sha256("\0".join(scores.queries).encode())
    for measure in evaluation.measures:
        for bound in ("", "lower", "upper") if scores.has_bounds else ("",):
            values = scores.column(measure, bound)
            # One bit pattern for undefined values.
            state.update(struct.pack(f"<{len(values)}d", *(v if v == v else 1e300 for v in values)))
    return state.hexdigest()


def by_turns(lines):
    """Queries take turns; the order within each stays."""
    queries: dict[str, list[str]] = {}
    for line in lines:
        queries.setdefault(line.split()[0], []).append(line)
    return [line for turn in zip_longest(*queries.values()) for line in turn if line]


def name_of(policy):
    return "=".join(*policy.items()) if policy else "default"


def stored(collection, policy):
    return json.loads(STORED.read_text())[collection][name_of(policy)]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The judgments, and the run in several files."""
    folder = tmp_path_factory.mktemp("made")
    rows, lines = made_collection()
    ordered, scattered, packed = (folder / f"{n}.txt" for n in ("ordered", "scattered", "packed"))
    ordered.write_text("".join(lines))
    scattered.write_text("".join(by_turns(lines)))
    packed = folder / "packed.txt.gz"
    packed.write_bytes(gzip.compress(scattered.read_bytes()))
    csv = folder / "quoted.csv"
    csv.write_text(
        "query,doc,score\n"
        + "".join(f'"{f[0]}",{f[2]},{f[4]}\n' for f in map(str.split, by_turns(lines)))
    )
    return gg.Qrels(rows), (ordered, scattered, packed, csv)


@pytest.mark.parametrize("policy", POLICIES, ids=name_of)
def test_every_measure_under_every_policy(made, policy):
    qrels, files = made
    seen = {digest(qrels, files[0], MEASURES, policy, threads=1)}
    for file in files:
        seen.add(digest(qrels, file, MEASURES, policy, memory=1, threads=3))
    assert len(seen) == 1
    if SAME_LIBRARY:
        assert seen == {stored("made", policy)}


REAL = {
    "trec_eval": ("trec_eval/qrels.test", "trec_eval/results.test"),
    "cacm": ("cacm/qrels.cacm.txt", "cacm/cacm-bm25.run"),
    "robust03": ("robust03/robust03_qrels.txt", "robust03/runs"),
}

REAL_POLICIES = [{}, {"unjudged": "remove"}]


def real_files(folder, name):
    qrels, run = (folder / part for part in REAL[name])
    return qrels, min(run.iterdir()) if run.is_dir() else run


@pytest.mark.parametrize("policy", REAL_POLICIES, ids=name_of)
@pytest.mark.parametrize("name", REAL)
def test_real_runs(shared_data, tmp_path, name, policy):
    qrels, run = real_files(shared_data, name)
    seen = {digest(qrels, run, PLAIN, policy)}
    with gzip.open(run, "rt") if run.suffix == ".gz" else run.open() as file:
        lines = file.readlines()
    random.Random(1).shuffle(lines)
    shuffled = tmp_path / "run.txt"
    shuffled.write_text("".join(lines))
    seen.add(digest(qrels, shuffled, PLAIN, policy, memory=1, threads=2))
    assert len(seen) == 1
    if SAME_LIBRARY:
        assert seen == {stored(name, policy)}


def write() -> None:
    """Write the digests anew."""
    import tempfile

    from conftest import SHARED_DATA

    rows, lines = made_collection()
    digests = {}
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run.txt"
        run.write_text("".join(lines))
        qrels = gg.Qrels(rows)
        digests["made"] = {name_of(p): digest(qrels, run, MEASURES, p) for p in POLICIES}
    for name in REAL:
        qrels, run = real_files(SHARED_DATA, name)
        digests[name] = {name_of(p): digest(qrels, run, PLAIN, p) for p in REAL_POLICIES}
    STORED.write_text(json.dumps(digests, indent=1) + "\n")


if __name__ == "__main__":
    write()
