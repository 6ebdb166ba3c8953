from __future__ import annotations

from pathlib import Path, PurePath

import pytest

from tools.lsp.roots import find_root
from tools.lsp.servers import SERVERS
from tools.lsp.spec import ServerSetting, apply_settings
from tools.programs import find_command, find_python


def _make(worktree: Path, *names: str) -> None:
    for name in names:
        path = worktree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("[workspace]\n" if name == "Cargo.toml" else "x")


@pytest.mark.parametrize(
    ("server", "files", "file", "root"),
    [
        ("pyright", [], "a/b/c.py", "."),
        ("pyright", ["a/pyproject.toml", "setup.py"], "a/b/c.py", "a"),
        ("pyright", ["a/b/c/pyproject.toml"], "a/b/c.py", "."),
        ("typescript", ["web/package.json"], "web/src/x.ts", "web"),
        ("typescript", ["web/package.json", "deno.json"], "web/src/x.ts", None),
        ("deno", ["web/package.json"], "web/src/x.ts", None),
        ("deno", ["web/deno.jsonc"], "web/src/x.ts", "web"),
        ("gopls", ["go.work", "m/go.mod"], "m/x.go", "."),
        ("gopls", ["m/go.mod"], "m/p/x.go", "m"),
        ("rust", [], "m/x.rs", None),
        ("rust", ["m/Cargo.toml"], "m/src/x.rs", "m"),
        ("rust", ["Cargo.toml", "m/Cargo.toml"], "m/src/x.rs", "."),
        ("csharp", ["s/App.csproj"], "s/x/y.cs", "s"),
        ("eslint", ["package.json"], "x.ts", None),
        ("eslint", ["web/eslint.config.mjs"], "web/x.ts", "web"),
        ("bash", [], "bin/x.sh", "."),
    ],
)
def test_the_root_is_the_nearest_marked_folder(
    worktree: Path, server: str, files: list[str], file: str, root: str | None
) -> None:
    _make(worktree, *files)
    if server == "rust" and "m/Cargo.toml" in files:
        (worktree / "m/Cargo.toml").write_text("[package]\n")
    found = find_root(SERVERS[server], worktree / file, worktree)
    assert found == (None if root is None else worktree / root)


def test_no_root_lies_outside_of_the_worktree(worktree: Path) -> None:
    (worktree.parent / "pyproject.toml").write_text("x")
    assert find_root(SERVERS["pyright"], worktree / "a.py", worktree) == worktree
    assert find_root(SERVERS["pyright"], worktree.parent / "a.py", worktree) is None


def test_servers_are_chosen_by_the_name_of_a_file(subtests: pytest.Subtests) -> None:
    cases = [
        ("a.py", {"pyright"}),
        ("a.ts", {"deno", "typescript", "eslint", "oxlint", "biome"}),
        ("A.GO", {"gopls"}),
        ("Dockerfile", {"dockerfile"}),
        ("py", set()),
        ("a.unknown", set()),
    ]
    for name, servers in cases:
        with subtests.test(name=name):
            found = {spec.id for spec in SERVERS.values() if spec.is_for(PurePath(name))}
            assert found == servers


def test_settings_change_add_and_disable_servers() -> None:
    specs = {
        spec.id: spec
        for spec in apply_settings(
            SERVERS,
            {
                "pyright": ServerSetting(
                    command=("my-pyright", "--stdio"), env={"A": "1"}, initialization={"x": 1}
                ),
                "gopls": ServerSetting(disabled=True),
                "mine": ServerSetting(command=("mine",), extensions=(".MINE",)),
                "half": ServerSetting(command=("half",)),
                "rust": ServerSetting(env={"A": "1"}),
            },
        )
    }
    assert specs["pyright"].commands == (("my-pyright", "--stdio"),)
    assert specs["pyright"].extensions == SERVERS["pyright"].extensions
    assert specs["pyright"].env == (("A", "1"),)
    assert specs["pyright"].options == {"x": 1}
    assert specs["mine"].is_for(PurePath("x.mine"))
    assert dict(specs["rust"].env) == {
        "A": "1",
        "CARGO_TARGET_DIR": "/agent/.cache/rust-analyzer",
    }
    assert not {"gopls", "half"} & specs.keys()
    assert len(specs) == len(SERVERS)


def test_a_projects_own_program_comes_first(worktree: Path) -> None:
    own = worktree / "web/node_modules/.bin/sh"
    own.parent.mkdir(parents=True)
    folders = [worktree / "web/src", worktree / "web", worktree]
    commands = [("not-installed-anywhere",), ("sh", "-c")]
    assert find_command(commands, folders) == ("sh", "-c")
    own.write_text("")
    assert find_command(commands, folders) == ("sh", "-c")
    own.chmod(0o755)
    assert find_command(commands, folders) == (str(own), "-c")
    assert find_command([("not-installed-anywhere",)], folders) is None
    assert find_command([("./web/node_modules/.bin/sh",)], folders) == (str(own),)


def test_a_projects_own_python_is_found(worktree: Path) -> None:
    assert find_python([worktree]) is None
    (worktree / "venv/bin").mkdir(parents=True)
    (worktree / "venv/bin/python").symlink_to("/usr/bin/python3")
    assert find_python([worktree]) == str(worktree / "venv/bin/python")
