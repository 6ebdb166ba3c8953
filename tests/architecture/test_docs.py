from __future__ import annotations

import ast
import gzip
import json
import re
from itertools import pairwise
from pathlib import Path

import pytest
from django.core.management import get_commands

from opencode_web.docs.pages import NAMES
from opencode_web.lib.markdown import render_document
from tests.architecture.sources import ROOT

README_LINES = 120
CONTRIBUTING_LINES = 140
GLOSSARY_NOUNS = 40
DOCS = ROOT / "docs"
PROSE = [
    *(
        ROOT / name
        for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "clients/README.md")
    ),
    *sorted(DOCS.glob("*.md")),
]
# Variables of the command line and of commands, and a name of the code.
NOT_READ_HERE = {
    *("OPENCODE_WEB_TOKEN", "OPENCODE_WEB_URL", "OPENCODE_WEB_PROJECT"),
    *("HTTP_PROXY", "HTTPS_PROXY", "SCHEMA_VERSION", "AWS_SESSION_TOKEN"),
}
# What has a slash and is no path.
NO_PATHS = {
    *("provider/model", "refs/opencode/rescue/", "refs/heads/main", ".git/config"),
    # Of a repository that is worked on.
    *(".opencode/plugin", ".opencode/plugins"),
}


def settings_defaults() -> dict[str, str | None]:
    """What settings.py reads, with the default in the form of an environment file.

    None stands for a default that is computed.
    """
    found: dict[str, str | None] = {}
    for node in ast.walk(ast.parse((ROOT / "opencode_web" / "settings.py").read_text())):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        if node.func.id not in {"env", "env_bool", "env_int", "env_list", "env_secret"}:
            continue
        if node.args and isinstance(node.args[0], ast.Constant):
            found[str(node.args[0].value)] = _default(node)
    return found


def _default(call: ast.Call) -> str | None:
    assert isinstance(call.func, ast.Name)
    if len(call.args) < 2:
        return "0" if call.func.id == "env_bool" else ""
    try:
        # Only literals and sums of them: "25 * 1024" is no literal to ast.
        value = eval(compile(ast.Expression(call.args[1]), "settings", "eval"), {})
    except NameError:
        return None
    return str(int(value)) if isinstance(value, bool) else str(value)


def _examples() -> dict[str, str]:
    text = (ROOT / "docker" / "env.example").read_text()
    return dict(re.findall(r"(?m)^#?([A-Z][A-Z0-9_]*)=(.*)$", text))


def test_the_example_lists_every_variable_and_no_other() -> None:
    assert set(_examples()) == set(settings_defaults())


def test_the_example_shows_the_default(subtests: pytest.Subtests) -> None:
    for name in [name for name, value in settings_defaults().items() if value is not None]:
        with subtests.test(name=name):
            assert _examples()[name] == settings_defaults()[name]


def test_every_variable_of_the_example_is_explained() -> None:
    lines = (ROOT / "docker" / "env.example").read_text().splitlines()
    bare = [
        line
        for before, line in pairwise(lines)
        if re.match(r"#?[A-Z][A-Z0-9_]*=", line) and not re.match(r"# |#?[A-Z][A-Z0-9_]*=", before)
    ]
    assert bare == []


VARIABLE_ROW = re.compile(r"(?m)^\| `([A-Z][A-Z0-9_]+)` \| (.*?) ?\| (.+) \|$")


def _documented() -> dict[str, str]:
    return {
        name: default.strip("`")
        for name, default, _ in VARIABLE_ROW.findall((DOCS / "configuration.md").read_text())
    }


def test_the_configuration_page_lists_every_variable_and_no_other() -> None:
    assert set(_documented()) == set(settings_defaults())


def test_the_configuration_page_shows_the_defaults() -> None:
    # Where there is none, a cell may say in words what happens.
    known = {name: value for name, value in settings_defaults().items() if value}
    shown = _documented()
    assert {name: shown[name] for name in known if shown[name] != known[name]} == {}


def test_every_variable_that_a_document_names_exists() -> None:
    secrets = ("SECRET_KEY", "DATABASE_URL", "REDIS_URL", "BACKUP_PASSPHRASE", "SMTP_URL")
    files = {f"{name}_FILE" for name in secrets}
    with gzip.open(ROOT / "providers" / "catalog.jsonl.gz") as lines:
        listed = json.loads(next(lines))["providers"]
    of_providers = {name for one in listed for name in one["env"]}
    # The changelog also has names that are gone.
    for path in (one for one in PROSE if one.name != "CHANGELOG.md"):
        words = re.findall(r"`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?:=[^`]*)?`", path.read_text())
        assert set(words) <= {*settings_defaults(), *files, *of_providers, *NOT_READ_HERE}, path


def test_the_documents_are_short() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= README_LINES
    assert len((ROOT / "CONTRIBUTING.md").read_text().splitlines()) <= CONTRIBUTING_LINES


def test_the_glossary_is_short_and_in_order() -> None:
    text = (DOCS / "architecture.md").read_text().partition("\n## Glossary\n")[2]
    words = re.findall(r"(?m)^\| ([a-z][a-z -]*) \| .+ \|$", text)
    assert 20 < len(words) <= GLOSSARY_NOUNS
    assert words == sorted(set(words))


def test_the_map_names_every_package_of_sessions() -> None:
    found = (DOCS / "architecture.md").read_text().partition("\n## Where to find what\n")[2]
    told = set(re.findall(r"`(?:sessions/)?(\w+)[/.`]", found.partition("\n## ")[0]))
    packages = {path.parent.name for path in (ROOT / "sessions").glob("*/__init__.py")}
    assert packages - told - {"migrations"} == set()


def _anchors(path: Path) -> set[str]:
    return {one.anchor for one in render_document(path.read_text(), address_of=str).sections}


def test_every_relative_link_of_a_document_resolves(subtests: pytest.Subtests) -> None:
    for path in PROSE:
        with subtests.test(path=path):
            links = re.findall(
                r"\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)", path.read_text()
            )
            for target, anchor in links:
                place = (path.parent / target) if target else path
                assert place.exists(), target
                # The server has the pages of docs/ only.
                assert path.parent != DOCS or place.parent == DOCS, target
                assert not anchor or anchor in _anchors(place), f"{target}#{anchor}"


def test_every_path_that_a_document_names_exists(subtests: pytest.Subtests) -> None:
    for path in PROSE:
        with subtests.test(path=path):
            paths = re.findall(r"`((?:[a-z_.]+/)+[a-z_.]*)`", path.read_text())
            made_later = tuple(
                line.strip("/") for line in (ROOT / ".gitignore").read_text().split()
            )
            named = {one for one in paths if not one.startswith(made_later)} - NO_PATHS
            assert {one for one in named if not (ROOT / one).exists()} == set()


def test_the_commands_that_a_document_names_exist(subtests: pytest.Subtests) -> None:
    for path in PROSE:
        with subtests.test(path=path):
            targets = set(re.findall(r"(?m)^([a-z]+):", (ROOT / "Makefile").read_text()))
            text = path.read_text()
            assert set(re.findall(r"(?m)(?:`|^)make ([a-z]+)", text)) <= targets
            assert set(re.findall(r"manage\.py ([a-z_]+)", text)) <= set(get_commands())


def test_the_readme_leads_to_every_page() -> None:
    linked = set(re.findall(r"\(docs/([a-z]+)\.md", (ROOT / "README.md").read_text()))
    assert linked == set(NAMES) - {"index"}
