"""Fuse with ranx and print the result as JSON: {method: {norm: {query: {doc: score}}}}.

Run as a subprocess with NUMBA_DISABLE_JIT set, because compilation takes minutes.
"""

import json
import sys

from ranx import Qrels, Run
from ranx import fuse as ranx_fuse
from ranx.fusion.bayesfuse import bayesfuse_train
from ranx.fusion.mapfuse import mapfuse_train
from ranx.fusion.posfuse import posfuse_train
from ranx.fusion.probfuse import probfuse_train
from ranx.fusion.segfuse import segfuse_train
from ranx.fusion.slidefuse import slidefuse_train
from ranx.normalization import norm_switch


def main() -> None:
    case = json.load(sys.stdin)
    qrels = Qrels(case["qrels"])
    fused_runs: dict[str, dict[str, object]] = {}
    train = {
        "posfuse": lambda runs: {"probs": posfuse_train(qrels, runs)},
        "probfuse": lambda runs: {"probs": probfuse_train(qrels, runs, 5)},
        "segfuse": lambda runs: {"probs": segfuse_train(qrels, runs)},
        "slidefuse": lambda runs: {"probs": slidefuse_train(qrels, runs), "w": 3},
        "mapfuse": lambda runs: {"map_scores": mapfuse_train(qrels, runs)},
        "bayesfuse": lambda runs: {"log_odds": bayesfuse_train(qrels, runs)},
    }
    for method, norm, params in case["cases"]:
        runs = [Run(run) for run in case["runs"]]
        params = {name: value for name, value in params.items() if method not in train}
        if method in train:
            params = train[method]([norm_switch(norm)(run) for run in runs] if norm else runs)
        fused = ranx_fuse(runs, norm=norm, method=method, params=params)
        fused_runs.setdefault(method, {})[norm or "none"] = {
            q: {d: float(s) for d, s in docs.items()} for q, docs in fused.run.items()
        }
    print(json.dumps(fused_runs))


main()
