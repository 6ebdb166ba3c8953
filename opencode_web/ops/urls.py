from __future__ import annotations

from django.urls import URLPattern, path

from opencode_web.ops import views

app_name = "ops"

urlpatterns: list[URLPattern] = [
    path("", views.overview, name="overview"),
    path("workers", views.workers, name="workers"),
    path("turns", views.turns, name="turns"),
    path("queues", views.queues, name="queues"),
]
