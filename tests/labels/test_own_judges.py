"""What a judge of one's own may be, return and call its parameters; anything else is refused or a failure."""

from datetime import date
from decimal import Decimal
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from goodgain.errors import UsageError
from goodgain.labels import Labels, Reply, Store, label
from goodgain.labels.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Callable

PAIR = ("q", "d", "what?", "text")


class Grade(IntEnum):
    GOOD = 3


class Judge:
    model = "m"

    def __init__(self, **parameters: Any) -> None:
        self.parameters = parameters

    def __call__(self, request: Any) -> int:
        return 1


@pytest.mark.parametrize(
    "value",
    [3, 3.0, "3", "3.0", np.int64(3), np.float32(3), np.array(3), np.array([3]), Decimal("3.0"),
     Grade.GOOD, {"gain": np.int8(3)}, {"gain": "3", "reason": "\ud800"}, Reply("Gain: 3")],
)  # fmt: skip
def test_a_whole_number_of_any_type_is_a_gain(value: Any) -> None:
    assert label([PAIR], lambda request: value, name="j").to_dict() == {"q": {"d": 3}}


@pytest.mark.parametrize(
    "value",
    [3.5, float("nan"), float("inf"), 10**400, np.array([1, 2]), True, {3}, 3 + 0j, object(), -1, 5,
     {"x": 3}, Reply("3", "odd"), Reply(None), Reply(5), Reply("x", tokens_in=float("nan")),
     Reply("x", tokens_out=-5)],  # type: ignore[arg-type]
)  # fmt: skip
def test_anything_else_is_an_invalid_label_and_costs_no_other(value: Any, tmp_path: Path) -> None:
    def judge(request: Any) -> Any:
        return value if request.document == "text" else 2

    labels = label([PAIR, ("q", "e", "what?", "other")], judge, tmp_path / "l.db", name="j")
    assert labels.to_dict() == {"q": {"e": 2}}
    assert labels.statuses == {"invalid": 1, "ok": 1}


def test_tokens_of_a_reply_that_are_no_count_are_estimated(tmp_path: Path) -> None:
    class Priced(Judge):
        max_tokens = 10

        def __call__(self, request: Any) -> Any:
            return Reply("3", "ok", float("nan"), 2**60)  # type: ignore[arg-type]

    label([PAIR], Priced(), tmp_path / "l.db")
    with Store(tmp_path / "l.db") as store:
        rows = store.db.execute("SELECT tokens_in > 0, tokens_out, estimated FROM spending")
        assert rows.fetchall() == [(1, 1, 1)]


@pytest.mark.parametrize("judge", [5, None, ["m"], {"model": "m"}])
def test_what_cannot_be_called_is_no_judge(judge: Any) -> None:
    with pytest.raises(UsageError, match="cannot be called"):
        label([PAIR], judge)


def test_parameters_are_stored_as_json(tmp_path: Path) -> None:
    judge = Judge(
        number=np.float64(0.5),
        several=(1, np.int8(2)),
        words={"b", "a"},
        path=Path("a"),
        day=date(2020, 1, 1),
    )
    plain = {
        "number": 0.5,
        "several": [1, 2],
        "words": ["a", "b"],
        "path": "a",
        "day": "2020-01-01",
    }
    assert label([PAIR], judge, tmp_path / "l.db").setting.parameters == plain
    assert label([PAIR], Judge(**plain), tmp_path / "l.db").summary.stored == 1
    with pytest.raises(UsageError, match=r"parameter 'a\.b' is a object"):
        label([PAIR], Judge(a={"b": object()}))


@pytest.mark.parametrize("value", [0, -1, 2.5, "3", True, None])
@pytest.mark.parametrize("name", ["replicates", "batch", "text_limit"])
def test_counts_are_positive_integers(name: str, value: Any) -> None:
    with pytest.raises(UsageError, match=f"{name} must be a positive integer"):
        label([PAIR], Judge(), **{name: value})


@pytest.mark.parametrize("value", [0, 2.5, "3", True])
def test_limits_are_positive_integers(value: Any) -> None:
    limited: list[Callable[[], object]] = [
        lambda: label([PAIR], Judge(), concurrency=value),
        lambda: label([PAIR], Judge(), processes=value),
        lambda: Limits(tries=value),
    ]
    for call in limited:
        with pytest.raises(UsageError, match="must be a positive integer"):
            call()


def test_replicates_about_an_earlier_text_no_longer_count(tmp_path: Path) -> None:
    class Reads(Judge):
        def __call__(self, request: Any) -> int:
            return 0 if "old" in request.document else 4

    path = tmp_path / "l.db"
    label([("q", "d", "what?", "old text")], Reads(), path, replicates=3)
    label([("q", "d", "what?", "new text")], Reads(), path)
    (own,) = Labels.of(path)
    assert (own.gain, own.replicates, own.spread) == (4, 1, 0)
    with Store(path) as store:
        view = store.db.execute("SELECT replicate, gain FROM labels").fetchall()
        assert view == [(0, 4)]
    label([("q", "d", "what?", "new text")], Reads(), path, replicates=3)
    (own,) = Labels.of(path)
    assert (own.gain, own.replicates) == (4, 3)
