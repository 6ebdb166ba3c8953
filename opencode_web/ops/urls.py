from __future__ import annotations

from django.urls import URLPattern, path

from opencode_web.ops import acts, views

app_name = "ops"

urlpatterns: list[URLPattern] = [
    path("", views.overview, name="overview"),
    path("workers", views.workers, name="workers"),
    path("turns", views.turns, name="turns"),
    path("queues", views.queues, name="queues"),
    path("turns/<str:session>", acts.turn, name="turn"),
    path("turns/<str:session>/<slug:act>", acts.turn_act, name="turn_act"),
    path("workers/<str:process>", acts.process, name="process"),
    path("workers/<str:process>/<slug:act>", acts.process_act, name="process_act"),
]
