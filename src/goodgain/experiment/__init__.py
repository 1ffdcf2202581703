"""Retrieval experiments: run the retrievers, time them, compare them."""

from goodgain.experiment.config import read_experiment
from goodgain.experiment.result import ExperimentResult
from goodgain.experiment.run import Experiment

__all__ = ["Experiment", "ExperimentResult", "read_experiment"]
