"""Labels: prompts, judges, the label store, and the runner that connects them.

Pairs of a query and a document, and judges of your own:

>>> import goodgain as gg
>>> from goodgain.labels import Ensemble, Fatal, Limits, Pair, Price, Reply, Retry, estimate
>>> pairs = [Pair(f"q{i}", f"d{j}", f"what is {i}?", f"{(i + j) % 4}: {i} {j}")
...          for i in range(20) for j in range(5)]
>>> def judge(request):
...     if not request.document:
...         raise Fatal("no text")  # ends the run; Retry("busy", after=2) would try again
...     return Reply(f'{{"gain": {request.document[0]}}}', tokens_in=100, tokens_out=5)
>>> estimate(pairs, judge).calls
100
>>> judge.price = Price.parse("0.15/0.60")  # of a million input and output tokens
>>> limits = Limits(concurrency=4, budget=1.0)
>>> labels = gg.label(pairs, judge, "labels.db", prompt="relevance-0-3", name="mine", limits=limits)
>>> labels.statuses, labels.to_dict()["q0"]["d3"]
({'ok': 100}, 3.0)
>>> (row, *_) = gg.label(pairs[:1], Ensemble([judge, lambda request: 3], "mean"), prompt="relevance-0-3")
>>> row.gain
1.5

Judges of services, by their names or as objects; keys come from the environment:

>>> from goodgain.labels import AnthropicJudge, OpenAIJudge, create_judge, judge_for, judge_names
>>> judge_names()[:2]
['openai', 'anthropic']
>>> url = "http://localhost:8000/v1"
>>> judges = [judge_for("some-model", base_url=url), create_judge("openai", model="some-model", base_url=url)]
>>> [type(judge) is OpenAIJudge for judge in judges], AnthropicJudge.__name__
([True, True], 'AnthropicJudge')

What people should judge, their votes, and what to judge next:

>>> from goodgain.labels import PeopleLabels, Vote, draw_sample, next_pairs, read_sample, settling_labels
>>> with gg.Store("labels.db") as store:
...     sample = draw_sample(store, 30, name="first", seed=7)
...     votes = [Vote(annotator="ann", query=q, doc=d, gain=int(d[1:]) % 4) for q, d in sample.pairs()]
...     store.add_votes(votes)
30
>>> read_sample("labels.db").name
'first'
>>> with gg.Store("labels.db") as store:
...     PeopleLabels(store).name
'people by majority'
>>> runs = {"old": {"q0": ["d0", "d1"]}, "new": {"q0": ["d3", "x"]}}
>>> len(next_pairs("labels.db", runs, measure="DCG@5", count=2))
2
>>> old, new = (gg.Run(run, name=name) for name, run in runs.items())
>>> [pair[:2] for pair in settling_labels({"q0": {"d0": 1, "d1": 1, "d3": 3}}, old, new, "DCG@2").pairs]
[]

Prompts, and labels from and into other places:

>>> from pathlib import Path
>>> from goodgain.labels import Prompt, RawPrompt, answer_pairs, import_labels, with_gains
>>> Prompt.of("relevance-0-3").high
3
>>> _ = Path("mine.txt").write_text("Query: {query}  Passage: {passage}  Reply as score: N")
>>> RawPrompt.read_file("mine.txt", scale="0..3", reply=r"score: *([0-3])").takes_several
False
>>> with gg.Store("imported.db") as store:
...     import_labels(store, {"q1": {"d1": 2}}, annotator="ann").votes
1
>>> with gg.record("traces.jsonl") as rec:
...     _ = rec.conversation("c1", user="What is a hash?")
...     rec.search("hash", [{"id": "d1"}])
...     rec.end("A number.")
>>> [trace.to_dict()["turns"][0]["iterations"][0]["searches"][0]["results"][0]["gain"]
...  for trace in with_gains("traces.jsonl", {"c1": {"d1": 3}})]
[3.0]
>>> [pair.text for pair in answer_pairs("traces.jsonl", {"c1": "a number"})]
['A number.']
"""

from __future__ import annotations

from goodgain.labels.answers import answer_pairs
from goodgain.labels.ensemble import Ensemble
from goodgain.labels.imports import Imported, import_labels
from goodgain.labels.judges import (
    AnthropicJudge,
    Fatal,
    Judge,
    OpenAIJudge,
    Price,
    Reply,
    Request,
    Retry,
    create_judge,
    judge_for,
    judge_names,
)
from goodgain.labels.labeller import Estimate, estimate, label
from goodgain.labels.limits import Limits
from goodgain.labels.next_label import next_pairs, settling_labels
from goodgain.labels.pairs import Pair
from goodgain.labels.people import Vote
from goodgain.labels.pooling import pool
from goodgain.labels.raw import RawPrompt
from goodgain.labels.result import Label, Labels, PeopleLabels
from goodgain.labels.sampling import Sample, draw_sample, read_sample
from goodgain.labels.store import Store
from goodgain.labels.template import Prompt
from goodgain.labels.traces import with_gains

__all__ = [
    "AnthropicJudge",
    "Ensemble",
    "Estimate",
    "Fatal",
    "Imported",
    "Judge",
    "Label",
    "Labels",
    "Limits",
    "OpenAIJudge",
    "Pair",
    "PeopleLabels",
    "Price",
    "Prompt",
    "RawPrompt",
    "Reply",
    "Request",
    "Retry",
    "Sample",
    "Store",
    "Vote",
    "answer_pairs",
    "create_judge",
    "draw_sample",
    "estimate",
    "import_labels",
    "judge_for",
    "judge_names",
    "label",
    "next_pairs",
    "pool",
    "read_sample",
    "settling_labels",
    "with_gains",
]
