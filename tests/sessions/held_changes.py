from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal

import pytest
from django.db.models import QuerySet
from django.utils import timezone

from opencode_web.lib.crypto import decrypt
from opencode_web.lib.ids import new_id
from opencode_web.lib.json import JsonObject
from providers import actions
from providers.models import ProviderConfig
from sessions.access import ProjectAccess, access_project
from sessions.actions.budget_limits import put_limit, remove_limit
from sessions.actions.budgets import set_budgets
from sessions.actions.change_requests import (
    request_change,
)
from sessions.actions.secrets import remove_secret, set_secret
from sessions.actions.settings import update_project_settings, update_team_settings
from sessions.actions.team_items import mark_of, put_team_item
from sessions.actions.team_secrets import remove_team_secret, set_team_secret
from sessions.approvals.hold import NeedsApproval
from sessions.models import ChangeKind, ChangeRequest, Project, ProjectSecret, TeamSecret
from teams.access import TeamAccess, access_team
from teams.auth import authenticate_user
from teams.budgets import Limit, Scope
from teams.models import Budget, Period, Role, Team, User
from tests.providers.factories import make_openai

VALUE = "canary-of-a-held-secret"
NEWER = "another-canary-of-a-secret"
Status = ChangeRequest.Status
KINDS = [one for one in ChangeKind if one is not ChangeKind.POLICY]
HARD = Limit(Scope.TEAM, Period.MONTH)


def of(user: User, team: Team) -> TeamAccess:
    return access_team(user, team.slug, need=None)


def at(user: User, project: Project) -> ProjectAccess:
    return access_project(authenticate_user(user), project.pk)


def ask(act: Callable[[], object]) -> ChangeRequest:
    with pytest.raises(NeedsApproval) as held:
        act()
    return request_change(held.value)


def make_change(asker: User, team: Team) -> ChangeRequest:
    """A request that takes an admin, and nobody has decided in time."""
    return ChangeRequest.objects.create(
        id=new_id("chg"),
        team=team,
        asker=asker,
        kind=ChangeKind.SECRETS,
        what="team_secret.set",
        need=Role.ADMIN,
        told={"name": "KEY", "new": True},
        expires_at=timezone.now() - timedelta(days=1),
    )


@dataclass(frozen=True)
class Case:
    """`act` is what somebody does, `before` makes what it changes, `is_made` whether it is done."""

    what: str
    act: Callable[[User, Project], object]
    is_made: Callable[[Project], bool]
    before: Callable[[User, Project], object] = lambda user, project: None


def budgets(user: User, project: Project, team: str | None, *, unpriced: bool = False) -> bool:
    return set_budgets(
        of(user, project.team),
        team=None if team is None else Decimal(team),
        each=None,
        members={},
        session=None,
        allows_unpriced=unpriced,
    )


def limit_is(project: Project, amount: int | None) -> bool:
    row = Budget.objects.filter(team=project.team, scope=Scope.TEAM).first()
    return (row.amount if row else None) == amount


def secret_is(project: Project, value: str) -> bool:
    return any(decrypt(row.value) == value for row in ProjectSecret.objects.all())


def team_secret_is(project: Project, value: str, *, everywhere: bool = True) -> bool:
    rows = TeamSecret.objects.filter(everywhere=everywhere)
    return any(decrypt(row.value) == value for row in rows)


def set_own(user: User, project: Project) -> object:
    return set_secret(at(user, project), name="KEY", value=VALUE)


def set_shared(user: User, project: Project) -> object:
    return set_team_secret(of(user, project.team), name="KEY", value=VALUE)


def limit(user: User, project: Project) -> object:
    return put_limit(of(user, project.team), HARD, amount=Decimal(10))


def priced(into: float, out: float) -> JsonObject:
    """Settings that price a model, of which the catalog says 1.25 and 10."""
    return {"provider": {"openai": {"models": {"gpt-5": {"cost": {"input": into, "output": out}}}}}}


def accounts() -> QuerySet[ProviderConfig]:
    return ProviderConfig.objects.filter(provider_id="openai")


def price_account(user: User, project: Project, into: float) -> object:
    """Say on the page of an account what a model costs, of which the catalog says 1.25."""
    row = accounts().first() or make_openai(project.team)
    override: JsonObject = {"cost": {"input": into, "output": 10}}
    return actions.describe_model(row, "gpt-5", actor=user, override=override)


def config_has(project: Project, rules: object) -> bool:
    return bool(Team.objects.get(pk=project.team_id).config.get("permission") == rules)


RULES = {"bash": {"*": "allow", "git *": "ask"}}
CASES = [
    Case("secret.set", set_own, lambda project: secret_is(project, VALUE)),
    Case(
        "secret.set",
        lambda user, project: set_secret(at(user, project), name="KEY", value=NEWER),
        lambda project: secret_is(project, NEWER),
        set_own,
    ),
    Case(
        "secret.remove",
        lambda user, project: remove_secret(
            at(user, project), secret=ProjectSecret.objects.get().pk
        ),
        lambda project: not ProjectSecret.objects.exists(),
        set_own,
    ),
    Case("team_secret.set", set_shared, lambda project: team_secret_is(project, VALUE)),
    Case(
        "team_secret.set",
        lambda user, project: set_team_secret(
            of(user, project.team), name="KEY", value=VALUE, projects=[project.pk]
        ),
        lambda project: team_secret_is(project, VALUE, everywhere=False),
        set_shared,
    ),
    Case(
        "team_secret.remove",
        lambda user, project: remove_team_secret(
            of(user, project.team), secret=TeamSecret.objects.get().pk
        ),
        lambda project: not TeamSecret.objects.exists(),
        set_shared,
    ),
    Case(
        "rules.team",
        lambda user, project: put_team_item(
            of(user, project.team), ("permission",), RULES, seen=mark_of(None)
        ),
        lambda project: config_has(project, RULES),
    ),
    Case(
        "rules.team",
        lambda user, project: update_team_settings(
            of(user, project.team), {"agent": {"build": {"permission": {"bash": "allow"}}}}
        ),
        lambda project: "agent" in Team.objects.get(pk=project.team_id).config,
    ),
    Case(
        "rules.project",
        lambda user, project: update_project_settings(at(user, project), {"permission": RULES}),
        lambda project: Project.objects.get(pk=project.pk).config == {"permission": RULES},
    ),
    Case(
        "limits.team",
        lambda user, project: update_team_settings(
            of(user, project.team), {"limits": {"session_cost": 5}}
        ),
        lambda project: "5" in json.dumps(Team.objects.get(pk=project.team_id).config),
        lambda user, project: update_team_settings(
            of(user, project.team), {"limits": {"session_cost": 2}}
        ),
    ),
    Case(
        "limits.project",
        lambda user, project: update_project_settings(
            at(user, project), {"limits": {"models": ["openai/*"], "turn_cost": None}}
        ),
        lambda project: (
            Project.objects.get(pk=project.pk).config == {"limits": {"models": ["openai/*"]}}
        ),
        lambda user, project: update_project_settings(
            at(user, project), {"limits": {"models": ["openai/gpt-5-mini"], "turn_cost": 1}}
        ),
    ),
    Case(
        "prices.team",
        lambda user, project: update_team_settings(of(user, project.team), priced(0, 0)),
        lambda project: Team.objects.get(pk=project.team_id).config == priced(0, 0),
        lambda user, project: update_team_settings(of(user, project.team), priced(3, 15)),
    ),
    Case(
        "prices.project",
        lambda user, project: update_project_settings(at(user, project), priced(1, 20)),
        lambda project: Project.objects.get(pk=project.pk).config == priced(1, 20),
    ),
    Case(
        "prices.account",
        lambda user, project: price_account(user, project, 1),
        lambda project: accounts().filter(**{"picked__gpt-5__cost__input": 1}).exists(),
        lambda user, project: price_account(user, project, 3),
    ),
    Case(
        "account.delete",
        lambda user, project: actions.delete_provider(accounts().get(), actor=user),
        lambda project: not accounts().exists(),
        lambda user, project: price_account(user, project, 3),
    ),
    Case(
        "budgets.set",
        lambda user, project: budgets(user, project, "20"),
        lambda project: limit_is(project, 20),
        lambda user, project: budgets(user, project, "10"),
    ),
    Case(
        "budgets.set",
        lambda user, project: budgets(user, project, None, unpriced=True),
        lambda project: Team.objects.get(pk=project.team_id).allows_unpriced_models,
    ),
    Case(
        "budget.set",
        lambda user, project: put_limit(of(user, project.team), HARD, amount=Decimal(20)),
        lambda project: limit_is(project, 20),
        limit,
    ),
    Case(
        "budget.set",
        lambda user, project: remove_limit(
            of(user, project.team), Budget.objects.get(team=project.team).pk
        ),
        lambda project: limit_is(project, None),
        limit,
    ),
]
IDS = [f"{number}-{one.what}" for number, one in enumerate(CASES)]
