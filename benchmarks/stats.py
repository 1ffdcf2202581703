"""The randomisation test of five measures at once, against scipy.stats.permutation_test."""

import json
import sys
from typing import Any

import table
from measure import calls, worker
from subject import Context, Section, Subject, at_least, ratio

PERMUTATIONS = 100_000
MEASURES = 5
REPEATS = 5
SCIPY_PERMUTATIONS = 1_000  # the same work again for each permutation: the rest is multiplied
SLACK = 5  # standard errors by which two samples of permutations may differ


def run(context: Context) -> Section:
    """Time both, and compare their p-values."""
    found = worker("stats", context.queries, context.repeats(REPEATS))
    own, peer = found["seconds"], found["scipy_seconds"] * PERMUTATIONS / SCIPY_PERMUTATIONS
    threads = {int(t): s for t, s in own.items()}
    problems = []
    if len({json.dumps(p) for p in found["p"].values()}) != 1:
        problems.append("stats: the p-values differ between 1 and 8 threads")
    for ours, theirs in zip(found["p"]["1"], found["scipy_p"], strict=True):
        error = SLACK * (theirs * (1 - theirs) / SCIPY_PERMUTATIONS) ** 0.5 + 2 / SCIPY_PERMUTATIONS
        if abs(ours - theirs) > error:
            problems.append(f"stats: p {ours} where scipy's is {theirs} +- {error:.4f}")
    rows = [["scipy.stats.permutation_test", table.seconds(peer), table.times(1.0)]]
    rows += [
        [f"goodgain, {t} thread{'s' * (t != 1)}", table.seconds(s), table.times(ratio(peer, s))]
        for t, s in threads.items()
    ]
    return Section(
        columns=["test", "time", "times scipy's speed"],
        rows=rows,
        text=(
            f"{PERMUTATIONS:,} permutations of {context.queries:,} queries x {MEASURES} measures; best of "
            f"{context.repeats(REPEATS)}. The p-values are the same for 1 and 8 threads."
        ),
        bars=[
            at_least(
                "stats: randomisation test, one thread, over scipy", 50, ratio(peer, threads[1])
            )
        ],
        notes=[
            f"scipy {found['scipy']}, vectorised, was measured at {SCIPY_PERMUTATIONS:,} permutations, the "
            f"fastest of three batch sizes, and multiplied by {PERMUTATIONS // SCIPY_PERMUTATIONS}."
        ],
        problems=problems,
    )


def _work(queries: int, repeats: int) -> dict[str, Any]:
    import numpy as np
    import scipy
    from scipy.stats import permutation_test

    from goodgain.stats.paired import Resampling, randomisation

    rng = np.random.default_rng(0)
    a = rng.uniform(0, 1, (queries, MEASURES))
    b = a + rng.normal(0.002, 0.15, (queries, MEASURES))
    columns = [np.ascontiguousarray(column) for column in (b - a).T]
    seconds, p_values = {}, {}
    for threads in (1, 2, 8):
        how = Resampling(PERMUTATIONS, threads=threads)
        seconds[threads] = calls(
            lambda how=how: randomisation(columns, resampling=how), repeats
        ).best
        p_values[threads] = [outcome.p for outcome in randomisation(columns, resampling=how)]

    def mean_difference(x: Any, y: Any, axis: int) -> Any:
        return np.mean(x - y, axis=axis)

    def by_scipy(batch: int) -> Any:
        return permutation_test(
            (b, a), mean_difference, permutation_type="samples", vectorized=True, axis=0,
            n_resamples=SCIPY_PERMUTATIONS, batch=batch, rng=np.random.default_rng(1),
        )  # fmt: skip

    timings = [calls(lambda batch=batch: by_scipy(batch), 1).best for batch in (10, 50, 200)]
    return {
        "seconds": seconds,
        "p": p_values,
        "scipy": scipy.__version__,
        "scipy_seconds": min(timings),
        "scipy_p": by_scipy(50).pvalue.tolist(),
    }


SUBJECT = Subject("stats", "Randomisation test", 60, run)

if __name__ == "__main__":
    print(json.dumps(_work(int(sys.argv[1]), int(sys.argv[2]))))
