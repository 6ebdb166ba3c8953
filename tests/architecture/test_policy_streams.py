from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from asgiref.sync import sync_to_async
from channels.testing import WebsocketCommunicator
from django.conf import settings
from django.db import connections
from django.utils import timezone

from opencode_web.lib import bus
from opencode_web.lib.crypto import fingerprint
from opencode_web.lib.db import in_db
from opencode_web.lib.errors import AppError
from sessions.access import access_terminal
from sessions.actions.previews import open_preview
from sessions.consumers import websocket_application
from sessions.consumers.preview import admission
from sessions.consumers.preview.headers import own_cookie_name
from sessions.models import Project, Session, Terminal
from sessions.stream import rights
from sessions.stream.durable import durable_stream
from sessions.stream.rights import FORBIDDEN, GONE, SIGNED_OUT
from sessions.stream.sse import Scope, open_stream
from sessions.terminals.lease import until
from teams.access import access_team
from teams.actions.accounts import deactivate_account, set_operator, sign_out_account
from teams.actions.break_glass import end_break_glass
from teams.actions.identity import delete_provider, set_team_policy
from teams.actions.managed_members import apply_roles
from teams.actions.members import change_role
from teams.auth import Principal, authenticate_header, resume_principal
from teams.models import IdentityProvider, Membership, Role, Team, User
from tests.architecture.policy_cases import Stage, Who, bearer_of, browser_of
from tests.factories import make_user
from tests.sessions.factories import make_project, make_session

pytestmark = pytest.mark.django_db(transaction=True)
# So long may what is open stay open.
LIMIT_S = 5
PASSWORD = {"method": "password"}
TOTP = {"method": "mfa", "type": "totp"}
BY_CORP = {"method": "socialaccount", "provider": "corp"}


@pytest.fixture(autouse=True)
async def lost_messages(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[None]:
    """A bus that delivers nothing, and rounds that follow each other quickly."""
    assert max(rights.CHECK_S, admission.CHECK_S) < LIMIT_S - 1
    monkeypatch.setattr(rights, "CHECK_S", 0.05)
    monkeypatch.setattr(admission, "CHECK_S", 0.05)
    monkeypatch.setattr(bus, "_enqueue", lambda *_: None)
    yield
    await sync_to_async(connections.close_all)()


@pytest.fixture
def project(team: Team, tmp_path: Path) -> Project:
    return make_project(team, tmp_path / "shop")


@pytest.fixture
def session(alice: User, project: Project) -> Session:
    return make_session(alice, project)


@dataclass(frozen=True)
class Held:
    """Who has everything open, and how their browser was signed in."""

    user: User
    records: tuple[dict[str, str], ...] = (PASSWORD,)


# What comes before a policy applies, who is there, and how it begins to apply.
Change = Iterator[Held | None]


def mfa_is_required(stage: Stage, bob: User) -> Change:
    yield Held(bob)
    set_team_policy(access_team(stage.alice, "acme"), mfa=True, sso=False)


def mfa_is_required_on_the_server(stage: Stage, bob: User) -> Change:
    yield Held(bob)
    stage.require(instance_requires_mfa=True)


def the_last_factor_is_removed(stage: Stage, bob: User) -> Change:
    Authenticator.objects.create(user=bob, type="totp", data={})
    stage.require(requires_mfa=True)
    # The browser shows what it has shown; only the token is judged by what its person has.
    yield Held(bob, ())
    Authenticator.objects.all().delete()


def sso_is_required(stage: Stage, bob: User) -> Change:
    stage.providers()
    yield Held(bob)
    set_team_policy(access_team(stage.alice, "acme"), mfa=False, sso=True)


def another_provider_is_required(stage: Stage, bob: User) -> Change:
    _with_corp(stage, bob)
    yield Held(bob, (BY_CORP,))
    stage.require(sso_provider="other")


def the_provider_is_disabled(stage: Stage, bob: User) -> Change:
    _with_corp(stage, bob)
    yield Held(bob, (BY_CORP,))
    IdentityProvider.objects.filter(slug="corp").update(is_enabled=False)


def the_provider_is_deleted(stage: Stage, bob: User) -> Change:
    _with_corp(stage, bob)
    yield Held(bob, (BY_CORP,))
    delete_provider(stage.root, IdentityProvider.objects.get(slug="corp"))


def the_provider_asks_for_no_second_factor(stage: Stage, bob: User) -> Change:
    _with_corp(stage, bob)
    IdentityProvider.objects.update(counts_as_mfa=True)
    stage.require(requires_mfa=True)
    yield Held(bob, (BY_CORP,))
    IdentityProvider.objects.update(counts_as_mfa=False)


def the_claim_gives_no_role_any_more(stage: Stage, bob: User) -> Change:
    stage.providers()
    clara = make_user("clara@example.com")
    corp = IdentityProvider.objects.get(slug="corp")
    apply_roles(clara, provider=corp, roles={stage.team.pk: Role.MEMBER})
    yield Held(clara)
    apply_roles(clara, provider=corp, roles={stage.team.pk: None})


def the_role_becomes_billing(stage: Stage, bob: User) -> Change:
    yield Held(bob)
    row = Membership.objects.get(user=bob)
    change_role(row, access=access_team(stage.alice, "acme"), role=Role.BILLING)


def the_emergency_is_over(stage: Stage, bob: User) -> Change:
    stage.enter(Role.ADMIN)
    yield Held(stage.root)
    Membership.objects.filter(user=stage.root).update(expires_at=timezone.now())


def the_emergency_is_ended(stage: Stage, bob: User) -> Change:
    stage.enter(Role.ADMIN)
    yield Held(stage.root)
    end_break_glass(Membership.objects.get(user=stage.root), by=stage.alice)


def the_operator_is_none_any_more(stage: Stage, bob: User) -> Change:
    stage.enter(Role.ADMIN)
    other = make_user("other@example.com", operator=True)
    yield Held(stage.root)
    set_operator(stage.root, operates=False, actor=other, reason="Moved on")


def the_account_is_deactivated(stage: Stage, bob: User) -> Change:
    yield Held(bob)
    deactivate_account(bob, actor=None, reason="Left")


def the_person_is_signed_out_everywhere(stage: Stage, bob: User) -> Change:
    yield Held(bob)
    sign_out_account(bob, actor=stage.root, reason="Lost a laptop")


def _with_corp(stage: Stage, user: User) -> None:
    stage.providers()
    SocialAccount.objects.create(user=user, provider="corp", uid="2")
    stage.require(requires_sso=True)


FIRST = [mfa_is_required, the_provider_is_disabled, the_emergency_is_over]
MORE = [
    mfa_is_required_on_the_server,
    the_last_factor_is_removed,
    sso_is_required,
    another_provider_is_required,
    the_provider_is_deleted,
    the_provider_asks_for_no_second_factor,
    the_claim_gives_no_role_any_more,
    the_role_becomes_billing,
    the_emergency_is_ended,
    the_operator_is_none_any_more,
    the_account_is_deactivated,
    the_person_is_signed_out_everywhere,
]


@dataclass(frozen=True)
class Opened:
    """One client of a person who has everything open."""

    who: Who
    principal: Principal
    session: str
    preview: str


def _client_of(user: User, who: Who, session: Session) -> Opened:
    if who.header:
        principal = authenticate_header(who.header)
    else:
        principal = resume_principal(user, browser_key=who.session)
    assert principal is not None
    label = ""
    if who.session:
        access = access_terminal(principal, "pty_open", own=True)
        label = open_preview(access, 5173, app_origin="http://localhost").label
    return Opened(who, principal, session.pk, label)


Surface = Callable[[Opened, asyncio.Event], Awaitable[object]]


def _events(**kind: bool) -> Surface:
    async def stay(one: Opened, is_open: asyncio.Event) -> None:
        async for _ in await open_stream(Scope(one.principal, **kind)):
            is_open.set()

    return stay


async def _log(one: Opened, is_open: asyncio.Event) -> None:
    async for _ in durable_stream(one.principal, one.session, after=0):
        is_open.set()


def _socket(path: str) -> Surface:
    async def stay(one: Opened, is_open: asyncio.Event) -> int:
        headers = [(b"host", b"localhost")]
        if one.who.header:
            headers.append((b"authorization", one.who.header.encode()))
        else:
            cookie = f"{settings.SESSION_COOKIE_NAME}={one.who.session}".encode()
            headers += [(b"origin", b"http://localhost"), (b"cookie", cookie)]
        address = path.format(session=one.session)
        socket = WebsocketCommunicator(websocket_application, address, headers)
        assert (await socket.connect(LIMIT_S))[0]
        is_open.set()
        while (message := await socket.receive_output(2 * LIMIT_S))["type"] != "websocket.close":
            pass
        assert message["code"] in (SIGNED_OUT, FORBIDDEN, GONE)
        return int(message["code"])

    return stay


async def _preview(one: Opened, is_open: asyncio.Event) -> AppError:
    cookie = f"{own_cookie_name(is_secure=False)}={fingerprint(f'preview {one.preview}')}"
    headers = [(b"cookie", cookie.encode())]
    await admission.admit(one.preview, headers)
    is_open.set()
    return await admission.until_refused(one.preview, headers)


OF_BOTH: dict[str, Surface] = {
    "/event": _events(),
    "/global/event": _events(is_global=True),
    "/api/event": _events(is_native=True),
    "/api/session/…/event": _log,
    "/pty/…/connect": _socket("/pty/pty_open/connect"),
}
OF_BROWSERS: dict[str, Surface] = {
    "/ws/": _socket("/ws/?team=acme"),
    "/ws/ of a session": _socket("/ws/?team=acme&session={session}"),
    "preview": _preview,
}


@pytest.mark.parametrize(
    "change_of", [*FIRST, *(pytest.param(one, marks=pytest.mark.deep) for one in MORE)]
)
async def test_what_is_open_ends_when_a_policy_begins_to_apply(
    change_of: Callable[[Stage, User], Change],
    alice: User,
    bob: User,
    team: Team,
    project: Project,
    session: Session,
) -> None:
    def begin() -> tuple[Change, list[Opened]]:
        root = make_user("root@example.com", operator=True)
        change = change_of(Stage(alice, root, team), bob)
        held = next(change)
        assert held is not None
        Terminal.objects.create(
            id="pty_open",
            project=project,
            creator=held.user,
            command="/bin/sh",
            cwd=project.directory,
            status=Terminal.Status.RUNNING,
            lease_until=until(60),
        )
        whos = [bearer_of(held.user, team)]
        if held.records:
            whos.append(browser_of(held.user, *held.records))
        return change, [_client_of(held.user, who, session) for who in whos]

    change, opened = await in_db(begin)
    waiting: dict[str, asyncio.Task[object]] = {}
    for one in opened:
        surfaces = {**OF_BOTH, **OF_BROWSERS} if one.who.session else OF_BOTH
        for name, surface in surfaces.items():
            is_open = asyncio.Event()
            task = asyncio.ensure_future(surface(one, is_open))
            waiting[f"{name} by {one.principal.via}"] = task
            await asyncio.wait_for(is_open.wait(), LIMIT_S)
    assert [name for name, task in waiting.items() if task.done()] == []
    await in_db(next, change, None)
    await asyncio.wait(waiting.values(), timeout=LIMIT_S)
    still = [name for name, task in waiting.items() if not task.done()]
    for task in waiting.values():
        task.cancel()
    assert still == []
    assert [fault for task in waiting.values() if (fault := task.exception())] == []
