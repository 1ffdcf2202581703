"""Means by ranx: python ranx_means.py QRELS RUN."""

import sys

from ranx import Qrels, Run, evaluate

MEASURES = ["ndcg@10", "map", "mrr", "recall@1000", "precision@10"]

qrels = Qrels.from_file(sys.argv[1], kind="trec")
run = Run.from_file(sys.argv[2], kind="trec")
for name, value in evaluate(qrels, run, MEASURES).items():
    print(name, repr(float(value)))
