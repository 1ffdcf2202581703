"""Tables in text: Markdown, psql, CSV and TSV, if their columns are those of documents."""

from __future__ import annotations

import csv
import re
from typing import Any

from goodgain.traces.results.lists import is_header, table

_RULE = re.compile(r"[ \t]*[|+]?[ \t]*:?-{2,}[-:|+ \t]*$")


def read_tables(text: str) -> list[dict[str, Any]]:
    """The documents in the rows of tables."""
    lines = text.split("\n")
    results: list[dict[str, Any]] = []
    for number, line in enumerate(lines[1:], 1):
        if "-" in line[:8] and _RULE.match(line) and "|" in lines[number - 1]:
            header = _cells(lines[number - 1])
            if is_header(header):
                results += table(header, _rows(lines, number + 1))[0]
    return results or _read_separated(lines)


def _cells(line: str) -> list[str]:
    line = line.strip().replace("\\|", "\x00")
    line = line.removeprefix("|").removesuffix("|")
    return [_plain(cell.replace("\x00", "|").strip()) for cell in line.split("|")]


_LINK = re.compile(r"\[([^\]\n]*)\]\((https?://[^\s)]+)\)$")


def _plain(cell: str) -> str:
    link = _LINK.match(cell)
    return cell if link is None else link[2] if link[1] in ("", "link", "Link", link[2]) else cell


def _rows(lines: list[str], start: int) -> list[list[str]]:
    rows = []
    for line in lines[start:]:
        if "|" not in line:
            if line.strip():
                break
            continue
        if not _RULE.match(line):
            rows.append(_cells(line))
    return rows


def _read_separated(lines: list[str]) -> list[dict[str, Any]]:
    """CSV or TSV from the first line that is a header."""
    for number, line in enumerate(lines[:5]):
        for separator in ("\t", ",", ";", "|"):
            if separator not in line or len(line) > 1000:
                continue
            header = [name.strip().strip('"') for name in line.split(separator)]
            if not is_header(header):
                continue
            try:
                rows = list(
                    csv.reader(lines[number + 1 :], delimiter=separator, skipinitialspace=True)
                )
            except csv.Error:
                return []
            rows = [row for row in rows if any(cell.strip() for cell in row)]
            if rows and all(len(row) == len(header) for row in rows):
                return table(header, rows)[0]
    return []
