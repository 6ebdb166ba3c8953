from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from sessions.models import Checkout, Project, Session, State
from teams.models import AuditEntry, User

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]
START = "/t/acme/start"
MODEL = "demo/inline"


def start(client: Client, project: Project, *also: str, **more: str) -> str:
    answer = client.post(
        START,
        {"text": "Fix the till", "project": project.pk, "model": MODEL, "also": also, **more},
    )
    assert answer.status_code == 302, answer.content.decode()
    return answer["Location"]


def test_one_prompt_starts_several_sessions_in_worktrees_of_their_own(
    alice: User, project: Project, client_for: ClientFor
) -> None:
    client = client_for(alice)
    url = start(client, project, "agent:plan", f"model:{MODEL}")
    sessions = list(Session.objects.order_by("comparedsession__place"))
    assert url == f"/t/acme/s/{sessions[0].pk}/compare"
    assert [one.agent for one in sessions] == ["", "plan", ""]
    assert Checkout.objects.filter(session__in=sessions).count() == 3
    assert {one.inputs.get().data["parts"][0]["text"] for one in sessions} == {"Fix the till"}
    page = client.get(url).content.decode()
    assert page.count('class="section compare-attempt"') == 3
    assert "Fix the till" in page
    # Their titles are the same: lists and the palette say which is which.
    for address in ("/t/acme/rail", "/t/acme/rail?list=1", "/t/acme/search"):
        listed = client.get(address, headers={"HX-Request": "true"}).content.decode()
        told = ("Attempt 1 · inline", "Attempt 2 · Plan · inline", "Attempt 3 · inline")
        assert [listed.count(one) for one in told] == [1, 1, 1]
    # The page of each leads to the comparison.
    for one in sessions:
        assert (
            f'href="/t/acme/s/{one.pk}/compare"'
            in client.get(f"/t/acme/s/{one.pk}").content.decode()
        )


def test_a_prompt_that_is_sent_twice_starts_them_once(
    alice: User, project: Project, client_for: ClientFor
) -> None:
    client = client_for(alice)
    key = "01JD0000000000000000000000"
    urls = {start(client, project, "agent:plan", idempotency=key) for _ in range(2)}
    assert len(urls) == 1
    assert Session.objects.count() == 2


@pytest.mark.parametrize(
    ("text", "also", "said"),
    [
        ("Fix", ["agent:plan"] * 4, "At most 4 sessions"),
        ("!ls", ["agent:plan"], "Shell commands cannot be compared"),
        ("Fix", ["agent:nobody"], "nobody"),
    ],
)
def test_what_cannot_be_compared_starts_nothing(
    alice: User, project: Project, client_for: ClientFor, text: str, also: list[str], said: str
) -> None:
    fields = {"text": text, "project": project.pk, "model": MODEL, "also": also}
    answer = client_for(alice).post(START, fields)
    assert answer.status_code == 422
    page = answer.content.decode()
    assert said in page
    assert not Session.objects.exists()
    # What was chosen stays chosen.
    assert text in page


def test_one_is_kept_and_the_others_can_come_back(
    alice: User, vera: User, project: Project, client_for: ClientFor
) -> None:
    client = client_for(alice)
    start(client, project, "agent:plan", "agent:build")
    first, second, third = Session.objects.order_by("comparedsession__place")
    keep = f"/t/acme/s/{second.pk}/compare/keep"
    assert client_for(vera).post(keep).status_code == 403
    # Those that work are stopped first.
    answer = client.post(keep, follow=True)
    assert "Stop them first" in answer.content.decode()
    stopped = client.post(f"/t/acme/s/{second.pk}/compare/stop")
    assert stopped["Location"] == f"/t/acme/s/{second.pk}/compare"
    assert AuditEntry.objects.filter(action="session.interrupted").count() == 3
    Session.objects.update(state=State.IDLE)
    answer = client.post(keep, follow=True)
    assert answer.redirect_chain[-1][0] == f"/t/acme/s/{second.pk}"
    assert "2 other attempts are archived" in answer.content.decode()
    archived = Session.objects.exclude(archived_at=None)
    assert {*archived} == {first, third}
    page = client.get(f"/t/acme/s/{first.pk}/compare").content.decode()
    assert page.count("Unarchive session") == 2
    assert "Keep this one" not in page


def test_a_session_that_was_not_compared_has_no_such_page(
    alice: User, charlie: User, project: Project, session: Session, client_for: ClientFor
) -> None:
    client = client_for(alice)
    for path in ("", "/keep", "/stop"):
        send = client.post if path else client.get
        assert send(f"/t/acme/s/{session.pk}/compare{path}").status_code == 404
    assert "/compare" not in client.get(f"/t/acme/s/{session.pk}").content.decode()
    start(client, project, "agent:plan")
    compared = Session.objects.filter(comparedsession__place=0).get()
    assert client_for(charlie).get(f"/t/globex/s/{compared.pk}/compare").status_code == 404
