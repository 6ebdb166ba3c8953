"""Archives that somebody else has written, or that broke on their way."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.management import CommandError
from pytest_django import Settings

from sessions.models import Project
from tests.opencode_web.backup.conftest import Command

Entry = tuple[str, bytes, str]


def pack(*entries: Entry) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz", format=tarfile.GNU_FORMAT) as tar:
        for name, kind, content in entries:
            info = tarfile.TarInfo(name)
            info.type, info.mode = kind, 0o755
            if kind == tarfile.REGTYPE:
                info.size = len(content)
                tar.addfile(info, io.BytesIO(content.encode()))
            else:
                info.linkname = content
                tar.addfile(info)
    return packed.getvalue()


@pytest.fixture
def replace(project: Project, command: Command, tmp_path: Path) -> Callable[[str, bytes], Path]:
    command("backup", tmp_path / "backup")

    def put(name: str, data: bytes) -> Path:
        folder = tmp_path / "backup"
        (folder / name).write_bytes(data)
        manifest = json.loads((folder / "manifest.json").read_text())
        for file in manifest["files"]:
            if file["name"] == name:
                file["size_bytes"] = len(data)
                file["sha256"] = hashlib.sha256(data).hexdigest()
        (folder / "manifest.json").write_text(json.dumps(manifest))
        return folder

    return put


D, F, L, H = tarfile.DIRTYPE, tarfile.REGTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE
HOSTILE = {
    "up": ("data", [("../escaped", F, "x")]),
    "absolute": ("worktrees", [("/tmp/escaped", F, "x")]),
    "absolute at the top": ("worktrees", [("/escaped-at-the-top", F, "x")]),
    "an absolute folder": ("data", [("/escaped-at-the-top", D, "")]),
    "an absolute link": ("worktrees", [("/escaped-at-the-top", L, "/etc")]),
    "up below": ("worktrees", [("a", D, ""), ("a/../../escaped", F, "x")]),
    "dot": ("worktrees", [(".", D, "")]),
    "through a link": ("worktrees", [("a", L, "/tmp"), ("a/escaped", F, "x")]),
    "a link in the place of a folder": ("worktrees", [("a", D, ""), ("a", L, "/tmp")]),
    "a file that is a link": ("worktrees", [("a", L, "/tmp/escaped"), ("a", F, "x")]),
    "a hard link": ("worktrees", [("a", H, "/etc/passwd")]),
    "a device": ("worktrees", [("a", tarfile.CHRTYPE, "")]),
    "a link for the data folder": ("data", [("snapshots", L, "/etc")]),
    "a link within snapshots": ("data", [("snapshots", D, ""), ("snapshots/prj_x", L, "/etc")]),
    "a key": ("data", [("secret_key", F, "mine")]),
    "a lock": ("data", [("restore-unfinished", F, "")]),
    "twice": ("worktrees", [("a", F, "1"), ("a", F, "2")]),
}


@pytest.mark.any_database
def test_a_hostile_archive_changes_nothing(
    replace: Callable[[str, bytes], Path],
    command: Command,
    settings: Settings,
    tmp_path: Path,
    subtests: pytest.Subtests,
) -> None:
    before = files_of(settings.DATA_DIR)
    for name, (root, entries) in HOSTILE.items():
        with subtests.test(name=name):
            whole = (tmp_path / "backup" / f"{root}.tar.gz").read_bytes()
            folder = replace(f"{root}.tar.gz", pack(*entries))
            with pytest.raises(CommandError, match=r"The archive of \w+ (has|is)"):
                command("restore", folder, force=True)
            replace(f"{root}.tar.gz", whole)
            assert files_of(settings.DATA_DIR) == before
            assert not list(settings.DATA_DIR.parent.rglob("escaped"))
            assert not Path("/tmp/escaped").exists()
            assert not os.path.lexists("/escaped-at-the-top")


@pytest.mark.any_database
@pytest.mark.parametrize("end", ["tar", "gz"])
def test_an_archive_that_ends_early_changes_nothing(
    end: str,
    replace: Callable[[str, bytes], Path],
    command: Command,
    settings: Settings,
    tmp_path: Path,
) -> None:
    before = files_of(settings.DATA_DIR)
    whole = gzip.decompress((tmp_path / "backup" / "worktrees.tar.gz").read_bytes())
    cut = gzip.compress(whole[:9_000]) if end == "tar" else gzip.compress(whole)[:-900]
    with pytest.raises(CommandError, match="damaged"):
        command("restore", replace("worktrees.tar.gz", cut), force=True)
    assert files_of(settings.DATA_DIR) == before


def test_a_database_that_cannot_be_loaded_changes_nothing(
    replace: Callable[[str, bytes], Path], command: Command, settings: Settings, tmp_path: Path
) -> None:
    before = files_of(settings.DATA_DIR)
    whole = gzip.decompress((tmp_path / "backup" / "database.gz").read_bytes())
    for data in (whole[: len(whole) // 2], b"no database"):
        with pytest.raises(CommandError):
            command("restore", replace("database.gz", gzip.compress(data)), force=True)
        assert files_of(settings.DATA_DIR) == before
        assert Project.objects.get().name == "shop"


def files_of(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else b""
        for path in sorted(folder.rglob("*"))
        if ".lock" not in path.name and path.name != "lock"
    }
