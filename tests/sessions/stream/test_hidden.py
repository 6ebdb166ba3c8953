from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from opencode_web.lib.db import in_db
from sessions.access import access_project
from sessions.actions.privacy import set_private
from sessions.actions.project_members import restrict_project, set_project_member
from sessions.actions.projects import update_project
from sessions.actions.sessions import delete_session, update_session
from sessions.events.live import publish_row
from sessions.models import Project, Session
from sessions.stream import rights
from sessions.stream.listener import Listener
from sessions.stream.rail import View, joined_rail
from sessions.stream.rights import COME_BACK
from sessions.stream.sse import Scope
from teams.access import access_team
from teams.auth import authenticate_user
from teams.models import Membership, Role, User
from tests.sessions.factories import make_session, session_access
from tests.sessions.stream.event_reader import Reader, stream
from tests.sessions.stream.test_languages import heard, wait_for_permission
from tests.sessions.test_consumers import close_code, frames_until, socket

pytestmark = pytest.mark.django_db(transaction=True)


def _private(user: User, session: Session, private: bool = True) -> None:
    set_private(session_access(user, session), private=private)


def _restrict(user: User, project: Project, restricted: bool = True) -> None:
    access = access_project(authenticate_user(user), project.pk)
    restrict_project(access, restricted=restricted)


def _give(user: User, project: Project, member: User, role: Role | None) -> None:
    access = access_project(authenticate_user(user), project.pk)
    set_project_member(access, Membership.objects.get(user=member), role=role)


def _rename(user: User, session: Session, title: str) -> None:
    update_session(session_access(user, session), title=title)


def _name_project(user: User, project: Project, name: str) -> None:
    update_project(access_project(authenticate_user(user), project.pk), name=name)


async def told_until(reader: Reader, title: str) -> str:
    """Everything until a session has this title."""
    seen: list[Any] = []
    while not seen or title not in str(seen[-1]):
        seen.append((await reader.next()).data)
    return str(seen)


@pytest.mark.parametrize("kind", [{}, {"is_global": True}])
async def test_streams_tell_nothing_of_a_private_session(
    alice: User, bob: User, project: Project, session: Session, kind: dict[str, bool]
) -> None:
    other = await in_db(make_session, alice, project)
    async with stream(Scope(authenticate_user(bob), **kind)) as reader:
        await in_db(_rename, alice, session, "quokka before")
        await in_db(_rename, alice, other, "first")
        assert "quokka before" in await told_until(reader, "first")
        await in_db(_private, alice, session)
        await in_db(_rename, alice, session, "quokka")
        made = await in_db(make_session, bob, project)
        await in_db(_private, bob, made)
        await in_db(_rename, bob, made, "own")
        told = await told_until(reader, "own")
        await in_db(lambda: delete_session(session_access(alice, session)))
        await in_db(_rename, alice, other, "second")
        told += await told_until(reader, "second")
    assert "'quokka'" not in told
    assert "session.deleted" not in told


async def test_streams_tell_nothing_of_a_restricted_project(
    alice: User, bob: User, project: Project, session: Session
) -> None:
    async with stream(Scope(authenticate_user(bob), is_global=True)) as reader:
        await in_db(_restrict, alice, project)
        await in_db(_rename, alice, session, "quokka")
        await in_db(_name_project, alice, project, "quokkas")
        await in_db(_give, alice, project, bob, Role.VIEWER)
        await in_db(_rename, alice, session, "open")
        told = await told_until(reader, "open")
        assert "quokka" not in told.replace("'name': 'quokkas'", "")
        assert "project.updated" not in told


async def test_a_stream_that_comes_back_is_not_told_what_it_missed_of_it(
    alice: User, bob: User, session: Session, project: Project
) -> None:
    other = await in_db(make_session, alice, project)
    async with stream(Scope(authenticate_user(bob))) as reader:
        await in_db(_rename, alice, other, "one")
        await told_until(reader, "one")
    await in_db(_rename, alice, session, "quokka")
    await in_db(_private, alice, session)
    await in_db(_rename, alice, other, "two")
    async with stream(Scope(authenticate_user(bob)), reader.last_id) as again:
        assert "quokka" not in await told_until(again, "two")


@pytest.mark.parametrize("lose", [_private, None])
async def test_the_socket_of_its_page_is_closed(
    alice: User, bob: User, session: Session, project: Project, lose: Callable[..., None] | None
) -> None:
    async with socket(bob, f"session={session.pk}&after=0") as browser:
        await frames_until(browser, lambda frame: frame["k"] == "hi")
        if lose is None:
            await in_db(_restrict, alice, project)
        else:
            await in_db(lose, alice, session)
        assert await close_code(browser) in (4403, 4404)


async def test_it_is_closed_also_where_the_bus_loses_what_was_said(
    alice: User, bob: User, session: Session, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rights, "CHECK_S", 0.05)
    monkeypatch.setattr("opencode_web.lib.bus._enqueue", lambda *_: None)
    async with socket(bob, f"session={session.pk}&after=0") as browser:
        await in_db(_restrict, alice, project)
        assert await close_code(browser) in (4403, 4404)


async def test_the_page_of_a_session_is_told_the_role_in_its_project(
    alice: User, bob: User, session: Session, project: Project
) -> None:
    async with socket(bob, f"session={session.pk}&after=0") as browser:
        (hello,) = [
            one for one in await frames_until(browser, lambda f: f["k"] == "hi") if one["k"] == "hi"
        ]
        assert hello["role"] == "member"
    await in_db(_give, alice, project, bob, Role.VIEWER)
    for query in (f"session={session.pk}&after=0", f"team=acme&project={project.pk}"):
        async with socket(bob, query) as browser:
            frames = await frames_until(browser, lambda frame: frame["k"] == "hi")
            assert frames[-1]["role"] == "viewer"
    async with socket(bob, "team=acme") as browser:
        frames = await frames_until(browser, lambda frame: frame["k"] == "hi")
        assert frames[-1]["role"] == "member"


async def all_until(listener: Listener, text: str) -> str:
    frames = ""
    while text not in frames:
        frames += await asyncio.wait_for(listener.get(), 25)
    return frames


async def test_lists_are_sent_only_rows_of_what_the_person_sees(
    alice: User, bob: User, vera: User, session: Session, project: Project
) -> None:
    mine = await in_db(make_session, bob, project)
    await in_db(_private, bob, mine)
    for user, key in ((alice, "all"), (bob, f"{bob.pk} member"), (vera, "open")):
        view = await in_db(lambda user=user: View.of(access_team(user, "acme")))
        assert view.key == key
        listener = Listener()
        async with joined_rail(view, listener):
            await in_db(_rename, bob, mine, f"Quokka of {user.email}")
            await in_db(publish_row, mine)
            await in_db(_rename, alice, session, f"Till of {user.email}")
            frames = await all_until(listener, f"Till of {user.email}")
        assert ("Quokka" in frames) == (user != vera)


async def test_a_row_counts_as_asking_whoever_can_answer_in_its_project(
    alice: User, bob: User, vera: User, session: Session, project: Project
) -> None:
    await in_db(_give, alice, project, bob, Role.VIEWER)
    await in_db(_give, alice, project, vera, Role.MEMBER)
    await in_db(wait_for_permission, session, alice)
    for user, count in ((bob, None), (vera, 1)):
        view = await in_db(lambda user=user: View.of(access_team(user, "acme")))
        listener = Listener()
        async with joined_rail(view, listener):
            await in_db(publish_row, session)
            frame = json.loads(await heard(listener, f"#row-{session.pk}"))
        assert frame["asks"].get("viewer") == count
        assert ("data-answerers" in str(frame["rows"])) == bool(count)


async def test_open_pages_read_their_lists_again_when_it_changes_what_is_seen(
    alice: User, bob: User, session: Session, project: Project
) -> None:
    async with socket(bob, "team=acme") as browser:
        await frames_until(browser, lambda frame: frame["k"] == "hi")
        await in_db(_private, alice, session)
        await frames_until(
            browser, lambda f: f["k"] == "u" and any(row.get("stale") for row in f["rows"])
        )
        # From now on bob sees something else than other members.
        await in_db(_give, alice, project, bob, Role.VIEWER)
        assert await close_code(browser) == COME_BACK
