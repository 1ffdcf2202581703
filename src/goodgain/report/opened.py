"""Results from disk, whatever kind they are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError
from goodgain.evaluation import Evaluation, GoodGain
from goodgain.experiment import ExperimentResult
from goodgain.stats import Comparison

if TYPE_CHECKING:
    import os

    from goodgain.read.saved import SavedAsJson

SAVED: tuple[type[SavedAsJson], ...] = (Evaluation, Comparison, GoodGain)


def open_result(path: str | os.PathLike[str]) -> Any:
    """A saved result, or an experiment in its folder."""
    from goodgain.read.files import read_json

    if Path(path).is_dir():
        return ExperimentResult.open(path)
    data = read_json(str(path))
    kind = data.get("goodgain") if isinstance(data, dict) else None
    for known in SAVED:
        if kind == known.KIND:
            return known.load(path)
    raise InputError(
        "the file is not a saved result",
        where=str(path),
        hint="what --save or result.save() wrote, or the folder of an experiment",
    )
