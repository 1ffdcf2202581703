"""The tools that are compared: how to call them, their names of measures, their output."""

import csv
import hashlib
import importlib.metadata
import importlib.util
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from measure import HERE

MEASURES = ("nDCG@10", "AP", "RR", "R@1000", "P@10")
TREC_EVAL = ("ndcg_cut_10", "map", "recip_rank", "recall_1000", "P_10")
TREC_EVAL_ARGUMENTS = ("ndcg_cut.10", "map", "recip_rank", "recall.1000", "P.10")
RANX = ("ndcg@10", "map", "mrr", "recall@1000", "precision@10")
SCRIPTS = HERE / "scripts"
BUILT = HERE / ".data" / "bin"


@dataclass(frozen=True)
class TrecEval:
    """A trec_eval program that can be called."""

    path: str
    version: str
    origin: str


def program(name: str) -> str | None:
    """A console script installed beside this Python, or else one on the PATH."""
    beside = Path(sys.executable).parent / name
    return str(beside) if beside.exists() else shutil.which(name)


def version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def versions() -> str:
    """The versions of all that is compared, in one line."""
    packages = (
        "goodgain", "pytrec_eval-terrier", "ir-measures", "ranx", "polars", "duckdb", "pyarrow", "isal",
        "tantivy", "pyspark",
    )  # fmt: skip
    trec_eval = trec_eval_binary()
    found = {"Python": sys.version.split()[0]}
    found |= {package: version(package) or "not installed" for package in packages}
    found["trec_eval"] = trec_eval.version if trec_eval else "not available"
    return ", ".join(f"{name} {number}" for name, number in found.items())


def goodgain_command(qrels: Path, run: Path, *options: str) -> list[str] | None:
    found = program("goodgain")
    if found is None:
        return None
    return [found, "evaluate", str(qrels), str(run), "-m", " ".join(MEASURES), *options]


def trec_eval_command(qrels: Path, run: Path) -> list[str] | None:
    found = trec_eval_binary()
    if found is None:
        return None
    wanted = [part for measure in TREC_EVAL_ARGUMENTS for part in ("-m", measure)]
    return [found.path, *wanted, str(qrels), str(run)]


def ir_measures_command(qrels: Path, run: Path) -> list[str] | None:
    found = program("ir_measures")
    return None if found is None else [found, "-p", "6", str(qrels), str(run), *MEASURES]


def script_command(name: str, qrels: Path, run: Path) -> list[str] | None:
    """A script of benchmarks/scripts, which is named after the package it uses."""
    if version(name) is None:
        return None
    return [sys.executable, str(SCRIPTS / f"{name}_means.py"), str(qrels), str(run)]


def goodgain_means(output: str) -> dict[str, float]:
    """From `goodgain evaluate --format tsv`: columns run, measure, value, queries."""
    rows = csv.DictReader(io.StringIO(output), delimiter="\t")
    return {row["measure"]: float(row["value"]) for row in rows}


def listed_means(output: str, names: Sequence[str] = MEASURES) -> dict[str, float]:
    """From lines `name ... value`; `names` are the tool's, in the order of MEASURES."""
    known = dict(zip(names, MEASURES, strict=True))
    fields = [line.split() for line in output.splitlines() if line.strip()]
    return {known[line[0]]: float(line[-1]) for line in fields if line[0] in known}


@cache
def trec_eval_binary() -> TrecEval | None:
    """The trec_eval on the PATH, or one linked to that inside pytrec_eval's wheel, or None."""
    found = shutil.which("trec_eval")
    if found:
        said = subprocess.run([found, "-v"], capture_output=True, text=True, check=False)
        number = re.search(r"\d+(\.\d+)+", said.stderr + said.stdout)
        return TrecEval(found, number.group() if number else "of unknown version", "on the PATH")
    return _trec_eval_of_wheel()


def _trec_eval_of_wheel() -> TrecEval | None:
    """Build scripts/trec_eval_main.c over the extension; None where that cannot be done."""
    compiler = shutil.which(os.environ.get("CC", "cc"))
    spec = importlib.util.find_spec("pytrec_eval_ext")
    if sys.platform != "linux" or compiler is None or spec is None or spec.origin is None:
        return None
    source = SCRIPTS / "trec_eval_main.c"
    extension = Path(spec.origin).read_bytes()
    key = hashlib.sha256(source.read_bytes() + spec.origin.encode() + extension).hexdigest()[:16]
    number = re.search(rb"trec_eval-(\d+(\.\d+)+)", extension)
    target = BUILT / key / "trec_eval"
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        partial = target.with_name(f"{os.getpid()}.partial")
        define = f'-DEXTENSION="{spec.origin}"'
        build = [compiler, "-O2", "-rdynamic", define, str(source), "-o", str(partial), "-ldl"]
        built = subprocess.run(build, capture_output=True, check=False)
        if built.returncode != 0 or not _works(str(partial)):
            partial.unlink(missing_ok=True)
            return None
        partial.replace(target)
    name = number.group(1).decode() if number else "9"
    return TrecEval(str(target), name, "its code as compiled (-O3) in pytrec_eval-terrier's wheel")


def _works(binary: str) -> bool:
    """Whether a built trec_eval gets a case right that can be seen by eye."""
    with tempfile.TemporaryDirectory() as folder:
        qrels, run = Path(folder, "qrels"), Path(folder, "run")
        qrels.write_text("1 0 a 1\n1 0 b 0\n1 0 c 2\n")
        run.write_text("1 Q0 a 1 2.5 x\n1 Q0 b 2 1.5 x\n1 Q0 c 3 0.5 x\n")
        said = subprocess.run(
            [binary, "-m", "map", "-m", "P.2", str(qrels), str(run)],
            capture_output=True,
            text=True,
            check=False,
        )
    return [line.split() for line in said.stdout.splitlines()] == [
        ["map", "all", "0.8333"],
        ["P_2", "all", "0.5000"],
    ]
