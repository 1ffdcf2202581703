"""Reference pages of the public subpackages: names that `import goodgain` itself does not have."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from importlib import import_module


@dataclass(frozen=True)
class Package:
    """A module with public names; `types` are records that its functions take or return.

    The example of the page is that of the module's docstring, and uses every one of `names`.
    """

    module: str
    text: str
    names: tuple[str, ...]
    types: tuple[str, ...] = ()

    @property
    def all_names(self) -> tuple[str, ...]:
        """What the page has an entry for."""
        return self.names + self.types


@dataclass(frozen=True)
class Page:
    """A page of one or several modules that belong together."""

    page: str
    title: str
    packages: tuple[Package, ...]


PAGES: tuple[Page, ...] = (
    Page(
        "retrievers",
        "goodgain.experiment",
        (
            Package(
                "goodgain.experiment",
                "Chunks as a system, calls that report their cost, and experiments from a file. "
                "Guides: [experiments](../../experiment.md), [chunks](../../chunks.md).",
                ("Chunked", "Answer", "read_experiment"),
                ("SystemScores",),
            ),
            Package(
                "goodgain.experiment.retrievers",
                "Every built-in system. Guide: [retrievers](../../retrievers.md).",
                (
                    *("BM25", "KNN", "Hybrid", "Rerank", "Graph", "Swarm", "Framework", "SQLite"),
                    *("DuckDB", "Tantivy", "Qdrant", "LanceDB", "Chroma", "Postgres"),
                    *("Elasticsearch", "OpenSearch", "Http", "Mcp", "Retriever", "make"),
                ),
            ),
        ),
    ),
    Page(
        "live",
        "goodgain.live",
        (
            Package(
                "goodgain.live",
                "Capture of a running agent. Guide: [live capture](../../live.md).",
                ("capture", "open_tool"),
                ("Capture",),
            ),
        ),
    ),
    Page(
        "traces",
        "goodgain.traces",
        (
            Package(
                "goodgain.traces",
                "Readers of traces, and what becomes of every item. Guide: [traces](../../traces.md).",
                ("find_results", "results_of", "open_traces", "FORMATS"),
                ("TraceReader", "Ledger", "Recorder", "TraceFormat", "OpenedTraces"),
            ),
            Package(
                "goodgain.traces.searching",
                "Which calls are searches. Guide: [searches](../../traces.md).",
                ("SearchRules", "Call"),
            ),
            Package(
                "goodgain.data",
                "A conversation as an object: turns, iterations, searches, results.",
                ("Turn", "Iteration", "Search", "Result"),
            ),
            Package(
                "goodgain.identity",
                "When two results are one. Guide: [identity](../../identity.md).",
                ("Profile", "Field"),
                ("Clusters", "Comparison", "Decision"),
            ),
        ),
    ),
    Page(
        "judging",
        "goodgain.labels",
        (
            Package(
                "goodgain.labels",
                "Prompts, judges, samples, and labels of people. Guides: [labels](../../labels.md), "
                "[judges](../../judges.md), [judging by people](../../judge.md).",
                (
                    *("Pair", "Ensemble", "RawPrompt", "Prompt", "OpenAIJudge", "AnthropicJudge"),
                    *("Price", "Vote", "PeopleLabels", "estimate", "draw_sample", "read_sample"),
                    *("next_pairs", "settling_labels", "import_labels", "answer_pairs"),
                    *("with_gains", "judge_for", "create_judge", "judge_names", "Limits"),
                    *("Reply", "Retry", "Fatal"),
                ),
                ("Request", "Label", "Estimate", "Sample", "Imported"),
            ),
            Package(
                "goodgain.labels.people",
                "Votes of people. Guide: [people](../../labels.md#people).",
                ("read_votes", "aggregate"),
            ),
            Package(
                "goodgain.labels.preferences",
                "Old against new, side by side. Guide: [side by side](../../judge.md#side-by-side).",
                ("Preference", "add_preferences", "gsb_rows"),
            ),
            Package(
                "goodgain.labels.passport",
                "How far a judge may be trusted. Guide: [the passport](../../judges.md#the-passport).",
                ("make_passport",),
                ("Passport",),
            ),
            Package(
                "goodgain.labels.nuggets",
                "Facts that an answer should contain. Guide: [nuggets](../../judges.md#nuggets).",
                (
                    *("import_nuggets", "read_nuggets", "make_nuggets", "assign_nuggets"),
                    *("nugget_scores", "read_answers"),
                ),
                ("Nugget", "Answer", "NuggetScores"),
            ),
            Package(
                "goodgain.labels.pairwise",
                "Which of two documents is better. "
                "Guide: [preferences](../../judges.md#preferences-and-bradley-terry).",
                ("compare_documents", "people_choices", "grade_preferences"),
                ("Choice", "Grade", "PreferenceGrades"),
            ),
        ),
    ),
    Page(
        "details",
        "goodgain.measures and others",
        (
            Package(
                "goodgain.measures",
                "The registry. Every measure is also an attribute: `from goodgain.measures import nDCG`. "
                "Guide: [measures](../../measures.md).",
                ("parse_all", "parse_agentic", "definitions", "definition_of", "find"),
                ("Definition", "Param", "Range"),
            ),
            Package(
                "goodgain.ranking.sandbox",
                "Files of strangers, read in a process with limits. Guide: [limits](../../guide.md).",
                ("evaluate",),
            ),
            Package(
                "goodgain.fusion",
                "Names of methods and normalisations. Guide: [fusion](../../fusion.md).",
                ("METHODS", "NORMS"),
                ("Tuned",),
            ),
            Package(
                "goodgain.checks",
                "Golden sets as objects. Guide: [check](../../check.md).",
                ("read_golden",),
                ("GoldenSet", "Case"),
            ),
        ),
    ),
    Page(
        "scale",
        "goodgain.spark and goodgain.sql",
        (
            Package(
                "goodgain.spark",
                "The same functions over DataFrames of Spark. Guide: [Spark](../../spark.md).",
                ("start", "evaluate"),
                ("good_gain", "label", "SparkEvaluation", "SparkGoodGain", "SparkLabels"),
            ),
            Package(
                "goodgain.sql",
                "Measures as one query. Guide: [SQL](../../sql.md).",
                ("compile_sql", "Tables", "DIALECTS"),
            ),
        ),
    ),
    Page(
        "compat",
        "goodgain.compat",
        (
            Package(
                "goodgain.compat.pytrec_eval",
                "pytrec_eval's names and numbers. Guide: [migrate](../../migrate.md).",
                (
                    *(
                        "RelevanceEvaluator",
                        "parse_run",
                        "parse_qrel",
                        "compute_aggregated_measure",
                    ),
                    *("supported_measures", "supported_nicknames"),
                ),
            ),
            Package(
                "goodgain.compat.ir_measures",
                "ir_measures' names and numbers; its measures are attributes, as `nDCG` here.",
                (
                    *("calc_aggregate", "iter_calc", "calc", "evaluator", "parse_measure"),
                    *("read_trec_qrels", "read_trec_run"),
                ),
            ),
        ),
    ),
)
PACKAGES = tuple(package for page in PAGES for package in page.packages)


def value_of(module: str, name: str) -> object:
    """A public name of a module; built-in retrievers are imported when they are used."""
    return getattr(import_module(module), name)


def summary(module: str, name: str) -> str:
    """The first line of a docstring; of a table, what it holds."""
    value = value_of(module, name)
    if not inspect.isclass(value) and not callable(value):
        return f"A {type(value).__name__} of {len(value)} names."  # type: ignore[arg-type]
    return (inspect.getdoc(value) or "").split("\n")[0]


def pages() -> dict[str, str]:
    """Path to text of every page."""
    return {f"reference/python/{page.page}.md": page_text(page) for page in PAGES}


def page_text(page: Page) -> str:
    """The packages of a page, each with its example and its entries."""
    lines = [f"# {page.title}", ""]
    for package in page.packages:
        if len(page.packages) > 1:
            lines += [f"## {package.module}", ""]
        lines += [*docstring(package.module), package.text, ""]
        for name in package.all_names:
            lines += ["```{eval-rst}", *directive(package.module, name), "```", ""]
    return "\n".join(lines)


def docstring(module: str) -> list[str]:
    """The docstring of a module as Markdown: paragraphs, and the example."""
    lines = []
    for paragraph in (inspect.getdoc(import_module(module)) or "").split("\n\n"):
        is_example = paragraph.startswith(">>> ")
        lines += ["```pycon", paragraph, "```", ""] if is_example else [paragraph, ""]
    return lines


def index_lines() -> list[str]:
    """The tables of names for the index."""
    lines = []
    for page in PAGES:
        for package in page.packages:
            lines += [
                f"## [{package.module}]({page.page}.md)",
                "",
                "| name | what it does |",
                "| --- | --- |",
            ]
            for name in package.all_names:
                sentence = summary(package.module, name).replace("|", r"\|")
                full = f"{package.module}.{name}"
                lines.append(f"| [`{name}`](#{full}) | {sentence} |")
            lines.append("")
    return lines


def directive(module: str, name: str) -> list[str]:
    """The autodoc directive of a name."""
    value = value_of(module, name)
    full = f"{module}.{name}"
    if inspect.isclass(value):
        return [f".. autoclass:: {full}", "   :members:"]
    if callable(value):
        return [f".. autofunction:: {full}"]
    return [
        f".. py:data:: {full}",
        f"   :type: {type(value).__name__}",
        "",
        f"   {summary(module, name)}",
    ]
