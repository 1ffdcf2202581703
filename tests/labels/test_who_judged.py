"""Who judged is part of every key: no two judges share labels, and one judge finds its own again."""

import functools
import importlib
import logging
import os
import re
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from goodgain.errors import GoodgainError, InputError, UsageError
from goodgain.labels import AnthropicJudge, Labels, OpenAIJudge, Pair, Prompt, Store, label
from goodgain.labels.imports import import_labels
from goodgain.labels.judges.identity import code_digest, parameters_of, plain_url
from goodgain.labels.labeller import setting_of
from goodgain.labels.pairs import read_pairs
from goodgain.labels.people import read_votes
from goodgain.labels.result import judgments_of

PAIRS = [("q", "d", "what?", "text")]
OFFSET = 1
WORDS = {"alpha", "beta", "gamma", "delta"}
PATTERN = re.compile("x")
LOG = logging.getLogger(__name__)
LOCK = threading.Lock()
NUMBERS = iter([1, 2])


def test_two_lambdas_never_share_labels(tmp_path: Path) -> None:
    path = tmp_path / "l.db"
    assert label(PAIRS, lambda request: 3, path).to_dict() == {"q": {"d": 3}}
    assert label(PAIRS, lambda request: 1, path).to_dict() == {"q": {"d": 1}}
    judges = [lambda request, gain=gain: gain for gain in range(5)]
    assert [label(PAIRS, j, path).to_dict()["q"]["d"] for j in judges] == [0, 1, 2, 3, 4]


def test_a_judge_that_changes_its_own_data_is_reported(tmp_path: Path) -> None:
    calls = []

    def counting(request: Any) -> int:
        calls.append(request)
        return 2

    path = tmp_path / "l.db"
    with pytest.warns(UserWarning, match="has changed data .* name the judge"):
        label(PAIRS, counting, path)
    label(PAIRS, counting, path, name="counting-1")
    assert label(PAIRS, counting, path, name="counting-1").summary.stored == 1
    assert len(calls) == 2


def make(gain: Any) -> Callable[[Any], Any]:
    return lambda request: gain


def helper(value: int) -> int:
    return value + OFFSET


def uses_helper(request: Any) -> int:
    LOG.debug("called")
    with LOCK:
        return helper(1) if request.document not in WORDS and not PATTERN.match("y") else 0


def recursive(request: Any) -> int:
    return recursive(request) if request is None else 1


def with_default(request: Any, gain: int = 2, *, more: int = 0) -> int:
    return gain + more


class State:
    """A judge by its state."""

    def __init__(self, gain: int) -> None:
        self.gain = gain
        self.lock = threading.Lock()

    def __call__(self, request: Any) -> int:
        return self.gain

    def method(self, request: Any) -> int:
        return self.gain + 1


class Child(State):
    def __call__(self, request: Any) -> int:
        return super().__call__(request)


class Slots:
    __slots__ = ("gain",)

    def __init__(self, gain: int) -> None:
        self.gain = gain

    def __call__(self, request: Any) -> int:
        return self.gain


@dataclass
class Data:
    gain: int
    examples: list[str] = field(default_factory=list)

    def __call__(self, request: Any) -> int:
        return self.gain


def judges() -> list[Any]:
    return [
        make(1), make(2), make("1"), make(1.0), make([1]), make((1,)), make({"a": 1}), make(None),
        make(b"1"), make(range(1)), make(re.compile("a")), make(re.compile("a", re.IGNORECASE)),
        make(Path("/a")), make(Path("/b")), make(make(1)), make(make(2)), make({1, 2}), make({1, 3}),
        lambda request: 1, lambda request: 2, lambda request: 1 if request else 2,
        lambda request: len(request.document), lambda request: len(request.question),
        uses_helper, recursive, with_default, functools.partial(with_default, gain=3),
        functools.partial(with_default, gain=4), functools.partial(with_default, more=1),
        functools.lru_cache(with_default), State(1), State(2), State(1).method, State(2).method,
        Child(1), Slots(1), Slots(2), Data(1), Data(2), Data(1, ["an example"]),
    ]  # fmt: skip


def test_code_closure_defaults_globals_and_state_tell_judges_apart() -> None:
    digests = [code_digest(judge) for judge in judges()]
    assert len(set(digests)) == len(digests)
    assert digests == [code_digest(judge) for judge in judges()]


def test_a_change_of_what_the_code_refers_to_is_another_judge(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = code_digest(uses_helper)
    for name, value in (
        ("OFFSET", 2), ("WORDS", {"alpha"}), ("PATTERN", re.compile("z")),
        ("helper", lambda value: value),
    ):  # fmt: skip
        with monkeypatch.context() as patch:
            patch.setattr(sys.modules[__name__], name, value)
            assert code_digest(uses_helper) != before, name
    assert code_digest(uses_helper) == before


def test_rules_in_another_order_are_another_judge() -> None:
    rules = {"python": 4, "java": 0}
    assert code_digest(make(rules)) != code_digest(make(dict(reversed(rules.items()))))


def test_attributes_of_a_function_belong_to_it() -> None:
    judge = make(1)
    before = code_digest(judge)
    judge.level = 2  # type: ignore[attr-defined]
    assert code_digest(judge) != before


def test_modules_in_a_package_and_those_imported_in_the_call_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own_rules").mkdir()
    (tmp_path / "own_rules" / "__init__.py").write_text("from . import levels\n")
    (tmp_path / "own_rules" / "levels.py").write_text("GOOD = 3\nUNUSED = 1\n")
    (tmp_path / "own_judges.py").write_text(
        "import own_rules\n"
        "def through_package(request): return own_rules.levels.GOOD\n"
        "def imports_name(request):\n    from own_rules.levels import GOOD\n    return GOOD\n"
        "def imports_module(request):\n    import own_rules.levels as levels\n    return levels.GOOD\n"
        "def imports_nothing(request):\n    import no_such_module\n    return 1\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    judges = importlib.import_module("own_judges")
    levels = importlib.import_module("own_rules.levels")
    several = [judges.through_package, judges.imports_name, judges.imports_module]
    before = [code_digest(judge) for judge in several]
    levels.UNUSED = 2
    assert [code_digest(judge) for judge in several] == before
    levels.GOOD = 4
    assert not set(before) & {code_digest(judge) for judge in several}
    assert code_digest(judges.imports_nothing)


class Classifier:
    def __init__(self, weight: int) -> None:
        self.weight = weight

    def __repr__(self) -> str:
        return "Classifier()"


class Classifies:
    """A judge whose `model` is an object rather than a name."""

    def __init__(self, weight: int) -> None:
        self.model = Classifier(weight)

    def __call__(self, request: Any) -> int:
        return self.model.weight


def test_a_model_that_is_no_text_is_not_a_name(tmp_path: Path) -> None:
    for weight in (1, 3):
        labels = label(PAIRS, Classifies(weight), tmp_path / "l.db")
        assert labels.to_dict() == {"q": {"d": weight}}
        assert labels.setting.model.endswith("Classifies")
    assert label(PAIRS, Classifies(3), tmp_path / "l.db").summary.stored == 1


def test_a_pair_with_numbers_as_ids_keeps_its_narrative_and_answer() -> None:
    pair = Pair(7, 8, "what?", "text", narrative="why", answer="this")  # type: ignore[arg-type]
    assert list(read_pairs([pair])) == [Pair("7", "8", "what?", "text", "why", "this")]


SCRIPT = """
import sys
from goodgain.labels import label
calls = 0
NAMES = {"a", "b", "c", "d", "e"}
def judge(request):
    global calls
    return 3 if request.document not in {"x", "y", "z"} and "f" not in NAMES else 0
class Judge:
    def __init__(self): self.names = frozenset(NAMES)
    def __call__(self, request): return judge(request)
%s
for each in (judge, lambda request: 2, Judge(), Judge().__call__):
    summary = label([("q", "d", "what?", "text")], each, sys.argv[1]).summary
    print(summary.calls, summary.stored)
"""


def test_the_same_function_in_a_new_process_finds_its_labels(tmp_path: Path) -> None:
    path = tmp_path / "script.py"
    outputs = []
    for seed, more in (("1", ""), ("2", "# a comment, and lines further down\n\n"), ("3", "")):
        path.write_text(textwrap.dedent(SCRIPT % more))
        done = subprocess.run(
            [sys.executable, str(path), str(tmp_path / "l.db")], capture_output=True, text=True,
            env={**os.environ, "PYTHONHASHSEED": seed}, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        outputs.append(done.stdout.split("\n")[:4])
    assert outputs == [["1 0"] * 4, ["0 1"] * 4, ["0 1"] * 4]


@pytest.mark.parametrize(
    "judge",
    [
        lambda request, numbers=NUMBERS: next(numbers),
        lambda request, file=sys.__stdin__: 1,
        lambda request, generator=(i for i in "a"): 1,
        open,
    ],
)
def test_a_judge_whose_state_is_hidden_must_be_named(judge: Any, tmp_path: Path) -> None:
    if judge is open:
        judge = functools.partial(lambda stream, request: 1, sys.__stdin__)
    with pytest.raises(UsageError, match="cannot tell the judge") as raised:
        label(PAIRS, judge, tmp_path / "l.db")
    assert "name=" in raised.value.hint
    labels = label(PAIRS, judge, tmp_path / "l.db", name="mine-1")
    assert (labels.setting.model, labels.setting.parameters) == ("mine-1", {})


def test_a_client_in_a_closure_is_not_taken_for_another(monkeypatch: pytest.MonkeyPatch) -> None:
    openai = pytest.importorskip("openai")
    client = openai.OpenAI(api_key="x", base_url="http://127.0.0.1:9")
    with pytest.raises(UsageError, match="'client"):
        label(PAIRS, lambda request: 1 if client else 2)
    inner = OpenAIJudge("m", base_url="http://a.example")
    other = OpenAIJudge("m", base_url="http://b.example")
    assert code_digest(make(inner)) != code_digest(make(other))


def test_every_setting_of_a_model_is_in_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    prompt = Prompt.of()
    for name in ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    made: list[Any] = [
        OpenAIJudge("m"), OpenAIJudge("n"), OpenAIJudge("m", temperature=1),
        OpenAIJudge("m", temperature=None), OpenAIJudge("m", max_tokens=99),
        OpenAIJudge("m", base_url="http://one.example/v1"),
        OpenAIJudge("m", base_url="http://two.example/v1"),
        OpenAIJudge("m", base_url="http://one.example:8080/v1"),
    ]  # fmt: skip
    digests = {setting_of(judge, prompt).digest for judge in made}
    digests |= {setting_of(made[0], Prompt.of("relevance-0-3")).digest}
    digests |= {setting_of(made[0], prompt, batch=2).digest}
    wider = Prompt(prompt.name, 0, 5, prompt.system, prompt.user)
    digests |= {setting_of(made[0], wider).digest}
    assert len(digests) == len(made) + 3
    # 0.1 did not store the server: labels of the provider's own are found again
    assert parameters_of(made[0]) == {"max_tokens": 300, "temperature": 0.0}
    monkeypatch.setenv("OPENAI_BASE_URL", "http://one.example/v1/")
    assert parameters_of(OpenAIJudge("m")) == parameters_of(made[5])
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://one.example")
    assert parameters_of(AnthropicJudge("m"))["base_url"] == "http://one.example"


def test_the_address_of_a_server_has_one_form_and_no_secrets() -> None:
    same = (
        "https://api.example.com/v1", "HTTPS://API.Example.COM:443/v1/", " https://api.example.com/v1 ",
        "https://me:secret@api.example.com/v1", "https://api.example.com//v1?api_key=secret",
        "https://api.example.com/v1?token=secret#part",
    )  # fmt: skip
    assert {plain_url(url) for url in same} == {"https://api.example.com/v1"}
    versions = {plain_url(f"https://a.example/?api-version={v}&api-key=s") for v in (1, 2)}
    assert versions == {"https://a.example?api-version=1", "https://a.example?api-version=2"}
    assert plain_url("http://[::1]:8000/") == "http://[::1]:8000"
    assert plain_url("http://a.example/V1") != plain_url("http://a.example/v1")


def test_a_store_with_several_settings_is_read_by_choosing_one(tmp_path: Path) -> None:
    path = tmp_path / "l.db"
    label(PAIRS, lambda request: 3, path)
    label(PAIRS, lambda request: 1, path)
    with pytest.raises(UsageError, match="2 settings") as raised:
        Labels.of(path)
    digests = re.findall(r"\b([0-9a-f]{8}): ", str(raised.value))
    assert len(digests) == 2 and "setting" in raised.value.hint
    assert [Labels.of(path, setting=d).to_dict()["q"]["d"] for d in digests] == [3, 1]
    with pytest.raises(InputError):
        Labels.of(path, setting="nothing")


def test_a_corrected_human_label_replaces_the_old_one_and_keeps_it(tmp_path: Path) -> None:
    (tmp_path / "first.txt").write_text("q 0 a 3\nq 0 b 0\n")
    (tmp_path / "second.txt").write_text("q 0 a 1\nq 0 b 0\n")
    with Store(tmp_path / "m.db") as store:
        for name in ("first", "second"):
            import_labels(store, tmp_path / f"{name}.txt", model="tool")
        assert judgments_of(store).to_dict() == {"q": {"a": 1, "b": 0}}
    with Store(tmp_path / "l.db") as store:
        for name in ("first", "second"):
            import_labels(store, tmp_path / f"{name}.txt", annotator="ann")
        assert judgments_of(store).to_dict() == {"q": {"a": 1, "b": 0}}
        history = [vote.gain for vote in read_votes(store, history=True) if vote.doc == "a"]
        assert history == [3, 1]


@pytest.mark.parametrize("missing", [None, float("nan")])
@pytest.mark.parametrize("place", range(4))
def test_a_missing_text_or_id_is_an_error_with_its_place(missing: Any, place: int) -> None:
    row: list[Any] = ["q2", "d2", "what?", "text"]
    row[place] = missing
    for bad in (tuple(row), Pair(*row)):
        with pytest.raises(InputError, match="missing") as raised:
            label([("q1", "d1", "what?", "text"), bad], lambda request: 1)
        assert raised.value.where == "row 2"


def test_a_line_without_a_text_is_an_error_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    good = '{"query_id": "q", "doc_id": "a", "question": "what?", "text": "x"}\n'
    for bad in ('"text": null', '"text": NaN', '"other": 1'):
        path.write_text(good + good.replace('"a"', '"b"').replace('"text": "x"', bad))
        with pytest.raises(GoodgainError, match=r"missing.*p\.jsonl:2"):
            label(path, lambda request: 1)
    path.write_text(good + good.replace('"a"', '"b"').replace('"x"', '""'))
    assert label(path, lambda request: 1).statuses == {"ok": 1, "no_text": 1}


def test_one_id_with_two_texts_is_an_error_with_both_places() -> None:
    rows = [("q", "a", "what?", "one"), ("q", "b", "what?", "two"), ("q", "a", "what?", "three")]
    with pytest.raises(InputError, match=r"document 'a' has two different texts.*row 1") as raised:
        label(rows, lambda request: 1)
    assert raised.value.where == "row 3"
    with pytest.raises(InputError, match="query 'q' has two different texts"):
        label([*rows[:2], ("q", "c", "who?", "x")], lambda request: 1)
    again = label([*rows[:2], rows[0], ("r", "a", "who?", "an excerpt")], lambda request: 1)
    assert len(again) == 3
