from __future__ import annotations

from django.apps import AppConfig


class OpencodeWebConfig(AppConfig):
    name = "opencode_web"
    label = "opencode_web"
