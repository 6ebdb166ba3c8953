"""What people call models, those that a team can no longer use as well."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from opencode_web.lib.json import JsonValue
from providers import catalog_file
from providers.catalog import Provider
from providers.descriptions import object_of
from providers.effective import effective_provider
from teams.models import Team


class ModelNames:
    """Finds the names that the message field shows too.

    Each provider is loaded once, with the first of its models. Personal accounts do not count, so
    that everybody reads the same names. `read_config` returns settings as in `effective_provider`.
    """

    def __init__(self, team: Team, read_config: Callable[[], Mapping[str, JsonValue]]) -> None:
        self._team, self._read_config = team, read_config
        self._providers: dict[str, Provider | None] = {}

    def __call__(self, provider_id: str, model_id: str) -> str:
        """Returns: its id where nobody has named it."""
        if provider_id not in self._providers:
            found = effective_provider(self._team, provider_id, self._read_config())
            self._providers[provider_id] = found
        provider = self._providers[provider_id]
        if provider and (model := provider.models.get(model_id)):
            return model.name
        listed = object_of(catalog_file.read_models(provider_id).get(model_id))
        return str(listed.get("name") or model_id)
