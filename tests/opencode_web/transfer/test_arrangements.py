from __future__ import annotations

import io
import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from opencode_web.backup.errors import BackupError
from opencode_web.transfer.load import import_team
from sessions.actions.change_requests import set_approvals
from sessions.actions.holds import hold_named
from sessions.actions.schedule_runs import run_due
from sessions.actions.schedules import ScheduleDraft, create_schedule
from sessions.actions.webhooks import create_webhook
from sessions.models import (
    ChangeKind,
    GitHubApp,
    Integration,
    LinkedAccount,
    Project,
    Schedule,
    Session,
    Webhook,
)
from teams.access import access_team
from teams.actions.holds import release_hold
from teams.actions.identity import set_team_policy
from teams.actions.retention import set_retention
from teams.audit_chain.verify import verify_chain
from teams.models import (
    Budget,
    IdentityProvider,
    IdentityRule,
    Membership,
    RetentionLimit,
    Team,
    User,
)
from teams.retention.days import Days, chosen_days, days_in_force
from tests.factories import make_user
from tests.opencode_web.transfer.archives import Files, export, files_of, gone, pack, say
from tests.sessions.api.conftest import bearer
from tests.sessions.factories import make_project
from tests.sessions.held_changes import at, make_change

pytestmark = pytest.mark.django_db(transaction=True)

PROMPT = "Look at the shop every morning"
HOOK = "https://hooks.example.com/services/one"


@pytest.fixture
def old(
    alice: User, adam: User, bob: User, team: Team, tmp_path: Path, settings: Settings
) -> Project:
    """What the team has set up before it moves. Returns: its project."""
    settings.DATA_DIR, settings.WORKTREES_DIR = tmp_path / "data", tmp_path / "worktrees"
    settings.HOST_NAME = "local"
    project = make_project(team, tmp_path / "shop")
    create_schedule(at(bob, project), ScheduleDraft("Nightly", PROMPT, "30 6 * * *", "Asia/Tokyo"))
    access = access_team(alice, team.pk)
    create_webhook(access, url=HOOK, events=["session.idle"], project=project)
    create_webhook(access, url=f"{HOOK}/audit", events=["audit.entry"])
    for budget in (
        {"scope": "team", "amount": 100},
        {"scope": "project", "project": project.pk, "amount": 40, "is_soft": True},
        {"scope": "member", "user": adam, "amount": 7, "period": "day", "warn_percent": 50},
        {"scope": "member", "user": bob, "amount": 9},
    ):
        Budget.objects.create(team=team, **budget)
    Membership.objects.filter(user=adam).update(is_approver=True)
    set_approvals(access, [ChangeKind.RULES, ChangeKind.MERGE])
    make_change(alice, team)
    return project


def moved(team: Team, tmp_path: Path, change: Callable[[Files], None] = lambda _f: None) -> Path:
    """Returns: the archive of a team that is not on this server any more."""
    team.refresh_from_db()
    files = files_of(export(team, tmp_path / "first.team"))
    gone(team)
    change(files)
    return pack(files, tmp_path / "moved.team")


def changed(change: Callable[[Any], None]) -> Callable[[Files], None]:
    def change_files(files: Files) -> None:
        told = json.loads(files["team.json.gz"])
        change(told)
        files["team.json.gz"] = json.dumps(told).encode()

    return change_files


def test_what_is_not_in_the_archive_is_listed(
    alice: User, team: Team, old: Project, tmp_path: Path
) -> None:
    now = timezone.now()
    for kind, project in (("github", old), ("slack", None)):
        Integration.objects.create(
            id=kind, team=team, project=project, kind=kind, command="/oc", created_at=now
        )
    LinkedAccount.objects.create(team=team, user=alice)
    GitHubApp.objects.create(
        team=team, name="Acme agents", number=7, api_url="https://api.github.com", created_at=now
    )
    for reason in ("Case 4711, of court", "Case 4712, of court"):
        hold = hold_named(
            access_team(alice, team.pk), scope="team", what="", reason=reason, team=team
        )
        if "4711" in reason:
            release_hold(access_team(alice, team.pk), hold.pk)
    identity = IdentityProvider.objects.create(slug="sso", name="SSO")
    IdentityRule.objects.create(provider=identity, claim="groups", value="dev", team=team)
    export(team, tmp_path / "first.team")
    again = json.loads(files_of(tmp_path / "first.team")["team.json.gz"])["again"]
    assert {
        f"github integration of the project {old.name}, with its rules",
        "slack integration of the team, with its rules",
        "GitHub App Acme agents",
        "linked accounts of members",
        "legal hold: Case 4712, of court",
        "roles that identity providers assign",
    } <= set(again)
    assert "legal hold: Case 4711, of court" not in again


def test_what_a_team_has_set_up_comes_along_and_nothing_of_it_runs(
    adam: User, bob: User, team: Team, old: Project, tmp_path: Path
) -> None:
    secrets = [row.secret for row in Webhook.objects.all()]
    path = moved(team, tmp_path)
    files = files_of(path)
    whole = b"".join(files.values())
    assert not any(secret.encode() in whole for secret in secrets)
    assert "pending requests for approval" in json.loads(files["manifest.json"])["left_out"]
    olga, out = make_user("olga@example.com"), io.StringIO()
    bob.delete()
    call_command("team", "import", str(path), owner=olga.email, stdout=out)
    told = out.getvalue()
    assert "1 pending requests for approval" in told
    assert "Left out, a budget of 9.00 USD: Not a member of this team." in told
    made = Team.objects.get(slug="acme")
    client = Client(headers=bearer(adam, made))
    (plan,) = client.get(f"/schedule?project={old.pk}").json()
    assert (plan["prompt"], plan["cron"], plan["timezone"]) == (PROMPT, "30 6 * * *", "Asia/Tokyo")
    assert plan["paused"]
    assert "author" not in plan
    assert "Bob had written it" in plan["pausedReason"]
    where = f"/schedule/{plan['id']}"
    assert client.patch(where, {"paused": False}, "application/json").status_code == 409
    assert client.post(f"{where}/run").json()["state"] == "failed"
    assert run_due() == 0
    assert not Session.objects.exists()
    assert client.patch(where, {"prompt": PROMPT}, "application/json").status_code == 200
    resumed = client.patch(where, {"paused": False}, "application/json").json()
    assert (resumed["paused"], resumed["author"]) == (False, adam.email)
    hooks = client.get("/webhook").json()
    assert [(one["url"], one["events"], one["enabled"]) for one in hooks] == [
        (HOOK, ["session.idle"], False),
        (f"{HOOK}/audit", ["audit.entry"], False),
    ]
    assert [one.get("projectID") for one in hooks] == [old.pk, None]
    assert not {row.secret for row in Webhook.objects.all()} & set(secrets)
    assert client.post(f"/webhook/{hooks[0]['id']}/ping").status_code == 409
    columns = ("scope", "user", "project", "period", "is_soft", "amount", "warn_percent")
    assert list(Budget.objects.filter(team=made).order_by("pk").values_list(*columns)) == [
        ("team", None, "", "month", False, Decimal(100), 80),
        ("project", None, old.pk, "month", True, Decimal(40), 80),
        ("member", adam.pk, "", "day", False, Decimal(7), 50),
    ]
    made.refresh_from_db()
    assert made.has_budgets
    assert made.needs_approval == ["merge", "rules"]
    approvers = Membership.objects.filter(team=made, is_approver=True)
    assert [row.user for row in approvers] == [adam]
    assert verify_chain(made.pk).problem == ""


def test_an_archive_of_before_still_imports(
    alice: User, team: Team, old: Project, tmp_path: Path
) -> None:
    def as_before(files: Files) -> None:
        told = json.loads(files["team.json.gz"])
        del told["arrangements"], told["outputs"], told["writers"]
        del files["outputs.tar.gz"]
        for person in told["people"]:
            del person["is_approver"]
        files["team.json.gz"] = json.dumps(told).encode()
        manifest = json.loads(files["manifest.json"])
        del manifest["left_out"]
        files["manifest.json"] = json.dumps({**manifest, "format": 2}).encode()

    made = import_team(moved(team, tmp_path, as_before), owner=alice, say=say)
    assert (made.left, made.team.needs_approval) == ([], [])
    assert not Schedule.objects.exists()
    assert not Webhook.objects.exists()


def test_retention_and_what_sign_ins_must_have_come_along_as_far_as_they_can_hold(
    alice: User, team: Team, old: Project, tmp_path: Path
) -> None:
    access = access_team(alice, team.pk)
    set_retention(access, Days(sessions=90, audit=400))
    corp = IdentityProvider.objects.create(slug="corp", name="Corp", kind="oidc")
    set_team_policy(access, mfa=True, sso=True, provider="corp")
    path = moved(team, tmp_path)
    made = import_team(path, owner=alice, say=say)
    assert chosen_days(made.team) == Days(sessions=90, audit=400)
    made.team.refresh_from_db()
    assert (made.team.requires_mfa, made.team.requires_sso) == (True, True)
    assert (made.team.sso_provider, made.left) == ("corp", [])

    gone(made.team)
    corp.delete()
    RetentionLimit.objects.create(session_days=30)
    made = import_team(path, owner=alice, say=say)
    made.team.refresh_from_db()
    assert (made.team.requires_mfa, made.team.requires_sso) == (True, False)
    assert [one.split(":")[0] for one in made.left] == ["retention", "required single sign-on"]
    assert days_in_force(made.team).sessions == 30


def test_approvals_that_nobody_could_give_do_not_lock_the_owner_out(
    adam: User, bob: User, alice: User, team: Team, old: Project, tmp_path: Path
) -> None:
    path = moved(team, tmp_path)
    olga = make_user("olga@example.com")
    for person in (adam, bob, alice):
        person.delete()
    made = import_team(path, owner=olga, say=say)
    assert made.team.needs_approval == []
    assert [line.split(":")[0] for line in made.left] == [
        "a budget of 7.00 USD",
        "a budget of 9.00 USD",
        "an approval",
        "an approval",
    ]


def test_nobody_gains_by_what_a_hostile_archive_sets_up(
    alice: User, charlie: User, team: Team, old: Project, tmp_path: Path
) -> None:
    theirs = make_project(Team.objects.get(slug="globex"), tmp_path / "theirs")
    good = files_of(export(team, tmp_path / "good.team"))
    gone(team)

    def attempt(change: Callable[[Any], None]) -> str:
        files = dict(good)
        changed(lambda told: change(told["arrangements"]))(files)
        with pytest.raises(BackupError) as refused:
            import_team(pack(files, tmp_path / "bad.team"), owner=alice, say=say)
        assert not Team.objects.filter(slug="acme").exists()
        return str(refused.value)

    def whole_server(told: Any) -> None:
        told["budgets"][0]["scope"] = "instance"

    why = {
        "project of others": attempt(lambda told: told["schedules"][0].update(project=theirs.pk)),
        "hook of others": attempt(lambda told: told["webhooks"][0].update(project=theirs.pk)),
        "budget of others": attempt(lambda told: told["budgets"][1].update(project=theirs.pk)),
        "whole server": attempt(whole_server),
        "below zero": attempt(lambda told: told["budgets"][0].update(amount="-1")),
        "unknown key": attempt(lambda told: told["schedules"][0].update(author_id=alice.pk)),
        "own secret": attempt(lambda told: told["webhooks"][0].update(secret="whsec_mine")),
        "every second": attempt(lambda told: told["schedules"][0].update(cron="* * * * *")),
        "unknown kind": attempt(lambda told: told.update(needs_approval=["zebra"])),
        "too many": attempt(lambda told: told.update(webhooks=told["webhooks"] * 20)),
    }
    assert all("project that is not in it" in why[one] for one in why if "of others" in one)

    def soft(told: Any) -> None:
        told["people"].append(
            {"id": 10**6, "email": charlie.email, "name": "x", "role": None, "is_approver": True}
        )
        told["arrangements"]["budgets"] = [{**told["arrangements"]["budgets"][3], "person": 10**6}]
        told["arrangements"]["webhooks"] = [
            {"url": "http://169.254.169.254/", "events": ["session.idle"], "project": ""},
            {"url": HOOK, "events": ["zebra"], "project": ""},
        ]

    files = dict(good)
    changed(soft)(files)
    made = import_team(pack(files, tmp_path / "soft.team"), owner=alice, say=say)
    assert len(made.left) == 3
    assert not Webhook.objects.exists()
    assert not Membership.objects.filter(user=charlie, team=made.team).exists()
    assert not Membership.objects.filter(user=charlie, is_approver=True).exists()
