"""Who calls: a token in the Authorization header, else a signed-in browser with its CSRF token."""

from __future__ import annotations

from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest
from ninja.security.base import AuthBase
from ninja.utils import check_csrf

from opencode_web.lib.db import in_db
from opencode_web.lib.errors import Forbidden, Invalid, TooLarge, Unauthorized
from opencode_web.lib.origin import identify
from sessions.api.rates import count_request
from teams.access import is_operator
from teams.auth import Principal, authenticate_header, authenticate_user
from teams.browser import BrowserSession
from teams.http import client_ip
from teams.models import Scope, User
from teams.policy import meets_instance_policy

SAFE_METHODS = ("GET", "HEAD", "OPTIONS")


class ApiRequest(HttpRequest):
    auth: Principal
    # Of a write with an Idempotency-Key: what a prompt gets that names no id, at every attempt.
    stable_message_id: str


def stable_message_id(request: HttpRequest) -> str | None:
    """The message id that every attempt at this request has in common, when it has a key."""
    return getattr(request, "stable_message_id", None)


def asks_as_operator(request: ApiRequest) -> bool:
    """Whether an operator asks, signed in as the server wants it. A token is one team's."""
    user = request.auth.user
    return request.auth.via != "token" and is_operator(user) and meets_instance_policy(user)


def require_operator(request: ApiRequest) -> None:
    """Raises: Forbidden for others than operators, and with a token."""
    request.auth.require(Scope.ADMIN)
    if not asks_as_operator(request):
        raise Forbidden("Only operators of this server can do this, with their sign-in.")


def authenticate(request: HttpRequest, *, for_mcp: bool = False) -> Principal:
    """With `for_mcp` also by the token of an MCP client.

    Raises: Unauthorized, Forbidden without a CSRF token, TooManyRequests, TooLarge, Invalid.
    """
    known = getattr(request, "principal", None)
    if isinstance(known, Principal):
        return known
    principal = _principal_of(request, for_mcp=for_mcp)
    identify(principal.user.pk, token_id=principal.token_id or "")
    count_request(request, principal)
    _refuse_large_body(request)
    # PostgreSQL takes no NUL in any text, so it can name nothing.
    if "\0" in request.path or "%00" in request.META.get("QUERY_STRING", ""):
        raise Invalid("The address contains a NUL character.")
    request.principal = principal  # type: ignore[attr-defined]  # asked again for by its key
    return principal


def _principal_of(request: HttpRequest, *, for_mcp: bool) -> Principal:
    header = request.headers.get("Authorization")
    if header:
        principal = authenticate_header(header, ip=client_ip(request), for_mcp=for_mcp)
        if principal is None:
            raise Unauthorized("This API token is not valid here, or no longer.")
        if header[:6].lower() == "basic " and request.method not in SAFE_METHODS:
            _refuse_other_sites(request)
        return principal
    user = request.user
    if not isinstance(user, User) or not user.is_active:
        raise Unauthorized("Send an API token, as Bearer or as Basic e-mail:token, or sign in.")
    if request.method not in SAFE_METHODS and check_csrf(request) is not None:
        raise Forbidden(
            "The CSRF token is missing or wrong. Scripts must use an API token instead."
        )
    return authenticate_user(user, browser=BrowserSession.of(request.session))


def _refuse_other_sites(request: HttpRequest) -> None:
    # A browser that was asked for Basic sends it along for every site's forms. Scripts and
    # OpenCode's own clients send neither of these headers.
    origin = request.headers.get("Origin")
    if request.headers.get("Sec-Fetch-Site", "none") in ("none", "same-origin") and (
        origin is None
        or origin in settings.CSRF_TRUSTED_ORIGINS
        or urlsplit(origin).netloc == request.get_host()
    ):
        return
    raise Forbidden(
        "This request was sent by a page of another site. Scripts must send the token as a "
        "Bearer token."
    )


def _refuse_large_body(request: HttpRequest) -> None:
    limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    given = request.META.get("CONTENT_LENGTH") or ""
    # A chunked body states no length; Django's own limit looks at the stated one only.
    length = int(given) if given.isdecimal() else len(request.body)
    if length > limit:
        raise TooLarge(f"A request has at most {limit // 1024 // 1024} MiB.", limit=limit)


class TokenOrCookie(AuthBase):
    """For synchronous routes."""

    openapi_type = "http"
    openapi_scheme = "bearer"

    def __call__(self, request: HttpRequest) -> Principal:
        return authenticate(request)


class AsyncTokenOrCookie(AuthBase):
    """For asynchronous routes: the request's own thread would hold a connection until its end."""

    openapi_type = "http"
    openapi_scheme = "bearer"

    async def __call__(self, request: HttpRequest) -> Principal:
        return await in_db(authenticate, request)
