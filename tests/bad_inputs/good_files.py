"""A folder of good files of every kind, and for every slot the command lines that read it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from goodgain.cli import run

if TYPE_CHECKING:
    from pathlib import Path

    from slots import Slot

QUERIES = [f"q{i}" for i in range(6)]
DOCS = [f"d{i}" for i in range(8)]


def _rows():
    return [(q, d, (i + j) % 3) for i, q in enumerate(QUERIES) for j, d in enumerate(DOCS)]


def _trace() -> str:
    traces = []
    for c in range(2):
        results = [
            {
                "id": f"d{i}",
                "url": f"https://example.org/{i}",
                "snippet": f"text {i}",
                "gain": i % 3,
            }
            for i in range(4)
        ]
        search = {"query": "what is a hash", "results": results}
        turn = {
            "user": "What is a hash?",
            "answer": "A number.",
            "iterations": [{"searches": [search]}],
        }
        traces.append({"conversation": f"c{c}", "turns": [turn]})
    return "".join(json.dumps(trace) + "\n" for trace in traces)


def _run_text(tag: str, step: int) -> str:
    return "".join(
        f"{q} Q0 {DOCS[(i * step + n) % 8]} {n + 1} {8 - n} {tag}\n"
        for i, q in enumerate(QUERIES)
        for n in range(8)
    )


def _texts() -> dict[str, str]:
    """The good files that are plain text, by name."""
    systems = ("a", "b")
    pairs = [
        {"query_id": q, "doc_id": d, "question": f"what is {q}?", "text": f"about {d}"}
        for q in QUERIES[:2]
        for d in DOCS[:4]
    ]
    return {
        "qrels.txt": "".join(f"{q} 0 {d} {g}\n" for q, d, g in _rows()),
        "run.txt": _run_text("a", 1),
        "other.txt": _run_text("b", 3),
        "more.txt": _run_text("c", 5) + "".join(f"{q} Q0 d9 9 0.5 c\n" for q in QUERIES),
        "traces.jsonl": _trace(),
        "more.jsonl": _trace(),
        "gains.csv": "query,doc,gain\n" + "".join(f"c{c},d{i},{i % 3}\n" for c in (0, 1) for i in range(4)),
        "queries.tsv": "id\ttext\n" + "".join(f"{q}\twhat is {q}?\n" for q in QUERIES),
        "documents.jsonl": "".join(json.dumps({"id": d, "text": f"about {d}"}) + "\n" for d in (*DOCS, "d9")),
        "scores.csv": "system,query,nDCG\n"
        + "".join(f"{s},{q},0.{i}\n" for s in systems for i, q in enumerate(QUERIES)),
        "answers.csv": "conversation,answer\nc0,A number.\nc1,A number.\n",
        "gsb.csv": "query,label\n" + "".join(f"{q},{v}\n" for q, v in zip(QUERIES, "GSBGSG", strict=True)),
        "identity.toml": '[[profile]]\nname = "ticket"\ntypes = ["issue"]\ndefinitive = ["ticket_id"]\n',
        "rules.toml": '[[rule]]\naccount = "search"\nname = ["find*"]\n',
        "prices.toml": 'date = "2026-01-01"\n\n[models."some-model"]\ninput = 1.0\noutput = 2.0\n',
        "golden.yaml": "cases:\n  - id: q0\n    query: what is q0?\n    relevant: [d0]\n",
        "log.tsv": "query\tdoc\nwhat is q0?\td0\n",
        "pairs.jsonl": "".join(json.dumps(pair) + "\n" for pair in pairs),
        "guidelines.md": "# Guidelines\n\nRead the question first.\n",
        "prompt.txt": "scale: 0-4\n--- system\nJudge.\n--- user\n{question}\n{document}\n",
        "nuggets.jsonl": "".join(
            json.dumps({"query": q, "text": "a hash is taken", "vital": True}) + "\n" for q in QUERIES
        ),
        "history.jsonl": json.dumps({"date": "2026-01-01", "means": {"AP": 0.5}}) + "\n",
        "template.txt": "Query: {query}\nPassage: {passage}\nfinal score:\n",
        "body.json": '{"top_p": 0.5}\n',
        "zscores.txt": "".join(f"{q} map 0.3 0.1\n" for q in QUERIES),
        "table.csv": "run,AP\nrun,0.740\nbad,0.740\n",
        "experiment.toml": 'corpus = "documents.jsonl"\nqueries = "queries.tsv"\nqrels = "qrels.txt"\n'
        'measures = "AP"\n\n[systems.a]\nretriever = "bm25"\n'
        '\n[systems.b]\nretriever = "bm25"\nk1 = 2.0\n',
    }  # fmt: skip


def build(folder: Path) -> None:
    """Write the good files into the current folder."""
    from goodgain.labels import Store, Vote, label

    for name, text in _texts().items():
        (folder / name).write_text(text)
    pairs = [(q, d, f"what is {q}?", f"about {d}") for q in QUERIES for d in DOCS]
    label(pairs, lambda request: len(request.document) % 3, folder / "labels.db", name="judge")
    with Store(folder / "labels.db") as store:
        store.add_votes([Vote(annotator="ann", query=q, doc=d, gain=g) for q, d, g in _rows()])
    label(pairs[:4], lambda request: 1, folder / "second.db", name="other")
    for arguments in (
        "evaluate qrels.txt run.txt -q --save saved.json",
        "evaluate qrels.txt other.txt -q --save saved2.json",
        "calibrate qrels.txt labels.db#model=judge -q --passport old.passport.json",
        "check golden.yaml --target run.txt -q --update first --baseline approved.jsonl --unsure pass",
        "convert run.txt run.parquet -q",
        "experiment experiment.toml -q --folder folder",
        "labels export labels.db --annotator ann --to jsonl -o export.jsonl -q",
    ):
        assert run(arguments.split()) == 0, arguments


LABEL = "label --model m --base-url http://127.0.0.1:9/v1 --dry-run"
POOL = f"{LABEL} --store new.db --pool 3"
LABEL_PAIRS = f"{LABEL} --store new.db pairs.jsonl"
POOLED = "--queries queries.tsv --documents documents.jsonl"
TRACED = "compare --traces traces.jsonl --traces more.jsonl -m CG --labels gains.csv -q -o out.txt"
GATED = TRACED.replace("compare", "gate").replace("-m CG", "-m CG --margin 0.1")
RESULTS = "-q -o out.txt --save out.json --report out.html"
JUDGE = "judge labels.db --port 0 -q"
CHECK = "check golden.yaml --target run.txt --unsure pass -q -o out.txt --summary out.md --history out.jsonl"

# The command lines that read a slot; @ is the file.
LINES: dict[str, list[str]] = {
    "evaluate QRELS": [f"evaluate @ run.txt {RESULTS}"],
    "evaluate RUNS": [f"evaluate qrels.txt @ {RESULTS}", f"evaluate qrels.txt run.txt @ {RESULTS}"],
    "evaluate --queries": [f"evaluate qrels.txt run.txt {RESULTS} --queries @"],
    "evaluate --documents": [f"evaluate qrels.txt run.txt {RESULTS} --documents @"],
    "explain QRELS": ["explain @ run.txt -m AP --query q0 -o out.txt"],
    "explain RUN": ["explain qrels.txt @ -m AP --query q0 -o out.txt"],
    "compare QRELS": [f"compare @ run.txt other.txt {RESULTS}"],
    "compare RUNS": [f"compare qrels.txt run.txt @ {RESULTS}", f"compare saved.json @ {RESULTS}"],
    "compare --scores": [f"compare --scores @ {RESULTS}"],
    "compare --traces": [f"compare --traces @ --traces more.jsonl -m CG --labels gains.csv {RESULTS}"],
    "compare --labels": [TRACED.replace("gains.csv", "@")],
    "compare --gsb": ["compare --gsb @ -q -o out.txt"],
    "compare --queries": [f"compare qrels.txt run.txt other.txt {RESULTS} --queries @"],
    "compare --documents": [f"compare qrels.txt run.txt other.txt {RESULTS} --documents @"],
    "gate QRELS": ["gate @ run.txt other.txt -q -o out.txt --summary out.md"],
    "gate RUNS": ["gate qrels.txt run.txt @ -q -o out.txt"],
    "gate --scores": ["gate --scores @ --baseline a --candidate b -m nDCG -q -o out.txt"],
    "gate --traces": [GATED.replace(" traces.jsonl", " @")],
    "gate --labels": [GATED.replace("gains.csv", "@")],
    "gate --documents": ["gate qrels.txt run.txt other.txt -m nDCG@50tokens -q -o out.txt --documents @"],
    "check WORDS": [
        CHECK.replace("golden.yaml", "@"),
        "check lint @ -o out.txt",
        "check history @ -o out.txt",
    ],
    "check --target": [CHECK.replace("run.txt", "@")],
    "check --baseline": [f"{CHECK} --baseline @"],
    "check --qrels": ["check init new.yaml --qrels @ --queries queries.tsv"],
    "check --log": ["check init new.yaml --log @"],
    "check --queries": ["check init new.yaml --qrels qrels.txt --queries @"],
    "trace TRACES": [
        f"trace @ --labels gains.csv {RESULTS} --ledger out.jsonl",
        f"trace more.jsonl @ {RESULTS}",
    ],
    "trace --labels": [f"trace traces.jsonl --labels @ {RESULTS}"],
    "dedup TRACES": ["dedup @ -o out.txt", "dedup more.jsonl @ -o out.txt"],
    "label SOURCES": [
        f"{LABEL} --store new.db @",
        f"{POOL} run.txt @ {POOLED}",
        f"{LABEL_PAIRS} @",
    ],
    "label --store": [f"{LABEL} pairs.jsonl --store @"],
    "label --answers": [f"{LABEL} --store new.db traces.jsonl --answers @"],
    "label --prompt": [f"{LABEL_PAIRS} --prompt @"],
    "label --template": [f"{LABEL_PAIRS} --template @ --raw --grades 0..3 --reply $.O"],
    "label --examples": [f"{LABEL_PAIRS} --shots 1 --examples @"],
    "label --extra-body": [f"{LABEL_PAIRS} --extra-body @@"],
    "label --queries": [f"{POOL} run.txt --queries @ --documents documents.jsonl"],
    "label --documents": [f"{POOL} run.txt --queries queries.tsv --documents @"],
    "label --qrels": [f"{POOL} run.txt {POOLED} --qrels @"],
    "labels STORE": [
        "labels show @ --annotator ann -o out.txt",
        "labels stats @ -o out.txt",
        "labels export @ --annotator ann -o out.txt",
        "labels verify @ -o out.txt",
        "labels sample @ --count 3 -o out.csv",
    ],
    "labels FILES": [
        "labels import labels.db @ --annotator bob",
        "labels merge labels.db @",
        "labels nuggets labels.db @ --annotator bob",
    ],
    "labels --human": ["labels next labels.db --human @ --runs run.txt other.txt --count 2 -o out.txt"],
    "labels --runs": ["labels next labels.db --human qrels.txt --runs run.txt @ --count 2 -o out.txt"],
    "judge STORE": ["judge @ --port 0 -q --documents documents.jsonl"],
    "judge --pairs": [f"{JUDGE} --pairs @"],
    "judge --runs": [f"{JUDGE} --runs @ {POOLED}"],
    "judge --side-by-side": [
        f"{JUDGE} --side-by-side run.txt @ {POOLED}",
        f"{JUDGE} --side-by-side @ run.txt {POOLED}",
    ],
    "judge --queries": [f"{JUDGE} --runs run.txt --queries @ --documents documents.jsonl"],
    "judge --documents": [f"{JUDGE} --runs run.txt --queries queries.tsv --documents @"],
    "judge --qrels": [f"{JUDGE} --runs more.txt {POOLED} --qrels @"],
    "judge --prompt": [f"{JUDGE} --pairs pairs.jsonl --prompt @"],
    "judge --guidelines": [f"{JUDGE} --pairs pairs.jsonl --guidelines @"],
    "calibrate HUMAN": [f"calibrate @ labels.db#model=judge {RESULTS}"],
    "calibrate LABELS": [f"calibrate qrels.txt @ {RESULTS}"],
    "calibrate --runs": [
        f"calibrate qrels.txt labels.db#model=judge --runs run.txt @ --design pairs {RESULTS}"
    ],
    "calibrate --earlier-passport": [
        "calibrate qrels.txt labels.db#model=judge --earlier-passport @ -q -o out.txt"
    ],
    "experiment FILE": ["experiment @ -q --folder out -o out.txt", "experiment @ --check -q"],
    "optimise FILE": ["optimise @ -q --folder out -o out.txt"],
    "fuse RUNS": ["fuse run.txt @ -q -o out.txt"],
    "fuse --train": ["fuse run.txt other.txt --method probfuse --train @ -q -o out.txt"],
    "fuse --train-runs": [
        "fuse run.txt other.txt --method probfuse --train qrels.txt --train-runs run.txt @ -q -o out.txt"
    ],
    "fuse --tune": ["fuse run.txt other.txt --tune @ -q -o out.txt"],
    "report RESULTS": ["report @ -q -o out.html", "report saved.json @ -q -o out.html"],
    "report --qrels": ["report folder -q -o out.html --qrels @"],
    "report --queries": ["report saved.json -q -o out.html --queries @"],
    "report --documents": ["report saved.json -q -o out.html --documents @"],
    "view PATH": ["view @"],
    "plot RESULTS": ["plot leaderboard @ -q -o out.svg"],
    "convert SOURCE": [
        "convert @ out.csv -q",
        "convert @ out.jsonl --kind traces -q --ledger out2.jsonl",
        "convert @ out.csv --kind qrels -q",
    ],
    "convert --search-rules": ["convert traces.jsonl out.jsonl --kind traces -q --search-rules @"],
    "convert --prices": ["convert traces.jsonl out.jsonl --kind traces -q --prices @"],
    "trec-eval FILES": ["trec-eval @ run.txt", "trec-eval qrels.txt @"],
    "trec-eval --Zscore": ["trec-eval qrels.txt run.txt -Z @"],
    "doctor FILES": ["doctor @ run.txt -o out.txt", "doctor qrels.txt @ -o out.txt", "doctor @ -o out.txt"],
    "selftest QRELS": ["selftest @ run.txt -m AP -o out.txt"],
    "selftest RUN": ["selftest qrels.txt @ -m AP -o out.txt"],
    "audit QRELS": ["audit @ run.txt --table table.csv -q -o out.txt"],
    "audit RUNS": ["audit qrels.txt run.txt @ --table table.csv -q -o out.txt"],
    "audit --table": ["audit qrels.txt run.txt --table @ -q -o out.txt"],
}  # fmt: skip
# Commands whose other options about traces are added to one line.
WITH_TRACES = {
    "compare": TRACED,
    "gate": GATED,
    "trace": "trace traces.jsonl -q -o out.txt",
    "dedup": "dedup traces.jsonl -q -o out.txt",
}
# A good file of each kind of slot.
GOOD = {
    "qrels": "qrels.txt", "run": "run.txt", "traces": "traces.jsonl", "saved": "saved.json",
    "store": "labels.db", "labels": "qrels.txt", "published": "table.csv", "experiment": "experiment.toml",
    "golden": "golden.yaml", "answers": "answers.csv", "approved": "approved.jsonl",
    "documents": "documents.jsonl", "passport": "old.passport.json", "json": "body.json",
    "files": "qrels.txt", "gsb": "gsb.csv", "text": "guidelines.md", "identity": "identity.toml",
    "gains": "gains.csv", "log": "log.tsv", "pairs": "pairs.jsonl", "prices": "prices.toml",
    "prompt": "prompt.txt", "queries": "queries.tsv", "scores": "scores.csv", "rules": "rules.toml",
    "template": "template.txt", "nuggets": "nuggets.jsonl", "history": "history.jsonl",
    "zscores": "zscores.txt",
}  # fmt: skip
# Lines whose file is of another kind than its slot usually has.
OTHER_KINDS = {
    "compare saved.json @": "saved",
    "check history @": "history",
    f"{POOL} run.txt @": "run",
    f"{LABEL_PAIRS} @": "pairs",
    "labels merge": "store",
    "labels nuggets": "nuggets",
    "convert @ out.jsonl --kind traces": "traces",
    "convert @ out.csv --kind qrels": "qrels",
    "trec-eval @": "qrels",
    "doctor qrels.txt @": "run",
    "doctor @ -o": "traces",
}


def lines_of(slot: Slot) -> list[tuple[str, str]]:
    """The command lines that read a slot, each with the kind of its file."""
    lines = LINES.get(slot.name)
    if lines is None and slot.command in WITH_TRACES:
        lines = [f"{WITH_TRACES[slot.command]} {slot.option} @"]
    assert lines, f"no command line reads {slot.name}: add one to LINES"
    kinds = [
        next((kind for start, kind in OTHER_KINDS.items() if line.startswith(start)), slot.kind)
        for line in lines
    ]
    return list(zip(lines, kinds, strict=True))
