from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import transaction
from django.test import AsyncClient, Client
from pytest_django import DjangoDbBlocker

from opencode_web.lib.db import in_db
from teams.audit import LASTING
from teams.models import SignInPolicy
from tests.architecture.policy_cases import (
    ADMIN,
    CASES,
    MEMBER,
    OUTSIDER,
    OWNER,
    REFUSED,
    Asked,
    Case,
    Stage,
    Who,
    asked_of,
    browser_of,
    kept_out,
    make_policy_world,
    set_stage,
)
from tests.architecture.test_access_matrix import ROWS, World
from tests.architecture.test_audit_doors import recorded_by
from tests.teams.test_page_access import TABLE

# Ids that nothing may name to whoever is refused.
CANARIES = ("session", "project", "child", "pty_id", "schedule", "webhook", "part", "question")
# What an operator has besides a team.
OF_OPERATORS = ("ops/", "instance/", "metrics", "log", "erasure/", "erasures/")


@pytest.fixture(scope="class")
def world(
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[World]:
    """Made once: every request is taken back."""
    with django_db_blocker.unblock(), transaction.atomic():
        yield make_policy_world(tmp_path_factory.mktemp("world") / "shop")
        transaction.set_rollback(True)


# What admins do and members do not, and has an end by itself or takes something away.
OF_NOW = {
    *("checkout.discarded", "invite.revoked", "member.removed", "project.deleted"),
    *(
        "plugin.removed",
        "prompt.cancelled",
        "prompt.changed",
        "provider.deleted",
        "provider.signed_out",
    ),
    *("provider.tested", "repository.trust_withdrawn", "schedule.deleted", "schedule.paused"),
    *("schedule.run", "search.switched_off", "secret.removed", "secret.team_removed"),
    *(
        "group.deleted",
        "group.member_removed",
        "service.deleted",
        "share.revoked",
        "skill.deleted",
        "token.revoked",
        "webhook.deleted",
    ),
    *("webhook.pinged", "webhook.redelivered", "mcp.signed_out"),
    *("integration.deleted", "integration.repeated", "integration.rule_removed", "slack.removed"),
    "searches once; nothing is kept",
    "GitHub, which has to agree, is not there",
    "a sign-in at a provider that has not ended: its end is recorded",
    # Refused by their actions: public links and the tokens of service accounts.
    *("share.created", "token.created"),
    # A route has one line in the table, and this one's action is of another form on the page.
    "team.created",
}


def test_what_admins_set_outlasts_an_emergency_or_is_over_with_it() -> None:
    rows = [
        *((str(row), row.codes) for row in ROWS if row.method != "get"),
        *((f"{page.method} {page.name}", page.codes) for page in TABLE if page.method != "get"),
    ]
    of_admins = {name for name, codes in rows if codes[ADMIN] != 403 == codes[MEMBER]}
    assert {str(recorded_by(name)) for name in of_admins} - LASTING == OF_NOW


def _fault(asked: Asked, case: Case, response: Any, world: World) -> str:
    """Returns: what is wrong with an answer; "" for nothing."""
    code, wanted = response.status_code, case.wanted(asked)
    if code not in wanted:
        return f"{code}, and not {wanted}"
    if response.streaming:
        return ""
    text = response.content.decode(errors="replace")
    if case.wanted is kept_out and code == 302 and 302 not in asked.codes[:OUTSIDER]:
        return "" if response["Location"] == "/me/security" else response["Location"]
    if case.sentence and code == 403 and asked.is_of_team and case.sentence not in text:
        return f"403 without the sentence: {text[:200]}"
    if code == 401 and '"UnauthorizedError"' not in text and not asked.is_page:
        return f"401 without its code: {text[:200]}"
    is_told = code < 400 and not case.sees_work and not asked.is_public
    named = [name for name in CANARIES if is_told and world.names[name] in text]
    return f"it names {named}" if named else ""


def _is_of_operators(asked: Asked) -> bool:
    route = asked.name.partition(" ")[2]
    return route.startswith(OF_OPERATORS) and route != "instance/dispose"


def _ask(client: Client | AsyncClient, asked: Asked, who: Who) -> Any:
    client.cookies[settings.SESSION_COOKIE_NAME] = who.session
    headers = {"authorization": who.header} if who.header else {}
    return getattr(client, asked.method)(asked.path, headers=headers, **asked.body)


# What is refused depends on no database, and each takes a request of everything.
@pytest.mark.any_database
@pytest.mark.deep
@pytest.mark.django_db
class TestEveryRoute:
    @pytest.mark.parametrize("case_of", CASES)
    def test_answers_as_the_policy_says(
        self, case_of: Callable[[Stage], Case], world: World
    ) -> None:
        wrong = {}
        with transaction.atomic():
            case = case_of(set_stage())
            for asked in asked_of(world):
                if asked.is_async or (asked.is_page and not case.has_browser):
                    continue
                if _is_of_operators(asked) or (case.only_writes and asked.method == "get"):
                    continue
                with transaction.atomic():
                    response = _ask(Client(), asked, case.who)
                    fault = _fault(asked, case, response, world)
                    transaction.set_rollback(True)
                if fault:
                    wrong[asked.name] = fault
            transaction.set_rollback(True)
        assert wrong == {}

    def test_does_nothing_with_the_server_for_an_operator_short_of_its_policy(
        self, world: World
    ) -> None:
        wrong = {}
        with transaction.atomic():
            who = browser_of(set_stage().root, {"method": "password"})
            SignInPolicy.objects.create(requires_mfa=True)
            for asked in filter(_is_of_operators, asked_of(world)):
                with transaction.atomic():
                    response = _ask(Client(), asked, who)
                    transaction.set_rollback(True)
                code, is_led = response.status_code, asked.is_page and asked.method == "get"
                if asked.codes[OWNER] == 200:
                    is_right = code == 200
                elif is_led and asked.name != "get metrics":
                    is_right = code == 302 and response["Location"] == "/me/security"
                else:
                    is_right = code == 403
                if not is_right:
                    wrong[asked.name] = code
            transaction.set_rollback(True)
        assert wrong == {}


@pytest.mark.deep
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("case_of", REFUSED)
async def test_every_asynchronous_route_answers_as_the_policy_says(
    case_of: Callable[[Stage], Case], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Who shows a wrong token so often has to wait.
    monkeypatch.setattr("teams.auth.count_attempt", lambda *_, **__: None)

    def begin() -> tuple[World, Case]:
        made = make_policy_world(tmp_path / "shop")
        return made, case_of(set_stage())

    wrong = {}
    world, case = await in_db(begin)
    for asked in asked_of(world):
        if asked.is_async and (case.has_browser or not asked.is_page):
            response = await _ask(AsyncClient(), asked, case.who)
            if fault := _fault(asked, case, response, world):
                wrong[asked.name] = fault
            if response.streaming:
                await response.streaming_content.aclose()
    assert wrong == {}
