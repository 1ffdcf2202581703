"""The demo's experiment: its systems over its questions, compared with graph search."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from goodgain.demo import collection
from goodgain.demo.retrievers import BASELINE, systems

if TYPE_CHECKING:
    from goodgain.agentic import GoodGain
    from goodgain.experiment import Experiment

RELEVANT = 2  # below that a document is only on topic


class Demo(NamedTuple):
    """The experiment, and how many judgements this interpreter has no document for."""

    experiment: Experiment
    left_out: int


def experiment(repeats: int = 1) -> Demo:
    """Read the collection and make the experiment ready to run."""
    from goodgain.data import Qrels
    from goodgain.experiment import Experiment

    documents = collection.documents()
    judged = collection.judgements(documents)
    questions = {question.id: question.text for question in collection.questions()}
    made = Experiment(
        documents,
        questions,
        Qrels(judged.rows, name="demo judgements"),
        systems(documents),
        baseline=BASELINE,
        by="targets",
        rel=RELEVANT,
        seeds=(0, 1, 2),
        repeats=repeats,
    )
    return Demo(made, judged.left_out)


def agent_traces(experiment: Experiment, system: str = "hybrid") -> list[dict[str, Any]]:
    """Let the agent answer every question with one of the systems, indexed already or now."""
    from goodgain.demo.agent import Agent

    search = experiment.systems[system]
    search.index(experiment.documents)
    agent = Agent(search, experiment.documents)
    return [agent.answer(query, text) for query, text in experiment.queries.items()]


def agent_gains(experiment: Experiment, traces: list[dict[str, Any]]) -> GoodGain:
    """What each search of the agent was worth by the judgements; ended conversations are carried on."""
    from goodgain.agentic import good_gain

    return good_gain(traces, labels=experiment.qrels, threshold=RELEVANT, align="carry")
