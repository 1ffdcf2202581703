"""From trec_eval's files to the values of every query, for each format of judgments (-R)."""

from __future__ import annotations

import math
import os

from goodgain.compat import below_zero
from goodgain.compat.trec_eval import WrongFormatError
from goodgain.errors import DuplicateError, core_errors
from goodgain.io.descriptors import read_at
from goodgain.records import dataclass, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from goodgain._core import Qrels as CoreQrels
    from goodgain._core import Scores
    from goodgain.compat.trec_eval import Settings
    from goodgain.compat.trec_measures import Request

    # {query: [(document, score)]}, in the order of the file
    Lists = dict[str, list[tuple[str, float]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """The values of all judged queries, and the name of the run from its last line."""

    queries: list[str]
    in_run: list[bool]
    columns: list[list[float]]  # one for each of the request's specifications
    run_id: str
    relevant: list[float] = field(default_factory=list)  # documents of a grade above 0


def _require_format(request: Request, settings: Settings) -> None:
    form = "prefs" if settings.format == "qrels_prefs" else settings.format
    for value in request.values:
        needed = value.measure.format
        if needed not in (form, "any"):
            names = {"qrels": "official", "prefs": "prefs", "qrels_jg": "qrels_jg"}
            raise WrongFormatError(
                f"measure '{value.measure.name}' needs -R {needed}, not -R {settings.format}",
                hint=f"for -R {settings.format}: -m {names[form]}",
            )


# --- qrels ---


def _plain(settings: Settings, request: Request, judged_path: str, run_path: str) -> Table:
    qrels = _read_qrels(judged_path)
    _require_format(request, settings)
    if settings.level < 0:
        lists, run_id = _read_run(run_path)
        grades = {query: qrels.judgments_of(query) or {} for query in qrels.queries()}
        relevant = [sum(float(g > 0) for g in judged.values()) for judged in grades.values()]
        return Table(
            queries=list(grades),
            in_run=[query in lists for query in grades],
            columns=_columns(settings, request, grades, lists),
            run_id=run_id,
            relevant=relevant,
        )
    scores, run_id = _scores_of_file(settings, list(request.specs), qrels, run_path)
    columns = [scores.column(i) for i in range(scores.width)]
    return Table(
        queries=qrels.queries(),
        in_run=scores.in_run(),
        columns=columns[:-1],
        run_id=run_id,
        relevant=columns[-1],
    )


def _columns(
    settings: Settings, request: Request, grades: dict[str, dict[str, float]], lists: Lists
) -> list[list[float]]:
    """The values of judgments and lists in memory, in the order of the judgments."""
    if settings.level >= 0:
        scores = _scores(settings, list(request.specs), _core_qrels(grades), lists)
        return [scores.column(i) for i in range(len(request.specs))]
    specs = [{**spec, "rel": max(spec.get("rel", 1.0), 0.0)} for spec in request.specs]
    scores = _scores(settings, specs, _core_qrels(grades), lists)
    columns = [scores.column(i) for i in range(len(specs))]
    invented = {q: [(below_zero.INVENTED, 1.0)] for q in grades if settings.complete}
    lists = {**invented, **lists}
    listed = below_zero.grades_of_lists(grades, lists)
    scores = _scores(settings, list(request.specs), _core_qrels(listed), lists)
    infinite = [below_zero.divides_by_zero(settings, listed[q], lists.get(q, ())) for q in grades]
    for value in request.values:
        for i in value.columns:
            if value.measure.name in below_zero.INFINITE:
                pairs = zip(scores.column(i), infinite, strict=True)
                columns[i] = [math.inf if divided else number for number, divided in pairs]
            elif value.measure.name in below_zero.FORWARDS:
                columns[i] = scores.column(i)
            elif value.measure.name in below_zero.BACKWARDS:
                columns[i] = [
                    below_zero.backwards(request.specs[i], settings, listed[q], lists.get(q, ()))
                    for q in grades
                ]
    return columns


def _read_qrels(path: str) -> CoreQrels:
    from goodgain import _core
    from goodgain.data import Qrels
    from goodgain.io.files import is_text, open_lines

    if not is_text(path):
        return Qrels(path).core
    with core_errors():
        file = open_lines(path, "qrels", None)
        return _core.Qrels.from_file(file.fd, file.name, {**file.format, "as_trec_eval": True})


def _core_qrels(grades: dict[str, dict[str, float]]) -> CoreQrels:
    from goodgain import _core

    with core_errors():
        return _core.Qrels.from_dict(grades, "qrels", False)


# --- preferences ---


def _preferences(settings: Settings, request: Request, judged_path: str, run_path: str) -> Table:
    from goodgain.compat.preferences import read, values

    judged = read(judged_path, has_subgroups=settings.format == "prefs")
    lists, run_id = _read_run(run_path)
    _require_format(request, settings)
    rows = [
        values(groups, _ranking(settings, query, lists.get(query, []), run_path), judged_path)
        if query in lists or settings.complete
        else {}
        for query, groups in judged.items()
    ]
    names: dict[int, str] = {
        i: v.measure.name for v in request.values for i in v.columns
    }  # num_q counts queries
    return Table(
        queries=list(judged),
        in_run=[query in lists for query in judged],
        columns=[[row.get(names[i], 1.0) for row in rows] for i in range(len(request.specs))],
        run_id=run_id,
    )


def _ranking(
    settings: Settings, query: str, scored: list[tuple[str, float]], where: str
) -> Iterable[str]:
    """The documents of one list; of equal scores the smaller id first, only for preferences."""
    ordered = sorted(
        scored, key=lambda pair: (-pair[1], pair[0].encode("utf-8", "surrogateescape"))
    )
    ranking = [doc for doc, _ in ordered[: settings.depth]]
    if len(set(ranking)) < len(ranking):
        doc = next(d for i, d in enumerate(ranking) if d in ranking[:i])
        raise DuplicateError(
            f"duplicate document '{doc}' for query '{query}'",
            where=where,
            hint="keep one of the two",
        )
    return ranking


# --- judgment groups ---


def _groups(settings: Settings, request: Request, judged_path: str, run_path: str) -> Table:
    from goodgain.compat.judgment_groups import read, rounds

    judged = read(judged_path)
    lists, run_id = _read_run(run_path)
    _require_format(request, settings)
    sums = {query: [0.0] * len(request.specs) for query in judged}
    for grades in rounds(judged):
        for i, column in enumerate(_columns(settings, request, grades, lists)):
            for query, value in zip(grades, column, strict=True):
                sums[query][i] += value
    means = [[total / len(judged[query]) for total in sums[query]] for query in judged]
    return Table(
        queries=list(judged),
        in_run=[query in lists for query in judged],
        columns=[[row[i] for row in means] for i in range(len(request.specs))],
        run_id=run_id,
    )


# --- runs ---


def _policy(settings: Settings) -> dict[str, Any]:
    policy: dict[str, Any] = {
        "ties": "docid",
        "missing": "invented" if settings.complete else "skip",
        "unjudged": "remove-negative" if settings.judged_only else "nonrelevant",
        "duplicates": "error",
        "scores": "double",
        "may_be_disjoint": True,
    }
    if settings.depth is not None:
        policy["depth"] = settings.depth
    return policy


def _prepared(settings: Settings, specs: list[dict[str, Any]], qrels: CoreQrels) -> Any:
    from goodgain import _core

    # The last column counts grades above 0, whatever the level: -c sums it for num_rel.
    plan = _core.Plan([*specs, {"kernel": "num_rel"}], _policy(settings))
    return _core.Prepared(qrels, plan, settings.threads)


def _scores(
    settings: Settings, specs: list[dict[str, Any]], qrels: CoreQrels, lists: Lists
) -> Scores:
    with core_errors():
        scores: Scores = _prepared(settings, specs, qrels).dict(lists, "run", False)
    return scores


def _scores_of_file(
    settings: Settings, specs: list[dict[str, Any]], qrels: CoreQrels, path: str
) -> tuple[Scores, str]:
    from goodgain.data import Run
    from goodgain.io.files import is_text, open_lines

    with core_errors():
        prepared = _prepared(settings, specs, qrels)
        if not is_text(path):
            run = Run(path)
            return run.scores(prepared), run.name
        file = open_lines(path, "run", None)
        again = os.dup(file.fd)
        try:
            scores = prepared.file(file.fd, file.name, {**file.format, "as_trec_eval": True})
            return scores, _last_run_id(again)
        finally:
            os.close(again)


def _read_run(path: str) -> tuple[Lists, str]:
    from goodgain import _core
    from goodgain.data import Run
    from goodgain.io.files import is_text, open_lines

    if is_text(path):
        with core_errors():
            file = open_lines(path, "run", None)
            again = os.dup(file.fd)
            try:
                line_format = {**file.format, "as_trec_eval": True}
                columns = _core.file_rows(file.fd, file.name, line_format, True)[:3]
                run_id = _last_run_id(again)
            finally:
                os.close(again)
    else:
        run = Run(path)
        columns, run_id = run.rows(), run.name
    lists: Lists = {}
    for query, doc, score in zip(*columns, strict=True):
        lists.setdefault(query, []).append((doc, score))
    return lists, run_id


def _last_run_id(fd: int) -> str:
    """The sixth column of the last line that has one."""
    end = os.fstat(fd).st_size
    for size in (1 << 12, 1 << 20, end):
        start = max(end - size, 0)
        lines = read_at(fd, end - start, start).split(b"\n")
        for line in reversed(lines if start == 0 else lines[1:]):
            fields = line.split()
            if len(fields) >= 6 and not fields[0].startswith(b"#"):
                return fields[5].decode("utf-8", "surrogateescape")
    return ""


TABLES: dict[str, Callable[[Settings, Request, str, str], Table]] = {
    "qrels": _plain,
    "qrels_jg": _groups,
    "prefs": _preferences,
    "qrels_prefs": _preferences,
}
