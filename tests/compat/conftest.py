"""BEIR's evaluation code without the rest of BEIR, which needs torch."""

from __future__ import annotations

import importlib.util
import sys
import types
from pathlib import Path


def load_beir(name: str, pytrec_eval: str = "pytrec_eval") -> bool:
    """BEIR's evaluation.py as module `name`, unchanged except for what it imports as pytrec_eval."""
    spec = importlib.util.find_spec("beir")
    if spec is None or not spec.submodule_search_locations:
        return False
    folder = Path(spec.submodule_search_locations[0]) / "retrieval"
    package = types.ModuleType(f"{name}_package")
    package.__path__ = [str(folder)]
    base = types.ModuleType(f"{name}_package.search.base")
    base.BaseSearch = object  # what it searches with is not needed
    sys.modules[f"{name}_package"] = package
    sys.modules[f"{name}_package.search.base"] = base
    sys.modules[f"{name}_package.search"] = types.ModuleType(f"{name}_package.search")
    source = (folder / "evaluation.py").read_text()
    if pytrec_eval != "pytrec_eval":
        assert source.count("import pytrec_eval\n") == 1
        source = source.replace("import pytrec_eval\n", f"import {pytrec_eval} as pytrec_eval\n")
    module = types.ModuleType(f"{name}_package.evaluation")
    module.__package__ = f"{name}_package"
    exec(compile(source, str(folder / "evaluation.py"), "exec"), module.__dict__)
    sys.modules[name] = module
    return True


load_beir("beir_evaluation")
load_beir("beir_evaluation_on_goodgain", "goodgain.compat.pytrec_eval")
