"""Retrieval experiments: run retrievers, time them, compare them."""

from goodgain.experiment.chunks import Chunked
from goodgain.experiment.config import read_experiment
from goodgain.experiment.experiment import Experiment
from goodgain.experiment.result import ExperimentResult, SystemScores
from goodgain.experiment.retrievers.answers import Answer

__all__ = [
    "Answer",
    "Chunked",
    "Experiment",
    "ExperimentResult",
    "SystemScores",
    "read_experiment",
]
