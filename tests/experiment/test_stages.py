"""Stages: known by content, reused from memory and disk, safe against kills, damage and other processes."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import threading

import pytest

from goodgain.errors import GoodgainError
from goodgain.experiment.stages import StageCounts, Stages


class Work:
    """A stage that counts how often it is computed."""

    def __init__(self):
        self.computed = 0

    def compute(self, folder):
        self.computed += 1
        return ["a", "b"]

    def save(self, value, folder):
        (folder / "value.json").write_text(json.dumps(value))

    def load(self, folder):
        return json.loads((folder / "value.json").read_text())

    def run(self, stages, **changes):
        settings = {"parameters": {"size": 1}, "inputs": [{"d1": "text"}], **changes}
        return stages.run("chunk", compute=self.compute, save=self.save, load=self.load, **settings)


@pytest.mark.parametrize("on_disk", [False, True])
def test_a_stage_is_computed_once(tmp_path, on_disk):
    work, stages = Work(), Stages(tmp_path / "stages" if on_disk else None)
    first = work.run(stages)
    assert work.run(stages) == first
    assert first.value == ["a", "b"]
    assert work.computed == 1
    later = work.run(Stages(tmp_path / "stages" if on_disk else None))
    assert later == first
    assert work.computed == (1 if on_disk else 2)


def one(texts):
    return texts


def two(texts):
    return [text.upper() for text in texts]


@pytest.mark.parametrize(
    "changes",
    [
        {"parameters": {"size": 2}},
        {"parameters": {"size": 1, "overlap": 0}},
        {"inputs": [{"d1": "other"}]},
        {"inputs": [{"d2": "text"}]},
        {"inputs": ["an address"]},
        {"code": one},
        {"code": two},
        {"code": [one, two]},
        {"model": "small"},
        {"version": "2"},
    ],
)
def test_whatever_a_stage_depends_on_is_in_its_address(tmp_path, changes):
    work = Work()
    work.run(Stages(tmp_path))
    work.run(Stages(tmp_path), **changes)
    assert work.computed == 2
    work.run(Stages(tmp_path), **changes)
    assert work.computed == 2


def test_the_order_of_parameters_does_not_matter_and_that_of_code_does():
    stages = Stages()
    addresses = {
        stages.address("chunk", parameters=parameters)
        for parameters in ({"a": 1, "b": 2}, {"b": 2, "a": 1})
    }
    assert len(addresses) == 1
    assert stages.address("chunk", code=[one, two]) != stages.address("chunk", code=[two, one])
    assert stages.address("chunk", code=one) != stages.address("embed", code=one)
    assert stages.address("chunk", model=one) != stages.address("chunk", code=one)
    with pytest.raises(ValueError, match="unknown kind of stage 'chunks'"):
        stages.address("chunks")


def test_what_cannot_be_read_is_reused_in_its_session_only(tmp_path):
    connection = sqlite3.connect(":memory:")

    def embed(texts):
        return connection.execute("SELECT 1").fetchall()

    work, stages = Work(), Stages(tmp_path)
    work.run(stages, code=embed)
    work.run(stages, code=embed)
    assert work.computed == 1
    assert "not reused in later runs" in stages.notes[0]
    assert "sqlite3.Connection" in stages.notes[0]
    work.run(Stages(tmp_path), code=embed)
    assert work.computed == 2
    for _ in range(2):
        work.run(Stages(tmp_path), code=embed, version="1")
    assert work.computed == 3


def test_a_function_that_remembers_answers_stays_the_same_in_a_session():
    answers = {}

    def embed(texts):
        answers.update(dict.fromkeys(texts, 1))

    work, stages = Work(), Stages()
    work.run(stages, code=embed)
    embed(["a"])
    work.run(stages, code=embed)
    assert work.computed == 1


@pytest.mark.parametrize("damage", ["content", "cut", "missing", "record", "no record", "loader"])
def test_damage_is_noticed_and_mended(tmp_path, damage):
    work = Work()
    stage = work.run(Stages(tmp_path))
    place = tmp_path / "chunk" / stage.address
    file, record = place / "value.json", place / "stage.json"
    if damage == "content":
        file.write_text('["a", "x"]')
    elif damage == "cut":
        file.write_text('["a"')
    elif damage == "missing":
        file.unlink()
    elif damage == "record":
        record.write_text("{")
    elif damage == "no record":
        record.unlink()
    else:
        original, calls = work.load, []

        def load(folder):
            calls.append(folder)
            if len(calls) == 1:
                raise KeyError("vectors")
            return original(folder)

        work.load = load
    stages = Stages(tmp_path)
    assert work.run(stages) == stage
    assert work.computed == 2
    assert any("was damaged" in note and str(place) in note for note in stages.notes)
    assert work.run(Stages(tmp_path)) == stage
    assert work.computed == 2


def test_a_failed_stage_leaves_nothing_that_counts(tmp_path):
    work = Work()

    def fails(folder):
        (folder / "begun").write_text("1")
        raise RuntimeError("down")

    with pytest.raises(RuntimeError, match="down"):
        Stages(tmp_path).run("chunk", compute=fails, save=work.save, load=work.load)

    def continues(folder):
        assert (folder / "begun").exists()
        (folder / "begun").unlink()
        return ["c"]

    stages = Stages(tmp_path)
    with stages.recording() as uses:
        stage = stages.run("chunk", compute=continues, save=work.save, load=work.load)
    assert stage.value == ["c"]
    assert uses[0].computed
    assert uses[0].earlier  # in part: its time is not that of the whole stage


def test_two_processes_compute_a_stage_once(tmp_path):
    script = (
        "import sys, time, pathlib\n"
        "from goodgain.experiment.stages import Stages\n"
        "log = pathlib.Path(sys.argv[1])\n"
        "def compute(folder):\n"
        "    with log.open('a') as file: file.write('x')\n"
        "    time.sleep(0.5)\n"
        "    return 'value'\n"
        "stage = Stages(sys.argv[2]).run('embed', compute=compute,\n"
        "    save=lambda value, folder: (folder / 'v').write_text(value),\n"
        "    load=lambda folder: (folder / 'v').read_text())\n"
        "assert stage.value == 'value'\n"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "log"), str(tmp_path / "cache")]
    processes = [subprocess.Popen(command) for _ in range(3)]
    assert [process.wait() for process in processes] == [0, 0, 0]
    assert (tmp_path / "log").read_text() == "x"
    assert not list((tmp_path / "cache" / "embed").glob("*.lock"))


def test_threads_of_one_process_are_apart_too(tmp_path):
    work = Work()
    threads = [threading.Thread(target=lambda: work.run(Stages(tmp_path))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert work.computed == 1


def test_the_stages_used_longest_ago_are_removed(tmp_path):
    def save(value, folder):
        (folder / "data").write_bytes(b"x" * 1000)

    def run(stages, number):
        return stages.run(
            "embed",
            compute=lambda folder: number,
            save=save,
            load=lambda folder: number,
            parameters={"number": number},
        ).address

    limit = 4000
    addresses = [run(Stages(tmp_path, limit=limit), number) for number in range(2)]
    run(Stages(tmp_path, limit=limit), 0)  # used again
    addresses += [run(Stages(tmp_path, limit=limit), number) for number in range(2, 4)]
    left = {path.name for path in (tmp_path / "embed").iterdir()}
    assert addresses[1] not in left
    assert addresses[3] in left
    assert sum(p.stat().st_size for p in tmp_path.rglob("*") if p.is_file()) <= limit
    stages = Stages(tmp_path, limit=1)
    both = [run(stages, number) for number in (8, 9)]
    assert {path.name for path in (tmp_path / "embed").iterdir()} == set(both)  # in use


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(GoodgainError, match="cannot write"):
        Work().run(Stages(tmp_path / "file"))


def test_counts_say_what_was_reused(tmp_path):
    work = Work()
    for stages, expected in (
        (Stages(tmp_path), "1 of 2 stages reused (1 of 2 chunk)"),
        (Stages(tmp_path), "2 of 2 stages reused (2 of 2 chunk)"),
    ):
        for name in ("a", "b"):
            with stages.recording() as uses:
                work.run(stages)
            stages.count(name, uses)
            stages.count(name, uses)
        assert str(stages.counts()) == expected
    assert str(StageCounts()) == "0 of 0 stages reused"
