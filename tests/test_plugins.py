"""Entry points of other packages: found when needed, never in the way."""

from __future__ import annotations

import sys

import pytest

from goodgain.plugins import load_plugin, load_plugins, plugin_names

GROUP = "goodgain.tests"


def test_no_plugins():
    assert plugin_names(GROUP) == []
    assert load_plugins(GROUP) == {}
    assert load_plugin(GROUP, "nothing") is None


def test_a_plugin_is_imported_when_it_is_named(install_plugin):
    install_plugin({GROUP: {"mine": "their_module:VALUE"}}, their_module="VALUE = 42")
    assert plugin_names(GROUP) == ["mine"]
    assert "their_module" not in sys.modules
    assert load_plugin(GROUP, "mine", int) == 42
    assert load_plugins(GROUP) == {"mine": 42}
    assert load_plugin("goodgain.others", "mine") is None


def test_a_broken_plugin_is_a_warning_that_names_it(install_plugin):
    install_plugin(
        {GROUP: {"bad": "their_broken:VALUE", "good": "their_good:VALUE"}},
        their_broken="raise RuntimeError('no luck')",
        their_good="VALUE = 1",
    )
    with pytest.warns(
        UserWarning, match="plug-in 'bad' .*someones-package.* RuntimeError: no luck"
    ):
        assert load_plugins(GROUP) == {"good": 1}
    assert load_plugins(GROUP) == {"good": 1}  # the warning comes once


def test_a_missing_module_and_the_wrong_kind_are_warnings(install_plugin):
    install_plugin(
        {GROUP: {"gone": "no_such_module:X", "text": "their_text:VALUE"}}, their_text="VALUE = 'x'"
    )
    with pytest.warns(UserWarning, match="plug-in 'gone' .*failed to load: ModuleNotFoundError"):
        assert load_plugin(GROUP, "gone") is None
    with pytest.warns(UserWarning, match="plug-in 'text' .*it is a str, not a int"):
        assert load_plugin(GROUP, "text", int) is None


def test_a_builtin_name_is_not_replaced(install_plugin):
    install_plugin({GROUP: {"ours": "their_own:VALUE"}}, their_own="VALUE = 1")
    with pytest.warns(UserWarning, match="plug-in 'ours' .*ignored: 'ours' is built in"):
        assert load_plugins(GROUP, builtin={"ours"}) == {}


def test_two_packages_with_one_name(install_plugin):
    install_plugin({GROUP: {"same": "their_a:VALUE"}}, package="package-a", their_a="VALUE = 'a'")
    install_plugin({GROUP: {"same": "their_b:VALUE"}}, package="package-b", their_b="VALUE = 'b'")
    with pytest.warns(UserWarning, match="'package-a' ignored: .*'package-b' has the same name"):
        assert load_plugins(GROUP) == {"same": "b"}
