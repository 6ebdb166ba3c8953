"""People who fall short of a policy, and what every route answers them."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from allauth.socialaccount.models import SocialAccount
from allauth.usersessions.models import UserSession
from django.test import Client
from django.utils import timezone

from teams.actions.accounts import deactivate_account, reactivate_account, sign_out_account
from teams.actions.announcements import Draft, post_announcement
from teams.actions.break_glass import break_glass
from teams.actions.directory import create_directory_token
from teams.actions.managed_members import apply_roles
from teams.actions.tokens import create_token
from teams.announcements import forget_kept_announcements
from teams.audit import LASTING, AuditAction
from teams.models import IdentityProvider, Membership, Role, Scope, Team, User
from tests.architecture.access_table import Codes
from tests.architecture.page_table import FRAMES
from tests.architecture.test_access_matrix import (
    ASYNC,
    PAGES,
    ROWS,
    World,
    _address,
    _body,
    _make_world,
)
from tests.architecture.test_audit_doors import recorded_by
from tests.factories import make_invite, make_token, make_user
from tests.teams.test_page_access import TABLE

OWNER, ADMIN, MEMBER, VIEWER, OUTSIDER, NOBODY = range(6)
# There it is one of vera's own.
OF_VERA = {"post device", "get token_revoke", "post token_revoke"}


@dataclass(frozen=True)
class Asked:
    """A request, and what the people of the tables are answered."""

    name: str
    method: str
    path: str
    codes: Codes
    body: dict[str, Any]
    is_page: bool
    # Read by our own scripts, which go nowhere else.
    is_frames: bool = False
    is_async: bool = False

    @property
    def is_public(self) -> bool:
        return self.codes[NOBODY] == 200

    @property
    def is_of_team(self) -> bool:
        """Whether it depends on who is in the team."""
        return self.codes[OWNER] != self.codes[OUTSIDER]


def asked_of(world: World) -> Iterator[Asked]:
    """Every route with every method that it takes. Other tests hold the tables to the map."""
    names = world.names
    for row in ROWS:
        has_body = bool(row.send) or row.method not in {"get", "delete"}
        yield Asked(
            str(row),
            row.method,
            # Whoever is refused does not wait, however slow this machine is.
            _address(row, names).replace("?timeout=0.1", "?timeout=9"),
            row.codes,
            _body(row, names) if has_body else {},
            is_page=row in PAGES,
            is_frames=row.codes == FRAMES,
            is_async=row.route in ASYNC,
        )
    of_people = {
        "service": names["account_id"],
        "group": names["group_id"],
        "service_token": names["key_id"],
        "member": names["member_id"],
        "invite": names["invitation_id"],
        "secret": names["invite_secret"],
        "token": "tok_none",
        "member_token": names["member_token"],
        "device": "0",
    }
    for page in TABLE:
        path = page.path.format(**of_people)
        name = f"{page.method} {page.name}"
        codes = (page.codes[OUTSIDER],) * 5 + (page.codes[NOBODY],) if name in OF_VERA else None
        yield Asked(name, page.method, path, codes or page.codes, {}, is_page=True)


@dataclass(frozen=True)
class Who:
    """What a client says of itself: the key of a browser's session, or a header."""

    session: str = ""
    header: str = ""


Wanted = Callable[[Asked], set[int]]


@dataclass(frozen=True)
class Case:
    """Somebody who falls short of a policy. `pages` is whether they have a browser."""

    who: Who
    wanted: Wanted
    has_browser: bool = True
    sentence: str = ""
    sees_work: bool = False
    only_writes: bool = False


def browser_of(user: User, *records: dict[str, str]) -> Who:
    client = Client()
    client.force_login(user)
    session = client.session
    session["account_authentication_methods"] = list(records)
    session["account_authentication_methods_user"] = str(user.pk)
    session.save()
    UserSession.objects.create(user=user, session_key=session.session_key, ip="203.0.113.9")
    return Who(session=str(session.session_key))


def bearer_of(user: User, team: Team) -> Who:
    return Who(header=f"Bearer {make_token(user, team)[1]}")


def basic_of(user: User, team: Team) -> Who:
    pair = f"{user.email}:{make_token(user, team)[1]}"
    return Who(header=f"Basic {base64.b64encode(pair.encode()).decode()}")


def as_(who: int) -> Wanted:
    return lambda asked: {asked.codes[who]}


def outsider(asked: Asked) -> set[int]:
    # Somebody without any team, unlike the one of the tables.
    return {400} if asked.name == "post token" else {asked.codes[OUTSIDER]}


def nobody(asked: Asked) -> set[int]:
    # The invitation of the table was by somebody who is gone.
    return {404} if asked.name == "get invite" else {asked.codes[NOBODY]}


def kept_out(asked: Asked) -> set[int]:
    """Led to where the sign-in can be completed, or told what is missing."""
    code = asked.codes[OUTSIDER]
    if not asked.is_of_team and code != 404:
        # Whoever may not come in makes no key either.
        return {403} if asked.name == "post token" else {code}
    if not asked.is_of_team:
        # Perhaps of the team, and perhaps not there at all.
        return {404, 403, 302 if asked.is_page else 403}
    if not asked.is_page or asked.is_frames:
        return {403, asked.codes[OUTSIDER]}
    return {302} if asked.method == "get" else {403}


def refused(code: int) -> Wanted:
    """As the API answers whoever shows a token that is not good, or not yet."""
    return lambda asked: {200} if asked.is_public else {code}


def in_emergency(asked: Asked) -> set[int]:
    code = asked.codes[ADMIN]
    if code >= 400 or not asked.is_of_team:
        return {code}
    # A form says it beside its button.
    does = recorded_by(asked.name)
    # That there is no approver is nothing new. Of service accounts the table shows the tokens.
    is_lasting = does in LASTING and asked.name != "post member_approver"
    return {403, 422} if is_lasting or does == AuditAction.TOKEN_CREATED else {code}


def in_maintenance(asked: Asked) -> set[int]:
    code = asked.codes[OWNER]
    if code >= 400:
        return {code}
    is_prompt = recorded_by(asked.name) == AuditAction.PROMPT_ADMITTED
    return {503} if is_prompt or asked.name == "post t/<slug:team>/start" else {code}


SSO = "Acme requires single sign-on."
CORP = "Acme requires single sign-on with Corp."
MFA = "Acme requires multi-factor authentication."


@dataclass(frozen=True)
class Stage:
    """Who is there before a policy applies."""

    alice: User
    root: User
    team: Team

    def require(self, **policy: object) -> None:
        Team.objects.filter(pk=self.team.pk).update(**policy)

    def providers(self) -> None:
        for slug in ("corp", "other"):
            IdentityProvider.objects.create(slug=slug, name=slug.title(), kind="oidc")
        SocialAccount.objects.create(user=self.alice, provider="other", uid="1")

    def enter(self, role: Role) -> None:
        self.team.refresh_from_db()
        break_glass(self.root, self.team, reason="To mend what is broken", role=role, hours=1)


def mfa_missing(stage: Stage) -> Case:
    stage.require(requires_mfa=True)
    return Case(browser_of(stage.alice, {"method": "password"}), kept_out, sentence=MFA)


def mfa_missing_on_the_server(stage: Stage) -> Case:
    stage.require(instance_requires_mfa=True)
    return Case(browser_of(stage.alice, {"method": "password"}), kept_out, sentence=MFA)


def sso_missing(stage: Stage) -> Case:
    stage.providers()
    stage.require(requires_sso=True)
    records = ({"method": "password"}, {"method": "mfa", "type": "totp"})
    return Case(browser_of(stage.alice, *records), kept_out, sentence=SSO)


def sso_of_another_provider(stage: Stage) -> Case:
    stage.providers()
    stage.require(requires_sso=True, sso_provider="corp")
    records = {"method": "socialaccount", "provider": "other"}
    return Case(browser_of(stage.alice, records), kept_out, sentence=CORP)


def token_without_mfa(stage: Stage) -> Case:
    who = bearer_of(stage.alice, stage.team)
    stage.require(requires_mfa=True)
    return Case(who, refused(403), has_browser=False, sentence=MFA)


def genuine_client_without_sso(stage: Stage) -> Case:
    stage.providers()
    who = basic_of(stage.alice, stage.team)
    stage.require(requires_sso=True, sso_provider="corp")
    return Case(who, refused(403), has_browser=False, sentence=CORP)


def deactivated(stage: Stage) -> Case:
    who = browser_of(stage.alice)
    deactivate_account(stage.alice, actor=None, reason="Left")
    return Case(who, nobody)


def deactivated_with_a_token(stage: Stage) -> Case:
    who = bearer_of(stage.alice, stage.team)
    deactivate_account(stage.alice, actor=None, reason="Left")
    return Case(who, refused(401), has_browser=False)


def reactivated(stage: Stage) -> Case:
    who = replace(browser_of(stage.alice), header=basic_of(stage.alice, stage.team).header)
    deactivate_account(stage.alice, actor=None, reason="Left")
    reactivate_account(stage.alice, actor=None, reason="Back")
    return Case(who, lambda asked: nobody(asked) if asked.is_page else refused(401)(asked))


def signed_out_everywhere(stage: Stage) -> Case:
    who = browser_of(stage.alice)
    sign_out_account(stage.alice, actor=stage.root, reason="Lost a laptop")
    return Case(who, as_(NOBODY))


def signed_out_with_a_token(stage: Stage) -> Case:
    who = basic_of(stage.alice, stage.team)
    sign_out_account(stage.alice, actor=stage.root, reason="Lost a laptop")
    return Case(who, refused(401), has_browser=False)


def emergency_to_read(stage: Stage) -> Case:
    stage.enter(Role.VIEWER)
    return Case(browser_of(stage.root), as_(VIEWER), sees_work=True)


def emergency_to_write(stage: Stage) -> Case:
    stage.enter(Role.ADMIN)
    return Case(browser_of(stage.root), in_emergency, sees_work=True, only_writes=True)


def emergency_that_is_over(stage: Stage) -> Case:
    stage.enter(Role.ADMIN)
    Membership.objects.filter(user=stage.root).update(expires_at=timezone.now())
    return Case(browser_of(stage.root), outsider)


def role_by_a_claim(stage: Stage) -> Case:
    stage.providers()
    clara = make_user("clara@example.com")
    corp = IdentityProvider.objects.get(slug="corp")
    apply_roles(clara, provider=corp, roles={stage.team.pk: Role.ADMIN})
    apply_roles(clara, provider=corp, roles={stage.team.pk: Role.VIEWER})
    return Case(browser_of(clara), as_(VIEWER), sees_work=True)


def claim_that_is_gone(stage: Stage) -> Case:
    stage.providers()
    clara = make_user("clara@example.com")
    corp = IdentityProvider.objects.get(slug="corp")
    apply_roles(clara, provider=corp, roles={stage.team.pk: Role.ADMIN})
    apply_roles(clara, provider=corp, roles={stage.team.pk: None})
    return Case(browser_of(clara), outsider)


def maintenance(stage: Stage) -> Case:
    post_announcement(stage.root, Draft("Back at noon", stops_prompts=True))
    # The transaction of the test never commits.
    forget_kept_announcements()
    return Case(browser_of(stage.alice), in_maintenance, sees_work=True, only_writes=True)


def token_of_a_directory(stage: Stage) -> Case:
    secret = create_directory_token(stage.root, name="Okta")[1]
    return Case(Who(header=f"Bearer {secret}"), refused(401), has_browser=False)


def token_of_an_mcp_client(stage: Stage) -> Case:
    made = create_token(
        stage.alice, team=stage.team, name="Claude", scope=Scope.WRITE, client="c" * 64
    )
    return Case(Who(header=f"Bearer {made[1]}"), refused(401), has_browser=False)


# Who is refused everything changes nothing, and can ask asynchronous views, too.
REFUSED: list[Callable[[Stage], Case]] = [
    mfa_missing,
    token_without_mfa,
    deactivated,
    token_of_an_mcp_client,
    mfa_missing_on_the_server,
    sso_missing,
    sso_of_another_provider,
    genuine_client_without_sso,
    deactivated_with_a_token,
    reactivated,
    signed_out_everywhere,
    signed_out_with_a_token,
    emergency_that_is_over,
    claim_that_is_gone,
    token_of_a_directory,
]
CASES = [*REFUSED, emergency_to_write, emergency_to_read, role_by_a_claim, maintenance]


def set_stage() -> Stage:
    root = make_user("root@example.com", operator=True)
    return Stage(User.objects.get(email="alice@example.com"), root, Team.objects.get(slug="acme"))


def make_policy_world(folder: Path) -> World:
    made = _make_world(folder)
    alice, team = User.objects.get(email="alice@example.com"), Team.objects.get(slug="acme")
    made.names["invite_secret"] = make_invite(alice, team)[1]
    member = Membership.objects.get(pk=made.names["member_id"])
    made.names["member_token"] = make_token(member.user, team)[0].pk
    return made
