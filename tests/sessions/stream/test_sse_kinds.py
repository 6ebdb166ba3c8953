from __future__ import annotations

from typing import Any

import pytest

from opencode_web.lib.bus import publish
from opencode_web.lib.db import in_db
from sessions.events.live import team_group
from sessions.models import Project, Session
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
        "file.edited": {"t": "edited", **of_session, "files": ["/a"]},
        "command.executed": {
            "t": "command",
            **of_session,
            "name": "x",
            "arguments": "",
            "message": "msg_1",
        },
        "session.deleted": {"t": "deleted", **of_session, "info": {"id": session.pk}},
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
        assert [(await hers.next()).event[0] for _ in sent] == list(sent)
        assert [(await members.next()).event[0] for _ in list(sent)[1:]] == list(sent)[:-1]
        await rename(alice, session, "end")
        assert (await members.next()).title == "end"
        # What these get next is their own.
        foreign = await in_db(make_foreign, charlie)
        assert (await outsiders.next()).event[1]["sessionID"] == foreign.pk


def make_foreign(user: User) -> Session:
    team = user.memberships.get().team
    project = Project.objects.create(
        id="prj_foreign", team=team, name="f", host="local", directory="/f", source="folder"
    )
    return make_session(user, project)
