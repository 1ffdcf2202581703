"""Files of traces: recognised by content, streamed, rejected with the place and the reason."""

import gzip
import json

import pytest

import goodgain as gg
from goodgain.errors import InputError, UsageError
from goodgain.traces import FORMATS, open_traces

GOOD = {
    "conversation": "c1",
    "turns": [
        {"iterations": [{"searches": [{"query": "q", "results": [{"id": "a", "gain": 2}]}]}]}
    ],
}


def written(tmp_path, *lines, name="t.jsonl"):
    path = tmp_path / name
    path.write_text(
        "".join(line if isinstance(line, str) else json.dumps(line) + "\n" for line in lines)
    )
    return path


def bad(**changes):
    """A good trace with one place changed: turn, iteration, search, result, or the whole."""
    t = json.loads(json.dumps(GOOD))
    places = {
        "whole": t,
        "turn": t["turns"][0],
        "iteration": t["turns"][0]["iterations"][0],
        "search": t["turns"][0]["iterations"][0]["searches"][0],
        "result": t["turns"][0]["iterations"][0]["searches"][0]["results"][0],
    }
    for place, change in changes.items():
        places[place].update(change)
    return t


S = "turns[0].iterations[0].searches[0]"
BAD = [
    (bad(result={"gain": 7}), f"field '{S}.results[0].gain' must be between 0 and 4, got 7"),
    (bad(result={"gain": -1}), f"field '{S}.results[0].gain' must be between 0 and 4, got -1"),
    (bad(result={"gain": "3"}), f"field '{S}.results[0].gain' must be a number, got text"),
    (bad(result={"title": 3}), f"field '{S}.results[0].title' must be text, got a number"),
    (bad(result={"ids": []}), f"field '{S}.results[0].ids' must be an object, got a list"),
    (bad(result={"colour": 1}), f"unknown field '{S}.results[0].colour' in a trace"),
    (bad(search={"results": ["a"]}), f"field '{S}.results[0]' must be an object, got text"),
    (bad(search={"results": {}}), f"field '{S}.results' must be a list, got an object"),
    (bad(search={"latency": -1}), f"field '{S}.latency' must not be negative"),
    (bad(search={"tokens": "many"}), f"field '{S}.tokens' must be a number, got text"),
    (bad(search={"quer": "x"}), f"unknown field '{S}.quer' in a trace"),
    (
        bad(iteration={"searches": {}}),
        "field 'turns[0].iterations[0].searches' must be a list, got an object",
    ),
    (bad(turn={"searches": []}), "field 'turns[0].searches' is outside an iteration"),
    (bad(whole={"searches": []}), "field 'searches' is outside an iteration"),
    (bad(whole={"iterations": []}), "field 'iterations' is outside a turn"),
    (bad(whole={"turns": None}), "field 'turns' must be a list, got null"),
    (bad(whole={"conversation": ""}), "missing field 'conversation'"),
    ({"conversation": "c"}, "missing field 'turns'"),
    ([GOOD], "expected an object with 'conversation' and 'turns', got a list"),
    ('{"conversation": "c1", "turns": [\n', "the line is not valid JSON"),
]


@pytest.mark.parametrize(("line", "message"), BAD)
def test_bad_lines_name_file_line_and_field(line, message, tmp_path):
    path = written(tmp_path, GOOD, "\n", line)
    with pytest.raises(InputError) as error:
        gg.good_gain(path)
    assert error.value.message.startswith(message)
    assert error.value.where == f"{path}:3"


@pytest.mark.parametrize(("line", "message"), [b for b in BAD if isinstance(b[0], dict)])
def test_objects_are_validated_too(line, message):
    with pytest.raises(InputError) as error:
        gg.good_gain([line])
    assert error.value.message.startswith(message)
    with pytest.raises(InputError) as error:
        list(gg.read_traces([line]))
    assert error.value.message.startswith(message)


def test_skip_bad_continues_and_counts(tmp_path):
    others = [{**GOOD, "conversation": f"d{i}"} for i in range(3)]
    path = written(tmp_path, GOOD, *(b for b, _ in BAD[:3]), *others)
    gain = gg.good_gain(path, skip_bad=True)
    assert gain.figure("CG").n == 4
    assert gain.facts["skipped"] == 3
    assert "3 bad conversations were skipped" in gain.warnings()[0]
    assert f"({path}:2)" in gain.warnings()[0]
    assert len(list(gg.read_traces(path, skip_bad=True))) == 4


def test_skip_bad_in_other_formats(tmp_path):
    chat = {"messages": [{"role": "user", "content": "?"}]}
    path = written(tmp_path, {**chat, "id": "1"}, "{broken\n", {**chat, "id": "2"})
    with pytest.raises(InputError) as error:
        list(open_traces(str(path)).read())
    assert error.value.where == f"{path}:2"
    gain = gg.good_gain(path, skip_bad=True)
    assert gain.facts["skipped"] == 1


@pytest.mark.parametrize(
    ("line", "kind"), [("q 0 d 1", "judgments"), ("q Q0 d 1 2.5 tag", "a run")]
)
def test_judgments_and_runs_are_no_traces(tmp_path, line, kind):
    path = tmp_path / "x.txt"
    path.write_text(f"{line}\n{line}\n")
    with pytest.raises(InputError) as error:
        gg.good_gain(path)
    assert error.value.hint == f"this looks like {kind}; goodgain evaluate QRELS RUN measures runs"


def test_unknown_format_lists_reasons(tmp_path):
    path = written(tmp_path, {"some": "thing"}, name="x.json")
    with pytest.raises(InputError) as error:
        gg.good_gain(path)
    assert error.value.message == "unrecognised trace format"
    assert "canonical: no 'conversation'" in error.value.hint
    assert all(f"{name}: " in error.value.hint for name in FORMATS)


@pytest.mark.parametrize("name", sorted(set(FORMATS) - {"canonical"}))
def test_a_file_of_another_format_is_an_error(name, tmp_path):
    path = written(tmp_path, {"some": "thing"}, name="x.json")
    with pytest.raises(InputError) as error:
        gg.good_gain(path, format=name)
    assert error.value.where.startswith(str(path))
    assert error.value.message


def test_unknown_name_of_a_format(tmp_path):
    with pytest.raises(UsageError, match="unknown trace format 'x'"):
        open_traces(str(written(tmp_path, GOOD)), "x")


def test_empty_and_missing_files(tmp_path):
    with pytest.raises(InputError, match="the file is empty"):
        gg.good_gain(written(tmp_path, ""))
    with pytest.raises(InputError, match="file not found"):
        gg.good_gain(tmp_path / "none.jsonl")


def test_broken_json_in_a_whole_document(tmp_path):
    with pytest.raises(InputError, match="invalid JSON") as error:
        gg.good_gain(written(tmp_path, '{"messages": [\n{"role": "user",}\n]}', name="x.json"))
    assert error.value.where.endswith("x.json:2")


@pytest.mark.slow
def test_a_line_of_fifty_megabytes(tmp_path):
    results = [{"id": str(i), "content": f"{i} " + "word " * 20_000, "gain": 2} for i in range(500)]
    big = bad(search={"results": results})
    path = written(tmp_path, {**GOOD, "conversation": "small"}, big)
    assert path.stat().st_size > 50_000_000
    gain = gg.good_gain(path)
    assert gain["t"].final("R@i") == {"small": 1, "c1": 500}


def test_deep_nesting_is_an_error(tmp_path):
    deep = '{"conversation": "c1", "turns": ' + "[" * 100_000 + "]" * 100_000 + "}\n"
    with pytest.raises(InputError, match="nested more than 1,000 levels deep") as error:
        gg.good_gain(written(tmp_path, GOOD, deep))
    assert error.value.where.endswith("t.jsonl:2")
    with pytest.raises(InputError, match=r"nested too deeply|invalid JSON"):
        gg.good_gain(written(tmp_path, "[" * 100_000 + "]" * 100_000, name="x.json"))


def test_compressed_pretty_and_listed_files(tmp_path):
    packed = tmp_path / "t.jsonl.gz"
    packed.write_bytes(gzip.compress((json.dumps(GOOD) + "\n").encode()))
    pretty = written(tmp_path, json.dumps(GOOD, indent=2), name="p.json")
    listed = written(tmp_path, json.dumps([GOOD], indent=1), name="l.json")
    marked = tmp_path / "bom.jsonl"
    marked.write_bytes(b"\xef\xbb\xbf" + json.dumps(GOOD).encode())
    for path in (packed, pretty, listed, marked):
        assert gg.good_gain(path).figure("CG").value == 2
        assert [t.conversation for t in gg.read_traces(path)] == ["c1"]


def test_systems_by_field_and_by_file(tmp_path):
    a, b = (
        written(tmp_path, {**GOOD, "system": "x"}, name="a.jsonl"),
        written(tmp_path, GOOD, name="b.jsonl"),
    )
    assert gg.good_gain([a, b]).names == ("x", "b")
    assert gg.good_gain([a, b], by="file").names == ("a", "b")


def test_metadata_is_allowed_everywhere(tmp_path):
    extra = {"metadata": {"any": ["thing"]}}
    t = bad(whole=extra, turn=extra, iteration=extra, search=extra, result=extra)
    assert gg.good_gain(written(tmp_path, t)).figure("CG").value == 2


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst", ".bz2", ".xz"])
def test_convert_compresses_by_suffix(tmp_path, suffix):
    from goodgain.traces.convert import convert_traces

    chat = {"id": "c", "messages": [{"role": "user", "content": "?"}]}
    source = written(tmp_path, json.dumps(chat), name="x.json")
    target = tmp_path / f"t.jsonl{suffix}"
    done = convert_traces(str(source), target)
    assert (done.written, done.skipped, done.notes) == (1, 0, [])
    assert done.ledger.count("message", "read") == 1
    assert [t.conversation for t in gg.read_traces(target)] == ["c"]
    first = target.read_bytes()
    assert first.startswith(b"{") == (suffix == "")
    convert_traces(str(source), target)
    assert target.read_bytes() == first


def test_convert_to_standard_output(tmp_path, capfdbinary, monkeypatch):
    from goodgain.cli import run

    monkeypatch.chdir(tmp_path)
    source = written(tmp_path, json.dumps([GOOD]), name="x.json")
    assert run(["convert", str(source), "-", "-q"]) == 0
    assert json.loads(capfdbinary.readouterr().out) == GOOD
    assert not (tmp_path / "-").exists()
