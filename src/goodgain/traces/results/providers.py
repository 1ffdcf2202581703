"""Exact readers for outputs whose form is known and that structure alone would misread."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goodgain.traces.results.objects import read_object

if TYPE_CHECKING:
    from collections.abc import Callable

Results = list[dict[str, Any]]


def read_exactly(value: Any) -> tuple[Results, str] | None:
    """The results and the name of the reader; None if no reader knows the form."""
    for name, reader in _READERS.items():
        try:
            results = reader(value)
        except (KeyError, TypeError, AttributeError, IndexError):
            continue
        if results is not None:
            return results, name
    return None


def _canonical(item: dict[str, Any], **known: Any) -> dict[str, Any]:
    return {**read_object(item)[0], **{k: v for k, v in known.items() if v}}


def _opensearch_array(value: Any) -> Results | None:
    """["query", [titles], [descriptions], [URLs]]"""
    if not isinstance(value, list) or len(value) != 4 or not isinstance(value[0], str):
        return None
    _, titles, descriptions, urls = value
    if not all(isinstance(v, list) for v in value[1:]) or len(titles) != len(urls):
        return None
    if not all(isinstance(v, str) for column in value[1:] for v in column):
        return None
    return [
        {k: v for k, v in (("url", url), ("title", title), ("snippet", text)) if v}
        for title, text, url in zip(titles, descriptions or [""] * len(titles), urls, strict=False)
    ]


def _pubmed_search(value: Any) -> Results | None:
    ids = value["esearchresult"]["idlist"]
    return [{"id": str(i)} for i in ids] if "ERROR" not in value["esearchresult"] else None


def _pubmed_summary(value: Any) -> Results | None:
    uids, held = value["result"]["uids"], value["result"]
    return [_canonical(held[u], id=str(u)) for u in uids if isinstance(held.get(u), dict)]


def _duckduckgo_instant(value: Any) -> Results | None:
    """The instant answer has no list of web results: its abstract and topics are what it returned."""
    if not isinstance(value["RelatedTopics"], list) or "AbstractURL" not in value:
        return None
    results = []
    if value.get("AbstractURL") and value.get("AbstractText"):
        known = (("url", value["AbstractURL"]), ("title", value.get("Heading")))
        results.append({k: v for k, v in (*known, ("snippet", value["AbstractText"])) if v})
    topics = list(value.get("Results") or []) + value["RelatedTopics"]
    while topics:
        topic = topics.pop(0)
        if isinstance(topic.get("Topics"), list):
            topics = topic["Topics"] + topics
        elif topic.get("FirstURL"):
            results.append({"url": topic["FirstURL"], "snippet": topic.get("Text", "")})
    return results


def _notion(value: Any) -> Results | None:
    """The title of a page is a property of any name whose type is "title"."""
    items = value["results"]
    if value.get("object") != "list" or not all(
        i.get("object") in ("page", "database", "data_source") for i in items
    ):
        return None
    results = []
    for item in items:
        titles = item.get("title") or next(
            (
                p.get("title")
                for p in item.get("properties", {}).values()
                if p.get("type") == "title"
            ),
            [],
        )
        title = "".join(str(t.get("plain_text", "")) for t in titles or [])
        known = {"id": item.get("id"), "url": item.get("url"), "title": title}
        results.append({k: v for k, v in known.items() if v})
    return results


def _confluence(value: Any) -> Results | None:
    """Addresses are relative to the site's, which the envelope holds."""
    links, items = value["_links"], value["results"]
    if not isinstance(links, dict) or not isinstance(items, list) or "base" not in links:
        return None
    results = []
    for item in items:
        content = item.get("content", item)
        path = item.get("url") or content.get("_links", {}).get("webui") or ""
        url = path if "://" in path else links["base"] + path
        results.append(
            _canonical(
                item, id=content.get("id"), url=url if path else None, title=item.get("title")
            )
        )
    return results


def _jira(value: Any) -> Results | None:
    """An issue is known by its key, and its summary is its title."""
    issues = value["issues"]
    if not isinstance(issues, list) or not all("key" in i and "fields" in i for i in issues):
        return None
    results = []
    for issue in issues:
        fields = issue["fields"] or {}
        body = fields.get("description")
        content = body if isinstance(body, str) else _document_text(body)
        site = str(issue.get("self", "")).partition("/rest/api/")[0]
        known = {
            "id": issue["key"],
            "url": f"{site}/browse/{issue['key']}" if site else None,
            "title": fields.get("summary"),
            "content": content,
        }
        results.append({k: v for k, v in known.items() if v})
    return results


def _document_text(node: Any) -> str:
    """The text of a document in Atlassian's format."""
    texts, stack = [], [node]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            if isinstance(node.get("text"), str):
                texts.append(node["text"])
            stack.append(node.get("content"))
        elif isinstance(node, list):
            stack.extend(reversed(node))
    return "\n".join(texts)


def _kagi(value: Any) -> Results | None:
    """Objects of type 0 are results, those of type 1 related searches."""
    items = value["data"]
    if not isinstance(items, list) or not items or not all("t" in i for i in items):
        return None
    return [_canonical(i) for i in items if i["t"] == 0]


def _brave(value: Any) -> Results | None:
    """Web, news and discussions; videos, locations and the info box are not in the list of results."""
    if value.get("type") != "search":
        return None
    kinds = ("web", "news", "discussions")
    if not any(isinstance(value.get(k), dict) for k in ("web", "news", "query", "mixed")):
        return None
    return [
        _canonical(i, content=None) for k in kinds for i in (value.get(k) or {}).get("results", [])
    ]


def _weaviate(value: Any) -> Results | None:
    """GraphQL: the results of each class under data.Get."""
    if value.get("errors"):
        return None
    classes = value["data"]["Get"]
    return [_canonical(i) for items in classes.values() for i in items or []]


def _vespa(value: Any) -> Results | None:
    root = value["root"]
    if "fields" not in root and "children" not in root:
        return None
    if root.get("errors"):
        return None
    results, stack = [], list(reversed(root.get("children") or []))
    while stack:
        child = stack.pop()
        if "children" in child and "fields" not in child:  # a group
            stack.extend(reversed(child["children"]))
        elif isinstance(child.get("fields"), dict):
            results.append(_canonical(child))
    return results


def _clinical_trials(value: Any) -> Results | None:
    results = []
    for study in value["studies"]:
        section = study["protocolSection"]
        names = section["identificationModule"]
        known = {
            "id": names["nctId"],
            "title": names.get("briefTitle") or names.get("officialTitle"),
            "snippet": section.get("descriptionModule", {}).get("briefSummary"),
        }
        results.append({k: v for k, v in known.items() if v})
    return results


def _sharepoint(value: Any) -> Results | None:
    """Rows of cells, each with the name and the value of a property."""
    rows = value["PrimaryQueryResult"]["RelevantResults"]["Table"]["Rows"]
    results = []
    for row in rows:
        cells = {c["Key"]: c["Value"] for c in row["Cells"] if c.get("Value")}
        known = {
            "id": cells.get("UniqueId") or cells.get("DocId"),
            "url": cells.get("Path") or cells.get("OriginalPath"),
            "title": cells.get("Title"),
            "snippet": cells.get("HitHighlightedSummary"),
        }
        results.append({k: v for k, v in known.items() if v})
    return results


_READERS: dict[str, Callable[[Any], Results | None]] = {
    "Wikipedia opensearch": _opensearch_array,
    "PubMed esearch": _pubmed_search,
    "PubMed esummary": _pubmed_summary,
    "DuckDuckGo instant answer": _duckduckgo_instant,
    "Notion": _notion,
    "Confluence": _confluence,
    "Jira": _jira,
    "Kagi": _kagi,
    "Brave": _brave,
    "Weaviate": _weaviate,
    "Vespa": _vespa,
    "ClinicalTrials.gov": _clinical_trials,
    "SharePoint": _sharepoint,
}
