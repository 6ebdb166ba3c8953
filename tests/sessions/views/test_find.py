from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from urllib.parse import urlsplit

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.utils import translation

from sessions.actions.history import delete_messages
from sessions.actions.sessions import update_session
from sessions.models import Part, Project, Session
from sessions.text_search import excerpt, find_said, words_of
from teams.models import Team, User
from tests.sessions.factories import make_session, session_access
from tests.sessions.story import Story

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]


def said(session: Session, author: User, asked: str, answered: str = "", **more: bool) -> Story:
    story = Story(session, author)
    story.ask(asked)
    if answered:
        story.answer()
        story.text(answered, **more)
    return story


def found(team: Team, query: str) -> list[str]:
    return ["".join(piece.text for piece in one.pieces) for one in find_said(team, query)]


def test_texts_are_found_by_words_and_the_beginning_of_the_last(
    alice: User, team: Team, session: Session
) -> None:
    said(session, alice, "Please mend the Discount", "The till rounds half-pennies up.")
    assert found(team, "discount") == ["Please mend the Discount"]
    assert found(team, "TILL rounds") == ["The till rounds half-pennies up."]
    assert found(team, "penn") == ["The till rounds half-pennies up."]
    assert found(team, "mend pen") == []
    (hit,) = find_said(team, "rounds")
    assert [piece.text for piece in hit.pieces if piece.hit] == ["rounds"]
    assert (hit.session, hit.prompt) == (session.pk, session.messages.get(role="user").pk)


def test_it_knows_what_was_changed_deleted_or_is_not_finished(
    alice: User, team: Team, session: Session
) -> None:
    story = said(session, alice, "question", "half a sentence", done=False)
    part = Part.objects.get(data__text="half a sentence")
    assert found(team, "sentence") == []
    story.text("the whole sentence", id=part.pk)
    assert found(team, "sentence") == ["the whole sentence"]
    assert found(team, "half") == []
    story.text("the model thinks of zebras", reasoning=True)
    assert found(team, "zebras") == []
    story.finish(changed=False)
    session.refresh_from_db()
    Session.objects.filter(pk=session.pk).update(hidden_from=part.seq)
    assert found(team, "sentence") == []
    Session.objects.filter(pk=session.pk).update(hidden_from=None)
    delete_messages(session_access(alice, session), [story.prompt_id, story.message_id])
    assert found(team, "sentence") == []
    assert found(team, "question") == []


def test_the_index_is_made_again_with_the_rows(alice: User, team: Team, session: Session) -> None:
    said(session, alice, "question", "an answer").finish(changed=False)
    call_command("rebuild", session.pk)
    assert found(team, "answer") == ["an answer"]
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM agent_sessions_part_text")
            assert cursor.fetchone() == (Part.objects.filter(type="text").count(),)


def test_only_the_own_team_is_searched(
    alice: User, charlie: User, session: Session, client_for: ClientFor
) -> None:
    said(session, alice, "a word: xylophone")
    page = client_for(alice).get("/t/acme/search?q=xylophone").content.decode()
    assert "<mark>xylophone</mark>" in page
    assert session.pk in page
    other = client_for(charlie).get("/t/globex/search?q=xylophone").content.decode()
    assert session.pk not in other
    assert "No results for" in other


@pytest.mark.parametrize(
    "query",
    [
        *("", " ", '"', "'", "*", '" OR "', "a AND NOT b", "NEAR(a b)", "text:a", "-", "_", "a_b"),
        *("a & b | !c", "'; DROP TABLE x; --", "<->", ":*", "\\", "%s %(a)s", "\x00a", "é ß İ"),
        *("(" * 300, "x" * 10_000, "a " * 500, "🙂", "a\ud800"),
    ],
)
def test_whatever_is_typed_is_only_looked_for(
    query: str, alice: User, team: Team, session: Session, client_for: ClientFor
) -> None:
    said(session, alice, "a b c text near not and or")
    assert isinstance(find_said(team, query), list)
    typed = query.encode("utf-8", "replace").decode()
    assert client_for(alice).get("/t/acme/search", {"q": typed}).status_code == 200


def test_an_excerpt_stands_around_the_word() -> None:
    assert words_of("What's_up, Doc?") == ["what", "s", "up", "doc"]
    text = "x " * 200 + "the needle is <b>here</b> " + "y " * 200
    pieces = excerpt(text, ["needle"])
    whole = "".join(piece.text for piece in pieces)
    assert whole.startswith("…x")
    assert whole.endswith("y…")
    assert "the needle is <b>here</b>" in whole
    assert len(whole) < 300
    assert [piece.text for piece in pieces if piece.hit] == ["needle"]
    assert [piece.text for piece in excerpt("nothing of it", ["é"])] == ["nothing of it"]


def test_an_excerpt_stands_around_the_words_where_they_follow_each_other() -> None:
    text = "Paragraph 1 has 3 lines. " + "x" * 200 + " Paragraph **3**: the end."
    pieces = excerpt(text, ["paragraph", "3"])
    assert [piece.text for piece in pieces if piece.hit] == ["Paragraph 3"]


def test_titles_come_first_and_hits_stand_below_their_session(
    alice: User, project: Project, client_for: ClientFor
) -> None:
    titled = make_session(alice, project, title="Rounding of <prices>")
    talked = make_session(alice, project, title="Another operation")
    update_session(session_access(alice, talked), archived_ms=1)
    for _ in range(5):
        said(talked, alice, "about rounding <here>")
    page = client_for(alice).get("/t/acme/search?q=rounding").content.decode()
    assert "Rounding of &lt;prices&gt;" in page
    assert "<mark>rounding</mark> &lt;here&gt;" in page
    body = page[page.index('id="found"') :]
    assert body.index(titled.pk) < body.index(talked.pk)
    assert body.count("?at=msg_") == 3
    assert "archived" not in body[: body.index(talked.pk)]
    assert "archived · " in body


def test_a_hit_opens_the_page_around_it(
    alice: User, session: Session, client_for: ClientFor
) -> None:
    for number in range(45):
        said(session, alice, f"question {number:02}" + (" needle" if number == 5 else ""))
    client = client_for(alice)
    page = client.get("/t/acme/search?q=needle").content.decode()
    hit = re.search(r'href="([^"]+\?at=[^"]+)"', page)
    assert hit is not None
    url = urlsplit(unescape(hit[1]))
    opened = client.get(f"{url.path}?{url.query}").content.decode()
    shown = re.findall(r"question (\d\d)", opened)
    assert shown == [f"{number:02}" for number in range(16)]
    assert f'id="{url.fragment}"' in opened
    assert "Newest turns" in opened
    # In the newest window nothing is different from the session's own page.
    last = session.messages.order_by("-seq").values_list("pk", flat=True)[0]
    newest = client.get(f"{url.path}?at={last}").content.decode()
    assert "Newest turns" not in newest
    assert re.findall(r"question (\d\d)", newest)[-1] == "44"
    assert client.get(f"{url.path}?at=msg_unknown").status_code == 200


def test_commands_and_settings_are_found_by_their_names(
    alice: User, bob: User, vera: User, bill: User, project: Project, client_for: ClientFor
) -> None:
    def names(user: User, query: str) -> list[str]:
        text = client_for(user).get("/t/acme/search", {"q": query}).content.decode()
        return re.findall(r'data-found>(?:<span class="found-title">)?([^<]+)<', text)

    make_session(alice, project, title="Audit the till")
    assert names(alice, "audit") == ["Audit the till", "Audit"]
    assert names(bob, "audit") == ["Audit the till"]
    assert names(alice, ">new") == ["New project", "New session"]
    assert names(vera, ">new") == []
    assert names(alice, "#audit") == ["Audit the till"]
    assert names(alice, "invite") == ["Members"]
    assert names(alice, "credentials") == ["Keys"]
    assert names(bob, "credentials") == []
    assert names(vera, "devices") == ["Browsers"]
    assert names(alice, "subagents") == ["Agents"]
    # The team has one project, so its settings are found from everywhere.
    assert names(alice, "slash") == ["Commands of the project", "Commands"]
    assert names(alice, "cron") == ["Schedules of the project"]
    every = {"General", "Members", "Roles", "Commands", "Agents", "Shortcuts", "Browsers"}
    assert every < set(names(vera, "settings"))
    assert "Keys" in names(alice, "settings")
    assert "Keys" not in names(bob, "settings")
    # Where there is nothing but money, no work can be gone to.
    assert names(bill, "") == names(bill, ">") == ["Documentation", "Install app", "Usage"]
    assert [names(bill, text) for text in ("till", "#", "audit", "permissions", "@x")] == [[]] * 5
    of_team = {"Members", "Roles", "Budgets"}
    assert of_team <= set(names(bill, "settings")) <= {*names(vera, "settings")} - {"General"}
    assert "Advanced" not in names(bill, "settings")
    assert names(alice, "")[:3] == ["Audit the till", "New session", "All sessions"]


def test_the_palette_gets_the_list_only(
    alice: User, team: Team, client_for: ClientFor, tmp_path: object
) -> None:
    answer = client_for(alice).get("/t/acme/search?q=x", headers={"HX-Request": "true"})
    assert answer.content.decode().lstrip().startswith('<div id="found-options"')


def test_commands_are_found_by_words_of_the_language(
    alice: User, team: Team, client_for: ClientFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = {"invite people roles": "einladen", "dark light language": "dunkel sprache"}
    monkeypatch.setattr(translation._trans, "gettext", lambda text: words.get(text, text))
    for query, path in (("einladen", "/t/acme/settings/members"), ("sprache", "/me/appearance")):
        page = client_for(alice).get("/t/acme/search", {"q": query}).content.decode()
        assert f'href="{path}"' in page
