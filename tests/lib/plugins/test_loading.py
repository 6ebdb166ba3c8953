from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from django.core.checks import run_checks
from pytest_django import Settings

from opencode_web.checks import TAG
from opencode_web.lib.plugins.loading import hooks_of, installed_plugins, load_plugins
from tests.architecture.sources import ROOT
from tests.installed_plugins import loaded, write_package
from tools.registry import all_tools

TOOL = """
    @hookimpl
    def tools():
        schema = {"type": "object", "properties": {"of": {"type": "string"}}, "required": ["of"]}
        return [PluginTool("%s", "Counts.", schema, lambda call, given: len(given["of"]))]
"""


def states() -> dict[str, tuple[str, str]]:
    return {one.name: (one.state, one.failed) for one in installed_plugins()}


def test_fr_02_what_is_installed_is_loaded_and_called_in_the_order_that_it_asks_for(
    tmp_path: Path,
) -> None:
    write_package(tmp_path, "beta", "@hookimpl\ndef context_sources(): return {}")
    write_package(tmp_path, "gamma", "@hookimpl\ndef context_sources(place): return {}")
    write_package(
        tmp_path, "alpha", "@hookimpl(trylast=True)\ndef context_sources(): return {}", version="2"
    )
    with loaded(tmp_path):
        assert [(one.name, one.version, one.state) for one in installed_plugins()] == [
            ("alpha", "2", "loaded"),
            ("beta", "1.0", "loaded"),
            ("gamma", "1.0", "loaded"),
        ]
        order = [hook.plugin.name for hook in hooks_of("context_sources")]
        assert order == ["gamma", "beta", "alpha"]
    assert installed_plugins() == []


MENU = "@hookimpl\ndef menu_entries(): return [MenuEntry('x', %s)]"
ODD_TOOL = "@hookimpl\ndef tools(): return [PluginTool('odd', %s)]"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("import nothing_there", "ModuleNotFoundError: No module named 'nothing_there'"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("@hookimpl\ndef befor_tool(call): ...", "unknown hook 'befor_tool'"),
        ("@hookimpl\ndef before_tool(cal): ...", "{'cal'}"),
        ("@hookimpl(wrapper=True)\ndef tools():\n    return (yield)", "wraps others"),
        ("@hookimpl\ndef tools(): return [1]", "a int is no PluginTool"),
        ("@hookimpl\ndef tools(): 1 / 0", "ZeroDivisionError"),
        (TOOL % "a b", "'a b' is no name of a tool"),
        ("@hookimpl\ndef menu_entries(): return [MenuEntry('x', 'X', 'javascript:1')]", "no https"),
        ("@hookimpl\ndef menu_entries(): return [MenuEntry('x', 'X', '//evil')]", "no https"),
        (MENU % "'X', '/x', 'admins'", "x needs 'admins', which nobody is"),
        (MENU % "5, '/x'", "the label or the words of x are no text"),
        (ODD_TOOL % "None, {'type': 'object'}, print", "the description of odd is no text"),
        (ODD_TOOL % "'x', {'type': 'object'}, None", "its run no function"),
        (ODD_TOOL % "'x', {'type': 'object'}, print, 'x'", "no number of seconds"),
        (ODD_TOOL % "'x', {'type': 'object', 'x': {1}}, print", "not JSON serializable"),
        (ODD_TOOL % "'x', {'type': 'object', 'x': float('nan')}, print", "NaN is no JSON"),
    ],
)
def test_one_that_cannot_be_loaded_says_why_and_the_others_work(
    tmp_path: Path, settings: Settings, text: str, why: str
) -> None:
    write_package(tmp_path, "broken", text)
    write_package(tmp_path, "working", "@hookimpl\ndef context_sources(): return {}")
    with loaded(tmp_path):
        assert states()["broken"][0] == "failed"
        assert why in states()["broken"][1]
        assert [hook.plugin.name for hook in hooks_of("context_sources")] == ["working"]
        [message] = run_checks(tags=[TAG])
        assert (message.id, message.is_serious()) == ("opencode_web.W026", False)
        assert why in message.msg


def test_only_what_is_allowed_is_imported(tmp_path: Path, settings: Settings) -> None:
    for name in ("one", "two"):
        write_package(tmp_path, name, "@hookimpl\ndef context_sources(): return {}")
    write_package(tmp_path, "bad", "raise AssertionError('imported')")
    with loaded(tmp_path, "*", "-bad"):
        assert states() == {
            "one": ("loaded", ""),
            "two": ("loaded", ""),
            "bad": ("not_allowed", ""),
        }
    with loaded(tmp_path, "one", "three"):
        assert states()["two"] == ("not_allowed", "")
        settings.PLUGINS = ["one", "three"]
        [message] = run_checks(tags=[TAG])
        assert message.id == "opencode_web.W027"
        assert "three" in message.msg


def test_the_package_that_comes_first_on_the_path_counts(tmp_path: Path) -> None:
    for version in ("2.0", "1.0"):
        write_package(tmp_path / version, "same", "", version=version)
    load_plugins([], [str(tmp_path / "1.0"), str(tmp_path / "2.0"), str(tmp_path / "none")])
    assert [one.version for one in installed_plugins()] == ["1.0"]
    load_plugins([], [])


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (TOOL % "read", "There is another tool read."),
        (TOOL.replace('"string"', '"strin"') % "count", "are no JSON schema"),
    ],
)
def test_no_tool_takes_the_name_of_another_or_has_a_schema_that_is_none(
    tmp_path: Path, text: str, why: str
) -> None:
    built_in = all_tools()
    write_package(tmp_path, "bold", text)
    write_package(tmp_path, "fine", TOOL % "letters")
    write_package(tmp_path, "late", TOOL % "letters")
    with loaded(tmp_path):
        assert all_tools().keys() - built_in.keys() == {"letters"}
        assert all_tools()["read"] is built_in["read"]
        assert why in states()["bold"][1]
        assert states()["late"] == ("failed", "There is another tool letters.")
    assert all_tools() == built_in


def test_what_packages_import_needs_neither_settings_nor_the_rooms_of_the_server() -> None:
    code = (
        "import sys, opencode_web.plugin\n"
        "print({'sessions', 'providers', 'teams', 'opencode_web.settings'} & {*sys.modules})"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env={}, capture_output=True, text=True, check=True
    )
    assert done.stdout == "set()\n"


def test_a_server_without_packages_does_not_pay_for_them(settings: Settings) -> None:
    code = (
        "import sys\n"
        "from opencode_web.lib.plugins.loading import load_plugins\n"
        "load_plugins(['*'])\n"
        "print('pluggy' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env={}, capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"
