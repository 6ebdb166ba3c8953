from __future__ import annotations

import os
from pathlib import Path

import pytest

from sessions.config.programs import McpConfig
from sessions.mcp.programs import digest_of_programs, programs_in


def named(folder: Path, *command: str, cwd: str = "") -> set[str]:
    return set(programs_in(folder, McpConfig(command=list(command), cwd=cwd)))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "shop"
    (root / "tools" / "pack").mkdir(parents=True)
    for name in ("server.py", "tools/run", "tools/pack/__main__.py"):
        (root / name).write_text("x")
    (root / "out").symlink_to("/usr/bin/env")
    (root / "in").symlink_to("tools/run")
    (root / "gone").symlink_to("nowhere")
    os.mkfifo(root / "pipe")
    return root


def test_the_files_that_a_command_names_are_found(folder: Path) -> None:
    assert named(folder, "python3", "server.py", "--verbose") == {"server.py"}
    assert named(folder, "./tools/run", ".", "tools") == {"tools/run"}
    assert named(folder, "./run", cwd="tools") == {"tools/run"}
    assert named(folder, str(folder / "server.py")) == {"server.py"}
    assert named(folder, "node", "--import=./server.py", "x") == {"server.py"}
    assert named(folder, "python3", "-m", "tools.pack") == {"tools/pack/__main__.py"}
    assert named(folder, "python3", "-m", "server") == {"server.py"}
    assert named(folder, "npx", "-y", "@acme/shop", "../other", "/usr/bin/env") == set()
    assert named(folder, "a\0b", "x" * 5000) == set()


def test_a_link_is_one_of_the_files_wherever_it_leads(folder: Path, tmp_path: Path) -> None:
    assert named(folder, "./out", "./in", "./gone", "./pipe") == {"out", "in", "gone", "pipe"}
    (tmp_path / "link").symlink_to(folder / "server.py")
    assert named(folder, str(tmp_path / "link")) == {"server.py"}
    server = McpConfig(command=["./out"])
    before = digest_of_programs(programs_in(folder, server))
    (folder / "out").unlink()
    (folder / "out").symlink_to("/usr/bin/sh")
    assert digest_of_programs(programs_in(folder, server)) != before


def test_the_digest_is_of_what_is_in_them(folder: Path) -> None:
    server = McpConfig(command=["python3", "server.py", "in"])
    before = digest_of_programs(programs_in(folder, server))
    assert digest_of_programs(programs_in(folder, server)) == before
    (folder / "tools" / "run").write_text("y")
    assert digest_of_programs(programs_in(folder, server)) != before


def test_a_server_at_an_address_has_none(folder: Path) -> None:
    server = McpConfig(type="remote", url="https://example.org", command=["./server.py"])
    assert programs_in(folder, server) == {}
    assert digest_of_programs({}) == ""
