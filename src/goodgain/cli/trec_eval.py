"""`goodgain trec-eval`: a drop-in replacement for trec_eval, with its flags, output and exit status."""

from __future__ import annotations

import argparse
import sys

from goodgain.cli.parser import Parser, command_parser, print_error
from goodgain.errors import (
    DuplicateError,
    GoodgainError,
    InputError,
    MeasureError,
    UsageError,
    plain,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

# trec_eval's own: invalid flags or measures, unreadable input, a measure that cannot be calculated (for a
# duplicate document, or from this format), nothing to evaluate.
_USAGE, _INPUT, _CALCULATION, _NOTHING = 1, 2, 4, 7

_DESCRIPTION = """\
Evaluate a run like trec_eval: the same flags, the same output byte for byte, the same exit status.

QRELS lines are: query iteration document grade; -R names other formats. RUN lines are: query Q0 document
rank score run-name; the rank is ignored, and equal scores are ordered by document id, descending. Lines that
begin with # are comments. Both files may be compressed (.gz .zst .bz2 .xz), qrels and runs also in any other
format that goodgain reads; RUN may be - for standard input. Long options may be abbreviated.

A judged query missing from the run is left out, with a warning: version 9 skips it silently, version
10.0 stops there with status 4. -c counts it as 0."""

_EXAMPLES = """\
examples:
  goodgain trec-eval qrels.txt bm25.run
  goodgain trec-eval -m map -m ndcg_cut.10 qrels.txt bm25.run
  goodgain trec-eval -q -c -m all_trec qrels.txt bm25.run
"""

_FORMATS = {
    "qrels": "query iteration document grade; the iteration is ignored",
    "qrels_jg": "query group document grade; measures are averaged over the groups of judges",
    "prefs": "query group subgroup document level; within a subgroup, a higher level is preferred to a "
    "lower one. Subgroups of a group are one order, transitive and without contradictions; groups "
    "may contradict each other. Level 0 is nonrelevant.",
    "qrels_prefs": "query group document level; the same with one subgroup in each group",
}


class _TrecEvalParser(Parser):
    """Files may stand between flags, and wrong usage exits with trec_eval's status."""

    status = _USAGE

    def parse_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> argparse.Namespace:
        parsed = self.parse_intermixed_args(args, namespace)
        if not (parsed.help or parsed.version) and len(parsed.files) != 2:
            self.error(f"expected QRELS and RUN, got {len(parsed.files)} files")
        return parsed


def parser() -> argparse.ArgumentParser:
    """trec_eval's flags."""
    p = command_parser("trec-eval", _DESCRIPTION, _EXAMPLES, kind=_TrecEvalParser, add_help=False)
    p.add_argument("files", metavar="QRELS RUN", nargs="*", help="judgments and a run; - is stdin")
    p.add_argument(
        "-h", "--help", action="store_true", help="show this help, and the measures named by -m"
    )
    p.add_argument("-v", "--version", action="store_true", help="print the version")
    p.add_argument(
        "-q", "--query_eval_wanted", dest="per_query", action="store_true",
        help="also print the values of every query",
    )  # fmt: skip
    p.add_argument(
        "-m", "--measure", dest="measures", action="append", default=[], metavar="MEASURE",
        help="a measure with its parameters, or official, all_trec, set, prefs, all_prefs, qrels_jg: "
        "P.5,10 iprec_at_recall..10,.20 ndcg.1=3,2=9 utility.2,-1,0,0 (default: official)",
    )  # fmt: skip
    p.add_argument(
        "-c", "--complete_rel_info_wanted", dest="complete", action="store_true",
        help="average over all judged queries; those missing from the run count as 0",
    )  # fmt: skip
    p.add_argument(
        "-n", "--nosummary", dest="summary", action="store_false",
        help="do not print values over all queries",
    )  # fmt: skip
    p.add_argument(
        "-l", "--level_for_rel", dest="level", type=int, default=1, metavar="N",
        help="lowest relevant grade (default: 1)",
    )  # fmt: skip
    p.add_argument(
        "-J", "--Judged_docs_only", dest="judged_only", action="store_true",
        help="remove unjudged documents from the run first",
    )  # fmt: skip
    p.add_argument(
        "-M", "--Max_retrieved_per_topic", dest="depth", type=int, metavar="N",
        help="use only the first N documents of a query",
    )  # fmt: skip
    p.add_argument(
        "-N", "--Number_docs_in_coll", dest="documents", type=int, default=0, metavar="N",
        help="number of documents in the collection, for utility",
    )  # fmt: skip
    p.add_argument(
        "-Z", "--Zscore", dest="zscores", metavar="FILE",
        help="print z-scores; a line of FILE is: query measure mean standard-deviation",
    )  # fmt: skip
    p.add_argument(
        "-R", "--Rel_info_format", dest="rel_format", default="qrels", metavar="FORMAT",
        help="format of QRELS: qrels, qrels_jg, prefs or qrels_prefs; -h describes it",
    )  # fmt: skip
    p.add_argument(
        "-T", "--Results_format", dest="results_format", default="trec_results", metavar="FORMAT",
        help="only trec_results",
    )  # fmt: skip
    p.add_argument(
        "-D", "--Debug_level", dest="debug", default="0", metavar="N[.QUERY]",
        help="evaluate only this query; debugging lines are not printed",
    )  # fmt: skip
    p.add_argument("-o", dest="old", action="store_true", help="no effect, as in trec_eval")
    p.add_argument("--Output_old_results_format", dest="old", help=argparse.SUPPRESS)
    p.allow_abbrev = True  # as getopt_long
    return p


def run(args: argparse.Namespace) -> int:
    """Print what trec_eval prints."""
    try:
        return _run(args)
    except GoodgainError as error:
        print_error(error, "trec-eval")
        return _status(error)


def _run(args: argparse.Namespace) -> int:
    from goodgain.cli.output import write
    from goodgain.compat.trec_eval import Settings, report
    from goodgain.cores import available_cores

    if args.version:
        from goodgain import __version__

        print(f"trec_eval version 10.0 (goodgain {__version__})", file=sys.stderr)
        return 0
    measures = [
        (name, params if point else None)
        for name, point, params in (text.partition(".") for text in args.measures)
    ]
    names = _measure_names(measures)
    if args.help:
        write(argparse.Namespace(output=None), _help(names, args.rel_format))
        return 0
    _refuse_unknown(args)
    level, _, query = args.debug.partition(".")
    if level not in ("", "0"):
        print("warning: -D does not print debugging lines here", file=sys.stderr)
    settings = Settings(
        measures=tuple(measures),
        per_query=args.per_query,
        summary=args.summary,
        complete=args.complete,
        judged_only=args.judged_only,
        level=args.level,
        documents=args.documents,
        depth=args.depth,
        zscores=args.zscores,
        query=query or None,
        format=args.rel_format,
        threads=available_cores(),
    )
    result = report(settings, *args.files)
    if result.missing:
        print(
            f"warning: {len(result.missing):,} of {len(result.table.queries):,} judged queries "
            "are not in the run and are left out of the means, for example "
            f"'{plain(result.missing[0])}'; -c counts "
            "them as 0 (trec_eval 10 stops with status 4)",
            file=sys.stderr,
        )
    write(argparse.Namespace(output=None), result.text())
    return 0


def _measure_names(measures: list[tuple[str, str | None]]) -> set[str]:
    """The names behind -m; an unknown one is wrong usage, unlike a bad parameter."""
    from goodgain.compat.trec_measures import expanded

    try:
        return {single for name, params in measures for single in expanded(name, params)}
    except MeasureError as error:
        raise UsageError(error.message, hint=error.hint) from None


def _refuse_unknown(args: argparse.Namespace) -> None:
    """Raise for formats that trec_eval does not have either."""
    if args.rel_format not in _FORMATS:
        raise InputError(
            f"unknown format -R {args.rel_format}", hint=f"one of: {', '.join(_FORMATS)}"
        )
    if args.results_format != "trec_results":
        raise InputError(f"unknown format -T {args.results_format}", hint="-T trec_results")
    if args.depth is not None and args.depth < 0:
        raise UsageError(f"-M must not be negative, got {args.depth}", hint="-M 1000")


def _status(error: GoodgainError) -> int:
    from goodgain.compat.trec_eval import NothingToEvaluateError, WrongFormatError

    if isinstance(error, NothingToEvaluateError):
        return _NOTHING
    if isinstance(error, UsageError):
        return _USAGE
    return _CALCULATION if isinstance(error, DuplicateError | WrongFormatError) else _INPUT


def _help(names: set[str], form: str) -> str:
    """The flags, the format that -R names, and the measures that -m names."""
    from goodgain.compat.trec_measures import BY_NAME

    lines = [f"{m.name}\n    {m.text}\n" for m in BY_NAME.values() if m.name in names]
    none = "  none named; name some with -m, for example -h -m all_trec\n"
    lines_of = f"\nlines of -R {form}:\n  {_FORMATS[form]}\n" if form in _FORMATS else ""
    return parser().format_help() + lines_of + "\nmeasures:\n" + ("".join(lines) or none)
