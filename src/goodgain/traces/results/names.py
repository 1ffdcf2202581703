"""What tools call the fields of a result, and the lists that hold results.

Names are compared by their words, so `pageContent`, `page-content` and `page_content` are one. Columns of
tables of runs and judgments: goodgain.io.columns.
"""

from __future__ import annotations

import re

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_]+|\d+")


def words_of(name: str) -> list[str]:
    """The words of a field's name, in lower case."""
    return [word.casefold() for word in _WORD.findall(name[:100])]


def normal(name: str) -> str:
    """A field's name in lower case with its words joined by underscores."""
    return "_".join(words_of(name))


# The usual name first: where an object has several, the first is taken.
ROLES = {
    "url": (
        "html_url", "web_url", "webui", "url", "link", "href", "uri", "permalink", "source_url", "page_url",
        "document_url", "doc_url", "canonical_url", "web_view_link", "first_url", "abstract_url", "article_url",
        "story_url", "file_url", "click_uri", "document_uri", "source_uri", "target_url", "external_url",
        "result_url", "page_link", "unescaped_url", "landing_page_url", "concepturi", "url_private", "weblink",
        "web_link", "links", "urls", "pdf_url", "download_url", "formatted_url", "guid", "image_url",
    ),
    "title": (
        "title", "page_title", "headline", "heading", "document_title", "doc_title", "article_title",
        "paper_title", "title_no_formatting", "display_title", "html_title", "titles",
    ),
    "name": (
        "name", "filename", "file_name", "display_name", "document_name", "doc_name", "label", "full_name",
        "site_name", "subject",
    ),
    "snippet": (
        "snippet", "excerpt", "snippets", "highlights", "passages", "html_snippet", "extra_snippets",
        "text_snippet", "captions", "search_snippet", "extractive_answers", "extractive_segments",
    ),
    "summary": (
        "abstract", "description", "summary", "meta_description", "short_description", "abstract_text",
        "blurb", "teaser", "caption", "overview", "long_description",
    ),
    "content": (
        "content", "text", "page_content", "contents", "passage", "body", "raw_content", "chunk", "extract",
        "chunk_text", "full_text", "document_content", "document_text", "passage_text", "text_content",
        "body_text", "page_text", "node_text", "chunk_content", "raw_text", "plain_text", "long_text",
        "clean_text", "markdown", "content_text", "selftext", "story_text", "comment_text", "paragraph",
        "sentence", "segment", "transcript", "body_markdown", "text_body", "merged_content", "text_chunk",
        "page_body", "article_body", "article_text", "doc_text", "doc_content", "html", "texts", "document_body",
        "answer_text", "document", "doc",
    ),
    "score": (
        "score", "similarity", "relevance_score", "search_score", "rerank_score", "reranker_score",
        "similarity_score", "relevance", "certainty", "text_match", "cosine_similarity", "match_score",
        "vector_score", "ranking_score", "final_score",
    ),
    "gain": ("gain",),
    "doc": ("docid", "doc_id", "document_id", "docno", "doc_no"),
    "id": (
        "id", "uid", "uuid", "object_id", "paper_id", "pageid", "page_id", "pmid", "pmcid", "arxiv_id", "doi",
        "entry_id", "question_id", "post_id", "article_id", "record_id", "point_id", "vector_id", "pk",
        "resource_id", "external_id", "corpus_id", "hit_id", "asin", "nct_id", "iid", "key", "video_id", "path_id",
        "source_id", "reference_id", "rid", "identifier", "page_ref", "ref_id", "product_id", "sku", "story_id",
    ),
    "path": (
        "path", "file_path", "filepath", "file", "metadata_storage_path", "storage_path", "relative_path",
        "source_file", "location_path", "display_url", "sourcefile", "sourcepage", "source_path", "key_path",
    ),
}  # fmt: skip
IDS = frozenset((
    "chunk_id", "passage_id", "node_id", "file_id", "unique_id", "message_id", "event_id", "item_id",
    "artifact_id", "email_url", "site_id", "web_id", "list_id", "original_id", "channel_id", "plugin_id",
))  # fmt: skip
FIELDS = frozenset((
    "author", "authors", "file_name", "filename", "file_type", "modified", "modified_by", "received",
    "from", "to", "subject", "start", "end", "organizer", "organizer_email", "participants",
    "department", "company", "office", "page_age", "date",
))  # fmt: skip
TYPES = frozenset((
    "web", "webpage", "passage", "chunk", "file", "email", "event", "message", "chat", "person",
    "external", "transcript",
))  # fmt: skip
# Objects inside a result that hold its fields.
WRAPPERS = {
    name: rank
    for rank, name in enumerate((
        "document", "source", "doc", "node", "chunk", "resource", "item", "record", "page", "article", "paper",
        "entity", "payload", "properties", "fields", "struct_data", "derived_struct_data", "kwargs", "data",
        "metadata", "meta", "attributes", "additional", "extra_info", "content", "snippet", "hit", "web",
        "retrieved_context", "maps", "volume_info", "result", "raw", "info", "post", "entry", "product", "value",
        "location", "links", "custom_metadata", "additional_metadata", "cmetadata", "object", "story", "text",
        "news", "highlight_result", "bib", "url_citation", "citation", "passage", "webpage", "segment", "extra_attributes",
    ))
}  # fmt: skip
# Fields that say nothing about whether an object is a document.
_NEUTRAL = frozenset((
    "rank", "index", "position", "distance", "type", "kind", "version", "values", "vector", "embedding", "vectors",
    "namespace", "collection", "object", "lang", "language", "timestamp", "created", "created_at", "updated_at",
    "updated", "published", "published_date", "published_at", "engine", "engines", "favicon", "ns", "size",
    "wordcount", "word_count", "language_code", "shard", "t", "order", "number", "page", "page_number", "category",
    "offset", "domain", "site", "host", "lc", "class_name", "mimetype", "mime_type", "shard_key", "order_value",
    "year", "venue", "publisher", "status", "state", "owner", "username", "user", "thumbnail", "image", "icon",
    "source", "age", "last_modified", "modified_at", "concept", "search_type", "cache_control", "chunk_index",
))  # fmt: skip
_PREFIXES = frozenset((
    "document", "doc", "page", "result", "source", "article", "web", "chunk", "passage", "node", "full", "raw", "main",
    "original", "clean", "html", "plain", "short", "long", "target", "canonical", "record", "item", "entry", "paper",
    "file", "hit", "search", "es", "metadata", "text", "meta", "og", "dc", "product", "post", "news", "book", "story",
    "matched", "retrieved", "best", "top", "first", "the", "my", "content", "body", "wiki", "kb", "faq", "ticket",
    "issue", "case", "section", "display", "primary", "english", "parent", "view", "section",
))  # fmt: skip
_SUFFIXES = frozenset((
    "t", "s", "txt", "ss", "ts", "text", "general", "en", "de", "fr", "es", "str", "string", "value", "raw", "ngram",
    "plain", "md", "clean", "suggest", "i", "exact", "kw", "keyword",
))  # fmt: skip
_SIMPLE = {
    "url": "url", "uri": "url", "link": "url", "href": "url", "title": "title", "text": "content",
    "content": "content", "body": "content", "passage": "content", "snippet": "snippet", "excerpt": "snippet",
    "description": "summary", "summary": "summary", "abstract": "summary", "score": "score", "name": "name",
    "headline": "title", "path": "path",
}  # fmt: skip
Role = tuple[str, int]
Field = tuple[str, int, str, bool]  # role, rank, normal name, whether it is kept under `fields`
FOREIGN: Role = ("foreign", 0)
NEUTRAL: Role = ("neutral", 0)
_TABLE: dict[str, Role] = dict.fromkeys((*_NEUTRAL, *FIELDS), NEUTRAL)
_TABLE |= {n: (role, rank) for role, names in ROLES.items() for rank, n in enumerate(names)}
_TABLE |= {n: ("ids", 0) for n in IDS}
_TABLE |= {"source": ("source", 0), "type": ("type", 0), "role": ("speaker", 0)}
_cache: dict[str, Field] = {}


def field_of(name: str) -> Field:
    """What a field of this name holds."""
    field = _cache.get(name)
    if field is None:
        words = words_of(name)
        joined = "_".join(words)
        field = (*_find_role(words), joined, joined in FIELDS)
        if len(_cache) < 20_000 and len(name) <= 100:
            _cache[name] = field
    return field


def role_of(name: str) -> str:
    """The role of a field of this name: "url", "title", "content" ..."""
    return field_of(name)[0]


def _find_role(words: list[str]) -> Role:
    role = _TABLE.get("_".join(words))
    if role is not None:
        return role
    while len(words) > 1 and words[-1] in _SUFFIXES:  # the fields of Solr: title_txt_en
        words = words[:-1]
        role = _TABLE.get("_".join(words))
        if role is not None:
            return role
    if len(words) > 1 and words[0] == "search":  # @search.score
        return _TABLE.get("_".join(words[1:]), NEUTRAL)
    if len(words) > 1 and words[-1] in _SIMPLE and _PREFIXES.issuperset(words[:-1]):
        return _SIMPLE[words[-1]], 90 + len(words)
    if len(words) > 1 and words[-1] in (
        "id",
        "at",
        "date",
        "time",
        "type",
        "rank",
        "index",
        "count",
        "on",
    ):
        return NEUTRAL
    return FOREIGN


# --- lists ---

# Lists that hold the results of an envelope.
LISTS = frozenset((
    "results", "result", "documents", "document", "docs", "items", "hits", "hit", "organic_results", "organic",
    "search_results", "matches", "data", "value", "values", "output", "outputs", "response", "content", "artifact",
    "retrieved", "retrieved_documents", "retrieved_docs", "retrieval_results", "web", "web_pages", "web_results",
    "news", "news_results", "top_stories", "articles", "papers", "pages", "passages", "chunks", "nodes",
    "source_nodes", "records", "entries", "entry", "points", "objects", "issues", "messages", "files", "children",
    "rows", "list", "contexts", "context", "retrieved_contexts", "webpages", "links", "urls", "posts", "threads",
    "ids", "idlist", "docids", "retrieved_docids", "doc_ids", "search", "sections", "products", "places", "shopping",
    "emails", "events", "questions", "answers_list", "discussions", "publications", "works", "studies", "grounding_chunks",
    "root", "hits_containers", "web_search_results", "search_result", "top_results", "ranked_results", "neighbors",
    "snippets", "structured_content", "returns", "payload", "body", "feed", "channel", "collection", "repositories",
    "scholar", "patents", "result_list", "resultset", "results_list", "found", "web_search", "local_results",
))  # fmt: skip
# Lists that say, if they are empty, that there are no results.
MAIN = frozenset((
    "results", "result", "documents", "docs", "items", "hits", "organic_results", "organic", "search_results", "matches",
    "data", "value", "output", "outputs", "response", "retrieved", "retrieved_documents", "retrieved_docs",
    "retrieval_results", "web", "web_pages", "web_results", "news", "articles", "papers", "pages", "passages", "chunks",
    "nodes", "source_nodes", "records", "entries", "entry", "points", "objects", "issues", "messages", "files", "rows",
    "contexts", "context", "retrieved_contexts", "webpages", "urls", "posts", "threads", "ids", "idlist", "docids",
    "retrieved_docids", "doc_ids", "search", "products", "places", "publications", "works", "sources", "hits_containers",
    "web_search_results", "content", "structured_content", "list", "neighbors", "result_list", "search_result",
))  # fmt: skip
# Objects beside the results that may say how many there are.
COUNTERS = frozenset(
    (
        "search_information",
        "searchinfo",
        "meta",
        "metadata",
        "pagination",
        "paging",
        "page_info",
        "info",
    )
)
# Lists that repeat or support the results: used only if there is no other list.
SUPPORTING = frozenset((
    "sources", "source_documents", "citations", "references", "annotations", "raw_results", "grounding_supports",
    "footnotes", "evidence", "related_articles", "cited_documents", "attachments", "used_documents", "raw", "debug",
    "original_results", "further_reading", "url_citations", "web_sources",
))  # fmt: skip
# Media beside the results: used only if nothing is said of results.
MEDIA = frozenset((
    "images", "image_results", "images_results", "videos", "video_results", "inline_images", "inline_videos",
    "recipes_results", "shopping_results", "podcasts", "short_videos", "locations", "faq", "related_topics",
))  # fmt: skip
# Subtrees that never hold results.
EXCLUDED = frozenset((
    "error", "errors", "warnings", "usage", "pagination", "paging", "facets", "facet_counts", "facet_fields",
    "facet_distribution", "facet_queries", "aggregations", "aggs", "buckets", "filters", "suggest", "suggestions",
    "suggestion", "related_searches", "related_queries", "people_also_ask", "people_also_search_for", "also_asked",
    "spelling", "spell_check", "spellcheck", "corrections", "query_suggestions", "related_questions", "did_you_mean",
    "highlighting", "highlight", "highlight_result", "snippet_result", "highlights_info", "matches_position",
    "authors", "author", "contributors", "editors", "creators", "tags", "labels", "categories", "topics", "keywords",
    "genres", "owner", "user", "users", "assignee", "reporter", "participants", "attendees", "members", "reactions",
    "sitelinks", "breadcrumbs", "breadcrumb", "thumbnails", "thumbnail", "icon", "icons", "favicon", "ads",
    "top_ads", "bottom_ads", "knowledge_graph", "knowledge_panel", "infobox", "infoboxes", "answer_box", "answers",
    "answer", "featured_snippet", "mixed", "shards", "explanation", "search_parameters", "search_metadata",
    "search_information", "parameters", "params", "request", "queries", "query_context", "response_header",
    "headers", "settings", "config", "schema", "mappings", "columns", "choices", "embedding", "embeddings", "vector",
    "vectors", "tool_calls", "tools", "thoughts", "reasoning", "steps", "intermediate_steps", "logs", "log",
    "traces", "cost_dollars", "billing", "rate_limit", "navigation", "menu", "see_results_about", "weather",
    "alerts", "stats", "statistics", "timings", "profile", "field_statistics", "types", "languages", "rankings",
    "ranking_response", "relationships", "embedded_suggestions", "input", "inputs", "arguments", "args", "prompt",
    "auto_suggest", "search_answers", "search_facets", "sort", "include", "logprobs", "safety_ratings", "entities",
))  # fmt: skip
# Counts that say how many results there are.
TOTALS = frozenset((
    "total", "total_results", "total_hits", "num_found", "count", "nb_hits", "found", "total_count", "total_size",
    "number_of_results", "num_results", "result_count", "results_count", "estimated_total_hits", "hits", "matches",
    "total_items", "returned", "number_of_matches", "odata_count", "totalresults", "numfound", "n_results",
    "total_estimated_matches", "totalhits", "num_hits", "n_hits", "results", "documents_found", "items_count",
))  # fmt: skip
