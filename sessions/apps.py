from __future__ import annotations

from django.apps import AppConfig


class SessionsConfig(AppConfig):
    name = "sessions"
    # `django.contrib.sessions` owns the label "sessions".
    label = "agent_sessions"
    verbose_name = "Agent sessions"
