"""Options that commands share, each declared once so that it reads the same everywhere."""

from __future__ import annotations

import os

from goodgain.errors import UsageError
from goodgain.results.text import FORMATS

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

# --- one option each ---


def _help(text: str, default: object = None) -> str:
    return text if default is None else f"{text} (default: {default})"


def as_id(word: str) -> str:
    """An id from the command line: in UTF-8, whatever the locale decoded it with."""
    return os.fsencode(word).decode("utf-8", "surrogateescape")


def add_qrels(parser: Any, **options: Any) -> None:
    """QRELS."""
    parser.add_argument(
        "qrels", metavar="QRELS",
        help="judgments: TREC, CSV, TSV, JSON, Parquet or Arrow; a file, folder, glob or URL; - is stdin",
        **options,
    )  # fmt: skip


def add_measures(parser: Any, default: str | None = None, **options: Any) -> None:
    """-m, --measures."""
    parser.add_argument(
        "-m", "--measures", action="append", metavar="MEASURES",
        help=_help('measures, e.g. "nDCG@10 AP"; see: goodgain measures', default), **options,
    )  # fmt: skip


def add_baseline(parser: Any, default: str | None = None, **options: Any) -> None:
    """--baseline."""
    parser.add_argument(
        "--baseline", metavar="NAME", help=_help("system to compare with", default), **options
    )


def add_seed(parser: Any) -> None:
    """--seed."""
    parser.add_argument("--seed", type=int, default=0, metavar="N", help=_help("random seed", 0))


def add_save(parser: Any) -> None:
    """--save."""
    parser.add_argument(
        "--save", metavar="FILE", help="save the result as JSON for report, plot and view"
    )


def add_queries(parser: Any) -> None:
    """--queries."""
    parser.add_argument(
        "--queries", metavar="FILE", help="table of queries: id, text, and columns to group by"
    )


def add_documents(parser: Any) -> None:
    """--documents."""
    parser.add_argument(
        "--documents", metavar="FILE", help="table of documents: id, text, optional title and url"
    )


def add_runs(parser: Any) -> None:
    """--runs."""
    parser.add_argument("--runs", metavar="RUN", nargs="+", default=[], help="runs of the systems")


def add_sample(parser: Any) -> None:
    """--sample."""
    parser.add_argument(
        "--sample", metavar="NAME", help="a sample drawn by: goodgain labels sample"
    )


def add_settle(parser: Any) -> None:
    """--settle."""
    parser.add_argument(
        "--settle", action="store_true",
        help="with two --runs: only the labels that decide which of them is better",
    )  # fmt: skip


def add_server(parser: Any) -> None:
    """--port, --open."""
    parser.add_argument(
        "--port", type=int, default=0, metavar="N", help="port to listen on (default: a free one)"
    )
    parser.add_argument("--open", action="store_true", help="open the page in a browser")


def add_threads(parser: Any) -> None:
    """--threads."""
    parser.add_argument(
        "--threads", type=int, metavar="N", help=_help("number of threads", "all cores")
    )


def add_memory(parser: Any) -> None:
    """--memory."""
    parser.add_argument(
        "--memory",
        metavar="SIZE",
        help=_help("memory for the rows of a run; more goes to the temporary folder", "1GB"),
    )


def add_columns(parser: Any) -> None:
    """--columns."""
    parser.add_argument(
        "--columns", metavar="ROLE=NAME,...", default="",
        help="column names in tables: query=, doc=, score=, rank=, gain=, target=, aspect=, results=, run=",
    )  # fmt: skip


def add_skip_bad(parser: Any) -> None:
    """--skip-bad."""
    parser.add_argument(
        "--skip-bad", action="store_true",
        help="skip malformed rows and conversations, and report how many",
    )  # fmt: skip


def add_folder(parser: Any, default: str | None = None) -> None:
    """--folder."""
    parser.add_argument("--folder", metavar="FOLDER", help=_help("output directory", default))


def add_cache(parser: Any) -> None:
    """--cache."""
    parser.add_argument(
        "--cache", metavar="DIR",
        help=_help("share embeddings and indexes between experiments", "the output directory"),
    )  # fmt: skip


def add_name(parser: Any, default: str) -> None:
    """--name."""
    parser.add_argument("--name", metavar="NAME", help=_help("name of the run", default))


def add_threshold(parser: Any) -> None:
    """--threshold."""
    parser.add_argument(
        "--threshold", type=float, default=2, metavar="GAIN",
        help=_help("lowest gain that counts as good", 2),
    )  # fmt: skip


def add_alpha(parser: Any) -> None:
    """--alpha."""
    parser.add_argument(
        "--alpha", type=float, default=0.05, metavar="P", help=_help("significance level", 0.05)
    )


def add_confidence(parser: Any) -> None:
    """--confidence."""
    parser.add_argument(
        "--confidence", type=float, default=0.95, metavar="P",
        help=_help("confidence level of intervals", 0.95),
    )  # fmt: skip


def add_margin(parser: Any, default: str | None = None) -> None:
    """--margin."""
    parser.add_argument(
        "--margin", action="append", metavar="[MEASURE=]M",
        help=_help("non-inferiority margin: 0.01, 2%%, nDCG@10=0.01", default),
    )  # fmt: skip


def add_max_latency(parser: Any) -> None:
    """--max-latency."""
    parser.add_argument(
        "--max-latency", metavar="[pN=]TIME",
        help="latency budget at a percentile of calls: 50ms (p95), p99=1.5s",
    )  # fmt: skip


def add_max_cost(parser: Any) -> None:
    """--max-cost."""
    parser.add_argument(
        "--max-cost", metavar="[pN=]AMOUNT",
        help="cost budget per call, in the unit that retrievers report: 0.002, p50=0.001",
    )  # fmt: skip


def add_held_out(parser: Any, default: float) -> None:
    """--held-out."""
    parser.add_argument(
        "--held-out", type=float, default=default, metavar="SHARE",
        help=_help("share of the queries held out to measure the winner", default),
    )  # fmt: skip


def add_depth(parser: Any, default: str | None = None) -> None:
    """--depth."""
    parser.add_argument(
        "--depth", type=int, metavar="N", help=_help("maximum documents per query", default)
    )


def add_timeout(parser: Any, default: float | None = None) -> None:
    """--timeout."""
    parser.add_argument(
        "--timeout", type=float, default=default, metavar="SECONDS",
        help=_help("time limit per call", default),
    )  # fmt: skip


def add_concurrency(parser: Any, default: int) -> None:
    """--concurrency."""
    parser.add_argument(
        "--concurrency",
        type=int,
        default=default,
        metavar="N",
        help=_help("calls in flight", default),
    )


def add_summary(parser: Any) -> None:
    """--summary."""
    parser.add_argument(
        "--summary", metavar="FILE", help="also write a Markdown summary for a pull request"
    )


def add_test(parser: Any, choices: Iterable[str], default: str | None = None) -> None:
    """--test."""
    _add_listed(parser, "--test", "significance test", choices, default)


def add_primary(parser: Any, default: str | None = None) -> None:
    """--primary."""
    parser.add_argument(
        "--primary", action="append", metavar="MEASURES",
        help=_help("measures to test and correct for; the others are exploratory", default),
    )  # fmt: skip


def add_correction(parser: Any, choices: Iterable[str], default: str | None = None) -> None:
    """--correction."""
    _add_listed(parser, "--correction", "correction for multiple tests", choices, default)


def add_unpaired(parser: Any, choices: Iterable[str], default: str) -> None:
    """--unpaired."""
    _add_listed(
        parser, "--unpaired", "what to do with queries that only one system has", choices, default
    )


def add_seeds(parser: Any, choices: Iterable[str], default: str) -> None:
    """--seeds."""
    _add_listed(parser, "--seeds", "how to treat seeds", choices, default)


def add_outside(parser: Any, choices: Iterable[str], default: str) -> None:
    """--outside."""
    _add_listed(parser, "--outside", "labels outside the scale", choices, default)


def _add_listed(
    parser: Any, option: str, text: str, choices: Iterable[str], default: str | None
) -> None:
    """An option whose values the command explains below its options; see `listing`."""
    parser.add_argument(
        option, choices=list(choices), default=default, metavar="NAME",
        help=_help(f"{text}; listed below", default),
    )  # fmt: skip


def listing(title: str, choices: Mapping[str, str]) -> str:
    """Values and their meanings, to be shown below a command's options."""
    size = max(map(len, choices))
    return (
        f"{title}:\n"
        + "".join(f"  {name:<{size}}  {text}\n" for name, text in choices.items())
        + "\n"
    )


# --- groups of options ---


def add_output(
    parser: Any, per_query: bool = True, formats: Sequence[str] = FORMATS, quiet: bool = True
) -> Any:
    """--format, -o, --per-query, --quiet."""
    group = parser.add_argument_group("output")
    group.add_argument(
        "--format", choices=formats,
        help=_help("output format", f"that of FILE's suffix, or {formats[0]}"),
    )  # fmt: skip
    add_output_file(group)
    if per_query:
        add_per_query(group)
    if quiet:
        add_quiet(group)
    return group


def add_per_query(parser: Any) -> None:
    """--per-query."""
    parser.add_argument("--per-query", action="store_true", help="one row per query")


def add_output_file(parser: Any, required: bool = False) -> None:
    """-o, --output."""
    parser.add_argument(
        "-o", "--output", metavar="FILE", required=required,
        help=_help("write to FILE, atomically", None if required else "standard output"),
    )  # fmt: skip


def add_quiet(parser: Any) -> None:
    """-q, --quiet."""
    parser.add_argument("-q", "--quiet", action="store_true", help="suppress warnings and progress")


def add_report(parser: Any, texts: bool = True, default: str | None = None) -> Any:
    """--report, and for results with ranked lists --queries and --documents."""
    group = parser.add_argument_group("report")
    group.add_argument(
        "--report",
        metavar="FILE",
        default=default,
        help=_help("also write an HTML report", default),
    )
    if texts:
        add_queries(group)
        add_documents(group)
    return group


def add_evaluation(parser: Any) -> Any:
    """--policy, --preset, --threads, --memory, --columns."""
    group = parser.add_argument_group("evaluation")
    add_conventions(group)
    add_threads(group)
    add_memory(group)
    add_columns(group)
    return group


def add_conventions(group: Any) -> None:
    """--policy, --preset."""
    from goodgain.ranking.policy import CHOICES, PRESETS

    choices = "; ".join(f"{name}={'|'.join(values)}" for name, values in CHOICES.items())
    group.add_argument(
        "--policy",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help=f"conventions: {choices}",
    )
    group.add_argument(
        "--preset", default="default", metavar="NAME",
        help=f"conventions of another tool: {', '.join(PRESETS)}",
    )  # fmt: skip


def add_spans(parser: Any) -> None:
    """--cover and --tokenizer."""
    parser.add_argument(
        "--cover", type=float, default=0.5, metavar="SHARE",
        help=_help("judged spans: the share of a span that chunks must cover", 0.5),
    )  # fmt: skip
    parser.add_argument(
        "--tokenizer", metavar="NAME",
        help="what counts as a token in @Ntokens and, if set, in span measures: words, "
        "characters, tiktoken[:ENCODING]",
    )  # fmt: skip


def add_engine(parser: Any) -> None:
    """--engine, --master, --conf, --partitions."""
    group = parser.add_argument_group("engine")
    group.add_argument(
        "--engine", choices=("local", "spark"), default="local",
        help=_help("spark also reads URLs, FORMAT:URL and table:NAME", "local"),
    )  # fmt: skip
    group.add_argument(
        "--master",
        metavar="URL",
        help="Spark master: local[2], spark://HOST:7077, yarn, k8s://..., sc://HOST (Connect)",
    )
    group.add_argument(
        "--conf", metavar="KEY=VALUE", action="append", default=[], help="Spark setting"
    )
    group.add_argument(
        "--partitions", type=int, metavar="N",
        help=_help("maximum number of Spark shuffle partitions", "chosen by Spark"),
    )  # fmt: skip


def add_traces(parser: Any) -> None:
    """TRACES, and how they are read."""
    parser.add_argument(
        "traces", metavar="TRACES", nargs="+", help="trace files in any known format; - is stdin"
    )
    add_trace_reading(parser)


def add_trace_format(parser: Any) -> None:
    """--from."""
    from goodgain.traces import FORMATS as TRACE_FORMATS

    parser.add_argument(
        "--from", dest="source_format", metavar="FORMAT",
        help=_help(f"trace format: {', '.join(TRACE_FORMATS)}, or a plug-in's", "detected"),
    )  # fmt: skip


def add_search_tools(parser: Any) -> None:
    """--search-tool, --not-search-tool: what the user says about tools."""
    parser.add_argument(
        "--search-tool", action="append", default=[], metavar="NAME",
        help=_help("tool whose calls are searches; may be repeated", "detected"),
    )  # fmt: skip
    parser.add_argument(
        "--not-search-tool", action="append", default=[], metavar="NAME",
        help=_help("tool whose calls are not searches; may be repeated", "detected"),
    )  # fmt: skip


def add_trace_reading(parser: Any) -> None:
    """--from, --search-tool, --not-search-tool, --search-rules, --prices, --ledger, --skip-bad."""
    group = parser.add_argument_group("reading traces")
    add_trace_format(group)
    add_search_tools(group)
    group.add_argument(
        "--search-rules", metavar="FILE.toml",
        help="rules that decide which calls are searches, tried before the built-in ones",
    )  # fmt: skip
    group.add_argument(
        "--prices", metavar="FILE.toml",
        help="prices of models for traces that have tokens but no cost, instead of the built-in ones",
    )  # fmt: skip
    group.add_argument(
        "--ledger", metavar="FILE",
        help="write how every item of the traces was counted to FILE, as JSON lines",
    )  # fmt: skip
    add_skip_bad(group)


def trace_reading(args: argparse.Namespace) -> dict[str, Any]:
    """What these options say about reading traces, as keywords of the functions that read them."""
    return {
        "format": args.source_format,
        "search_tools": tuple(args.search_tool),
        "not_search_tools": tuple(args.not_search_tool),
        "search_rules": args.search_rules,
        "prices": args.prices,
        "skip_bad": args.skip_bad,
    }


def add_answers(parser: Any) -> None:
    """--answers: gold answers of conversations."""
    parser.add_argument(
        "--answers", metavar="FILE",
        help="gold answers: conversation, answer and aliases (CSV, TSV, JSON lines), a golden "
        "set, or a label store with judged answers",
    )  # fmt: skip


def add_turn(parser: Any) -> None:
    """--turn."""
    parser.add_argument(
        "--turn", default="last", metavar="last|all|N", help=_help("turns to include", "last")
    )


def add_unit(parser: Any) -> None:
    """--unit."""
    parser.add_argument(
        "--unit", choices=("document", "passage"), default="document",
        help=_help("whether two chunks of a document are one result or two", "document"),
    )  # fmt: skip


def add_identity(parser: Any) -> None:
    """--unit, --identity."""
    group = parser.add_argument_group("identity")
    add_unit(group)
    group.add_argument(
        "--identity", metavar="FILE.toml", help="custom identity rules; see docs/identity.md"
    )


# --- from options to values ---


def choose_engine(args: argparse.Namespace) -> Any:
    """The engine that --engine names; Spark options without it are refused."""
    if args.engine == "local":
        from goodgain.engines.local import LocalEngine

        for name in ("master", "conf", "partitions"):
            if getattr(args, name):
                raise UsageError(f"--{name} requires --engine spark")
        return LocalEngine(args.threads, getattr(args, "memory", None))
    for name, hint in (
        ("threads", "set Spark's cores with --master local[2] or --conf"),
        ("memory", "set Spark's memory with --conf spark.executor.memory=2g"),
    ):
        if getattr(args, name, None) is not None:
            raise UsageError(f"--{name} applies to --engine local only", hint=hint)
    from goodgain.engines.spark import SparkEngine
    from goodgain.engines.spark.session import start

    settings = {}
    for text in args.conf:
        key, equals, value = text.partition("=")
        if not equals:
            raise UsageError(f"invalid --conf '{text}'", hint="expected KEY=VALUE")
        settings[key.strip()] = value.strip()
    target = getattr(args, "output", None)
    output = target if is_url(target) else None
    return SparkEngine(start(args.master, settings), args.partitions, output=output)


def is_url(path: str | None) -> bool:
    """Whether an output goes to a lake rather than to a file."""
    return path is not None and "://" in path


def parse_pairs(texts: Iterable[str], option: str) -> dict[str, str]:
    """NAME=VALUE,... texts as a dictionary."""
    values = {}
    for text in texts:
        for item in filter(None, text.split(",")):
            name, equals, value = item.partition("=")
            if not equals:
                raise UsageError(f"invalid {option} '{item}'", hint="expected NAME=VALUE")
            values[name.strip()] = value.strip()
    return values
