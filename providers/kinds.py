"""How a team sets up a provider."""

from __future__ import annotations

from enum import StrEnum


class ProviderKind(StrEnum):
    """The wire a provider speaks."""

    OPENAI = "openai"
    ANTHROPIC = "anthropic"
    COMPATIBLE = "openai-compatible"
    SCRIPTED = "scripted"


class Obstacle(StrEnum):
    """Why a provider of the catalog cannot be set up by its name."""

    ADDRESS = "address"
    """Its address is another for each account."""
    WIRE = "wire"
    """It has a wire of its own that is not spoken here, and no address."""
