from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from sessions.models import Compaction, Message, Session
from teams.models import User
from tests.sessions.story import Story, tell_whole_turn

pytestmark = pytest.mark.django_db
Ask = Callable[..., str]
HTMX = {"HX-Request": "true"}


@pytest.fixture
def client(client_for: Callable[[User | None], Client], alice: User) -> Client:
    return client_for(alice)


@pytest.fixture
def get(client: Client, session: Session) -> Ask:
    def ask(path: str = "", **headers: str) -> str:
        response = client.get(f"/t/acme/s/{session.pk}{path}", headers=headers)
        assert response.status_code == 200
        return str(response.content.decode())

    return ask


def save(client: Client, session: Session, **fields: str) -> int:
    return client.post(f"/t/acme/s/{session.pk}/panel", fields).status_code


def test_an_address_opens_a_tab_for_browsers_without_scripts(get: Ask) -> None:
    closed = get()
    assert 'data-panel="closed"' in closed
    assert 'id="context"' not in closed
    html = get("?panel=context")
    assert 'data-panel="open" data-tab="context"' in html
    assert 'id="context"' in html
    assert '?panel=changes"' in html
    assert 'data-panel="closed"' in get("?panel=nothing-of-ours")


def test_a_tab_comes_by_itself_to_a_page_that_is_there(
    client: Client, session: Session, get: Ask
) -> None:
    fragment = get("?panel=context", **HTMX)
    assert fragment.lstrip().startswith("<section")
    assert 'id="context"' in fragment
    wrong = client.get(f"/t/acme/s/{session.pk}?panel=wrong", headers=HTMX)
    assert wrong.status_code == 404


def test_the_panel_stays_as_its_person_left_it(client: Client, session: Session, get: Ask) -> None:
    assert save(client, session, shown="context") == 204
    assert save(client, session, width="60") == 204
    html = get()
    assert 'data-panel="kept" data-tab="context"' in html
    assert 'data-width="60"' in html
    # It is fetched by the page: others wait for nothing that a preference alone asks for.
    assert 'data-panel-view="context" data-src=' in html
    assert 'data-panel="closed"' in get("?panel=none")
    assert save(client, session, shown="") == 204
    assert 'data-panel="closed"' in get()


def test_the_changes_open_by_themselves_only_where_there_are_any(
    client: Client, session: Session, get: Ask
) -> None:
    save(client, session, shown="changes")
    assert 'data-panel="closed"' in get()
    assert "data-awaits-changes" in get()
    assert "data-awaits-changes" not in get("?panel=none")
    assert 'data-panel="open" data-tab="changes"' in get("?panel=changes")
    Session.objects.filter(pk=session.pk).update(summary={"files": 1})
    assert 'data-panel="kept" data-tab="changes"' in get()
    assert "data-awaits-changes" not in get()


@pytest.mark.parametrize(
    "fields", [{"shown": "secrets"}, {"width": "46"}, {"width": "-5"}, {"width": "9" * 30}]
)
def test_what_no_panel_can_be_is_refused(
    client: Client, session: Session, alice: User, fields: dict[str, str]
) -> None:
    assert save(client, session, **fields) == 400
    alice.refresh_from_db()
    assert "panel" not in alice.preferences


def test_the_context_says_what_was_used_by_which_model(
    alice: User, session: Session, get: Ask
) -> None:
    tell_whole_turn(session, alice)
    html = get("?panel=context", **HTMX)
    (answer,) = Message.objects.filter(session=session, role="assistant")
    assert f"{answer.data['providerID']}/{answer.data['modelID']}" in html
    assert "$0.14" in html
    assert "No limit is set for sessions of this project." in html
    assert "has not been compacted yet" in html
    assert f'{reverse("get_export", kwargs={"session_id": session.pk})}" download' in html


def test_the_context_says_what_is_left_and_what_was_summed_up(
    alice: User, session: Session, get: Ask
) -> None:
    Story(session, alice).ask("hi")
    Session.objects.update(cost=Decimal("1.50"), context_tokens=95, context_limit=100)
    session.project.config = {"limits": {"session_cost": "2.00"}}
    session.project.save()
    (asked,) = Message.objects.filter(session=session)
    made: dict[str, Any] = {"tokens_before": 90_000, "tokens_after": 4_000, "in_vain": False}
    Compaction.objects.create(
        session=session, message=asked, summary=asked, seq=asked.seq, history_from=0, **made
    )
    html = get("?panel=context", **HTMX)
    assert "$1.50 of $2.00, $0.50 left (75 % used)" in html
    assert "90k to 4k tokens" in html
    assert "<strong>95 %</strong> of the context" in html
    assert 'data-band="full"' in html
