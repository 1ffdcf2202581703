"""The demo's systems: keyword, nearest neighbours, their fusion, graph walks and a swarm."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from goodgain.demo.graph import edges

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goodgain.experiment.retrievers import Retriever

_JOINTS = re.compile(r"[._]|(?<=[a-z])(?=[A-Z])")
BASELINE = "graph"


def systems(documents: Mapping[str, str]) -> dict[str, Retriever]:
    """The five systems by name; graph and swarm follow containment and mentions."""
    from goodgain.experiment.retrievers import make

    links = edges(documents)
    return {
        "graph": make("graph", {"of": "knn", "edges": links}),
        "keyword": make("bm25", {"prepare": split}),
        "knn": make("knn", {"prepare": split}),
        "hybrid": make("hybrid", {"of": ["keyword", "knn"]}),
        "swarm": make("swarm", {"of": "knn", "edges": links}),
    }


def split(text: str) -> str:
    """Split names into words, so that `os.path.isfile` and `TextIOWrapper` match word by word."""
    return _JOINTS.sub(" ", text)
