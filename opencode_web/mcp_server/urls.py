from __future__ import annotations

from importlib import import_module

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import URLPattern, path
from django.views.decorators.csrf import csrf_exempt

from opencode_web.lib.db import in_db
from opencode_web.mcp_server.routing import is_for_api, to_api


@csrf_exempt
async def _mcp(request: HttpRequest) -> HttpResponseBase:
    if is_for_api(request):
        return await to_api(request)
    # The library takes a second to load, and most servers are never asked.
    views = await in_db(import_module, "opencode_web.mcp_server.views")
    response: HttpResponseBase = await views.respond(request)
    return response


urlpatterns: list[URLPattern] = [path("mcp", _mcp, name="mcp")]
