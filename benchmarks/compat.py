"""The drop-ins: `goodgain trec-eval` beside trec_eval, compat.pytrec_eval beside pytrec_eval."""

import json
import statistics
import sys
from typing import Any

import data
import dicts
import peers
import table
from check import Means, disagreements
from measure import calls, rounds, worker
from subject import Context, Section, Subject, at_least, ratio

REPEATS = 5
DICT_QUERIES = 2_000
TREC_EVAL_BAR, PYTREC_EVAL_BAR = (
    12.0,
    3.0,
)  # that of `evaluate` against trec_eval; that of the issue
COMMAND, PEER_COMMAND = "goodgain trec-eval", "trec_eval"
CALL, PEER_CALL = "goodgain.compat.pytrec_eval", "pytrec_eval"


def run(context: Context) -> Section:
    """Time the command on files and the class on dicts; the outputs must be the same."""
    qrels, run_file = data.path("qrels", context.queries), data.path("run", context.queries)
    data.warm(qrels, run_file)
    commands = {
        COMMAND: _command(*map(str, (qrels, run_file))),
        PEER_COMMAND: peers.trec_eval_command(qrels, run_file),
    }
    there = {name: argv for name, argv in commands.items() if argv is not None}
    timings = rounds(there, dict.fromkeys(there, context.repeats(REPEATS)))
    problems = []
    if len(timings) == 2 and timings[COMMAND].output != timings[PEER_COMMAND].output:
        problems.append("goodgain trec-eval and trec_eval print different lines")
    queries = min(context.queries, DICT_QUERIES)
    found = worker("compat", queries, context.repeats(REPEATS))
    best = {name: timing.best for name, timing in timings.items()}
    best |= {name: min(seconds) for name, seconds in found["seconds"].items()}
    medians = {name: timing.median for name, timing in timings.items()}
    medians |= {name: statistics.median(seconds) for name, seconds in found["seconds"].items()}
    means = [Means(tool, values) for tool, values in found["means"].items()]
    ratios = {
        COMMAND: ratio(best.get(PEER_COMMAND), best.get(COMMAND)),
        CALL: ratio(best.get(PEER_CALL), best.get(CALL)),
    }
    return Section(
        columns=["what", "best", "median", "times the peer's speed"],
        rows=[
            [
                name,
                table.seconds(best.get(name)),
                table.seconds(medians.get(name)),
                table.times(ratios.get(name)),
            ]
            for name in (PEER_COMMAND, COMMAND, PEER_CALL, CALL)
        ],
        text=(
            f"The commands read {data.lines(context.queries):,} lines and print five means; "
            "`RelevanceEvaluator."
            f"evaluate` takes {queries:,} queries of {data.DEPTH:,} documents and gives its dict of dicts."
        ),
        bars=[
            at_least("compat: trec-eval faster than trec_eval", TREC_EVAL_BAR, ratios[COMMAND]),
            at_least(
                "compat: RelevanceEvaluator faster than pytrec_eval's",
                PYTREC_EVAL_BAR,
                ratios[CALL],
            ),
        ],
        problems=problems + disagreements(means[0], *means[1:]),
    )


def _command(qrels: str, run_file: str) -> list[str] | None:
    found = peers.program("goodgain")
    wanted = [part for measure in peers.TREC_EVAL_ARGUMENTS for part in ("-m", measure)]
    return None if found is None else [found, "trec-eval", *wanted, qrels, run_file]


def _work(queries: int, repeats: int) -> dict[str, Any]:
    import pytrec_eval

    from goodgain.compat import pytrec_eval as compat

    qrels = dicts.read_qrels(data.path("qrels", queries))
    ranked = dicts.read_run(data.path("run", queries))
    wanted = set(peers.TREC_EVAL_ARGUMENTS)
    seconds, means = {}, {}
    for name, module in ((PEER_CALL, pytrec_eval), (CALL, compat)):
        evaluator = module.RelevanceEvaluator(qrels, wanted)
        seconds[name] = calls(lambda: evaluator.evaluate(ranked), repeats).seconds  # noqa: B023
        values = evaluator.evaluate(ranked).values()
        means[name] = {m: statistics.fmean(v[m] for v in values) for m in peers.TREC_EVAL}
    return {"seconds": seconds, "means": means}


SUBJECT = Subject("compat", "Drop-ins", 70, run)

if __name__ == "__main__":
    print(json.dumps(_work(int(sys.argv[1]), int(sys.argv[2]))))
