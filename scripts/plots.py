"""Draw the pictures of docs/plots.md from the demo and its agent: python scripts/plots.py docs/plots."""

from __future__ import annotations

import sys
from pathlib import Path

from goodgain.demo.experiments import agent_gains, agent_traces, experiment

MEASURE = "Recall(rel=2)@20"


def main(folder: Path) -> None:
    """Run the demo and save its charts."""
    folder.mkdir(exist_ok=True)
    demo = experiment().experiment
    result = demo.run(progress=False)
    agent = agent_gains(demo, agent_traces(demo))
    for name, chart in {
        "effects": result.plot("effects", measure=MEASURE),
        "differences": result.plot("differences", measure=MEASURE, system="hybrid"),
        "precision-recall": result.plot("precision-recall"),
        "trade-off": result.plot("trade-off", measure=MEASURE),
        "gain": agent.plot("gain"),
        "stopping": agent.plot("stopping", budget="searches"),
    }.items():
        chart.save(folder / f"{name}.svg")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
