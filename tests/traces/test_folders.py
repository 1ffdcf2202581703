"""Folders and patterns of trace files, and files that are not what they seem."""

import json
import shutil
from pathlib import Path

import pytest
from samples import SAMPLES
from writers import as_json, conversation, openai_chat

import goodgain as gg
from goodgain.cli import run
from goodgain.errors import InputError
from goodgain.traces import open_traces

RECORDED = Path(__file__).parent / "samples"


@pytest.fixture
def folder(tmp_path):
    """Two formats, a note for people, and a hidden file."""
    logs = tmp_path / "agent-x"
    (logs / "more").mkdir(parents=True)
    for seed in range(3):
        (logs / f"run_{seed}.json").write_text(openai_chat(conversation(seed), as_json))
    (logs / "more" / "spans.json").write_text(SAMPLES["otel"][0])
    (logs / "README.md").write_text("Our runs.")
    (logs / "notes.txt").write_text("Nothing to see here.")
    (logs / ".cache.json").write_text("{broken")
    return logs


def test_a_folder_is_one_source(folder):
    opened = open_traces(str(folder))
    names = [t["conversation"] for t in opened.read()]
    assert names == ["conv", "conv-0", "conv-1", "conv-2"]
    assert any("not read, since not traces: README.md, notes.txt" in note for note in opened.notes)
    assert opened.ledger.count("conversation", "read") == 4
    assert opened.ledger.differences() == {}
    gain = gg.good_gain(folder)
    assert {s.name for s in gain.systems} == {"agent-x", "agent"}  # one file names its system


def test_a_pattern_is_what_the_shell_makes_of_it(folder, monkeypatch):
    pattern = str(folder / "run_*.json")
    assert {s.name for s in gg.good_gain(pattern).systems} == {"run_0", "run_1", "run_2"}
    assert len(list(gg.read_traces(pattern))) == 3
    assert len(list(gg.read_traces(str(folder / "**" / "*.json")))) == 4
    monkeypatch.chdir(folder.parent)
    assert run(["trace", "agent-x/run_*.json", "-q"]) == 0
    assert run(["trace", "agent-x", "-q"]) == 0
    with pytest.raises(InputError, match="no file matches"):
        gg.good_gain(str(folder / "none_*.json"))


def test_a_file_with_brackets_in_its_name(tmp_path):
    path = tmp_path / "run[1].json"
    path.write_text(openai_chat(conversation(1), as_json))
    assert [t.conversation for t in gg.read_traces(path)] == ["conv-1"]


def test_damaged_files_of_a_folder(folder):
    (folder / "run_9.json").write_text('{"messages": [')
    with pytest.raises(InputError, match="invalid JSON") as error:
        list(open_traces(str(folder)).read())
    assert error.value.where.endswith("run_9.json:1")
    opened = open_traces(str(folder), skip_bad=True)
    assert len(list(opened.read())) == 4
    assert opened.skipped == 1


def test_a_folder_without_traces(tmp_path):
    with pytest.raises(InputError, match="no trace files in"):
        list(open_traces(str(tmp_path)).read())
    (tmp_path / "a.md").write_text("x")
    with pytest.raises(InputError, match="no trace files") as error:
        list(gg.read_traces(tmp_path))
    assert error.value.hint == "seen: a.md"


def test_conversations_of_a_folder_can_be_looked_at_again(folder, tmp_path):
    gain = gg.good_gain(folder)
    key = ("agent-x", "conv-1")
    assert [c.name for c in gain.conversations.read([key])] == ["conv-1"]
    gain.save(tmp_path / "saved.json")
    again = gg.load(tmp_path / "saved.json").conversations
    assert [c.name for c in again.read([key])] == ["conv-1"]
    (folder / "run_7.json").write_text(openai_chat(conversation(7), as_json))
    with pytest.raises(InputError, match="changed"):
        list(gg.load(tmp_path / "saved.json").conversations.read([key]))


def test_an_inspect_archive_that_holds_nothing(tmp_path):
    import zipfile

    with zipfile.ZipFile(tmp_path / "x.eval", "w") as archive:
        archive.writestr("readme.txt", "x")
    with pytest.raises(InputError, match="holds no traces") as error:
        open_traces(str(tmp_path / "x.eval"))
    assert "seen: readme.txt" in error.value.hint
    data = (RECORDED / "inspect-log.eval").read_bytes()
    (tmp_path / "cut.eval").write_bytes(data[: len(data) // 2])
    with pytest.raises(InputError, match="damaged archive"):
        open_traces(str(tmp_path / "cut.eval"))


def test_a_deflated_inspect_archive(tmp_path):
    import zipfile

    log = json.loads((RECORDED / "inspect-log.json").read_text())
    with zipfile.ZipFile(tmp_path / "x.eval", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps({"eval": log["eval"]}))
        for number, sample in enumerate(log["samples"] * 2, 1):
            archive.writestr(
                f"samples/s_epoch_{number}.json", json.dumps({**sample, "epoch": number})
            )
    traces = list(gg.read_traces(tmp_path / "x.eval"))
    assert [t.conversation for t in traces] == ["seine/1", "seine/2"]


def test_unknown_formats_say_what_they_hold(tmp_path):
    path = tmp_path / "x.json"
    path.write_text(json.dumps([{"event_kind": "click", "pos": 3}]))
    with pytest.raises(InputError, match="unrecognised trace format") as error:
        open_traces(str(path))
    assert "it holds a list of 1, first an object with 'event_kind', 'pos'" in error.value.hint


def test_recorded_samples_as_a_folder(tmp_path):
    """Every format in one folder."""
    target = tmp_path / "all"
    shutil.copytree(RECORDED, target, ignore=shutil.ignore_patterns("manifest.json"))
    opened = open_traces(str(target))
    assert len(list(opened.read())) == len(list(target.iterdir()))
    assert opened.ledger.differences() == {}
