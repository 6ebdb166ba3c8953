from __future__ import annotations

from pathlib import Path

import pytest

from tools.formatters.spec import FormatterSetting, apply_formatters, choose
from tools.formatters.table import FORMATTERS


def _install(worktree: Path, *names: str) -> None:
    for name in names:
        program = worktree / ("vendor/bin" if name == "pint" else ".venv/bin") / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)


def _chosen(worktree: Path, file: str, **settings: FormatterSetting) -> list[str]:
    formatters = apply_formatters(FORMATTERS, settings)
    return [one.name for one, _ in choose(formatters, worktree / file, worktree)]


@pytest.mark.parametrize(
    ("installed", "files", "file", "names"),
    [
        (["gofmt"], {}, "a.go", ["gofmt"]),
        ([], {}, "a.zzz", []),
        (["prettier"], {}, "a.ts", []),
        (
            ["prettier"],
            {"package.json": '{"devDependencies": {"prettier": "3"}}'},
            "a.ts",
            ["prettier"],
        ),
        (["prettier"], {"package.json": '{"name": "x"}'}, "a.ts", []),
        (
            ["prettier", "biome"],
            {"package.json": '{"dependencies": {"prettier": "3"}}', "biome.json": "{}"},
            "web/a.TSX",
            ["prettier", "biome"],
        ),
        ([], {".clang-format": ""}, "a.c", []),
        (["clang-format"], {".clang-format": ""}, "src/a.c", ["clang-format"]),
        (["clang-format"], {}, "a.c", []),
        (["ruff"], {"ruff.toml": ""}, "a.py", ["ruff"]),
        (["ruff"], {"pyproject.toml": "[tool.ruff.lint]\n"}, "p/a.py", ["ruff"]),
        (["ruff"], {"requirements.txt": "ruff==1\n"}, "a.py", ["ruff"]),
        (["ruff"], {"pyproject.toml": "[project]\n"}, "a.py", []),
        (["ruff", "uv"], {"ruff.toml": ""}, "a.py", ["ruff"]),
        (["ruff", "uv"], {}, "a.py", ["uv"]),
        (["rubocop", "standardrb"], {}, "a.rb", ["rubocop", "standardrb"]),
        (["pint"], {"composer.json": '{"require-dev": {"laravel/pint": "1"}}'}, "a.php", ["pint"]),
        (["pint"], {"composer.json": "{}"}, "a.php", []),
    ],
)
def test_formatters_are_those_that_are_installed_and_wanted(
    worktree: Path, installed: list[str], files: dict[str, str], file: str, names: list[str]
) -> None:
    _install(worktree, *installed)
    for name, text in files.items():
        (worktree / name).write_text(text)
    # Programs of the host are nobody's wish here.
    found = _chosen(worktree, file)
    assert found == names


def test_settings_change_add_and_disable(worktree: Path) -> None:
    _install(worktree, "mine", "prettier", "ruff", "uv")
    mine = FormatterSetting(command=("mine", "--fix", "$FILE"), extensions=(".MY", ".ts"))
    assert _chosen(worktree, "a.my", mine=mine) == ["mine"]
    assert _chosen(worktree, "a.ts", mine=mine) == ["mine"]
    own = FormatterSetting(command=("prettier", "$FILE"))
    assert _chosen(worktree, "a.ts", prettier=own) == ["prettier"]
    assert _chosen(worktree, "a.my", mine=FormatterSetting(command=("mine",))) == []
    assert _chosen(worktree, "a.py", uv=FormatterSetting(disabled=True)) == []
    assert _chosen(worktree, "a.py", ruff=FormatterSetting(disabled=True)) == []


def test_a_command_names_the_file(worktree: Path) -> None:
    _install(worktree, "mine")
    mine = FormatterSetting(command=("mine", "--in=$FILE", "x"), extensions=(".my",))
    [(_, argv)] = choose(apply_formatters({}, {"mine": mine}), worktree / "a b.my", worktree)
    assert argv == (str(worktree / ".venv/bin/mine"), f"--in={worktree}/a b.my", "x")


def test_a_wish_in_a_link_out_of_the_project_does_not_count(worktree: Path, tmp_path: Path) -> None:
    _install(worktree, "ruff")
    (tmp_path / "secret.toml").write_text("[tool.ruff]\n")
    (worktree / "pyproject.toml").symlink_to(tmp_path / "secret.toml")
    assert _chosen(worktree, "a.py") == []
