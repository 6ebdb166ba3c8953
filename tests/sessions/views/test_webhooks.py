from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.test import Client

from sessions.models import Project, Webhook, WebhookDelivery
from teams.models import User

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]
URL = "/t/acme/settings/webhooks/"
GIVEN = {"url": "https://example.com/hook-path", "events": ["session.idle", "permission.asked"]}


def test_an_admin_makes_tests_and_deletes_one(
    adam: User, project: Project, client_for: ClientFor
) -> None:
    browser = client_for(adam)
    assert "No webhooks yet" in browser.get(URL).content.decode()
    made = browser.post(URL, {**GIVEN, "project": project.pk})
    assert made.status_code == 200
    assert "no-store" in made["Cache-Control"]
    secret = re.search(r"whsec_[A-Za-z0-9+/=]+", made.content.decode())
    assert secret is not None
    row = Webhook.objects.get()
    assert (row.project, row.created_by) == (project, adam)
    page = f"{URL}w/{row.pk}"
    listed = browser.get(URL).content.decode()
    assert "example.com" in listed
    assert "hook-path" not in listed
    assert "No deliveries yet" in browser.get(page).content.decode()
    assert secret[0] not in browser.get(page).content.decode()
    assert browser.post(f"{page}/ping")["Location"] == page
    sent = WebhookDelivery.objects.get()
    WebhookDelivery.objects.update(
        state="failed", problem="The server responded with status 500.", attempts=12
    )
    shown = browser.get(page).content.decode()
    assert "Given up. The server responded with status 500." in shown
    assert browser.post(f"{page}/delivery/{sent.pk}/again")["Location"] == page
    sent.refresh_from_db()
    assert sent.state == "pending"
    assert browser.post(f"{page}/enabled", {"enabled": "0"})["Location"] == page
    assert "Adam turned it off." in browser.get(page).content.decode()
    assert "Send a test" not in browser.get(page).content.decode()
    browser.post(f"{page}/enabled", {"enabled": "1"})
    assert "whsec_" in browser.post(f"{page}/secret").content.decode()
    assert browser.post(page, {**GIVEN, "events": ["question.asked"]})["Location"] == page
    row.refresh_from_db()
    assert (row.events, row.project) == (["question.asked"], None)
    assert "no longer receives events" in browser.get(f"{page}/delete").content.decode()
    assert browser.post(f"{page}/delete")["Location"] == URL
    assert not Webhook.objects.exists()


@pytest.mark.usefixtures("private_closed")
def test_a_wrong_form_says_what_is_wrong(
    adam: User, project: Project, client_for: ClientFor
) -> None:
    browser = client_for(adam)
    refused = browser.post(URL, {**GIVEN, "url": "https://127.0.0.1/x"})
    assert refused.status_code == 422
    assert "does not connect to private addresses" in refused.content.decode()
    assert browser.post(URL, {"url": "https://example.com"}).status_code == 422


def test_the_log_is_paged(
    adam: User, project: Project, client_for: ClientFor, django_assert_max_num_queries: object
) -> None:
    browser = client_for(adam)
    browser.post(URL, GIVEN)
    row = Webhook.objects.get()
    for _ in range(32):
        browser.post(f"{URL}w/{row.pk}/ping")
    with django_assert_max_num_queries(9):  # type: ignore[operator]
        first = browser.get(f"{URL}w/{row.pk}").content.decode()
    assert first.count('data-label="What"') == 30
    older = re.search(r'href="(\?before=[^"]+)"', first)
    assert older is not None
    assert (
        browser.get(f"{URL}w/{row.pk}{older[1]}").content.decode().count('data-label="What"') == 2
    )


def test_a_project_that_could_not_be_cloned_is_not_offered_and_can_be_removed(
    adam: User, project: Project, client_for: ClientFor
) -> None:
    Project.objects.filter(pk=project.pk).update(status=Project.Status.FAILED, source="git")
    browser = client_for(adam)
    assert f'value="{project.pk}"' not in browser.get(URL).content.decode()
    page = browser.get(f"/t/acme/p/{project.pk}/").content.decode()
    assert f'action="/t/acme/p/{project.pk}/delete"' in page
