"""`goodgain judge`: people label documents, or compare two systems, on a page over the label store."""

from goodgain.judging.desk import Desk
from goodgain.judging.server import JudgingServer

__all__ = ["Desk", "JudgingServer"]
