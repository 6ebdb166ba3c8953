"""Where what is: the documents by which clients find their way, which `/mcp` sends them to."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, JsonResponse
from django.urls import reverse
from django.views.decorators.http import require_safe
from mcp.shared.auth import OAuthMetadata, ProtectedResourceMetadata
from pydantic import AnyHttpUrl, BaseModel, ConfigDict, TypeAdapter, ValidationError

from opencode_web.lib.public_url import absolute_url
from teams.models import Scope

# A client that changes settings would be one for people.
SCOPES = (Scope.READ, Scope.WRITE)
_URL = TypeAdapter(AnyHttpUrl, config=ConfigDict(url_preserve_empty_path=True))


@require_safe
def resource(request: HttpRequest) -> JsonResponse:
    """Of `/mcp`. Source: RFC 9728."""
    document = {
        "resource": resource_url(request),
        "authorization_servers": [issuer_url(request)],
        "scopes_supported": list(SCOPES),
        "resource_name": "OpenCode Web",
    }
    return _answer(ProtectedResourceMetadata.model_validate(document))


@require_safe
def server(request: HttpRequest) -> JsonResponse:
    """Of what gives tokens. Source: RFC 8414."""
    document = {
        "issuer": issuer_url(request),
        "authorization_endpoint": absolute_url(request, reverse("oauth_authorize")),
        "token_endpoint": absolute_url(request, reverse("oauth_token")),
        "registration_endpoint": absolute_url(request, reverse("oauth_register")),
        "revocation_endpoint": absolute_url(request, reverse("oauth_revoke")),
        "scopes_supported": list(SCOPES),
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "token_endpoint_auth_methods_supported": ["none"],
        "revocation_endpoint_auth_methods_supported": ["none"],
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": True,
    }
    return _answer(OAuthMetadata.model_validate(document))


def challenge(request: HttpRequest) -> str:
    """Returns: the header by which `/mcp` tells where to begin."""
    where = absolute_url(request, reverse("oauth_resource_mcp"))
    return f'Bearer realm="OpenCode Web", resource_metadata="{where}"'


def issuer_url(request: HttpRequest) -> str:
    """Returns: the name of this server for clients."""
    return _canonical(absolute_url(request, f"{settings.BASE_PATH}/").rstrip("/"))


def resource_url(request: HttpRequest) -> str:
    """Returns: what tokens are for."""
    return _canonical(absolute_url(request, reverse("mcp")))


def is_resource(request: HttpRequest, named: str) -> bool:
    """Whether a resource indicator is the address of `/mcp`. Source: RFC 8707, 2."""
    try:
        return _canonical(named).rstrip("/") == resource_url(request)
    except ValidationError:
        return False


def _canonical(url: str) -> str:
    """Returns: as the documents have it, for clients compare names by their letters."""
    return str(_URL.validate_python(url))


def _answer(document: BaseModel) -> JsonResponse:
    return JsonResponse(
        document.model_dump(mode="json", exclude_none=True), headers={"Cache-Control": "no-store"}
    )
