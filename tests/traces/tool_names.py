"""Names of tools with what they are by name alone, and calls that need more evidence."""

from __future__ import annotations

SEARCHES = """
wikipedia arxiv tavily exa google_serper knowledge_base retriever rag lookup_docs brave duckduckgo perplexity bing file_search vector_store
ask_kb semantic_scholar pubmed similarity search web_search websearch WebSearch web-search searchWeb search_web google_search googleSearch GoogleSearch
search_documents search_docs docs_search search_knowledge_base query_knowledge_base retrieve retrieve_documents retrieve_context document_retriever
RetrieverTool create_retriever_tool rag_search rag_query vector_search vectorSearch similarity_search semantic_search hybrid_search bm25_search
knn_search tavily_search TavilySearchResults tavily_search_results_json brave_search brave_web_search BraveSearch duckduckgo_search DuckDuckGoSearchRun
duckduckgo_results_json WikipediaQueryRun ArxivQueryRun PubmedQueryRun wikipedia_search search_wikipedia arxiv_search pubmed_search
search_pubmed semantic_scholar_search GoogleSerperRun google_serper_results serpapi SerpAPIWrapper searxng bing_search BingSearch exa_search web_search_exa
perplexity_search kagi_search you_search jina_search linkup_search firecrawl_search search_engine internet_search
news_search search_news image_search search_papers search_arxiv search_files search_emails search_messages slack_search search_confluence
jira_search search_code github_search search_repositories search_issues elasticsearch_search opensearch_query query_vector_store query_docs
query_documents query_index find_documents find_docs find_papers find_similar find_relevant_documents get_relevant_documents get_similar_documents
memory_search search_memory product_search search_products file_search_tool azure_ai_search vertex_ai_search bedrock_retrieve search_and_fetch
mcp__tavily__tavily-search mcp__brave-search__brave_web_search mcp__exa__web_search_exa mcp__github__search_code mcp__wikipedia__search
mcp__knowledge_base__query functions.web_search browser.search file_search.msearch tools.search github.search_issues web_search_preview
web_search_20250305 hosted_web_search google_scholar hackernews stackexchange docs_query kb_lookup knowledge_base_lookup faq_lookup policy_search
get-library-docs microsoft_docs_search
""".split()
OPENS = """
visit fetch open open_page browse get_document read_url scrape read_file web_fetch crawl click visit_page visit_webpage VisitWebpageTool
visit_url fetch_url fetch_page fetch_webpage fetch_content WebFetch webFetch open_url open_document open_link open_result read_page read_document
read_webpage scrape_url scrape_website crawl_url get_page get_page_content get_webpage get_url get_article get_file_contents get_contents
get_document_by_id tavily_extract extract_content extract_url firecrawl_scrape exa_get_contents get_paper download_paper load_url load_document
mcp__fetch__fetch mcp__filesystem__read_file mcp__playwright__browser_click browser.open functions.open_page url_content click_link jina_reader
ReadFile readFile read_article view_page get_transcript
""".split()
OTHERS = """
search_and_replace deep_research execute_sql_query replace research_report calculator code python_repl query_database submit_query search_history
execute_query run_query sql_query query_sql_database text2sql nl2sql_tool run_sql bash shell terminal code_interpreter python execute_python run_code
calculate math wolfram_alpha get_weather weather current_time get_date send_email create_ticket update_document delete_document
add_document insert_documents upsert_vectors index_documents create_search_index save_search_results rerank rerank_results
rewrite_query generate_queries generate_search_queries expand_query decompose_query summarize summarize_search_results evaluate_search_results
find_and_replace find_in_page browser.find search_in_page find_element grep glob Grep Glob ls list_files think todo_write TodoWrite task transfer_to_agent handoff
finish final_answer submit_answer answer_question translate convert_currency get_stock_price draw_chart screenshot scroll book_flight
google_calendar_create google_maps_directions list_indices mcp__elasticsearch__list_indices mcp__sqlite__read_query
mcp__context7__resolve-library-id tool_search search_tools plan route_query classify_intent extract_entities extract_keywords
get_user get_order_status list_collections researcher write_file edit_file write_report
""".split()
SQL = "SELECT name FROM users WHERE id = 3"
DOCUMENTS = [{"url": "https://a.example/1", "title": "A"}, {"url": "https://a.example/2", "title": "B"}]
# tool, description, arguments, output, account
CALLS = [
    ("hunt", None, {"query": "seine"}, DOCUMENTS, "search"),
    ("hunt", None, {"query": "seine"}, "The Seine is a river.", "not a search"),
    ("hunt", None, {"count": 3}, DOCUMENTS, "not a search"),
    ("hunt", "Search the company wiki for pages", {"query": "seine"}, "The Seine is a river.", "search"),
    ("hunt", "Calculator for mathematical expressions", {"query": "2+2"}, "4", "not a search"),
    ("hunt", "Fetch the contents of a web page", {"url": "https://a.example"}, "text", "open"),
    ("find_answer", None, {"question": "where?"}, "In Burgundy.", "not a search"),
    ("find_answer", None, {"question": "where?"}, DOCUMENTS, "search"),
    ("lookup", None, {"term": "seine"}, DOCUMENTS, "search"),
    ("query", None, {"query": SQL}, [{"id": 1, "amount": 2}], "not a search"),
    ("query", None, {"query": "seine source"}, DOCUMENTS, "search"),
    ("run", None, {"query": "print(1)"}, "1", "not a search"),
    ("fetch", None, {"url": "https://a.example/1"}, "text", "open"),
    ("fetch", None, {"id": "doc-1"}, {"id": "doc-1", "title": "A", "text": "x", "url": "https://a.example/1"}, "open"),
    ("fetch_documents", None, {"query": "seine"}, DOCUMENTS, "search"),
    ("get_documents", None, {"query": "seine"}, DOCUMENTS, "search"),
    ("get_documents", None, {"ids": ["d1", "d2"]}, DOCUMENTS, "open"),
    ("open", None, {"id": 3}, "text", "open"),
    ("browse", None, {"url": "https://a.example/1", "query": "length"}, "text", "open"),
    ("extract", None, {"urls": ["https://a.example/1"]}, {"results": DOCUMENTS}, "open"),
    ("browser", None, {"url": "https://a.example/1"}, "text", "open"),
    ("ask_documents", None, {"question": "x"}, DOCUMENTS, "search"),
    ("company_policies", "Useful for when you need to answer questions about company policies", {"query": "x"}, DOCUMENTS, "search"),
    ("company_policies", "Searches and returns excerpts from the policies", "vacation", "You get 30 days.", "search"),
    ("helper", None, "https://a.example/1", "text", "not a search"),
    ("web", None, {"q": "seine"}, DOCUMENTS, "search"),
    ("load", None, {"path": "a.txt"}, "text", "open"),
    ("get_orders", None, {"query": "last"}, [{"id": 1, "amount": 3}], "not a search"),
    ("web_search", None, {"query": "x"}, "plain prose", "search"),
    ("search", None, None, None, "search"),
    ("deep_research", None, {"query": "x"}, "a long report", "not a search"),
    (None, None, {"query": "x"}, "text", "not a search"),
    ("", None, None, None, "not a search"),
]
