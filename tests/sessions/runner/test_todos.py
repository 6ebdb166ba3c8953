from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from django.test import Client

from opencode_web.lib.db import in_db
from sessions.access import ProjectAccess, access_project
from sessions.actions.fork import fork_session
from sessions.actions.history import delete_part
from sessions.actions.imports import import_session
from sessions.actions.revert import revert_session, unrevert_session
from sessions.models import Event, Message, Part, Session, TodoList
from sessions.present.conversation.todos import load_todo_dock
from sessions.present.pages.export import export_pieces
from sessions.todos import load_todos
from sessions.wire_events import to_wire_events
from teams.auth import authenticate_user
from teams.models import Role, User
from tests.sessions.factories import prompt, script, session_access
from tests.sessions.projection import assert_log_equals_rows
from tests.sessions.runner.drains import drain, parts_of


def item(content: str, status: str = "pending") -> dict[str, Any]:
    return {"content": content, "status": status, "priority": "medium"}


def writing(*items: dict[str, Any]) -> dict[str, Any]:
    return {"tool": "todowrite", "input": {"todos": list(items)}}


A, B = item("Look", "in_progress"), item("Mend")


async def two_turns(alice: User, session: Session) -> None:
    await in_db(prompt, alice, session, script([writing(A, B)], [{"text": "looked"}]))
    await drain(session)
    await in_db(prompt, alice, session, script([writing(item("Else"))], [{"text": "done"}]))
    await drain(session)


def _project_access(user: User, session: Session) -> ProjectAccess:
    return access_project(authenticate_user(user), session.project_id, need=Role.MEMBER)


def first_and_second_prompt(session: Session) -> list[str]:
    prompts = Message.objects.filter(session=session, role="user").order_by("seq")
    return list(prompts.values_list("pk", flat=True))


async def test_feat2_fr_07_a_list_becomes_an_event_a_row_and_a_wire_event(
    alice: User, session: Session
) -> None:
    text = script([writing(A, B)], [{"tool": "todoread", "input": {}}], [{"text": "done"}])
    await in_db(prompt, alice, session, text)
    await drain(session)
    assert (session.state, session.outcome) == ("idle", "done")
    event = await in_db(Event.objects.get, session=session, type="todo.updated")
    row = await in_db(TodoList.objects.get, session=session)
    assert (row.items, row.seq) == ([A, B], event.seq)
    written, read = await in_db(parts_of, session, "tool")
    assert written["state"]["metadata"]["todos"] == [A, B]
    assert read["state"]["output"] == written["state"]["output"]
    record = {"type": event.type, "data": event.data, "time": 1}
    properties = {"sessionID": session.pk, "todos": [A, B]}
    assert to_wire_events(session.pk, record, None) == [("todo.updated", properties)]


async def test_the_route_gives_the_list(
    alice: User, session: Session, client_for: Callable[[User], Client]
) -> None:
    client = await in_db(client_for, alice)
    url = f"/session/{session.pk}/todo"
    assert (await in_db(client.get, url)).json() == []
    await in_db(prompt, alice, session, script([writing(A, B)], [{"text": "done"}]))
    await drain(session)
    assert (await in_db(client.get, url)).json() == [A, B]


async def test_a_rollback_brings_the_list_of_before_and_its_undoing_the_newest(
    alice: User, session: Session
) -> None:
    await two_turns(alice, session)
    access = await in_db(session_access, alice, session)
    first, second = await in_db(first_and_second_prompt, session)
    await in_db(revert_session, access, second)
    assert await in_db(load_todos, session.pk) == [A, B]
    await in_db(revert_session, access, first)
    assert await in_db(load_todos, session.pk) == []
    await in_db(unrevert_session, access)
    assert await in_db(load_todos, session.pk) == [item("Else")]


async def test_what_a_prompt_made_final_does_not_come_back(alice: User, session: Session) -> None:
    await two_turns(alice, session)
    access = await in_db(session_access, alice, session)
    _, second = await in_db(first_and_second_prompt, session)
    await in_db(revert_session, access, second)
    await in_db(prompt, alice, session, script([{"text": "went on"}]))
    await drain(session)
    assert await in_db(load_todos, session.pk) == [A, B]


async def test_a_deleted_message_takes_its_list_with_it(alice: User, session: Session) -> None:
    await two_turns(alice, session)
    access = await in_db(session_access, alice, session)
    newest = await in_db(Part.objects.filter(session=session, data__tool="todowrite").latest, "seq")
    await in_db(delete_part, access, newest.message_id, newest.pk)
    assert await in_db(load_todos, session.pk) == [A, B]


async def test_a_fork_has_the_list_of_where_it_begins(alice: User, session: Session) -> None:
    await two_turns(alice, session)
    access = await in_db(session_access, alice, session)
    _, second = await in_db(first_and_second_prompt, session)
    whole = await in_db(fork_session, access)
    early = await in_db(fork_session, access, before=second)
    assert await in_db(load_todos, whole.pk) == [item("Else")]
    assert await in_db(load_todos, early.pk) == [A, B]


async def test_an_import_has_the_list_of_the_exported_session(
    alice: User, session: Session
) -> None:
    await two_turns(alice, session)
    whole = await in_db(Session.objects.select_related("project").get, pk=session.pk)
    document = json.loads("".join([piece async for piece in export_pieces(whole)]))
    project = await in_db(_project_access, alice, session)
    copy = await in_db(import_session, project, document["info"], document["messages"])
    assert await in_db(load_todos, copy.pk) == [item("Else")]
    await in_db(assert_log_equals_rows, copy)


async def test_the_dock_belongs_to_the_turn_that_made_it(alice: User, session: Session) -> None:
    assert await in_db(load_todo_dock, session) is None
    await in_db(prompt, alice, session, script([writing(A, B)], [{"text": "looked"}]))
    await drain(session)
    dock = await in_db(load_todo_dock, session)
    assert dock is not None
    assert (dock.done, dock.total, dock.current) == (0, 2, "Look")
    await in_db(prompt, alice, session, script([{"text": "something else"}]))
    await drain(session)
    assert await in_db(load_todo_dock, session) is None


async def test_the_dock_counts_without_what_was_dropped_and_goes_when_all_is_done(
    alice: User, session: Session
) -> None:
    half = [item("a", "completed"), item("b", "cancelled"), item("c"), item("d", "completed")]
    await in_db(prompt, alice, session, script([writing(*half)], [{"text": "half"}]))
    await drain(session)
    dock = await in_db(load_todo_dock, session)
    assert dock is not None
    assert (dock.done, dock.total, dock.current) == (2, 3, "c")
    whole = [item("a", "completed"), item("b", "cancelled")]
    await in_db(prompt, alice, session, script([writing(*whole)], [{"text": "all"}]))
    await drain(session)
    assert await in_db(load_todo_dock, session) is None


async def test_a_sub_agent_keeps_no_list_of_its_own(alice: User, session: Session) -> None:
    inner = script([writing(A)], [{"text": "reported"}])
    task = {
        "tool": "task",
        "input": {"description": "look", "prompt": inner, "subagent_type": "general"},
    }
    await in_db(prompt, alice, session, script([task], [{"text": "done"}]))
    await drain(session)
    child = await in_db(Session.objects.get, parent=session)
    await drain(child)
    (part,) = await in_db(parts_of, child, "tool")
    assert part["tool"] == "invalid"
    assert await in_db(load_todos, child.pk) == []
