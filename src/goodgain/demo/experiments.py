"""The demo's experiment: five systems, with graph search as the baseline, and an agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from goodgain.demo import collection
from goodgain.demo.retrievers import BASELINE, systems

if TYPE_CHECKING:
    from goodgain.agentic import GoodGain
    from goodgain.experiment import Experiment

RELEVANT = 2  # a document with a lower gain is merely related
PRIMARY = ("MRR", "DR@20", "Latency")  # what decides: the first good document, all targets, time


class Demo(NamedTuple):
    """The experiment, and how many judgments were left out because this Python lacks the document."""

    experiment: Experiment
    left_out: int


def experiment(repeats: int = 1) -> Demo:
    """Read the collection and set up the experiment."""
    from goodgain.data import Qrels
    from goodgain.experiment import Experiment

    documents = collection.documents()
    judgments = collection.judgments(documents)
    questions = {question.id: question.text for question in collection.questions()}
    demo = Experiment(
        documents,
        questions,
        Qrels(judgments.rows, name="demo judgments"),
        systems(documents),
        baseline=BASELINE,
        by="targets",
        rel=RELEVANT,
        primary=PRIMARY,
        seeds=(0, 1, 2),
        repeats=repeats,
    )
    return Demo(demo, judgments.left_out)


def agent_traces(experiment: Experiment, system: str = "hybrid") -> list[dict[str, Any]]:
    """Let the agent answer every question with one of the systems."""
    from goodgain.demo.agent import Agent

    search = experiment.systems[system]
    search.index(experiment.documents)
    agent = Agent(search, experiment.documents)
    return [agent.answer(query, text) for query, text in experiment.queries.items()]


def agent_gains(experiment: Experiment, traces: list[dict[str, Any]]) -> GoodGain:
    """Good Gain of the agent's searches; conversations that ended keep their last value."""
    from goodgain.agentic import good_gain

    return good_gain(traces, labels=experiment.qrels, threshold=RELEVANT, align="carry")
