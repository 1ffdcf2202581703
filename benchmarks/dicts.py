"""A dict of dicts to per-query values and means, inside Python."""

import json
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import data
import peers
import table
from check import Means, disagreements
from measure import calls, worker
from subject import Context, Section, Subject, at_least, ratio

REPEATS = 3
PEER = "pytrec_eval, evaluate"
BAR = 10.0


def run(context: Context) -> Section:
    """Time pytrec_eval and goodgain on the same dicts, in one fresh process."""
    found = worker("dicts", context.queries, context.repeats(REPEATS))
    best = {what: min(seconds) for what, seconds in found["seconds"].items()}
    means = [Means(tool, values) for tool, values in found["means"].items()]
    return Section(
        columns=["call", "best", "median", "times pytrec_eval's speed"],
        rows=[
            [
                what,
                table.seconds(best[what]),
                table.seconds(statistics.median(seconds)),
                table.times(ratio(best.get(PEER), best[what])),
            ]
            for what, seconds in found["seconds"].items()
        ],
        text=(
            f"{context.queries:,} queries of {data.DEPTH:,} documents as a dict of dicts, "
            "judgments likewise, five measures, all in one process."
        ),
        bars=[
            at_least(f"dicts: {what} over {PEER}", BAR, ratio(best.get(PEER), best.get(what)))
            for what in ("goodgain.evaluate", "goodgain.Evaluator.evaluate")
        ],
        notes=["pytrec_eval gives values of queries and no means; its means are not in its time."],
        problems=disagreements(means[0], *means[1:]),
    )


def read_run(path: Path) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    with path.open() as file:
        for line in file:
            query, _, document, _, score, _ = line.split()
            found.setdefault(query, {})[document] = float(score)
    return found


def read_qrels(path: Path) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    with path.open() as file:
        for line in file:
            query, _, document, grade = line.split()
            found.setdefault(query, {})[document] = int(grade)
    return found


def _work(queries: int, repeats: int) -> dict[str, Any]:
    qrels = read_qrels(data.path("qrels", queries))
    ranked = read_run(data.path("run", queries))
    seconds: dict[str, tuple[float, ...]] = {}
    means: dict[str, dict[str, float]] = {}

    def time(what: str, function: Callable[[], object]) -> None:
        seconds[what] = calls(function, repeats).seconds

    import pytrec_eval

    wanted = set(peers.TREC_EVAL_ARGUMENTS)
    peer = pytrec_eval.RelevanceEvaluator(qrels, wanted)
    time(PEER, lambda: peer.evaluate(ranked))
    time(
        "pytrec_eval, build and evaluate",
        lambda: pytrec_eval.RelevanceEvaluator(qrels, wanted).evaluate(ranked),
    )
    values = peer.evaluate(ranked).values()
    means["pytrec_eval"] = {
        measure: statistics.fmean(of_query[name] for of_query in values)
        for name, measure in zip(peers.TREC_EVAL, peers.MEASURES, strict=True)
    }
    if peers.version("goodgain") is not None:
        import goodgain as gg

        prepared = gg.Evaluator(qrels, list(peers.MEASURES))
        time("goodgain.evaluate", lambda: gg.evaluate(qrels, ranked, list(peers.MEASURES)))
        time("goodgain.Evaluator.evaluate", lambda: prepared.evaluate(ranked))
        for what, result in (
            ("goodgain.evaluate", gg.evaluate(qrels, ranked, list(peers.MEASURES))),
            ("goodgain.Evaluator.evaluate", prepared.evaluate(ranked)),
        ):
            means[what] = {measure: float(result[measure]) for measure in peers.MEASURES}
    return {"seconds": seconds, "means": means}


SUBJECT = Subject("dicts", "Dicts of dicts", 20, run)

if __name__ == "__main__":
    print(json.dumps(_work(int(sys.argv[1]), int(sys.argv[2]))))
