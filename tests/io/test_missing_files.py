"""A file that does not exist: the hint names the one that is probably meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import goodgain as gg
from goodgain.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

QRELS = {"q": {"a": 1}}


@pytest.mark.parametrize("name", ["keywrd.run", "keyword.rnu", "Keyword.run"])
def test_a_misspelt_name(tmp_path: Path, name: str) -> None:
    (tmp_path / "keyword.run").write_text("q Q0 a 1 1.0 x\n")
    (tmp_path / "other.run").write_text("q Q0 a 1 1.0 x\n")
    with pytest.raises(InputError) as caught:
        gg.evaluate(QRELS, str(tmp_path / name), "RR")
    assert caught.value.hint == f"did you mean '{tmp_path / 'keyword.run'}'?"


@pytest.mark.parametrize("name", ["dense.run", "no/keyword.run"])
def test_nothing_similar(tmp_path: Path, name: str) -> None:
    (tmp_path / "keyword.jsonl").write_text("")
    with pytest.raises(InputError) as caught:
        gg.evaluate(QRELS, str(tmp_path / name), "RR")
    assert caught.value.hint == "check the spelling and the folder"
