"""What clients call by themselves: registration, tokens and their revocation.

Nobody is authenticated here: clients have no secret, and what is redeemed or revoked proves itself.
So requests are small, and each address may make only so many.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

from django.db import transaction
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.http import require_POST
from mcp.server.auth.provider import RegistrationError, TokenError
from mcp.shared.auth import OAuthToken
from pydantic import BaseModel, Field, ValidationError

from opencode_web.lib.addresses import client_network
from opencode_web.lib.counters import count
from opencode_web.lib.origin import identify
from opencode_web.lib.text import is_secret_text
from opencode_web.mcp_server.oauth.clients import McpClient, known_client, register_client
from opencode_web.mcp_server.oauth.codes import proves, read_code, redeem
from opencode_web.mcp_server.oauth.metadata import is_resource, resource_url
from opencode_web.mcp_server.oauth.renewal import find_renewable, issue_refresh_token, renew
from teams.actions.tokens import end_token
from teams.auth import find_token
from teams.http import client_ip
from teams.models import ApiToken

MAX_BODY_BYTES = 16 * 1024
# Of each address and endpoint.
PER_MINUTE = 30
_SECRET = {"Cache-Control": "no-store", "Pragma": "no-cache"}
Endpoint = Callable[[HttpRequest], HttpResponse]


class Registration(BaseModel):
    """What counts of a client's metadata. Source: RFC 7591, 2."""

    redirect_uris: list[str] = Field(min_length=1, max_length=50)
    client_name: str = Field(default="", max_length=2_000)
    grant_types: list[str] = ["authorization_code"]
    response_types: list[str] = ["code"]


def _endpoint(view: Endpoint) -> Endpoint:
    """Bound what is sent and how often, and answer faults as OAuth has them."""

    @wraps(view)
    @require_POST
    def answer(request: HttpRequest) -> HttpResponse:
        network = client_network(client_ip(request) or "")
        counted = count(f"oauth.{view.__name__}.{network}", window_s=60)
        if counted.number > PER_MINUTE:
            said = f"Too many requests. Try again in {counted.reset_s} s."
            refusal = _fault("temporarily_unavailable", said, status=429)
            refusal["Retry-After"] = str(counted.reset_s)
            return refusal
        if len(request.body) > MAX_BODY_BYTES:
            said = f"A request has at most {MAX_BODY_BYTES // 1024} KiB."
            return _fault("invalid_request", said, status=413)
        try:
            return view(request)
        except (RegistrationError, TokenError) as exc:
            status = 401 if exc.error == "invalid_client" else 400
            return _fault(exc.error, exc.error_description or "", status=status)

    return answer


@_endpoint
def register(request: HttpRequest) -> HttpResponse:
    """Nothing is stored: the ID that is given is the registration itself."""
    try:
        wanted = Registration.model_validate_json(request.body)
    except ValidationError as exc:
        first = exc.errors(include_input=False, include_url=False)[0]
        where = ".".join(str(key)[:60] for key in first["loc"]) or "body"
        raise RegistrationError("invalid_client_metadata", f"{where}: {first['msg']}") from exc
    if "authorization_code" not in wanted.grant_types or "code" not in wanted.response_types:
        said = "Clients need the grant type authorization_code and the response type code."
        raise RegistrationError("invalid_client_metadata", said)
    renews = "refresh_token" in wanted.grant_types
    client = register_client(wanted.client_name, wanted.redirect_uris, renews=renews)
    if client is None:
        said = (
            "At least one of redirect_uris must be an https address, or an http address of "
            "127.0.0.1, [::1] or localhost, without a fragment. They must be short."
        )
        raise RegistrationError("invalid_redirect_uri", said)
    # What was asked for and is not given is replaced. Source: RFC 7591, 3.2.1.
    registered = {
        "client_id": client.id,
        "client_id_issued_at": int(timezone.now().timestamp()),
        "client_name": client.name,
        "redirect_uris": client.redirect_uris,
        "grant_types": ["authorization_code", *(["refresh_token"] if renews else [])],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
    }
    return JsonResponse(registered, status=201, headers=_SECRET)


@_endpoint
def token(request: HttpRequest) -> HttpResponse:
    """Redeem a code or a refresh token. Source: RFC 6749, 4.1.3 and 6."""
    grant_type = request.POST.get("grant_type")
    if grant_type not in _GRANTS:
        said = "Only authorization_code and refresh_token are supported."
        raise TokenError("unsupported_grant_type", said)
    client = _client(request)
    wanted = request.POST.get("resource", "")
    if wanted and not is_resource(request, wanted):
        raise TokenError("invalid_target", f"Tokens are for {resource_url(request)} alone.")
    row, secret = _GRANTS[grant_type](request, client)
    ends = row.renew_by or row.expires_at
    assert ends is not None
    answer = OAuthToken(
        access_token=secret,
        expires_in=int((ends - timezone.now()).total_seconds()),
        scope=" ".join(row.scopes),
        refresh_token=issue_refresh_token(row) if row.renew_by else None,
    )
    return JsonResponse(answer.model_dump(exclude_none=True), headers=_SECRET)


def _redeem_code(request: HttpRequest, client: McpClient) -> tuple[ApiToken, str]:
    grant = read_code(request.POST.get("code", ""))
    if grant.client != client.digest:
        raise TokenError("invalid_grant", "The code is another client's.")
    if request.POST.get("redirect_uri", grant.redirect_uri) != grant.redirect_uri:
        raise TokenError("invalid_grant", "redirect_uri is not where the code was sent.")
    if not proves(request.POST.get("code_verifier", ""), grant.challenge):
        raise TokenError("invalid_grant", "code_verifier does not match code_challenge.")
    return redeem(grant, renews=client.renews, ip=client_ip(request))


def _renew(request: HttpRequest, client: McpClient) -> tuple[ApiToken, str]:
    given = request.POST.get("refresh_token", "")
    return renew(given, client, scope=request.POST.get("scope", ""), ip=client_ip(request))


_GRANTS = {"authorization_code": _redeem_code, "refresh_token": _renew}


@_endpoint
def revoke(request: HttpRequest) -> HttpResponse:
    """End a client's own token, named by its secret or a refresh token; that there is no such token
    is no fault. Source: RFC 7009."""
    client = _client(request)
    secret = request.POST.get("token", "")
    # PostgreSQL takes no NUL in any text.
    row = find_token(secret) if is_secret_text(secret, max_chars=200) else None
    if row is None and (renewable := find_renewable(secret, client)) is not None:
        row, _ = renewable
    if row is not None and row.client == client.digest:
        identify(row.user_id, token_id=row.pk)
        with transaction.atomic():
            end_token(row, actor=row.user, ip=client_ip(request))
    return HttpResponse(headers=_SECRET)


def _client(request: HttpRequest) -> McpClient:
    client = known_client(request.POST.get("client_id", ""))
    if client is None:
        raise TokenError("invalid_client", "This server does not know the client. Register it.")
    return client


def _fault(error: str, description: str, *, status: int) -> HttpResponse:
    body = {"error": error, "error_description": description}
    return JsonResponse(body, status=status, headers=_SECRET)
