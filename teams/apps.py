from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module

from django.apps import AppConfig

from opencode_web.lib.outbound_policy import read_rows_with


class TeamsConfig(AppConfig):
    name = "teams"
    label = "teams"

    def ready(self) -> None:
        read_rows_with(self._allowed_places)
        import_module("teams.identity.trail")

    def _allowed_places(self) -> Iterable[str]:
        rows = self.get_model("AllowedAddress")._default_manager
        return map(str, rows.values_list("pk", flat=True))
