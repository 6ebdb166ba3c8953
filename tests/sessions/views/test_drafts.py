from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from sessions.actions.drafts import prune_drafts
from sessions.models import KeptDraft, Project, Session
from sessions.wire import to_ms
from teams.models import User

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]
URL = "/t/acme/draft"


@pytest.fixture
def browser(alice: User, client_for: ClientFor) -> Client:
    return client_for(alice)


def save(browser: Client, text: str, *, ago_s: float = 0, **place: str) -> int:
    at = to_ms(timezone.now() - timedelta(seconds=ago_s))
    return browser.post(URL, {"text": text, "at": str(at), **place}).status_code


def field(browser: Client, url: str) -> str:
    html = browser.get(url).content.decode()
    return html[html.index('<textarea id="prompt"') :].split(">", 1)[1].split("</textarea>")[0]


def test_what_was_typed_is_there_again_and_for_nobody_else(
    browser: Client, session: Session, client_for: ClientFor, bob: User
) -> None:
    url = f"/t/acme/s/{session.pk}"

    assert save(browser, "half a <b>thought", session=session.pk) == 204
    assert field(browser, url) == "half a &lt;b&gt;thought"
    assert field(client_for(bob), url) == ""


def test_the_newer_one_counts(browser: Client, session: Session) -> None:
    save(browser, "newer", session=session.pk, ago_s=5)
    save(browser, "older", session=session.pk, ago_s=60)
    assert KeptDraft.objects.get().text == "newer"
    # A clock that is ahead does not win for good.
    save(browser, "ahead", session=session.pk, ago_s=-3600)
    save(browser, "newest", session=session.pk)
    assert KeptDraft.objects.get().text == "newest"


def test_a_draft_goes_when_it_is_sent_and_no_older_copy_comes_back(
    browser: Client, session: Session
) -> None:
    url = f"/t/acme/s/{session.pk}"
    save(browser, "Say this", session=session.pk, ago_s=5)

    browser.post(f"{url}/prompt", {"text": "Say this"})
    assert field(browser, url) == ""
    save(browser, "Say thi", session=session.pk, ago_s=3)
    assert field(browser, url) == ""
    save(browser, "And that", session=session.pk)
    assert field(browser, url) == "And that"


def test_what_was_chosen_is_kept_until_it_is_sent_and_for_nobody_else(
    browser: Client, session: Session, client_for: ClientFor, bob: User
) -> None:
    url = f"/t/acme/s/{session.pk}"
    plan = '<option value="plan" selected>'

    for name, value in [("agent", "plan"), ("variant", "x" * 300)]:
        assert browser.post(URL, {"session": session.pk, name: value}).status_code == 204
    assert plan in browser.get(url).content.decode()
    assert plan not in client_for(bob).get(url).content.decode()
    # What is typed in a browser since is newer.
    save(browser, "Say this", session=session.pk, ago_s=3600)
    assert field(browser, url) == "Say this"
    assert KeptDraft.objects.get(user__email="alice@example.com").choices == {
        "agent": "plan",
        "variant": "x" * 200,
    }
    # A variant is one of its model.
    browser.post(URL, {"session": session.pk, "model": "demo/tour"})
    assert KeptDraft.objects.get(text="Say this").choices == {"agent": "plan", "model": "demo/tour"}

    browser.post(f"{url}/prompt", {"text": "Say this"})
    assert KeptDraft.objects.get(user__email="alice@example.com").choices == {}


def test_a_new_session_has_one_for_each_project(browser: Client, project: Project) -> None:
    save(browser, "Begin", project=project.pk)

    assert field(browser, "/t/acme/") == "Begin"
    assert field(browser, f"/t/acme/p/{project.pk}/") == "Begin"
    assert field(browser, f"/t/acme/p/{project.pk}/?prompt=Linked") == "Linked"
    browser.post("/t/acme/start", {"text": "Begin", "project": project.pk})
    assert field(browser, "/t/acme/") == ""


def test_what_cannot_be_a_draft_is_refused(browser: Client, session: Session) -> None:
    assert save(browser, "x", session="ses_unknown") == 404
    assert save(browser, "x") == 404
    assert save(browser, "x" * 200_001, session=session.pk) == 400
    for at in ("", "-1", "soon", "9" * 14):
        sent = {"text": "x", "session": session.pk, "at": at}
        assert browser.post(URL, sent).status_code == 400
    assert not KeptDraft.objects.exists()


def test_old_drafts_are_forgotten(browser: Client, project: Project, session: Session) -> None:
    save(browser, "old", session=session.pk)
    KeptDraft.objects.update(saved_at=timezone.now() - timedelta(days=31))
    save(browser, "young", project=project.pk)

    assert prune_drafts() == 1
    assert KeptDraft.objects.get().text == "young"
