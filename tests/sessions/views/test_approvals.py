from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from html import unescape

import pytest
from django.test import Client

from sessions.actions.change_requests import set_approvals
from sessions.actions.settings import update_team_settings
from sessions.models import ChangeKind, ChangeRequest, Project, ProjectSecret
from teams.access import access_team
from teams.models import Membership, Role, Team, User
from tests.sessions.held_changes import KINDS

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]
PAGE = "/t/acme/settings/approvals"
VALUE = "canary-of-a-held-secret"


@pytest.fixture
def held(team: Team, alice: User, adam: User) -> Team:
    set_approvals(access_team(alice, team.slug), KINDS)
    return team


def read(client: Client, address: str = PAGE) -> str:
    answer = client.get(address)
    assert answer.status_code == 200
    return " ".join(unescape(answer.content.decode()).split())


def test_a_change_on_a_page_becomes_a_request_that_others_decide(
    client_for: ClientFor, held: Team, project: Project, alice: User, adam: User, bob: User
) -> None:
    secrets = f"/t/acme/p/{project.pk}/secrets"
    asker, owner = client_for(adam), client_for(alice)
    sent = asker.post(secrets, {"name": "KEY", "value": VALUE}, follow=True)
    assert sent.redirect_chain == [(PAGE, 302)]
    page = " ".join(unescape(sent.content.decode()).split())
    assert "A second person must approve this. Your request is sent" in page
    assert f"Add the secret KEY to the project {project.name}" in page
    assert "Alice can decide." in page
    assert "Withdraw" in page
    assert ">Approve<" not in page
    row = ChangeRequest.objects.get()
    change = f"{PAGE}/{row.pk}"
    asker.post(change, {"act": "explain", "reason": "For the <b>release</b>"})

    for address in (PAGE, "/t/acme/inbox", "/t/acme/"):
        shown = read(owner, address)
        assert "Add the secret KEY" in shown
        assert ">Approve<" in shown
        assert "Adam" in shown
    assert "Withdraw" in read(asker, "/t/acme/inbox")
    assert f'id="row-{row.pk}"' in read(owner, "/t/acme/rail")
    assert f'id="row-{row.pk}"' not in read(asker, "/t/acme/rail")
    assert "For the <b>release</b>" in read(owner)
    assert "&lt;b&gt;release" in owner.get(PAGE).content.decode()
    assert "Add the secret KEY" not in read(client_for(bob))
    assert client_for(bob).post(change, {"act": "approve"}).status_code == 404
    assert asker.post(change, {"act": "approve"}).status_code == 403

    done = owner.post(change, {"act": "approve", "note": "OK", "page": "inbox"}, follow=True)
    assert done.redirect_chain == [("/t/acme/inbox", 302)]
    assert "Approved. The change is made." in done.content.decode()
    assert ProjectSecret.objects.get().updated_by == adam
    assert "Approved · Alice · OK" in read(asker, "/t/acme/inbox")
    ChangeRequest.objects.update(decided_at=row.created_at - timedelta(days=1))
    assert "Approved · Alice · OK" not in read(asker, "/t/acme/inbox")
    past = read(asker)
    assert "Approved · Alice · OK" in past
    assert VALUE not in past
    assert owner.post(change, {"act": "approve"}).status_code == 409
    assert "change_requests" not in read(owner, "/t/acme/inbox")


def test_a_request_that_nobody_can_decide_any_more_says_what_to_do(
    client_for: ClientFor, held: Team, project: Project, alice: User, adam: User
) -> None:
    asker = client_for(adam)
    asker.post(f"/t/acme/p/{project.pk}/secrets", {"name": "KEY", "value": VALUE})
    assert "Alice can decide." in read(asker)
    User.objects.filter(pk=alice.pk).update(is_active=False)
    page = read(asker)
    assert "An owner has to name another approver with the role admin, or invite one." in page
    assert "an operator can make a member the owner" in page


def test_a_page_that_htmx_asks_goes_to_the_request(
    client_for: ClientFor, held: Team, project: Project, adam: User
) -> None:
    client = client_for(adam)
    client.post(f"/t/acme/p/{project.pk}/secrets", {"name": "KEY", "value": VALUE})
    ChangeRequest.objects.all().delete()
    answer = client.post(
        f"/t/acme/p/{project.pk}/secrets",
        {"name": "KEY", "value": VALUE},
        headers={"HX-Request": "true"},
    )
    assert answer["HX-Redirect"] == PAGE
    assert ChangeRequest.objects.count() == 1


def test_what_is_different_afterwards_is_shown(
    client_for: ClientFor, team: Team, alice: User, adam: User, bob: User, bill: User
) -> None:
    asker, owner = client_for(adam), client_for(alice)
    update_team_settings(access_team(alice, "acme"), {"permission": {"bash": {"ls *": "allow"}}})
    budgets = "/t/acme/settings/budgets"
    one = {"limit-period": "day", "limit-kind": "hard", "limit-whose": f"member:{bob.pk}"}
    asker.post(f"{budgets}/limits", {**one, "limit-amount": "5"})
    set_approvals(access_team(alice, "acme"), KINDS)

    asker.post(f"{budgets}/limits", {**one, "limit-amount": "7.50"})
    shown = read(owner)
    assert "Bob · Day" in shown
    assert "$5.00 → $7.50" in shown
    assert "Bob" in read(client_for(bill))
    asker.post(
        "/t/acme/settings/permissions/change",
        {"act": "set-0", "action-0": "deny", "seen": _seen(asker)},
    )
    shown = read(owner)
    assert "- bash ls * → allow + bash ls * → deny" in shown
    assert "permission rules" not in read(client_for(bill))


def _seen(client: Client) -> str:
    page = client.get("/t/acme/settings/permissions").content.decode()
    return page.partition('name="seen" value="')[2].partition('"')[0]


def test_owners_choose_what_needs_an_approval(
    client_for: ClientFor, team: Team, alice: User, adam: User
) -> None:
    owner = client_for(alice)
    assert owner.post(PAGE, {"secrets": "on", "rules": "on"}).status_code == 302
    team.refresh_from_db()
    assert team.needs_approval == ["secrets", "rules"]
    refused = owner.post(PAGE, {"rules": "on"}, follow=True)
    assert refused.redirect_chain == [(PAGE, 302)]
    assert "Approvals: nobody else in the team could approve this" in unescape(
        refused.content.decode()
    )
    by_script = owner.post(PAGE, {"rules": "on"}, headers={"HX-Request": "true"})
    assert by_script.status_code == 409
    assert 'name="secrets"' in read(client_for(adam))
    assert client_for(adam).post(PAGE, {}).status_code == 403
    team.refresh_from_db()
    assert team.needs_approval == ["secrets", "rules"]
    assert ChangeKind.POLICY not in team.needs_approval


def test_who_has_no_inbox_finds_what_they_decide_on_the_usage_page(
    client_for: ClientFor, held: Team, adam: User, bob: User, vera: User
) -> None:
    Membership.objects.filter(user=vera).update(role=Role.BILLING)
    budgets = "/t/acme/settings/budgets"
    client_for(vera).post(budgets, {"team": "5"})
    sent = client_for(adam).post(budgets, {"team": "50"}, follow=True)
    assert sent.redirect_chain == [(PAGE, 302)]
    shown = read(client_for(vera), "/t/acme/usage")
    assert "Changes to approve" in shown
    assert ">Approve<" in shown
    for person in (adam, bob):
        assert "Changes to approve" not in read(client_for(person), "/t/acme/usage")
    row = ChangeRequest.objects.get()
    done = client_for(vera).post(f"{PAGE}/{row.pk}", {"act": "approve"}, follow=True)
    assert "Approved. The change is made." in done.content.decode()
