from __future__ import annotations

from typing import Any

import pytest

from opencode_web.lib.bus import publish
from opencode_web.lib.db import in_db
from sessions.access import access_project
from sessions.actions.projects import update_project
from sessions.actions.settings import update_project_settings, update_team_settings
from sessions.checkouts.create import Made
from sessions.checkouts.rows import mark_made, mark_unmade
from sessions.events.live import team_group
from sessions.models import Checkout, Project, Session
from sessions.stream.sse import Home, Scope
from teams.access import access_team
from teams.auth import authenticate_user
from teams.models import Team, User
from tests.sessions.factories import make_session
from tests.sessions.stream.test_sse import rename, stream

pytestmark = pytest.mark.django_db(transaction=True)


def bodies(team: Team, project: Project, session: Session, user: User) -> dict[str, dict[str, Any]]:
    """One of every kind that goes out live beside what is in the log."""
    place = {"team": team.pk, "project": project.pk, "directory": project.directory}
    of_session = {**place, "session": session.pk}
    part = {"id": "prt_1"}
    text = {"message": "msg_1", "part": "prt_1", "field": "text", "offset": 0, "text": "x"}
    return {
        "message.part.delta": {"t": "deltas", "deltas": [{"t": "delta", **of_session, **text}]},
        "message.part.updated": {"t": "progress", **of_session, "part": part},
        "file.edited": {"t": "edited", **of_session, "files": {"/a": "change"}},
        "command.executed": {
            "t": "command",
            **of_session,
            "name": "x",
            "arguments": "",
            "message": "msg_1",
        },
        "session.deleted": {
            "t": "deleted",
            **of_session,
            "info": {"id": session.pk},
        },
        "project.updated": {
            "t": "place",
            **place,
            "type": "project.updated",
            "properties": {"id": project.pk},
        },
        "pty.created": {
            "t": "terminal",
            **place,
            "kind": "created",
            "user": user.pk,
            "info": {"id": "pty_1"},
            "code": None,
        },
    }


async def test_every_live_kind_reaches_who_may_see_it_and_nobody_else(
    alice: User, bob: User, charlie: User, team: Team, session: Session, project: Project
) -> None:
    sent = bodies(team, project, session, alice)
    async with (
        stream(authenticate_user(alice)) as hers,
        stream(authenticate_user(bob)) as members,
        stream(authenticate_user(charlie)) as outsiders,
    ):
        for body in sent.values():
            publish(team_group(team.pk), body)
        kinds = list(sent)
        kinds.insert(kinds.index("file.edited") + 1, "file.watcher.updated")
        assert [(await hers.next()).event[0] for _ in kinds] == kinds
        assert [(await members.next()).event[0] for _ in kinds[1:]] == kinds[:-1]
        await rename(alice, session, "end")
        assert (await members.next()).title == "end"
        # What these get next is their own.
        foreign = await in_db(make_foreign, charlie)
        assert (await outsiders.next()).event[1]["sessionID"] == foreign.pk


async def test_settings_changed_elsewhere_reach_who_is_attached(
    alice: User, bob: User, charlie: User, team: Team, session: Session, project: Project
) -> None:
    other = await in_db(make_other, project)
    admin = await in_db(access_team, alice, team.pk)
    access = await in_db(access_project, authenticate_user(alice), project.pk)
    here = Home(team.pk, project.pk, f"{project.directory}/sub")
    there = Home(team.pk, other.pk, other.directory)
    async with (
        stream(Scope(authenticate_user(bob), is_global=True, home=here)) as terminal,
        stream(Scope(authenticate_user(bob), project_id=other.pk, home=there)) as elsewhere,
        stream(Scope(authenticate_user(charlie), is_global=True)) as outsider,
    ):
        await in_db(update_project_settings, access, {"model": "demo/inline"})
        frame = await terminal.next()
        disposed = ("server.instance.disposed", {"directory": here.directory})
        assert (frame.event, frame.data["directory"]) == (disposed, here.directory)

        await in_db(update_team_settings, admin, {"model": "demo/tour"})
        assert (await terminal.next()).event == disposed
        frame = await terminal.next()
        assert (frame.event, frame.data["directory"]) == (("global.disposed", {}), "global")
        # The other project's own stream had nothing of the first change.
        told = ("server.instance.disposed", {"directory": other.directory})
        assert (await elsewhere.next()).event == told

        foreign = await in_db(make_foreign, charlie)
        assert (await outsider.next()).event[1]["sessionID"] == foreign.pk


def make_foreign(user: User) -> Session:
    team = user.memberships.get().team
    project = Project.objects.create(
        id="prj_foreign", team=team, name="f", host="local", directory="/f", source="folder"
    )
    return make_session(user, project)


async def test_a_project_and_a_worktree_say_what_becomes_of_them(
    alice: User, charlie: User, session: Session, project: Project
) -> None:
    access = await in_db(access_project, authenticate_user(alice), project.pk)
    other = await in_db(make_other, project)
    async with (
        stream(Scope(authenticate_user(alice), is_global=True)) as hers,
        stream(Scope(authenticate_user(alice), project_id=other.pk)) as elsewhere,
        stream(authenticate_user(charlie)) as outsiders,
    ):
        await in_db(update_project, access, name="Renamed shop")
        frame = await hers.next()
        assert frame.data["directory"] == project.directory
        assert frame.event[0] == "project.updated"
        assert frame.event[1]["name"] == "Renamed shop"
        assert frame.event[1]["id"] == project.pk
        row = await in_db(make_checkout, session)
        await in_db(mark_made, row, Made("main", "0" * 40))
        frame = await hers.next()
        assert frame.data["directory"] == "/trees/amber-river"
        assert frame.event == (
            "worktree.ready",
            {"name": "opencode/amber-river", "branch": "opencode/amber-river"},
        )
        await in_db(mark_unmade, row, "The disk is full.")
        assert (await hers.next()).event == ("worktree.failed", {"message": "The disk is full."})
        # What these get next is their own.
        foreign = await in_db(make_foreign, charlie)
        assert (await outsiders.next()).event[1]["sessionID"] == foreign.pk
        mine = await in_db(make_session, alice, other)
        assert (await elsewhere.next()).event[1]["sessionID"] == mine.pk


def make_other(project: Project) -> Project:
    return Project.objects.create(
        id="prj_other", team=project.team, name="o", host="local", directory="/o", source="folder"
    )


def make_checkout(session: Session) -> Checkout:
    return Checkout.objects.create(
        id=session.pk,
        project_id=session.project_id,
        session=session,
        title="x",
        folder="/trees/amber-river",
        branch="opencode/amber-river",
    )
