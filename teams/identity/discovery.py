"""What identity providers say about themselves, read when an operator sets one up."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import requests
from django.utils.translation import gettext as _

from opencode_web.lib.errors import Invalid
from opencode_web.lib.json import JsonObject
from teams.identity.providers import has_saml
from teams.identity.transport import guarded_session

WELL_KNOWN = "/.well-known/openid-configuration"


def check_issuer(server_url: str) -> None:
    """Raises: Invalid when there is no OpenID Connect server of this name."""
    address = server_url.rstrip("/") + WELL_KNOWN
    answer = _get(address, field="server_url")
    try:
        issuer = str(answer.json()["issuer"])
    except (ValueError, KeyError, TypeError) as exc:
        message = _("%(address)s is not an OpenID Connect discovery document.")
        raise Invalid(message % {"address": address}, field="server_url") from exc
    if issuer.rstrip("/") != server_url.rstrip("/"):
        message = _("The server names itself %(issuer)s. Enter this address.")
        raise Invalid(message % {"issuer": issuer}, field="server_url")


def read_metadata(text: str) -> JsonObject:
    """Read SAML metadata, or the address of it.

    Returns: what allauth wants to know about the provider. Raises: Invalid.
    """
    if not has_saml():
        raise Invalid(
            _("SAML is not installed on this server. Install opencode-web[saml] or use the image."),
            field="metadata",
        )
    # Of the extra, which may be missing.
    parser = import_module("onelogin.saml2.idp_metadata_parser").OneLogin_Saml2_IdPMetadataParser
    if text.strip().startswith(("https://", "http://")):
        text = _get(text.strip(), field="metadata").text
    try:
        idp: dict[str, Any] = parser.parse(text)["idp"]
        certificate = idp.get("x509cert") or idp["x509certMulti"]["signing"][0]
        found: JsonObject = {
            "entity_id": idp["entityId"],
            "sso_url": idp["singleSignOnService"]["url"],
            "x509cert": certificate,
        }
    except (SyntaxError, LookupError, TypeError, ValueError) as exc:
        raise Invalid(
            _("This is not SAML metadata of an identity provider."), field="metadata"
        ) from exc
    return found


def _get(address: str, *, field: str) -> requests.Response:
    try:
        with guarded_session() as session:
            response = session.get(address)
            response.raise_for_status()
    except requests.RequestException as exc:
        message = _("%(address)s cannot be read: %(reason)s.")
        raise Invalid(message % {"address": address, "reason": exc}, field=field) from exc
    return response
