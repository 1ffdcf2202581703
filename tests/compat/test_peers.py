"""docs/peers.md: what it says of the peers is what they still answer."""

from __future__ import annotations

import json
import sys
from importlib.metadata import version

import pytest
from load_script import SCRIPTS, load_script


@pytest.mark.slow
@pytest.mark.filterwarnings("default")  # theirs
def test_the_peers_still_answer_as_the_page_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(SCRIPTS))
    peers = load_script("peers")
    saved, now = json.loads(peers.PROBED.read_text(encoding="utf-8")), peers.probe()
    assert list(now["answers"]) == list(saved["answers"])
    # Another version of a tool, or of pandas, may answer otherwise; goodgain may not.
    same = [tool for tool, number in now["versions"].items() if saved["versions"][tool] == number]
    tools = same if saved["pandas"] == version("pandas") else ["goodgain"]
    assert {"goodgain"} <= set(tools)
    for question, answers in now["answers"].items():
        for tool in tools:
            assert answers[tool] == saved["answers"][question][tool], (question, tool)
    assert sys.modules["peer_probes"].TOOLS.keys() == now["versions"].keys()
