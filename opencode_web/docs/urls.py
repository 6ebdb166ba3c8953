from __future__ import annotations

from django.urls import URLPattern, path

from opencode_web.docs import views

app_name = "docs"

urlpatterns: list[URLPattern] = [
    path("", views.index, name="index"),
    path("/<slug:name>", views.page, name="page"),
]
