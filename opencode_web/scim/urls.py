from __future__ import annotations

from django.urls import URLPattern, path, re_path

from opencode_web.scim import views

app_name = "scim"

urlpatterns: list[URLPattern] = [
    path("/Users", views.users, name="users"),
    path("/Users/<str:user_id>", views.user, name="user"),
    path("/Groups", views.groups_view, name="groups"),
    path("/Groups/<str:group_id>", views.group, name="group"),
    path("/ServiceProviderConfig", views.config, name="config"),
    path("/Schemas", views.schemas, name="schemas"),
    path("/Schemas/<str:name>", views.schema, name="schema"),
    path("/ResourceTypes", views.types, name="types"),
    path("/ResourceTypes/<str:name>", views.type_, name="type"),
    path("/.search", views.search, name="search"),
    re_path(r"(?:/.*)?\Z", views.nothing, name="nothing"),
]
