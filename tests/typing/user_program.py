"""A user's program, which type checkers must accept without an error, with the types that it states."""

from __future__ import annotations

from typing import assert_type

import goodgain as gg
from goodgain.measures import AP, RR, nDCG

qrels = {"q1": {"a": 2, "b": 0}, "q2": {"c": 1}}
run = {"q1": {"a": 1.5, "b": 0.5}, "q2": {"c": 1.0}}
other = {"q1": {"b": 1.5, "a": 0.5}, "q2": {"c": 1.0}}

result = gg.evaluate(qrels, run, "nDCG@10 AP", ties="average", missing="skip", threads=1)
assert_type(result["AP"], float)
assert_type(result["nDCG@10"], float)
assert_type(result[nDCG @ 7], float)
assert_type(result[gg.parse("nDCG(gain=exp)@5")], float)
better: bool = result["AP"] > 0.5
rounded: float = round(result["AP"], 4)

several = gg.evaluate(qrels, {"one": run, "two": other}, [AP, RR, nDCG(gain="exp") @ 10])
assert_type(several["one"], gg.RunScores)
assert_type(several["one"]["AP"], float)
difference: float = several["two"]["AP"] - several["one"]["AP"]

policy = gg.Policy(ties="docid", unjudged="remove")
evaluator = gg.Evaluator(qrels, "AP", policy=policy, preset="trec_eval")
assert_type(evaluator.evaluate(run), gg.Evaluation)

comparison = gg.compare(several, test="wilcoxon", correction="bonferroni")
assert_type(comparison, gg.Comparison)
judged = gg.Qrels(qrels)
assert_type(judged["q1"], dict[str, float])
