"""What to call, and whose account pays for it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from providers.llm.messages import ResolvedModel


@dataclass(frozen=True, slots=True)
class AccountModel(ResolvedModel):
    """A model with the credential that it is called with.

    `fresh_until` is when an access token ends, which `providers.refresh` then replaces.
    `is_personal`: the person who prompts pays, and no budget of the team counts.
    """

    credential_id: int | None = None
    fresh_until: datetime | None = None
    is_personal: bool = False
    is_of_instance: bool = False


def is_personal(model: ResolvedModel) -> bool:
    """Whether a call of the model is paid by the person who prompts."""
    return isinstance(model, AccountModel) and model.is_personal
