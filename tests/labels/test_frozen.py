"""Results cannot be changed by assignment."""

from typing import Any

import pytest

from goodgain.labels import Limits, Pair, Price, Prompt, Reply, Request, label
from goodgain.labels.calibration import calibrate
from goodgain.labels.labeller import estimate

PAIRS = [Pair("q", "d", "what?", "text")]
LABELS = label(PAIRS, lambda request: 2)
CALIBRATION = calibrate({"q": {"d": 2}}, LABELS, {"q": {"d": 1.0}}, resamples=5)


@pytest.mark.parametrize(
    ("result", "field"),
    [
        (LABELS, "store"),
        (LABELS, "setting"),
        (LABELS, "summary"),
        (LABELS, "anything"),
        (LABELS.setting, "model"),
        (LABELS.summary, "calls"),
        (LABELS.summary, "ended"),
        (next(iter(LABELS)), "gain"),
        (estimate(PAIRS, lambda request: 2), "cost"),
        (CALIBRATION, "pairs"),
        (CALIBRATION, "anything"),
        (CALIBRATION.figures[0], "value"),
        (CALIBRATION.corrected[0], "corrected"),
        (PAIRS[0], "text"),
        (Price(1, 2), "tokens_in"),
        (Limits(), "budget"),
        (Prompt.of(), "system"),
        (Reply("{}"), "status"),
        (Request("what?", ("text",), Prompt.of()), "question"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_assignment_raises(result: Any, field: str) -> None:
    with pytest.raises((AttributeError, TypeError)):
        setattr(result, field, None)


def test_records_are_built_by_keyword() -> None:
    for kind in (type(CALIBRATION), type(CALIBRATION.corrected[0]), type(LABELS.setting), Limits):
        with pytest.raises(TypeError):
            kind(1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
