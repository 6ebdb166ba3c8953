from __future__ import annotations

import ast
import re
from itertools import pairwise

import pytest

from tests.architecture.sources import ROOT

README_LINES = 250
CONTRIBUTING_LINES = 140


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


@pytest.mark.parametrize(
    "name", [name for name, value in settings_defaults().items() if value is not None]
)
def test_the_example_shows_the_default(name: str) -> None:
    assert _examples()[name] == settings_defaults()[name]


def test_every_variable_of_the_example_is_explained() -> None:
    lines = (ROOT / "docker" / "env.example").read_text().splitlines()
    bare = [
        line
        for before, line in pairwise(lines)
        if re.match(r"#?[A-Z][A-Z0-9_]*=", line) and not re.match(r"# |#?[A-Z][A-Z0-9_]*=", before)
    ]
    assert bare == []


def test_the_readme_names_variables_that_exist_and_leads_to_the_rest() -> None:
    readme = (ROOT / "README.md").read_text()
    named = set(re.findall(r"(?m)^\| `([A-Z][A-Z0-9_]+)`", readme))
    assert len(named) > 5
    assert named <= set(settings_defaults())
    assert "(docker/env.example)" in readme


def test_the_documents_are_short() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= README_LINES
    assert len((ROOT / "CONTRIBUTING.md").read_text().splitlines()) <= CONTRIBUTING_LINES


@pytest.mark.parametrize(
    "name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "clients/automation.md"]
)
def test_what_a_document_points_to_exists(name: str) -> None:
    text = (ROOT / name).read_text()
    links = re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", text)
    paths = re.findall(r"`((?:[a-z_.]+/)+[a-z_.]*)`", text)
    made_later = tuple(line.strip("/") for line in (ROOT / ".gitignore").read_text().split())
    named = [path for path in [*links, *paths] if not path.startswith(made_later)]
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_the_commands_that_documents_name_exist() -> None:
    targets = set(re.findall(r"(?m)^([a-z]+):", (ROOT / "Makefile").read_text()))
    for name in ("README.md", "CONTRIBUTING.md"):
        assert set(re.findall(r"(?m)(?:`|^)make ([a-z]+)", (ROOT / name).read_text())) <= targets
