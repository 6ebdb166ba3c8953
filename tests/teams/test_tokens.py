from __future__ import annotations

import base64
import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from opencode_web.lib import crypto
from opencode_web.lib.errors import Forbidden, Invalid, NotFound, TooManyRequests
from teams.access import access_team
from teams.actions.attempts import OF_ACCOUNT, OF_ADDRESS
from teams.actions.members import leave_team, remove_member
from teams.actions.tokens import revoke_token
from teams.auth import (
    authenticate_header,
    authenticate_user,
    is_live,
    principal_teams,
)
from teams.models import ApiToken, AuditEntry, FailedAttempt, Membership, Role, Scope, Team, User
from tests.factories import add_member, make_failures, make_team, make_token, make_user

pytestmark = pytest.mark.django_db


def basic(email: str, secret: str) -> str:
    return "Basic " + base64.b64encode(f"{email}:{secret}".encode()).decode()


def test_the_secret_has_a_constant_shape_and_is_not_stored(bob: User, team: Team) -> None:
    secrets = [make_token(bob, team)[1] for _ in range(20)]
    assert all(re.fullmatch(r"ocw_[0-9A-Za-z]{40}", secret) for secret in secrets)
    assert len(set(secrets)) == 20
    stored = str(list(ApiToken.objects.values())) + str(list(AuditEntry.objects.values()))
    for secret in secrets:
        assert secret not in stored
        assert secret[12:] not in stored
        assert secret[:12] in stored


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_a_bearer_token_names_its_person_team_and_scopes(
    scheme: str, bob: User, team: Team
) -> None:
    token, secret = make_token(bob, team, Scope.WRITE)
    principal = authenticate_header(f"{scheme} {secret}")
    assert principal is not None
    assert (principal.user, principal.team, principal.via) == (bob, team, "token")
    assert principal.scopes == {Scope.READ, Scope.WRITE}
    assert principal.token_id == token.id


def test_basic_takes_the_address_in_any_case_and_only_the_own(
    alice: User, bob: User, team: Team
) -> None:
    _, secret = make_token(bob, team)
    principal = authenticate_header(basic("Bob@Example.com", secret))
    assert principal is not None
    assert principal.user == bob
    assert authenticate_header(basic(alice.email, secret)) is None
    assert authenticate_header(basic("", secret)) is None


def test_it_rejects_what_is_no_token(subtests: pytest.Subtests) -> None:
    cases = [
        "",
        "Bearer",
        "Bearer ",
        "Bearer ocw_",
        "Bearer " + "ocw_" + "a" * 40,
        "Bearer \x00",
        "Basic",
        "Basic !!!",
        "Basic " + base64.b64encode(b"\xff\xfe").decode(),
        "Basic " + base64.b64encode(b"no colon").decode(),
        "Digest x",
        "Bearer " + "ocw_" + "é" * 40,
    ]
    for header in cases:
        with subtests.test(header=header):
            assert authenticate_header(header) is None


def test_one_wrong_character_fails(bob: User, team: Team) -> None:
    _, secret = make_token(bob, team)
    wrong = secret[:-1] + ("a" if secret[-1] != "a" else "b")
    assert authenticate_header(f"Bearer {wrong}") is None
    assert authenticate_header(f"Bearer {secret}x") is None
    assert authenticate_header(f"Bearer {secret}") is not None


def _expire(token: ApiToken) -> None:
    ApiToken.objects.filter(pk=token.pk).update(expires_at=timezone.now())


def _revoke(token: ApiToken) -> None:
    revoke_token(token, actor=token.user)


def _deactivate(token: ApiToken) -> None:
    User.objects.filter(pk=token.user_id).update(is_active=False)


def _remove(token: ApiToken) -> None:
    owner = Membership.objects.get(team=token.team, role=Role.OWNER).user
    membership = Membership.objects.get(team=token.team, user=token.user)
    remove_member(membership, access=access_team(owner, token.team_id))


def _leave(token: ApiToken) -> None:
    leave_team(access_team(token.user, token.team_id))


def _lose_row(token: ApiToken) -> None:
    # Also without the action that revokes: the membership itself is looked at.
    Membership.objects.filter(team=token.team, user=token.user).delete()


@pytest.mark.parametrize("end", [_expire, _revoke, _deactivate, _remove, _leave, _lose_row])
def test_a_token_ends(end: object, bob: User, team: Team) -> None:
    token, secret = make_token(bob, team)
    assert authenticate_header(f"Bearer {secret}") is not None
    end(token)  # type: ignore[operator]
    assert authenticate_header(f"Bearer {secret}") is None


def test_a_token_stays_dead_when_its_person_comes_back(bob: User, team: Team) -> None:
    _, secret = make_token(bob, team)
    leave_team(access_team(bob, team.id))
    add_member(team, bob)
    assert authenticate_header(f"Bearer {secret}") is None


def test_leaving_one_team_leaves_the_tokens_of_others(bob: User, team: Team) -> None:
    other = make_team(bob, name="Other")
    _, secret = make_token(bob, other)
    leave_team(access_team(bob, team.id))
    assert authenticate_header(f"Bearer {secret}") is not None


def test_a_token_sees_one_team_and_a_cookie_all(bob: User, team: Team) -> None:
    other = make_team(bob, name="Other")
    _, secret = make_token(bob, team)
    principal = authenticate_header(f"Bearer {secret}")
    assert principal is not None
    assert principal_teams(principal) == [team]
    assert principal_teams(authenticate_user(bob)) == [team, other]
    Membership.objects.filter(team=team, user=bob).delete()
    assert principal_teams(principal) == []


@pytest.mark.parametrize(
    ("scope", "allowed"),
    [
        (Scope.READ, {Scope.READ}),
        (Scope.WRITE, {Scope.READ, Scope.WRITE}),
        (Scope.ADMIN, set(Scope)),
    ],
)
def test_scopes_include_the_lesser_ones(
    scope: Scope, allowed: set[Scope], bob: User, team: Team
) -> None:
    principal = authenticate_header(f"Bearer {make_token(bob, team, scope)[1]}")
    assert principal is not None
    assert principal.scopes == allowed
    for need in Scope:
        if need in allowed:
            principal.require(need)
        else:
            with pytest.raises(Forbidden, match=need.value):
                principal.require(need)


def test_only_members_make_tokens_and_not_for_the_past(
    charlie: User, bob: User, team: Team
) -> None:
    with pytest.raises(Forbidden):
        make_token(charlie, team)
    with pytest.raises(Invalid):
        make_token(bob, team, expires_at=timezone.now() - timedelta(seconds=1))


def test_revoking_twice_is_audited_once_and_only_by_the_owner_of_the_token(
    alice: User, bob: User, team: Team
) -> None:
    token, _ = make_token(bob, team)
    with pytest.raises(NotFound):
        revoke_token(token, actor=alice)
    revoke_token(token, actor=bob)
    first = ApiToken.objects.get().revoked_at
    revoke_token(token, actor=bob)
    assert ApiToken.objects.get().revoked_at == first
    assert AuditEntry.objects.filter(action="token.revoked").count() == 1


def test_use_is_noted_at_most_once_a_minute(
    bob: User, team: Team, django_assert_num_queries: object
) -> None:
    token, secret = make_token(bob, team)
    authenticate_header(f"Bearer {secret}")
    first = ApiToken.objects.get().last_used_at
    assert first is not None
    with django_assert_num_queries(2):  # type: ignore[operator]
        authenticate_header(f"Bearer {secret}")
    assert ApiToken.objects.get().last_used_at == first
    ApiToken.objects.update(last_used_at=first - timedelta(minutes=2))
    authenticate_header(f"Bearer {secret}")
    assert ApiToken.objects.get(pk=token.pk).last_used_at > first - timedelta(minutes=1)  # type: ignore[operator]


def test_an_address_that_guesses_has_to_wait(bob: User, team: Team) -> None:
    _, secret = make_token(bob, team)
    for _ in range(OF_ACCOUNT.free):
        assert authenticate_header("Bearer ocw_wrong", ip="192.0.2.1") is None
    with pytest.raises(TooManyRequests) as caught:
        authenticate_header("Bearer ocw_wrong", ip="192.0.2.1")
    assert caught.value.status == 429
    assert caught.value.data["retryAfter"] == 30
    assert authenticate_header("Bearer ocw_wrong", ip="192.0.2.2") is None
    # Somebody who fails must not lock out the others behind the same proxy.
    assert authenticate_header(f"Bearer {secret}", ip="192.0.2.1") is not None


def test_an_address_that_guesses_many_tokens_has_to_wait(bob: User, team: Team) -> None:
    make_failures("token", "192.0.2.1", OF_ADDRESS.free - 1)
    basic = base64.b64encode(b"somebody@example.com:ocw_wrong").decode()
    assert authenticate_header(f"Basic {basic}", ip="192.0.2.1") is None
    with pytest.raises(TooManyRequests):
        authenticate_header("Bearer ocw_other", ip="192.0.2.1")


def test_good_tokens_never_count(bob: User, team: Team) -> None:
    _, secret = make_token(bob, team)
    for _ in range(OF_ACCOUNT.free + 5):
        assert authenticate_header(f"Bearer {secret}", ip="192.0.2.1") is not None
    assert not FailedAttempt.objects.exists()


def test_digests_are_compared_in_constant_time(
    bob: User, team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[tuple[str, str]] = []

    def compare(left: str, right: str) -> bool:
        compared.append((left, right))
        return left == right

    monkeypatch.setattr(crypto, "is_same", compare)
    token, secret = make_token(bob, team)
    authenticate_header(f"Bearer {secret}")
    assert compared == [(token.digest, token.digest)]


def test_an_inactive_stranger_with_the_same_prefix_does_not_help(team: Team, bob: User) -> None:
    token, secret = make_token(bob, team)
    twin, _ = make_token(bob, team, name="twin")
    ApiToken.objects.filter(pk=twin.pk).update(prefix=token.prefix)
    principal = authenticate_header(f"Bearer {secret}")
    assert principal is not None
    assert principal.token_id == token.id
    assert make_user("unused@example.com").api_tokens.count() == 0


@pytest.mark.parametrize("end", [_expire, _revoke, _deactivate, _remove])
def test_an_open_connection_sees_that_its_token_ended(end: object, bob: User, team: Team) -> None:
    token, secret = make_token(bob, team)
    principal = authenticate_header(f"Bearer {secret}")
    assert principal is not None
    assert is_live(principal)
    end(token)  # type: ignore[operator]
    assert not is_live(principal)


def test_an_open_connection_of_a_browser_ends_with_the_account(bob: User) -> None:
    principal = authenticate_user(bob)
    assert is_live(principal)
    User.objects.update(is_active=False)
    assert not is_live(principal)


def test_a_token_survives_the_rotation_of_the_secret(bob: User, team: Team, settings: Any) -> None:
    _, secret = make_token(bob, team)
    old = settings.SECRET_KEY
    settings.SECRET_KEY = "another-" + "y" * 40
    assert authenticate_header(f"Bearer {secret}") is None
    settings.SECRET_KEY_FALLBACKS = [old]
    assert authenticate_header(f"Bearer {secret}") is not None
    newer = make_token(bob, team)[1]
    settings.SECRET_KEY_FALLBACKS = []
    assert authenticate_header(f"Bearer {newer}") is not None


def test_admins_see_and_end_the_tokens_of_members_for_their_team(
    team: Team,
    alice: User,
    adam: User,
    bob: User,
    charlie: User,
    client_for: Callable[[User | None], Client],
) -> None:
    row, secret = make_token(bob, team, name="bobs-script")
    owners, _ = make_token(alice, team, name="alices-script")
    theirs, _ = make_token(charlie, Team.objects.get(slug="globex"), name="elsewhere")
    page = client_for(adam).get("/t/acme/settings/members").content.decode()
    assert "bobs-script" in page
    assert "elsewhere" not in page
    assert secret not in page
    assert "bobs-script" not in client_for(bob).get("/t/acme/settings/members").content.decode()
    url = "/t/acme/settings/members/tokens/{}/revoke"
    codes = [client_for(adam).post(url.format(one.pk)).status_code for one in (owners, theirs)]
    assert codes == [403, 404]
    assert client_for(adam).post(url.format(row.pk)).status_code == 302
    assert authenticate_header(f"Bearer {secret}") is None
    entry = AuditEntry.objects.get(action="token.revoked")
    assert (entry.actor, entry.team, entry.target_id) == (adam, team, row.pk)
    left = ApiToken.objects.live().values_list("name", flat=True)
    assert set(left) == {"alices-script", "elsewhere"}
