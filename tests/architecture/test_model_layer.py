from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest

from tests.architecture.sources import tree_of

LLM = Path(__file__).resolve().parents[2] / "providers" / "llm"
MODULES = sorted(LLM.rglob("*.py"))


def _imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield str(node.module).partition(".")[0]


def test_the_model_layer_needs_what_its_package_says_and_nothing_else(
    subtests: pytest.Subtests,
) -> None:
    for path in MODULES:
        with subtests.test(path=path):
            project = tomllib.loads((LLM / "pyproject.toml").read_text())["project"]
            extras = project["optional-dependencies"].values()
            named = [*project["dependencies"], *chain.from_iterable(extras)]
            allowed = {requirement.partition(">")[0] for requirement in named} | {"httpcore"}
            found = set(_imported(tree_of(path)))
            assert found - allowed <= sys.stdlib_module_names


def test_optional_packages_are_imported_only_where_they_are_used() -> None:
    eager = [
        path.name
        for path in MODULES
        for node in tree_of(path).body
        if {"botocore", "cryptography"} & set(_imported(node)) and not _is_for_types(node)
    ]
    assert eager == []


def _is_for_types(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
