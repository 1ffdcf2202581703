"""Build the core for every platform that tools here can build for: scripts/platforms.py [PLATFORM ...].

The core, its tests and its fuzzer are compiled with warnings as errors. Where the machine can run the
result, directly or through Wine, the tests and the corpora run as well. The Python bindings are compiled
with libc++ (for macOS with what its oldest supported version lacks) and for Windows. Compilers: gcc, clang,
mingw-w64, and zig (`pip install ziglang`), which brings the C and C++ libraries of Linux (musl), Windows and
macOS.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "platforms"


class Platform(NamedTuple):
    """A compiler, what it builds for, and how the result runs here (None: it does not)."""

    compiler: tuple[str, ...]
    system: str = "Linux"
    processor: str = "x86_64"
    runner: tuple[str, ...] | None = ()
    flags: str = ""
    bindings: bool = False


def zig(
    target: str, system: str, runner: tuple[str, ...] | None = None, flags: str = ""
) -> Platform:
    """A platform for which zig brings the libraries."""
    compiler = (sys.executable, "-m", "ziglang", "c++", "-target", target)
    return Platform(compiler, system, target.split("-")[0], runner, flags, bool(flags))


def newest(program: str) -> str:
    """The newest version of a compiler here: ada needs the algorithms of libc++ 16."""
    versions = (f"{program}-{n}" for n in range(30, 15, -1))
    return next(filter(shutil.which, versions), program)


WINE = (
    shutil.which("wine") or shutil.which("wine64") or "/usr/lib/wine/wine64",
)  # Debian hides it there
# The oldest version that wheels serve: the first one with std::to_chars for floating-point numbers.
OLDEST_MACOS = "13.3"
# zig turns the notes off by which Apple's libc++ says since when it has what.
SINCE = "_LIBCPP_HAS_VENDOR_AVAILABILITY_ANNOTATIONS"
NOTES = f"-U{SINCE} -D{SINCE}=1"
PLATFORMS = {
    "linux-gcc": Platform(("g++",)),
    "linux-clang": Platform(("clang++",)),
    "linux-clang-libc++": Platform((newest("clang++"),), flags="-stdlib=libc++", bindings=True),
    "linux-musl": zig("x86_64-linux-musl", "Linux", ()),
    "linux-musl-arm64": zig("aarch64-linux-musl", "Linux", ("qemu-aarch64-static",)),
    "windows-mingw": Platform(
        ("x86_64-w64-mingw32-g++-posix",), "Windows", runner=WINE, bindings=True
    ),
    "windows-zig": zig("x86_64-windows-gnu", "Windows", WINE),
    "macos-arm64": zig(f"aarch64-macos.{OLDEST_MACOS}", "Darwin", flags=NOTES),
    "macos-x86_64": zig(f"x86_64-macos.{OLDEST_MACOS}", "Darwin", flags=NOTES),
}


def missing(platform: Platform) -> str:
    """The tool that a platform lacks here."""
    if "ziglang" in platform.compiler:
        return "" if find_spec("ziglang") else "ziglang"
    if not shutil.which(platform.compiler[0]):
        return platform.compiler[0]
    if not platform.flags:
        return ""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "main.cpp"
        source.write_text("#include <vector>\nint main() {}\n")
        command = [
            *platform.compiler,
            platform.flags,
            str(source),
            "-o",
            str(source.with_suffix("")),
        ]
        done = subprocess.run(command, capture_output=True, check=False)
    return "libc++" if done.returncode else ""


def program(folder: Path, name: str, words: tuple[str, ...]) -> str:
    """A command of several words as one program, for CMake."""
    if len(words) == 1:
        return words[0]
    path = folder / name
    path.write_text(f'#!/bin/sh\nexec {" ".join(words)} "$@"\n')
    path.chmod(0o755)
    return str(path)


def build(name: str, platform: Platform) -> Path:
    """Compile the core, its tests and its fuzzer."""
    folder = BUILD / name
    folder.mkdir(parents=True, exist_ok=True)
    options = [
        f"-DCMAKE_CXX_COMPILER={program(folder, 'c++', platform.compiler)}",
        f"-DCMAKE_CXX_FLAGS={platform.flags}", "-DGOODGAIN_PYTHON=OFF",
        f"-DCMAKE_BUILD_TYPE={'Debug' if platform.runner is None else 'Release'}",
        "-DGOODGAIN_TESTS=ON", "-DGOODGAIN_WERROR=ON", f"-DPython_EXECUTABLE={sys.executable}",
    ]  # fmt: skip
    if "ziglang" in platform.compiler or platform.system != "Linux":
        options += [
            f"-DCMAKE_SYSTEM_NAME={platform.system}",
            f"-DCMAKE_SYSTEM_PROCESSOR={platform.processor}",
        ]
    if "ziglang" in platform.compiler:
        for tool in ("ar", "ranlib"):
            words = (sys.executable, "-m", "ziglang", tool)
            options.append(f"-DCMAKE_{tool.upper()}={program(folder, tool, words)}")
    commands = (
        ["cmake", "-S", ROOT, "-B", folder, *options],
        ["cmake", "--build", folder, "--parallel", os.environ.get("GOODGAIN_JOBS", "2")],
    )
    for command in commands:
        done = subprocess.run(
            command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
        )
        if done.returncode:
            raise RuntimeError(done.stdout[-4000:])
    if platform.bindings:
        compile_bindings(folder, platform)
    return folder


# What Python's own configuration says on Windows, as far as its headers ask.
WINDOWS_PYTHON = """
#define MS_WINDOWS
#define MS_WIN32
#define MS_WIN64
#define NT_THREADS
#define HAVE_DECLSPEC_DLL
#define HAVE_PY_SSIZE_T 1
typedef long long Py_ssize_t;
#define PY_SSIZE_T_MAX LLONG_MAX
#define SIZEOF_SHORT 2
#define SIZEOF_WCHAR_T 2
#define SIZEOF_INT 4
#define SIZEOF_LONG 4
#define SIZEOF_FLOAT 4
#define SIZEOF_LONG_LONG 8
#define SIZEOF_DOUBLE 8
#define SIZEOF_SIZE_T 8
#define SIZEOF_VOID_P 8
#define SIZEOF_TIME_T 8
#define SIZEOF_FPOS_T 8
#define ALIGNOF_SIZE_T 8
#define ALIGNOF_MAX_ALIGN_T 8
"""


def python_headers(folder: Path, platform: Platform) -> Path:
    """The headers of this Python, configured for Windows where that is the platform."""
    own = Path(sysconfig.get_path("include"))
    if platform.system != "Windows":  # macOS differs little
        return own
    headers = folder / "python"
    shutil.copytree(own, headers, dirs_exist_ok=True)
    (headers / "pyconfig.h").write_text(WINDOWS_PYTHON)
    return headers


def compile_bindings(folder: Path, platform: Platform) -> None:
    """Compile the bindings; linking needs a Python of that platform."""
    import nanobind

    module = re.search(
        r"nanobind_add_module\(_core(.*?)\)", (ROOT / "CMakeLists.txt").read_text(), re.S
    )
    assert module is not None
    includes = ["-I", ROOT / "src" / "core", "-I", folder / "generated"]
    for system in (
        nanobind.include_dir(), python_headers(folder, platform),
        *(ROOT / "third_party" / name for name in ("simdjson", "ada", "fast_float")),
    ):  # fmt: skip
        includes += ["-isystem", system]
    for source in re.findall(r"src/core/\S+", module[1]):
        command = [
            *platform.compiler, *platform.flags.split(), "-std=c++20", "-fvisibility=hidden",
            *includes, "-c", ROOT / source, "-o", folder / "binding.o",
        ]  # fmt: skip
        done = subprocess.run(command, text=True, capture_output=True, check=False)
        if done.returncode:
            raise RuntimeError(done.stderr[-4000:])


def run(folder: Path, platform: Platform) -> str:
    """Run the tests and the corpora, if that is possible here."""
    bindings = ", bindings compiled" if platform.bindings else ""
    if platform.runner is None:
        return f"compiled{bindings}"
    if platform.runner and not shutil.which(platform.runner[0]):
        return f"compiled (no {platform.runner[0]} to run it)"
    suffix = ".exe" if platform.system == "Windows" else ""

    def call(name: str, *arguments: str) -> str:
        command = [*(platform.runner or ()), str(folder / f"{name}{suffix}"), *arguments]
        done = subprocess.run(
            command, cwd=ROOT, text=True, errors="replace", capture_output=True, check=False
        )
        if done.returncode:
            raise RuntimeError(f"{name} {' '.join(arguments)}: {done.stdout}{done.stderr}"[-4000:])
        return done.stdout

    call("core_tests")
    targets = call("core_fuzz", "list").split()
    for target in targets:
        call("core_fuzz", target, "replay", f"tests/native/corpus/{target}")
    return f"compiled{bindings}, tests and {len(targets)} corpora run"


def main() -> int:
    """Print one line for each platform; the status is 1 if one fails."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("platforms", nargs="*", metavar="PLATFORM", help=", ".join(PLATFORMS))
    wanted = parser.parse_args().platforms or list(PLATFORMS)
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # CMake
    failed = 0
    for name in wanted:
        started = time.monotonic()
        if tool := missing(PLATFORMS[name]):
            print(f"{name:20} not tried: no {tool}", flush=True)
            continue
        try:
            outcome = run(build(name, PLATFORMS[name]), PLATFORMS[name])
        except RuntimeError as error:
            failed += 1
            outcome = f"FAILED\n{error}"
        print(f"{name:20} {outcome} ({time.monotonic() - started:.0f} s)", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
