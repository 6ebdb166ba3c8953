from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connections
from django.test import Client
from django.utils import timezone
from django.utils.html import strip_tags
from pytest_django import Settings

from opencode_web.backup.errors import BackupError
from opencode_web.management.commands import team as command
from opencode_web.transfer import jobs
from opencode_web.transfer.export import export_team
from opencode_web.transfer.jobs import go_on_with_exports, request_export
from opencode_web.transfer.load import import_team
from sessions.actions.erasure import request_team_erasure
from sessions.jobs.erase_files import export_file
from sessions.jobs.erasure import run_erasure
from sessions.models import Session
from teams.access import access_team
from teams.models import AuditEntry, Team, TeamExport, User
from tests.factories import add_member, make_team, make_user
from tests.opencode_web.transfer.archives import export, gone, say
from tests.sessions.factories import make_project, make_session
from tests.sessions.story import Story

pytestmark = pytest.mark.django_db(transaction=True)


def test_others_write_while_files_are_copied(
    alice: User, team: Team, tmp_path: Path, settings: Settings
) -> None:
    settings.DATA_DIR, settings.WORKTREES_DIR = tmp_path / "data", tmp_path / "worktrees"
    settings.HOST_NAME = "local"
    other = make_team(alice, name="Other", slug="other")

    def write(place: Team, name: str) -> None:
        make_session(alice, make_project(place, tmp_path / place.slug / name, name=name))
        connections.close_all()

    def writes_to(place: Team) -> Callable[[str], None]:
        def say_and_write(line: str) -> None:
            if line.startswith(("Copying", "Unpacking")):
                with ThreadPoolExecutor(1) as pool:
                    pool.submit(write, place, line.split()[0].lower()).result(10)

        return say_and_write

    write(team, "shop")
    before = set(Session.objects.values_list("pk", flat=True))
    path = tmp_path / "acme.team"
    assert set(export_team(team, path, say=writes_to(team)).sessions) == before
    assert Session.objects.count() == 2
    run_erasure(request_team_erasure(None, team, confirm=team.slug).pk)
    made = import_team(path, owner=alice, say=writes_to(other))
    assert set(made.shape.sessions) == before
    assert Session.objects.count() == 2


def test_an_erased_team_takes_the_names_that_came_with_it(
    alice: User, team: Team, tmp_path: Path, settings: Settings
) -> None:
    settings.DATA_DIR, settings.WORKTREES_DIR = tmp_path / "data", tmp_path / "worktrees"
    settings.HOST_NAME = "local"
    author = make_user("zoe@example.com", name="Zoe Canary")
    add_member(team, author)
    project = make_project(team, tmp_path / "shop")
    Story(make_session(author, project), author).ask("Fix the till")
    path = export(team, tmp_path / "acme.team")
    gone(team)
    author.delete()
    made = import_team(path, owner=alice, say=say).team
    assert User.objects.filter(name="Zoe Canary").exists()
    gone(made)
    assert not User.objects.filter(name="Zoe Canary").exists()
    assert User.objects.get(pk=alice.pk).name == alice.name


def test_the_audit_log_calls_an_export_by_its_name(alice: User, team: Team) -> None:
    row = request_export(access_team(alice, team.pk))
    client = Client()
    client.force_login(alice)
    page = client.get(f"/t/{team.slug}/settings/audit").text
    assert f"Export {row.pk}" in " ".join(strip_tags(page).split())


def test_the_audit_log_says_what_became_of_an_export(
    alice: User, team: Team, tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.DATA_DIR, settings.HOST_NAME = tmp_path, "local"

    def told() -> list[str]:
        client = Client()
        client.force_login(alice)
        page = " ".join(strip_tags(client.get(f"/t/{team.slug}/settings/audit").text).split())
        said = ("requested an export of the team.", "exported the team.", "had requested failed.")
        return [one for one in said if one in page]

    def fail(*_: object, **__: object) -> None:
        raise BackupError("The disk is full.")

    with monkeypatch.context() as broken:
        broken.setattr(jobs, "export_team", fail)
        broken.setattr(command, "export_team", fail)
        request_export(access_team(alice, team.pk))
        go_on_with_exports()
        with pytest.raises(CommandError, match="disk is full"):
            call_command("team", "export", team.slug, str(tmp_path / "acme.team"))
    assert told() == ["requested an export of the team.", "had requested failed."]
    entries = AuditEntry.objects.filter(action="team.exported").order_by("pk")
    assert [one.data["key"] for one in entries] == ["requested", "failed"] * 2
    request_export(access_team(alice, team.pk))
    go_on_with_exports()
    assert told()[1] == "exported the team."


def test_nothing_is_left_of_an_export_whose_worker_was_killed(
    team: Team, tmp_path: Path, settings: Settings
) -> None:
    settings.DATA_DIR, settings.HOST_NAME = tmp_path, "local"
    left = export_file("x").with_name(".export-x")
    left.mkdir(parents=True)
    (left / "events.jsonl.gz").write_text("canary")
    now, state = timezone.now(), TeamExport.State.RUNNING
    row = TeamExport.objects.create(team=team, state=state, host="local", expires_at=now)
    go_on_with_exports()
    assert left.exists()
    TeamExport.objects.filter(pk=row.pk).update(created_at=now - timedelta(hours=7))
    go_on_with_exports()
    assert not left.exists()


def test_an_address_that_is_taken_is_said_before_the_archive_is_read(
    alice: User, team: Team, tmp_path: Path
) -> None:
    damaged = tmp_path / "acme.team"
    damaged.write_bytes(b"not read")
    for slug, why in ((team.slug, "already used"), ("Not A Slug", "lowercase letters")):
        with pytest.raises(CommandError, match=why):
            call_command("team", "import", str(damaged), f"--owner={alice.email}", f"--slug={slug}")
