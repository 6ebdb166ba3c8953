"""What to call, and whose account pays for it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from opencode_web.lib.json import JsonObject
from providers.health import Fault
from providers.llm.messages import ResolvedModel
from providers.llm.options import without_other_models, without_routing


@dataclass(frozen=True, slots=True)
class AccountModel(ResolvedModel):
    """A model with the credential that it is called with.

    `fresh_until` is when an access token ends, which `providers.refresh` then replaces.
    `is_personal`: the person who prompts pays, and no budget of the team counts.
    `faults` are those of its account and its credential, which a call that goes well ends.
    `shares`: it is to be asked which credential is used, as there are several or they have limits;
    then `others` is how many more could have been, and `use` the `KeyUse` that the call holds.
    `is_only`: no options may have another one called, as only some are allowed, or a budget holds.
    """

    account_id: int | None = None
    credential_id: int | None = None
    fresh_until: datetime | None = None
    is_personal: bool = False
    is_of_instance: bool = False
    is_only: bool = False
    # Which team asks, and which of its people, where that is known.
    team_id: str = ""
    user_id: int | None = None
    # Of the account that it is called with, for people.
    provider_name: str = ""
    faults: tuple[Fault, ...] = ()
    # No call of its account has gone well yet.
    is_unproven: bool = False
    shares: bool = False
    others: int = 0
    use: int | None = None

    @property
    def asker(self) -> str:
        """Who waits with a call of it where there is a line: the person, if that is known."""
        return str(self.user_id or self.team_id)


def with_options(model: AccountModel, options: JsonObject) -> AccountModel:
    """Returns: the model with further options of the team's settings."""
    is_of_others = model.is_of_instance or model.is_personal
    given = without_routing(options) if is_of_others else options
    if model.is_only:
        given = without_other_models(given)
    return replace(model, options={**model.options, **given})


def is_personal(model: ResolvedModel) -> bool:
    """Whether a call of the model is paid by the person who prompts."""
    return isinstance(model, AccountModel) and model.is_personal


def is_of_instance(model: ResolvedModel) -> bool:
    """Whether a call of the model is paid by the operators."""
    return isinstance(model, AccountModel) and model.is_of_instance


def account_of(model: ResolvedModel) -> int | None:
    """The account that a model is called with, if it has one."""
    return model.account_id if isinstance(model, AccountModel) else None
