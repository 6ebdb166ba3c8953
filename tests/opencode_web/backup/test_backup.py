from __future__ import annotations

import errno
import os
import subprocess
from pathlib import Path

import pyrage
import pytest
from pytest_django import Settings

from opencode_web.backup.manifest import read_manifest
from opencode_web.checks import check_settings
from opencode_web.lib.removals import no_removals, removing
from opencode_web.preflight import RESTORING
from sessions import tasks
from sessions.models import Backup, Project
from teams.audit_chain.verify import verify_chain
from teams.models import AuditEntry, Team, User
from teams.models.audit import SERVER_CHAIN
from tests.opencode_web.backup.conftest import Command, Meanwhile, refused
from tests.sessions.checkouts.conftest import run

pytestmark = pytest.mark.any_database


@pytest.fixture
def made(project: Project, command: Command, tmp_path: Path) -> Path:
    command("backup", tmp_path / "backup")
    return tmp_path / "backup"


def test_a_backup_needs_a_folder_of_its_own(
    command: Command, settings: Settings, tmp_path: Path
) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    assert "is not empty" in refused(command, "backup", tmp_path / "full")
    assert "choose another folder" in refused(command, "backup", settings.DATA_DIR / "backup")
    (tmp_path / "link").symlink_to(settings.DATA_DIR)
    assert "choose another folder" in refused(command, "backup", tmp_path / "link" / "backup")
    assert not Backup.objects.exists()


def test_a_key_is_never_in_a_backup(
    project: Project, command: Command, settings: Settings, tmp_path: Path
) -> None:
    for name in ("secret_key", "setup_key", "secret_key.123"):
        (settings.DATA_DIR / name).write_text("the very secret key")
    command("backup", tmp_path / "backup")
    listed = subprocess.run(
        ["tar", "tzf", str(tmp_path / "backup" / "data.tar.gz")], capture_output=True, check=True
    )
    assert b"key" not in listed.stdout
    assert settings.SECRET_KEY not in (tmp_path / "backup" / "manifest.json").read_text()


def test_what_is_no_file_and_what_cannot_be_read_ends_no_backup(
    project: Project, command: Command, settings: Settings, tmp_path: Path
) -> None:
    folder = Path(project.directory)
    os.mkfifo(folder / "pipe")
    (folder / "odd \udcff\nname").write_text("odd")
    (folder / "out").symlink_to("/etc")
    deep = folder
    for _ in range(210):
        deep = deep / "deep"
        deep.mkdir()
    said = command("backup", tmp_path / "backup")
    assert "1 files cannot be read" in said
    assert Backup.objects.get().unreadable == 1
    command("restore", tmp_path / "backup", force=True)
    assert (folder / "odd \udcff\nname").read_text() == "odd"
    assert (folder / "out").readlink() == Path("/etc")
    assert not (folder / "pipe").exists()


def test_repositories_are_whole_while_git_packs_them(
    project: Project, command: Command, tmp_path: Path
) -> None:
    folder = Path(project.directory)
    work = "echo $$ >>till.py; git commit -qam more; git gc -q --prune=now"
    busy = Meanwhile(lambda: run(work, folder))
    busy.start()
    for number in range(3):
        command("backup", tmp_path / f"backup{number}")
    busy.stop()
    assert busy.rounds > 2
    for number in range(3):
        command("restore", tmp_path / f"backup{number}", force=True)
        run("git fsck --full --strict", folder)
        assert not list(folder.glob(".git/objects/pack/*.tmp"))


def test_nothing_is_removed_while_a_backup_is_made(settings: Settings) -> None:
    left = settings.DATA_DIR / "tool-output" / "ses_gone"
    left.mkdir(parents=True)
    os.utime(left, (4_000_000_000 - 7200,) * 2)
    with no_removals(wait_s=0):
        tasks.sweep_files()
        tasks.remove_project_files("prj_gone")
        with removing() as may_remove:
            assert not may_remove
    with removing() as may_remove:
        assert may_remove


def test_what_was_changed_or_cut_is_told_apart(made: Path, command: Command) -> None:
    archive = made / "worktrees.tar.gz"
    data = bytearray(archive.read_bytes())
    data[len(data) // 2] ^= 1
    archive.write_bytes(data)
    assert "its hash differs" in refused(command, "backup", made, verify=True)
    assert "its hash differs" in Backup.objects.get().problem
    assert "its hash differs" in refused(command, "restore", made, force=True)
    archive.write_bytes(data[:-10])
    assert "is not as long as it was" in refused(command, "restore", made, force=True)
    archive.unlink()
    assert "cannot be read" in refused(command, "restore", made, force=True)
    (made / "manifest.json").unlink()
    assert "was interrupted" in refused(command, "backup", made, verify=True)
    assert "was interrupted" in refused(command, "restore", made, force=True)


MISFITS = [
    ('"format":1', '"format":2', "reads up to 1. Restore it with OpenCode Web 0"),
    ('"data_dir":"/', '"data_dir":"/else/', "Set OPENCODE_WEB_DATA=/else/"),
    ('"key_fingerprint":"', '"key_fingerprint":"x', "another SECRET_KEY"),
    ('"0001_initial"', '"0001_initial","9999_later"', "does not have the migration"),
    (
        '"files":[',
        '"files":[{"name":"../x","size_bytes":1,"sha256":"","content_bytes":1},',
        "'../x'",
    ),
    ('"engine":"', '"engine":"no', "is damaged"),
    ('"engine":"sqlite"', '"engine":"postgresql"', "uses sqlite. Set DATABASE_URL"),
]


def test_a_backup_that_does_not_fit_is_refused_with_what_to_do(
    made: Path, command: Command, subtests: pytest.Subtests
) -> None:
    text = read_manifest(made).model_dump_json()
    for old, new, said in MISFITS:
        with subtests.test(new=new):
            (made / "manifest.json").write_text(text.replace(old, new))
            assert old in text
            assert said in refused(command, "restore", made, force=True)


def test_a_lost_key_is_no_reason_to_lose_everything(
    made: Path, command: Command, settings: Settings
) -> None:
    key, settings.SECRET_KEY = settings.SECRET_KEY, "another key" * 5
    assert "SECRET_KEY_FALLBACKS" in refused(command, "restore", made, force=True)
    command("restore", made, force=True, lost_key=True)
    settings.SECRET_KEY_FALLBACKS = [key]
    command("restore", made, force=True)


def test_an_installation_that_is_in_use_is_left_alone(
    made: Path, command: Command, project: Project, team: Team
) -> None:
    (Path(project.directory) / "later").touch()
    assert "Pass --force" in refused(command, "restore", made)
    assert (Path(project.directory) / "later").exists()
    team.name = "Later"
    team.save()
    command("restore", made, force=True)
    team.refresh_from_db()
    assert team.name == "Acme"
    assert not (Path(project.directory) / "later").exists()


@pytest.mark.deep
def test_a_full_disk_leaves_no_backup_that_counts(
    project: Project, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: object, data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    for passphrase in ("", "correct horse battery"):
        (tmp_path / "passphrase").write_text(passphrase)
        folder = tmp_path / f"backup{len(passphrase)}"
        with monkeypatch.context() as patched:
            patched.setattr("opencode_web.backup.files._Hashed.write", full)
            patched.setattr("opencode_web.backup.create.dump_database", lambda _: None)
            given = {"passphrase_file": tmp_path / "passphrase"} if passphrase else {}
            assert "cannot be written" in refused(command, "backup", folder, **given)
        assert not (folder / "manifest.json").exists()
        assert not Backup.objects.exists()


def test_a_short_passphrase_is_no_protection(command: Command, tmp_path: Path) -> None:
    (tmp_path / "short").write_text("short\n")
    said = refused(command, "backup", tmp_path / "backup", passphrase_file=tmp_path / "short")
    assert "12 characters" in said


def test_a_passphrase_is_verified_with_the_backup(command: Command, tmp_path: Path) -> None:
    right, wrong = tmp_path / "right", tmp_path / "wrong"
    right.write_text("correct horse battery")
    wrong.write_text("correct horse bakery")
    folder = tmp_path / "backup"
    command("backup", folder, passphrase_file=right)
    assert "Pass its passphrase" in command("backup", folder, verify=True)
    said = command("backup", folder, verify=True, passphrase_file=right)
    assert ("is intact" in said, "Pass its passphrase" in said) == (True, False)
    said = refused(command, "backup", folder, verify=True, passphrase_file=wrong)
    assert said == "The passphrase is not the one of this backup."
    assert Backup.objects.get().problem == ""


@pytest.mark.deep
def test_a_busy_host_is_no_wrong_passphrase(
    project: Project,
    command: Command,
    settings: Settings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings.BACKUP_PASSPHRASE = "correct horse battery"
    command("backup", tmp_path / "backup")
    decrypt = pyrage.passphrase.decrypt
    busy = [pyrage.DecryptError("Excessive work parameter for passphrase.")]

    def measure(sealed: bytes, passphrase: str) -> bytes:
        if busy:
            raise busy.pop()
        return bytes(decrypt(sealed, passphrase))

    monkeypatch.setattr(pyrage.passphrase, "decrypt", measure)
    assert "Pass --force" in refused(command, "restore", tmp_path / "backup")
    assert not busy
    busy += [pyrage.DecryptError("Excessive work parameter for passphrase.")] * 100
    assert "too slow or too busy" in refused(command, "restore", tmp_path / "backup")


def test_no_server_starts_on_half_a_restore(settings: Settings, alice: User) -> None:

    (settings.DATA_DIR / RESTORING).touch()
    assert "opencode_web.E018" in [message.id for message in check_settings(None)]


def test_a_restore_that_fails_keeps_the_mark_of_one_that_was_killed(
    made: Path, command: Command, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    mark = settings.DATA_DIR / RESTORING
    monkeypatch.setattr("opencode_web.backup.restore._swap_files", fail)
    assert "cannot be restored" in refused(command, "restore", made, force=True)
    assert not mark.exists()
    mark.touch()
    assert "cannot be restored" in refused(command, "restore", made, force=True)
    assert mark.exists()
    monkeypatch.undo()
    command("restore", made, force=True)
    assert not mark.exists()


def test_the_audit_log_tells_of_backups_and_of_the_restore(
    alice: User, project: Project, command: Command, tmp_path: Path
) -> None:
    command("backup", tmp_path / "one")
    (made,) = AuditEntry.objects.filter(action="backup.created")
    assert (made.team, made.actor_kind) == (None, "server")
    command("restore", tmp_path / "one", force=True)
    # As the database was when it was copied, and then the restore.
    assert not AuditEntry.objects.filter(action="backup.created").exists()
    newest = AuditEntry.objects.filter(team=None).latest("seq")
    assert (newest.action, newest.actor_kind) == ("backup.restored", "server")
    assert newest.data["backup"] == made.data["backup"]
    assert "alice" not in str(newest.data)
    for chain in (SERVER_CHAIN, project.team_id):
        assert verify_chain(chain).problem == ""
