"""The sections of a page, in the order they are read.

A section is a module with `section(material) -> Section | None`: None where the material has nothing
for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from goodgain.reports.contents import Material
    from goodgain.reports.elements import Section

ORDER = ("summary", "queries", "agentic", "tradeoffs", "groups", "labels", "provenance")


def sections(material: Material) -> list[Section]:
    """All that the material has something for."""
    from importlib import import_module

    modules = (import_module(f"goodgain.reports.sections.{name}") for name in ORDER)
    found = (module.section(material) for module in modules)
    return [section for section in found if section is not None]
