"""Files of benchmarks and research agents: BrowseComp-Plus, Search-R1, TREC Dynamic Domain."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from goodgain.errors import InputError
from goodgain.traces.builder import Builder, Context, dicts, query_of
from goodgain.traces.results import is_failure, results_of

if TYPE_CHECKING:
    from collections.abc import Iterator


# --- BrowseComp-Plus ---


def refuses_browsecomp(document: Any) -> str:
    """Why this is no run of BrowseComp-Plus; empty where it is."""
    if not isinstance(document, dict) or "query_id" not in document:
        return "no query_id"
    return "" if isinstance(document.get("result"), list) else "no list 'result'"


def read_browsecomp(
    documents: Iterator[tuple[str, Any]], context: Context
) -> Iterator[dict[str, Any]]:
    """One iteration a call; with `merge_adjacent`, calls without anything between them share one."""
    for _, d in documents:
        builder = Builder(d["query_id"], (d.get("metadata") or {}).get("model"))
        builder.user(d.get("query") if isinstance(d.get("query"), str) else None)
        between = True
        for item in dicts(d["result"]):
            if item.get("type") != "tool_call":
                between = True
                if item.get("type") == "output_text":
                    builder.answer(str(item.get("output") or ""))
                continue
            if not context.is_search(item.get("tool_name")):
                continue
            if between or not context.merge_adjacent:
                builder.step()
            between = False
            search = builder.search(None, item.get("tool_name"), query_of(item.get("arguments")))
            output = item.get("output")
            if is_failure(output):
                search["error"] = str(output)[:500]
            else:
                search["results"] = results_of(output)
        yield builder.build()


# --- Search-R1 ---

_PAIR = re.compile(
    r"<search>(?P<query>.*?)</search>\s*(?:<information>(?P<found>.*?)</information>)?", re.S
)
_ANSWER = re.compile(r"<answer>(.*?)</answer>", re.S)
_QUESTION = re.compile(r"Question:\s*(.*?)\s*(?:<\|im_end\|>|\n|$)", re.S)
_TEXT_NAMES = ("response", "output", "text", "trajectory", "completion", "sequence")


def refuses_search_r1(document: Any) -> str:
    """Why this is no transcript of Search-R1."""
    text = _transcript(document)
    if text is None:
        return "no transcript text"
    return (
        ""
        if "<search>" in text and ("<information>" in text or "<answer>" in text)
        else "no <search> and <information>"
    )


def _transcript(document: Any) -> str | None:
    if isinstance(document, str):
        return document
    if isinstance(document, dict):
        return next(
            (
                document[n]
                for n in _TEXT_NAMES
                if isinstance(document.get(n), str) and "<" in document[n]
            ),
            None,
        )
    return None


def read_search_r1(
    documents: Iterator[tuple[str, Any]], context: Context
) -> Iterator[dict[str, Any]]:
    """One iteration a pair of <search> and <information>; the tags in the prompt are skipped."""
    for where, document in documents:
        text = _transcript(document) or ""
        facts = document if isinstance(document, dict) else {}
        parts = re.split(r"(?=<\|im_start\|>system)", text) if "<|im_start|>" in text else [text]
        parts = [p for p in parts if "<search>" in p]
        for number, part in enumerate(parts, 1):
            prompt, marked, said = part.partition("<|im_start|>assistant")
            if not marked:
                prompt, said = (
                    "",
                    re.sub(
                        r"^.*?by <search> query </search>.*?(?=Question:)", "", part, flags=re.S
                    ),
                )
            name = facts.get(
                "id", facts.get("query_id", where if len(parts) == 1 else f"{where}/{number}")
            )
            builder = Builder(name, facts.get("model"))
            question = _QUESTION.search(prompt or said)
            builder.user(facts.get("question") or (question[1] if question else None))
            for pair in _PAIR.finditer(said):
                builder.step()
                search = builder.search(None, "search", pair["query"].strip())
                search["results"] = results_of(pair["found"] or "")
            answer = _ANSWER.search(said)
            builder.answer(answer[1].strip() if answer else None)
            yield builder.build()


# --- TREC Dynamic Domain ---


def refuses_trec_dd(document: Any) -> str:
    """Why this is no run of TREC Dynamic Domain."""
    if not isinstance(document, str):
        return "not tab-separated text"
    first = next((line for line in document.splitlines() if line.strip()), "").split("\t")
    if not 5 <= len(first) <= 6:
        return "no lines of five or six columns between tabs"
    return (
        ""
        if first[1].strip().isdigit() and _is_number(first[3])
        else "the second column is no iteration"
    )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def read_trec_dd(
    documents: Iterator[tuple[str, Any]], context: Context
) -> Iterator[dict[str, Any]]:
    """A conversation a topic; a result's gain is its best rating, its aspects the subtopics."""
    topics: dict[str, dict[int, list[dict[str, Any]]]] = {}
    for _, text in documents:
        for number, line in enumerate(text.splitlines(), 1):
            if not line.strip():
                continue
            columns = line.rstrip("\n").split("\t")
            try:
                if len(columns) < 5:
                    raise ValueError("fewer than five columns")
                topic, iteration, docno, score = (
                    columns[0],
                    int(columns[1]),
                    columns[2],
                    float(columns[3]),
                )
                result = {
                    "id": docno,
                    "ids": {"doc_id": docno},
                    "score": score,
                    **_ratings(columns[5:]),
                }
            except ValueError as error:
                where = f"{context.name}:{number}"
                problem = InputError(
                    f"the line '{line[:80]}' is not of TREC Dynamic Domain: {error}",
                    where=where,
                    hint="topic, iteration, docno, score, on_topic, subtopic:rating|..., between tabs",
                )
                if not context.skip_bad:
                    raise problem from None
                context.skipped += 1
                continue
            topics.setdefault(topic, {}).setdefault(iteration, []).append(result)
    for topic, iterations in topics.items():
        builder = Builder(topic)
        builder.user(None)
        for _, results in sorted(iterations.items()):
            builder.step()
            builder.search(None, None, None)["results"] = results
        yield builder.build()


def _ratings(columns: list[str]) -> dict[str, Any]:
    ratings = [
        r.rpartition(":") for r in (columns[0] if columns else "").strip().split("|") if ":" in r
    ]
    aspects = {name: float(rating) for name, _, rating in ratings}
    return {"gain": max(aspects.values()), "aspects": aspects} if aspects else {"gain": 0}
