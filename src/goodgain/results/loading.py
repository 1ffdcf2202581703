"""Loading saved results of any kind."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from goodgain.errors import InputError


def load(path: str | os.PathLike[str], qrels: Any = None) -> Any:
    """Load a saved evaluation, comparison, Good Gain, calibration, experiment folder or label store.

    `qrels` replace the judgments in an experiment folder.
    """
    from goodgain.experiment import ExperimentResult
    from goodgain.io.files import file_not_found, is_sqlite, read_json
    from goodgain.labels import Labels

    name = os.fspath(path)
    if Path(name).is_dir():
        return ExperimentResult.open(name, qrels=qrels)
    if not Path(name).exists():
        raise file_not_found(name)
    if is_sqlite(name):
        return Labels.of(name)
    kinds = saved_kinds()
    data = read_json(name)
    kind = data.get("goodgain") if isinstance(data, dict) else None
    if kind not in kinds:
        raise InputError(
            "not a saved result",
            where=name,
            hint=f"supported: what --save writes ({', '.join(kinds)}), or the folder of an experiment",
        )
    return kinds[kind].load(name)


def saved_kinds() -> dict[str, Any]:
    """The result classes by the kind that their saved files name."""
    from goodgain.agentic import GoodGain
    from goodgain.comparison import Comparison
    from goodgain.labels.calibration import Calibration
    from goodgain.labels.nuggets.scores import NuggetScores
    from goodgain.ranking import Evaluation

    return {kind.KIND: kind for kind in (Evaluation, Comparison, GoodGain, Calibration, NuggetScores)}


def load_saved(path: str | os.PathLike[str]) -> Any | None:
    """The saved result in a JSON file, or None if the file is something else."""
    from goodgain.io.files import read_json
    from goodgain.io.naming import format_of

    name = os.fspath(path)
    if format_of(name) != "json" or not Path(name).is_file():
        return None
    data = read_json(name)
    kind = data.get("goodgain") if isinstance(data, dict) else None
    return saved_kinds()[kind].load(name) if kind in saved_kinds() else None
