"""Signing in to servers at an address, put together from the protocol's own package: see `remote`.

discover → register a client → the browser goes there and comes back with a code → exchange it.
Every address that a server names is asked over this server's guarded connections, bounded, and
without following redirects.
Source: https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization
"""

from __future__ import annotations

import base64
import json
import re
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

import httpx2
from mcp.client.auth import OAuthRegistrationError
from mcp.client.auth.oauth2 import PKCEParameters, check_registration_usable
from mcp.client.auth.utils import (
    build_oauth_authorization_server_metadata_discovery_urls,
    build_protected_resource_metadata_discovery_urls,
    extract_resource_metadata_from_www_auth,
    extract_scope_from_www_auth,
    get_client_metadata_scopes,
    issuers_match,
)
from mcp.shared.auth import (
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
    ProtectedResourceMetadata,
)
from mcp.shared.auth_utils import check_resource_allowed, resource_url_from_server_url
from pydantic import BaseModel, ValidationError

from tools.errors import ToolError
from tools.mcp.sign_in import Attempt, Begun, Client, Grant, NeedsRegistration, Revoked, Wish
from tools.mcp.web import Web

_ERROR_CODE = re.compile(r"[a-z_]{1,60}")
# Whoever says that something counts for longer says that it does not end.
_MAX_LIFE_S = 10 * 365 * 86_400
_UNREGISTERED = (
    "The server of its sign-in registers no clients by itself: register one there, and set its "
    "clientId and clientSecret under oauth in the settings."
)
_M = TypeVar("_M", bound=BaseModel)


class _Token(OAuthToken):
    """With what no standard has: GitHub and Microsoft say it by one name, Keycloak by another."""

    refresh_token_expires_in: int | None = None
    refresh_expires_in: int | None = None

    @property
    def renews_for_s(self) -> int | None:
        # Zero is Keycloak's for ever.
        return self.refresh_token_expires_in or self.refresh_expires_in or None


@dataclass(frozen=True)
class Found:
    """Where a server is signed in to."""

    metadata: OAuthMetadata
    resource: str
    scope: str

    @property
    def issuer(self) -> str:
        """As its server spells it."""
        return str(self.metadata.issuer)


async def discover(url: str, challenge: str) -> Found:
    """Find out where a server is signed in to.

    Raises: ToolError where that cannot be found out, or is not safe.
    """
    web = Web()
    answer = httpx2.Response(401, headers={"www-authenticate": challenge} if challenge else {})
    own = resource_url_from_server_url(url)
    described = None
    for where in build_protected_resource_metadata_discovery_urls(
        extract_resource_metadata_from_www_auth(answer), url
    ):
        described = await _described(web, where, ProtectedResourceMetadata)
        if described is not None:
            break
    if described is not None and not check_resource_allowed(own, str(described.resource)):
        raise ToolError("The server's sign-in metadata is for another server.")
    at = str(described.authorization_servers[0]) if described else None
    metadata = await _metadata(web, at, url)
    scope = get_client_metadata_scopes(
        extract_scope_from_www_auth(answer), described, metadata, ["refresh_token"]
    )
    return Found(metadata, str(described.resource) if described else own, scope or "")


async def survey(url: str, challenge: str, *, has_client: bool) -> None:
    """See whether somebody can sign in.

    Raises: ToolError where that is not possible; NeedsRegistration as `begin`.
    """
    found = await discover(url, challenge)
    if not has_client and found.metadata.registration_endpoint is None:
        raise NeedsRegistration(_UNREGISTERED)


async def begin(wish: Wish) -> Begun:
    """Begin to sign in.

    Raises: ToolError; NeedsRegistration where nobody has registered a client.
    """
    web = Web()
    found = await discover(wish.url, wish.challenge)
    client = await _client(web, found, wish)
    scope = wish.scope or found.scope
    proof, state = PKCEParameters.generate(), secrets.token_urlsafe(32)
    asked = {
        "response_type": "code",
        "client_id": client.client_id,
        "redirect_uri": client.redirect_uri,
        "state": state,
        "code_challenge": proof.code_challenge,
        "code_challenge_method": "S256",
        "resource": client.resource,
        **({"scope": scope} if scope else {}),
        **({"prompt": "consent"} if "offline_access" in scope.split() else {}),
    }
    at = urlsplit(await web.checked(found.metadata.authorization_endpoint))
    query = urlencode([*parse_qsl(at.query, keep_blank_values=True), *asked.items()])
    attempt = Attempt(client=client, verifier=proof.code_verifier, scope=scope)
    return Begun(urlunsplit(at._replace(query=query)), state, attempt)


async def finish(attempt: Attempt, code: str, issuer: str | None) -> Grant:
    """Exchange the code that a browser came back with. `issuer` is what it was told of its origin.

    Raises: ToolError.
    """
    client = attempt.client
    if issuer != client.issuer and (issuer or client.names_itself):
        raise ToolError("The response does not come from the server where the sign-in was started.")
    asked = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": client.redirect_uri,
        "code_verifier": attempt.verifier,
    }
    status, token = await _token(client, asked)
    if isinstance(token, str):
        raise ToolError(f"The sign-in was rejected with status {status}{token}.")
    return _grant(client, token, attempt.scope, "")


async def renew(grant: Grant) -> Grant:
    """Have what was granted renewed.

    Raises: Revoked where that is refused, ToolError where it cannot be tried.
    """
    if not grant.refresh_token:
        raise Revoked("It has to be signed in to again.")
    asked = {"grant_type": "refresh_token", "refresh_token": grant.refresh_token}
    status, token = await _token(grant.client, asked)
    if isinstance(token, str):
        message = f"The sign-in could not be renewed: it was refused with {status}{token}."
        raise Revoked(message) if status in {400, 401, 403} else ToolError(message)
    return _grant(grant.client, token, grant.scope, grant.refresh_token)


async def revoke(grant: Grant) -> bool:
    """Give back what was granted. Returns: whether nothing is left to do.

    Raises: ToolError where it cannot be tried.
    Source: RFC 7009; the server answers with 200 also for what it does not know.
    """
    if not grant.client.revocation_url:
        return True
    # Most forget all of a grant with what renews it, and some only what they are told.
    given = {"refresh_token": grant.refresh_token, "access_token": grant.access_token}
    web, statuses = Web(), []
    for hint, token in given.items():
        if token:
            form, headers = _identified(grant.client, {"token": token, "token_type_hint": hint})
            if grant.client.method == "none":
                # Servers made with the protocol's Python package refuse a form without it.
                form["client_secret"] = ""
            url = grant.client.revocation_url
            status, _ = await web.ask("POST", url, form=form, headers=headers)
            statuses.append(status)
    # What is refused now will be refused again.
    return all(status != 429 and status < 500 for status in statuses)


async def _described(web: Web, url: object, model: type[_M]) -> _M | None:
    status, body = await web.ask("GET", url)
    if status == 429 or status >= 500:
        # It does not say that there is nothing, so nothing else may be taken instead.
        raise ToolError(
            f"The server's sign-in metadata could not be read: it responded with status {status}."
        )
    if status != 200:
        return None
    try:
        return model.model_validate_json(body)
    except ValidationError:
        return None


async def _metadata(web: Web, at: str | None, url: str) -> OAuthMetadata:
    parts = urlsplit(url)
    expected = at or f"{parts.scheme}://{parts.netloc}"
    for where in build_oauth_authorization_server_metadata_discovery_urls(at, url):
        metadata = await _described(web, where, OAuthMetadata)
        if metadata is None:
            continue
        if not issuers_match(str(metadata.issuer), expected):
            raise ToolError("The metadata of the authorization server is for another server.")
        if "S256" not in (metadata.code_challenge_methods_supported or ()):
            raise ToolError("The authorization server does not support PKCE with S256.")
        return metadata
    raise ToolError("The server does not say where to sign in. It may need a key in a header.")


async def _client(web: Web, found: Found, wish: Wish) -> Client:
    metadata = found.metadata
    here = {
        "issuer": found.issuer,
        "token_url": await web.checked(metadata.token_endpoint),
        "resource": found.resource,
        "redirect_uri": wish.redirect_uri,
        "names_itself": bool(metadata.authorization_response_iss_parameter_supported),
        "revocation_url": await _given_back_at(web, metadata),
    }
    if wish.client_id:
        method = _method(metadata) if wish.client_secret else "none"
        given = {"client_id": wish.client_id, "client_secret": wish.client_secret}
        return Client(**here, **given, method=method)
    known = wish.known
    if known and (known.issuer, known.redirect_uri) == (found.issuer, wish.redirect_uri):
        return known.model_copy(update=here)
    registered = await _register(web, metadata, wish.redirect_uri)
    return Client(
        **here,
        client_id=registered.client_id,
        client_secret=registered.client_secret or "",
        method=registered.token_endpoint_auth_method or "none",
    )


async def _given_back_at(web: Web, metadata: OAuthMetadata) -> str:
    """To be signed in matters more than to sign out."""
    if metadata.revocation_endpoint is None:
        return ""
    try:
        return await web.checked(metadata.revocation_endpoint)
    except ToolError:
        return ""


def _method(metadata: OAuthMetadata) -> str:
    offered = metadata.token_endpoint_auth_methods_supported or ["client_secret_basic"]
    return "client_secret_basic" if "client_secret_basic" in offered else "client_secret_post"


async def _register(
    web: Web, metadata: OAuthMetadata, redirect_uri: str
) -> OAuthClientInformationFull:
    if metadata.registration_endpoint is None:
        raise NeedsRegistration(_UNREGISTERED)
    is_local = (urlsplit(redirect_uri).hostname or "") in {"127.0.0.1", "localhost", "::1"}
    asked = OAuthClientMetadata.model_validate(
        {
            "redirect_uris": [redirect_uri],
            "client_name": "OpenCode Web",
            "token_endpoint_auth_method": "none",
            "application_type": "native" if is_local else "web",
        }
    )
    body = asked.model_dump(by_alias=True, mode="json", exclude_none=True)
    status, answer = await web.ask("POST", metadata.registration_endpoint, body=body)
    if status not in {200, 201}:
        raise NeedsRegistration(
            f"The server of its sign-in refused to register a client: {status}{_code(answer)}."
        )
    try:
        registered = OAuthClientInformationFull.model_validate_json(answer)
        check_registration_usable(registered)
    except (ValidationError, OAuthRegistrationError) as exc:
        raise NeedsRegistration(
            "The server of its sign-in registered a client that cannot be used."
        ) from exc
    return registered


def _identified(client: Client, asked: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Returns: the form and the headers by which a client says who it is."""
    form, headers = {**asked, "client_id": client.client_id}, {}
    if client.method == "client_secret_basic":
        pair = f"{quote(client.client_id, safe='')}:{quote(client.client_secret, safe='')}"
        headers["authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
    elif client.method == "client_secret_post":
        form["client_secret"] = client.client_secret
    return form, headers


async def _token(client: Client, asked: Mapping[str, str]) -> tuple[int, _Token | str]:
    """Returns: the status, and the token or the code of the error, as a suffix."""
    form, headers = _identified(client, {**asked, "resource": client.resource})
    web = Web()
    status, body = await web.ask("POST", client.token_url, form=form, headers=headers)
    if status not in {200, 201}:
        return status, _code(body)
    try:
        return status, _Token.model_validate_json(body)
    except ValidationError as exc:
        raise ToolError("The authorization server did not return a valid token.") from exc


def _grant(client: Client, token: _Token, scope: str, refresh_token: str) -> Grant:
    again = token.refresh_token or refresh_token
    expires_at = _after(token.expires_in)
    return Grant(
        client=client,
        access_token=token.access_token,
        refresh_token=again,
        expires_at=expires_at,
        ends_at=_after(token.renews_for_s) if again else expires_at,
        scope=token.scope or scope,
    )


def _after(seconds: int | None) -> float | None:
    return None if seconds is None else time.time() + min(max(seconds, 0), _MAX_LIFE_S)


def _code(body: bytes) -> str:
    """Only the code of an error: the rest could say again what was sent."""
    try:
        error = json.loads(body).get("error")
    except (ValueError, RecursionError, AttributeError):
        return ""
    return f" ({error})" if isinstance(error, str) and _ERROR_CODE.fullmatch(error) else ""
