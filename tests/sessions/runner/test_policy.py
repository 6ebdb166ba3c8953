from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.db import transaction

from opencode_web.lib.db import in_db
from providers.llm.messages import ProviderRequest
from sessions.actions.permissions import reply_permission
from sessions.events.store import append, lock_session
from sessions.events.types import SessionUpdated
from sessions.models import Message, PermissionRequest, Project, Session
from teams.models import Membership, Role, Team, User
from tests.sessions.factories import prompt, script, session_access
from tests.sessions.runner.drains import drain, parts_of

TOUCH = {"tool": "bash", "input": {"command": "touch made"}}


def made(project: Project) -> bool:
    return (Path(project.directory) / "made").exists()


def save(row: Team | Project, rules: Any) -> None:
    row.config = rules
    row.save()


@transaction.atomic
def switch(session: Session, agent: str) -> None:
    append(lock_session(session.pk), [SessionUpdated(agent=agent)])


def answer(user: User, session: Session, reply: Any) -> PermissionRequest:
    request = PermissionRequest.objects.get(session=session, status="pending")
    return reply_permission(session_access(user, session), request, reply=reply)


async def begin(user: User, session: Session, *steps: Any, **fields: Any) -> None:
    await in_db(prompt, user, session, script(*(steps or ([TOUCH], [{"text": "end"}]))), **fields)
    await drain(session)


async def test_feat2_fr_05_a_call_keeps_the_policy_of_the_agent_that_issued_it(
    alice: User, session: Session, project: Project
) -> None:
    await in_db(save, project, {"agent": {"plan": {"permission": {"bash": "deny"}}}})
    await begin(alice, session, agent="build")
    assert session.state == "waiting"
    await in_db(switch, session, "plan")
    await in_db(answer, alice, session, "once")
    await drain(session)
    assert made(project)


async def test_feat2_fr_05_a_switch_does_not_loosen_a_call_either(
    alice: User, session: Session, project: Project
) -> None:
    rules = {"plan": {"permission": {"bash": "ask"}}, "build": {"permission": {"bash": "allow"}}}
    await in_db(save, project, {"agent": rules})
    await begin(alice, session, agent="plan")
    assert session.state == "waiting"
    await in_db(switch, session, "build")
    await drain(session)
    assert session.state == "waiting"
    request = await in_db(PermissionRequest.objects.get, session=session)
    assert request.agent == "plan"
    assert request.source == "the settings of the project for this agent (bash: *)"
    assert not made(project)


async def test_feat2_fr_06_a_switch_in_a_turn_acts_on_the_next_one(
    alice: User, session: Session, project: Project, requests: list[ProviderRequest]
) -> None:
    rules = {"plan": {"permission": {"list": "deny"}}}
    await in_db(save, project, {"agent": rules})
    await begin(alice, session, agent="build")
    await in_db(prompt, alice, session, script([{"text": "planned"}]), agent="plan")
    await in_db(answer, alice, session, "once")
    await drain(session)
    assert made(project)
    rows = await in_db(lambda: list(Message.objects.filter(session=session).order_by("seq")))
    agents = [row.data["agent"] for row in rows if row.role == "assistant"]
    assert (agents[0], agents[-1]) == ("build", "plan")
    offered = [{tool.name for tool in request.tools} for request in requests]
    assert "list" in offered[0]
    assert "list" not in offered[-1]


@pytest.mark.parametrize("reply", ["once", "always"])
@pytest.mark.parametrize("level", ["team", "project"])
async def test_feat2_fr_05_no_answer_opens_what_was_denied_while_it_was_awaited(
    alice: User, session: Session, project: Project, level: str, reply: str
) -> None:
    await begin(alice, session)
    assert session.state == "waiting"
    row: Any = project.team if level == "team" else project
    await in_db(save, row, {"permission": {"bash": {"touch *": "deny"}}})
    await in_db(answer, alice, session, reply)
    await drain(session)
    assert not made(project)
    (call,) = await in_db(parts_of, session, "tool")
    assert call["state"]["status"] == "error"
    assert f"by the settings of the {level} (bash: touch *)" in call["state"]["error"]


async def test_always_does_not_answer_another_request_that_is_denied_by_now(
    alice: User, session: Session, project: Project
) -> None:
    calls = [TOUCH, {"tool": "bash", "input": {"command": "touch more"}}]
    await begin(alice, session, calls, [{"text": "end"}])
    rules = {"permission": {"bash": {"touch more": "deny"}}}
    await in_db(save, project.team, rules)
    first = await in_db(
        lambda: PermissionRequest.objects.get(session=session, patterns=["touch made"])
    )
    access = await in_db(session_access, alice, session)
    await in_db(reply_permission, access, first, reply="always")
    other = await in_db(
        lambda: PermissionRequest.objects.get(session=session, patterns=["touch more"])
    )
    assert other.status == "pending"


@pytest.mark.parametrize("change", ["viewer", "billing", "removed"])
async def test_feat2_fr_05_a_call_of_somebody_who_may_work_no_longer_does_not_run(
    alice: User, bob: User, session: Session, project: Project, change: str
) -> None:
    await begin(bob, session)
    assert session.state == "waiting"

    def act() -> None:
        row = Membership.objects.get(user=bob, team=project.team)
        if change == "removed":
            row.delete()
        else:
            row.role = Role(change)
            row.save()

    await in_db(act)
    await in_db(answer, alice, session, "once")
    await drain(session)
    assert not made(project)
    assert "author_gone" in str(
        [row.data for row in await in_db(lambda: list(Message.objects.filter(session=session)))]
    )


async def test_feat2_fr_09_a_request_is_deferred_and_resolved_by_anyone_who_may(
    alice: User, bob: User, session: Session, project: Project
) -> None:
    await begin(alice, session)
    await in_db(answer, bob, session, "always")
    await drain(session)
    assert made(project)
    row = await in_db(PermissionRequest.objects.select_related("replied_by").get, session=session)
    assert (row.status, row.replied_by) == ("always", bob)


async def test_feat2_fr_01_plan_changes_no_file_even_where_all_is_allowed(
    alice: User, session: Session, project: Project
) -> None:
    await in_db(save, project.team, {"permission": "allow"})
    write = {"tool": "write", "input": {"filePath": "made", "content": "x"}}
    await begin(alice, session, [write], [{"text": "end"}], agent="plan")
    (call,) = await in_db(parts_of, session, "tool")
    assert "by the rules of this agent (edit: *)" in call["state"]["error"]
    assert not made(project)
    await begin(alice, session, [write], [{"text": "end"}], agent="build")
    assert made(project)


async def test_a_denial_says_that_rules_cannot_be_read(
    alice: User, session: Session, project: Project
) -> None:
    await in_db(save, project, {"permission": {"bash": "deny"}})
    await in_db(save, project.team, {"permission": {"bash": {"touch *": "deny"}, "x": "perhaps"}})
    await begin(alice, session)
    (call,) = await in_db(parts_of, session, "tool")
    assert call["state"]["status"] in {"error", "completed"}
    await in_db(save, project, {"permission": {"bash": {"touch *": "deny"}}})
    await begin(alice, session)
    call = (await in_db(parts_of, session, "tool"))[-1]
    assert "The permission rules of the team cannot be read" in call["state"]["error"]
    assert "everything is asked for" in call["state"]["error"]
