"""Trace formats of other packages, found through their entry points."""

from __future__ import annotations

import json

import pytest

import goodgain as gg
from goodgain.cli import run
from goodgain.errors import UsageError
from goodgain.traces import open_traces
from goodgain.traces.registry import FORMATS, plugin_formats

GROUP = "goodgain.trace_formats"
SOURCE = """
from goodgain.traces import Builder, TraceFormat

def mismatch(document):
    return "" if isinstance(document, dict) and "hunts" in document else "no hunts"

def read(documents, context):
    for where, document in documents:
        builder = Builder(document.get("id", where), None, context)
        builder.start_turn(document.get("question"))
        for hunt in document["hunts"]:
            builder.start_iteration()
            call = builder.add_call(None, "hunt", hunt["for"], where=where, kind="retriever")
            builder.add_output(call, hunt["prey"], where=where)
        yield builder.build()

HUNTS = TraceFormat("hunts", "a hunter's log", mismatch, read)
"""
LOG = {"id": "c1", "question": "?", "hunts": [{"for": "fox", "prey": [{"id": "a"}, {"id": "b"}]}]}


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.json"
    path.write_text(json.dumps(LOG))
    return path


def test_a_plugin_format_is_detected_named_and_listed(install_plugin, log):
    install_plugin({GROUP: {"hunts": "their_hunts:HUNTS"}}, their_hunts=SOURCE)
    assert list(plugin_formats()) == ["hunts"]
    for name in (None, "hunts"):
        opened = open_traces(str(log), name)
        assert opened.format == "hunts"
        (trace,) = opened.read()
        assert trace["conversation"] == "c1"
    assert gg.good_gain(log).figure("R@i").value == 2
    (trace,) = gg.read_traces(log, format="hunts")
    assert [s.query for s in trace.searches()] == ["fox"]


def test_plugin_format_on_the_command_line(install_plugin, log, capsys):
    install_plugin({GROUP: {"hunts": "their_hunts:HUNTS"}}, their_hunts=SOURCE)
    assert run(["trace", str(log), "--from", "hunts", "--format", "csv"]) == 0
    assert "R@i,2" in capsys.readouterr().out
    assert run(["trace", str(log), "--from", "haunts"]) == 2
    error = capsys.readouterr().err
    assert "unknown trace format 'haunts'" in error and "hunts" in error.split("hint:")[1]


def test_nothing_is_loaded_for_a_builtin_format(install_plugin, tmp_path):
    import sys

    install_plugin({GROUP: {"hunts": "their_hunts:HUNTS"}}, their_hunts=SOURCE)
    path = tmp_path / "chat.json"
    path.write_text(json.dumps({"messages": [{"role": "user", "content": "?"}]}))
    assert open_traces(str(path)).format == "openai-chat"
    assert open_traces(str(path), "openai-chat").format == "openai-chat"
    assert "their_hunts" not in sys.modules


def test_a_broken_plugin_is_a_warning(install_plugin, log):
    install_plugin({GROUP: {"hunts": "their_hunts:HUNTS"}}, their_hunts="import no_such_module")
    with (
        pytest.warns(UserWarning, match=r"plug-in 'hunts' .*someones-package.*no_such_module"),
        pytest.raises(gg.GoodgainError, match="unrecognised trace format"),
    ):
        gg.good_gain(log)


def test_wrong_kind_of_plugin_is_a_warning(install_plugin, log):
    install_plugin({GROUP: {"hunts": "their_hunts:read"}}, their_hunts=SOURCE)
    with (
        pytest.warns(UserWarning, match="it is a function, not a TraceFormat"),
        pytest.raises(UsageError, match="unknown trace format 'hunts'"),
    ):
        open_traces(str(log), "hunts")


def test_a_builtin_format_is_not_replaced(install_plugin, log):
    install_plugin({GROUP: {"otel": "their_hunts:HUNTS"}}, their_hunts=SOURCE)
    with pytest.warns(UserWarning, match="plug-in 'otel' .*ignored: 'otel' is built in"):
        assert plugin_formats() == {}
    assert open_traces(str(log), "otel").format == FORMATS["otel"].name
