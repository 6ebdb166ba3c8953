from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from opencode_web.lib.errors import Conflict
from opencode_web.lib.ids import new_id
from sessions import tasks
from sessions.actions.projects import create_empty_project
from sessions.actions.sessions import delete_session
from sessions.events.parts import FilePart
from sessions.events.types import PartUpdated, SessionStatus
from sessions.git.places import project_home
from sessions.models import Project, Session
from teams.access import access_team
from teams.models import Team, User
from tests.sessions.factories import make_project, make_session, prompt, session_access
from tests.sessions.story import Story, write

pytestmark = pytest.mark.django_db

MB = 1024 * 1024


def test_a_team_above_its_disk_limit_adds_nothing_until_it_has_removed_some(
    alice: User, team: Team, session: Session, project: Project, tmp_path: Path, settings: Any
) -> None:
    settings.DATA_DIR, settings.WORKTREES_DIR = tmp_path / "data", tmp_path / "worktrees"
    gone = make_project(team, tmp_path / "gone", name="gone")
    Project.objects.filter(pk=gone.pk).update(disk_bytes=7, directory=str(tmp_path / "none"))
    elsewhere = make_project(team, tmp_path / "far", name="far")
    Project.objects.filter(pk=elsewhere.pk).update(disk_bytes=5, host="elsewhere")
    large = Path(project.directory) / "-x\n1\thuge"
    large.write_bytes(b"x" * 3 * MB)
    outside = tmp_path / "outside"
    outside.write_bytes(b"x" * 9 * MB)
    (Path(project.directory) / "link").symlink_to(outside)
    checkout = project_home(project.pk) / "ses_1"
    checkout.mkdir(parents=True)
    (checkout / "file").write_bytes(b"x" * MB)
    tasks.sweep_files()
    sizes = dict(Project.objects.values_list("name", "disk_bytes"))
    assert 4 * MB <= sizes["shop"] < 5 * MB
    for kind in ("sessions", "tool-output", "snapshots"):
        (settings.DATA_DIR / kind / session.pk).mkdir(parents=True)
        (settings.DATA_DIR / kind / session.pk / "tool_1").write_bytes(b"x" * MB)
    tasks.sweep_files()
    assert 7 * MB <= Project.objects.get(pk=project.pk).disk_bytes < 8 * MB
    for kind in ("sessions", "tool-output", "snapshots"):
        (settings.DATA_DIR / kind / session.pk / "tool_1").unlink()
    tasks.sweep_files()
    assert (sizes["gone"], sizes["far"]) == (0, 5)
    before = Project.objects.get(pk=project.pk).disk_bytes
    attached = "data:text/plain;base64," + "eA==" * (MB // 8)
    reader = make_session(alice, project)
    place = {"messageID": Story(reader, alice).ask("Read this"), "sessionID": reader.pk}
    part = FilePart(id=new_id("prt"), mime="text/plain", url=attached, **place)
    write(reader, PartUpdated(part=part), SessionStatus(state="idle"))
    tasks.sweep_files()
    assert Project.objects.get(pk=project.pk).disk_bytes - before >= MB // 2
    delete_session(session_access(alice, reader))
    tasks.sweep_files()

    settings.DISK_PER_TEAM_MB = 4
    for attempt in (
        lambda: prompt(alice, session, "Mend it"),
        lambda: create_empty_project(access_team(alice, team.slug), name="more"),
    ):
        with pytest.raises(Conflict, match=r"take up 4\.\d.MB of 4\.0.MB"):
            attempt()
    assert session.inputs.count() == 0
    Team.objects.filter(pk=team.pk).update(max_disk_mb=10)
    prompt(alice, session, "Mend it")
    Team.objects.filter(pk=team.pk).update(max_disk_mb=None)
    large.unlink()
    tasks.sweep_files()
    prompt(alice, session, "Mend it")
    assert session.inputs.count() == 2
