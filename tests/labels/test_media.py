"""Media that are full, locked or read-only: one sentence instead of a traceback, and nothing is lost."""

import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from goodgain.errors import GoodgainError
from goodgain.labels import Labels, Store, Vote, database, label
from goodgain.labels.verify import verify

PAIRS = [("q", f"d{i}", "what?", f"document {i}") for i in range(2_500)]
LIMITED = """
import resource, sys
sys.path.insert(0, {folder!r})
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), resource.RLIM_INFINITY))
from labelled import run
run(sys.argv[2])
"""
LABELLED = """
import sys
from goodgain.errors import GoodgainError
from goodgain.labels import label

def run(path):
    pairs = [("q", f"d{i}", "what?", f"document {i}") for i in range(2_500)]
    async def judge(request):
        return 2
    try:
        label(pairs, judge, path, name="judge")
    except GoodgainError as error:
        sys.exit(f"{error}")

if __name__ == "__main__":
    run(sys.argv[1])
"""


def script(folder: Path) -> Path:
    path = folder / "labelled.py"
    path.write_text(LABELLED)
    return path


@pytest.mark.slow
@pytest.mark.parametrize("limit", [60_000, 200_000, 300_000, 500_000, 900_000])
def test_a_file_that_cannot_grow_ends_the_run_and_loses_nothing(limit: int, tmp_path: Path) -> None:
    script(tmp_path)
    path = tmp_path / "l.db"
    argv = [sys.executable, "-c", LIMITED.format(folder=str(tmp_path)), str(limit), str(path)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "there is no space left, or the disk is failing" in done.stderr
    before = set()
    if path.stat().st_size:
        assert verify(path).damages == ()
        with closing(sqlite3.connect(path)) as db:
            if db.execute("PRAGMA user_version").fetchone()[0]:
                before = set(db.execute("SELECT key, gain FROM replies"))
    again = subprocess.run([sys.executable, tmp_path / "labelled.py", path], check=False)
    assert again.returncode == 0
    with closing(sqlite3.connect(path)) as db:
        assert before <= set(db.execute("SELECT key, gain FROM replies"))
    assert Labels.of(path).statuses == {"ok": 2_500}
    assert verify(path).damages == ()


def in_namespace(commands: str, *values: object) -> subprocess.CompletedProcess[str]:
    """Run shell commands where this user may mount file systems."""
    if (
        shutil.which("unshare") is None
        or subprocess.run(
            ["unshare", "-Urm", "sh", "-c", "mount -t tmpfs none /mnt"],
            capture_output=True,
            check=False,
        ).returncode
    ):
        pytest.skip("this system does not let tests mount file systems")
    return subprocess.run(
        ["unshare", "-Urm", "sh", "-ec", commands, "sh", *map(str, values)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.slow
def test_a_full_disk_ends_the_run_and_loses_nothing(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    done = in_namespace(
        'mount -t tmpfs -o size=600k none "$1"\n'
        'if "$2" "$3" "$1/l.db" 2>"$4/errors"; then exit 3; fi\n'
        '"$2" -m goodgain labels verify "$1/l.db"\n'
        '"$2" -m goodgain labels stats "$1/l.db" --format csv\n'
        'mount -o remount,size=20m "$1"\n'
        '"$2" "$3" "$1/l.db"\n'
        '"$2" -m goodgain labels verify "$1/l.db"\n'
        'cp "$1/l.db" "$4/copy.db"',
        disk, sys.executable, script(tmp_path), tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    errors = (tmp_path / "errors").read_text()
    assert "Traceback" not in errors
    assert "no space left" in errors
    assert done.stdout.count("no damage") == 2
    assert Labels.of(tmp_path / "copy.db").statuses == {"ok": 2_500}


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    folder = tmp_path / "media"
    folder.mkdir()
    label(PAIRS[:5], lambda request: 2, folder / "l.db")
    with Store(folder / "l.db") as store:
        store.add_votes([Vote(annotator="ann", query="q", doc="d1", gain=1)])
    return folder


READS = (
    ("labels", "stats", "{}"), ("labels", "show", "{}", "--people", "mean"),
    ("labels", "export", "{}", "--annotator", "ann"), ("labels", "verify", "{}"),
    ("evaluate", "{}#people", "{}.run", "-m", "CG"),
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("pending", [False, True])
def test_a_store_on_a_read_only_file_system_can_be_read(filled: Path, pending: bool) -> None:
    """Also if its log has not been merged into the file."""
    path = filled / "l.db"
    (filled / "l.db.run").write_text("q Q0 d1 1 1 r\n")
    if pending:
        with Store(path) as store:
            store.add_votes([Vote(annotator="bob", query="q", doc="d1", gain=3)])
            shutil.copy(path, filled / "copy.db")
            shutil.copy(f"{path}-wal", filled / "copy.db-wal")
        path = filled / "copy.db"
        shutil.copy(filled / "l.db.run", filled / "copy.db.run")
    reads = "\n".join(
        f'"$2" -m goodgain {" ".join(word.format("$3") for word in words)}' for words in READS
    )
    done = in_namespace(
        'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1"\n'
        f'if touch "$1/x" 2>/dev/null; then exit 9; fi\n{reads}',
        filled, sys.executable, path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "no damage" in done.stdout
    assert (" 2 " if pending else " 1 ") in done.stdout.partition("mean")[0]  # votes of d1
    writing = in_namespace(
        'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1"\n'
        'echo "q 0 d 1" > /tmp/human-$$.txt\n'
        '"$2" -m goodgain labels import "$3" /tmp/human-$$.txt --annotator ann',
        filled, sys.executable, path,
    )  # fmt: skip
    assert writing.returncode == 2
    assert "Traceback" not in writing.stderr
    assert "cannot use the label store" in writing.stderr


def test_a_store_without_permission_to_write_can_be_read(filled: Path) -> None:
    before = sorted(path.name for path in filled.iterdir())
    path = filled / "l.db"
    path.chmod(0o444)
    filled.chmod(0o555)
    code = (
        "import os, sys, sqlite3\n"
        "from goodgain.labels import Labels\n"
        "from goodgain.labels.verify import verify\n"
        "import goodgain.labels.judges.registry\n"
        "from goodgain.labels.database import schema\n"
        "schema()  # the package may lie in a folder of root's\n"
        "os.getuid() or os.setuid(65534)\n"
        "labels = Labels.of(sys.argv[1])\n"
        "print(labels.statuses, verify(sys.argv[1]).damages)\n"
    )
    for folder in (filled.parent, *filled.parents[1:4]):
        if folder != Path("/tmp"):
            folder.chmod(0o755)
    try:
        done = subprocess.run(
            [sys.executable, "-c", code, path], capture_output=True, text=True, check=False
        )
    finally:
        filled.chmod(0o755)
    assert done.stdout.strip() == "{'ok': 5} ()", done.stderr
    assert sorted(path.name for path in filled.iterdir()) == before


def test_a_locked_file_is_one_sentence(
    filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "LOCK_TIMEOUT", 0.2)
    path = filled / "l.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        with pytest.raises(GoodgainError, match="another process has locked it") as error:
            label(PAIRS[:9], lambda request: 2, path)
        assert "\n" not in error.value.message
        assert Labels.of(path).statuses == {"ok": 5}  # reading goes on
    assert label(PAIRS[:9], lambda request: 2, path).statuses == {"ok": 9}


def test_a_lock_in_the_middle_of_a_run_keeps_what_was_saved(
    filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "LOCK_TIMEOUT", 0.2)
    path = filled / "l.db"
    other = sqlite3.connect(path, isolation_level=None)

    async def judge(request: object) -> int:
        if len(calls) == 20:
            other.execute("BEGIN IMMEDIATE")
        calls.append(1)
        return 2

    calls: list[int] = []
    with closing(other), pytest.raises(GoodgainError, match="another process has locked it"):
        label(PAIRS[:100], judge, path, concurrency=4, name="j")
    again = label(PAIRS[:100], judge, path, name="j")
    assert again.summary is not None
    assert 10 < again.summary.stored < 100
    assert verify(path).damages == ()


def test_files_that_are_not_stores(tmp_path: Path) -> None:
    (tmp_path / "folder.db").mkdir()
    (tmp_path / "short.db").write_bytes(b"SQLite format 3\0")
    with closing(sqlite3.connect(tmp_path / "other.db")) as db:
        db.execute("CREATE TABLE t (x)")
    for name in ("folder.db", "short.db", "other.db"):
        for read_only in (False, True):
            with pytest.raises(GoodgainError, match="not a label store"):
                Store(tmp_path / name, read_only=read_only)


def test_an_old_store_on_read_only_media_is_read_in_its_new_form(old_store: Path) -> None:
    before = old_store.read_bytes()
    with Store(old_store, read_only=True) as store:
        assert store.db.execute("SELECT count(*) FROM labels").fetchone() == (16,)
        assert store.db.execute("SELECT count(*) FROM votes").fetchone() == (0,)
    assert old_store.read_bytes() == before
    assert [path.name for path in old_store.parent.iterdir()] == ["old.db"]
