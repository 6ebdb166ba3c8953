from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from sessions import text_search
from sessions.models import Part, Project, Session
from teams.models import User
from tests.sessions.factories import make_session
from tests.sessions.story import Story

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


@pytest.fixture
def browser(client_for: Callable[[User | None], Client], alice: User) -> Client:
    return client_for(alice)


def said(session: Session, author: User, asked: str, answered: str) -> None:
    story = Story(session, author)
    story.ask(asked)
    story.answer()
    story.text(answered)


def found(client: Client, session: Session, query: str, **headers: str) -> str:
    response = client.get(f"/t/acme/s/{session.pk}/find", {"q": query}, headers=headers)
    assert response.status_code == 200
    return str(response.content.decode())


def test_fr_01_words_are_found_in_the_whole_session_in_their_order(
    browser: Client, alice: User, project: Project, session: Session
) -> None:
    said(session, alice, "Where is the marmalade?", "The MARMALADE is gone.")
    said(session, alice, "And the bread?", "Beside the marmalade.")
    said(make_session(alice, project), alice, "marmalade elsewhere", "yes")
    html = found(browser, session, "marmal", **HTMX)
    parts = list(
        Part.objects.filter(session=session, data__text__icontains="marmalade").order_by("seq")
    )
    assert [f'data-part="{part.pk}"' in html for part in parts] == [True] * 3
    assert html.count("data-hit") == 3
    at = [html.index(part.pk) for part in parts]
    assert at == sorted(at)
    (prompt, *_) = session.messages.filter(role="user").order_by("seq")
    assert f'href="/t/acme/s/{session.pk}?at={prompt.pk}#turn-{prompt.pk}"' in html
    assert "elsewhere" not in html


def test_without_scripts_it_is_a_page(browser: Client, alice: User, session: Session) -> None:
    said(session, alice, "<script>alert(1)</script> marmalade", "no")
    page = found(browser, session, "marmalade")
    assert "<h1>Find in" in page
    assert "&lt;script&gt;alert(1)" in page
    assert "<script>alert" not in page
    assert "No results for" in found(browser, session, "zebra")
    assert "data-hit" not in found(browser, session, "  ")


def test_it_does_not_read_the_history(
    browser: Client, alice: User, session: Session, django_assert_num_queries: Any
) -> None:
    for number in range(5):
        said(session, alice, f"question {number}", "marmalade")
    found(browser, session, "marmalade", **HTMX)
    # Session and person, membership twice, the session, the words, the commands, their texts.
    with django_assert_num_queries(8):
        found(browser, session, "marmalade", **HTMX)


def test_the_newest_outputs_of_commands_are_searched_too(
    browser: Client, alice: User, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_search, "_MAX_OUTPUTS", 2)
    story = Story(session, alice)
    story.ask("Run the tests")
    story.answer()
    printed = {"old": "FAILED test_jam", "<b>new</b>": "100% FAILED test_jam", "other": "ok"}
    calls = {word: story.done("bash", {}, f"{word}: {said}") for word, said in printed.items()}
    read = story.done("read", {}, "FAILED test_jam")
    html = found(browser, session, "failed jam", **HTMX)
    assert f'data-part="{calls["<b>new</b>"]}"' in html
    assert "&lt;b&gt;new" in html
    assert html.count("data-hit") == 1
    assert read not in html
    for query in ("%", "failed elsewhere", "_____"):
        assert "data-hit" not in found(browser, session, query, **HTMX)
    Session.objects.filter(pk=session.pk).update(hidden_from=1)
    assert "data-hit" not in found(browser, session, "failed", **HTMX)


def test_what_is_rolled_back_is_not_found(browser: Client, alice: User, session: Session) -> None:
    said(session, alice, "marmalade", "no")
    Session.objects.filter(pk=session.pk).update(hidden_from=1)
    assert "data-hit" not in found(browser, session, "marmalade", **HTMX)


def test_fr_05_thinking_is_unfolded_for_who_wants_it(
    browser: Client, client_for: Callable[[User | None], Client], bob: User, session: Session
) -> None:
    url = f"/t/acme/s/{session.pk}"
    assert 'data-thinking="folded"' in browser.get(url).content.decode()
    assert browser.post(f"{url}/panel", {"thinking": "1"}).headers["Location"] == url
    assert browser.post(f"{url}/panel", {"width": "40"}).status_code == 204
    assert 'data-thinking="open"' in browser.get(url).content.decode()
    assert 'data-thinking="folded"' in client_for(bob).get(url).content.decode()
    browser.post(f"{url}/panel", {"thinking": "0"}, headers=HTMX)
    assert 'data-thinking="folded"' in browser.get(url).content.decode()
