from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import pytest
from django.test import Client
from django.utils import timezone

from providers.models import ProviderConfig
from sessions.models import Project, Session, SessionInput
from teams.models import Team, User

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]
HTMX = {"HX-Request": "true"}


def block_of(html: str) -> str:
    return html.split('id="block"')[1].split("</div>")[0]


def send_of(html: str) -> str:
    return html.split('class="send"')[1].split("</span>\n")[0]


def test_an_archived_session_takes_no_message_until_it_is_back(
    alice: User, session: Session, client_for: ClientFor
) -> None:
    url, browser = f"/t/acme/s/{session.pk}", client_for(alice)
    free = browser.get(url).content.decode()
    assert " hidden>" in block_of(free)
    assert "disabled" not in send_of(free)
    Session.objects.filter(pk=session.pk).update(archived_at=timezone.now())
    page = browser.get(url).content.decode()
    assert "Unarchive it to send messages." in block_of(page)
    assert f'action="{url}/archive"' in block_of(page)
    assert "disabled" in send_of(page)
    for headers in (HTMX, {}):
        refused = browser.post(f"{url}/prompt", {"text": "Keep <this>"}, headers=headers)
        assert refused.status_code == 422
        assert "Keep &lt;this&gt;</textarea>" in refused.content.decode()
    assert not SessionInput.objects.exists()
    browser.post(f"{url}/archive", {"archived": "0"})
    assert browser.post(f"{url}/prompt", {"text": "Go on"}, headers=HTMX).status_code == 204


@pytest.mark.parametrize(("status", "said"), [("failed", "are missing"), ("preparing", "prepared")])
def test_a_project_without_its_files_takes_none(
    status: str, said: str, alice: User, project: Project, session: Session, client_for: ClientFor
) -> None:
    Project.objects.filter(pk=project.pk).update(status=status)
    url, browser = f"/t/acme/s/{session.pk}", client_for(alice)
    page = browser.get(url).content.decode()
    assert said in block_of(page)
    assert f'href="/t/acme/p/{project.pk}/"' in block_of(page)
    assert "disabled" in send_of(page)
    answer = browser.post(f"{url}/prompt", {"text": "Mend it"}, headers=HTMX)
    assert (answer.status_code, SessionInput.objects.count()) == (422, 0)


def test_a_reached_cost_limit_is_said_and_does_not_lose_the_message(
    alice: User, project: Project, session: Session, client_for: ClientFor
) -> None:
    project.config = {"limits": {"session_cost": "0.50"}}
    project.save()
    url, browser = f"/t/acme/s/{session.pk}", client_for(alice)
    assert " hidden>" in block_of(browser.get(url).content.decode())
    Session.objects.filter(pk=session.pk).update(cost=Decimal("0.50"))
    page = browser.get(url).content.decode()
    assert "This session has reached its cost limit of $0.50." in block_of(page)
    assert "disabled" not in send_of(page)
    # It is taken, and waits for an admin.
    assert browser.post(f"{url}/prompt", {"text": "Go on"}, headers=HTMX).status_code == 204


def test_a_model_without_a_key_is_named_with_the_way_to_one(
    alice: User, team: Team, session: Session, client_for: ClientFor
) -> None:
    ProviderConfig.objects.create(
        team=team,
        provider_id="acorn",
        kind="anthropic",
        name="Acorn",
        picked={"nut": {"name": "Nut"}},
    )
    model = {"providerID": "acorn", "id": "nut"}
    Session.objects.filter(pk=session.pk).update(model=model)
    page = client_for(alice).get(f"/t/acme/s/{session.pk}").content.decode()
    said = page.split('id="composer-reason"')[1].split("</p>")[0]
    assert "There is no key for Acorn." in said
    assert 'href="/t/acme/settings/keys#key-of-acorn" data-needs="admin">Add a key</a>' in said
    # Another model may be chosen, so nothing is locked.
    field = page.split('id="prompt"')[1].split(">")[0]
    assert "disabled" not in field


def test_a_viewer_is_told_who_can_write(
    vera: User, project: Project, session: Session, client_for: ClientFor
) -> None:
    browser = client_for(vera)
    assert (
        "A team member can write to it." in browser.get(f"/t/acme/s/{session.pk}").content.decode()
    )
    assert "Members can start new ones." in browser.get("/t/acme/").content.decode()


def test_a_model_that_the_team_has_switched_off_stays_chosen_and_says_so(
    alice: User, team: Team, session: Session, client_for: ClientFor
) -> None:
    picked = {"nut": {"name": "Nut"}}
    ProviderConfig.objects.create(
        team=team,
        provider_id="acorn",
        kind="compatible",
        name="Acorn",
        picked=picked,
        enabled=False,
    )
    model = {"providerID": "acorn", "id": "nut"}
    Session.objects.filter(pk=session.pk).update(model=model)
    browser = client_for(alice)
    page = browser.get(f"/t/acme/s/{session.pk}").content.decode()
    said = page.split('id="composer-reason"')[1].split("</p>")[0]
    assert "Acorn is turned off for this team." in said
    assert 'href="/t/acme/settings/models/" data-needs="admin">Turn it on</a>' in said
    assert "An admin can change this, or you can choose another model." in said
    assert '<option value="acorn/nut" selected>Not available: acorn/nut</option>' in page
    # It is the first in the list, where it cannot be taken again.
    query = {"session": session.pk, "kind": "model", "chosen": "acorn/nut"}
    first = browser.get("/t/acme/choices", query).content.decode().split("</section>")[0]
    assert "Turned off for this team" in first
    assert 'aria-current="true" disabled' in first
