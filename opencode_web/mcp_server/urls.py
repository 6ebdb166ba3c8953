from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import URLPattern, path
from django.views.decorators.csrf import csrf_exempt

from opencode_web.lib.db import in_db
from opencode_web.mcp_server.routing import is_for_api, to_api

# What uses the MCP library is loaded when it is asked for: it takes a second, and most servers are
# never asked.
_HERE = "opencode_web.mcp_server"


@csrf_exempt
async def _mcp(request: HttpRequest) -> HttpResponseBase:
    if is_for_api(request):
        return await to_api(request)
    views = await in_db(import_module, f"{_HERE}.views")
    response: HttpResponseBase = await views.respond(request)
    return response


def _oauth(module: str, name: str) -> Callable[[HttpRequest], HttpResponseBase]:
    def view(request: HttpRequest) -> HttpResponseBase:
        found = getattr(import_module(f"{_HERE}.oauth.{module}"), name)
        response: HttpResponseBase = found(request)
        return response

    return view


resource, server = _oauth("metadata", "resource"), _oauth("metadata", "server")
RESOURCE = ".well-known/oauth-protected-resource"
SERVER = ".well-known/oauth-authorization-server"

urlpatterns: list[URLPattern] = [
    path("mcp", _mcp, name="mcp"),
    path(RESOURCE, resource, name="oauth_resource"),
    path(f"{RESOURCE}/mcp", resource, name="oauth_resource_mcp"),
    path(SERVER, server, name="oauth_server"),
    path("oauth/authorize", _oauth("authorize", "authorize"), name="oauth_authorize"),
    path("oauth/register", csrf_exempt(_oauth("endpoints", "register")), name="oauth_register"),
    path("oauth/token", csrf_exempt(_oauth("endpoints", "token")), name="oauth_token"),
    path("oauth/revoke", csrf_exempt(_oauth("endpoints", "revoke")), name="oauth_revoke"),
]
