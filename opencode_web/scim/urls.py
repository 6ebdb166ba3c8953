from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path, re_path
from django.views.decorators.csrf import csrf_exempt

app_name = "scim"


def _view(name: str) -> Callable[..., HttpResponse]:
    """The library takes half a second to load, and most servers have no directory."""

    @csrf_exempt
    def view(request: HttpRequest, **kwargs: str) -> HttpResponse:
        found = getattr(import_module("opencode_web.scim.views"), name)
        response: HttpResponse = found(request, **kwargs)
        return response

    return view


urlpatterns: list[URLPattern] = [
    path("/Users", _view("users"), name="users"),
    path("/Users/<str:user_id>", _view("user")),
    path("/Groups", _view("groups_view")),
    path("/Groups/<str:group_id>", _view("group")),
    path("/ServiceProviderConfig", _view("config")),
    path("/Schemas", _view("schemas")),
    path("/Schemas/<str:name>", _view("schema")),
    path("/ResourceTypes", _view("types")),
    path("/ResourceTypes/<str:name>", _view("type_")),
    path("/.search", _view("search")),
    re_path(r"(?:/.*)?\Z", _view("nothing")),
]
