"""What a cloud account has in place of a key, and the access tokens that are made of it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

from providers.account_model import AccountModel
from providers.clouds import CLIENT, CLIENT_SECRET, KEY_FILE, PROFILE, TENANT
from providers.llm.secret import Secret
from providers.llm.sign_in import Grant, Http
from providers.llm.sign_in.clouds import (
    Application,
    entra_grant,
    entra_scope,
    google_grant,
    profile_grant,
    read_key_file,
)
from providers.llm.sign_in.errors import SignInError


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


async def mint(source: Source, http: Http) -> Grant:
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
