"""A function of an installed package is known by the version of the package, and by what it was made with."""

import importlib
import sys
from pathlib import Path

import pytest

from goodgain.fingerprint import fingerprint

MODULE = """
import functools
__version__ = "1"

def adder(number):
    def add(value):
        return value + number
    return add

def by_default(number):
    return lambda value, other=number: value + other

def retried(function):
    @functools.wraps(function)
    def again(*arguments):
        return function(*arguments)
    return again

def plain(value, unit=1):
    return value

decorated = retried(plain)
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    folder = tmp_path / "site-packages"
    folder.mkdir()
    (folder / "some_package.py").write_text(MODULE)
    monkeypatch.syspath_prepend(folder)
    yield importlib.import_module("some_package")
    del sys.modules["some_package"]


def test_what_a_factory_of_a_package_was_called_with(package):
    for make in (package.adder, package.by_default):
        one, same, other = (fingerprint(make(number)) for number in (1, 1, 2))
        assert one == same and one.digest != other.digest
        assert not one.unknown


def test_a_decorator_of_a_package_does_not_hide_the_function(package):
    one, same, other = (
        fingerprint(package.retried(f)) for f in (lambda q: 1, lambda q: 1, lambda q: 2)
    )
    assert one == same and one.digest != other.digest


def test_the_version_stands_for_the_code(package):
    before = [fingerprint(f) for f in (package.plain, package.decorated)]
    assert before == [fingerprint(f) for f in (package.plain, package.decorated)]
    package.__version__ = "2"
    assert all(
        fingerprint(f) != old
        for f, old in zip((package.plain, package.decorated), before, strict=True)
    )
