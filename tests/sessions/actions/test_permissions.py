from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction
from django.template.loader import render_to_string

from opencode_web.lib.errors import Forbidden, Invalid
from opencode_web.lib.ids import new_id
from sessions.actions.permissions import reply_permission
from sessions.events.store import append, lock_session
from sessions.events.types import PermissionAsked
from sessions.models import PermissionRequest, RuleScope, SavedRule, Session
from sessions.present.conversation.asks import PermissionCard
from sessions.present.conversation.docks import load_cards
from sessions.rules.in_force import session_ruleset
from teams.models import AuditEntry, Team, User
from tests.sessions.factories import make_project, make_session, session_access
from tools.permissions.rules import Action, decide

pytestmark = pytest.mark.django_db


def ask(session: Session, always: list[str], **metadata: Any) -> PermissionRequest:
    event = PermissionAsked(
        id=new_id("per"),
        message_id=new_id("msg"),
        call_id="call_1",
        agent="build",
        permission="bash",
        patterns=["make test"],
        always=always,
        metadata={"command": "make test", **metadata},
        source="the settings of the team (bash: make *)",
    )
    with transaction.atomic():
        append(lock_session(session.pk), [event])
    return PermissionRequest.objects.get(pk=event.id)


def card(session: Session, request: PermissionRequest) -> str:
    (shown,) = load_cards(session, [request])
    return render_to_string("sessions/_permission.html", {"permission": shown})


@pytest.mark.parametrize(
    ("always", "patterns", "problem"),
    [
        ([], None, "only be allowed once"),
        ([], ["make *"], "only be allowed once"),
        (["x" * 201], None, "only be allowed once"),
        (["make *"], [], "Choose"),
        (["make *"], ["*"], "Choose"),
    ],
)
def test_always_is_refused_when_there_is_nothing_to_remember(
    always: list[str], patterns: list[str] | None, problem: str, alice: User, session: Session
) -> None:
    request = ask(session, always)
    with pytest.raises(Invalid, match=problem):
        reply_permission(session_access(alice, session), request, reply="always", patterns=patterns)
    request.refresh_from_db()
    assert request.status == "pending"
    assert not SavedRule.objects.exists()


def test_always_is_offered_only_when_there_is_something_to_remember(session: Session) -> None:
    assert 'value="always"' in card(session, ask(session, ["make *"]))
    assert 'value="always"' not in card(session, ask(session, []))


@pytest.mark.parametrize(
    ("patterns", "always", "offered"),
    [
        (["make test"], ["make *"], [("make test", True), ("make *", False)]),
        (["a.py", "b.py"], ["*"], [("a.py", True), ("b.py", True), ("*", False)]),
        # Such a text would match others as a pattern.
        (["rm *.py"], ["rm *"], [("rm *", True)]),
        (["rm a\\ b"], ["rm *"], [("rm *", True)]),
        (["till"], ["till"], [("till", True)]),
        (["x" * 201], ["*"], [("*", True)]),
        (["make test"], [], []),
    ],
)
def test_what_was_asked_for_itself_is_proposed_before_what_is_wider(
    patterns: list[str], always: list[str], offered: list[tuple[str, bool]], session: Session
) -> None:
    request = ask(session, always)
    request.patterns = patterns
    (shown,) = load_cards(session, [request])
    assert isinstance(shown, PermissionCard)
    assert [(one.pattern, one.checked) for one in shown.always] == offered


def test_only_what_was_asked_for_itself_can_be_remembered(alice: User, session: Session) -> None:
    access = session_access(alice, session)
    chosen = ["make test", "make clean"]
    reply_permission(access, ask(session, ["make *"]), reply="always", patterns=chosen)
    assert SavedRule.objects.get().pattern == "make test"
    assert AuditEntry.objects.get(action="permission.replied").told["always"] == ["make test"]
    # Clients that name none get what the request offers, as ever.
    reply_permission(access, ask(session, ["make *"]), reply="always")
    assert SavedRule.objects.filter(pattern="make *").exists()


def test_the_card_begins_at_the_first_line_that_changes(session: Session) -> None:
    diff = "--- a.txt\n+++ a.txt\n@@ -1,4 +1,4 @@\n one\n two\n three\n-old\n+new\n"
    shown = card(session, ask(session, [], filepath="a.txt", diff=diff))
    assert re.findall(r'diff-code">(\w+)', shown) == ["three", "old", "new"]


def test_the_card_shows_the_folder_a_command_runs_in(session: Session) -> None:
    shown = card(session, ask(session, [], workdir="deploy/<prod>"))
    assert "deploy/&lt;prod&gt;" in shown
    assert "In folder" not in card(session, ask(session, []))


def test_the_card_says_whose_rule_asks(session: Session) -> None:
    shown = card(session, ask(session, []))
    assert "Required by the settings of the team (bash: make *)" in shown


def is_allowed(session: Session) -> bool:
    return decide("bash", ("make test",), session_ruleset(session, "build")) is Action.ALLOW


@pytest.mark.parametrize(
    ("scope", "allowed"),
    [
        (RuleScope.SESSION, ["asked", "sub-agent"]),
        (RuleScope.PROJECT, ["asked", "sub-agent", "same project"]),
        (RuleScope.TEAM, ["asked", "sub-agent", "same project", "same team"]),
    ],
)
def test_always_reaches_as_far_as_was_chosen(
    scope: RuleScope,
    allowed: list[str],
    alice: User,
    session: Session,
    charlie: User,
    tmp_path: Path,
) -> None:
    of_team = make_project(session.project.team, tmp_path / "till", name="till")
    foreign = make_project(Team.objects.get(slug="globex"), tmp_path / "globex", name="globex")
    sessions = {
        "asked": session,
        "sub-agent": make_session(alice, session.project, parent=session),
        "same project": make_session(alice, session.project),
        "same team": make_session(alice, of_team),
        "other team": make_session(charlie, foreign),
    }
    request = ask(session, ["make *"])
    reply_permission(session_access(alice, session), request, reply="always", scope=scope)
    assert [name for name, one in sessions.items() if is_allowed(one)] == allowed
    assert SavedRule.objects.get().scope is scope
    entry = AuditEntry.objects.get(action="permission.replied")
    assert entry.data["scope"] == scope


def test_an_answer_to_a_sub_agent_holds_for_the_session_that_people_see(
    alice: User, session: Session
) -> None:
    below = make_session(alice, session.project, parent=session)
    request = ask(below, ["make *"])
    access = session_access(alice, below)
    reply_permission(access, request, reply="always", scope=RuleScope.SESSION)
    assert is_allowed(session)


def test_only_admins_allow_something_to_the_whole_team(bob: User, session: Session) -> None:
    request = ask(session, ["make *"])
    with pytest.raises(Forbidden):
        reply_permission(
            session_access(bob, session), request, reply="always", scope=RuleScope.TEAM
        )
    request.refresh_from_db()
    assert request.status == "pending"
    assert not SavedRule.objects.exists()
