"""Outputs that hold no results, with the account they belong to."""

# ruff: noqa: E501
# fmt: off
from __future__ import annotations

import json

URL = "https://a.example/one"
PROSE = "The Seine is a river in northern France. It rises at Source-Seine, flows through Paris and reaches the sea at Le Havre."
TRACEBACK = (
    'Traceback (most recent call last):\n  File "/app/tool.py", line 10, in run\n    requests.get(url)\n'
    "requests.exceptions.ConnectionError: HTTPSConnectionPool(host='api.example.com', port=443): Max retries exceeded"
)

EMPTY = {
    "null": None,
    "no text": "",
    "white space": " \n ",
    "an empty list": [],
    "an empty object": {},
    "an empty list as text": "[]",
    "an empty object as text": "{}",
    "no lists in a list": [[]],
    "empty results": {"results": []},
    "null results": {"results": None, "query": "x"},
    "empty results and an answer": {"query": "x", "answer": PROSE, "results": [], "images": []},
    "empty results beside images": {
        "results": [],
        "images": [{"url": "https://i.example/1.png", "description": "the river"}],
    },
    "empty results beside related searches": {
        "organic": [],
        "relatedSearches": [{"query": "x"}],
        "searchParameters": {"q": "x"},
    },
    "total of 0": {"total": 0, "items": []},
    "total of 0 without a list": {
        "kind": "customsearch#search",
        "queries": {"request": [{"title": "Google Custom Search - x"}]},
        "searchInformation": {"totalResults": "0"},
    },
    "Elasticsearch": {
        "took": 1,
        "_shards": {"total": 1, "successful": 1, "failed": 0},
        "hits": {"total": {"value": 0, "relation": "eq"}, "max_score": None, "hits": []},
    },
    "Solr": {"responseHeader": {"status": 0}, "response": {"numFound": 0, "start": 0, "docs": []}},
    "Chroma": {"ids": [[]], "documents": [[]], "metadatas": [[]], "distances": [[]]},
    "Weaviate": {"data": {"Get": {"Article": []}}},
    "Qdrant": {"result": [], "status": "ok", "time": 0.001},
    "Pinecone": {"matches": [], "namespace": "", "usage": {"readUnits": 1}},
    "Brave": {"type": "search", "query": {"original": "x"}, "mixed": {"main": []}},
    "PubMed": {"esearchresult": {"count": "0", "idlist": []}},
    "opensearch": ["zzz", [], [], []],
    "Wikipedia": {"batchcomplete": "", "query": {"searchinfo": {"totalhits": 0}, "search": []}},
    "Slack": {
        "ok": True,
        "messages": {"total": 0, "matches": [], "paging": {"count": 20, "total": 0}},
    },
    "Graph": {
        "value": [
            {"searchTerms": ["x"], "hitsContainers": [{"total": 0, "moreResultsAvailable": False}]}
        ]
    },
    "MCP": {"content": [{"type": "text", "text": "[]"}], "isError": False},
    "MCP words": [{"type": "text", "text": 'No results found for "x".'}],
    "one query after another": [{"query": "x", "results": []}, {"query": "y", "results": []}],
    "No results": "No results",
    "no results found": "No results found for 'zzz'.",
    "LangChain": "No good search result found",
    "LangChain Google": "No good Google Search Result was found",
    "LangChain Wikipedia": "No good Wikipedia Search Result was found",
    "brackets": "[No search results found]",
    "an object with a message": {"message": "No documents matched your query"},
    "an error that is none": [{"error": "No results found."}],
    "Google": "Your search - zzzqq - did not match any documents.",
    "found 0": "Found 0 results:",
    "0 documents": "Retrieved 0 documents",
    "nothing": "Nothing found.",
    "could not find": "I could not find any relevant documents in the knowledge base.",
    "ReAct": "Could not find [Seine-Maritime river]. Similar: ['Seine', 'Marne', 'Yonne']",
    "under a heading": "Search results for 'zzz':\n\nNo matches.",
    "German": "Keine Ergebnisse gefunden.",
    "Spanish": "No se encontraron resultados.",
    "Chinese": "没有找到相关结果",
    "Atom": '<?xml version="1.0"?><feed><title>x</title><opensearch:totalResults>0</opensearch:totalResults></feed>',
}
FAILED = {
    "error": {"error": "rate limit exceeded"},
    "error object": {
        "error": {
            "code": 403,
            "message": "Daily Limit Exceeded",
            "errors": [
                {
                    "domain": "usageLimits",
                    "reason": "dailyLimitExceeded",
                    "message": "Daily Limit Exceeded",
                }
            ],
        }
    },
    "error and empty results": {"error": "timeout", "results": []},
    "errors of GraphQL": {
        "data": None,
        "errors": [{"message": "Cannot query field", "locations": [{"line": 1}], "path": ["Get"]}],
    },
    "status": {"status": "error", "message": "index not found"},
    "status code": {"statusCode": 500, "message": "Internal Server Error"},
    "code": {"code": 429, "message": "Too Many Requests"},
    "success": {"success": False, "data": None},
    "ok": {"ok": False, "error": "invalid_auth"},
    "detail": {"detail": "Not authenticated"},
    "validation": {
        "detail": [
            {"loc": ["body", "query"], "msg": "field required", "type": "value_error.missing"}
        ]
    },
    "MCP": {"content": [{"type": "text", "text": "API key missing"}], "isError": True},
    "MCP with a list": {
        "content": [{"type": "text", "text": json.dumps([{"url": URL, "title": "x"}])}],
        "isError": True,
    },
    "Anthropic": {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"},
    "Elasticsearch": {
        "error": {
            "root_cause": [{"type": "index_not_found_exception", "reason": "no such index [x]"}],
            "type": "index_not_found_exception",
            "reason": "no such index [x]",
        },
        "status": 404,
    },
    "JSON in a text": json.dumps({"error": "boom"}),
    "traceback": TRACEBACK,
    "Error:": "Error: Tool call is not a valid JSON.",
    "exception": "ValueError: query must not be empty",
    "qualified exception": "requests.exceptions.ReadTimeout: HTTPSConnectionPool(host='x', port=443): Read timed out.",
    "HTTP": "HTTP 503 Service Unavailable",
    "HTTP error": "HTTPError: 429 Client Error: Too Many Requests for url: https://api.example.com/search",
    "timed out": "Request timed out after 30 seconds",
    "tool failed": "Search failed: connection refused",
    "failed to": "Failed to fetch search results: 401 Unauthorized",
    "an error occurred": "An error occurred while searching: quota exceeded",
    "not a tool": "Error: Tool visit not found",
    "brackets": "[Search] Invalid request format: 'query' must be a string, not an array",
    "tag": "<tool_use_error>InputValidationError: WebSearch failed</tool_use_error>",
    "key": "Invalid API key provided",
    "in an envelope": {"result": {"error": {"message": "bad gateway"}}},
    "in a list": [{"error": "HTTP 500"}],
    "rate limit": "Rate limit exceeded, please retry after 60s",
}
UNREAD = {
    "prose": PROSE,
    "prose with a URL": f"{PROSE} More is at {URL}.",
    "prose with a link": f"According to [Wikipedia]({URL}), the Seine is 777 kilometres long. It rises in Burgundy.",
    "prose with several links": f"The Seine ([source]({URL})) is long, and the Marne ([source]({URL}2)) joins it near Paris, as [surveys]({URL}3) say.",
    "prose in bullets": "- The Seine rises at Source-Seine\n- It flows through Paris\n- It reaches the sea at Le Havre",
    "prose in bullets with sources": f"- The Seine rises at Source-Seine ([wiki]({URL}))\n- It is 777 km long, says the survey ([survey]({URL}2))",
    "numbered steps": "1. Open the settings\n2. Choose a language\n3. Save your changes and restart the application",
    "prose of several paragraphs": f"{PROSE}\n\nIt is 777 kilometres long and drains a large basin.\n\nIts main tributaries are the Yonne, the Marne and the Oise.",
    "an answer": {"answer": PROSE},
    "an answer in a result": {"result": PROSE},
    "an answer in a block": [{"type": "text", "text": PROSE}],
    "an answer in two blocks": [
        {"type": "text", "text": PROSE},
        {"type": "text", "text": "It is 777 kilometres long."},
    ],
    "a chat completion": {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": PROSE}}],
        "usage": {"total_tokens": 9},
    },
    "chat messages": [
        {"role": "user", "content": "Where does it rise?"},
        {"role": "assistant", "content": PROSE},
    ],
    "summary and answer": "Summary: The Seine rises in Burgundy.\nAnswer: Source-Seine",
    "a number": 42,
    "a truth value": True,
    "a number as text": "42",
    "a calculation": {"result": 42},
    "a calculation in words": "2 + 2 = 4",
    "OpenWeather": {
        "coord": {"lon": 10.99, "lat": 44.34},
        "weather": [
            {
                "id": 501,
                "main": "Rain",
                "description": "moderate rain in the afternoon",
                "icon": "10d",
            }
        ],
        "main": {"temp": 298.48},
        "id": 3163858,
        "name": "Zocca",
        "cod": 200,
    },
    "a forecast": {
        "city": {"id": 1, "name": "Berlin"},
        "list": [
            {
                "dt": 1,
                "main": {"temp": 20},
                "weather": [{"id": 800, "main": "Clear", "description": "clear sky"}],
                "dt_txt": "2024-01-01",
            }
        ],
    },
    "a forecast in days": {
        "daily": [
            {
                "date": "2024-01-01",
                "high": 20,
                "low": 9,
                "description": "Sunny with a few clouds in the evening",
            },
            {
                "date": "2024-01-02",
                "high": 21,
                "low": 8,
                "description": "Light rain in the morning, dry later",
            },
        ]
    },
    "rows of numbers": [{"id": 1, "amount": 20.5}, {"id": 2, "amount": 7.25}],
    "rows of names": [{"id": 1, "name": "Ann", "total": 30}, {"id": 2, "name": "Bo", "total": 12}],
    "rows in an envelope": {
        "rows": [{"country": "FR", "n": 3}, {"country": "DE", "n": 4}],
        "row_count": 2,
    },
    "rows as tuples": [[1, "Ann", 30], [2, "Bo", 12]],
    "one value": [[42]],
    "a table of numbers": "| country | n |\n|---|---|\n| FR | 3 |\n| DE | 4 |",
    "CSV of numbers": "country,n\nFR,3\nDE,4",
    "embeddings": {
        "object": "list",
        "data": [{"object": "embedding", "index": 0, "embedding": [0.1, 0.2]}],
        "model": "e",
    },
    "a vector": [0.1, 0.2, 0.3],
    "a file listing": [
        {"name": "a.txt", "size": 120, "path": "/a.txt", "type": "file"},
        {"name": "b", "size": 0, "path": "/b", "type": "directory"},
    ],
    "ls": "total 8\ndrwxr-xr-x 2 root root 4096 Jan  1 00:00 src\n-rw-r--r-- 1 root root  120 Jan  1 00:00 README.md",
    "a tree": "src/\n  main.py\n  util.py\nREADME.md",
    "code": "def f(x):\n    return x + 1\n\nprint(f(2))",
    "code in a fence": "```python\ndef f(x):\n    return {'a': x}\n```",
    "a run of code": {"stdout": "4\n", "stderr": "", "exit_code": 0},
    "a diff": "--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,2 @@\n-a = 1\n+a = 2",
    "HTML": "<!DOCTYPE html><html><head><title>Seine</title></head><body><article><h1>Seine</h1><p>A river.</p></article></body></html>",
    "a user": {"id": 7, "name": "Ann", "email": "ann@x.example"},
    "settings": {"language": "en", "theme": "dark", "tags": ["a", "b"]},
    "words": ["red", "green", "blue"],
    "suggestions": {
        "suggestions": [
            {"text": "seine river length", "score": 0.3},
            {"text": "seine river map", "score": 0.2},
        ]
    },
    "facets": {
        "facets": [
            {"id": "type", "name": "Type", "values": [{"id": "pdf", "name": "PDF", "count": 3}]}
        ]
    },
    "logs": [
        {"timestamp": "2024-01-01", "level": "INFO", "message": "started"},
        {"timestamp": "2024-01-01", "level": "INFO", "message": "stopped"},
    ],
    "a stock quote": {
        "symbol": "ABC",
        "price": 10.5,
        "history": [{"date": "2024-01-01", "close": 10.1}],
    },
    "a rerank without documents": {
        "results": [{"index": 1, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.2}]
    },
    "a route": {
        "routes": [
            {
                "distance": 1200,
                "duration": 300,
                "legs": [
                    {"steps": [{"instruction": "Turn left onto the main road", "distance": 100}]}
                ],
            }
        ]
    },
    "a translation": {"translations": [{"detected_source_language": "FR", "text": "river"}]},
    "cut off": '[{"url": "https://a.example/one", "title": "First page", "snip',
    "a Markdown page": f"# Seine\n\n{PROSE}\n\n## Course\n\nIt flows north. See [the map]({URL}) for details.\n\n## Length\n\n777 km.",
    "a report": f"## Findings\n\n{PROSE}\n\n**Note:** figures are from 2020.\n\nIn short: it is long.",
    "a dialogue": "User: where?\nAssistant: In Burgundy.",
    "saved": "The note was saved as seine.md.",
    "an image": [{"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}],
    "base64": "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "options": {"options": [{"id": 1, "label": "Yes"}, {"id": 2, "label": "No"}]},
    "tools": {
        "tools": [
            {"name": "search", "description": "Search the web for information", "input_schema": {}}
        ]
    },
}
MORE = {
    "empty string in a list": ([""], "empty"),
    "httpx error": ("Client error '403 Forbidden' for url 'https://x.example'\nFor more information check: https://developer.mozilla.org/403", "failed"),
    "no results with help": ("No results found. Try:\n- [Help](https://h.example)\n- [Search tips](https://t.example)", "empty"),
    "report with rules": ("## Report\n\nThe river is long and its basin is wide.\n\n---\n\nIt rises in Burgundy, near Dijon, at a spring.", "unread"),
    "question and answer": ({"question":"Where?","answer":PROSE}, "unread"),
    "bold facts": ("**Source**: Burgundy\n**Length**: 777 km\n**Mouth**: Le Havre", "unread"),
    "weather report": ("Location: Paris\nTemperature: 20 C\nDescription: sunny and warm", "unread"),
    "contact": ("Name: Ann\nEmail: ann@x.example\nTitle: Engineer", "unread"),
    "a recipe": ("Title: Soup\n\nIngredients:\n- water\n- salt\n\nSteps:\n1. Boil\n2. Stir", "unread"),
    "commit log": ("commit abc\nAuthor: Ann <ann@x.example>\nDate: Mon\n\n    Fix the search", "unread"),
    "key value config": ("url=https://x.example\ntoken=abc\nname=prod", "unread"),
    "timeouts list": ([{"error":"timeout"},{"error":"timeout"}], "failed"),
    "null with message": ({"data":None,"message":"Success"}, "empty"),
    "SQL count": ([{"count": 0}], "unread"),
    "flights": ({"flights":[{"id":"F1","from":"CDG","to":"JFK","price":300}]}, "unread"),
    "hotel": ({"hotels":[{"name":"Ritz","rating":5,"price":900}]}, "unread"),
    "prose with references": (f"{PROSE} [1]\n\n{PROSE} [2]\n\nReferences:\n[1] {URL}\n[2] {URL}2", "unread"),
    "a profile": ({"name": "Ann", "url": "https://ann.example"}, "unread"),
}
OTHERS = {
    f"{account}: {name}": (output, account)
    for account, outputs in (("empty", EMPTY), ("failed", FAILED), ("unread", UNREAD))
    for name, output in outputs.items()
} | {f"more: {name}": case for name, case in MORE.items()}
