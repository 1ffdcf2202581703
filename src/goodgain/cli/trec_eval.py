"""`goodgain trec-eval`: a drop-in for trec_eval, with its flags, its output and its exit status."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, NoReturn

from goodgain.cli.options import Parser
from goodgain.errors import GoodgainError, MeasureError

if TYPE_CHECKING:
    from collections.abc import Sequence

# trec_eval's own: a wrong flag or measure, input that cannot be read, a document twice, nothing to evaluate.
_USAGE, _INPUT, _DUPLICATE, _NOTHING = 1, 2, 4, 7

_DESCRIPTION = """\
Evaluate a run as trec_eval does: the same flags, the same output byte for byte, the same exit status.

QRELS lines are: query iteration document grade. RUN lines are: query Q0 document rank score run-name;
the rank is not used, equal scores are ordered by document id, descending. Lines that begin with # are
comments. Both files may be compressed (.gz .zst .bz2 .xz) or in any other format that goodgain reads;
RUN may be - for standard input."""


class _TrecEvalParser(Parser):
    """trec_eval leaves with status 1 when it is called wrongly."""

    def error(self, message: str) -> NoReturn:
        print(f"goodgain: {message}\nhint: see: goodgain trec-eval -h", file=sys.stderr)
        sys.exit(_USAGE)

    def parse_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> argparse.Namespace:
        found = super().parse_intermixed_args(args, namespace)
        if not (found.help or found.version) and len(found.files) != 2:
            self.error(f"QRELS and RUN are needed, but there are {len(found.files)} files")
        return found


def parser() -> argparse.ArgumentParser:
    """trec_eval's flags."""
    p = _TrecEvalParser(
        prog="goodgain trec-eval",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        add_help=False,
        allow_abbrev=False,
    )
    p.add_argument("files", metavar="QRELS RUN", nargs="*", help="judgements and a run; - is stdin")
    p.add_argument(
        "-h", "--help", action="store_true", help="this text, and the measures named by -m"
    )
    p.add_argument("-v", "--version", action="store_true", help="print the version")
    p.add_argument(
        "-q",
        "--query_eval_wanted",
        dest="per_query",
        action="store_true",
        help="also the values of every query",
    )
    p.add_argument(
        "-m",
        "--measure",
        dest="measures",
        action="append",
        default=[],
        metavar="MEASURE",
        help="a measure with its parameters, or official, all_trec, set: P.5,10 "
        "iprec_at_recall..10,.20 ndcg.1=3,2=9 utility.2,-1,0,0 (default: official)",
    )
    p.add_argument(
        "-c",
        "--complete_rel_info_wanted",
        dest="complete",
        action="store_true",
        help="average over all judged queries: those that the run lacks count 0",
    )
    p.add_argument(
        "-n", "--nosummary", dest="summary", action="store_false", help="no values over all queries"
    )
    p.add_argument(
        "-l",
        "--level_for_rel",
        dest="level",
        type=int,
        default=1,
        metavar="N",
        help="the lowest grade that is relevant (default: 1)",
    )
    p.add_argument(
        "-J",
        "--Judged_docs_only",
        dest="judged_only",
        action="store_true",
        help="take unjudged documents out of the run first",
    )
    p.add_argument(
        "-M",
        "--Max_retrieved_per_topic",
        dest="depth",
        type=int,
        metavar="N",
        help="only the first N documents of a query",
    )
    p.add_argument(
        "-N",
        "--Number_docs_in_coll",
        dest="documents",
        type=int,
        default=0,
        metavar="N",
        help="documents in the collection, for utility",
    )
    p.add_argument(
        "-Z",
        "--Zscore",
        dest="zscores",
        metavar="FILE",
        help="z-scores by lines: query measure mean standard-deviation",
    )
    p.add_argument(
        "-R",
        "--Rel_info_format",
        dest="rel_format",
        default="qrels",
        metavar="FORMAT",
        help="qrels only: prefs, qrels_prefs and qrels_jg are refused",
    )
    p.add_argument(
        "-T",
        "--Results_format",
        dest="results_format",
        default="trec_results",
        metavar="FORMAT",
        help="trec_results only",
    )
    p.add_argument(
        "-D",
        "--Debug_level",
        dest="debug",
        default="0",
        metavar="N[.QUERY]",
        help="only this query; debugging lines are not printed",
    )
    p.add_argument("-o", dest="old", action="store_true", help="without effect, as in trec_eval")
    return p  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """Print what trec_eval prints."""
    try:
        return _run(args)
    except GoodgainError as error:
        print(f"goodgain: {error}", file=sys.stderr)
        return _status(error)


def _run(args: argparse.Namespace) -> int:
    from goodgain.cli.options import write
    from goodgain.compat.trec_eval import Settings, output
    from goodgain.cores import available_cores

    named = [(name, params if point else None) for name, point, params in
             (text.partition(".") for text in args.measures)]  # fmt: skip
    if args.version:
        from goodgain import __version__

        print(f"trec_eval version 10.0 (goodgain {__version__})", file=sys.stderr)
        return 0
    if args.help:
        write(argparse.Namespace(output=None), _help(named))
        return 0
    _refuse(args)
    level, _, query = args.debug.partition(".")
    if level not in ("", "0"):
        print("warning: -D prints no debugging lines here", file=sys.stderr)
    settings = Settings(
        measures=tuple(named),
        per_query=args.per_query,
        summary=args.summary,
        complete=args.complete,
        judged_only=args.judged_only,
        level=args.level,
        documents=args.documents,
        depth=args.depth,
        zscores=args.zscores,
        query=query or None,
        threads=available_cores(),
    )
    write(argparse.Namespace(output=None), output(settings, *args.files))
    return 0


def _refuse(args: argparse.Namespace) -> None:
    """What is not done, by its name."""
    from goodgain.errors import InputError, UsageError

    if args.rel_format != "qrels":
        known = args.rel_format in ("prefs", "qrels_prefs", "qrels_jg")
        raise InputError(
            f"-R {args.rel_format} is not read: "
            + ("only plain qrels are" if known else "there is no such format"),
            hint="trec_eval itself evaluates preferences and judgement groups"
            if known
            else "-R qrels",
        )
    if args.results_format != "trec_results":
        raise InputError(f"-T {args.results_format} is not read", hint="-T trec_results")
    if args.level < 0:
        raise UsageError(f"-l {args.level} would make unjudged documents relevant", hint="-l 1")
    if args.depth is not None and args.depth < 1:
        raise UsageError(f"-M {args.depth} leaves no document", hint="-M 1000")


def _status(error: GoodgainError) -> int:
    from goodgain.compat.trec_eval import NothingToEvaluateError
    from goodgain.errors import UsageError

    if isinstance(error, NothingToEvaluateError):
        return _NOTHING
    if isinstance(error, MeasureError):
        return _USAGE if error.message.startswith(("there is no", "the measure")) else _INPUT
    if isinstance(error, UsageError):
        return _USAGE
    return _DUPLICATE if " twice for query " in error.message else _INPUT


def _help(named: list[tuple[str, str | None]]) -> str:
    """The flags, and the measures that -m names."""
    from goodgain.compat.trec_measures import BY_NAME, expanded

    wanted = {single for name, params in named for single in expanded(name, params)}
    lines = [f"{m.name}\n    {m.text}\n" for m in BY_NAME.values() if m.name in wanted]
    none = "-- no measures named: name them with -m, for example -h -m all_trec\n"
    return parser().format_help() + "\nmeasures:\n" + ("".join(lines) or none)
