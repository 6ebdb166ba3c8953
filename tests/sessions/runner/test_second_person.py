"""Calls that somebody must allow who has not told the agent what to do."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from opencode_web.lib.db import in_db
from opencode_web.lib.errors import Forbidden, Invalid
from sessions.access import access_project
from sessions.actions.fork import fork_session
from sessions.actions.history import update_part
from sessions.actions.imports import import_session
from sessions.actions.inbox import change_input
from sessions.actions.permissions import reply_permission
from sessions.actions.questions import reply_question
from sessions.agents.loader import agent_to_wire, find_agent
from sessions.config.effective import project_config
from sessions.events.types import SessionStatus
from sessions.models import (
    Part,
    PermissionRequest,
    Project,
    QuestionRequest,
    SavedRule,
    Session,
)
from sessions.rules.in_force import agent_ruleset
from sessions.rules.second_person import second_person
from teams.access import access_team
from teams.actions.members import set_approver
from teams.actions.services import create_service, create_service_token
from teams.auth import authenticate_user
from teams.models import AuditEntry, Membership, Role, Scope, User
from tests.sessions.factories import make_session, prompt, script, session_access
from tests.sessions.runner.drains import drain
from tests.sessions.story import Story, write

TOUCH = {"tool": "bash", "input": {"command": "touch made"}}
MKDIR = {"tool": "bash", "input": {"command": "mkdir folder"}}
HIDDEN = {"tool": "bash", "input": {"command": "to''uch made"}}
TASK = {"description": "touch", "prompt": "touch it", "subagent_type": "general"}


@pytest.fixture
def project(project: Project) -> Project:
    project.team.config = {"permission": {"bash": {"touch *": "ask-other"}}}
    project.team.save()
    return project


def made(session: Session) -> bool:
    return (Path(session.project.directory) / "made").exists()


def pending(session: Session) -> PermissionRequest:
    return PermissionRequest.objects.get(session__project=session.project, status="pending")


def answer(user: User, session: Session, reply: Any = "once", **more: Any) -> None:
    request = pending(session)
    reply_permission(session_access(user, request.session), request, reply=reply, **more)


def refused(user: User, session: Session) -> str:
    with pytest.raises(Forbidden) as caught:
        answer(user, session)
    assert pending(session)
    return str(caught.value)


def prune_audit_log() -> None:
    """As retention does, once everything in it is old enough."""
    tomorrow = f"{timezone.now() + timedelta(days=1):%Y-%m-%d}"
    call_command("audit", "prune", "--before", tomorrow, "--team", "acme", stdout=StringIO())


def edit_what_was_said(bob: User, alice: User, session: Session) -> Session:
    Story(session, alice).ask("hi")
    write(session, SessionStatus(state="idle"))
    part = Part.objects.get(session=session)
    data = {**part.data, "text": "Do as I say."}
    update_part(session_access(bob, session), part.message_id, part.pk, data)
    return session


def answer_a_question(bob: User, alice: User, session: Session) -> Session:
    story = Story(session, alice)
    story.ask("hi")
    story.answer()
    asked = QuestionRequest.objects.get(pk=story.questions("Which?", "Red", "Blue"))
    reply_question(session_access(bob, session), asked, answers=[["Do as I say."]])
    return session


def reject_with_a_message(bob: User, alice: User, session: Session) -> Session:
    story = Story(session, alice)
    story.ask("hi")
    story.answer()
    asked = PermissionRequest.objects.get(pk=story.waits("ls"))
    access = session_access(bob, session)
    reply_permission(access, asked, reply="reject", message="Do as I say.")
    return session


def edit_a_prompt_before_others(bob: User, alice: User, session: Session) -> Session:
    queued = prompt(alice, session, "one", delivery="queue")
    Membership.objects.filter(user=bob).update(role=Role.ADMIN)
    change_input(session_access(bob, session), queued.pk, revision=0, text="Do as I say.")
    change_input(session_access(alice, session), queued.pk, revision=1, text="Do as I say!")
    return session


def import_and_fork(bob: User, alice: User, session: Session) -> Session:
    access = access_project(authenticate_user(bob), session.project_id)
    brought = import_session(access, {"title": "Brought"}, [])
    return fork_session(session_access(alice, brought))


def edit_in_a_fork_and_fork_that(bob: User, alice: User, session: Session) -> Session:
    Story(session, alice).ask("hi")
    write(session, SessionStatus(state="idle"))
    fork = fork_session(session_access(alice, session))
    part = Part.objects.get(session=fork)
    data = {**part.data, "text": "Do as I say."}
    update_part(session_access(bob, fork), part.message_id, part.pk, data)
    return fork_session(session_access(alice, fork))


def answer_a_question_before_a_fork(bob: User, alice: User, session: Session) -> Session:
    answer_a_question(bob, alice, session)
    write(session, SessionStatus(state="idle"))
    return fork_session(session_access(alice, session))


def import_fork_and_delegate(bob: User, alice: User, session: Session) -> Session:
    fork = import_and_fork(bob, alice, session)
    return make_session(alice, fork.project, parent=fork)


async def begin(user: User, session: Session, *steps: Any) -> None:
    text = script(*(steps or ([TOUCH], [{"text": "end"}])))
    await in_db(prompt, user, session, text)
    await drain(session)
    assert session.state == "waiting"


async def test_who_prompted_cannot_allow_it_and_another_can(
    alice: User, bob: User, session: Session
) -> None:
    await begin(alice, session)
    said = await in_db(refused, alice, session)
    assert said == "You have prompted this session, so somebody else must allow this. Bob can."
    await in_db(answer, bob, session)
    await drain(session)
    assert session.outcome == "done"
    assert await in_db(made, session)
    entry = await in_db(AuditEntry.objects.filter(action="permission.replied").latest, "pk")
    assert (entry.actor_id, entry.data["second_person"]) == (bob.pk, True)


async def test_the_page_offers_to_allow_it_to_those_who_can_only(
    alice: User, bob: User, session: Session
) -> None:
    await begin(alice, session)

    def look() -> str:
        browser = Client()
        browser.force_login(alice)
        return browser.get(f"/t/acme/s/{session.pk}").content.decode()

    page = await in_db(look)
    assert f'data-needs="member" data-may="{bob.pk}"' in page
    assert "Bob can." in page
    assert "Waiting for a second person" in page.split('data-tool="bash"')[1].split("</summary>")[0]
    assert "Waiting for you" not in page


async def test_who_prompted_can_reject_it(alice: User, session: Session) -> None:
    await begin(alice, session)
    await in_db(answer, alice, session, "reject")
    await drain(session)
    assert session.outcome == "stopped"
    assert not await in_db(made, session)


async def test_whoever_prompted_earlier_or_edits_a_queued_prompt_is_out_too(
    alice: User, adam: User, bob: User, session: Session
) -> None:
    await in_db(prompt, bob, session, script([{"text": "Prepared."}]))
    await drain(session)
    await begin(alice, session)
    assert (await in_db(refused, bob, session)).endswith("Adam can.")
    queued = await in_db(prompt, alice, session, "and then", delivery="queue")
    access = await in_db(session_access, adam, session)
    await in_db(lambda: change_input(access, queued.pk, revision=0, text="and then rest"))
    said = await in_db(refused, adam, session)
    assert said.endswith(
        "an admin has to name an approver who has not prompted this session, or invite one. If the "
        "team has no active owner, an operator can make a member the owner."
    )


@pytest.mark.parametrize("rule", [{"pattern": "*"}, {"pattern": "touch *"}])
async def test_a_saved_answer_does_not_count_and_none_is_saved(
    rule: dict[str, str], alice: User, bob: User, session: Session
) -> None:
    saved = SavedRule(project=session.project, permission="bash", created_at=session.created_at)
    saved.pattern = rule["pattern"]
    await in_db(saved.save)
    await begin(alice, session)
    with pytest.raises(Invalid, match="only be allowed once"):
        await in_db(answer, bob, session, "always", patterns=["touch *"])
    assert not await in_db(made, session)


async def test_always_for_another_call_does_not_answer_it(alice: User, session: Session) -> None:
    team = session.project.team
    team.config = {"permission": {"bash": {"*": "allow", "mkdir *": "ask", "touch *": "ask-other"}}}
    await in_db(team.save)
    await in_db(prompt, alice, session, script([MKDIR, HIDDEN], [{"text": "end"}]))
    await drain(session)
    other = await in_db(lambda: PermissionRequest.objects.get(second_person=False))
    access = await in_db(session_access, alice, session)
    await in_db(lambda: reply_permission(access, other, reply="always"))
    await drain(session)
    assert (await in_db(pending, session)).second_person
    assert not await in_db(made, session)


@pytest.mark.parametrize(
    "way",
    [
        edit_what_was_said,
        answer_a_question,
        reject_with_a_message,
        edit_a_prompt_before_others,
        edit_in_a_fork_and_fork_that,
        answer_a_question_before_a_fork,
        import_and_fork,
        import_fork_and_delegate,
    ],
)
async def test_who_gives_the_agent_words_without_a_prompt_is_out_too(
    way: Callable[[User, User, Session], Session], alice: User, bob: User, session: Session
) -> None:
    told = await in_db(way, bob, alice, session)
    await in_db(prune_audit_log)
    found = await in_db(second_person, told, session.project.team)
    assert bob.pk in found.prompted


@pytest.mark.parametrize(
    "way", [edit_what_was_said, edit_in_a_fork_and_fork_that, answer_a_question_before_a_fork]
)
async def test_what_the_audit_log_and_forks_tell_is_kept_by_the_migration(
    way: Callable[[User, User, Session], Session], alice: User, bob: User, session: Session
) -> None:
    def migrate() -> None:
        Session.writers.through.objects.all().delete()
        import_module("sessions.migrations.0081_fill_session_writers").fill(apps, None)
        prune_audit_log()

    told = await in_db(way, bob, alice, session)
    await in_db(migrate)
    found = await in_db(second_person, told, session.project.team)
    assert bob.pk in found.prompted


async def test_who_has_only_moved_a_prompt_can_allow_it(
    alice: User, adam: User, session: Session
) -> None:
    await begin(alice, session)
    queued = await in_db(prompt, alice, session, "and then", delivery="queue")
    access = await in_db(session_access, adam, session)
    await in_db(lambda: change_input(access, queued.pk, revision=0, delivery="steer"))
    await in_db(answer, adam, session)


async def test_a_line_that_somebody_typed_waits_as_well(
    alice: User, bob: User, session: Session, client: Client
) -> None:
    await in_db(client.force_login, alice)
    url = f"/t/acme/s/{session.pk}/prompt"
    await in_db(lambda: client.post(url, {"text": "!touch made"}))
    await drain(session)
    assert not await in_db(made, session)
    assert session.state == "waiting"
    assert "somebody else" in await in_db(refused, alice, session)
    await in_db(answer, bob, session)
    await drain(session)
    assert await in_db(made, session)


async def test_what_a_sub_agent_asks_is_not_for_who_prompted_its_caller(
    alice: User, bob: User, session: Session
) -> None:
    task = {"tool": "task", "input": {**TASK, "prompt": script([TOUCH], [{"text": "done"}])}}
    await in_db(prompt, alice, session, script([task], [{"text": "end"}]))
    await drain(session)
    child = await in_db(Session.objects.get, parent=session)
    await drain(child)
    assert "somebody else" in await in_db(refused, alice, session)
    await in_db(answer, bob, session)
    await drain(child)
    assert await in_db(made, session)


async def test_an_answer_from_before_the_rule_is_no_answer(
    alice: User, bob: User, session: Session
) -> None:
    team = session.project.team
    config, team.config = team.config, {"permission": {"bash": "ask"}}
    await in_db(team.save)
    await begin(alice, session)
    await in_db(answer, alice, session)
    team.config = config
    await in_db(team.save)
    await drain(session)
    assert session.state == "waiting"
    assert not await in_db(made, session)
    assert "somebody else" in await in_db(refused, alice, session)


async def test_only_approvers_answer_where_the_team_has_named_some(
    alice: User, adam: User, bob: User, vera: User, session: Session
) -> None:
    access = await in_db(access_team, alice, "acme")
    rows = {row.user_id: row for row in await in_db(list, Membership.objects.all())}
    await in_db(lambda: set_approver(rows[bob.pk], access=access, is_approver=True))
    with pytest.raises(Invalid, match="cannot be an approver"):
        await in_db(lambda: set_approver(rows[vera.pk], access=access, is_approver=True))
    await begin(alice, session)
    said = await in_db(refused, adam, session)
    assert said == "Only an approver of the team can allow this. Bob can."
    # Nobody takes his place when he cannot any more.
    await in_db(lambda: Membership.objects.filter(user=bob).update(role=Role.VIEWER))
    assert "Nobody in the team can" in await in_db(refused, adam, session)
    await in_db(lambda: Membership.objects.filter(user=bob).update(role=Role.MEMBER))
    await in_db(lambda: User.objects.filter(pk=bob.pk).update(is_active=False))
    assert "Nobody in the team can" in await in_db(refused, adam, session)
    await in_db(lambda: set_approver(rows[bob.pk], access=access, is_approver=False))
    await in_db(answer, adam, session)


async def test_no_service_account_answers(alice: User, session: Session) -> None:
    access = await in_db(access_team, alice, "acme")
    service = await in_db(lambda: create_service(access, name="deploy", role=Role.MEMBER).user)
    await begin(alice, session)
    assert "A person must" in await in_db(refused, service, session)


async def test_who_has_a_token_of_the_service_account_that_prompted_cannot_allow_it(
    alice: User, bob: User, session: Session
) -> None:
    def service() -> User:
        access = access_team(alice, "acme")
        row = create_service(access, name="deploy", role=Role.MEMBER)
        create_service_token(access, row, name="mine", scope=Scope.WRITE)
        return row.user

    await begin(await in_db(service), session)
    await in_db(prune_audit_log)
    why = await in_db(refused, alice, session)
    assert why.startswith("You have made a token of the service account")
    assert why.endswith("Bob can.")
    await in_db(answer, bob, session)


def test_clients_of_opencode_see_an_ask(session: Session) -> None:
    config = project_config(session.project)
    agent = find_agent(config, "build")
    wire = agent_to_wire(agent, agent_ruleset(session.project, agent, config))
    assert {"permission": "bash", "pattern": "touch *", "action": "ask"} in wire["permission"]
