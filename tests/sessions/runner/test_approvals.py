from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from opencode_web.lib.db import in_db
from opencode_web.lib.errors import Conflict
from sessions.actions.change_requests import set_approvals
from sessions.actions.permissions import reply_permission
from sessions.actions.saved_rules import restore_rule, revoke_rule
from sessions.models import ChangeKind, PermissionRequest, SavedRule, Session
from sessions.rules.in_force import session_ruleset
from sessions.rules.trial import try_call
from teams.access import access_team
from teams.models import Team, User
from tests.sessions.factories import make_session, prompt, script, session_access
from tests.sessions.runner.drains import drain
from tests.tools.test_shell_reach import action
from tools.permissions.rules import Action

pytestmark = pytest.mark.django_db(transaction=True)
OPEN = {"permission": {"bash": {"*": "allow", "git *": "allow", "gh *": "allow"}}}


def hold(alice: User, team: Team, *kinds: ChangeKind) -> None:
    set_approvals(access_team(alice, team.slug), kinds)


def test_an_agent_pushes_and_merges_only_with_a_second_person(
    alice: User, bob: User, team: Team, session: Session, subtests: pytest.Subtests
) -> None:
    team.config = session.project.config = OPEN
    team.save()
    session.project.save()
    hold(alice, team, ChangeKind.PUSH, ChangeKind.MERGE)
    own = make_session(alice, session.project)
    Session.objects.filter(pk=own.pk).update(folder="/srv/own")
    pushing = ("git push", "git -C x push -f origin", "cd x && gh pr create", "gh api -X PUT x")
    merging = ("gh pr merge 3", "ls; glab mr merge 3")
    in_project = ("git merge feature", "git pull . feature")
    cases = [(one, text, Action.ASK_OTHER) for one in (session, own) for text in pushing + merging]
    cases += [(session, text, Action.ASK_OTHER) for text in in_project]
    cases += [(own, text, Action.ALLOW) for text in in_project]
    cases += [(session, "git status", Action.ALLOW)]
    for place, text, expected in cases:
        row = Session.objects.select_related("project__team").get(pk=place.pk)
        with subtests.test(text=text, folder=row.folder):
            assert action(text, session_ruleset(row, "build")) is expected
    Session.objects.filter(pk=own.pk).update(folder="")
    session.project.refresh_from_db()
    tried = try_call(session.project, agent="build", tool="bash", text="git push")
    assert tried[0].action is Action.ASK_OTHER
    assert "second person approve" in tried[0].source


async def test_a_push_of_an_agent_waits_for_a_second_person(
    alice: User, bob: User, team: Team, session: Session
) -> None:
    await in_db(hold, alice, team, ChangeKind.PUSH)
    call: Any = {"tool": "bash", "input": {"command": "git push"}}
    await in_db(prompt, alice, session, script([call], [{"text": "end"}]))
    await drain(session)
    asked = await in_db(PermissionRequest.objects.get)
    assert (asked.second_person, asked.always) == (True, [])


async def test_an_answer_is_not_saved_where_a_second_person_approves_rules(
    alice: User, adam: User, team: Team, session: Session, client: Client
) -> None:
    await in_db(hold, alice, team, ChangeKind.RULES)
    call: Any = {"tool": "bash", "input": {"command": "touch made"}}
    await in_db(prompt, alice, session, script([call], [{"text": "end"}]))
    await drain(session)

    def answer() -> None:
        asked = PermissionRequest.objects.get()
        access = session_access(alice, session)
        with pytest.raises(Conflict, match="Allow it once"):
            reply_permission(access, asked, reply="always")
        client.force_login(alice)
        page = client.get(f"/t/acme/s/{session.pk}").content.decode()
        assert "can only be allowed once" in page
        assert 'value="always"' not in page
        reply_permission(access, asked, reply="once")
        rule = SavedRule.objects.create(
            project=session.project, permission="bash", pattern="x", created_at=asked.created_at
        )
        # To ask again needs nobody, and cannot be undone alone.
        entry = revoke_rule(session_access(alice, session), rule)  # type: ignore[arg-type]
        with pytest.raises(Conflict, match="none can be restored"):
            restore_rule(access_team(alice, team.slug), entry.pk)
        assert not SavedRule.objects.exists()

    await in_db(answer)
