from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.test import Client

from opencode_web.lib.ids import new_id
from sessions.inbox import own_text, pending_inputs, sending_order
from sessions.models import Session, SessionInput
from teams.models import User
from tests.sessions.factories import prompt
from tests.sessions.runner.drains import take_up_and_begin

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}
ClientFor = Callable[[User | None], Client]


@pytest.fixture
def alices(client_for: ClientFor, alice: User) -> Client:
    return client_for(alice)


@pytest.fixture
def rows(alice: User, session: Session) -> list[SessionInput]:
    return [prompt(alice, session, text, delivery="queue") for text in ("first", "second")]


def at(row: SessionInput, form: str) -> str:
    return f"/t/acme/s/{row.session_id}/queue/{row.pk}/{form}"


def waiting(session: Session) -> list[str]:
    return [own_text(row) for row in sending_order(pending_inputs(session.pk))]


def test_the_dock_lists_what_waits_in_the_order_of_sending(
    alices: Client, rows: list[SessionInput], alice: User, bob: User, session: Session
) -> None:
    prompt(bob, session, "steer me", delivery="steer")
    html = alices.get(f"/t/acme/s/{session.pk}").content.decode().split('id="queue"')[1]
    order = [html.index(text) for text in ("steer me", "first", "second")]
    assert order == sorted(order)
    for shown in (
        ">Next<",
        ">2<",
        ">3<",
        "<b>Bob</b>",
        "Sends when a worker is free",
        "Sends after this turn",
        'aria-label="Message 1 of 3, Sends when a worker is free"',
    ):
        assert shown in html


def test_what_comes_while_the_agent_works_waits_for_its_step_or_turn(
    alices: Client, session: Session, alice: User
) -> None:
    prompt(alice, session, "hi")
    assert take_up_and_begin(session.pk) is not None
    prompt(alice, session, "steer me", delivery="steer")
    prompt(alice, session, "later", delivery="queue")
    html = alices.get(f"/t/acme/s/{session.pk}").content.decode()
    assert "Message 1 of 2, Sends after this step" in html
    assert "Message 2 of 2, Sends after this turn" in html


@pytest.mark.parametrize("headers", [{}, HTMX])
def test_a_waiting_message_is_moved_with_and_without_scripts(
    alices: Client, rows: list[SessionInput], session: Session, headers: dict[str, str]
) -> None:
    response = alices.post(at(rows[1], "move"), {"move": "up"}, headers=headers)
    assert response.status_code == (200 if headers else 302)
    assert waiting(session) == ["second", "first"]
    alices.post(at(rows[1], "move"), {"move": "down"}, headers=headers)
    assert waiting(session) == ["first", "second"]
    alices.post(at(rows[1], "move"), {"before": rows[0].pk}, headers=headers)
    assert waiting(session) == ["second", "first"]


@pytest.mark.parametrize("headers", [{}, HTMX])
def test_a_waiting_message_is_sent_now_or_later(
    alices: Client, rows: list[SessionInput], session: Session, headers: dict[str, str]
) -> None:
    url = at(rows[1], "deliver")
    response = alices.post(url, {"delivery": "steer", "revision": "0"}, headers=headers)
    assert response.status_code == (200 if headers else 302)
    assert waiting(session) == ["second", "first"]
    alices.post(url, {"delivery": "queue", "revision": "1"}, headers=headers)
    assert waiting(session) == ["first", "second"]
    stale = alices.post(url, {"delivery": "steer", "revision": "0"}, headers=headers)
    assert stale.status_code == 409


def test_a_waiting_message_is_edited_in_place(
    alices: Client, rows: list[SessionInput], session: Session
) -> None:
    url = at(rows[0], "edit")
    form = alices.get(url, headers=HTMX).content.decode()
    assert "<html" not in form
    assert ">first</textarea>" in form
    saved = alices.post(url, {"text": "a\r\nb", "revision": "0"}, headers=HTMX)
    assert saved.status_code == 200
    assert waiting(session) == ["a\nb", "second"]
    for closed in (saved, alices.get(f"{url}?close=1", headers=HTMX)):
        html = closed.content.decode()
        assert "<textarea" not in html
        # The queue comes along, with the focus on the row.
        assert f'id="queued-{rows[0].pk}" tabindex="-1" autofocus' in html


def test_a_waiting_message_is_edited_on_a_page_without_scripts(
    alices: Client, rows: list[SessionInput], session: Session
) -> None:
    url = at(rows[0], "edit")
    html = alices.get(url).content.decode()
    assert "<html" in html
    assert ">first</textarea>" in html
    assert alices.post(url, {"text": "changed", "revision": "0"}).status_code == 302
    assert waiting(session) == ["changed", "second"]


@pytest.mark.parametrize("headers", [{}, HTMX])
def test_a_refused_edit_keeps_what_was_typed_and_shows_what_is_there(
    alices: Client,
    rows: list[SessionInput],
    adam: User,
    client_for: ClientFor,
    session: Session,
    headers: dict[str, str],
) -> None:
    url = at(rows[0], "edit")
    assert client_for(adam).post(url, {"text": "adams", "revision": "0"}).status_code == 302
    response = alices.post(url, {"text": "mine", "revision": "0"}, headers=headers)
    html = response.content.decode()
    assert response.status_code == 409
    # Without it the browser does not show the answer to a refused form.
    assert response.get("HX-Retarget") == ("#queue-edit" if headers else None)
    assert "Someone else has changed" in html
    assert '<kbd data-keys="Mod+Enter">Ctrl Enter</kbd>' in html
    assert ">mine</textarea>" in html
    assert "Current text:</b> adams" in html
    assert 'name="revision" value="1"' in html
    # Now that it was seen, it may be overwritten.
    assert alices.post(url, {"text": "mine", "revision": "1"}).status_code == 302
    assert waiting(session) == ["mine", "second"]


def test_an_edit_of_what_the_agent_has_taken_says_so_and_can_be_sent(
    alices: Client, rows: list[SessionInput], session: Session
) -> None:
    SessionInput.objects.filter(pk=rows[0].pk).update(status="promoted", promoted_seq=1)
    url = at(rows[0], "edit")
    response = alices.post(url, {"text": "too late", "revision": "0"}, headers=HTMX)
    assert response.status_code == 409
    assert "already taken" in response.content.decode()
    html = response.content.decode()
    assert ">too late</textarea>" in html
    assert alices.get(url).status_code == 409
    # It is not lost: it goes as a message of its own, once.
    assert "Send as a new message" in html
    form = {"text": "too late", "idempotency": html.split('name="idempotency" value="')[1][:30]}
    for _ in range(2):
        assert alices.post(url, form, headers=HTMX).status_code == 200
    assert waiting(session) == ["too late", "second"]


@pytest.mark.parametrize("text", ["", "  \n"])
def test_an_empty_edit_is_refused(alices: Client, rows: list[SessionInput], text: str) -> None:
    response = alices.post(at(rows[0], "edit"), {"text": text, "revision": "0"}, headers=HTMX)
    assert response.status_code == 400
    assert "The prompt is empty." in response.content.decode()


@pytest.mark.parametrize("revision", ["", "x", "-1", "9" * 30])
def test_a_form_that_does_not_say_what_it_saw_changes_nothing(
    alices: Client, rows: list[SessionInput], session: Session, revision: str
) -> None:
    response = alices.post(at(rows[0], "edit"), {"text": "x", "revision": revision}, headers=HTMX)
    assert response.status_code == 400
    assert waiting(session) == ["first", "second"]


def test_the_dock_says_who_edited_a_message(
    alices: Client, rows: list[SessionInput], adam: User, client_for: ClientFor, session: Session
) -> None:
    client_for(adam).post(at(rows[0], "edit"), {"text": "adams", "revision": "0"})
    assert "edited by Adam" in alices.get(f"/t/acme/s/{session.pk}").content.decode()


def test_what_is_removed_gives_the_focus_to_the_next_row_and_not_to_its_button(
    alices: Client, rows: list[SessionInput], session: Session
) -> None:
    html = alices.post(at(rows[0], "remove"), headers=HTMX).content.decode()
    assert waiting(session) == ["second"]
    assert f'id="queued-{rows[1].pk}" tabindex="-1" autofocus' in html
    assert html.count("autofocus") == 1
    assert 'aria-label="Remove “second”"' in html


def test_who_removed_an_own_message_can_undo_it_once(
    alices: Client, rows: list[SessionInput], session: Session
) -> None:
    html = alices.post(at(rows[0], "remove"), headers=HTMX).content.decode()
    [undo] = re.findall(r'action="([^"]+/restore/[^"]+)"', html)
    for _ in range(2):
        answer = alices.post(undo, follow=True)
        assert "The message is queued again." in answer.content.decode()
    assert waiting(session) == ["second", "first"]
    [row] = [row for row in pending_inputs(session.pk) if row.pk in undo]
    assert row.delivery == "queue"


def test_only_the_author_brings_a_removed_message_back(
    client_for: ClientFor, rows: list[SessionInput], session: Session, adam: User, bob: User
) -> None:
    adams, message = client_for(adam), new_id("msg")
    html = adams.post(at(rows[0], "remove"), headers=HTMX).content.decode()
    assert "Message removed." in html
    assert "/restore/" not in html
    for user in (adam, bob):
        assert client_for(user).post(at(rows[0], f"restore/{message}")).status_code == 403
    assert waiting(session) == ["second"]


def test_what_still_waits_is_not_sent_twice(alices: Client, rows: list[SessionInput]) -> None:
    assert alices.post(at(rows[0], f"restore/{new_id('msg')}")).status_code == 409
    assert alices.post(at(rows[0], "restore/none")).status_code == 404
