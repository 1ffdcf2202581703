"""Write the names that type checkers know, from the tables that define them.

src/goodgain/names.py has them as types, src/goodgain/measures/attributes.py the measures as objects.

    python scripts/typed_names.py [--check]
"""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "src" / "goodgain"
CUTOFFS = (*range(1, 21), 25, 30, 40, 50, 100, 200, 500, 1000)

HEAD = '''\
"""Names as types, so that a type checker finds a misspelt one. Written by scripts/typed_names.py."""

from __future__ import annotations

from typing import Literal, TypedDict

# fmt: off
'''
MEASURES = '''\
"""The measures as type checkers see them, never imported. Written by scripts/typed_names.py."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from goodgain.measures.definition import Measure

_measure = cast("Measure", None)
# fmt: off
'''
POLICIES = '''\


class PolicyChoices(TypedDict, total=False):
    """Policies by name, as `evaluate` takes them."""

'''


def listed() -> dict[str, list[str]]:
    """The type of each group of names, and the names."""
    from goodgain.comparison.pairing import UNPAIRED
    from goodgain.comparison.replicates import SEEDS
    from goodgain.measures import definitions
    from goodgain.ranking.policy import CHOICES, PRESETS
    from goodgain.stats.corrections import CORRECTIONS
    from goodgain.stats.paired import TESTS

    measures = []
    for definition in definitions():
        for name in (definition.name, *definition.aliases):
            if definition.cutoff != "required":
                measures.append(name)
            if definition.cutoff != "none" and definition.namespace in ("ranked", "spans"):
                measures += [f"{name}@{cutoff}" for cutoff in CUTOFFS]
    groups = {policy_type(name): list(choices) for name, choices in CHOICES.items()}
    return {
        **groups,
        "Preset": list(PRESETS),
        "TestName": list(TESTS),
        "Correction": list(CORRECTIONS),
        "Unpaired": list(UNPAIRED),
        "Seeds": list(SEEDS),
        "MeasureName": sorted(dict.fromkeys(measures)),
    }


def policy_type(name: str) -> str:
    """The name of a policy's type: Ties, SameId."""
    return "".join(word.capitalize() for word in name.split("_"))


def texts() -> dict[Path, str]:
    """The modules."""
    from goodgain.measures import definitions
    from goodgain.ranking.policy import CHOICES

    lines = [HEAD]
    for name, values in listed().items():
        quoted = _packed(", ".join(f'"{value}"' for value in values) + ",")
        lines.append(f"{name} = Literal[\n{quoted}\n]\n")
    lines.append(POLICIES)
    lines += [f"    {name}: {policy_type(name)}\n" for name in CHOICES]
    names = sorted({n for d in definitions() for n in (d.name, *d.aliases) if n.isidentifier()})
    exported = _packed(", ".join(f'"{name}"' for name in names) + ",")
    rows = [names[at : at + 6] for at in range(0, len(names), 6)]
    objects = MEASURES + "".join(f"{' = '.join(row)} = _measure\n" for row in rows)
    objects += f"\n__all__ = [\n{exported}\n]\n"
    return {FOLDER / "names.py": "".join(lines), FOLDER / "measures" / "attributes.py": objects}


def _packed(text: str) -> str:
    return textwrap.fill(
        text, 100, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False
    )


def main() -> int:
    """Write the modules, or compare them."""
    modules = texts()
    if "--check" not in sys.argv:
        for path, text in modules.items():
            path.write_text(text, encoding="utf-8")
        return 0
    wrong = [path for path, text in modules.items() if path.read_text(encoding="utf-8") != text]
    for path in wrong:
        print(f"{path.relative_to(ROOT)} is out of date: python scripts/typed_names.py")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
