from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from opencode_web.lib.reasons import Cause
from sessions.events.messages import MessageError
from sessions.events.reasons import TurnReason
from sessions.events.types import MessageUpdated, SessionStatus
from sessions.models import Message, Session
from sessions.runner.log.history import to_answer
from sessions.runner.log.settle import completed
from teams.models import User
from tests.sessions.factories import make_session
from tests.sessions.story import Story, write

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]


def fail(session: Session, author: User, name: str = "APIError", **data: object) -> Story:
    told = Story(session, author)
    told.ask("go")
    told.answer()
    told.text("Half an ")
    info = to_answer(Message.objects.get(pk=told.message_id)).info
    error = MessageError(name=name, data={"message": "Overloaded.", **data})
    write(
        session,
        MessageUpdated(info=completed(info, error=error)),
        SessionStatus(state="idle", outcome="failed", detail="Overloaded."),
    )
    return told


def again(client_for: ClientFor, user: User, session: Session, **fields: str) -> int:
    url = f"/t/acme/s/{session.pk}/retry"
    return client_for(user).post(url, fields, headers={"HX-Request": "true"}).status_code


def test_who_tries_again_has_the_agent_go_on_and_says_nothing(
    client_for: ClientFor, alice: User, session: Session
) -> None:
    fail(session, alice)
    assert again(client_for, alice, session) == 204
    row = session.inputs.get()
    assert row.author == alice
    (part,) = row.data["parts"]
    assert part["synthetic"] is True
    assert "Carry on" in part["text"]
    assert row.data["info"]["model"]["modelID"] == "inline"
    session.refresh_from_db()
    assert session.state == "busy"


def test_a_second_press_changes_nothing(
    client_for: ClientFor, alice: User, session: Session
) -> None:
    fail(session, alice)
    for _ in range(2):
        assert again(client_for, alice, session) == 204
    assert session.inputs.count() == 1


def test_the_model_that_is_chosen_now_is_asked(
    client_for: ClientFor, alice: User, session: Session
) -> None:
    fail(session, alice)
    again(client_for, alice, session, model="demo/tour", agent="plan")
    info = session.inputs.get().data["info"]
    assert (info["model"]["modelID"], info["agent"]) == ("tour", "plan")


@pytest.mark.parametrize("mark", [{}, {"interrupted": True}])
def test_a_loss_is_gone_on_from_and_a_stop_is_not(
    client_for: ClientFor, alice: User, session: Session, mark: dict[str, bool]
) -> None:
    told = Story(session, alice)
    told.ask("go")
    told.answer()
    told.cut(Cause(TurnReason.WORKER_LOST if mark else TurnReason.STOPPED), **mark)
    html = client_for(alice).get(f"/t/acme/s/{session.pk}").content.decode()
    assert ("error-acts" in html) is bool(mark)
    assert again(client_for, alice, session) == 204
    assert session.inputs.count() == int(bool(mark))


def test_a_sub_agent_is_given_nothing_to_do(
    client_for: ClientFor, alice: User, session: Session
) -> None:
    child = make_session(alice, session.project, parent=session)
    fail(child, alice)
    assert again(client_for, alice, child) == 204
    assert not child.inputs.exists()


def test_an_answer_that_came_to_its_end_is_not_asked_for_again(
    client_for: ClientFor, alice: User, session: Session
) -> None:
    told = Story(session, alice)
    told.ask("go")
    told.answer()
    told.finish()
    assert again(client_for, alice, session) == 204
    assert not session.inputs.exists()


def test_the_card_of_a_refused_key_names_the_provider_and_leads_admins_to_the_keys(
    client_for: ClientFor, alice: User, session: Session
) -> None:
    fail(session, alice, "ProviderAuthError", providerID="acme-ai")
    client = client_for(alice)
    html = client.get(f"/t/acme/s/{session.pk}").content.decode()
    card = html.split('class="error-body"')[1].split("</form>")[0]
    assert "acme-ai has refused the key." in card
    assert "Your message is kept." in card
    assert 'href="/t/acme/settings/keys"' in html
    german = client.get(f"/t/acme/s/{session.pk}", headers={"Accept-Language": "de"})
    assert "acme-ai hat den Schlüssel abgelehnt." in german.content.decode()


def test_nothing_goes_on_in_an_archived_session(
    client_for: ClientFor, alice: User, session: Session
) -> None:
    fail(session, alice)
    client_for(alice).post(f"/t/acme/s/{session.pk}/archive", {"archived": "1"})
    assert again(client_for, alice, session) == 409
    assert not session.inputs.exists()
