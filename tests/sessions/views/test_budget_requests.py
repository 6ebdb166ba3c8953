from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client

from sessions.actions.budget_limits import put_limit
from sessions.events.types import SessionStatus
from sessions.models import Project, Session
from teams.access import access_team
from teams.actions.services import create_service
from teams.budgets import Limit, Scope, load_standings
from teams.models import Budget, BudgetRequest, Period, Role, User
from teams.models import Scope as TokenScope
from tests.factories import make_token, make_usage, make_user
from tests.sessions.story import write

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]
PAGE = "/t/acme/settings/budgets"


def form(whose: str, amount: str, period: str = "day", kind: str = "hard") -> dict[str, str]:
    fields = {"whose": whose, "amount": amount, "period": period, "kind": kind}
    return {f"limit-{name}": value for name, value in fields.items()}


def test_fr_02_budgets_of_projects_members_and_service_accounts_are_set_on_the_page(
    alice: User, bob: User, project: Project, client_for: ClientFor
) -> None:
    robot = create_service(access_team(alice, "acme"), name="Robot", role=Role.MEMBER).user
    browser = client_for(alice)
    make_usage(project.team, bob, project=project.pk, cost=Decimal("1.50"))
    for fields in (
        form(f"project:{project.pk}", "2"),
        form(f"member:{robot.pk}", "3", "week"),
        form("service", "4", "month", "soft"),
        form(f"project:{project.pk}", "2.50"),
    ):
        assert browser.post(f"{PAGE}/limits", fields).status_code == 302
    rows = Budget.objects.order_by("pk").values_list("scope", "period", "is_soft", "amount")
    assert [*rows] == [
        ("project", "day", False, Decimal("2.50")),
        ("member", "week", False, 3),
        ("service", "month", True, 4),
    ]
    page = browser.get(PAGE).content.decode()
    for shown in (f"Project {project.name}", "Robot", "$1.50 of $2.50", "Soft: only notifies"):
        assert shown in page
    mine = client_for(bob).get(PAGE).content.decode().split('id="main"')[-1]
    assert "$1.50 of $2.50" in mine
    assert "Robot" not in mine
    wrong = browser.post(f"{PAGE}/limits", form("project:prj_of_others", "2"))
    assert wrong.status_code == 422
    twice = browser.post(f"{PAGE}/limits", form("team", "2", "month"))
    assert twice.status_code == 422
    assert "Set this budget above, under Limits or Members." in twice.content.decode()
    first = Budget.objects.earliest("pk")
    assert client_for(bob).post(f"{PAGE}/limits/{first.pk}/remove").status_code == 403
    assert browser.post(f"{PAGE}/limits/{first.pk}/remove").status_code == 302
    assert Budget.objects.count() == 2


def test_fr_02_a_budget_of_a_model_is_set_on_the_page_and_shown(
    alice: User, bob: User, project: Project, client_for: ClientFor
) -> None:
    browser = client_for(alice)
    make_usage(project.team, bob, cost=Decimal("1.50"), provider="acme", model="big")
    wanted = {**form("model", "2", "month"), "limit-model": " acme/* "}
    assert browser.post(f"{PAGE}/limits", wanted).status_code == 302
    for user in (alice, bob):
        page = client_for(user).get(PAGE).content.decode()
        assert "Model acme/*" in page
        assert "$1.50 of $2.00" in page
    choices = client_for(bob).get(f"{PAGE}/ask").content.decode()
    assert "Model acme/* · Month · $1.50 of $2.00" in choices
    row = Budget.objects.get()
    removed = browser.post(f"{PAGE}/limits/{row.pk}/remove")
    assert removed.status_code == 302
    nameless = browser.post(f"{PAGE}/limits", form("model", "2"))
    assert "Name a model for the budget of a model" in nameless.content.decode()


def test_fr_02_a_refused_person_asks_for_more_and_the_session_goes_on(
    alice: User,
    bob: User,
    session: Session,
    client_for: ClientFor,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: Any,
) -> None:
    team, access = session.project.team, access_team(alice, "acme")
    put_limit(
        access,
        Limit(Scope.PROJECT, Period.WEEK, project=session.project_id),
        amount=Decimal(2),
    )
    make_usage(team, bob, project=session.project_id, cost=Decimal(2))
    write(session, SessionStatus(state="busy", waits_for="funds", detail="Not enough."))
    members, admins = client_for(bob), client_for(alice)
    page = members.get(f"/t/acme/s/{session.pk}").content.decode()
    url = f"{PAGE}/ask?session={session.pk}"
    assert f'href="{url}"' in page
    budget = Budget.objects.get()
    assert "Project shop · Week · $2.00 of $2.00" in members.get(url).content.decode()
    fields = {"budget": str(budget.pk), "amount": "5", "reason": "<b>Release</b>"}
    assert members.post(url, {**fields, "amount": ""}).status_code == 422
    assert members.post(url, fields).status_code == 302
    assert "Nobody has answered yet" in members.get(url).content.decode()

    for place in ("/t/acme/inbox", "/t/acme/", PAGE):
        shown = admins.get(place).content.decode()
        assert "Bob asks for $5.00 more" in shown
        assert "&lt;b&gt;Release&lt;/b&gt;" in shown
    assert "Bob asks for" not in members.get("/t/acme/inbox").content.decode()
    answer = f"{PAGE}/requests/{BudgetRequest.objects.get().pk}"
    granted = {"act": "grant", "amount": "3", "answer": "Until Monday", "page": "inbox"}
    assert members.post(answer, granted).status_code == 403
    woken: list[str] = []
    monkeypatch.setattr("sessions.wake._send", lambda _task, pk, *_more, **_rest: woken.append(pk))
    with django_capture_on_commit_callbacks(execute=True):
        sent = admins.post(answer, granted)
    assert sent["Location"] == "/t/acme/inbox"
    assert woken == [session.pk]
    team.refresh_from_db()
    assert load_standings(team, bob.pk, session.project_id)[0].limit == 5
    told = members.get(PAGE).content.decode()
    assert "Alice granted $3.00 more" in told
    assert "Until Monday" in told
    assert members.post(f"{answer}/away").status_code == 302
    assert "granted" not in members.get(PAGE).content.decode().split('id="main"')[-1]


def test_more_of_the_servers_budget_is_asked_of_operators(
    bob: User, alice: User, project: Project, client_for: ClientFor
) -> None:
    team, operator = project.team, make_user("op@example.com", operator=True)
    browser, members = client_for(operator), client_for(bob)
    assert browser.post("/ops/budgets", form("", "1", "month")).status_code == 302
    make_usage(team, bob, cost=Decimal(1))
    home = members.get("/t/acme/").content.decode()
    budget = Budget.objects.get(team=None)
    fields = {"budget": str(budget.pk), "amount": "2", "reason": "To go on"}
    assert members.post(f"{PAGE}/ask", fields).status_code == 302
    assert "asks for" not in client_for(alice).get(PAGE).content.decode()
    page = browser.get("/ops/budgets").content.decode()
    assert "Bob asks for $2.00 more" in page
    assert "$1.00 of $1.00" in page
    asked = BudgetRequest.objects.get()
    denied = {"act": "deny", "answer": "Not now"}
    assert client_for(alice).post(f"/ops/budgets/requests/{asked.pk}", denied).status_code == 404
    assert client_for(alice).post(f"{PAGE}/requests/{asked.pk}", denied).status_code == 404
    assert browser.post(f"/ops/budgets/requests/{asked.pk}", denied).status_code == 302
    assert "Not now" in members.get(PAGE).content.decode()
    assert browser.post(f"/ops/budgets/{budget.pk}/remove").status_code == 302
    assert not Budget.objects.exists()
    assert "This server's budget is reached" in home.replace("&#x27;", "'")


def test_requests_and_budgets_of_every_scope_by_rest(
    alice: User, bob: User, project: Project, client_for: ClientFor
) -> None:
    team = project.team
    owner, member = client_for(alice), client_for(bob)

    def send(browser: Client, method: str, path: str, data: Any = None) -> Any:
        answer = getattr(browser, method)(
            f"/{path}?team=acme", data, content_type="application/json"
        )
        assert answer.status_code == 200, answer.content
        return answer.json()

    body = {"scope": "project", "projectID": project.pk, "period": "week", "limit": "2.50"}
    (line,) = send(owner, "put", "budget/limits", body)
    make_usage(team, bob, project=project.pk, cost=Decimal("2.50"))
    (line,) = send(member, "get", "budget/limits")
    assert (line["scope"], line["period"], line["timeZone"]) == ("project", "week", "UTC")
    assert (line["limit"], line["spent"], line["reached"]) == (2.5, 2.5, True)
    more = {"budgetID": line["id"], "amount": 1, "reason": "More", "projectID": project.pk}
    asked = send(member, "post", "budget/requests", more)
    assert [one["id"] for one in send(owner, "get", "budget/requests")] == [asked["id"]]
    done = send(owner, "post", f"budget/requests/{asked['id']}", {"amount": 1, "answer": "Yes"})
    assert (done["status"], done["granted"], done["answeredBy"]) == ("granted", 1, "Alice")
    assert send(member, "get", "budget/limits")[0]["granted"] == 1
    refused = owner.put(
        "/budget/limits?team=acme",
        {"scope": "instance", "limit": 5},
        content_type="application/json",
    )
    assert refused.status_code == 403
    assert send(owner, "delete", f"budget/limits/{line['id']}") is True
    body = {"scope": "model", "model": "demo/*", "period": "day", "limit": 5, "soft": True}
    (line,) = send(owner, "put", "budget/limits", body)
    assert (line["model"], line["spent"], "projectID" in line) == ("demo/*", 2.5, False)
    assert send(member, "get", "budget/limits")[0]["model"] == "demo/*"


def test_the_token_of_an_operator_is_one_teams_and_no_key_to_the_servers_budgets(
    alice: User, bob: User, project: Project, client_for: ClientFor
) -> None:
    User.objects.filter(pk=alice.pk).update(is_superuser=True)
    team = project.team
    _, secret = make_token(alice, team, TokenScope.ADMIN)
    bearer = {"Authorization": f"Bearer {secret}"}
    body = {"scope": "instance", "limit": 5}
    path, signed_in = "/budget/limits", client_for(alice)

    def call(client: Client, method: str, path: str, data: Any = None, **more: Any) -> Any:
        call = getattr(client, method)
        return call(f"{path}?team=acme", data, content_type="application/json", **more)

    assert call(Client(), "put", path, body, headers=bearer).status_code == 403
    assert not Budget.objects.exists()
    (line,) = call(signed_in, "put", path, body).json()
    asked = BudgetRequest.objects.create(
        team=team, asker=bob, budget_id=line["id"], amount=1, start=Period.MONTH.first_day()
    )
    for method, url in (
        ("delete", f"{path}/{line['id']}"),
        ("post", f"/budget/requests/{asked.pk}"),
    ):
        data = {"amount": 1} if method == "post" else None
        assert call(Client(), method, url, data, headers=bearer).status_code in (403, 404)
    assert call(Client(), "get", path, headers=bearer).json() == []
    assert call(Client(), "get", "/budget/requests", headers=bearer).json() == []
    assert call(signed_in, "post", f"/budget/requests/{asked.pk}", {"amount": 1}).status_code == 200
    assert call(signed_in, "delete", f"{path}/{line['id']}").status_code == 200
