"""How a team sets up a provider."""

from __future__ import annotations

from enum import StrEnum

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _


class ProviderKind(StrEnum):
    """The wire a provider speaks."""

    OPENAI = "openai"
    ANTHROPIC = "anthropic"
    COMPATIBLE = "openai-compatible"
    SCRIPTED = "scripted"


class Obstacle(TextChoices):
    """Why a provider of the catalog cannot be set up by its name."""

    ADDRESS = (
        "address",
        _("The catalog has no address for this provider. Add it as your own server."),
    )
    WIRE = "wire", _("The API of this provider is not supported.")
