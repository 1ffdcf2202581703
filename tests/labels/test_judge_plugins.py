"""Judges of other packages, added through entry points in the group `goodgain.judges`."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from goodgain.errors import UsageError
from goodgain.labels import OpenAIJudge, create_judge, judge_for, judge_names, label
from goodgain.labels.labeller import estimate

GROUP = "goodgain.judges"
PAIRS = [("q", "d", "what?", "some text")]
SOURCE = '''
class Constant:
    """A judge with settings of its own."""

    def __init__(self, gain=2, model="constant", price=None):
        self.gain, self.model, self.price = int(gain), model, price
        self.parameters = {"gain": self.gain}

    def __call__(self, request):
        return self.gain


def longest(model="longest"):
    def judge(request):
        return min(4, len(request.document))

    judge.model = model
    return judge


def nothing():
    return None


NUMBER = 7
'''


@pytest.fixture
def plugin(install_plugin: Any) -> None:
    install_plugin(
        {
            GROUP: {
                "constant": "their_judges:Constant",
                "longest": "their_judges:longest",
                "nothing": "their_judges:nothing",
            }
        },
        their_judges=SOURCE,
    )


@pytest.mark.usefixtures("plugin")
def test_a_plugin_adds_judges_by_name() -> None:
    assert judge_names() == ["openai", "anthropic", "constant", "longest", "nothing"]
    labels = label(PAIRS, "constant")
    assert labels.to_dict() == {"q": {"d": 2}}
    assert (labels.setting.model, labels.setting.parameters) == ("constant", {"gain": 2})
    assert label(PAIRS, create_judge("constant", gain=4)).to_dict() == {"q": {"d": 4}}
    assert label(PAIRS, "longest").to_dict() == {"q": {"d": 4}}
    assert estimate(PAIRS, "longest").calls == 1


@pytest.mark.usefixtures("plugin")
def test_errors_name_the_judge() -> None:
    with pytest.raises(UsageError, match=r"invalid settings for judge 'constant': .*'gian'"):
        create_judge("constant", gian=3)
    with pytest.raises(UsageError, match="judge 'nothing' is not callable"):
        label(PAIRS, "nothing")
    with pytest.raises(UsageError, match="unknown judge 'constnat'") as error:
        create_judge("constnat")
    assert "available judges: openai, anthropic, constant, longest, nothing" in str(error.value)
    with pytest.raises(UsageError, match=r"invalid settings for judge 'openai': .*'model'"):
        label(PAIRS, "openai")


def test_other_names_are_models() -> None:
    assert type(judge_for("some-model", base_url="http://127.0.0.1:9")) is OpenAIJudge
    assert type(judge_for("claude-x")).__name__ == "AnthropicJudge"
    assert type(judge_for("claude-x", base_url="http://127.0.0.1:9")) is OpenAIJudge
    judge: Any = create_judge("openai", model="m", base_url="http://127.0.0.1:9", max_tokens=5)
    assert (judge.model, judge.max_tokens) == ("m", 5)


def test_a_broken_plugin_is_a_warning_that_names_it(install_plugin: Any) -> None:
    install_plugin(
        {GROUP: {"broken": "their_broken_judges:Judge", "number": "their_numbers:NUMBER"}},
        their_broken_judges="raise RuntimeError('no luck')",
        their_numbers="NUMBER = 7",
    )
    with (
        pytest.warns(UserWarning, match="plug-in 'broken' .*someones-package.*no luck"),
        pytest.warns(UserWarning, match="plug-in 'number' .*it is a int"),
        pytest.raises(UsageError, match="judge 'broken' could not be loaded"),
    ):
        label(PAIRS, "broken")
    assert judge_names() == ["openai", "anthropic"]


def test_a_built_in_judge_cannot_be_replaced(install_plugin: Any) -> None:
    install_plugin({GROUP: {"openai": "their_openai:Judge"}}, their_openai="Judge = dict")
    with pytest.warns(UserWarning, match="plug-in 'openai' .*ignored: 'openai' is built in"):
        assert judge_names() == ["openai", "anthropic"]
    assert type(create_judge("openai", model="m")) is OpenAIJudge


@pytest.mark.usefixtures("plugin")
def test_the_command_uses_a_judge_by_name(tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.jsonl"
    pairs.write_text(json.dumps({"query_id": "q", "doc_id": "d", "question": "?", "text": "x"}))
    site = next(path for path in sys.path if "site-someones-package" in path)

    def goodgain(*words: str) -> subprocess.CompletedProcess[str]:
        argv = [sys.executable, "-m", "goodgain", "label", str(pairs), "--store", "l.db", *words]
        path = os.pathsep.join(filter(None, (site, os.environ.get("PYTHONPATH"))))
        return subprocess.run(
            argv, capture_output=True, text=True, check=False, cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": path},
        )  # fmt: skip

    done = goodgain("--judge", "constant", "--model", "mine", "--price", "1/1", "-q")
    assert done.returncode == 0, done.stderr
    assert "labels ok" in done.stdout
    done = goodgain("--judge", "longest", "--timeout", "3")
    assert done.returncode == 2
    assert "invalid settings for judge 'longest'" in done.stderr
    done = goodgain("-q")
    assert done.returncode == 2
    assert "--model or --judge is required" in done.stderr
