"""Compares two runs with ranx and prints wins, ties, losses and the p of its t-test as JSON."""

import json
import sys

from ranx import Qrels, Run, compare


def main() -> None:
    given = json.load(sys.stdin)
    runs = [Run(run, name=name) for name, run in given["runs"].items()]
    report = compare(Qrels(given["qrels"]), runs, metrics=["mrr"], stat_test="student").to_dict()
    old, new = given["runs"]
    print(json.dumps({"counts": report[new]["win_tie_loss"][old]["mrr"],
                      "p": report[new]["comparisons"][old]["mrr"]}))  # fmt: skip


main()
