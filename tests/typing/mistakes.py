"""Mistakes that type checkers must find: every line with a comment `error` has one, and no other line."""

from __future__ import annotations

import goodgain as gg

qrels = {"q1": {"a": 2}}
run = {"q1": {"a": 1.5}}

result = gg.evaluate(qrels, run, "AP")
score: float = result["APP"]  # error
rounded = round(result["nDGC@10"], 4)  # error
text: str = result["AP"]  # error
gg.evaluate(qrels, run, "AP", ties="averge")  # error
gg.evaluate(qrels, run, "AP", tie="average")  # error
gg.evaluate(qrels, run, "AP", preset="trec_evl")  # error
gg.evaluate(qrels, run, 10)  # error
gg.evaluate(qrels)  # error
gg.evaluat(qrels, run)  # error
gg.Policy(unjudged="removed")  # error
gg.Policy(tiess="docid")  # error
gg.Evaluator(qrels, "AP", missing="none")  # error
gg.compare(result, test="ttest")  # error
gg.compare(result, correction="holmes")  # error
gg.explain(qrels, run, "AP", preset="trec")  # error
gg.Qrels(qrels)["q1"]["a"].upper()  # error
