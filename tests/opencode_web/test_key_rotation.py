from __future__ import annotations

import ast
import io
from datetime import timedelta
from pathlib import Path

import pytest
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP
from django.core.management import CommandError, call_command
from django.test import Client
from pytest_django import Settings

from opencode_web.key_rotation import encrypted_fields
from opencode_web.lib.crypto import decrypt, encrypt
from sessions.actions.shares import create_share
from sessions.models import ProjectSecret
from sessions.shares.access import access_shared
from sessions.shares.links import share_token
from teams.access import access_team
from teams.actions.audit import sign_chain
from teams.actions.invites import create_invite, find_invite
from teams.actions.tokens import create_token
from teams.audit import AuditAction, record
from teams.audit_chain.verify import verify_chain
from teams.models import AuditEntry, FormerKey, Role, Scope, SignedHead, Team, User
from tests.architecture.sources import ROOMS, modules, name_of, tree_of
from tests.filled import fill
from tests.sessions.factories import make_project, make_session, session_access

pytestmark = pytest.mark.django_db

OLD, NEW, NEWER = "old-" * 15, "new-" * 15, "newer-" * 10
# What is not stored in a field of a model: it is on its way, and too old within minutes.
IN_TRANSIT = {
    "sessions/actions/checkouts.py": "the credential of a job, for its task",
    "sessions/actions/projects.py": "the credential of a clone, for its task",
    "sessions/actions/publish.py": "the credential of a job, for its task",
    "sessions/actions/terminals.py": "the environment of a terminal, for its task",
}
STORED = {
    "opencode_web/lib/crypto.py": "teams.FormerKey.sealed",
    "providers/actions/sign_ins.py": "providers.SignInAttempt.state",
    "providers/credentials.py": "providers.Credential.secret",
    "providers/grants.py": "providers.Credential.secret",
    "sessions/actions/change_requests.py": "agent_sessions.ChangeRequest.arguments",
    "sessions/actions/mcp_sign_ins.py": "agent_sessions.McpSignIn.sealed",
    "sessions/actions/notifications.py": "agent_sessions.PushSubscription.endpoint",
    "sessions/actions/publishing.py": "agent_sessions.ProjectForge.token",
    "sessions/actions/search.py": "agent_sessions.TeamSearch.secret",
    "sessions/actions/secrets.py": "agent_sessions.ProjectSecret.value",
    "sessions/actions/team_secrets.py": "agent_sessions.TeamSecret.value",
    "sessions/actions/webhooks.py": "agent_sessions.Webhook.secret",
    "sessions/github_tokens.py": "agent_sessions.GitHubInstallation.token",
    "sessions/integrations/github_app.py": "agent_sessions.GitHubApp.private_key",
    "sessions/integrations/setup.py": "agent_sessions.Integration.secret",
    "sessions/integrations/trackers.py": "agent_sessions.Integration.token",
    "sessions/integrations/slack/setup.py": "agent_sessions.SlackWorkspace.bot_token",
    "sessions/notifications/push_key.py": "agent_sessions.PushKey.private",
    "sessions/runner/log/held_inputs.py": "agent_sessions.HeldInput.arguments",
    "teams/actions/idempotency.py": "teams.IdempotencyKey.answer",
    "teams/actions/identity.py": "teams.IdentityProvider.secret",
}
# In the JSON of allauth's own model.
OF_ALLAUTH = {"teams/identity/factors.py": "mfa.Authenticator.data"}


def rotate() -> str:
    out = io.StringIO()
    call_command("rotate_keys", stdout=out, stderr=out)
    return out.getvalue()


@pytest.fixture
def keys(settings: Settings) -> Settings:
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = OLD, []
    return settings


def renew(settings: Settings, *keys: str) -> None:
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = keys[0], list(keys[1:])


def test_every_encrypted_field_of_every_model_is_rotated(keys: Settings) -> None:
    rows = fill()
    for model, name in encrypted_fields():
        model._default_manager.update(**{name: encrypt(f"secret of {name}")})
    assert len(encrypted_fields()) >= 10
    assert {model for model, _ in encrypted_fields()} <= rows.keys()
    renew(keys, NEW, OLD)
    assert f"Done: {len(encrypted_fields())} rotated." in rotate()
    assert "Done: 0 rotated." in rotate()
    entry = AuditEntry.objects.filter(action="keys.rotated").earliest("pk")
    assert (entry.team, entry.actor_kind, entry.data["unreadable"]) == (None, "server", 0)
    assert entry.data["rotated"] == len(encrypted_fields())
    renew(keys, NEW)
    for model, name in encrypted_fields():
        for stored in model._default_manager.values_list(name, flat=True):
            assert decrypt(stored) in {f"secret of {name}", _token_key_of_old(stored)}


def test_second_factors_are_rotated(keys: Settings, alice: User) -> None:
    totp = TOTP.activate(alice, "JBSWY3DPEHPK3PXP").instance
    codes = RecoveryCodes.activate(alice)
    unused, stored = codes.get_unused_codes(), {*totp.data, *codes.instance.data}
    # Whatever else allauth comes to keep has to be looked at.
    assert stored == {"secret", "seed", "used_mask"}
    renew(keys, NEW, OLD)
    assert "second factors: 2 rotated" in rotate()
    assert "second factors: 0 rotated, 2 current" in rotate()
    renew(keys, NEW)
    totp.refresh_from_db()
    codes.instance.refresh_from_db()
    assert decrypt(totp.data["secret"]) == "JBSWY3DPEHPK3PXP"
    assert codes.get_unused_codes() == unused
    renew(keys, NEWER)
    out = io.StringIO()
    with pytest.raises(CommandError, match="secrets cannot be read"):
        call_command("rotate_keys", stdout=out, stderr=out)
    assert f"second factors: no key opens {totp.pk}, {codes.instance.pk}" in out.getvalue()


def _token_key_of_old(stored: str) -> str:
    row = FormerKey.objects.filter(sealed=stored).first()
    return decrypt(row.sealed) if row else ""


def test_whatever_is_encrypted_goes_into_a_field_that_is_rotated() -> None:
    callers = {
        name_of(path)
        for path in modules(*ROOMS)
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "encrypt"
    }
    assert callers == IN_TRANSIT.keys() | STORED.keys() | OF_ALLAUTH.keys()
    known = {f"{model._meta.label}.{name}" for model, name in encrypted_fields()}
    assert set(STORED.values()) <= known


def test_a_secret_that_no_key_opens_is_named_and_the_others_are_rotated(keys: Settings) -> None:
    fill()
    secret = ProjectSecret.objects.get()
    secret.value = encrypt("hush")
    secret.save()
    other = ProjectSecret.objects.create(
        project=secret.project, name="other", value="damaged", updated_at=secret.updated_at
    )
    for model, name in encrypted_fields():
        if model is not ProjectSecret:
            model._default_manager.update(**{name: encrypt("x")})
    renew(keys, NEW, OLD)
    out = io.StringIO()
    with pytest.raises(CommandError, match="1 secrets cannot be read"):
        call_command("rotate_keys", stdout=out, stderr=out)
    assert f"agent_sessions.ProjectSecret.value: no key opens {other.pk}" in out.getvalue()
    renew(keys, NEW)
    secret.refresh_from_db()
    assert decrypt(secret.value) == "hush"


def test_people_stay_signed_in_and_tokens_and_links_go_on(
    keys: Settings, alice: User, team: Team, tmp_path: Path
) -> None:
    session = make_session(alice, make_project(team, tmp_path / "shop"))
    browser, idle = Client(), Client()
    browser.force_login(alice)
    idle.force_login(alice)
    access = access_team(alice, team.slug)
    token, secret = create_token(alice, team=team, name="ci", scope=Scope.READ)
    _, invitation = create_invite(access, role=Role.MEMBER, lifetime=timedelta(days=3))
    share = create_share(session_access(alice, session), scope="team", details=False, days=None)
    link = share_token(share.pk)
    bearer = {"authorization": f"Bearer {secret}"}

    for former, new in ((OLD, NEW), (NEW, NEWER)):
        renew(keys, new, former)
        assert browser.get("/project").status_code == 200
        rotate()
        renew(keys, new)
        for one in (browser, idle):
            assert one.get("/project").status_code == 200
    assert Client().get("/project", headers=bearer).status_code == 200
    digest = token.digest
    token.refresh_from_db()
    assert token.digest != digest
    assert find_invite(invitation).team == team
    assert access_shared(link) == share
    assert access_shared(share_token(share.pk)) == share
    FormerKey.objects.all().delete()
    assert Client().get("/project", headers=bearer).status_code == 200


@pytest.mark.django_db(transaction=True)
def test_signed_heads_of_dropped_keys_still_verify(keys: Settings, alice: User, team: Team) -> None:
    for former, new in ((OLD, NEW), (NEW, NEWER)):
        record(AuditAction.SKILL_SAVED, actor=alice, team=team)
        sign_chain(team.pk)
        renew(keys, new, former)
        rotate()
        renew(keys, new)
        assert verify_chain(team.pk).problem == ""
        assert sign_chain(team.pk).problem == ""
    assert len({head.public_key for head in SignedHead.objects.all()}) == 2
    # Whoever writes into the database has no key that counts.
    for row in FormerKey.objects.all():
        row.audit_key = row.audit_key.partition(":")[0]
        row.save()
    assert "a key that this server does not know" in verify_chain(team.pk).problem


def test_without_a_rotation_a_dropped_key_ends_what_it_made(
    keys: Settings, alice: User, team: Team
) -> None:
    browser = Client()
    browser.force_login(alice)
    renew(keys, NEW)
    assert browser.get("/project").status_code == 401
