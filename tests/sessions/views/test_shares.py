from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from sessions.access import access_project
from sessions.actions.privacy import set_private
from sessions.actions.secrets import set_secret
from sessions.actions.sessions import update_session
from sessions.actions.shares import MAX_LINKS, create_share, revoke_share
from sessions.models import Part, Session, Share
from sessions.shares.links import share_token
from sessions.views import shared as shared_pages
from teams.auth import authenticate_user
from teams.models import AuditEntry, Membership, Team, User
from tests.sessions.factories import make_session, session_access
from tests.sessions.projection import assert_log_equals_rows
from tests.sessions.story import Story, tell_whole_turn

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]
KEY = "sk-" + "ant-0123456789abcdef"
PICTURE = "data:image/png;base64,aGVsbG8="


@pytest.fixture
def public(team: Team) -> Team:
    team.config = {"sharing": {"links": "public"}}
    team.save()
    return team


def page(session: Session) -> str:
    return f"/t/acme/s/{session.pk}/share"


def path(share: Share, more: str = "") -> str:
    return f"/share/{share_token(share.pk)}{more}"


def make(owner: User, session: Session, **fields: object) -> Share:
    given = {"scope": "public", "days": 7, **fields}
    return create_share(session_access(owner, session), **given)  # type: ignore[arg-type]  # by name


def test_a_public_link_is_made_opened_and_revoked(
    alice: User, session: Session, public: Team, client_for: ClientFor
) -> None:
    tell_whole_turn(session, alice)
    client = client_for(alice)
    made = client.post(page(session), {"scope": "public", "days": "7"})
    assert made.status_code == 302
    (share,) = Share.objects.all()
    shown = client.get(page(session)).content.decode()
    assert f"http://testserver{path(share)}" in shown
    assert "never opened" in shown
    anybody = client_for(None)
    answer = anybody.get(path(share))
    assert answer.status_code == 200
    assert not answer.cookies
    text = answer.content.decode()
    assert "please add a discount" in text
    assert "<strong>add</strong>" in text
    assert f"Shared by {alice.display_name}" in text
    assert "opened" in client.get(page(session)).content.decode()
    client.post(f"{page(session)}/{share.pk}/revoke")
    assert anybody.get(path(share)).status_code == 404
    assert share.pk not in client.get(page(session)).content.decode()
    actions = AuditEntry.objects.filter(target_id=share.pk).order_by("pk")
    assert [one.action for one in actions] == ["share.created", "share.opened", "share.revoked"]


def test_a_shared_page_can_run_and_load_nothing(
    alice: User, session: Session, public: Team, client_for: ClientFor
) -> None:
    story = Story(session, alice)
    story.ask("<script>alert(1)</script>")
    story.answer()
    story.text("![pixel](https://evil.example/p.png) <img src=x onerror=alert(1)>")
    story.done("bash", {"command": "ls"}, "\n".join(map(str, range(60))))
    share = make(alice, session, details=True)
    for address in (path(share), path(share, f"/part/{Part.objects.get(type='tool').pk}")):
        answer = client_for(None).get(address)
        text = answer.content.decode()
        policy = answer["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "script-src" not in policy
        assert "connect-src" not in policy
        assert answer["Referrer-Policy"] == "no-referrer"
        assert "noindex" in answer["X-Robots-Tag"]
        assert answer["Cache-Control"] == "private, no-store"
        assert not re.search(r"<script|<iframe|<form|<img[^>]+https?:|\son\w+=\"", text)
        # Nothing leads to what only members can open.
        assert "/t/acme" not in text
    whole = client_for(None).get(path(share, f"/part/{Part.objects.get(type='tool').pk}"))
    assert ">0\n1\n" in whole.content.decode()


def test_secrets_are_taken_out_and_tools_say_nothing_unless_that_was_chosen(
    alice: User, session: Session, public: Team, client_for: ClientFor
) -> None:
    access = access_project(authenticate_user(alice), session.project_id)
    set_secret(access, name="DEPLOY", value="correct-horse-battery")
    story = Story(session, alice)
    story.ask(f"use {KEY} and correct-horse-battery")
    story.answer()
    story.text("Let me think.", reasoning=True)
    story.text("I use `correct-horse-battery`.")
    part = story.done("bash", {"command": "cat .env"}, f"A_TOKEN={KEY}\nplain line")
    story.finish()
    bare, full = make(alice, session), make(alice, session, details=True)
    short = client_for(None).get(path(bare)).content.decode()
    whole = client_for(None).get(path(full)).content.decode()
    for text in (short, whole):
        assert KEY not in text
        assert "correct-horse-battery" not in text
        assert "[key of a model provider]" in text
        assert "[secret DEPLOY]" in text
        assert "cat .env" in text
    assert "plain line" in whole
    assert "Let me think." in whole
    assert "plain line" not in short
    assert "Let me think." not in short
    assert client_for(None).get(path(bare, f"/part/{part}")).status_code == 404


def test_files_that_came_with_a_message_are_named_only(
    alice: User, session: Session, public: Team, client_for: ClientFor
) -> None:
    message = Story(session, alice).ask("look at this")
    picture = {"type": "file", "mime": "image/png", "filename": "till.png", "url": PICTURE}
    Part.objects.create(
        id="prt_picture", message_id=message, session=session, type="file", seq=2, data=picture
    )
    text = client_for(None).get(path(make(alice, session, details=True))).content.decode()
    assert "till.png" in text
    assert "<img" not in text
    assert PICTURE[-8:] not in text


def test_what_looks_like_a_secret_is_told_before_others_see_it(
    alice: User, session: Session, public: Team, client_for: ClientFor
) -> None:
    Story(session, alice).ask(f"use {KEY}")
    client, form = client_for(alice), {"scope": "public", "days": "7"}
    warned = client.post(page(session), form)
    assert warned.status_code == 422
    assert "key of a model provider" in warned.content.decode()
    assert not Share.objects.exists()
    assert client.post(page(session), {**form, "confirmed": "on"}).status_code == 302
    assert Share.objects.count() == 1
    # The team can read the session anyway.
    assert client.post(page(session), {**form, "scope": "team"}).status_code == 302


def test_a_link_for_the_team_is_for_its_members(
    alice: User, bob: User, vera: User, charlie: User, session: Session, client_for: ClientFor
) -> None:
    share = make(alice, session, scope="team")
    assert client_for(bob).get(path(share)).status_code == 200
    assert client_for(vera).get(path(share)).status_code == 200
    asked = client_for(None).get(path(share))
    assert asked["Location"] == f"/login?next={path(share)}"
    refused = client_for(charlie).get(path(share))
    assert refused.status_code == 404
    assert refused.content == client_for(None).get("/share/unknown").content
    Membership.objects.filter(user=bob).delete()
    assert client_for(bob).get(path(share)).status_code == 404


@pytest.mark.parametrize("end", ["expired", "revoked", "deleted", "team", "server", "project"])
def test_every_end_of_a_link_looks_the_same(
    end: str,
    alice: User,
    session: Session,
    public: Team,
    client_for: ClientFor,
    settings: object,
) -> None:
    share = make(alice, session)
    assert client_for(None).get(path(share)).status_code == 200
    past = timezone.now() - timedelta(seconds=1)
    match end:
        case "expired":
            Share.objects.update(expires_at=past)
        case "revoked":
            Share.objects.update(revoked_at=past)
        case "deleted":
            session.delete()
        case "team":
            Team.objects.update(config={"sharing": {"links": "team"}})
        case "server":
            settings.PUBLIC_SHARES = False  # type: ignore[attr-defined]  # of pytest-django
        case "project":
            session.project.config = {"share": "disabled"}
            session.project.save()
    answer = client_for(None).get(path(share))
    assert answer.status_code == 404
    assert answer.content == client_for(None).get("/share/x").content


def test_a_long_session_is_paged_by_links(
    alice: User, session: Session, public: Team, client_for: ClientFor
) -> None:
    story = Story(session, alice)
    for number in range(32):
        story.ask(f"question {number:02}")
    share = make(alice, session)
    client = client_for(None)
    newest = client.get(path(share)).content.decode()
    assert re.findall(r"question (\d\d)", newest) == [f"{n:02}" for n in range(2, 32)]
    earlier = re.search(r'href="([^"]+\?before=\d+)"', newest)
    assert earlier is not None
    oldest = client.get(earlier[1]).content.decode()
    assert re.findall(r"question (\d\d)", oldest) == ["00", "01"]
    assert f'href="{path(share)}"' in oldest
    assert client.get(path(share, "?before=x")).content.decode() == newest


def test_an_address_cannot_open_pages_without_end(
    alice: User,
    session: Session,
    public: Team,
    client_for: ClientFor,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    share = make(alice, session)
    monkeypatch.setattr(shared_pages, "_MOST", 3)
    # It does not end while the test runs.
    monkeypatch.setattr(shared_pages, "_WINDOW_S", 10**9)
    client = client_for(None)
    assert [client.get(path(share)).status_code for _ in range(4)] == [200, 200, 200, 429]
    refused = client.get("/share/x")
    assert refused.status_code == 429
    assert int(refused["Retry-After"]) > 0
    assert "default-src 'none'" in refused["Content-Security-Policy"]


def test_only_owner_and_admins_share(
    alice: User, adam: User, bob: User, session: Session, client_for: ClientFor
) -> None:
    form = {"scope": "team", "days": "1"}
    assert client_for(adam).post(page(session), form).status_code == 302
    refused = client_for(bob).post(page(session), form)
    assert refused.status_code == 403
    assert alice.display_name in refused.content.decode()
    # What is not allowed cannot be chosen either.
    public = client_for(alice).post(page(session), {**form, "scope": "public"})
    assert public.status_code == 422
    assert Share.objects.count() == 1


def test_there_are_only_so_many_links(alice: User, session: Session, client_for: ClientFor) -> None:
    for _ in range(MAX_LINKS):
        make(alice, session, scope="team")
    answer = client_for(alice).post(page(session), {"scope": "team", "days": "1"})
    assert answer.status_code == 422
    assert f"at most {MAX_LINKS} links" in answer.content.decode()


def test_the_panel_of_the_header_is_changed_in_place(
    alice: User, session: Session, client_for: ClientFor
) -> None:
    client = client_for(alice)
    panel = client.get(page(session), headers={"HX-Request": "true"}).content.decode()
    assert panel.lstrip().startswith("<details")
    headers = {"HX-Request": "true"}
    inside = client.post(page(session), {"scope": "team", "days": "1"}, headers=headers)
    assert inside.status_code == 200
    text = inside.content.decode()
    assert text.lstrip().startswith("<div")
    assert "Link created." in text
    (share,) = Share.objects.all()
    gone = client.post(f"{page(session)}/{share.pk}/revoke", headers=headers).content.decode()
    assert "Link revoked" in gone
    assert share.pk not in gone


def test_admins_say_which_links_there_may_be(
    alice: User, bob: User, team: Team, client_for: ClientFor, settings: object
) -> None:
    address = "/t/acme/settings/sharing"
    assert client_for(alice).post(address, {"links": "public"}).status_code == 302
    # The page that is there again is no further step on the way back.
    sent = client_for(alice).post(address, {"links": "public"}, headers={"HX-Request": "true"})
    assert sent["HX-Redirect"] == address
    team.refresh_from_db()
    assert team.config == {"sharing": {"links": "public"}}
    assert "Anyone with the link" in client_for(bob).get(address).content.decode()
    settings.PUBLIC_SHARES = False  # type: ignore[attr-defined]  # of pytest-django
    assert client_for(alice).post(address, {"links": "public"}).status_code == 422
    assert "does not allow public links" in client_for(alice).get(address).content.decode()


def test_sharing_is_no_news_in_a_list(alice: User, session: Session) -> None:
    tell_whole_turn(session, alice)
    before = Session.objects.get(pk=session.pk).updated_at
    share = make(alice, session, scope="team")
    revoke_share(session_access(alice, session), share.pk)
    session.refresh_from_db()
    assert session.updated_at == before
    session = update_session(session_access(alice, session), title="Another")
    assert session.updated_at > before
    assert_log_equals_rows(session)


def test_the_form_says_why_a_link_is_not_for_anybody_and_who_can_change_it(
    alice: User, bob: User, session: Session, team: Team, client_for: ClientFor, settings: Settings
) -> None:
    mine = make_session(bob, session.project)

    def said(user: User, shared: Session) -> str:
        return str(client_for(user).get(page(shared)).content.decode())

    change = '<a class="more" href="/t/acme/settings/sharing">Edit</a>'
    assert "only allows links for its members." in said(alice, session)
    assert change in said(alice, session)
    assert "A team admin can change this." in said(bob, mine)
    assert change not in said(bob, mine)
    Team.objects.update(config={"sharing": {"links": "none"}})
    assert "The team does not allow links to sessions." in said(alice, session)
    Team.objects.update(config={"sharing": {"links": "public"}})
    assert "Edit" not in said(alice, session)
    settings.PUBLIC_SHARES = False
    assert "This server does not allow public links. An operator" in said(alice, session)
    assert "Edit" not in said(alice, session)
    project = session.project
    project.config = {"share": "disabled"}
    project.save()
    assert f'<a class="more" href="/t/acme/p/{project.pk}/">Edit</a>' in said(alice, session)


def test_links_to_sub_agents_end_with_those_of_a_session_made_private(
    alice: User, bob: User, session: Session, public: Team, client_for: ClientFor
) -> None:
    agent = make_session(alice, session.project, parent=session)
    below = make_session(bob, session.project, parent=agent)
    share = make(bob, below)
    assert client_for(None).get(path(share)).status_code == 200
    access = session_access(alice, session)
    set_private(access, private=True)
    assert client_for(None).get(path(share)).status_code == 404
    set_private(access, private=False)
    assert client_for(None).get(path(share)).status_code == 404
    # One that was made at the same moment.
    late = make(bob, below)
    Session.objects.filter(pk=session.pk).update(is_private=True)
    assert client_for(None).get(path(late)).status_code == 404
    Session.objects.filter(pk=session.pk).update(is_private=False)
    assert_log_equals_rows(below)
