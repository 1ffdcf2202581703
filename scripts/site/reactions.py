"""How each measure reacts: small collections in which one thing varies, measured by goodgain itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_reactions import of_answers, of_conversations, of_iterations
from ranking_reactions import of_rankings

if TYPE_CHECKING:
    from reaction import Reaction

    from goodgain.measures import Definition


def reaction(d: Definition) -> Reaction:
    """How a measure reacts."""
    if d.namespace == "answers":
        return of_answers(d)
    if d.namespace != "agentic":
        return of_rankings(d)
    return of_iterations(d) if d.level == "iteration" else of_conversations(d)
