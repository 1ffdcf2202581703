"""Loading saved results of any kind."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from goodgain.errors import InputError, UsageError


def load(path: str | os.PathLike[str], qrels: Any = None) -> Any:
    """Load a saved result of any kind, an experiment folder or a label store.

    `qrels` replace the judgments in an experiment folder.

    >>> import goodgain as gg
    >>> gg.evaluate({"q1": {"a": 1}}, {"q1": ["x", "a"]}, "RR").save("result.json")
    >>> gg.load("result.json")["RR"]
    0.5
    """
    from goodgain.errors import file_not_found
    from goodgain.experiment import ExperimentResult
    from goodgain.io.files import is_store, read_json
    from goodgain.labels.result import stored_labels

    name = os.fspath(path)
    if is_store(name):
        return stored_labels(name)
    if Path(name).is_dir():
        return ExperimentResult.open(name, qrels=qrels)
    if not Path(name).exists():
        raise file_not_found(name)
    kinds = saved_kinds()
    data = read_json(name)
    kind = data.get("goodgain") if isinstance(data, dict) else None
    if not isinstance(kind, str) or kind not in kinds:
        raise InputError(
            "not a saved result",
            where=name,
            hint=f"supported: what --save writes ({', '.join(kinds)}), or the folder of an experiment",
        )
    return kinds[kind].load(name)


def saved_kinds() -> dict[str, Any]:
    """The result classes by the kind that their saved files name."""
    from goodgain.agentic import GoodGain
    from goodgain.agentic.stopping import Stopping
    from goodgain.comparison import Comparison
    from goodgain.experiment.optimisation import Optimisation
    from goodgain.labels.calibration import Calibration
    from goodgain.labels.nuggets.scores import NuggetScores
    from goodgain.ranking import Evaluation

    kinds = (Evaluation, Comparison, GoodGain, Stopping, Calibration, NuggetScores, Optimisation)
    return {kind.KIND: kind for kind in kinds}


def load_saved(path: str | os.PathLike[str]) -> Any | None:
    """The saved result in a JSON file, or None if the file is something else."""
    from goodgain.io.files import is_stream, read_json
    from goodgain.io.naming import format_of

    name = os.fspath(path)
    if format_of(name) != "json" or not (is_stream(name) or Path(name).is_file()):
        return None
    data = read_json(name)
    kind = data.get("goodgain") if isinstance(data, dict) else None
    return (
        saved_kinds()[kind].load(name) if isinstance(kind, str) and kind in saved_kinds() else None
    )


def load_answers(source: Any) -> Any:
    """A judge's labels of answers if this is a label store, a golden set if it is one; otherwise itself."""
    from goodgain.io.files import is_sqlite
    from goodgain.io.naming import format_of

    if not isinstance(source, str | os.PathLike):
        return _answer_labels(source)
    name = os.fspath(source)
    if is_sqlite(name):
        from goodgain.labels import Store

        return _answer_labels(Store(name, create=False))
    if format_of(name) is None and name.endswith((".yaml", ".yml")):
        from goodgain.checks.golden import read_golden

        return read_golden(name)
    return source


def _answer_labels(store: Any) -> Any:
    """The labels of answers in a store, which may have labels of documents too."""
    from goodgain.labels import Labels

    settings = [s for _, s in store.settings() if s.prompt.startswith("answer-")]
    if not settings:
        raise InputError(
            "the label store has no labels of answers",
            where=str(store.path),
            hint="label them with: goodgain label TRACES --answers GOLD --store STORE --model NAME",
        )
    if len(settings) > 1:
        names = "; ".join(f"{s.model}, {s.prompt}" for s in settings)
        raise UsageError(
            f"the label store has answers by {len(settings)} judges: {names}",
            where=str(store.path),
            hint="choose one in Python: answers=Labels.of(store, model=..., prompt=...)",
        )
    return Labels(store, settings[0])
