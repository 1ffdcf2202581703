"""Outputs of search tools as their documentation describes them, with the results they hold.

The name of a shape, the output, and what each result is known by: its URL, or else id, title, text.
"""

from __future__ import annotations

import json

A, B, C = "https://a.example/one", "https://b.example/two?p=2", "https://c.example/three"
TA, TB, TC = "First page", "Second page", "Third page"
SA = "The Seine rises at Source-Seine in Burgundy."
SB = "Its length is 777 kilometres, says the survey."
SC = "It flows into the English Channel at Le Havre."
AB, ABC = [A, B], [A, B, C]


def named(url="url", title="title", text="snippet", n=2, **more):
    """n results under these names."""
    rows = ((A, TA, SA), (B, TB, SB), (C, TC, SC))[:n]
    return [{url: u, title: t, text: s, **more} for u, t, s in rows]


def dump(value):
    return json.dumps(value)


WEB = {
    "plain list": (named(), AB),
    "plain list of one": (named(n=1), [A]),
    "Google CSE": (
        {
            "kind": "customsearch#search",
            "url": {"type": "application/json", "template": "https://www.googleapis.com/x"},
            "queries": {
                "request": [
                    {"title": "Google Custom Search - x", "totalResults": "2", "searchTerms": "x"}
                ],
                "nextPage": [{"title": "Google Custom Search - x", "count": 10}],
            },
            "context": {"title": "my engine"},
            "searchInformation": {"searchTime": 0.2, "totalResults": "2"},
            "items": [
                {
                    "kind": "customsearch#result",
                    "title": t,
                    "htmlTitle": t,
                    "link": u,
                    "displayLink": "a.example",
                    "snippet": s,
                    "htmlSnippet": s,
                    "formattedUrl": u,
                    "pagemap": {"cse_thumbnail": [{"src": "https://t/1"}]},
                }
                for u, t, s in ((A, TA, SA), (B, TB, SB))
            ],
        },
        AB,
    ),
    "Bing": (
        {
            "_type": "SearchResponse",
            "queryContext": {"originalQuery": "x"},
            "webPages": {
                "webSearchUrl": "https://www.bing.com/search?q=x",
                "totalEstimatedMatches": 9,
                "value": [
                    {
                        "id": "https://api.bing.microsoft.com/api/v7/#WebPages.0",
                        "name": TA,
                        "url": A,
                        "displayUrl": A,
                        "snippet": SA,
                        "deepLinks": [{"name": "deep", "url": "https://a.example/deep"}],
                    },
                    {
                        "id": "https://api.bing.microsoft.com/api/v7/#WebPages.1",
                        "name": TB,
                        "url": B,
                        "snippet": SB,
                    },
                ],
            },
            "relatedSearches": {
                "id": "r",
                "value": [
                    {"text": "seine length", "webSearchUrl": "https://www.bing.com/search?q=y"}
                ],
            },
            "images": {
                "value": [
                    {
                        "name": "i",
                        "contentUrl": "https://i.example/1.png",
                        "hostPageUrl": "https://h.example",
                    }
                ]
            },
            "rankingResponse": {
                "mainline": {
                    "items": [{"answerType": "WebPages", "resultIndex": 0, "value": {"id": "x"}}]
                }
            },
        },
        AB,
    ),
    "Bing with news": (
        {
            "webPages": {"value": [{"name": TA, "url": A, "snippet": SA}]},
            "news": {
                "value": [{"name": TB, "url": B, "description": SB, "provider": [{"name": "P"}]}]
            },
        },
        AB,
    ),
    "Brave": (
        {
            "type": "search",
            "query": {"original": "x", "more_results_available": True},
            "mixed": {"main": [{"type": "web", "index": 0, "all": False}]},
            "web": {
                "type": "search",
                "results": [
                    {
                        "title": TA,
                        "url": A,
                        "description": SA,
                        "profile": {"name": "A", "url": "https://a.example"},
                        "extra_snippets": [SB, SC],
                    },
                    {
                        "title": TB,
                        "url": B,
                        "description": SB,
                        "meta_url": {"hostname": "b.example"},
                    },
                ],
            },
            "videos": {
                "results": [{"title": "v", "url": "https://v.example/1", "description": "video"}]
            },
            "infobox": {"results": [{"title": "Seine", "url": "https://w.example"}]},
        },
        AB,
    ),
    "Brave with news": (
        {
            "type": "search",
            "query": {"original": "x"},
            "web": {"results": [{"title": TA, "url": A, "description": SA}]},
            "news": {"results": [{"title": TB, "url": B, "description": SB, "age": "2 days ago"}]},
        },
        AB,
    ),
    "Serper": (
        {
            "searchParameters": {"q": "x", "type": "search", "engine": "google"},
            "knowledgeGraph": {
                "title": "Seine",
                "type": "River",
                "website": "https://k.example",
                "description": SC,
                "descriptionLink": "https://wikipedia.example/Seine",
            },
            "answerBox": {"snippet": SA, "title": "Answer", "link": "https://answer.example"},
            "organic": [
                {
                    "title": TA,
                    "link": A,
                    "snippet": SA,
                    "position": 1,
                    "sitelinks": [{"title": "s", "link": "https://s.example"}],
                },
                {
                    "title": TB,
                    "link": B,
                    "snippet": SB,
                    "position": 2,
                    "attributes": {"Date": "May"},
                },
            ],
            "peopleAlsoAsk": [
                {"question": "Where?", "snippet": SA, "title": "q", "link": "https://q.example"}
            ],
            "relatedSearches": [{"query": "seine map"}],
            "credits": 1,
        },
        AB,
    ),
    "Serper news": (
        {
            "searchParameters": {"q": "x", "type": "news"},
            "news": named("link", date="1 day ago", source="P"),
        },
        AB,
    ),
    "Serper with top stories": (
        {
            "organic": named("link", n=1),
            "topStories": [{"title": TB, "link": B, "source": "P", "date": "1h"}],
        },
        AB,
    ),
    "Serper images": (
        {
            "searchParameters": {"type": "images"},
            "images": [
                {"title": TA, "imageUrl": "https://i.example/1.png", "link": A},
                {"title": TB, "imageUrl": "https://i.example/2.png", "link": B},
            ],
        },
        AB,
    ),
    "SerpAPI": (
        {
            "search_metadata": {
                "id": "1",
                "status": "Success",
                "google_url": "https://www.google.com/search?q=x",
            },
            "search_parameters": {"engine": "google", "q": "x"},
            "search_information": {"total_results": 2},
            "answer_box": {
                "type": "organic_result",
                "title": "t",
                "link": "https://ab.example",
                "snippet": SC,
            },
            "organic_results": [
                {
                    "position": 1,
                    "title": TA,
                    "link": A,
                    "displayed_link": "a.example",
                    "snippet": SA,
                    "rich_snippet": {"top": {"extensions": ["x"]}},
                },
                {"position": 2, "title": TB, "link": B, "snippet": SB},
            ],
            "related_questions": [{"question": "?", "link": "https://rq.example", "snippet": SC}],
            "related_searches": [{"query": "y", "link": "https://www.google.com/search?q=y"}],
            "pagination": {
                "current": 1,
                "next": "https://www.google.com/search?start=10",
                "other_pages": {"2": "https://g/2"},
            },
        },
        AB,
    ),
    "Tavily": (
        {
            "query": "x",
            "follow_up_questions": None,
            "answer": SC,
            "images": [
                {"url": "https://i.example/1.png", "description": "a river in a wide valley"}
            ],
            "results": [
                {"title": TA, "url": A, "content": SA, "score": 0.98, "raw_content": None},
                {"title": TB, "url": B, "content": SB, "score": 0.9, "raw_content": "long " + SB},
            ],
            "response_time": 1.1,
        },
        AB,
    ),
    "Tavily with image URLs": (
        {
            "query": "x",
            "images": ["https://i.example/1.png", "https://i.example/2.png"],
            "results": named(text="content"),
        },
        AB,
    ),
    "Exa": (
        {
            "requestId": "b5",
            "resolvedSearchType": "neural",
            "autopromptString": "x",
            "results": [
                {
                    "score": 0.2,
                    "title": TA,
                    "id": A,
                    "url": A,
                    "publishedDate": "2024-01-01",
                    "author": "Ann",
                    "text": SA,
                    "highlights": [SB],
                    "highlightScores": [0.4],
                    "summary": SC,
                    "subpages": [
                        {
                            "id": "https://a.example/sub",
                            "url": "https://a.example/sub",
                            "title": "sub",
                            "text": SC,
                        }
                    ],
                },
                {"title": TB, "id": B, "url": B, "text": SB},
            ],
            "costDollars": {"total": 0.005},
        },
        AB,
    ),
    "You.com": (
        {
            "results": {
                "web": named("url", text="description", snippets=[SA, SB], n=1),
                "news": [{"title": TB, "url": B, "description": SB, "page_age": "2025-01-01"}],
            },
            "metadata": {"query": "x", "search_uuid": "u", "latency": 0.2},
        },
        AB,
    ),
    "You.com hits": (
        {
            "hits": [
                {
                    "url": A,
                    "title": TA,
                    "description": SA,
                    "snippets": [SA, SB],
                    "thumbnail_url": "https://t",
                },
                {"url": B, "title": TB, "description": SB, "snippets": [SB]},
            ]
        },
        AB,
    ),
    "Kagi": (
        {
            "meta": {"id": "1", "node": "us", "ms": 100},
            "data": [
                {"t": 0, "rank": 1, "url": A, "title": TA, "snippet": SA},
                {"t": 0, "url": B, "title": TB, "snippet": SB},
                {"t": 1, "list": ["seine map", "seine length"]},
            ],
        },
        AB,
    ),
    "DuckDuckGo package": (named("href", text="body"), AB),
    "DuckDuckGo instant answer": (
        {
            "Abstract": SA,
            "AbstractText": SA,
            "AbstractURL": A,
            "Heading": "Seine",
            "Results": [],
            "RelatedTopics": [
                {"FirstURL": B, "Text": SB, "Icon": {"URL": ""}},
                {"Name": "Geography", "Topics": [{"FirstURL": C, "Text": SC}]},
            ],
        },
        ABC,
    ),
    "SearXNG": (
        {
            "query": "x",
            "number_of_results": 0,
            "results": [
                {
                    "url": A,
                    "title": TA,
                    "content": SA,
                    "engine": "google",
                    "parsed_url": ["https", "a.example", "/one", "", "", ""],
                    "engines": ["google", "bing"],
                    "positions": [1],
                    "score": 4.0,
                    "category": "general",
                },
                {"url": B, "title": TB, "content": SB, "engine": "bing"},
            ],
            "answers": [{"answer": "777 km", "url": "https://w.example"}],
            "corrections": [],
            "suggestions": ["seine map"],
            "infoboxes": [
                {
                    "infobox": "Seine",
                    "id": "https://w.example",
                    "content": SC,
                    "urls": [{"title": "W", "url": "https://w.example"}],
                }
            ],
        },
        AB,
    ),
    "Perplexity search": (
        {"results": named(date="2025-01-01", last_updated="2025-02-01"), "id": "e38"},
        AB,
    ),
    "Perplexity chat": (
        {
            "id": "x",
            "model": "sonar",
            "usage": {"total_tokens": 9},
            "citations": [A, B],
            "object": "chat.completion",
            "search_results": [
                {"title": TA, "url": A, "date": "2024-01-01"},
                {"title": TB, "url": B, "date": None},
            ],
            "choices": [{"index": 0, "message": {"role": "assistant", "content": SA + "[1]"}}],
        },
        AB,
    ),
    "Linkup": ({"results": named(title="name", text="content", type="text")}, AB),
    "Linkup sourced answer": ({"answer": SC, "sources": named(title="name")}, AB),
    "Firecrawl": (
        {"success": True, "data": {"web": named(text="description", position=1), "images": []}},
        AB,
    ),
    "Firecrawl scraped": (
        {
            "success": True,
            "data": [
                {
                    "url": A,
                    "title": TA,
                    "description": SA,
                    "markdown": "# " + SA,
                    "links": ["https://l.example/1", "https://l.example/2"],
                    "metadata": {"sourceURL": A, "statusCode": 200, "title": TA},
                },
                {
                    "url": B,
                    "title": TB,
                    "markdown": SB,
                    "links": [],
                    "metadata": {"statusCode": 200},
                },
            ],
        },
        AB,
    ),
    "Jina": (
        {
            "code": 200,
            "status": 20000,
            "data": named(text="content", description="d", usage={"tokens": 1000}),
            "meta": {"usage": {"tokens": 9}},
        },
        AB,
    ),
    "Searchapi with local results": ({"organic_results": named("link"), "local_results": []}, AB),
    "Yandex XML as JSON": (
        {
            "yandexsearch": {
                "response": {
                    "results": {
                        "grouping": {
                            "group": [
                                {"doc": {"url": A, "title": TA, "passages": {"passage": SA}}},
                                {"doc": {"url": B, "title": TB, "passages": {"passage": SB}}},
                            ]
                        }
                    }
                }
            }
        },
        AB,
    ),
    "Google Vertex grounding": (
        {
            "groundingChunks": [
                {"web": {"uri": A, "title": "a.example"}},
                {"retrievedContext": {"uri": B, "title": TB, "text": SB}},
            ],
            "webSearchQueries": ["x"],
            "searchEntryPoint": {"renderedContent": "<div>x</div>"},
        },
        AB,
    ),
    "OpenAI web search sources": (
        {
            "type": "search",
            "query": "x",
            "sources": [{"type": "url", "url": A}, {"type": "url", "url": B}],
        },
        AB,
    ),
    "Anthropic web search": (
        [
            {
                "type": "web_search_result",
                "url": A,
                "title": TA,
                "encrypted_content": "EqgfCioIAR",
                "page_age": "May",
            },
            {"type": "web_search_result", "url": B, "title": TB, "encrypted_content": "EqgfCioIAR"},
        ],
        AB,
    ),
    "Wikipedia search": (
        {
            "batchcomplete": "",
            "continue": {"sroffset": 10},
            "query": {
                "searchinfo": {"totalhits": 2},
                "search": [
                    {
                        "ns": 0,
                        "title": TA,
                        "pageid": 11,
                        "size": 9,
                        "wordcount": 3,
                        "snippet": '<span class="searchmatch">Seine</span> rises',
                        "timestamp": "2024-01-01T00:00:00Z",
                    },
                    {"ns": 0, "title": TB, "pageid": 12, "snippet": SB},
                ],
            },
        },
        ["11", "12"],
    ),
    "Wikipedia opensearch": (["seine", [TA, TB], ["", ""], [A, B]], AB),
    "Wikipedia pages": (
        {
            "query": {
                "pages": {
                    "11": {"pageid": 11, "ns": 0, "title": TA, "extract": SA},
                    "12": {"pageid": 12, "title": TB, "extract": SB},
                }
            }
        },
        ["11", "12"],
    ),
    "Wikipedia REST search": (
        {
            "pages": [
                {
                    "id": 11,
                    "key": "Seine",
                    "title": TA,
                    "excerpt": SA,
                    "thumbnail": {"url": "//t.example/1.png"},
                },
                {"id": 12, "key": "Seine_2", "title": TB, "excerpt": SB},
            ]
        },
        ["11", "12"],
    ),
    "Wikidata": (
        {
            "searchinfo": {"search": "seine"},
            "search": [
                {
                    "id": "Q1471",
                    "title": "Q1471",
                    "pageid": 1,
                    "concepturi": "http://www.wikidata.org/entity/Q1471",
                    "url": "//www.wikidata.org/wiki/Q1471",
                    "label": "Seine",
                    "description": "river in France",
                    "match": {"type": "label", "text": "Seine"},
                }
            ],
            "success": 1,
        },
        ["//www.wikidata.org/wiki/Q1471"],
    ),
    "Stack Exchange": (
        {
            "items": [
                {
                    "tags": ["git"],
                    "owner": {
                        "user_id": 7,
                        "display_name": "Ann",
                        "link": "https://so.example/users/7",
                    },
                    "is_answered": True,
                    "score": 5,
                    "question_id": 101,
                    "link": A,
                    "title": TA,
                },
                {"owner": {"user_id": 8}, "score": 1, "question_id": 102, "link": B, "title": TB},
            ],
            "has_more": True,
            "quota_max": 300,
        },
        AB,
    ),
    "Hacker News": (
        {
            "hits": [
                {
                    "objectID": "9",
                    "title": TA,
                    "url": A,
                    "author": "ann",
                    "points": 3,
                    "_tags": ["story"],
                    "children": [1, 2],
                    "_highlightResult": {
                        "title": {"value": "<em>First</em>", "matchLevel": "full"}
                    },
                },
                {"objectID": "10", "title": TB, "url": None, "story_text": SB},
            ],
            "nbHits": 2,
            "page": 0,
            "processingTimeMS": 2,
            "query": "x",
        },
        [A, "10"],
    ),
    "Reddit": (
        {
            "kind": "Listing",
            "data": {
                "after": "t3_x",
                "children": [
                    {
                        "kind": "t3",
                        "data": {
                            "id": "a1",
                            "title": TA,
                            "selftext": SA,
                            "permalink": "/r/x/a1",
                            "url": A,
                            "ups": 3,
                        },
                    },
                    {"kind": "t3", "data": {"id": "b2", "title": TB, "selftext": SB, "url": B}},
                ],
            },
        },
        AB,
    ),
    "GitHub repositories": (
        {
            "total_count": 2,
            "incomplete_results": False,
            "items": [
                {
                    "id": 1,
                    "name": "one",
                    "full_name": "o/one",
                    "owner": {"login": "o", "id": 5, "html_url": "https://gh.example/o"},
                    "html_url": A,
                    "url": "https://api.gh.example/repos/o/one",
                    "description": SA,
                    "topics": ["x"],
                    "score": 1.0,
                },
                {
                    "id": 2,
                    "name": "two",
                    "html_url": B,
                    "url": "https://api.gh.example/repos/o/two",
                    "description": None,
                    "score": 1.0,
                },
            ],
        },
        AB,
    ),
    "GitHub code": (
        {
            "total_count": 1,
            "items": [
                {
                    "name": "a.py",
                    "path": "src/a.py",
                    "sha": "d7",
                    "url": "https://api.gh.example/c",
                    "html_url": A,
                    "repository": {
                        "id": 3,
                        "name": "r",
                        "html_url": "https://gh.example/r",
                        "description": "a repository of many things",
                    },
                    "score": 1.0,
                }
            ],
        },
        [A],
    ),
    "GitHub issues": (
        {
            "total_count": 1,
            "items": [
                {
                    "url": "https://api.gh.example/i/1",
                    "html_url": A,
                    "id": 35,
                    "number": 132,
                    "title": TA,
                    "user": {"login": "n", "id": 9},
                    "labels": [{"id": 4, "name": "bug", "url": "https://api.gh.example/l"}],
                    "body": SA,
                    "score": 1.0,
                }
            ],
        },
        [A],
    ),
    "GitLab": (
        [
            {
                "id": 1,
                "iid": 3,
                "title": TA,
                "description": SA,
                "web_url": A,
                "author": {"id": 2, "name": "Ann", "web_url": "https://gl.example/ann"},
            }
        ],
        [A],
    ),
    "YouTube": (
        {
            "kind": "youtube#searchListResponse",
            "pageInfo": {"totalResults": 2},
            "items": [
                {
                    "kind": "youtube#searchResult",
                    "id": {"kind": "youtube#video", "videoId": "v1"},
                    "snippet": {"title": TA, "description": SA, "channelTitle": "c"},
                },
                {
                    "kind": "youtube#searchResult",
                    "id": {"kind": "youtube#video", "videoId": "v2"},
                    "snippet": {"title": TB, "description": SB},
                },
            ],
        },
        ["v1", "v2"],
    ),
    "Google Books": (
        {
            "kind": "books#volumes",
            "totalItems": 2,
            "items": [
                {
                    "id": "g1",
                    "volumeInfo": {
                        "title": TA,
                        "authors": ["Ann"],
                        "description": SA,
                        "infoLink": "https://b",
                    },
                },
                {"id": "g2", "volumeInfo": {"title": TB, "description": SB}},
            ],
        },
        ["g1", "g2"],
    ),
    "NewsAPI": (
        {
            "status": "ok",
            "totalResults": 2,
            "articles": [
                {
                    "source": {"id": "bbc", "name": "BBC"},
                    "author": "Ann",
                    "title": TA,
                    "description": SA,
                    "url": A,
                    "content": SA,
                },
                {"source": {"id": None, "name": "X"}, "title": TB, "url": B, "content": SB},
            ],
        },
        AB,
    ),
    "Google Drive": (
        {
            "kind": "drive#fileList",
            "files": [
                {
                    "kind": "drive#file",
                    "id": "f1",
                    "name": "plan.docx",
                    "mimeType": "x/y",
                    "webViewLink": A,
                },
                {"id": "f2", "name": "notes.docx", "webViewLink": B},
            ],
        },
        AB,
    ),
}
SCHOLAR = {
    "Semantic Scholar": (
        {
            "total": 2,
            "offset": 0,
            "next": 10,
            "data": [
                {
                    "paperId": "p1",
                    "title": TA,
                    "abstract": SA,
                    "year": 2020,
                    "authors": [{"authorId": "1", "name": "Ann"}, {"authorId": "2", "name": "Bo"}],
                },
                {"paperId": "p2", "title": TB, "abstract": None, "authors": []},
            ],
        },
        ["p1", "p2"],
    ),
    "PubMed esearch": (
        {
            "header": {"type": "esearch"},
            "esearchresult": {
                "count": "2",
                "retmax": "2",
                "idlist": ["111", "222"],
                "translationset": [{"from": "x", "to": "y"}],
            },
        },
        ["111", "222"],
    ),
    "PubMed esummary": (
        {
            "header": {"type": "esummary"},
            "result": {
                "uids": ["111", "222"],
                "111": {
                    "uid": "111",
                    "title": TA,
                    "authors": [{"name": "Ann", "authtype": "Author"}],
                    "articleids": [{"idtype": "doi", "value": "10.1/x"}],
                },
                "222": {"uid": "222", "title": TB},
            },
        },
        ["111", "222"],
    ),
    "arXiv Atom": (
        '<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><title>ArXiv Query</title><id>http://arxiv.org/api/x</id>'
        f'<entry><id>{A}</id><title>{TA}</title><summary>{SA}</summary><author><name>Ann</name></author><link href="{A}" rel="alternate"/></entry>'
        f"<entry><id>{B}</id><title>{TB}</title><summary>{SB}</summary></entry></feed>",
        AB,
    ),
    "OpenAlex": (
        {
            "meta": {"count": 2, "page": 1},
            "results": [
                {
                    "id": "https://openalex.org/W1",
                    "doi": "https://doi.org/10.1/a",
                    "display_name": TA,
                    "title": TA,
                    "authorships": [
                        {"author": {"id": "https://openalex.org/A1", "display_name": "Ann"}}
                    ],
                },
                {"id": "https://openalex.org/W2", "title": TB},
            ],
            "group_by": [],
        },
        ["https://openalex.org/W1", "https://openalex.org/W2"],
    ),
    "Crossref": (
        {
            "status": "ok",
            "message-type": "work-list",
            "message": {
                "total-results": 2,
                "items": [
                    {
                        "DOI": "10.1/a",
                        "title": [TA],
                        "URL": A,
                        "author": [{"given": "Ann", "family": "A"}],
                        "reference": [{"key": "r1", "doi-asserted-by": "x", "unstructured": SC}],
                    },
                    {"DOI": "10.1/b", "title": [TB], "URL": B},
                ],
            },
        },
        AB,
    ),
    "Europe PMC": (
        {
            "version": "6",
            "hitCount": 2,
            "request": {"queryString": "x"},
            "resultList": {
                "result": [
                    {"id": "1", "source": "MED", "pmid": "1", "title": TA, "abstractText": SA},
                    {"id": "2", "pmid": "2", "title": TB},
                ]
            },
        },
        ["1", "2"],
    ),
    "CORE": (
        {
            "totalHits": 2,
            "limit": 10,
            "results": [
                {
                    "id": 1,
                    "title": TA,
                    "abstract": SA,
                    "downloadUrl": A,
                    "authors": [{"name": "Ann"}],
                },
                {"id": 2, "title": TB, "downloadUrl": B},
            ],
        },
        AB,
    ),
    "DBLP": (
        {
            "result": {
                "query": "x",
                "hits": {
                    "@total": "2",
                    "hit": [
                        {
                            "@score": "3",
                            "@id": "77",
                            "info": {
                                "title": TA,
                                "url": A,
                                "authors": {"author": [{"@pid": "1", "text": "Ann"}]},
                            },
                        },
                        {"@id": "78", "info": {"title": TB, "url": B}},
                    ],
                },
            }
        },
        AB,
    ),
    "Google Scholar by SerpAPI": (
        {
            "organic_results": [
                {
                    "position": 0,
                    "title": TA,
                    "result_id": "x",
                    "link": A,
                    "snippet": SA,
                    "publication_info": {
                        "summary": "Ann",
                        "authors": [{"name": "Ann", "link": "https://s"}],
                    },
                    "inline_links": {"cited_by": {"total": 3, "link": "https://s"}},
                }
            ],
            "citation_results": [],
        },
        [A],
    ),
    "ClinicalTrials": (
        {
            "studies": [
                {
                    "protocolSection": {
                        "identificationModule": {"nctId": "NCT1", "briefTitle": TA},
                        "descriptionModule": {"briefSummary": SA},
                    }
                }
            ],
            "nextPageToken": "t",
        },
        ["NCT1"],
    ),
}
STORES = {
    "Elasticsearch": (
        {
            "took": 5,
            "timed_out": False,
            "_shards": {"total": 1, "successful": 1},
            "hits": {
                "total": {"value": 2, "relation": "eq"},
                "max_score": 1.3,
                "hits": [
                    {
                        "_index": "i",
                        "_id": "d1",
                        "_score": 1.3,
                        "_source": {"title": TA, "body": SA, "tags": [{"id": 1, "name": "x"}]},
                        "highlight": {"body": ["<em>Seine</em>"]},
                        "inner_hits": {
                            "c": {"hits": {"hits": [{"_id": "c1", "_source": {"text": SC}}]}}
                        },
                    },
                    {
                        "_index": "i",
                        "_id": "d2",
                        "_score": 1.1,
                        "_source": {"title": TB, "body": SB},
                    },
                ],
            },
            "aggregations": {"t": {"buckets": [{"key": "x", "doc_count": 2}]}},
        },
        ["d1", "d2"],
    ),
    "Elasticsearch fields": (
        {
            "hits": {
                "hits": [{"_id": "d1", "_score": 1.0, "fields": {"title": [TA], "content": [SA]}}]
            }
        },
        ["d1"],
    ),
    "Elasticsearch multi-search": (
        {
            "took": 1,
            "responses": [
                {"hits": {"hits": [{"_id": "d1", "_source": {"text": SA}}]}, "status": 200},
                {"hits": {"hits": [{"_id": "d2", "_source": {"text": SB}}]}, "status": 200},
            ],
        },
        ["d1", "d2"],
    ),
    "Solr": (
        {
            "responseHeader": {"status": 0, "QTime": 1, "params": {"q": "x"}},
            "response": {
                "numFound": 2,
                "start": 0,
                "docs": [
                    {"id": "d1", "title_txt_en": [TA], "content_t": SA, "_version_": 17},
                    {"id": "d2", "title_txt_en": [TB]},
                ],
            },
            "highlighting": {"d1": {"content_t": [SA]}, "d2": {}},
            "facet_counts": {"facet_fields": {"cat": ["x", 2]}},
        },
        ["d1", "d2"],
    ),
    "Algolia": (
        {
            "hits": [
                {
                    "objectID": "d1",
                    "title": TA,
                    "url": A,
                    "_highlightResult": {"title": {"value": "x"}},
                    "_snippetResult": {"content": {"value": SA}},
                },
                {"objectID": "d2", "title": TB, "url": B},
            ],
            "nbHits": 2,
            "page": 0,
            "hitsPerPage": 20,
            "params": "query=x",
        },
        AB,
    ),
    "Algolia DocSearch": (
        {
            "results": [
                {
                    "hits": [
                        {
                            "objectID": "d1",
                            "url": A,
                            "content": SA,
                            "type": "content",
                            "hierarchy": {"lvl0": TA, "lvl1": None},
                        },
                        {"objectID": "d2", "url": B, "content": None, "hierarchy": {"lvl0": TB}},
                    ],
                    "nbHits": 2,
                    "index": "docs",
                }
            ]
        },
        AB,
    ),
    "Typesense": (
        {
            "facet_counts": [],
            "found": 2,
            "out_of": 9,
            "page": 1,
            "hits": [
                {
                    "document": {"id": "d1", "title": TA, "text": SA},
                    "highlights": [
                        {"field": "title", "snippet": "<mark>x</mark>", "matched_tokens": ["x"]}
                    ],
                    "text_match": 130,
                },
                {"document": {"id": "d2", "title": TB, "text": SB}, "highlights": []},
            ],
        },
        ["d1", "d2"],
    ),
    "Typesense grouped": (
        {
            "found": 2,
            "grouped_hits": [
                {"group_key": ["a"], "hits": [{"document": {"id": "d1", "title": TA}}]},
                {"group_key": ["b"], "hits": [{"document": {"id": "d2", "title": TB}}]},
            ],
        },
        ["d1", "d2"],
    ),
    "Meilisearch": (
        {
            "hits": [
                {"id": 1, "title": TA, "overview": SA, "_formatted": {"id": "1", "title": TA}},
                {"id": 2, "title": TB, "overview": SB},
            ],
            "query": "x",
            "processingTimeMs": 1,
            "limit": 20,
            "offset": 0,
            "estimatedTotalHits": 2,
        },
        ["1", "2"],
    ),
    "Meilisearch multi-search": (
        {
            "results": [
                {"indexUid": "a", "hits": [{"id": 1, "title": TA, "overview": SA}], "query": "x"},
                {"indexUid": "b", "hits": [{"id": 2, "title": TB, "overview": SB}], "query": "x"},
            ]
        },
        ["1", "2"],
    ),
    "Vespa": (
        {
            "root": {
                "id": "toplevel",
                "relevance": 1.0,
                "fields": {"totalCount": 2},
                "coverage": {"documents": 9},
                "children": [
                    {
                        "id": "id:ns:doc::d1",
                        "relevance": 0.9,
                        "source": "s",
                        "fields": {"sddocname": "doc", "title": TA, "body": SA},
                    },
                    {"id": "id:ns:doc::d2", "relevance": 0.8, "fields": {"title": TB, "body": SB}},
                ],
            }
        },
        ["id:ns:doc::d1", "id:ns:doc::d2"],
    ),
    "Weaviate GraphQL": (
        {
            "data": {
                "Get": {
                    "Article": [
                        {
                            "title": TA,
                            "body": SA,
                            "_additional": {"id": "w1", "distance": 0.1, "certainty": 0.9},
                        },
                        {"title": TB, "body": SB, "_additional": {"id": "w2"}},
                    ]
                }
            }
        },
        ["w1", "w2"],
    ),
    "Weaviate objects": (
        {
            "objects": [
                {
                    "uuid": "w1",
                    "properties": {"title": TA, "body": SA},
                    "metadata": {"distance": 0.1},
                    "collection": "Article",
                },
                {"uuid": "w2", "properties": {"body": SB}},
            ]
        },
        ["w1", "w2"],
    ),
    "Pinecone": (
        {
            "matches": [
                {
                    "id": "v1",
                    "score": 0.9,
                    "values": [],
                    "metadata": {"text": SA, "source": "a.pdf"},
                },
                {"id": "v2", "score": 0.8, "metadata": {"text": SB}},
            ],
            "namespace": "",
            "usage": {"readUnits": 5},
        },
        ["v1", "v2"],
    ),
    "Pinecone ids only": (
        {
            "matches": [
                {"id": "v1", "score": 0.9, "values": []},
                {"id": "v2", "score": 0.8, "values": []},
            ],
            "namespace": "ns",
        },
        ["v1", "v2"],
    ),
    "Pinecone records": (
        {
            "result": {
                "hits": [
                    {"_id": "r1", "_score": 0.9, "fields": {"chunk_text": SA, "category": "x"}},
                    {"_id": "r2", "_score": 0.8, "fields": {"chunk_text": SB}},
                ]
            },
            "usage": {"embed_total_tokens": 6, "read_units": 6},
        },
        ["r1", "r2"],
    ),
    "Qdrant": (
        {
            "result": [
                {
                    "id": 4,
                    "version": 3,
                    "score": 1.3,
                    "payload": {"text": SA, "url": A},
                    "vector": None,
                },
                {"id": 5, "version": 3, "score": 1.2, "payload": {"text": SB}},
            ],
            "status": "ok",
            "time": 0.001,
        },
        [A, "5"],
    ),
    "Qdrant points": (
        {
            "result": {
                "points": [
                    {
                        "id": "u1",
                        "score": 0.9,
                        "payload": {"page_content": SA, "metadata": {"source": A}},
                    },
                    {"id": "u2", "score": 0.8, "payload": {"page_content": SB, "metadata": {}}},
                ]
            },
            "status": "ok",
            "time": 0.1,
        },
        [A, "u2"],
    ),
    "Qdrant ids only": (
        {
            "result": [
                {"id": 4, "version": 3, "score": 1.3},
                {"id": 5, "version": 3, "score": 1.2},
            ],
            "status": "ok",
            "time": 0.001,
        },
        ["4", "5"],
    ),
    "Chroma": (
        {
            "ids": [["c1", "c2"]],
            "embeddings": None,
            "documents": [[SA, SB]],
            "uris": None,
            "included": ["documents", "metadatas", "distances"],
            "data": None,
            "metadatas": [[{"source": "a.txt"}, None]],
            "distances": [[0.1, 0.2]],
        },
        ["c1", "c2"],
    ),
    "Chroma two queries": (
        {
            "ids": [["c1", "c2"], ["c3"]],
            "documents": [[SA, SB], [SC]],
            "distances": [[0.1, 0.2], [0.3]],
            "metadatas": [[{"k": 1}, {"k": 2}], [{"k": 3}]],
        },
        ["c1", "c2", "c3"],
    ),
    "Chroma get": (
        {"ids": ["c1", "c2"], "documents": [SA, SB], "metadatas": [{"k": 1}, {"k": 2}]},
        ["c1", "c2"],
    ),
    "Chroma ids and distances": (
        {"ids": [["c1", "c2"]], "distances": [[0.1, 0.2]], "documents": None, "metadatas": None},
        ["c1", "c2"],
    ),
    "Milvus": (
        {
            "code": 0,
            "cost": 1,
            "data": [
                {"distance": 0.9, "id": 551, "entity": {"text": SA}},
                {"distance": 0.8, "id": 296, "text": SB},
            ],
        },
        ["551", "296"],
    ),
    "Milvus client": (
        [
            [
                {"id": 551, "distance": 0.9, "entity": {"text": SA}},
                {"id": 296, "distance": 0.8, "entity": {"text": SB}},
            ]
        ],
        ["551", "296"],
    ),
    "Milvus printed": (
        "data: [[{'id': 551, 'distance': 0.08, 'entity': {'text': '"
        + SA
        + "'}}, {'id': 296, 'distance': 0.07, 'entity': {'text': '"
        + SB
        + "'}}]]",
        ["551", "296"],
    ),
    "LanceDB": (
        [
            {"vector": [0.1, 0.2], "item": "x", "text": SA, "id": "l1", "_distance": 0.3},
            {"vector": [0.1], "text": SB, "id": "l2", "_distance": 0.4},
        ],
        ["l1", "l2"],
    ),
    "pgvector rows": (
        [
            {
                "id": 1,
                "content": SA,
                "embedding": "[0.1,0.2]",
                "metadata": {"page": 1},
                "distance": 0.1,
            },
            {"id": 2, "content": SB, "embedding": "[0.1]", "distance": 0.2},
        ],
        ["1", "2"],
    ),
    "pgvector tuples": ([[1, SA, 0.12], [2, SB, 0.3]], ["1", "2"]),
    "pgvector LangChain columns": (
        [
            {"uuid": "u1", "document": SA, "cmetadata": {"source": A}, "custom_id": "x"},
            {"uuid": "u2", "document": SB, "cmetadata": {}},
        ],
        [A, "u2"],
    ),
    "Redis": (
        {
            "total_results": 2,
            "results": [
                {"id": "doc:1", "extra_attributes": {"title": TA, "content": SA}, "values": []},
                {"id": "doc:2", "extra_attributes": {"title": TB, "content": SB}},
            ],
        },
        ["doc:1", "doc:2"],
    ),
    "MongoDB": (
        [
            {"_id": {"$oid": "65a"}, "plot": "x", "title": TA, "fullplot": SA, "score": 0.9},
            {"_id": {"$oid": "65b"}, "title": TB, "score": 0.8},
        ],
        ["65a", "65b"],
    ),
    "Azure AI Search": (
        {
            "@odata.context": "https://s.example/$metadata#docs",
            "@odata.count": 2,
            "@search.answers": [{"key": "d9", "text": SC, "score": 0.9}],
            "value": [
                {
                    "@search.score": 3.0,
                    "@search.rerankerScore": 2.1,
                    "@search.captions": [{"text": SA, "highlights": ""}],
                    "chunk_id": "k1",
                    "parent_id": "p",
                    "title": "a.pdf",
                    "chunk": SA,
                },
                {"@search.score": 2.0, "chunk_id": "k2", "title": "b.pdf", "chunk": SB},
            ],
        },
        ["k1", "k2"],
    ),
    "Azure AI Search storage": (
        {
            "value": [
                {
                    "@search.score": 3.0,
                    "id": "s1",
                    "content": SA,
                    "metadata_storage_path": "aHR0",
                    "metadata_storage_name": "a.pdf",
                }
            ]
        },
        ["s1"],
    ),
    "Vertex AI Search": (
        {
            "results": [
                {
                    "id": "x1",
                    "document": {
                        "name": "projects/p/documents/x1",
                        "id": "x1",
                        "structData": {"title": TA},
                        "derivedStructData": {
                            "title": TA,
                            "link": A,
                            "snippets": [{"snippet": SA, "snippet_status": "SUCCESS"}],
                            "extractive_answers": [{"content": SB, "pageNumber": "1"}],
                        },
                    },
                },
                {
                    "id": "x2",
                    "document": {"id": "x2", "derivedStructData": {"link": B, "snippets": []}},
                },
            ],
            "totalSize": 2,
            "attributionToken": "t",
            "summary": {"summaryText": SC},
            "facets": [{"key": "k", "values": [{"value": "v", "count": "3"}]}],
        },
        AB,
    ),
    "Bedrock knowledge base": (
        {
            "retrievalResults": [
                {
                    "content": {"text": SA, "type": "TEXT"},
                    "location": {"type": "S3", "s3Location": {"uri": "s3://b/a.pdf"}},
                    "score": 0.6,
                    "metadata": {
                        "x-amz-bedrock-kb-source-uri": "s3://b/a.pdf",
                        "x-amz-bedrock-kb-chunk-id": "1",
                    },
                },
                {
                    "content": {"text": SB},
                    "location": {"type": "WEB", "webLocation": {"url": B}},
                    "score": 0.5,
                },
            ],
            "nextToken": "n",
        },
        ["s3://b/a.pdf", B],
    ),
    "Bedrock Kendra": (
        {
            "QueryId": "q",
            "TotalNumberOfResults": 2,
            "ResultItems": [
                {
                    "Id": "q-1",
                    "Type": "DOCUMENT",
                    "DocumentId": "k1",
                    "DocumentTitle": {"Text": TA, "Highlights": []},
                    "DocumentExcerpt": {"Text": SA, "Highlights": [{"BeginOffset": 0}]},
                    "DocumentURI": A,
                },
                {
                    "Id": "q-2",
                    "Type": "DOCUMENT",
                    "DocumentId": "k2",
                    "DocumentTitle": {"Text": TB},
                    "DocumentExcerpt": {"Text": SB},
                    "DocumentURI": B,
                },
            ],
            "FacetResults": [],
        },
        AB,
    ),
    "OpenAI vector store": (
        {
            "object": "vector_store.search_results.page",
            "search_query": ["x"],
            "data": [
                {
                    "file_id": "file-1",
                    "filename": "a.md",
                    "score": 0.9,
                    "attributes": {"author": "Ann"},
                    "content": [{"type": "text", "text": SA}, {"type": "text", "text": SC}],
                },
                {
                    "file_id": "file-2",
                    "filename": "b.md",
                    "score": 0.8,
                    "attributes": {},
                    "content": [{"type": "text", "text": SB}],
                },
            ],
            "has_more": False,
            "next_page": None,
        },
        ["file-1", "file-2"],
    ),
    "OpenAI file search results": (
        [
            {"attributes": {}, "file_id": "file-1", "filename": "a.md", "score": 0.9, "text": SA},
            {"file_id": "file-2", "filename": "b.md", "score": 0.8, "text": SB},
        ],
        ["file-1", "file-2"],
    ),
    "Cohere rerank": (
        {
            "id": "r",
            "results": [
                {"index": 1, "relevance_score": 0.99, "document": {"text": SA}},
                {"index": 0, "relevance_score": 0.3, "document": {"text": SB}},
            ],
            "meta": {"billed_units": {"search_units": 1}},
        },
        [SA, SB],
    ),
    "Cohere documents": (
        {
            "text": SC,
            "generation_id": "g",
            "citations": [{"start": 0, "end": 3, "text": "Sei", "document_ids": ["web_0"]}],
            "documents": [
                {"id": "web_0", "title": TA, "url": A, "snippet": SA},
                {"id": "web_1", "title": TB, "url": B, "snippet": SB},
            ],
            "search_results": [
                {
                    "search_query": {"text": "x", "generation_id": "g"},
                    "document_ids": ["web_0", "web_1"],
                    "connector": {"id": "web-search"},
                }
            ],
        },
        AB,
    ),
    "Jina rerank": (
        {
            "model": "jina-reranker",
            "usage": {"total_tokens": 9},
            "results": [{"index": 0, "document": {"text": SA}, "relevance_score": 0.9}],
        },
        [SA],
    ),
    "Voyage rerank": (
        {
            "object": "list",
            "data": [
                {"relevance_score": 0.9, "index": 0, "document": SA},
                {"relevance_score": 0.4, "index": 1, "document": SB},
            ],
            "model": "rerank-2",
        },
        [SA, SB],
    ),
    "OTel documents": ([{"id": "d1", "score": 0.9}, {"id": "d2", "score": 0.7}], ["d1", "d2"]),
    "BM25 pairs": ([["d1", 12.1], ["d2", 9.2]], ["d1", "d2"]),
    "Coveo": (
        {
            "totalCount": 2,
            "results": [
                {
                    "title": TA,
                    "uri": A,
                    "clickUri": A,
                    "excerpt": SA,
                    "uniqueId": "u1",
                    "raw": {"source": "S", "author": "Ann"},
                },
                {"title": TB, "uri": B, "excerpt": SB, "uniqueId": "u2"},
            ],
            "facets": [],
        },
        AB,
    ),
    "Glean": (
        {
            "results": [
                {
                    "trackingToken": "t",
                    "document": {
                        "id": "g1",
                        "datasource": "confluence",
                        "docType": "page",
                        "title": TA,
                        "url": A,
                    },
                    "title": TA,
                    "url": A,
                    "snippets": [{"snippet": "", "mimeType": "text/plain", "text": SA}],
                }
            ],
            "facetResults": [],
        },
        [A],
    ),
}
OFFICE = {
    "Microsoft Graph": (
        {
            "value": [
                {
                    "searchTerms": ["seine"],
                    "hitsContainers": [
                        {
                            "total": 2,
                            "moreResultsAvailable": False,
                            "hits": [
                                {
                                    "hitId": "h1",
                                    "rank": 1,
                                    "summary": SA,
                                    "resource": {
                                        "@odata.type": "#microsoft.graph.driveItem",
                                        "id": "h1",
                                        "webUrl": A,
                                        "name": "a.docx",
                                        "createdBy": {"user": {"displayName": "Ann"}},
                                        "parentReference": {"siteId": "s"},
                                    },
                                },
                                {
                                    "hitId": "h2",
                                    "rank": 2,
                                    "summary": SB,
                                    "resource": {
                                        "@odata.type": "#microsoft.graph.message",
                                        "id": "h2",
                                        "webLink": B,
                                        "subject": TB,
                                        "bodyPreview": SB,
                                    },
                                },
                            ],
                        }
                    ],
                }
            ]
        },
        AB,
    ),
    "Slack messages": (
        {
            "ok": True,
            "query": "x",
            "messages": {
                "total": 2,
                "pagination": {"total_count": 2, "page": 1},
                "paging": {"count": 20, "total": 2},
                "matches": [
                    {
                        "iid": "i1",
                        "team": "T",
                        "channel": {"id": "C1", "name": "general"},
                        "type": "message",
                        "user": "U1",
                        "username": "ann",
                        "ts": "1.2",
                        "text": SA,
                        "permalink": A,
                    },
                    {
                        "iid": "i2",
                        "channel": {"id": "C2", "name": "random"},
                        "type": "message",
                        "user": "U2",
                        "ts": "1.3",
                        "text": SB,
                        "permalink": B,
                    },
                ],
            },
        },
        AB,
    ),
    "Notion": (
        {
            "object": "list",
            "results": [
                {
                    "object": "page",
                    "id": "n1",
                    "url": A,
                    "parent": {"type": "workspace"},
                    "properties": {
                        "Name": {
                            "id": "title",
                            "type": "title",
                            "title": [{"type": "text", "plain_text": TA}],
                        },
                        "Tags": {
                            "id": "x",
                            "type": "multi_select",
                            "multi_select": [{"id": "1", "name": "a"}],
                        },
                    },
                },
                {
                    "object": "database",
                    "id": "n2",
                    "url": B,
                    "title": [{"type": "text", "plain_text": TB}],
                },
            ],
            "next_cursor": None,
            "has_more": False,
            "type": "page_or_database",
        },
        AB,
    ),
    "Confluence": (
        {
            "results": [
                {
                    "content": {
                        "id": "65",
                        "type": "page",
                        "status": "current",
                        "title": TA,
                        "_links": {"webui": "/spaces/X/pages/65"},
                    },
                    "title": TA,
                    "excerpt": SA,
                    "url": "/spaces/X/pages/65",
                    "resultGlobalContainer": {"title": "Space", "displayUrl": "/spaces/X"},
                    "lastModified": "2024-01-01",
                }
            ],
            "start": 0,
            "limit": 25,
            "size": 1,
            "_links": {"base": "https://wiki.example/wiki", "context": "/wiki"},
        },
        ["https://wiki.example/wiki/spaces/X/pages/65"],
    ),
    "Jira": (
        {
            "expand": "schema",
            "startAt": 0,
            "maxResults": 50,
            "total": 2,
            "issues": [
                {
                    "id": "1",
                    "self": "https://jira.example/rest/api/3/issue/1",
                    "key": "P-1",
                    "fields": {
                        "summary": TA,
                        "description": {
                            "type": "doc",
                            "content": [
                                {"type": "paragraph", "content": [{"type": "text", "text": SA}]}
                            ],
                        },
                        "assignee": {"accountId": "a", "displayName": "Ann"},
                        "labels": ["x"],
                    },
                },
                {
                    "id": "2",
                    "self": "https://jira.example/rest/api/3/issue/2",
                    "key": "P-2",
                    "fields": {"summary": TB, "description": None},
                },
            ],
        },
        ["https://jira.example/browse/P-1", "https://jira.example/browse/P-2"],
    ),
    "Zendesk": (
        {
            "count": 1,
            "results": [
                {
                    "id": 35,
                    "url": "https://z.example/api/v2/tickets/35.json",
                    "result_type": "ticket",
                    "subject": TA,
                    "description": SA,
                    "requester_id": 7,
                }
            ],
        },
        ["https://z.example/api/v2/tickets/35.json"],
    ),
    "Salesforce": (
        {
            "searchRecords": [
                {
                    "attributes": {
                        "type": "Account",
                        "url": "/services/data/v60.0/sobjects/Account/001",
                    },
                    "Id": "001",
                },
                {
                    "attributes": {
                        "type": "Account",
                        "url": "/services/data/v60.0/sobjects/Account/002",
                    },
                    "Id": "002",
                },
            ]
        },
        ["/services/data/v60.0/sobjects/Account/001", "/services/data/v60.0/sobjects/Account/002"],
    ),
    "Gmail": (
        {
            "messages": [{"id": "m1", "threadId": "t1"}, {"id": "m2", "threadId": "t2"}],
            "resultSizeEstimate": 2,
        },
        ["m1", "m2"],
    ),
    "Outlook": (
        {
            "value": [
                {
                    "id": "AAMk1",
                    "subject": TA,
                    "bodyPreview": SA,
                    "webLink": A,
                    "from": {"emailAddress": {"name": "Ann", "address": "ann@x.example"}},
                }
            ]
        },
        [A],
    ),
    "SharePoint": (
        {
            "PrimaryQueryResult": {
                "RelevantResults": {
                    "RowCount": 1,
                    "Table": {
                        "Rows": [
                            {"Cells": [{"Key": "Title", "Value": TA}, {"Key": "Path", "Value": A}]}
                        ]
                    },
                }
            }
        },
        [A],
    ),
    "Linear": (
        {
            "data": {
                "searchIssues": {
                    "nodes": [
                        {
                            "id": "l1",
                            "identifier": "ENG-1",
                            "title": TA,
                            "url": A,
                            "description": SA,
                        }
                    ],
                    "totalCount": 1,
                }
            }
        },
        [A],
    ),
}

FRAMEWORKS = {
    "LangChain documents": (
        [
            {"page_content": SA, "metadata": {"source": A}},
            {"page_content": SB, "metadata": {"source": B, "page": 2}},
        ],
        AB,
    ),
    "LangChain documents with ids": (
        [
            {"id": "l1", "page_content": SA, "metadata": {"source": "a.pdf"}, "type": "Document"},
            {"id": "l2", "page_content": SB, "metadata": {}, "type": "Document"},
        ],
        ["l1", "l2"],
    ),
    "LangChain dumps": (
        [
            {
                "lc": 1,
                "type": "constructor",
                "id": ["langchain", "schema", "document", "Document"],
                "kwargs": {"page_content": SA, "metadata": {"source": A}, "type": "Document"},
            },
            {
                "lc": 1,
                "type": "constructor",
                "id": ["langchain", "schema", "document", "Document"],
                "kwargs": {"page_content": SB, "metadata": {"source": B}},
            },
        ],
        AB,
    ),
    "LangChain pairs": (
        [
            [{"page_content": SA, "metadata": {"source": A}}, 0.8],
            [{"page_content": SB, "metadata": {"source": B}}, 0.7],
        ],
        AB,
    ),
    "LangChain retriever outputs": (
        {
            "documents": [
                {"page_content": SA, "metadata": {"source": A}},
                {"page_content": SB, "metadata": {"source": B}},
            ]
        },
        AB,
    ),
    "LangChain repr": (
        f"[Document(metadata={{'source': '{A}', 'page': 1}}, page_content='{SA}'), Document(metadata={{'source': '{B}'}}, page_content='{SB}')]",
        AB,
    ),
    "LangChain repr with id": (
        f"[Document(id='l1', metadata={{}}, page_content=\"It's {SA}\"), Document(id='l2', metadata={{}}, page_content='{SB}\\n\\nmore')]",
        ["l1", "l2"],
    ),
    "LangChain repr pairs": (
        f"[(Document(metadata={{'source': '{A}'}}, page_content='{SA}'), 0.81), (Document(metadata={{'source': '{B}'}}, page_content='{SB}'), 0.7)]",
        AB,
    ),
    "LangChain str": (
        f"page_content='{SA}' metadata={{'source': '{A}'}}\n\npage_content='{SB}' metadata={{'source': '{B}'}}",
        AB,
    ),
    "LangChain retrieve tool": (
        f"Source: {{'source': '{A}'}}\nContent: {SA}\n\nSource: {{'source': '{B}'}}\nContent: {SB}",
        AB,
    ),
    "LangChain DuckDuckGo run": (
        f"snippet: {SA}, title: {TA}, link: {A}, snippet: {SB}, title: {TB}, link: {B}",
        AB,
    ),
    "LangChain DuckDuckGo brackets": (
        f"[snippet: {SA}, title: {TA}, link: {A}], [snippet: {SB}, title: {TB}, link: {B}]",
        AB,
    ),
    "LangChain Wikipedia": (
        f"Page: {TA}\nSummary: {SA}\n\nPage: {TB}\nSummary: {SB}\nIt goes on.",
        [TA, TB],
    ),
    "LangChain arXiv": (
        f"Published: 2020-01-01\nTitle: {TA}\nAuthors: Ann, Bo\nSummary: {SA}\n\nPublished: 2021-01-01\nTitle: {TB}\nAuthors: Cy\nSummary: {SB}",
        [TA, TB],
    ),
    "LangChain PubMed": (
        f"Published: 2024--\nTitle: {TA}\nCopyright Information: x\nSummary::\n{SA}\n\nPublished: 2023--\nTitle: {TB}\nCopyright Information: y\nSummary::\n{SB}",
        [TA, TB],
    ),
    "LangChain content and artifact": (
        [
            SC,
            [
                {"page_content": SA, "metadata": {"source": A}},
                {"page_content": SB, "metadata": {"source": B}},
            ],
        ],
        AB,
    ),
    "LlamaIndex nodes": (
        [
            {
                "node": {
                    "id_": "n1",
                    "embedding": None,
                    "metadata": {"file_path": "a.txt", "file_name": "a.txt"},
                    "excluded_embed_metadata_keys": ["x"],
                    "relationships": {"1": {"node_id": "p1", "node_type": "4", "metadata": {}}},
                    "text": SA,
                    "class_name": "TextNode",
                },
                "score": 0.8,
                "class_name": "NodeWithScore",
            },
            {
                "node": {"id_": "n2", "metadata": {}, "text": SB, "class_name": "TextNode"},
                "score": 0.7,
                "class_name": "NodeWithScore",
            },
        ],
        ["n1", "n2"],
    ),
    "LlamaIndex response": (
        {
            "response": SC,
            "source_nodes": [
                {"node": {"id_": "n1", "text": SA}, "score": 0.8},
                {"node": {"id_": "n2", "text": SB}, "score": 0.7},
            ],
            "metadata": {"n1": {"file_name": "a.txt"}},
        },
        ["n1", "n2"],
    ),
    "LlamaIndex str": (
        f"Node ID: n1\nText: {SA}\nScore:  0.812\n\nNode ID: n2\nText: {SB}\nScore:  0.700\n",
        ["n1", "n2"],
    ),
    "LlamaIndex repr": (
        f"[NodeWithScore(node=TextNode(id_='n1', embedding=None, metadata={{'file_path': 'a.txt'}}, relationships={{<NodeRelationship.SOURCE: '1'>: RelatedNodeInfo(node_id='p', node_type=<ObjectType.DOCUMENT: '4'>, metadata={{}}, hash='x')}}, text='{SA}', mimetype='text/plain', start_char_idx=0), score=0.81), NodeWithScore(node=TextNode(id_='n2', text='{SB}'), score=0.7)]",
        ["n1", "n2"],
    ),
    "LlamaIndex file paths": (
        f"file_path: docs/a.txt\n\n{SA}\n\nfile_path: docs/b.txt\n\n{SB}",
        [SA, SB],
    ),
    "Haystack documents": (
        {
            "documents": [
                {
                    "id": "h1",
                    "content": SA,
                    "content_type": "text",
                    "meta": {"name": "a.txt"},
                    "score": 0.9,
                    "embedding": None,
                },
                {"id": "h2", "content": SB, "meta": {}},
            ]
        },
        ["h1", "h2"],
    ),
    "Haystack repr": (
        f"[Document(id=h1, content: '{SA}', meta: {{'name': 'a.txt'}}, score: 0.91), Document(id=h2, content: '{SB}', meta: {{}}, score: 0.5)]",
        ["h1", "h2"],
    ),
    "DSPy passages": (
        {"passages": [f"{TA} | {SA}", f"{TB} | {SB}"]},
        [f"{TA} | {SA}", f"{TB} | {SB}"],
    ),
    "DSPy long text": (
        [{"text": SA, "pid": 3, "rank": 1, "score": 20.1, "prob": 0.4, "long_text": SA}],
        [SA],
    ),
    "smolagents": (f"## Search Results\n\n[{TA}]({A})\n{SA}\n\n[{TB}]({B})\n{SB}", AB),
    "CrewAI Serper": (
        f"\nSearch results: Title: {TA}\nLink: {A}\nSnippet: {SA}\n---\nTitle: {TB}\nLink: {B}\nSnippet: {SB}\n---\n",
        AB,
    ),
    "OpenAI deep research search": (
        [
            {
                "type": "text",
                "text": dump(
                    {
                        "results": [
                            {"id": "d1", "title": TA, "url": A},
                            {"id": "d2", "title": TB, "url": B},
                        ]
                    }
                ),
            }
        ],
        AB,
    ),
    "Claude Code web search": (
        f'Web search results for query: "seine"\n\nLinks: {dump(named()[:2])}\n\nThe Seine is a river. It rises in Burgundy and reaches the sea.\n',
        AB,
    ),
    "Search-R1": (f'Doc 1(Title: "{TA}") {SA}\nDoc 2(Title: {TB}) {SB}\n', [TA, TB]),
    "Tongyi docids": (
        f"A search for 'x' found 2 results:\n\n## Web Results\n1. <docid: 7__0> [First ...]\n{SA}\n\n2. <docid: 8__1> [Second ...]\n{SB}",
        ["7__0", "8__1"],
    ),
    "WebDancer": (
        f"A Google search for 'x' found 2 results:\n\n## Web Results\n1. [{TA}]({A})\nDate published: May 2\n\n{SA}\n\n2. [{TB}]({B})\n\n{SB}",
        AB,
    ),
    "BrowseComp-Plus": (
        dump(
            [
                {"docid": "5", "score": 12.3, "snippet": SA},
                {"docid": "6", "score": 11.0, "snippet": SB},
            ]
        ),
        ["5", "6"],
    ),
    "Vercel tool output": ({"type": "json", "value": {"results": named()}}, AB),
    "Bedrock Converse": ([{"json": {"results": named()}}], AB),
    "Bedrock Converse text": ([{"text": dump(named())}], AB),
    "Semantic Kernel": (
        {
            "results": {
                "data": [
                    {"name": TA, "value": SA, "link": A},
                    {"name": TB, "value": SB, "link": B},
                ],
                "total": 2,
            }
        },
        AB,
    ),
    "AutoGen memory": (
        {
            "results": [
                {"content": SA, "mime_type": "text/plain", "metadata": {"source": A}},
                {"content": SB, "mime_type": "text/plain", "metadata": {"source": B}},
            ]
        },
        AB,
    ),
    "Mem0": (
        {
            "results": [
                {
                    "id": "m1",
                    "memory": "Likes rivers",
                    "hash": "x",
                    "metadata": None,
                    "score": 0.4,
                    "user_id": "u",
                }
            ]
        },
        ["m1"],
    ),
    "txtai": (
        [{"id": "0", "text": SA, "score": 0.5}, {"id": "1", "text": SB, "score": 0.4}],
        ["0", "1"],
    ),
    "RAGFlow": (
        {
            "code": 0,
            "data": {
                "chunks": [
                    {
                        "id": "c1",
                        "content": SA,
                        "document_id": "d1",
                        "document_keyword": "a.md",
                        "similarity": 0.9,
                        "positions": [""],
                    }
                ],
                "doc_aggs": [{"count": 1, "doc_id": "d1", "doc_name": "a.md"}],
                "total": 1,
            },
        },
        ["c1"],
    ),
    "Dify": (
        {
            "query": {"content": "x"},
            "records": [
                {
                    "segment": {
                        "id": "s1",
                        "content": SA,
                        "document": {"id": "d1", "name": "a.md"},
                    },
                    "score": 0.9,
                },
                {"segment": {"id": "s2", "content": SB, "document": {"id": "d2"}}, "score": 0.8},
            ],
        },
        ["s1", "s2"],
    ),
}
MCP = {
    "MCP text with JSON": (
        {"content": [{"type": "text", "text": dump({"results": named()})}], "isError": False},
        AB,
    ),
    "MCP one block a result": (
        {"content": [{"type": "text", "text": dump(r)} for r in named()]},
        AB,
    ),
    "MCP structured content": (
        {
            "content": [{"type": "text", "text": dump(named())}],
            "structuredContent": {"result": named()},
            "isError": False,
        },
        AB,
    ),
    "MCP structured content only": ({"content": [], "structuredContent": {"items": named()}}, AB),
    "MCP resource links": (
        {
            "content": [
                {"type": "resource_link", "uri": A, "name": TA, "description": SA},
                {"type": "resource_link", "uri": B, "name": TB, "mimeType": "text/html"},
            ]
        },
        AB,
    ),
    "MCP resources": (
        [
            {"type": "resource", "resource": {"uri": A, "mimeType": "text/plain", "text": SA}},
            {"type": "resource", "resource": {"uri": B, "text": SB}},
        ],
        AB,
    ),
    "MCP resource with JSON": (
        [
            {
                "type": "resource",
                "resource": {
                    "uri": "search://x",
                    "mimeType": "application/json",
                    "text": dump(named()),
                },
            }
        ],
        AB,
    ),
    "MCP prose and links": (
        [
            {"type": "text", "text": "Found two pages about the river."},
            {"type": "resource_link", "uri": A, "name": TA},
            {"type": "resource_link", "uri": B, "name": TB},
        ],
        AB,
    ),
    "MCP JSON-RPC": (
        {
            "jsonrpc": "2.0",
            "id": 3,
            "result": {"content": [{"type": "text", "text": dump(named())}], "isError": False},
        },
        AB,
    ),
    "MCP labelled text": (
        [
            {
                "type": "text",
                "text": f"Title: {TA}\nURL: {A}\nContent: {SA}\n\nTitle: {TB}\nURL: {B}\nContent: {SB}",
            }
        ],
        AB,
    ),
    "MCP Tavily": (
        [
            {
                "type": "text",
                "text": f"Detailed Results:\n\nTitle: {TA}\nURL: {A}\nContent: {SA}\n\nTitle: {TB}\nURL: {B}\nContent: {SB}",
            }
        ],
        AB,
    ),
    "MCP Brave": (
        [
            {
                "type": "text",
                "text": f"Title: {TA}\nDescription: {SA}\nURL: {A}\n\nTitle: {TB}\nDescription: {SB}\nURL: {B}",
            }
        ],
        AB,
    ),
    "MCP Exa": (
        [
            {
                "type": "text",
                "text": f"Title: {TA}\nAuthor: Ann\nPublished Date: 2024\nURL: {A}\nText: {SA}\n\n\nTitle: {TB}\nURL: {B}\nText: {SB}",
            }
        ],
        AB,
    ),
    "MCP DuckDuckGo": (
        [
            {
                "type": "text",
                "text": f"Found 2 search results:\n\n1. {TA}\n   URL: {A}\n   Summary: {SA}\n\n2. {TB}\n   URL: {B}\n   Summary: {SB}\n",
            }
        ],
        AB,
    ),
    "MCP text split in blocks": (
        [
            {"type": "text", "text": f"1. [{TA}]({A})\n{SA}"},
            {"type": "text", "text": f"2. [{TB}]({B})\n{SB}"},
        ],
        AB,
    ),
    "Anthropic search_result": (
        [
            {
                "type": "search_result",
                "source": A,
                "title": TA,
                "content": [{"type": "text", "text": SA}, {"type": "text", "text": SC}],
                "citations": {"enabled": True},
            },
            {
                "type": "search_result",
                "source": B,
                "title": TB,
                "content": [{"type": "text", "text": SB}],
            },
        ],
        AB,
    ),
    "Anthropic document": (
        [
            {
                "type": "document",
                "source": {"type": "text", "media_type": "text/plain", "data": SA},
                "title": TA,
                "context": SC,
            },
            {"type": "document", "source": {"type": "url", "url": B}, "title": TB},
        ],
        [TA, B],
    ),
}
TEXTS = {
    "JSON": (dump(named()), AB),
    "JSON twice": (dump(dump(named())), AB),
    "JSON indented": (json.dumps({"results": named()}, indent=2), AB),
    "fenced JSON": (f"```json\n{json.dumps(named(), indent=1)}\n```", AB),
    "fenced JSON in prose": (
        f"Here are the results:\n\n```json\n{dump({'items': named()})}\n```\nLet me know!",
        AB,
    ),
    "JSON after prose": (f"Search results for 'seine': {dump(named())}", AB),
    "JSON before prose": (f"{dump(named())}\n\nUse these sources to answer.", AB),
    "JSON lines": ("\n".join(dump(r) for r in named(n=3)), ABC),
    "JSON lines in prose": ("Results:\n" + "\n".join(dump(r) for r in named(n=3)) + "\nDone.", ABC),
    "Python repr": (str(named()), AB),
    "Python repr in prose": (f"Observation: {named()}", AB),
    "Python repr of an envelope": (str({"query": "x", "results": named(), "answer": None}), AB),
    "Python repr with quotes": (
        str(
            [
                {"url": A, "title": 'It\'s "first"', "snippet": SA},
                {"url": B, "title": TB, "snippet": None},
            ]
        ),
        AB,
    ),
    "objects of a class": (
        f"[SearchResult(title='{TA}', url='{A}', snippet='{SA}'), SearchResult(title='{TB}', url='{B}', snippet=None)]",
        AB,
    ),
    "list of JSON strings": ([dump(r) for r in named()], AB),
    "CSV": (f'title,url,snippet\n{TA},{A},"{SA}"\n{TB},{B},"{SB}"\n', AB),
    "TSV": (f"rank\ttitle\turl\n1\t{TA}\t{A}\n2\t{TB}\t{B}", AB),
    "semicolons": (f"title;link;description\n{TA};{A};x\n{TB};{B};y", AB),
    "CSV with docids": (f'docid,score,text\nd1,0.9,"{SA}"\nd2,0.8,"{SB}"', ["d1", "d2"]),
    "Markdown table": (
        f"| # | Title | URL | Snippet |\n|---|:-----|---|---|\n| 1 | {TA} | {A} | {SA} |\n| 2 | {TB} | {B} | {SB} |",
        AB,
    ),
    "Markdown table after prose": (
        f"Found:\n\nTitle | Link\n--- | ---\n{TA} | [link]({A})\n{TB} | [link]({B})\n\nThat is all.",
        AB,
    ),
    "psql table": (
        f" id | title | content\n----+-------+---------\n d1 | {TA} | {SA}\n d2 | {TB} | {SB}\n(2 rows)",
        ["d1", "d2"],
    ),
    "rows with a header": ([["title", "url"], [TA, A], [TB, B]], AB),
    "columns and rows": ({"columns": ["id", "title", "url"], "rows": [[1, TA, A], [2, TB, B]]}, AB),
    "columns and data": (
        {"columns": ["title", "url"], "index": [0, 1], "data": [[TA, A], [TB, B]]},
        AB,
    ),
    "data frame by column": ({"title": {"0": TA, "1": TB}, "url": {"0": A, "1": B}}, AB),
    "parallel lists": ({"titles": [TA, TB], "urls": [A, B], "snippets": [SA, SB]}, AB),
    "YAML": (
        f"results:\n  - title: {TA}\n    url: {A}\n    snippet: {SA}\n  - title: {TB}\n    url: {B}\n    snippet: {SB}\n",
        AB,
    ),
    "title url snippet": (
        f"Title: {TA}\nURL: {A}\nSnippet: {SA}\n\nTitle: {TB}\nURL: {B}\nSnippet: {SB}",
        AB,
    ),
    "url first": (f"URL: {A}\nTitle: {TA}\n\nURL: {B}\nTitle: {TB}", AB),
    "bold labels": (
        f"**Title:** {TA}\n**URL:** {A}\n**Snippet:** {SA}\n\n**Title:** {TB}\n**URL:** {B}\n**Snippet:** {SB}",
        AB,
    ),
    "labels with separators": (
        f"Title: {TA}\nLink: {A}\n{'=' * 20}\nTitle: {TB}\nLink: {B}\n{'=' * 20}",
        AB,
    ),
    "numbered labels": (
        f"1. Title: {TA}\n   URL: {A}\n   Snippet: {SA}\n2. Title: {TB}\n   URL: {B}\n   Snippet: {SB}",
        AB,
    ),
    "numbered headings": (
        f"Result 1:\nTitle: {TA}\nURL: {A}\n\nResult 2:\nTitle: {TB}\nURL: {B}",
        AB,
    ),
    "Markdown headings": (
        f"## Web Search Results\n\n### 1. {TA}\nURL: {A}\n{SA}\n\n### 2. {TB}\nURL: {B}\n{SB}\n",
        AB,
    ),
    "German labels": (
        f"Titel: {TA}\nLink: {A}\nZusammenfassung: {SA}\n\nTitel: {TB}\nLink: {B}\nZusammenfassung: {SB}",
        AB,
    ),
    "French labels": (
        f"Titre : {TA}\nLien : {A}\nExtrait : {SA}\n\nTitre : {TB}\nLien : {B}\nExtrait : {SB}",
        AB,
    ),
    "Chinese labels": (
        f"标题：{TA}\n链接：{A}\n摘要：{SA}\n\n标题：{TB}\n链接：{B}\n摘要：{SB}",
        AB,
    ),
    "Japanese labels": (
        f"タイトル: {TA}\nリンク: {A}\n概要: {SA}\n\nタイトル: {TB}\nリンク: {B}\n概要: {SB}",
        AB,
    ),
    "labels on one line": (
        f"Title: {TA} | URL: {A} | Snippet: {SA}\nTitle: {TB} | URL: {B} | Snippet: {SB}",
        AB,
    ),
    "document labels": (
        f"Document: {TA}\nContent: {SA}\n\nDocument: {TB}\nContent: {SB}",
        [TA, TB],
    ),
    "ids and text": (f"ID: d1\nText: {SA}\n\nID: d2\nText: {SB}", ["d1", "d2"]),
    "source and content": (f"Source: {A}\nContent: {SA}\n\nSource: {B}\nContent: {SB}", AB),
    "multi-line content": (
        f"Title: {TA}\nURL: {A}\nContent: {SA}\n\nA second paragraph.\n- a bullet\n\nTitle: {TB}\nURL: {B}\nContent: {SB}",
        AB,
    ),
    "numbered links": (f"1. [{TA}]({A})\n2. [{TB}]({B})", AB),
    "numbered links with snippets": (f"1. [{TA}]({A}) - {SA}\n2. [{TB}]({B}) - {SB}", AB),
    "bulleted links": (f"- [{TA}]({A}): {SA}\n- [{TB}]({B}): {SB}", AB),
    "bold links": (f"1. **[{TA}]({A})**\n   {SA}\n\n2. **[{TB}]({B})**\n   {SB}", AB),
    "links as headings": (f"### [{TA}]({A})\n{SA}\n\n### [{TB}]({B})\n{SB}", AB),
    "numbered titles and URLs": (f"1. {TA}\n   {A}\n   {SA}\n\n2. {TB}\n   {B}\n   {SB}", AB),
    "titles, snippets, URLs": (f"1. {TA}\n   {SA}\n   🔗 {A}\n2. {TB}\n   {SB}\n   🔗 {B}", AB),
    "bracketed numbers": (f"[1] {TA}\nURL: {A}\n{SA}\n\n[2] {TB}\nURL: {B}\n{SB}", AB),
    "title - URL": (f"1. {TA} - {A}\n2. {TB} - {B}", AB),
    "title (URL)": (f"* {TA} ({A})\n* {TB} ({B})", AB),
    "URL - title": (f"- {A} - {TA}\n- {B} - {TB}", AB),
    "title, URL and text in paragraphs": (f"{TA}\n{A}\n{SA}\n\n{TB}\n{B}\n{SB}", AB),
    "lines of URLs": (f"{A}\n{B}\n{C}", ABC),
    "one URL": (A, [A]),
    "list of URLs": (ABC, ABC),
    "list of ids": (["doc-1", "doc-2"], ["doc-1", "doc-2"]),
    "list of passages": ([SA, SB], [SA, SB]),
    "lines with links": (f"[{TA}]({A})\n[{TB}]({B})\n[{TC}]({C})", ABC),
    "bracketed passages": (f"[1] {SA}\n\n[2] {SB}", [SA, SB]),
    "numbered documents": (f"Document 1:\n{SA}\n\nDocument 2:\n{SB}", [SA, SB]),
    "numbered passages with scores": (
        f"Passage 1 (score: 0.91): {SA}\nPassage 2 (score: 0.85): {SB}",
        [SA, SB],
    ),
    "bracketed documents": (f"[Document 1] {SA}\n[Document 2] {SB}", [SA, SB]),
    "tagged documents": (
        f'<document index="1"><source>{A}</source><document_content>{SA}</document_content></document>\n<document index="2"><source>{B}</source><document_content>{SB}</document_content></document>',
        AB,
    ),
    "tagged documents in tags": (
        f'<documents>\n<document id="d1">\n<title>{TA}</title>\n<content>{SA}</content>\n</document>\n<document id="d2">\n<title>{TB}</title>\n<content>{SB}</content>\n</document>\n</documents>',
        ["d1", "d2"],
    ),
    "tagged with attributes": (
        f"<doc id='d1' url='{A}'>{SA}</doc><doc id='d2' url='{B}'>{SB}</doc>",
        AB,
    ),
    "tagged results": (
        f"<results><result><title>{TA}</title><url>{A}</url></result><result><title>{TB}</title><url>{B}</url></result></results>",
        AB,
    ),
    "tagged items": (
        f'<item index="1"><source>{A}</source><page_content>{SA}</page_content></item><item index="2"><source>{B}</source><page_content>{SB}</page_content></item>',
        AB,
    ),
    "tagged search results": (
        f"<search_results><search_result><link>{A}</link><snippet>{SA}</snippet></search_result><search_result><link>{B}</link><snippet>{SB}</snippet></search_result></search_results>",
        AB,
    ),
    "tagged in prose": (
        f"I found this:\n<context>\n<document>{SA}</document>\n<document>{SB}</document>\n</context>\nDone.",
        [SA, SB],
    ),
    "tagged sources": (
        f'<source url="{A}" title="{TA}">{SA}</source>\n<source url="{B}">{SB}</source>',
        AB,
    ),
    "tagged with metadata": (
        f"<document><metadata><title>{TA}</title><url>{A}</url></metadata><text>{SA}</text></document><document><metadata><title>{TB}</title><url>{B}</url></metadata><text>{SB}</text></document>",
        AB,
    ),
    "numbered tags": (f"<doc1>{SA}</doc1>\n<doc2>{SB}</doc2>", [SA, SB]),
    "unclosed tags": (f"<doc id=d1> {SA}\n<doc id=d2> {SB}", ["d1", "d2"]),
    "one tagged document": (f"<document><title>{TA}</title><url>{A}</url>{SA}</document>", [A]),
    "RSS": (
        f"<?xml version='1.0'?><rss><channel><title>News</title><link>https://n.example</link><item><title>{TA}</title><link>{A}</link><description><![CDATA[{SA}]]></description></item><item><title>{TB}</title><link>{B}</link></item></channel></rss>",
        AB,
    ),
    "PubMed XML": (
        f'<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID Version="1">111</PMID><Article><ArticleTitle>{TA}</ArticleTitle><Abstract><AbstractText>{SA}</AbstractText></Abstract></Article></MedlineCitation></PubmedArticle><PubmedArticle><MedlineCitation><PMID>222</PMID><Article><ArticleTitle>{TB}</ArticleTitle></Article></MedlineCitation></PubmedArticle></PubmedArticleSet>',
        ["111", "222"],
    ),
}
ENVELOPES = {
    "list in list": ([named(), named(n=3)[2:]], ABC),
    "results in output in data": ({"data": {"output": {"results": named()}}}, AB),
    "one list for each query": (
        [{"query": "x", "results": named(n=1)}, {"query": "y", "results": named()[1:]}],
        AB,
    ),
    "one list for each query, the same result twice": (
        [{"query": "x", "results": named()}, {"query": "y", "results": named(n=1)}],
        [A, B, A],
    ),
    "one list for each query by key": (
        {"seine source": named(n=1), "seine length": named()[1:]},
        AB,
    ),
    "one list for each source": ({"wikipedia": named(n=1), "arxiv": named()[1:]}, AB),
    "the same list under two names": ({"results": named(), "sources": named(n=1)}, AB),
    "the same list as raw results": ({"documents": named(), "raw_results": named()}, AB),
    "results and the URLs they have": ({"results": named(), "urls": [A, B]}, AB),
    "camel case": (
        [
            {"pageUrl": A, "pageTitle": TA, "textSnippet": SA},
            {"pageUrl": B, "pageTitle": TB, "textSnippet": SB},
        ],
        AB,
    ),
    "kebab case": ([{"source-url": A, "doc-title": TA}, {"source-url": B, "doc-title": TB}], AB),
    "capitals": (
        [{"URL": A, "Title": TA, "Snippet": SA}, {"URL": B, "Title": TB, "Snippet": SB}],
        AB,
    ),
    "key to document": (
        {"doc1": {"title": TA, "text": SA}, "doc2": {"title": TB, "text": SB}},
        ["doc1", "doc2"],
    ),
    "key to text": ({"doc1": SA, "doc2": SB}, ["doc1", "doc2"]),
    "URL to text": ({A: SA, B: SB}, AB),
    "URL to object": ({A: {"title": TA, "content": SA}, B: {"title": TB, "content": SB}}, AB),
    "file to text": ({"docs/a.md": SA, "docs/b.md": SB}, ["docs/a.md", "docs/b.md"]),
    "keyed documents in an envelope": (
        {"results": {"d1": {"text": SA}, "d2": {"text": SB}}},
        ["d1", "d2"],
    ),
    "score and document": (
        [
            {"score": 0.9, "document": {"url": A, "text": SA}},
            {"score": 0.8, "document": {"url": B, "text": SB}},
        ],
        AB,
    ),
    "document as text": (
        [{"score": 0.9, "document": SA}, {"score": 0.8, "document": SB}],
        [SA, SB],
    ),
    "unknown wrapper": (
        [
            {"Artikel": {"url": A, "title": TA}, "score": 1},
            {"Artikel": {"url": B, "title": TB}, "score": 0.5},
        ],
        AB,
    ),
    "metadata as a JSON string": (
        [{"text": SA, "metadata": dump({"url": A})}, {"text": SB, "metadata": dump({"url": B})}],
        AB,
    ),
    "results with chunks": (
        {
            "results": [
                {
                    "document_id": "d1",
                    "title": TA,
                    "chunks": [{"id": "c1", "text": SA}, {"id": "c2", "text": SB}],
                },
                {"document_id": "d2", "title": TB, "chunks": [{"id": "c3", "text": SC}]},
            ]
        },
        ["d1", "d2"],
    ),
    "results with authors and tags": (
        [
            {
                "id": "p1",
                "title": TA,
                "authors": [
                    {"id": "a1", "name": "Ann"},
                    {"id": "a2", "name": "Bo"},
                    {"id": "a3", "name": "Cy"},
                ],
                "tags": [{"id": 1, "name": "x"}],
            }
        ],
        ["p1"],
    ),
    "paginated": (
        {
            "page": 1,
            "per_page": 10,
            "total": 2,
            "links": {"self": "https://api.example/?p=1", "next": "https://api.example/?p=2"},
            "items": named(),
        },
        AB,
    ),
    "facets beside": (
        {
            "facets": [{"name": "type", "values": [{"id": "pdf", "name": "PDF", "count": 3}]}],
            "hits": named(),
        },
        AB,
    ),
    "a null in the list": ([named()[0], None, named()[1]], AB),
    "a trailer in the list": ([*named(), {"total": 2, "next_page": None}], AB),
    "an error beside results": (
        {"results": named(), "errors": [{"message": "one shard failed"}]},
        AB,
    ),
    "null error": ({"error": None, "results": named()}, AB),
    "status and data": ({"status": "success", "code": 200, "message": "ok", "data": named()}, AB),
    "JSON string inside": ({"output": dump({"results": named()})}, AB),
    "text inside": ({"result": f"1. [{TA}]({A})\n2. [{TB}]({B})"}, AB),
    "texts in a list": (
        [f"Title: {TA}\nURL: {A}\nSnippet: {SA}", f"Title: {TB}\nURL: {B}\nSnippet: {SB}"],
        AB,
    ),
    "text as a list": ([{"url": A, "text": [SA, SC]}, {"url": B, "text": [SB]}], AB),
    "titles alone": ({"results": [{"title": TA}, {"title": TB}]}, [TA, TB]),
    "ids alone": ([{"id": "d1"}, {"id": "d2"}], ["d1", "d2"]),
    "retrieved docids": ({"retrieved_docids": ["5", "6"], "query_id": "1"}, ["5", "6"]),
    "contents alone": ([{"content": SA}, {"content": SB}], [SA, SB]),
    "one document": ({"title": TA, "url": A, "content": SA}, [A]),
    "one document in an envelope": ({"result": {"title": TA, "url": A, "content": SA}}, [A]),
    "one document with sections": (
        {"id": "d1", "title": TA, "text": SA, "images": [], "links": []},
        ["d1"],
    ),
    "search with its own address": (
        {"url": "https://api.example/search?q=x", "title": "Search", "results": named()},
        AB,
    ),
    "bytes": (dump(named()).encode(), AB),
    "tuples": (((named()[0], 0.5), (named()[1], 0.4)), AB),
}
GROUPS = {
    "web": WEB,
    "scholar": SCHOLAR,
    "stores": STORES,
    "office": OFFICE,
    "frameworks": FRAMEWORKS,
    "mcp": MCP,
    "texts": TEXTS,
    "envelopes": ENVELOPES,
}
SHAPES = {
    f"{group}: {name}": shape for group, shapes in GROUPS.items() for name, shape in shapes.items()
}


def key_of(result):
    """What a result is known by."""
    return next(
        (str(result[n]) for n in ("url", "id", "title", "content", "snippet") if n in result), None
    ) or next(iter(result.get("ids", {}).values()), "")
