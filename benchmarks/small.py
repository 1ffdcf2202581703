"""One query of ten documents, again and again, as in a training loop."""

import json
import random
import statistics
import sys
from collections.abc import Callable
from typing import Any

import peers
import table
from check import Means, disagreements
from measure import calls, worker
from subject import Context, Section, Subject, at_least, at_most, ratio

RUNS = 1_000
REPEATS = 15
DOCUMENTS = 10
PREPARED = "prepared, evaluate and read a value"
BUILT = "build, evaluate and read a value"


def run(_: Context) -> Section:
    """Time both tools prepared and unprepared, in one fresh process."""
    found = worker("small", REPEATS)
    best = {tool: {w: min(s) for w, s in of.items()} for tool, of in found["seconds"].items()}
    peer, own = best["pytrec_eval"], best.get("goodgain", {})
    means = [Means(tool, values) for tool, values in found["means"].items()]
    return Section(
        columns=["a call", "pytrec_eval", "goodgain", "times pytrec_eval's speed"],
        rows=[
            [
                what,
                table.seconds(peer[what]),
                table.seconds(own.get(what)),
                table.times(ratio(peer[what], own.get(what))),
            ]
            for what in peer
        ],
        text=(
            f"One query, {DOCUMENTS} documents, five measures, dicts; time of a call, best of "
            f"{REPEATS} loops over {RUNS:,} different runs."
        ),
        bars=[
            at_most(
                "small: time of a prepared call, of pytrec_eval's",
                0.8,
                ratio(own.get(PREPARED), peer[PREPARED]),
            ),
            at_least(
                "small: evaluate(...) over building pytrec_eval's",
                3,
                ratio(peer[BUILT], own.get(BUILT)),
            ),
        ],
        problems=disagreements(means[0], *means[1:]),
    )


def _work(repeats: int) -> dict[str, Any]:
    rng = random.Random("small")
    documents = [f"d{i}" for i in range(DOCUMENTS)]
    qrels = {"q": {document: i % 4 for i, document in enumerate(documents)}}
    runs = [{"q": {document: rng.random() for document in documents}} for _ in range(RUNS)]
    seconds: dict[str, dict[str, tuple[float, ...]]] = {}
    means: dict[str, dict[str, float]] = {}

    def time(tool: str, what: str, one: Callable[[dict[str, dict[str, float]]], object]) -> None:
        def loop() -> None:
            for each in runs:
                one(each)

        seconds.setdefault(tool, {})[what] = calls(loop, repeats, per_call=RUNS).seconds

    import pytrec_eval

    tool = "pytrec_eval"
    wanted = set(peers.TREC_EVAL_ARGUMENTS)
    first = peers.TREC_EVAL[0]
    peer = pytrec_eval.RelevanceEvaluator(qrels, wanted)
    build = pytrec_eval.RelevanceEvaluator
    time(tool, PREPARED, lambda each: peer.evaluate(each)["q"][first])
    time(tool, "prepared, evaluate", peer.evaluate)
    time(tool, BUILT, lambda each: build(qrels, wanted).evaluate(each)["q"][first])
    values = [peer.evaluate(each)["q"] for each in runs]
    means[tool] = {
        measure: statistics.fmean(value[name] for value in values)
        for name, measure in zip(peers.TREC_EVAL, peers.MEASURES, strict=True)
    }
    if peers.version("goodgain") is not None:
        import goodgain as gg

        tool, names, own_first = "goodgain", list(peers.MEASURES), peers.MEASURES[0]
        own = gg.Evaluator(qrels, names)
        time(tool, PREPARED, lambda each: float(own.evaluate(each)[own_first]))
        time(tool, "prepared, evaluate", own.evaluate)
        time(tool, BUILT, lambda each: float(gg.evaluate(qrels, each, names)[own_first]))
        results = [own.evaluate(each) for each in runs]
        means[tool] = {
            measure: statistics.fmean(float(result[measure]) for result in results)
            for measure in peers.MEASURES
        }
    return {"seconds": seconds, "means": means}


SUBJECT = Subject("small", "One small query, repeated", 30, run)

if __name__ == "__main__":
    print(json.dumps(_work(int(sys.argv[1]))))
