"""Our rows of identity providers in the shape that allauth asks for."""

from __future__ import annotations

from importlib.util import find_spec

from allauth.socialaccount.models import SocialApp, SocialLogin
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.utils import build_absolute_uri
from django.http import HttpRequest
from django.urls import reverse

from opencode_web.lib.crypto import DecryptionError, decrypt
from opencode_web.lib.json import JsonObject
from teams.models import DOMAIN_CLAIM, IdentityProvider

Kind = IdentityProvider.Kind
# allauth has one provider for everything that speaks OpenID Connect.
_ALLAUTH = {Kind.GITHUB: "github", Kind.SAML: "saml"}
# Where the presets are.
ISSUERS = {Kind.GOOGLE: "https://accounts.google.com", Kind.GITLAB: "https://gitlab.com"}


def has_saml() -> bool:
    """Whether the packages of the extra `saml` are installed."""
    return find_spec("onelogin") is not None


def is_openid(kind: str) -> bool:
    """Whether a kind speaks OpenID Connect, as all but two do."""
    return kind not in _ALLAUTH


def to_app(row: IdentityProvider) -> SocialApp:
    """Returns: what allauth knows a provider by; it is not stored.

    Raises: OAuth2Error when the secret cannot be read any more.
    """
    try:
        secret = decrypt(row.secret) if row.secret else ""
    except DecryptionError as exc:
        raise OAuth2Error(str(exc)) from exc
    settings: JsonObject = {
        "oauth_pkce_enabled": True,
        "verified_email": list(row.domains) if row.trusts_email else False,
    }
    if is_openid(row.kind):
        settings["server_url"] = row.server_url
    if row.kind == Kind.SAML:
        # This server may have a name without a dot.
        advanced: JsonObject = {"want_assertion_signed": True, "allow_single_label_domains": True}
        settings |= {"idp": row.metadata, "advanced": advanced}
    return SocialApp(
        provider=_ALLAUTH.get(Kind(row.kind), "openid_connect"),
        provider_id=row.slug,
        name=row.name,
        client_id=row.slug if row.kind == Kind.SAML else row.client_id,
        secret=secret,
        settings=settings,
    )


def return_address(request: HttpRequest, row: IdentityProvider) -> list[str]:
    """Returns: what the provider has to know of this server: where people come back to; for SAML
    its metadata, too."""
    names = ["github_callback" if row.kind == Kind.GITHUB else "openid_connect_callback"]
    if row.kind == Kind.SAML:
        names = ["saml_acs", "saml_metadata"] if has_saml() else []
    args = [] if row.kind == Kind.GITHUB else [row.slug]
    return [build_absolute_uri(request, reverse(name, args=args)) for name in names]


def confirmed_emails(login: SocialLogin) -> list[str]:
    """Returns: the addresses that the provider says it has confirmed, in lower case."""
    # Some send the text "false", which is no false.
    rows = (row for row in login.email_addresses if str(row.verified).lower() == "true")
    return [row.email.lower() for row in rows]


def claim_values(login: SocialLogin, claim: str) -> set[str]:
    """Returns: what the provider says under a name, or a path such as `realm_access.roles`."""
    if claim == DOMAIN_CLAIM:
        return {email.rpartition("@")[2] for email in confirmed_emails(login)}
    data = login.account.extra_data
    if "id_token" in data:
        data = {**data["id_token"], **data.get("userinfo", {})}
    value = data.get(claim)
    if value is None:
        value = data
        for part in claim.split("."):
            value = value.get(part) if isinstance(value, dict) else None
    values = value if isinstance(value, list) else [value]
    return {str(one) for one in values if isinstance(one, str | int)}
