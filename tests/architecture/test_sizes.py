from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

from tests.architecture.sources import ROOMS, ROOT, modules, name_of, tree_of

MAX_MODULE_LINES = 400
MAX_FUNCTION_LINES = 80
MAX_PACKAGE_DOCSTRING_LINES = 25
# A longer module needs a reason here: "path": "why it cannot be split by noun".
LONG_MODULES = {"opencode_web/settings.py": "it has every setting, and is read from top to bottom"}
MAX_FOLDER_MODULES = 25
# A fuller folder needs a reason here: "folder": "why its modules stand side by side".
FULL_FOLDERS = {
    "opencode_web": "the parts of the server; Django and its commands look for them here",
    "opencode_web/lib": "small modules that know nothing of each other",
    "opencode_web/ops": "one module for each page of the console",
    "providers": "accounts and the catalog around one package, `llm`",
    "providers/llm": "one import path for those who install the package alone",
    "sessions": "what every room of it uses: access, wire, places, limits",
    "sessions/actions": "one module for each noun that people change",
    "sessions/api": "one module for each noun of the API",
    "sessions/models": "one module for each table or two",
    "sessions/stream": "one socket's work, from the bus to the frame",
    "sessions/views": "one module for each page",
    "teams/actions": "one module for each noun that people change",
    "teams": "people, rights and the audit log; rooms of one noun are folders already",
    "tools/sandbox": "one program's sandbox, read from `select` downwards",
}
VAGUE = {"utils", "helpers", "misc", "manager", "common"}

ALL = modules(*ROOMS, "clients/python/opencode_web_cli", "tests", "bench")


def _long_functions(path: Path) -> list[str]:
    return [
        f"{node.name} has {length} lines"
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (length := (node.end_lineno or 0) - node.lineno + 1) > MAX_FUNCTION_LINES
    ]


def test_modules_are_short() -> None:
    lines = {name_of(path): len(path.read_text().splitlines()) for path in ALL}
    assert len(lines) > 200
    long = {name: count for name, count in lines.items() if count > MAX_MODULE_LINES}
    assert set(long) <= set(LONG_MODULES), long


def test_functions_are_short() -> None:
    long = {name_of(path): found for path in ALL if (found := _long_functions(path))}
    assert long == {}


def test_the_list_of_long_modules_is_needed() -> None:
    for name, reason in LONG_MODULES.items():
        assert reason
        assert len((ROOT / name).read_text().splitlines()) > MAX_MODULE_LINES


def test_a_folder_has_few_modules_or_a_reason() -> None:
    counts = Counter(name_of(path.parent) for path in modules(*ROOMS) if path.name != "__init__.py")
    full = {folder for folder, count in counts.items() if count > MAX_FOLDER_MODULES}
    assert full == set(FULL_FOLDERS), counts


def test_no_module_has_a_name_that_says_nothing() -> None:
    assert [name_of(path) for path in ALL if path.stem in VAGUE] == []


def test_every_folder_of_tests_is_a_package() -> None:
    folders = {path.parent for path in ALL if path.is_relative_to(ROOT / "tests")}
    assert [name_of(folder) for folder in folders if not (folder / "__init__.py").exists()] == []


# The table of events and their projectors is what this package is.
TABLES = {"sessions/events/projectors/__init__.py"}


def test_a_package_file_holds_a_docstring_and_names_only() -> None:
    allowed = (ast.Import, ast.ImportFrom, ast.Assign, ast.Expr)
    for path in modules(*ROOMS):
        if path.name != "__init__.py" or name_of(path) in TABLES:
            continue
        tree = tree_of(path)
        docstring = ast.get_docstring(tree) or ""
        assert len(docstring.splitlines()) <= MAX_PACKAGE_DOCSTRING_LINES, path
        assert all(isinstance(node, allowed) for node in tree.body), path
