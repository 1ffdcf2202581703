"""`goodgain doctor`: what is wrong with the inputs before anybody believes a number from them."""

from __future__ import annotations

import math
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from goodgain.errors import GoodgainError, InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from goodgain.ranking.scores import RunScores

Level = Literal["ok", "note", "problem"]
DIFFERENCES = (0.01, 0.02, 0.05)
_DEPTH = 10


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the doctor's: a subject, what was seen, and what to do about it."""

    level: Level
    subject: str
    text: str
    advice: str = ""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """All findings about some inputs."""

    findings: tuple[Finding, ...]

    @property
    def problems(self) -> int:
        """The findings that make numbers wrong or meaningless."""
        return sum(finding.level == "problem" for finding in self.findings)

    def __str__(self) -> str:
        marks = {"ok": "ok     ", "note": "note   ", "problem": "PROBLEM"}
        lines = []
        for finding in self.findings:
            lines.append(f"{marks[finding.level]}  {finding.subject}: {finding.text}")
            if finding.advice:
                lines.append(f"         → {finding.advice}")
        return "\n".join(lines)

    def rows(self) -> tuple[list[str], list[list[Any]]]:
        """Columns and a row for each finding."""
        rows = [[f.level, f.subject, f.text, f.advice] for f in self.findings]
        return ["level", "subject", "finding", "advice"], rows


def examine(qrels: Any, runs: Sequence[Any], measure: str = "nDCG@10") -> Diagnosis:
    """Examine judgments and runs."""
    from goodgain.data.qrels import Qrels
    from goodgain.ranking.evaluator import several_runs

    swapped = _swapped(qrels, runs)
    if swapped:
        return Diagnosis((swapped,))
    judged = Qrels.of(qrels).to_dict()
    tables = {run.name: run.to_dict() for run in several_runs(list(runs))}
    findings: list[Finding] = [*_judgments(judged)]
    for name, run in tables.items():
        findings += _ids(name, judged, run)
    findings += _scored(qrels, runs, tables, judged, measure)
    return Diagnosis(tuple(findings))


def _swapped(qrels: Any, runs: Sequence[Any]) -> Finding | None:
    """Whether the files are in the wrong order: TREC runs have six columns, judgments four."""
    widths = [_columns(source) for source in (qrels, *runs)]
    if widths[0] == 6 and 4 in widths[1:]:
        return Finding(
            "problem", "inputs", f"'{qrels}' looks like a run, and a run like judgments",
            "judgments come first: goodgain doctor QRELS RUN...",
        )  # fmt: skip
    return None


def _columns(source: Any) -> int | None:
    import os

    if not isinstance(source, str | os.PathLike) or os.fspath(source) == "-":
        return None
    from goodgain.io.descriptors import read_at
    from goodgain.io.files import plain_descriptor

    try:
        descriptor = plain_descriptor(os.fspath(source))
    except GoodgainError:
        return None
    try:
        first = read_at(descriptor, 4096, 0).split(b"\n", 1)[0]
    finally:
        os.close(descriptor)
    return None if first[:1] in (b"{", b"[") or b"," in first else len(first.split())


def _judgments(judged: Mapping[str, Mapping[str, float]]) -> Iterator[Finding]:
    grades = [grade for documents in judged.values() for grade in documents.values()]
    if not grades:
        yield Finding("problem", "judgments", "there are none")
        return
    kinds = sorted(set(grades))
    relevant = [sum(g > 0 for g in documents.values()) for documents in judged.values()]
    text = f"{len(grades):,} for {len(judged):,} queries; grades {_some(kinds)}"
    yield Finding("ok", "judgments", text)
    if not any(grade > 0 for grade in kinds):
        yield Finding("problem", "grades", "no document is relevant", "is 0 the good grade here?")
    elif any(grade not in (0, 1) for grade in kinds) and any(g != int(g) for g in kinds):
        yield Finding(
            "note", "grades", "some are not whole numbers",
            "binary measures take 1 and above as relevant: set rel=... in the measure",
        )  # fmt: skip
    if max(kinds) > 10:
        yield Finding(
            "note", "grades", f"the highest is {max(kinds):g}",
            "an exponential gain of 2^grade - 1 is dominated by it; use a linear gain",
        )  # fmt: skip
    if min(kinds) < 0:
        yield Finding("note", "grades", "some are negative", "they count as not relevant")
    if 0 not in kinds:
        yield Finding(
            "note", "grades", "nothing was judged not relevant",
            "unjudged and not relevant cannot be distinguished, so Bpref and judged shares mean little",
        )  # fmt: skip
    empty = sum(count == 0 for count in relevant)
    if empty:
        yield Finding(
            "note", "queries", f"{empty:,} of {len(judged):,} have no relevant document",
            "most measures are undefined or 0 for them whatever is retrieved",
        )  # fmt: skip


def _some(values: Sequence[float]) -> str:
    texts = [f"{value:g}" for value in values]
    return ", ".join(texts) if len(texts) <= 8 else f"{', '.join(texts[:4])} ... {texts[-1]}"


# --- ids ---


def _ids(
    name: str, judged: Mapping[str, Mapping[str, float]], run: Mapping[str, Mapping[str, float]]
) -> Iterator[Finding]:
    yield from _match(name, "queries", set(run), set(judged))
    common = [query for query in judged if query in run]
    documents = {doc for query in common for doc in list(run[query])}
    known = {doc for query in common for doc in judged[query]}
    if common:
        yield from _match(name, "documents", documents, known)


def _match(name: str, kind: str, own: set[str], known: set[str]) -> Iterator[Finding]:
    """Ids that (nearly) never match, though they would in another spelling."""
    shared = len(own & known)
    smaller = min(len(own), len(known))
    if smaller and shared >= 0.5 * smaller:
        return
    for change, spell in _SPELLINGS.items():
        spelled = {spell(i) for i in known}
        would = sum(spell(i) in spelled for i in own)
        if would > shared and would >= 0.1 * smaller:
            mine = next(i for i in sorted(own) if spell(i) in spelled and i not in known)
            theirs = next(i for i in sorted(known) if spell(i) == spell(mine))
            yield Finding(
                "problem", f"{name}, {kind}",
                f"{shared:,} of {len(own):,} are judged; {would:,} would be if {change} did not count: "
                f"'{mine}' in the run, '{theirs}' in the judgments",
                "write the ids the same way in both",
            )  # fmt: skip
            return
    if not shared:
        mine, theirs = min(own, default=""), min(known, default="")
        yield Finding(
            "problem", f"{name}, {kind}",
            f"none is judged: '{mine}' in the run, '{theirs}' in the judgments",
            "are these files of the same collection?",
        )  # fmt: skip


_SPELLINGS: dict[str, Callable[[str], str]] = {
    "case": str.casefold,
    "blanks": lambda i: "".join(i.split()),
    "leading zeros": lambda i: i.lstrip("0") or "0",
    "the Unicode form": lambda i: unicodedata.normalize("NFKC", i),
    "the type of number": lambda i: i.removesuffix(".0"),
    "the folder or prefix": lambda i: i.replace("\\", "/").rpartition("/")[2].rpartition(":")[2],
    "the ending": lambda i: i.rpartition(".")[0] or i,
    "the chunk": lambda i: i.partition("#")[0].rpartition("_")[0] or i,
}


# --- runs ---


def _scored(
    qrels: Any,
    runs: Sequence[Any],
    tables: Mapping[str, Mapping[str, Mapping[str, float]]],
    judged: Mapping[str, Mapping[str, float]],
    measure: str,
) -> Iterator[Finding]:
    from goodgain.ranking import evaluate

    try:
        evaluation = evaluate(qrels, list(runs), [measure])
    except InputError as error:
        yield Finding("problem", "runs", error.message, error.hint)
        return
    for run in evaluation.runs:
        yield from _coverage(run)
        yield from _ties(run.name, tables[run.name], judged)
        yield _judged_depth(run.name, tables[run.name], judged)
    yield from _power(evaluation, measure)


def _coverage(run: RunScores) -> Iterator[Finding]:
    c = run.coverage
    if c.missing_queries:
        share = c.missing_queries / max(1, c.judged_queries)
        yield Finding(
            "problem" if share > 0.5 else "note", run.name,
            f"{c.missing_queries:,} of {c.judged_queries:,} judged queries are not in the run",
            "they count as 0 (missing=skip leaves them out)",
        )  # fmt: skip
    if c.unjudged_queries:
        yield Finding("note", run.name, f"{c.unjudged_queries:,} queries have no judgments")
    level: Level = "ok" if c.judged_at_10 >= 0.9 else "note" if c.judged_at_10 >= 0.3 else "problem"
    yield Finding(
        level, run.name, f"{c.judged_at_10:.0%} of the first ten results are judged",
        "" if level == "ok" else "compare with unjudged=bounds, or judge what only this run has",
    )  # fmt: skip


def _ties(
    name: str,
    run: Mapping[str, Mapping[str, float]],
    judged: Mapping[str, Mapping[str, float]],
) -> Iterator[Finding]:
    tied = constant = 0
    queries = [query for query in run if query in judged]
    for query in queries:
        scores = sorted(run[query].values(), reverse=True)
        top = scores[: _DEPTH + 1]
        tied += len(set(top)) < len(top)
        constant += len(scores) > 1 and len(set(scores)) == 1
    if constant:
        yield Finding(
            "problem" if constant == len(queries) else "note", name,
            f"all scores are equal in {constant:,} of {len(queries):,} queries",
            "the order is then that of the ids: write scores, or rank as -score",
        )  # fmt: skip
    elif tied:
        yield Finding(
            "note", name, f"{tied:,} of {len(queries):,} queries have ties in the first {_DEPTH}",
            "ties=bounds shows how much they matter",
        )  # fmt: skip


def _judged_depth(
    name: str,
    run: Mapping[str, Mapping[str, float]],
    judged: Mapping[str, Mapping[str, float]],
) -> Finding:
    """The rank down to which nearly everything was judged: how deep the pool went."""
    lists = [
        [doc in judged[query] for doc, _ in sorted(docs.items(), key=lambda p: (p[1], p[0]), reverse=True)]
        for query, docs in run.items()
        if query in judged
    ]  # fmt: skip
    depth = 0
    longest = max(map(len, lists), default=0)
    for rank in range(min(longest, 1000)):
        seen = [each[rank] for each in lists if len(each) > rank]
        if sum(seen) < 0.95 * len(seen):
            break
        depth = rank + 1
    advice = (
        "" if depth >= _DEPTH else "measures with a deeper cut-off depend on unjudged documents"
    )
    return Finding(
        "ok" if depth >= _DEPTH else "note", name, f"judged down to rank {depth:,}", advice
    )


def _power(evaluation: Any, measure: str) -> Iterator[Finding]:
    import numpy as np

    from goodgain.comparison import power

    runs = evaluation.runs
    queries = len(runs[0].queries)
    if len(runs) < 2:
        yield Finding(
            "note", "power", "one run: add a second to see what difference these queries can show"
        )
        return
    a, b = (np.array(run.column(measure), dtype=float) for run in runs[:2])
    differences = (b - a)[~np.isnan(b - a)]
    if len(differences) < 2 or not differences.any():
        yield Finding(
            "note", "power", f"the first two runs have the same {measure} for every query"
        )
        return
    sd = float(differences.std(ddof=1))
    needed = {d: power(sd=sd, difference=d, power=0.8).queries for d in DIFFERENCES}
    seen = power(sd=sd, queries=len(differences), power=0.8).difference
    text = f"{len(differences):,} queries show a difference in {measure} of {seen:.3f} four times out of five"
    more = ", ".join(f"{d:g} needs {count:,}" for d, count in needed.items())
    yield Finding("ok" if seen <= DIFFERENCES[-1] else "note", "power", f"{text}; {more}")
    yield _test(differences, len(runs), queries)


def _test(differences: Any, runs: int, queries: int) -> Finding:
    """Which test to use, and why."""
    n = len(differences)
    changed = int((differences != 0).sum())
    spread = float(differences.std(ddof=1))
    skew = float((((differences - differences.mean()) / spread) ** 3).mean()) if spread else 0.0
    if changed < 6:
        name, why = "randomisation", f"only {changed} queries differ: no test can show much"
    elif n < 30 or abs(skew) > 3 / math.sqrt(n) * 2:
        name, why = (
            "randomisation",
            f"{n} queries"
            + (
                f" with skewed differences (skewness {skew:.1f})"
                if n >= 30
                else ": exact, no assumption"
            ),
        )
    else:
        name, why = "t", f"{n:,} queries with well-behaved differences"
    more = f"; {runs - 1} comparisons need a correction (Holm)" if runs > 2 else ""
    return Finding("ok", "test", f"use --test {name}: {why}{more}")


# --- traces ---


def examine_traces(path: str, **options: Any) -> Diagnosis:
    """Examine a file of traces: what was read, what was not, and what the labels allow."""
    from goodgain.traces import read_traces

    reader = read_traces(path, **options)
    conversations = searching = results = labelled = 0
    gains: set[float] = set()
    for trace in reader:
        conversations += 1
        searches = list(trace.searches())
        searching += bool(searches)
        for search in searches:
            results += len(search.results)
            own = [r.gain for r in search.results if r.gain is not None]
            labelled += len(own)
            gains.update(own)
    ledger = reader.ledger
    findings = [
        Finding(
            "ok" if conversations else "problem",
            "conversations",
            f"{conversations:,}, of which {conversations - searching:,} never searched",
        )
    ]
    if ledger.unread:
        findings.append(
            Finding(
                "problem",
                "unread",
                f"{ledger.unread:,} of {ledger.searches:,} searches have results that could not be read",
                "figures are bounds; see --ledger of goodgain trace for what they hold",
            )
        )
    skipped = [tool for tool, account in ledger.tools if account == "not a search"]
    if skipped:
        findings.append(
            Finding(
                "note",
                "tools",
                f"not counted as searches: {', '.join(sorted(skipped)[:8])}",
                "name those that search with --search-tool",
            )
        )
    counted = sorted({t for t, account in ledger.tools if account in ("search", "empty", "failed")})
    findings.append(Finding("ok", "tools", f"counted as searches: {', '.join(counted) or 'none'}"))
    failed = ledger.count("call", "failed")
    if failed:
        findings.append(Finding("note", "failed", f"{failed:,} searches failed"))
    share = labelled / results if results else 0.0
    findings.append(
        Finding(
            "ok" if share >= 0.9 else "note" if labelled else "problem",
            "labels",
            f"{share:.0%} of {results:,} results have a gain",
            "" if share >= 0.9 else "pass --labels, or label them with goodgain label",
        )
    )
    if gains and max(gains) < 2:
        findings.append(
            Finding(
                "problem",
                "gains",
                f"the highest is {max(gains):g}, below the threshold of 2",
                "nothing counts as good: use --threshold 1",
            )
        )
    return Diagnosis(tuple(findings))
