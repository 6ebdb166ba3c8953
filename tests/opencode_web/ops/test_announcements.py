from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from sessions.models import Project
from teams.actions.announcements import Draft, end_announcement, post_announcement
from teams.announcements import shown_announcements
from teams.models import Announcement, AuditEntry, Team, User
from tests.factories import make_token
from tests.sessions.factories import make_project

# A change is told to this process on commit.
pytestmark = pytest.mark.django_db(transaction=True)
PAGE = "/ops/announcements"


@pytest.fixture
def project(team: Team, tmp_path: Any) -> Project:
    return make_project(team, tmp_path / "shop")


def banner(client: Client) -> str:
    text = client.get("/t/acme/").content.decode()
    return text.partition('role="status">')[2] if "announcement-" in text else ""


def test_an_announcement_is_shown_to_all_and_hidden_by_one(
    console: Client, client_for: Any, alice: User, bob: User, project: Project
) -> None:
    answer = console.post(PAGE, {"text": "<b>New</b> disks at noon", "level": "info"}, follow=True)
    assert "Announcement posted." in answer.content.decode()
    (row,) = Announcement.objects.all()
    alices, bobs = client_for(alice), client_for(bob)
    assert "&lt;b&gt;New&lt;/b&gt; disks" in banner(alices)
    assert alices.post(f"/announcements/{row.pk}/hide").status_code == 302
    assert banner(alices) == ""
    assert banner(bobs) != ""
    assert console.post(f"{PAGE}/{row.pk}/end").status_code == 302
    assert banner(bobs) == ""
    actions = list(
        AuditEntry.objects.filter(action__startswith="announcement")
        .order_by("id")
        .values_list("action", flat=True)
    )
    assert actions == ["announcement.posted", "announcement.ended"]


def test_what_has_no_text_or_ends_before_it_begins_is_said(console: Client) -> None:
    for data in (
        {"level": "info"},
        {"text": "x", "level": "loud"},
        {"text": "x", "level": "info", "ends_at": "2020-01-01T00:00"},
    ):
        assert console.post(PAGE, data).status_code == 422
    assert not Announcement.objects.exists()


def test_maintenance_refuses_prompts_alone_and_says_why(
    root: User, alice: User, team: Team, project: Project, client: Client, client_for: Any
) -> None:
    headers = {"Authorization": f"Bearer {make_token(alice, team)[1]}"}
    send: dict[str, Any] = {"content_type": "application/json", "headers": headers}
    session = client.post("/session", {}, **send).json()["id"]
    ends = timezone.now() + timedelta(minutes=10)
    draft = Draft("Moving to new disks.", stops_prompts=True, ends_at=ends)
    row = post_announcement(root, draft)
    prompt = {"parts": [{"type": "text", "text": "hi"}]}
    refused = client.post(f"/session/{session}/prompt_async", prompt, **send)
    assert refused.status_code == 503
    assert refused.json()["data"]["message"] == "Moving to new disks."
    assert 590 <= int(refused["Retry-After"]) <= 600
    assert client.get(f"/session/{session}", headers=headers).status_code == 200
    assert client.post("/session", {}, **send).status_code == 200
    browser = client_for(alice)
    assert "Moving to new disks." in banner(browser)
    # It cannot be hidden.
    browser.post(f"/announcements/{row.pk}/hide")
    assert "Moving to new disks." in banner(browser)
    end_announcement(root, row.pk)
    assert client.post(f"/session/{session}/prompt_async", prompt, **send).status_code == 204


def test_a_planned_one_waits_and_one_that_is_over_is_gone(root: User) -> None:
    later = timezone.now() + timedelta(hours=1)
    row = post_announcement(root, Draft("Later.", starts_at=later))
    assert shown_announcements() == []
    end_announcement(root, row.pk)
    assert not Announcement.objects.exists()


def test_operators_use_rest_with_their_sign_in(
    console: Client, client_for: Any, alice: User, project: Project
) -> None:
    body = {"text": "Slow today.", "level": "warn"}
    made = console.post("/instance/announcements", body, content_type="application/json")
    assert made.status_code == 200, made.content
    shown = client_for(alice).get("/instance/announcements").json()
    assert [(one["text"], one["level"], one["end"]) for one in shown] == [
        ("Slow today.", "warn", None)
    ]
    assert console.delete(f"/instance/announcements/{made.json()['id']}").status_code == 200
    assert console.delete("/instance/announcements/999").status_code == 404
