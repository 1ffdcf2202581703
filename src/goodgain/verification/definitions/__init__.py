"""The measures once more, slowly: plain Python written from the definitions, to check the core.

`value(name, ranking, query, cutoff, **params)` takes the retrieved documents in rank order.
"""

from goodgain.verification.definitions import binary, cwl, funnel, gain, loss, novelty
from goodgain.verification.definitions.common import (
    Judged,
    Row,
    by_docid,
    judged_from,
    names,
    orders,
    supposed,
    value,
)

__all__ = [
    "Judged",
    "Row",
    "binary",
    "by_docid",
    "cwl",
    "funnel",
    "gain",
    "judged_from",
    "loss",
    "names",
    "novelty",
    "orders",
    "supposed",
    "value",
]
