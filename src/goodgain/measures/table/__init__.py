"""The built-in measures, one module per family; a new measure is an entry in one of them."""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from goodgain.measures.definition import Definition, Namespace

# The modules of each namespace, in the order of `goodgain measures`; imported when first used.
FAMILIES: dict[Namespace, tuple[str, ...]] = {
    "ranked": ("gain", "binary", "distinct", "cwl", "loss", "coverage"),
    "cost": ("cost",),
    "spans": ("spans",),
    "agentic": ("agentic", "funnel"),
    "answers": ("answers",),
}


def built_in(namespace: Namespace) -> tuple[Definition, ...]:
    """The built-in measures of a namespace."""
    modules = (import_module(f"{__name__}.{family}") for family in FAMILIES.get(namespace, ()))
    return tuple(definition for module in modules for definition in module.MEASURES)
