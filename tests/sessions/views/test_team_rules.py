from __future__ import annotations

import html
import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from sessions.actions import saved_rules
from sessions.models import McpServer, Project, RuleScope, SavedRule, Session
from teams.models import AuditEntry, Team, User

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]
URL = "/t/acme/settings/permissions"


def page_of(browser: Client, query: dict[str, str] | None = None) -> str:
    return html.unescape(browser.get(URL, query or {}).content.decode())


def change(browser: Client, act: str, **more: str) -> Any:
    seen = re.search(r'name="seen" value="(\w+)"', page_of(browser))
    assert seen is not None
    return browser.post(f"{URL}/change", {"seen": seen[1], "act": act, **more})


def stored(team: Team) -> object:
    team.refresh_from_db()
    return team.config.get("permission")


def test_rules_are_added_moved_changed_and_removed(
    team: Team, adam: User, client_for: ClientFor
) -> None:
    browser = client_for(adam)
    assert "No rules yet" in page_of(browser)
    change(browser, "add", tool="bash", pattern="*", action="allow")
    change(browser, "add", tool="bash", pattern="rm *", action="deny")
    change(browser, "add", tool="edit", pattern="*", action="ask")
    assert stored(team) == {"bash": {"*": "allow", "rm *": "deny"}, "edit": "ask"}
    change(browser, "up-2")
    # The rules of a tool are apart now, which an object cannot say.
    assert isinstance(stored(team), list)
    change(browser, "down-1")
    change(browser, "set-1", **{"action-1": "ask"})
    change(browser, "remove-0")
    assert stored(team) == {"bash": {"rm *": "ask"}, "edit": "ask"}
    change(browser, "remove-0")
    change(browser, "remove-0")
    assert "permission" not in Team.objects.get(pk=team.pk).config
    entry = AuditEntry.objects.filter(action="config.changed").latest("pk")
    assert (entry.actor, entry.data) == (
        adam,
        {
            "keys": ["permission"],
            "before": {"permission": {"edit": "ask"}},
            "after": {"permission": None},
        },
    )


def test_a_removed_rule_is_put_back_where_it_was(
    team: Team, adam: User, vera: User, client_for: ClientFor
) -> None:
    browser = client_for(adam)
    for pattern in ("a *", "b *", "c *"):
        change(browser, "add", tool="bash", pattern=pattern, action="allow")
    before = stored(team)
    change(browser, "remove-1")
    assert stored(team) == {"bash": {"a *": "allow", "c *": "allow"}}
    undo = re.search(r'action="(/t/acme/settings/permissions/restore[^"]+)"', page_of(browser))
    assert undo is not None
    assert client_for(vera).post(undo[1]).status_code == 403
    browser.post(undo[1])
    assert stored(team) == before
    assert browser.post(undo[1].partition("?")[0]).status_code == 400


def test_other_settings_stay(team: Team, adam: User, client_for: ClientFor) -> None:
    team.config = {"model": "a/b", "permission": "ask", "tools": {"webfetch": False}}
    team.save()
    browser = client_for(adam)
    assert "Rules in an older form (tools)" in page_of(browser)
    change(browser, "add", tool="bash", pattern="ls", action="allow")
    team.refresh_from_db()
    assert team.config == {
        "model": "a/b",
        "permission": {"*": "ask", "bash": {"ls": "allow"}},
        "tools": {"webfetch": False},
    }


def test_a_rule_for_a_name_that_nobody_knows_says_so(
    project: Project, adam: User, client_for: ClientFor
) -> None:
    team, browser = project.team, client_for(adam)
    McpServer.objects.create(
        project=project, name="sky", tools=[{"name": "sky_look"}], asked_at=project.created_at
    )
    team.config = {"mcp": {"weather": {"type": "local", "command": ["weather"]}}}
    team.save()
    for known in ("bash", "*", "web*", "sky_look", "weather_now", "weather_*", "doom_loop"):
        change(browser, "add", tool=known, pattern="*", action="deny")
        assert "Saved. This applies" in page_of(browser)
        assert "There is currently no tool named" not in page_of(browser)
    change(browser, "add", tool="other_tool", pattern="*", action="deny")
    said = "There is currently no tool named other_tool, so this rule has no effect yet."
    assert f"Saved. {said}" in page_of(browser)
    # On the list it stays.
    assert said in page_of(browser)
    assert '<option value="weather_*">' in page_of(browser)


@pytest.mark.parametrize(
    ("tool", "said"),
    [
        ("Bash", "Did you mean bash?"),
        ("WebFetch", "Did you mean webfetch?"),
        ("write", "Requests for write use the name edit."),
        ("Shell", "There is no tool named Shell. Did you mean bash?"),
        ("webfech", "Did you mean webfetch?"),
        ("nonsense tool", "Choose one from the list"),
    ],
)
def test_a_name_that_no_call_is_asked_for_by_is_refused(
    team: Team, adam: User, client_for: ClientFor, tool: str, said: str
) -> None:
    browser = client_for(adam)
    answer = change(browser, "add", tool=tool, pattern="*", action="deny")
    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert stored(team) is None
    # Written under Advanced, it is told of here.
    team.config = {"permission": {tool: "deny"}}
    team.save()
    assert said in page_of(browser)


def test_a_change_of_somebody_else_is_not_overwritten(
    team: Team, adam: User, client_for: ClientFor
) -> None:
    browser = client_for(adam)
    given = {"act": "add", "tool": "bash", "pattern": "*", "action": "allow"}
    answer = browser.post(f"{URL}/change", {**given, "seen": "0" * 16})
    assert answer.status_code == 422
    assert "Someone else has changed this" in answer.content.decode()
    assert stored(team) is None


@pytest.mark.parametrize("wrong", [{"tool": ""}, {"action": "maybe"}, {"pattern": "x" * 201}])
def test_wrong_rules_are_explained(
    team: Team, adam: User, client_for: ClientFor, wrong: dict[str, str]
) -> None:
    given = {"tool": "bash", "pattern": "*", "action": "ask", **wrong}
    answer = change(client_for(adam), "add", **given)
    assert answer.status_code == 422
    assert "field-errors" in answer.content.decode()
    assert stored(team) is None


def test_a_call_is_tried_by_the_rules_in_force(
    project: Project, adam: User, vera: User, client_for: ClientFor
) -> None:
    browser = client_for(adam)
    change(browser, "add", tool="bash", pattern="git *", action="allow")
    change(browser, "add", tool="bash", pattern="git push*", action="deny")
    query = {"project": project.pk, "agent": "build", "tool": "bash"}
    allowed = page_of(browser, {**query, "text": "git status"})
    assert "Allowed" in allowed
    assert "the settings of the team (bash: git *)" in allowed
    assert "Denied" in page_of(browser, {**query, "text": "git status && git push origin"})
    assert "Asks first" in page_of(browser, {**query, "text": "make"})
    assert "external_directory" in page_of(browser, {**query, "text": "cat /etc/passwd"})
    viewer = page_of(client_for(vera), {**query, "text": "git status"})
    assert "Team members can test the rules here" in viewer
    assert "bash: git *" not in viewer


def test_a_project_of_another_team_cannot_be_tried(
    team: Team, adam: User, client_for: ClientFor
) -> None:
    page = page_of(client_for(adam), {"project": "prj_other", "tool": "bash", "text": "ls"})
    assert "chip-done" not in page


def test_what_was_allowed_for_good_is_revoked(
    project: Project, bob: User, vera: User, client_for: ClientFor
) -> None:
    row = SavedRule.objects.create(
        project=project, permission="bash", pattern="make *", created_at=project.created_at
    )
    url = f"{URL}/saved/{row.pk}/revoke"
    assert "make *" in page_of(client_for(vera))
    assert client_for(vera).post(url).status_code == 403
    assert client_for(bob).post(url)["Location"] == URL
    assert not SavedRule.objects.exists()
    assert client_for(bob).post(url).status_code == 404


@pytest.mark.parametrize("scope", RuleScope)
def test_a_revoked_answer_is_brought_back_by_who_revoked_it_and_only_at_once(
    session: Session,
    alice: User,
    bob: User,
    adam: User,
    client_for: ClientFor,
    scope: RuleScope,
) -> None:
    project, is_of_team = session.project, scope is RuleScope.TEAM
    row = SavedRule.objects.create(
        team=project.team if is_of_team else None,
        project=None if is_of_team else project,
        session=session if scope is RuleScope.SESSION else None,
        permission="bash",
        pattern="make *",
        created_by=bob,
        created_at=session.project.created_at,
    )
    browser = client_for(adam)
    page = browser.post(f"{URL}/saved/{row.pk}/revoke", follow=True).content.decode()
    undo = re.findall(rf'action="({URL}/saved/\d+/restore)"', page)[0]
    assert client_for(bob).post(undo).status_code == 409
    assert not SavedRule.objects.exists()
    assert browser.post(undo)["Location"] == URL
    back = SavedRule.objects.get()
    fields = ("team_id", "project_id", "session_id", "permission", "pattern", "created_by_id")
    assert [getattr(back, name) for name in fields] == [getattr(row, name) for name in fields]
    # Twice is no more than once, and what somebody has revoked since stays so.
    assert browser.post(undo).status_code == 302
    assert SavedRule.objects.count() == 1
    client_for(alice).post(f"{URL}/saved/{SavedRule.objects.get().pk}/revoke")
    assert browser.post(undo).status_code == 409
    assert not SavedRule.objects.exists()
    assert AuditEntry.objects.filter(action="rule.restored").count() == 2


def test_an_undo_of_a_project_page_leads_back_to_it(
    project: Project, bob: User, client_for: ClientFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = SavedRule.objects.create(
        project=project, permission="bash", pattern="make *", created_at=project.created_at
    )
    own = f"/t/acme/p/{project.pk}/"
    browser = client_for(bob)
    page = browser.post(f"{own}rules/{row.pk}/revoke", follow=True).content.decode()
    undo = re.findall(rf'action="({URL}/saved/\d+/restore\?of={project.pk})"', page)[0]
    with monkeypatch.context() as later:
        later.setattr(saved_rules, "_UNDO_FOR", timedelta(0))
        assert browser.post(undo).status_code == 409
    assert browser.post(undo)["Location"] == f"{own}settings"
    assert SavedRule.objects.exists()


def test_what_was_allowed_in_the_whole_team_is_revoked_by_admins(
    project: Project, bob: User, adam: User, client_for: ClientFor
) -> None:
    row = SavedRule.objects.create(
        team=project.team, permission="bash", pattern="make *", created_at=project.created_at
    )
    url = f"{URL}/saved/{row.pk}/revoke"
    assert url not in page_of(client_for(bob))
    assert "All projects of the team" in page_of(client_for(bob))
    assert client_for(bob).post(url).status_code == 403
    own = f"/t/acme/p/{project.pk}/"
    assert "All projects of the team" in client_for(bob).get(f"{own}settings").content.decode()
    assert client_for(adam).post(f"{own}rules/{row.pk}/revoke").status_code == 404
    assert url in page_of(client_for(adam))
    assert client_for(adam).post(url)["Location"] == URL
    assert not SavedRule.objects.exists()


def test_a_member_reads_only(team: Team, bob: User, client_for: ClientFor) -> None:
    team.config = {"permission": {"bash": "deny"}}
    team.save()
    page = page_of(client_for(bob))
    assert "Deny" in page
    assert "Add rule" not in page
    assert client_for(bob).post(f"{URL}/change", {"act": "remove-0"}).status_code == 403


def test_the_page_takes_few_queries(
    project: Project, adam: User, client_for: ClientFor, django_assert_max_num_queries: Any
) -> None:
    for number in range(9):
        SavedRule.objects.create(
            project=project, permission="bash", pattern=str(number), created_at=project.created_at
        )
    browser = client_for(adam)
    browser.get(URL)
    with django_assert_max_num_queries(11):
        browser.get(URL)
