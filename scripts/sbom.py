"""Write the bill of materials of a release as CycloneDX JSON: what is compiled in, and what is needed.

python scripts/sbom.py FILE
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
# The charts of pages; their licences lie beside them.
ASSETS = ROOT / "src" / "goodgain" / "reports" / "assets" / "vendor"

# What the build links statically, beside the vendored libraries: nanobind, the hash table that it
# brings, and the detection of instruction sets that simdjson took over, with a licence of its own.
LINKED = ROOT / "licenses"


def components() -> list[dict[str, Any]]:
    """Everything that a wheel contains from elsewhere or needs at run time."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    vendored = tomllib.loads((ROOT / "third_party" / "vendored.toml").read_text(encoding="utf-8"))
    listed: list[dict[str, Any]] = [
        {
            "type": "library",
            "name": name,
            "version": library["version"],
            "scope": "required",
            "licenses": [{"license": {"id": library["license"]}}],
            "externalReferences": [{"type": "vcs", "url": library["home"]}],
            "hashes": [
                {"alg": "SHA-256", "content": digest} for digest in library["files"].values()
            ],
            "properties": [{"name": "goodgain:linkage", "value": "compiled in"}],
        }
        for name, library in vendored.items()
    ]
    listed += [
        {"type": "library", "name": licence.suffix[1:], "scope": "required"}
        for licence in sorted(ASSETS.glob("LICENSE.*")) + sorted(LINKED.glob("LICENSE.*"))
    ]
    for requirement in project["dependencies"]:
        match = re.match(r"[\w.-]+", requirement)
        assert match is not None
        name = match[0]
        listed.append(
            {
                "type": "library",
                "name": name,
                "purl": f"pkg:pypi/{name.lower()}",
                "scope": "required",
            }
        )
    return listed


def document() -> dict[str, Any]:
    """The whole bill."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    own = {
        "type": "library",
        "name": project["name"],
        "version": project["version"],
        "purl": f"pkg:pypi/{project['name']}@{project['version']}",
        "licenses": [{"license": {"id": project["license"]}}],
    }
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": own},
        "components": components(),
    }


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps(document(), indent=1) + "\n", encoding="utf-8")
