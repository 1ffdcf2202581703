"""The recorder writes what the reader reads."""

import pytest

import goodgain as gg
from goodgain.errors import InputError, UsageError


def test_record_a_loop(tmp_path):
    path = tmp_path / "t.jsonl"
    with gg.record(path, system="agent") as rec:
        rec.conversation("c1", user="Where is Paris?")
        rec.search("paris", [{"url": "https://x.org", "gain": 3}, "doc-7"], latency=0.5, tokens=10)
        with rec.iteration():
            rec.search("one", [{"link": "https://x.org", "name": "X"}])
            rec.search("two", [])
        rec.turn("And Rome?")
        rec.search(
            "rome", [{"page_content": "Rome is in Italy", "metadata": {"source": "https://r.org"}}]
        )
        rec.end("In Italy.")
        rec.conversation()
        rec.search("x", [])
    one, two = gg.read_traces(path)
    assert (one.conversation, one.system, two.conversation) == ("c1", "agent", "2")
    assert [len(i.searches) for i in one.turns[0].iterations] == [1, 2]
    assert one.turns[0].iterations[0].searches[0].latency == 0.5
    assert one.turns[0].iterations[1].searches[0].results[0].url == "https://x.org"
    assert one.turns[1].iterations[0].searches[0].results[0].content == "Rome is in Italy"
    assert one.turns[1].answer == "In Italy."
    assert repr(one) == "Trace('c1', 2 turns, 4 searches, 4 results)"


def test_record_without_conversations(tmp_path):
    with gg.record(tmp_path / "t.jsonl") as rec:
        rec.search("a", [{"id": "1", "gain": 2}])
        rec.search("b", [{"id": "1"}])
    gain = gg.good_gain(tmp_path / "t.jsonl")
    assert gain.figure("SRR").value == 0.5


def test_recorded_conversations_survive_a_crash(tmp_path):
    path = tmp_path / "t.jsonl"
    with pytest.raises(RuntimeError), gg.record(path) as rec:
        rec.search("a", [])
        raise RuntimeError
    assert len(list(gg.read_traces(path))) == 1
    with gg.record(path, append=True) as rec:
        rec.conversation("more")
        rec.search("b", [])
    assert len(list(gg.read_traces(path))) == 2


def test_misuse(tmp_path):
    with pytest.raises(UsageError, match="the recorder is not open"):
        gg.record(tmp_path / "t.jsonl").search("a", [])
    with pytest.raises(InputError, match="cannot write"):
        gg.record(tmp_path / "no" / "t.jsonl").__enter__()
