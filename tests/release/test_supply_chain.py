"""What a release is made of: vendored files, licences, symbols, workflows and the bill of materials."""

from __future__ import annotations

import importlib.metadata
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from load_script import load_script

import goodgain._core

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
VENDORED = tomllib.loads((ROOT / "third_party" / "vendored.toml").read_text(encoding="utf-8"))

# The jobs that may write, and what: PyPI trusts the one, the site's host the other.
WRITES = {"release.yml": {"id-token", "attestations"}, "site.yml": {"id-token", "pages"}}


def test_vendored_files_have_the_hashes_of_the_table():
    assert load_script("vendor").problems() == []


@pytest.fixture
def copied(tmp_path, monkeypatch):
    """The script at work on a copy of the vendored code."""
    vendor = load_script("vendor")
    folder = tmp_path / "third_party"
    shutil.copytree(ROOT / "third_party", folder)
    monkeypatch.setattr(vendor, "ROOT", tmp_path)
    monkeypatch.setattr(vendor, "FOLDER", folder)
    monkeypatch.setattr(vendor, "TABLE", folder / "vendored.toml")
    return vendor, folder


def test_a_changed_vendored_file_is_reported(copied):
    vendor, folder = copied
    with (folder / "ada" / "ada.cpp").open("a") as file:
        file.write("// one more line\n")
    (folder / "ada" / "other.h").write_text("")
    (folder / "simdjson" / "LICENSE").unlink()
    assert vendor.problems() == [
        "third_party/simdjson/LICENSE: missing",
        "third_party/ada/ada.cpp: another hash than in vendored.toml",
        "third_party/ada/other.h: not in vendored.toml",
    ]


def test_an_update_takes_an_archive_and_checks_its_hash(tmp_path, copied):
    import io
    import tarfile

    vendor, _ = copied
    archive = tmp_path / "ada.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        for name, text in (("ada.h", '#define ADA_VERSION "9.9.9"\n'), ("ada.cpp", "// new\n")):
            member = tarfile.TarInfo(f"ada-9.9.9/singleheader/{name}")
            member.size = len(text)
            tar.addfile(member, io.BytesIO(text.encode()))
    with pytest.raises(SystemExit, match="has the hash"):
        vendor.update("ada", str(archive), "0" * 64)
    assert vendor.problems() == []
    vendor.update("ada", str(archive), vendor.digest(archive.read_bytes()))
    assert vendor.table()["ada"]["version"] == "9.9.9"
    assert vendor.problems() == []


def test_every_licence_of_what_is_compiled_in_goes_into_the_wheel():
    listed = PROJECT["project"]["license-files"]
    for name in VENDORED:
        assert f"third_party/{name}/LICENSE" in listed
        assert (ROOT / "third_party" / name / "LICENSE").read_text(encoding="utf-8").strip()
    folders = {path.name for path in (ROOT / "third_party").iterdir() if path.is_dir()}
    assert folders == set(VENDORED)
    assert "LICENSE" in listed
    assert "src/goodgain/reports/assets/vendor/LICENSE.*" in listed
    assert "licenses/LICENSE.*" in listed


def test_the_licences_of_what_is_linked_statically_are_those_of_the_build():
    """The binding library is compiled into the module, with a hash table of its own."""
    files = importlib.metadata.files("nanobind") or []
    (own,) = [file for file in files if file.name == "LICENSE"]
    texts = {
        path.suffix[1:]: path.read_text(encoding="utf-8") for path in (ROOT / "licenses").iterdir()
    }
    assert texts["nanobind"] == own.read_text(encoding="utf-8")
    (table,) = [file for file in files if file.name == "robin_map.h"]
    comment = table.read_text(encoding="utf-8").partition("*/")[0]
    lines = [line.lstrip(" /*") for line in comment.splitlines()]
    assert texts["robin_map"].split() == " ".join(lines).split()
    assert set(texts) == {"nanobind", "robin_map", "instruction_set"}


def test_notices_inside_vendored_files_are_in_the_wheel():
    """Parts that a library took over from elsewhere have licences of their own, for binaries as well."""
    texts = [path.read_text(encoding="utf-8").split() for path in (ROOT / "licenses").iterdir()]
    notices = [
        (path.name, notice)
        for name in VENDORED
        for path in sorted((ROOT / "third_party" / name).glob("*.*"))
        for notice in re.findall(r"/\*(.*?)\*/", path.read_text(encoding="utf-8"), re.S)
        if "Redistributions in binary form" in notice
    ]
    assert notices
    assert [name for name, notice in notices if notice.split() not in texts] == []


@pytest.mark.skipif(sys.platform != "linux" or not shutil.which("nm"), reason="needs nm")
def test_the_module_exports_its_entry_alone():
    symbols = subprocess.run(
        ["nm", "-D", "--defined-only", goodgain._core.__file__],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    names = {line.split()[-1] for line in symbols.splitlines()}
    assert {name for name in names if not name.startswith("PyInit_")} == set(), sorted(names)[:20]
    assert names == {"PyInit__core"}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_pinned_by_commit(path):
    used = re.findall(r"uses: *(\S+)(.*)", path.read_text(encoding="utf-8"))
    assert used
    for action, comment in used:
        assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", action), action
        assert re.fullmatch(r" # v\d+\.\d+\.\d+", comment), f"{action} lacks its version"


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_jobs_have_the_least_permissions(path):
    workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert workflow["permissions"] in ({}, {"contents": "read"})
    for name, job in workflow["jobs"].items():
        wanted = job.get("permissions", {})
        writes = {scope for scope, level in wanted.items() if level == "write"}
        assert writes <= (WRITES[path.name] if name == "publish" else set())
    assert "secrets." not in path.read_text(encoding="utf-8")
    assert "pull_request_target" not in path.read_text(encoding="utf-8")


def test_a_release_serves_every_platform_without_a_stored_secret():
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text())
    rows = workflow["jobs"]["wheels"]["strategy"]["matrix"]["include"]
    built = {(row["os"].split("-")[0], row["archs"]) for row in rows}
    assert built == {
        ("ubuntu", "x86_64"), ("ubuntu", "aarch64"), ("macos", "arm64"), ("macos", "x86_64"),
        ("windows", "AMD64"), ("windows", "ARM64"),
    }  # fmt: skip
    # Labels that the host has retired never start: macos-13, and everything before.
    assert {row["os"] for row in rows if row["os"].startswith("macos")} == {
        "macos-15",
        "macos-15-intel",
    }
    publish = workflow["jobs"]["publish"]
    assert publish["environment"]["name"] == "pypi"
    assert any("attest" in step.get("uses", "") for step in publish["steps"])
    wheels = PROJECT["tool"]["cibuildwheel"]
    assert wheels["build"] == ["cp311-*", "cp312-*", "cp314t-*"]
    assert not wheels.get("skip")  # manylinux and musllinux
    assert PROJECT["tool"]["scikit-build"]["wheel"]["py-api"] == "cp312"
    # The version of macOS whose library `make platforms` compiles against.
    oldest = load_script("platforms").OLDEST_MACOS
    assert wheels["macos"]["environment"] == {"MACOSX_DEPLOYMENT_TARGET": oldest}


def test_the_bill_of_materials_names_what_is_compiled_in_and_needed():
    bill = load_script("sbom").document()
    components = {component["name"]: component for component in bill["components"]}
    assert set(VENDORED) < set(components)
    assert components["simdjson"]["version"] == VENDORED["simdjson"]["version"]
    assert {"numpy", "vega", "nanobind", "robin_map", "instruction_set"} < set(components)
    assert bill["metadata"]["component"]["version"] == PROJECT["project"]["version"]


def test_the_version_is_the_same_everywhere():
    assert goodgain.__version__ == PROJECT["project"]["version"]
