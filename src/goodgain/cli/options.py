"""Options that several commands share, and how their output leaves."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any, NoReturn

from goodgain.errors import UsageError
from goodgain.results.text import FORMATS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class Parser(argparse.ArgumentParser):
    """Errors as everywhere in goodgain: one sentence, a hint, exit status 2."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong with the arguments and how to see the right ones."""
        print(f"goodgain: {message}\nhint: see: {self.prog} --help", file=sys.stderr)
        sys.exit(2)


def command_parser(command: str, description: str, epilog: str = "") -> Parser:
    """The parser of one command."""
    return Parser(
        prog=f"goodgain {command}",
        description=description,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )


def add_output(parser: argparse.ArgumentParser, per_query: bool = True) -> None:
    """--format, -o, --per-query, --quiet."""
    group = parser.add_argument_group("output")
    group.add_argument("--format", choices=FORMATS, default="table", help="(default: table)")
    group.add_argument("-o", "--output", metavar="FILE", help="write there, whole or not at all")
    if per_query:
        group.add_argument("--per-query", action="store_true", help="a row for every query")
    group.add_argument("-q", "--quiet", action="store_true", help="no warnings and no progress")


def add_texts(parser: Any) -> None:
    """--queries, --documents: what a page shows of them."""
    parser.add_argument(
        "--queries", metavar="FILE", help="the queries' texts for the page: columns for id and text"
    )
    parser.add_argument(
        "--documents", metavar="FILE",
        help="the documents' texts for the page: columns for id and text, and perhaps title and url",
    )  # fmt: skip


def add_report(parser: argparse.ArgumentParser, texts: bool = True) -> Any:
    """--report, and where there are ranked lists --queries and --documents."""
    group = parser.add_argument_group("page")
    group.add_argument("--report", metavar="FILE", help="also write it all as one HTML page")
    if texts:
        add_texts(group)
    return group


def beside(args: argparse.Namespace, result: Any, *more: Any, **options: Any) -> dict[str, str]:
    """The other files that were asked for, --save and --report, with what is to stand in them.

    `more` are results that the page shows besides.
    """
    files = {args.save: result.to_json()} if getattr(args, "save", None) else {}
    if args.report:
        from goodgain.reports import report_text

        texts = {name: getattr(args, name, None) for name in ("queries", "documents")}
        options = {**texts, "command": args.command_line, **options}
        files[args.report] = report_text(result, *more, **options)
    return files


def add_evaluation(parser: argparse.ArgumentParser) -> None:
    """--policy, --preset, --threads, --columns."""
    from goodgain.ranking.policy import CHOICES, PRESETS

    group = parser.add_argument_group("evaluation")
    known = "; ".join(f"{name}={'|'.join(choices)}" for name, choices in CHOICES.items())
    group.add_argument(
        "--policy", metavar="NAME=VALUE", action="append", default=[], help=f"one of: {known}"
    )
    group.add_argument(
        "--preset", default="default", metavar="NAME",
        help=f"the policies of another tool: {', '.join(PRESETS)}",
    )  # fmt: skip
    group.add_argument("--threads", type=int, metavar="N", help="(default: all cores)")
    group.add_argument(
        "--columns", metavar="ROLE=NAME,...", default="",
        help="columns of tables: query=, doc=, score=, gain=, target=, aspect=",
    )  # fmt: skip


def add_engine(parser: argparse.ArgumentParser) -> None:
    """--engine, --master, --conf, --partitions."""
    group = parser.add_argument_group("engine")
    group.add_argument(
        "--engine", choices=("local", "spark"), default="local",
        help="where it runs; files may then be URLs, FORMAT:URL or table:NAME (default: local)",
    )  # fmt: skip
    group.add_argument(
        "--master", metavar="URL", help="of Spark: local[2], spark://HOST:7077, yarn, k8s://..."
    )
    group.add_argument(
        "--conf", metavar="KEY=VALUE", action="append", default=[], help="a setting of Spark"
    )
    group.add_argument(
        "--partitions", type=int, metavar="N", help="of the shuffle (default: Spark's choice)"
    )


def engine(args: argparse.Namespace) -> Any:
    """The engine that --engine asks for; options of Spark without it are refused."""
    from goodgain.engines import LocalEngine, SparkEngine

    if args.engine == "local":
        for name in ("master", "conf", "partitions"):
            if getattr(args, name):
                raise UsageError(f"--{name} needs --engine spark")
        return LocalEngine(args.threads)
    if args.threads is not None:
        raise UsageError(
            "--threads is of the local engine", hint="Spark's cores: --master local[2], or --conf"
        )
    from goodgain.engines.spark.session import start

    settings = {}
    for text in args.conf:
        key, equals, value = text.partition("=")
        if not equals:
            raise UsageError(f"--conf '{text}' is not KEY=VALUE")
        settings[key.strip()] = value.strip()
    return SparkEngine(start(args.master, settings), args.partitions)


def pairs(texts: Iterable[str], option: str) -> dict[str, str]:
    """NAME=VALUE texts as a dictionary."""
    found = {}
    for text in texts:
        for part in filter(None, text.split(",")):
            name, equals, value = part.partition("=")
            if not equals:
                raise UsageError(f"{option} '{part}' is not NAME=VALUE")
            found[name.strip()] = value.strip()
    return found


def write(args: argparse.Namespace, text: str, beside: Mapping[str, str] | None = None) -> None:
    """To the file that was asked for, or to standard output; `beside` are other files to write with it."""
    from goodgain.io.atomic import write_texts

    to_file = args.output and args.output != "-"
    write_texts({**({args.output: text} if to_file else {}), **(beside or {})})
    if to_file:
        return
    out = sys.stdout
    if hasattr(out, "reconfigure"):  # ids that are no UTF-8 leave as they came
        out.reconfigure(errors="surrogateescape")
    out.write(text)
    out.flush()


def warn(args: argparse.Namespace, messages: Iterable[Any]) -> None:
    """To standard error, unless --quiet."""
    if not args.quiet:
        for message in messages:
            print(f"warning: {message}", file=sys.stderr)
