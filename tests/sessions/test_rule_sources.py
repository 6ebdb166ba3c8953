from __future__ import annotations

import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from opencode_web.diagnosis import diagnose
from sessions.models import Project, RuleSource, SavedRule, Session
from sessions.rules.in_force import session_setup
from teams.models import Team, User
from tools.permissions.rules import Action, Level, Subject, judge

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]
BROKEN: Any = {"permission": {"bash": "maybe"}}
Breaks = Callable[[], object]


def act(
    session: Session, text: str = "rm x", permission: str = "bash", agent: str = "build"
) -> Any:
    # A process that has just started knows nothing.
    cache.clear()
    fresh = Session.objects.get(pk=session.pk)
    rules = session_setup(fresh, agent)
    return judge(permission, [Subject(text)], rules.ruleset).action


def problems(session: Session) -> tuple[str, ...]:
    return session_setup(Session.objects.get(pk=session.pk), "build").problems


def save(row: Team | Project, config: Any) -> None:
    row.config = config
    row.save()


def test_a_project_only_tightens_what_its_team_says(session: Session, project: Project) -> None:
    save(project.team, {"permission": {"bash": {"*": "allow", "git *": "ask", "rm *": "deny"}}})
    save(project, {"permission": {"bash": {"*": "allow", "ls *": "deny"}}})
    assert act(session, "rm x") is Action.DENY
    assert act(session, "git log") is Action.ASK
    assert act(session, "ls") is Action.DENY
    assert act(session, "make") is Action.ALLOW


def test_the_same_key_in_a_project_does_not_take_the_place_of_its_teams(
    session: Session, project: Project
) -> None:
    save(project.team, {"agent": {"build": {"permission": {"bash": {"rm *": "deny"}}}}})
    save(project, {"agent": {"build": {"permission": {"bash": {"rm *": "allow"}}}}})
    assert act(session) is Action.DENY
    assert act(session, agent="general") is Action.ASK


@pytest.mark.parametrize(
    "given",
    [
        '{"bash": {"rm *": "deny"}, "edit": "ask"}',
        '{\n  // as the auditors want it\n  "bash": {"rm *": "deny"},\n  "edit": "ask",\n}',
    ],
)
@pytest.mark.parametrize("inline", [True, False])
def test_the_server_has_rules_that_nobody_loosens(
    session: Session, project: Project, settings: Any, tmp_path: Path, given: str, inline: bool
) -> None:
    (tmp_path / "rules.jsonc").write_text(given)
    settings.PERMISSION_RULES = given if inline else str(tmp_path / "rules.jsonc")
    save(project.team, {"permission": "allow"})
    save(project, {"permission": "allow"})
    assert act(session) is Action.DENY
    assert act(session, "a.py", "edit") is Action.ASK
    assert act(session, "ls") is Action.ALLOW


def test_one_word_is_a_rule_for_everything(session: Session, settings: Any) -> None:
    settings.PERMISSION_RULES = "ask"
    assert act(session, "a.py", "read") is Action.ASK


def _break_instance(session: Session, settings: Any, tmp_path: Path, good: Any) -> Breaks:
    file = tmp_path / "rules.json"
    settings.PERMISSION_RULES = str(file)
    file.write_text(json.dumps(good["permission"]))
    return lambda: file.write_text("{nonsense")


def _break_team(session: Session, settings: Any, tmp_path: Path, good: Any) -> Breaks:
    save(session.project.team, good)
    return lambda: save(session.project.team, BROKEN)


def _break_project(session: Session, settings: Any, tmp_path: Path, good: Any) -> Breaks:
    save(session.project, good)
    return lambda: save(session.project, {"tools": {"bash": "no"}})


def _break_repository(session: Session, settings: Any, tmp_path: Path, good: Any) -> Breaks:
    file = Path(session.directory) / "opencode.json"
    file.write_text(json.dumps(good))
    return lambda: file.write_text('{"permission": ')


BREAKERS = [_break_instance, _break_team, _break_project, _break_repository]


@pytest.mark.parametrize("breaker", BREAKERS)
def test_the_last_rules_that_could_be_read_stay_in_force(
    session: Session, settings: Any, tmp_path: Path, breaker: Any, caplog: Any
) -> None:
    break_it = breaker(session, settings, tmp_path, {"permission": {"bash": {"rm *": "deny"}}})
    assert act(session) is Action.DENY
    assert problems(session) == ()
    break_it()
    with caplog.at_level(logging.ERROR, logger="sessions.rules.sources"):
        assert act(session) is Action.DENY
        assert act(session, "ls") is Action.ASK
        assert act(session, "a.py", "read") is Action.ALLOW
    assert len([one for one in caplog.records if one.name == "sessions.rules.sources"]) == 1
    (problem,) = problems(session)
    assert "the last ones that could be read hold" in problem
    assert str(tmp_path) not in problem


@pytest.mark.parametrize("breaker", BREAKERS)
def test_without_any_that_could_be_read_everything_is_asked_for(
    session: Session, settings: Any, tmp_path: Path, breaker: Any
) -> None:
    breaker(session, settings, tmp_path, {"permission": {}})()
    SavedRule.objects.create(
        project=session.project, permission="bash", pattern="*", created_at=timezone.now()
    )
    assert act(session) is Action.ASK
    assert act(session, "a.py", "read") is Action.ASK
    assert act(session, "x", "plan_exit") is Action.DENY
    (problem,) = problems(session)
    assert "everything is asked for" in problem


def test_rules_that_are_mended_count_again(session: Session, project: Project) -> None:
    save(project, {"permission": {"bash": {"rm *": "deny"}}})
    assert act(session) is Action.DENY
    save(project, BROKEN)
    assert act(session) is Action.DENY
    save(project, {"permission": {"bash": {"rm *": "allow"}}})
    assert act(session) is Action.ALLOW
    assert problems(session) == ()
    assert RuleSource.objects.get(key=f"project:{project.pk}").problem == ""


def test_a_session_whose_rules_are_broken_asks_and_keeps_what_it_denies(session: Session) -> None:
    session.permission = [
        {"permission": "edit", "pattern": "*", "action": "deny"},
        {"permission": "bash", "pattern": "*", "action": "perhaps"},
    ]
    session.save()
    assert act(session, "a.py", "edit") is Action.DENY
    assert act(session, "a.py", "read") is Action.ASK
    assert "this session" in problems(session)[0]


def test_a_repository_tightens_and_never_loosens(session: Session) -> None:
    root = Path(session.directory)
    (root / ".opencode").mkdir()
    (root / "opencode.json").write_text('{"permission": "deny", "agent": {"plan": {"tools": {}}}}')
    assert act(session) is Action.DENY
    (root / "opencode.json").write_text('{"permission": {"bash": "allow", "read": "ask"}}')
    (root / ".opencode" / "opencode.jsonc").write_text(
        '{"agent": {"plan": {"permission": {"bash": {"rm *": "deny"}, "edit": "allow"}}},}'
    )
    assert act(session) is Action.ASK
    assert act(session, "a.py", "read") is Action.ASK
    assert act(session, agent="plan") is Action.DENY
    assert act(session, "a.py", "edit", agent="plan") is Action.DENY


def test_what_two_files_of_a_repository_deny_is_denied(session: Session) -> None:
    root = Path(session.directory)
    (root / "opencode.json").write_text('{"permission": {"bash": {"rm *": "deny"}}}')
    (root / "opencode.jsonc").write_text('{"permission": {"bash": {"ls": "deny"}}}')
    assert [act(session, one) for one in ("rm x", "ls")] == [Action.DENY, Action.DENY]


@pytest.mark.parametrize("kind", ["link", "large", "folder", "list"])
def test_a_hostile_file_of_a_repository_is_broken_and_no_more(
    session: Session, tmp_path: Path, kind: str
) -> None:
    file = Path(session.directory) / "opencode.json"
    if kind == "link":
        (tmp_path / "outside.json").write_text('{"secret": "sesame"}')
        file.symlink_to(tmp_path / "outside.json")
    elif kind == "folder":
        file.mkdir()
    else:
        file.write_text("[]" if kind == "list" else '{"a": "' + "x" * 300_000 + '"}')
    assert act(session) is Action.ASK
    (problem,) = problems(session)
    assert "opencode.json" in problem
    assert "sesame" not in problem


def test_a_link_within_the_repository_is_followed(session: Session) -> None:
    root = Path(session.directory)
    (root / "real.json").write_text('{"permission": {"bash": "deny"}}')
    (root / "opencode.json").symlink_to("real.json")
    assert act(session) is Action.DENY


def test_doctor_names_rules_that_cannot_be_read(session: Session, project: Project) -> None:
    (finding,) = [one for one in diagnose() if one.name == "rules"]
    assert finding.ok
    save(project, BROKEN)
    (finding,) = [one for one in diagnose() if one.name == "rules"]
    assert not finding.ok
    assert (
        f"{project.team.slug}/{project.name}: The permission rules of the project" in finding.detail
    )


def test_the_settings_pages_say_it(
    alice: User, session: Session, project: Project, client_for: Callable[[User], Client]
) -> None:
    client = client_for(alice)
    team = project.team.slug
    pages = [
        reverse("sessions:team_config", kwargs={"team": team}),
        reverse("sessions:project_settings", kwargs={"team": team, "project": project.pk}),
    ]
    assert all("cannot be read" not in client.get(page).content.decode() for page in pages)
    save(project.team, BROKEN)
    for page in pages:
        assert (
            "The permission rules of the team cannot be read" in client.get(page).content.decode()
        )


def test_the_level_of_a_rule_is_that_of_its_settings(session: Session, project: Project) -> None:
    save(project.team, {"permission": {"x": "ask"}})
    save(project, {"agent": {"build": {"permission": {"x": "ask"}}}})
    found = {
        (rule.level, rule.for_agent)
        for rule in session_setup(Session.objects.get(pk=session.pk), "build").ruleset
        if rule.permission == "x"
    }
    assert found == {(Level.TEAM, False), (Level.PROJECT, True)}
