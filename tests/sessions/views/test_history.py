from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.test import Client

from sessions.events.types import SessionStatus
from sessions.models import KeptDraft, Session
from teams.models import User
from tests.sessions.story import Story, tell_whole_turn, write

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]


@pytest.fixture
def turns(session: Session, alice: User) -> list[Story]:
    return [tell_whole_turn(session, alice, text) for text in ("one", "two")]


@pytest.fixture
def client(client_for: ClientFor, alice: User) -> Client:
    return client_for(alice)


def _url(session: Session, path: str = "") -> str:
    return f"/t/acme/s/{session.pk}{path}"


def test_the_menu_of_a_turn_is_a_page_without_javascript(
    client: Client, session: Session, turns: list[Story]
) -> None:
    menu = _url(session, f"/turn/{turns[1].prompt_id}/menu")
    assert f'href="{menu}"' in client.get(_url(session)).content.decode()
    page = client.get(menu).content.decode()
    assert page.count("<form") > 3
    assert "Roll back to before this turn" in page
    fragment = client.get(menu, headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in fragment
    assert f'id="turn-menu-{turns[1].prompt_id}"' in fragment


def test_a_rollback_says_how_many_messages_it_takes_back(
    client: Client, session: Session, turns: list[Story]
) -> None:
    hidden = ["2 messages are rolled back with their", "1 message is rolled back with its"]
    for turn, said in zip(turns, hidden, strict=True):
        assert said in client.get(_url(session, f"/turn/{turn.prompt_id}/menu")).content.decode()


def test_a_turn_is_rolled_back_and_restored_by_forms(
    client: Client, session: Session, turns: list[Story]
) -> None:
    answer = client.post(_url(session, f"/turn/{turns[1].prompt_id}/revert"))
    assert answer.headers["Location"] == _url(session)
    page = client.get(_url(session)).content.decode()
    assert "1 message rolled back" in page
    assert f"turn-{turns[1].prompt_id}" not in page
    # Its menu is not there either.
    assert client.get(_url(session, f"/turn/{turns[1].prompt_id}/menu")).status_code == 404
    assert f'action="{_url(session, "/restore")}"' in page
    client.post(_url(session, "/restore"))
    page = client.get(_url(session)).content.decode()
    assert "rolled back" not in page
    assert f"turn-{turns[1].prompt_id}" in page


def test_without_scripts_an_empty_message_field_has_the_text_that_was_rolled_back(
    client: Client, session: Session, alice: User, turns: list[Story]
) -> None:
    for turn, text in ((turns[1], "two"), (turns[0], "two")):
        # What is typed already is not overwritten.
        client.post(_url(session, f"/turn/{turn.prompt_id}/revert"))
        assert KeptDraft.objects.get(user=alice, session=session).text == text
    page = client.get(_url(session)).content.decode()
    assert re.search(r"<textarea[^>]*>two</textarea>", page)


def test_an_address_with_a_message_names_its_turn(
    client: Client, session: Session, turns: list[Story]
) -> None:
    for message in (turns[0].prompt_id, turns[0].message_id):
        page = client.get(_url(session, f"?at={message}")).content.decode()
        assert f'data-at="turn-{turns[0].prompt_id}"' in page
    assert "data-at=" not in client.get(_url(session, "?at=msg_unknown")).content.decode()


def test_a_turn_is_deleted_with_its_answers(
    client: Client, session: Session, turns: list[Story]
) -> None:
    headers = {"HX-Request": "true"}
    gone = client.post(_url(session, f"/turn/{turns[0].prompt_id}/delete"), headers=headers)
    assert gone.status_code == 204
    left = list(session.messages.order_by("seq").values_list("pk", flat=True))
    assert left == [turns[1].prompt_id, turns[1].message_id]
    assert client.get(_url(session, f"/turn/{turns[0].prompt_id}/menu")).status_code == 404


def test_answers_without_a_prompt_have_a_menu_too(
    client: Client, session: Session, turns: list[Story]
) -> None:
    session.messages.filter(pk=turns[0].prompt_id).delete()
    turn = f"before-{turns[0].message_id}"
    assert _url(session, f"/turn/{turn}/menu") in client.get(_url(session)).content.decode()
    client.post(_url(session, f"/turn/{turn}/delete"))
    assert session.messages.count() == 2


def test_it_waits_for_the_session_to_rest(
    client: Client, session: Session, turns: list[Story]
) -> None:
    write(session, SessionStatus(state="busy"))
    headers = {"HX-Request": "true"}
    refused = client.post(_url(session, f"/turn/{turns[1].prompt_id}/revert"), headers=headers)
    assert refused.status_code == 409
    assert "Stop it first" in refused.content.decode()
    assert Session.objects.get(pk=session.pk).revert == {}


def test_a_fork_goes_on_after_its_turn(
    client: Client, session: Session, turns: list[Story]
) -> None:
    answer = client.post(_url(session, f"/turn/{turns[0].prompt_id}/fork"))
    fork = Session.objects.exclude(pk=session.pk).get()
    assert answer.headers["Location"] == _url(fork)
    assert list(fork.messages.order_by("seq").values_list("role", flat=True)) == [
        "user",
        "assistant",
    ]
    assert client.get(_url(fork)).status_code == 200
    client.post(_url(session, f"/turn/{turns[1].prompt_id}/fork"))
    newest = Session.objects.exclude(pk__in=[session.pk, fork.pk]).get()
    assert newest.messages.count() == 4


def test_a_fork_of_the_whole_session_is_one_click_away_in_its_menu(
    client: Client, session: Session, turns: list[Story]
) -> None:
    Session.objects.filter(pk=session.pk).update(agent="build")
    assert f'action="{_url(session, "/fork")}"' in client.get(_url(session)).content.decode()
    answer = client.post(_url(session, "/fork"))
    fork = Session.objects.exclude(pk=session.pk).get()
    assert answer.headers["Location"] == _url(fork)
    assert fork.messages.count() == session.messages.count() == 4
