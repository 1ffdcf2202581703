"""NIST's own code, version 9, as pytrec_eval's extension contains it: its readers and its measures.

pytrec_eval offers only measures over plain qrels; the compiled code also has preferences and judgment
groups. This drives it the way trec_eval's main function does.
"""

from __future__ import annotations

import ctypes
from ctypes import POINTER, Structure, byref, c_char_p, c_double, c_int, c_long, c_void_p
from functools import cache
from itertools import count
from pathlib import Path

import pytest


class MeasureArgument(Structure):
    _fields_ = [("name", c_char_p), ("parameters", c_char_p)]


class Settings(Structure):
    _fields_ = [
        ("query_flag", c_long), ("summary_flag", c_long), ("debug_level", c_long),
        ("debug_query", c_char_p), ("relation_flag", c_long), ("average_complete", c_long),
        ("judged_only", c_long), ("documents", c_long), ("level", c_long), ("depth", c_long),
        ("rel_format", c_char_p), ("results_format", c_char_p), ("zscores", c_long),
        ("arguments", POINTER(MeasureArgument)),
    ]  # fmt: skip


class Value(Structure):
    _fields_ = [("name", c_char_p), ("value", c_double)]


class Evaluation(Structure):
    _fields_ = [
        ("query", c_char_p), ("queries", c_long), ("values", POINTER(Value)), ("size", c_long),
        ("capacity", c_long),
    ]  # fmt: skip


class Results(Structure):
    _fields_ = [("query", c_char_p), ("run", c_char_p), ("format", c_char_p), ("data", c_void_p)]


class AllResults(Structure):
    _fields_ = [("size", c_long), ("capacity", c_long), ("items", POINTER(Results))]


class Judged(Structure):
    _fields_ = [("query", c_char_p), ("format", c_char_p), ("data", c_void_p)]


class AllJudged(Structure):
    _fields_ = [("size", c_long), ("capacity", c_long), ("items", POINTER(Judged))]


class Measure(Structure):
    _fields_ = [
        ("name", c_char_p), ("text", c_char_p), ("init", c_void_p), ("calc", c_void_p),
        ("acc", c_void_p), ("avg", c_void_p), ("single", c_void_p), ("final", c_void_p),
        ("parameters", c_void_p), ("place", c_long),
    ]  # fmt: skip


_INIT = ctypes.CFUNCTYPE(c_int, c_void_p, POINTER(Measure), POINTER(Evaluation))
_CALC = ctypes.CFUNCTYPE(
    c_int, c_void_p, POINTER(Judged), POINTER(Results), POINTER(Measure), POINTER(Evaluation)
)
_READERS = {
    "qrels": "te_get_qrels", "qrels_jg": "te_get_qrels_jg", "prefs": "te_get_prefs",
    "qrels_prefs": "te_get_qrels_prefs",
}  # fmt: skip
# It keeps the values of the last query, and what frees them leaves pointers behind: no query twice.
_NUMBERS = count()


@cache
def library() -> ctypes.CDLL:
    extension = pytest.importorskip("pytrec_eval_ext")
    code = ctypes.CDLL(extension.__file__)
    if not hasattr(code, "form_prefs_counts"):
        pytest.skip("pytrec_eval was built without exported symbols")
    return code


def measures_of(code: ctypes.CDLL) -> dict[str, Measure]:
    count = c_int.in_dll(code, "te_num_trec_measures").value
    table = (POINTER(Measure) * count).in_dll(code, "te_trec_measures")
    return {pointer.contents.name.decode(): pointer.contents for pointer in table}


def marked(text: str, mark: str) -> str:
    """The lines with a mark before every query."""
    return "".join(f"{mark}{line}\n" for line in text.splitlines())


def per_query(
    folder: Path,
    form: str,
    judged_text: str,
    run_text: str,
    measures: dict[str, str | None],
    *,
    level: int = 1,
    judged_only: bool = False,
    depth: int = 2**62,
    documents: int = 0,
) -> dict[str, dict[str, float]]:
    """{query: {printed name: value}} of the queries that both files have, in trec_eval's order."""
    code = library()
    mark = f"{next(_NUMBERS)}:"
    judged_path, run_path = str(folder / "judged"), str(folder / "run")
    Path(judged_path).write_text(marked(judged_text, mark))
    Path(run_path).write_text(marked(run_text, mark))
    named = [(n, p) for n, p in measures.items() if p is not None]
    arguments = (MeasureArgument * (len(named) + 1))(
        *((n.encode(), p.encode()) for n, p in named), (None, None)
    )
    settings = Settings(
        summary_flag=1, relation_flag=1, judged_only=judged_only, level=level, depth=depth,
        documents=documents, rel_format=form.encode(), results_format=b"trec_results",
        arguments=arguments,
    )  # fmt: skip
    judged, results = AllJudged(), AllResults()
    assert getattr(code, _READERS[form])(byref(settings), judged_path.encode(), byref(judged)) == 1
    assert code.te_get_trec_results(byref(settings), run_path.encode(), byref(results)) == 1
    evaluation = Evaluation(query=b"all")
    table = measures_of(code)
    chosen = [m for name, m in table.items() if name in measures]
    kept = [(m, m.parameters) for m in chosen]
    for measure in chosen:
        measure.place = -2
        assert _INIT(measure.init)(byref(settings), measure, byref(evaluation)) == 1
    names = [evaluation.values[i].name.decode() for i in range(evaluation.size)]
    by_query = {results.items[i].query: results.items[i] for i in range(results.size)}
    values: dict[str, dict[str, float]] = {}
    for i in range(judged.size):
        own = judged.items[i]
        if own.query not in by_query:
            continue
        for v in range(evaluation.size):
            evaluation.values[v].value = 0.0
        for measure in chosen:
            status = _CALC(measure.calc)(
                byref(settings), own, by_query[own.query], measure, byref(evaluation)
            )
            assert status >= 0, (measure.name, own.query)
        row = [evaluation.values[v].value for v in range(evaluation.size)]
        values[own.query.decode().removeprefix(mark)] = dict(zip(names, row, strict=True))
    for measure, parameters in kept:
        measure.place, measure.parameters = -1, parameters
    return values
