"""Files that change, threads that cannot start, too little memory or space: an error or the same numbers."""

from __future__ import annotations

import gzip
import os
import random
import subprocess
import sys

import pytest

import goodgain as gg
from goodgain.cores import memory_limit
from goodgain.errors import DuplicateError, InputError, UsageError
from goodgain.measures import register

MEASURES = "nDCG@10 AP RR R@100 NumRet"


@pytest.fixture(scope="module")
def collection():
    """40,000 lines of 200 queries, in several blocks of a file."""
    rng = random.Random(3)
    qrels = {
        f"q{q}": {f"doc-{rng.randrange(800)}": rng.randrange(4) for _ in range(30)}
        for q in range(200)
    }
    lines = [
        f"q{q} Q0 doc-{d} 1 {rng.random():.2f} a-tag-that-makes-lines-longer\n"
        for q in range(200)
        for d in rng.sample(range(800), 200)
    ]
    return qrels, lines


def shuffled(lines):
    lines = list(lines)
    random.Random(1).shuffle(lines)
    return lines


def halves(lines):
    """Every query in two places that are far apart."""
    first = [line for i, line in enumerate(lines) if i % 200 < 100]
    return first + [line for i, line in enumerate(lines) if i % 200 >= 100]


ORDERS = {"ordered": list, "shuffled": shuffled, "halves": halves}


@pytest.fixture(scope="module", params=ORDERS)
def run_file(request, collection, tmp_path_factory):
    path = tmp_path_factory.mktemp(request.param) / "run.txt"
    path.write_text("".join(ORDERS[request.param](collection[1])))
    return path


def values(evaluation):
    run = evaluation.runs[0]
    return run.queries, [run.column(str(m)) for m in evaluation.measures]


@pytest.mark.parametrize("policy", [{}, {"ties": "input"}, {"duplicates": "best"}], ids=str)
def test_the_same_bits_whatever_the_memory(collection, run_file, policy):
    in_memory = values(gg.evaluate(collection[0], run_file, MEASURES, threads=1, **policy))
    for memory, threads in ((1, 1), ("100KB", 3), ("1MB", 2)):
        limited = gg.evaluate(
            collection[0], run_file, MEASURES, memory=memory, threads=threads, **policy
        )
        assert values(limited) == in_memory


def test_ties_input_is_the_order_of_lines_whatever_the_memory(collection, tmp_path):
    lines = shuffled(collection[1])
    path = tmp_path / "run.txt"
    path.write_text("".join(lines))
    in_order: dict[str, dict[str, float]] = {}
    for line in lines:
        q, _, d, _, s, _ = line.split()
        in_order.setdefault(q, {})[d] = float(s)
    expected = values(gg.evaluate(collection[0], in_order, MEASURES, ties="input"))
    spilled = gg.evaluate(collection[0], path, MEASURES, ties="input", memory=1)
    assert values(spilled) == expected


@pytest.mark.parametrize("memory", [1, "1GB"])
def test_a_duplicate_has_its_line_whatever_the_memory(collection, run_file, memory, tmp_path):
    lines = run_file.read_text().splitlines(keepends=True)
    lines.append(lines[1000])
    path = tmp_path / "run.txt"
    path.write_text("".join(lines))
    with pytest.raises(DuplicateError) as caught:
        gg.evaluate(collection[0], path, "AP", memory=memory)
    assert caught.value.where == f"{path}:{len(lines)}"


def test_coverage_and_bad_lines_whatever_the_memory(collection, run_file, tmp_path):
    lines = run_file.read_text().splitlines(keepends=True)
    for place in (30_000, 500, 20_000):
        lines.insert(place, f"q1 Q0 doc-{place} 1 none tag\n")
        lines.insert(place, f"unjudged{place % 3} Q0 d 1 1 tag\n")
    path = tmp_path / "run.txt"
    path.write_text("".join(lines))
    seen = {
        repr(
            gg.evaluate(collection[0], path, "AP", memory=m, threads=t, skip_bad=True)
            .runs[0]
            .coverage
        )
        for m in (1, "1GB")
        for t in (1, 2)
    }
    assert len(seen) == 1
    assert "bad_rows=3" in seen.pop()


# --- files that change ---


@pytest.mark.parametrize("threads", [1, 2])
def test_a_file_truncated_while_it_is_read(collection, threads, tmp_path):
    path = tmp_path / "run.txt"
    path.write_text("".join(collection[1]))

    def truncate(gains, best):
        os.truncate(path, 100)
        return 1.0

    register("TruncatesTheRun", truncate)
    with pytest.raises(InputError) as caught:
        gg.evaluate(collection[0], path, "TruncatesTheRun", threads=threads)
    assert caught.value.message == "the file changed while it was being read"
    assert caught.value.where == str(path)


def test_a_file_rewritten_while_it_is_read(collection, tmp_path):
    path = tmp_path / "run.txt"
    path.write_text("".join(collection[1]))

    def rewrite(gains, best):
        with path.open("r+b") as file:
            file.write(b"q1 Q0 other 1 1 tag")
        os.utime(path, ns=(1, 1))
        return 1.0

    register("RewritesTheRun", rewrite)
    with pytest.raises(InputError, match="the file changed while it was being read"):
        gg.evaluate(collection[0], path, "RewritesTheRun")


def test_a_file_that_grows_is_read_as_it_was(collection, tmp_path):
    path = tmp_path / "run.txt"
    path.write_text("".join(collection[1]))

    def append(gains, best):
        with path.open("a") as file:
            file.write("q1 Q0 other 1 1 tag\n")
        return 1.0

    register("AppendsToTheRun", append)
    assert gg.evaluate(collection[0], path, "AppendsToTheRun")["AppendsToTheRun"] == 1


# --- resources that are missing ---

LIMITED = """
import resource, sys
import goodgain as gg
import goodgain.errors
qrels, run, limit = sys.argv[1:4]
gg.evaluate(qrels, run, "AP", threads=1)  # everything is imported
{limit}
try:
    print(gg.evaluate(qrels, run, "AP", threads={threads}, memory={memory})["AP"].hex())
except goodgain.errors.InputError as error:
    print(error.message)
"""


def limited(paths, limit, threads=1, memory=None):
    code = LIMITED.format(limit=limit, threads=threads, memory=memory)
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, paths), ""],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture(scope="module")
def files(collection, tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    qrels, run = folder / "qrels.txt", folder / "run.txt"
    judged = [(q, d, gain) for q, docs in collection[0].items() for d, gain in docs.items()]
    qrels.write_text("".join(f"{q} 0 {d} {gain}\n" for q, d, gain in judged))
    run.write_text("".join(shuffled(collection[1])))
    return qrels, run


def test_threads_that_cannot_start(files):
    """With fewer threads than wanted, or none but the own one, the numbers are the same."""
    expected = gg.evaluate(*files, "AP")["AP"].hex()
    size = "int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()"
    limit = f"resource.setrlimit(resource.RLIMIT_AS, ({size} + 48 * 2**20,) * 2)"
    assert limited(files, limit, threads=32) == expected
    assert limited(files, "", threads=100_000) == expected


def test_a_full_temporary_folder(files):
    limit = "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))"
    message = limited(files, limit, memory=1)
    assert message.startswith("no space left in the temporary folder '")


def test_a_full_temporary_folder_for_a_stream(files):
    limit = "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))"
    code = f"import resource; {limit}\nimport sys; from goodgain.cli import run; sys.exit(run(sys.argv[1:]))"
    with files[1].open("rb") as source:
        done = subprocess.run(
            [sys.executable, "-c", code, "evaluate", str(files[0]), "-"],
            stdin=source, capture_output=True, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 2
    assert "no space left in the temporary folder '" in done.stderr
    assert "damaged" not in done.stderr


def test_too_little_memory_is_named(tmp_path, files):
    size = "int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()"
    limit = f"resource.setrlimit(resource.RLIMIT_AS, ({size} + 2**20,) * 2)"
    packed = tmp_path / "run.txt"
    packed.write_text(files[1].read_text() + "q1 Q0 " + "d" * 40_000_000 + " 1 1 tag\n")
    assert limited((files[0], packed), limit) == "not enough memory"


# --- sizes ---


@pytest.mark.parametrize(
    "size, expected",
    [
        (None, 2**30),
        (5, 5),
        ("2GB", 2 * 10**9),
        ("1.5 MiB", 3 * 2**19),
        ("7k", 7000),
        ("3 tb", 3 * 10**12),
    ],
)
def test_sizes_of_memory(size, expected):
    assert memory_limit(size) == expected


@pytest.mark.parametrize("size", [0, -1, "", "GB", "2XB", "1e400GB", "nan", "two", "1.5.2MB"])
def test_what_is_no_size_of_memory(size):
    with pytest.raises(UsageError, match="memory must be a size such as '2GB'"):
        memory_limit(size)


# --- compressed runs ---


def packed_files(path):
    """The same bytes under every compression, the gzip file in several members with zeros after them."""
    import bz2
    import lzma

    from goodgain.io.compression import compress

    data = path.read_bytes()
    members = b"".join(gzip.compress(data[i : i + 10**6]) for i in range(0, len(data), 10**6))
    contents = {
        "gz": members + bytes(100),
        "bz2": bz2.compress(data),
        "xz": lzma.compress(data, preset=0),
        "zst": b"".join(compress("run.txt.zst", [data])),
    }
    for suffix, content in contents.items():
        packed = path.with_name(f"run.txt.{suffix}")
        packed.write_bytes(content)
        yield packed


def test_compressed_runs_are_measured_as_they_are_read(collection, run_file):
    expected = values(gg.evaluate(collection[0], run_file, MEASURES))
    for packed in packed_files(run_file):
        assert values(gg.evaluate(collection[0], packed, MEASURES, memory=1)) == expected
        assert values(gg.evaluate(collection[0], packed, MEASURES, threads=2)) == expected


def test_damaged_and_bad_compressed_runs(collection, files, tmp_path):
    data = files[1].read_bytes()
    packed = tmp_path / "run.txt.gz"
    packed.write_bytes(gzip.compress(data)[:-100])
    with pytest.raises(InputError, match="cannot decompress the file"):
        gg.evaluate(collection[0], packed, "AP")
    lines = data.splitlines(keepends=True)
    packed.write_bytes(gzip.compress(b"".join([*lines[:30_000], b"q1 Q0 d 1 x tag\n", *lines])))
    with pytest.raises(InputError, match="the score 'x' is not a number") as caught:
        gg.evaluate(collection[0], packed, "AP")
    assert caught.value.where == f"{packed}:30001"


def test_many_small_runs_on_several_threads(collection, tmp_path):
    paths = []
    for i in range(20):
        lines = [line for line in collection[1] if line.startswith(f"q{i} ")]
        paths.append(tmp_path / f"run{i}.txt")
        paths[-1].write_text("".join(lines))
    one, four = (gg.evaluate(collection[0], paths, "AP", threads=n) for n in (1, 4))
    assert one.means == four.means
    assert list(four.means) == [f"run{i}" for i in range(20)]


@pytest.mark.parametrize("threads", [1, 4])
def test_judgments_on_several_threads(threads, tmp_path):
    """In several blocks; a bad line has its number, and a duplicate the place of both."""
    from goodgain import _core

    rng = random.Random(4)
    lines = [f"q{i // 100} 0 document-{i % 100:020} {rng.randrange(4)}\n" for i in range(100_000)]

    def read(lines):
        path = tmp_path / "qrels.txt"
        path.write_text("".join(lines))
        fd = os.open(path, os.O_RDONLY)
        return _core.Qrels.from_file(fd, "qrels", {"kind": "trec", "skip": 0}, threads)

    qrels = read(lines)
    assert (len(qrels), qrels.judgments, qrels.max_gain) == (1000, 100_000, 3)
    assert qrels.queries() == [f"q{i}" for i in range(1000)]
    assert qrels.judgments_of("q7")["document-" + "42".zfill(20)] == float(lines[742].split()[3])
    with pytest.raises(_core.CoreError, match="the gain 'x' is not a number") as caught:
        read([*lines[:70_000], "q1 0 d x\n", *lines[70_000:], "q1 0 d y\n"])
    assert caught.value.args[2] == "qrels:70001"
    with pytest.raises(_core.CoreError, match="duplicate judgment") as caught:
        read([*lines, lines[5], lines[2000]])
    assert caught.value.args[2:] == (
        "qrels:100001",
        "the first one is in line 6; keep one of the two",
    )


def test_one_thread_reads_judgments_too(collection, tmp_path):
    """`threads` holds for all that is read, not only for runs."""
    from goodgain import _core

    qrels, run = tmp_path / "qrels.txt", tmp_path / "run.txt"
    qrels.write_text("".join(f"q{n // 50} 0 document-{n} 1\n" for n in range(200_000)))
    run.write_text("q0 Q0 document-1 1 1 tag\n")
    before = _core.shared_cpu_seconds()
    gg.evaluate(qrels, run, "RR", threads=1)
    assert _core.shared_cpu_seconds() == before
    gg.evaluate(qrels, run, "RR", threads=2)
    assert _core.shared_cpu_seconds() > before
