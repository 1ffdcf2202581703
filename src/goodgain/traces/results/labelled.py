"""Blocks of labelled lines: "Title: ...", "URL: ...", in any order, and the same on one line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from goodgain.traces.results.names import field_of, role_of
from goodgain.traces.results.objects import read_object
from goodgain.traces.results.segments import segments

if TYPE_CHECKING:
    from collections.abc import Iterable

# Labels that are not names of fields, or not English.
_LABELS = {
    "page": "title", "web page": "url", "website": "url", "web address": "url", "address": "url", "published": "date",
    "publication date": "date", "date": "date", "authors": "author", "author": "author", "by": "author",
    "node id": "node_id", "source": "source", "sources": "source", "document": "title", "result": "title",
    "article": "title", "paper": "title", "text preview": "text", "preview": "snippet", "key points": "snippet",
    "titel": "title", "titre": "title", "título": "title", "titulo": "title", "titolo": "title", "标题": "title",
    "標題": "title", "タイトル": "title", "제목": "title", "заголовок": "title", "название": "title", "überschrift": "title",
    "lien": "url", "enlace": "url", "adresse": "url", "链接": "url", "鏈接": "url", "网址": "url", "リンク": "url",
    "링크": "url", "ссылка": "url", "indirizzo": "url", "collegamento": "url", "ligação": "url", "endereço": "url",
    "inhalt": "content", "contenu": "content", "contenido": "content", "contenuto": "content", "conteúdo": "content",
    "内容": "content", "本文": "content", "내용": "content", "содержание": "content", "текст": "content", "texte": "content",
    "texto": "content", "testo": "content",
    "zusammenfassung": "summary", "résumé": "summary", "resumen": "summary", "riassunto": "summary", "resumo": "summary",
    "摘要": "summary", "概要": "summary", "要約": "summary", "요약": "summary", "описание": "summary", "beschreibung": "summary",
    "descripción": "summary", "descrição": "summary", "descrizione": "summary",
    "auszug": "snippet", "extrait": "snippet", "extracto": "snippet", "estratto": "snippet", "スニペット": "snippet",
    "片段": "snippet", "фрагмент": "snippet", "quelle": "source", "fuente": "source", "fonte": "source", "来源": "source",
    "來源": "source", "出典": "source", "출처": "source", "источник": "source",
}  # fmt: skip
_LINE = re.compile(
    r"[ \t>|]{0,40}(?P<mark>(?:[-*•+–#]{1,6}|\[?\(?\d{1,4}[\].):]{1,2})[ \t]+)?[ \t]{0,8}"
    r"[^\w\s\"'(\[{<]{0,4}[ \t]?[\"']?(?P<label>[^\W\d_][\w '/-]{0,30}?)[\"']?[*_]{0,2}[ \t]*[:：＝=][*_]{0,2}(?:[ \t]+|$|(?=[^\s/]))(?P<value>.*)"
)
_HEAD = re.compile(
    r"[ \t]{0,8}(?:[#*]{0,6}[ \t]*)?\[?(?:(?:search[ \t])?(?:result|document|doc|source|passage|chunk|item|hit|entry|article|paper|page)[ \t]?#?\d{1,5}"
    r"|\(?\d{1,4}[\].):]{1,2})\]?\*{0,2}(?P<rest>[^\n]{0,300})$",
    re.I,
)
_SEPARATOR = re.compile(r"[ \t]{0,8}(?:[-=*_~#]{3,}|```\w{0,20})[ \t]*$")
_INLINE = re.compile(
    r"(?:^|(?<=[\n,;|\[])|(?<=[\n,;|]\s)|(?<=\s\|\s))[ \t*-]{0,4}(?P<label>title|url|link|href|snippet|content|source|description|summary|text|body|date|score|id)"
    r"\*{0,2}[ \t]*:\*{0,2}[ \t]*(?=\S)",
    re.I,
)
_KNOWN = {
    "url",
    "title",
    "name",
    "content",
    "snippet",
    "summary",
    "id",
    "doc",
    "ids",
    "source",
    "score",
    "path",
}
_TEXTS = {"content", "snippet", "summary"}
Record = dict[str, str]


def _role(label: str) -> str:
    """The field that a label names; "" if it is not one of a document."""
    name = label.strip(" '\"").casefold()
    known = _LABELS.get(name)
    if known:
        return known
    role, _, normal_name, listed = field_of(name)
    return normal_name if role in _KNOWN or listed or role == "neutral" else ""


def read_labelled(text: str) -> list[dict[str, Any]]:
    """The documents in blocks of labelled lines."""
    if ":" not in text and "：" not in text:
        return []
    lines = text.split("\n")
    if _is_inline(lines):
        inline = _results(_inline_records(text))
        if inline:
            return inline
    return _results(_records(lines))


def _is_inline(lines: list[str]) -> bool:
    """Whether the first lines with labels have several of them each."""
    counts = [sum(1 for _ in _INLINE.finditer(line)) for line in lines[:200]]
    labelled = [count for count in counts if count]
    return bool(labelled) and 2 * sum(count >= 2 for count in labelled) > len(labelled)


def _records(lines: list[str]) -> list[Record]:
    """One record for each block: a label that is there already, or a separator, starts the next."""
    records: list[Record] = []
    current: Record = {}
    label = ""
    heading = ""
    first = ""
    for line in lines:
        if _SEPARATOR.match(line[:200]):
            if current:
                records.append(current)
            current, label, heading = {}, "", ""
            continue
        match = _LINE.match(line) if ":" in line or "：" in line or "=" in line else None
        role = _role(match["label"]) if match else ""
        if match and role and role_of(role) != "neutral":
            if role in current or (match["mark"] and current and role == first):
                records.append(current)
                current = {}
            if not current and heading and role_of(role) != "title":
                current["title"] = heading
            heading = ""
            current[role] = match["value"].strip().strip("`*: ").rstrip(",").strip("\"'").strip()
            first = first or role
            label = role
            continue
        if match and role:  # a date or an author: it ends the field before it
            if role in current and role == first:
                records.append(current)
                current = {}
            current.setdefault(role, match["value"].strip())
            first = first or role
            label = role
            continue
        head = _HEAD.match(line) if len(line) < 400 else None
        if head:
            if current:
                records.append(current)
            current, label = {}, ""
            heading = head["rest"].strip(" :.)-*[]")
            continue
        if label:
            _continue(current, label, line, bool(match))
    if current:
        records.append(current)
    return [{k: v.strip() for k, v in record.items()} for record in records]


def _continue(current: Record, label: str, line: str, labelled: bool) -> None:
    """Add a line without a label of its own: texts run on, after other fields it is the text."""
    if role_of(label) not in _TEXTS and current[label]:
        if labelled and not current.get("text"):
            return  # a field that is not known
        label = "text"
        current.setdefault(label, "")
    current[label] = f"{current[label]}\n{line}" if current[label] else line.strip()


def _inline_records(text: str) -> list[Record]:
    """snippet: ..., title: ..., link: ..., repeated on one line."""
    records: list[Record] = []
    current: Record = {}
    for mark, segment in segments(_INLINE, text):
        label = mark["label"].casefold()
        if label in current:
            records.append(current)
            current = {}
        current[label] = segment.strip().strip(",;|[] ")
    return [*records, current] if current else records


def _results(records: Iterable[Record]) -> list[dict[str, Any]]:
    """The records that are documents, if most of them are."""
    results, others = [], 0
    for record in records:
        held = {k: _address(k, v) for k, v in record.items() if v}
        roles = {role_of(k) for k in held} & _KNOWN
        result, strength = read_object(dict(held))
        text = "content" in result or "snippet" in result
        identified = any(n in result for n in ("url", "ids", "title", "id")) or "path" in roles
        if (
            len(roles) >= 2
            and strength >= 2
            and (text or "url" in result or "ids" in result)
            and identified
        ):
            results.append(result)
        elif roles:
            others += 1
    return results if len(results) >= others else []


def _address(label: str, value: str) -> str:
    """The value of a field; of one for a URL, only that."""
    if role_of(label) in ("url", "source") and "://" in value[:40]:
        return value.split(None, 1)[0].strip("<>()[]")
    return value
