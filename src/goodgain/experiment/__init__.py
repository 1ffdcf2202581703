r"""Retrieval experiments: run retrievers, time them, compare them.

>>> from pathlib import Path
>>> import goodgain as gg
>>> from goodgain.experiment import Answer, Chunked, read_experiment
>>> from goodgain.experiment.retrievers import BM25
>>> corpus = {"keys": "Rotate the keys. Every ninety days.", "plans": "Plans and prices."}
>>> def service(query):
...     return Answer(["keys"], tokens=120, cost=0.0002)  # the results of a call, and what it took
>>> systems = {"chunks": Chunked(BM25(), size=4), "service": service}
>>> result = gg.Experiment(
...     corpus, {"q1": "rotate keys"}, {"q1": {"keys": 1}}, systems, measures="RR Cost"
... ).run()
>>> result["chunks"]["RR"], result["service"]["Cost"]
(1.0, 0.0002)

The same from a file:

>>> _ = Path("experiment.toml").write_text('''
... measures = "RR"
... corpus = "corpus.jsonl"
... queries = "queries.tsv"
... qrels = "qrels.txt"
... [systems.keyword]
... retriever = "bm25"
... ''')
>>> _ = Path("corpus.jsonl").write_text('{"id": "keys", "text": "Rotate the keys."}')
>>> _ = Path("queries.tsv").write_text("id\ttext\nq1\trotate keys\n")
>>> _ = Path("qrels.txt").write_text("q1 0 keys 1\n")
>>> read_experiment("experiment.toml").experiment.run()["keyword"]["RR"]
1.0
"""

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
