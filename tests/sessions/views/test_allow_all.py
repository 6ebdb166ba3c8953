from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from sessions.models import PermissionRequest, Session
from teams.models import AuditEntry, User
from tests.sessions.story import Story

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}
ClientFor = Callable[[User | None], Client]


@pytest.fixture
def asked(session: Session, alice: User) -> list[str]:
    story = Story(session, alice)
    story.ask("hi")
    story.answer()
    first = story.waits("make all")
    story.questions("Which?", "A", "B")
    return [first, story.waits("rm -r build"), story.waits("make test")]


def answers(ids: list[str]) -> list[tuple[str, str]]:
    rows = PermissionRequest.objects.in_bulk(ids)
    return [
        (rows[name].status, rows[name].replied_by.display_name if rows[name].replied_by else "")
        for name in ids
    ]


def test_all_that_is_shown_is_allowed_once_by_one_button(
    client_for: ClientFor, bob: User, session: Session, asked: list[str]
) -> None:
    client, url = client_for(bob), f"/t/acme/s/{session.pk}"
    html = client.get(url).content.decode()
    assert "1 of 4" in html
    assert html.count("Allow all 3 once") == 2
    card = html.split(f'id="perm-{asked[0]}"')[1].split("</section>")[0]
    assert all(f'name="permission" value="{name}"' in card for name in asked)
    for command in ("make all", "rm -r build", "make test"):
        assert f'<span class="mono">{command}</span></li>' in card
    answer = client.post(f"{url}/permissions/once", {"permission": asked}, headers=HTMX)
    assert answer.status_code == 204
    assert answers(asked) == [("once", "Bob")] * 3
    assert AuditEntry.objects.filter(action="permission.replied", actor=bob).count() == 3
    assert session.questions.get().status == "pending"
    assert "Allow all" not in client.get(url).content.decode()


def test_what_somebody_has_answered_meanwhile_stays_so(
    client_for: ClientFor, alice: User, bob: User, session: Session, asked: list[str]
) -> None:
    url = f"/t/acme/s/{session.pk}"
    message = {"reply": "reject", "message": "not that"}
    client_for(alice).post(f"{url}/permission/{asked[1]}", message)
    bobs = client_for(bob)
    assert bobs.post(f"{url}/permissions/once", {"permission": asked}).status_code == 302
    assert answers(asked) == [("once", "Bob"), ("reject", "Alice"), ("once", "Bob")]
    again = bobs.post(f"{url}/permissions/once", {"permission": asked}, headers=HTMX)
    assert again.status_code == 409


def test_more_cost_is_not_among_them(
    client_for: ClientFor, alice: User, session: Session, asked: list[str]
) -> None:
    PermissionRequest.objects.filter(pk=asked[0]).update(permission="budget")
    client, url = client_for(alice), f"/t/acme/s/{session.pk}"
    refused = client.post(f"{url}/permissions/once", {"permission": asked}, headers=HTMX)
    assert refused.status_code == 400
    assert answers(asked) == [("pending", "")] * 3


def test_requests_of_other_sessions_are_not_found(
    client_for: ClientFor, alice: User, vera: User, session: Session, asked: list[str]
) -> None:
    url = f"/t/acme/s/{session.pk}/permissions/once"
    unknown = {"permission": [asked[0], "per_unknown"]}
    assert client_for(alice).post(url, unknown, headers=HTMX).status_code == 404
    assert client_for(vera).post(url, {"permission": asked}).status_code == 403
    assert answers(asked) == [("pending", "")] * 3
