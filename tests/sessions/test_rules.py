from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone
from pydantic import ValidationError

from opencode_web.lib.json import JsonObject
from sessions.actions.sessions import update_session
from sessions.agents.loader import find_agent
from sessions.api.schemas import PermissionRule, PromptBody
from sessions.config.effective import project_config
from sessions.models import SavedRule, Session
from sessions.rules.in_force import inherited_rules, session_ruleset
from teams.models import User
from tests.sessions.factories import session_access
from tools.features import Features
from tools.permissions.rules import Action, decide
from tools.registry import offered_tools

pytestmark = pytest.mark.django_db
ALLOW_ALL: JsonObject = {"permission": "*", "pattern": "*", "action": "allow"}


def judge(session: Session, command: str, *, agent: str = "build") -> Action:
    session.refresh_from_db()
    return decide("bash", (command,), session_ruleset(session, agent))


def allow_always(session: Session, pattern: str) -> None:
    SavedRule.objects.create(
        project=session.project, permission="bash", pattern=pattern, created_at=timezone.now()
    )


@pytest.mark.parametrize("where", ["team", "project"])
def test_neither_a_session_nor_a_saved_answer_opens_what_the_settings_deny(
    where: str, alice: User, session: Session
) -> None:
    owner: Any = session.project.team if where == "team" else session.project
    owner.config = {"permission": {"bash": {"rm *": "deny"}}}
    owner.save()
    session = Session.objects.get(pk=session.pk)
    assert judge(session, "rm x") is Action.DENY
    update_session(session_access(alice, session), permission=[ALLOW_ALL])
    allow_always(session, "rm *")
    assert judge(session, "rm x") is Action.DENY
    assert judge(session, "ls") is Action.ALLOW


def test_a_denied_tool_stays_hidden(alice: User, session: Session) -> None:
    session.project.config = {"permission": {"bash": "deny"}}
    session.project.save()
    update_session(session_access(alice, session), permission=[ALLOW_ALL])
    fresh = Session.objects.get(pk=session.pk)
    tools = offered_tools(session_ruleset(fresh, "build"), model_id="", features=Features())
    names = [tool.name for tool in tools]
    assert "bash" not in names
    assert "edit" in names


def test_a_session_cannot_make_plan_edit(alice: User, session: Session) -> None:
    update_session(session_access(alice, session), permission=[ALLOW_ALL])
    session.refresh_from_db()
    assert decide("edit", ("a.py",), session_ruleset(session, "plan")) is Action.DENY
    assert decide("edit", ("a.py",), session_ruleset(session, "build")) is Action.ALLOW


def test_a_saved_answer_does_not_open_what_the_session_denies(
    alice: User, session: Session
) -> None:
    allow_always(session, "git *")
    assert judge(session, "git push") is Action.ALLOW
    rule: JsonObject = {"permission": "bash", "pattern": "git push *", "action": "deny"}
    update_session(session_access(alice, session), permission=[rule])
    assert judge(session, "git push") is Action.DENY
    assert judge(session, "git log") is Action.ALLOW


def test_a_client_cannot_set_rules_that_could_not_be_read() -> None:
    with pytest.raises(ValidationError, match="200"):
        PermissionRule(permission="bash", pattern="x" * 201, action="allow")
    with pytest.raises(ValidationError, match="100"):
        PromptBody.model_validate({"parts": [], "tools": {"x" * 101: True}})


def test_a_row_of_question_marks_opens_nothing_for_a_sub_agent(session: Session) -> None:
    rules = {"bash": {"*": "allow", "rm *": "deny", "rm ?": "allow"}}
    session.project.config = {"agent": {"build": {"permission": rules}}}
    session.project.save()
    session = Session.objects.get(pk=session.pk)
    config = project_config(session.project)
    general = find_agent(config, "general")
    session.permission = inherited_rules(session, "build", general, config, may_spawn=False)
    ruleset = session_ruleset(session, "general")
    assert decide("bash", ("rm -rf /",), session_ruleset(session, "build")) is Action.DENY
    assert decide("bash", ("rm -rf /",), ruleset) is Action.DENY
