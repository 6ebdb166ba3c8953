"""Access tokens that end: a call gets a new one in time, and of all processes one asks for it.

Tokens of a sign-in are stored where every process finds them, because most refresh tokens can be
used once. Tokens that are made of a key file or of an application's secret can be made as often as
one likes, so each process keeps its own.
"""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import httpx
from django.conf import settings

from opencode_web.lib.db import in_db
from providers.account_model import AccountModel
from providers.actions.sign_ins import claim_refresh, give_up_refresh, keep_refreshed
from providers.clouds import CLIENT, CLIENT_SECRET, KEY_FILE, PROFILE, TENANT
from providers.credentials import Picked, picked_of
from providers.grants import open_grant
from providers.llm.errors import AuthError, NetworkError
from providers.llm.messages import ResolvedModel
from providers.llm.secret import Secret
from providers.llm.sign_in import Grant, Http, sign_in_of
from providers.llm.sign_in.clouds import (
    Application,
    entra_grant,
    entra_scope,
    google_grant,
    profile_grant,
    read_key_file,
)
from providers.llm.sign_in.errors import BadInput, SignedOut, SignInError
from providers.models import Credential
from providers.reasons import ProviderReason

# Another process that refreshes is waited for as long.
_WAIT_S = 30.0
_LOOK_AGAIN_S = 0.1
_LEAST_OFTEN_S = 2.0
_EARLY_S = 60.0


@dataclass(frozen=True, slots=True)
class Source:
    """A key file of Google, an application of Microsoft Entra, or a profile of AWS on this host."""

    key_file: Secret | None = None
    application: Application | None = None
    scope: str = ""
    profile: str = ""
    digest: str = field(default="", repr=False)


def source_of(model: AccountModel) -> Source | None:
    """Returns: what tokens are made of for a model; None where its credential is one already.

    A profile is this host's own identity, so only an account of the instance may name one.
    """
    if key_file := model.secrets.get(KEY_FILE):
        return Source(key_file=key_file, digest=_digest(key_file.reveal()))
    if (secret := model.secrets.get(CLIENT_SECRET)) and not model.api_key:
        tenant, client = (model.connection.get(name, "") for name in (TENANT, CLIENT))
        scope = entra_scope(model.npm, model.base_url)
        digest = _digest("\n".join((tenant, client, scope, secret.reveal())))
        return Source(application=Application(tenant, client, secret), scope=scope, digest=digest)
    if model.is_of_instance and (profile := model.secrets.get(PROFILE)):
        return Source(profile=profile.reveal(), digest=_digest(profile.reveal()))
    return None


async def _mint(source: Source, http: Http) -> Grant:
    """Make a token. Raises: SignedOut when the account is refused for good; SignInError."""
    if source.key_file is not None:
        return await google_grant(read_key_file(source.key_file.reveal()), http)
    if source.application is not None:
        return await entra_grant(source.application, source.scope, http)
    if source.profile:
        return await profile_grant(source.profile)
    raise SignInError


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


class SignInEnded(AuthError):
    """Somebody has to sign in again."""

    advice = ProviderReason.SIGN_IN_AGAIN


async def fresh_model(model: ResolvedModel, transport: httpx.AsyncBaseTransport) -> ResolvedModel:
    """Returns: the model with a token that does not end before a call has begun.

    Raises: SignInEnded; AuthError; NetworkError when there is none to be had now.
    """
    if not isinstance(model, AccountModel) or model.credential_id is None:
        return model
    http = Http(transport, user_agent=f"opencode-web/{settings.VERSION}")
    if source := source_of(model):
        return _with(model, await _minted(model, source, http))
    early = timedelta(seconds=_early_s(model))
    if model.fresh_until is None or model.fresh_until > datetime.now(UTC) + early:
        return model
    # A refresh token that was used and not stored is lost, so this goes on if the call is stopped.
    refreshing = asyncio.create_task(_refreshed(model.credential_id, early, http))
    return _with(model, await asyncio.shield(refreshing))


def _early_s(model: AccountModel) -> float:
    sign_in = sign_in_of(model.ref.provider_id)
    return sign_in.refresh_early_s if sign_in else _EARLY_S


def _with(model: AccountModel, picked: Picked) -> AccountModel:
    return replace(
        model,
        api_key=picked.key,
        secrets=picked.secrets,
        connection={**model.connection, **picked.connection},
        base_url=picked.base_url or model.base_url,
        fresh_until=picked.expires_at,
    )


async def _refreshed(credential_id: int, early: timedelta, http: Http) -> Picked:
    deadline = asyncio.get_running_loop().time() + _WAIT_S
    wait_s = _LOOK_AGAIN_S
    while True:
        try:
            claimed = await in_db(claim_refresh, credential_id, early)
        except Credential.DoesNotExist as exc:
            raise SignInEnded(reason=ProviderReason.SIGN_IN_ENDED) from exc
        if claimed is not None:
            credential, is_mine = claimed
            if credential.fault:
                raise SignInEnded(reason=ProviderReason.SIGN_IN_ENDED)
            grant = open_grant(credential.secret)
            return picked_of(await _refresh(credential, grant, http) if is_mine else grant)
        if asyncio.get_running_loop().time() > deadline:
            raise NetworkError(reason=ProviderReason.NOT_RENEWED)
        await asyncio.sleep(wait_s)
        wait_s = min(wait_s * 1.5, _LEAST_OFTEN_S)


async def _refresh(credential: Credential, grant: Grant, http: Http) -> Grant:
    sign_in = sign_in_of(credential.provider.provider_id)
    if sign_in is None:
        await in_db(give_up_refresh, credential, is_signed_out=True)
        raise SignInEnded(reason=ProviderReason.SIGN_IN_ENDED)
    try:
        renewed = await sign_in.refresh(grant, http)
    except SignedOut as exc:
        await in_db(give_up_refresh, credential, is_signed_out=True)
        raise SignInEnded(reason=ProviderReason.SIGN_IN_ENDED) from exc
    except SignInError as exc:
        await in_db(give_up_refresh, credential, is_signed_out=False)
        if grant.expires_at and grant.expires_at > datetime.now(UTC):
            return grant  # it was early, and this one still holds
        raise NetworkError(reason=ProviderReason.NOT_RENEWED) from exc
    await in_db(keep_refreshed, credential, renewed)
    return renewed


_tokens: dict[bytes, Grant] = {}


async def _minted(model: AccountModel, source: Source, http: Http) -> Picked:
    key = hashlib.sha256(repr((model.credential_id, source.digest)).encode()).digest()
    grant = _tokens.get(key)
    if grant is None or grant.is_due(datetime.now(UTC), _EARLY_S):
        try:
            grant = await _mint(source, http)
        except (SignedOut, BadInput) as exc:
            raise AuthError(exc.message) from exc
        except SignInError as exc:
            raise NetworkError(exc.message) from exc
        if len(_tokens) > 1_000:
            _tokens.clear()
        _tokens[key] = grant
    return picked_of(grant)
