"""The models of a turn in order, and the first of them that can be used now."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from django.utils import timezone

from opencode_web.lib.errors import AppError, Invalid
from opencode_web.lib.reasons import Told
from providers.account_model import AccountModel
from providers.funding import require_price
from providers.health import resting
from providers.llm.errors import (
    AuthError,
    NetworkError,
    QuotaExceeded,
    RateLimited,
    ServerError,
    UnknownModel,
)
from providers.llm.messages import ModelRef
from providers.resolve import parse_ref, resolve_model
from providers.wire_errors import told_of
from sessions.agents.loader import Agent
from sessions.config.effective import config_data
from sessions.config.model import Config
from sessions.models import Project
from teams.models import User

# What another model may do better; anything else has to do with what was asked.
OF_PROVIDER = (AuthError, NetworkError, QuotaExceeded, RateLimited, ServerError, UnknownModel)


@dataclass(frozen=True)
class Chosen:
    """The model that goes on, and why those before it did not: by name."""

    model: AccountModel
    skipped: dict[str, Told] = field(default_factory=dict)


def models_of(config: Config, agent: Agent, first: ModelRef) -> list[ModelRef]:
    """Returns: `first` and what is asked after it, in order and each once."""
    names = config.fallback_models if agent.fallback is None else agent.fallback
    refs = [first]
    for name in names:
        # Somebody's mistake in the settings must not keep a turn from its own model.
        with suppress(Invalid):
            refs.append(parse_ref(name))
    seen: dict[tuple[str, str], ModelRef] = {}
    for ref in refs:
        seen.setdefault((ref.provider_id, ref.model_id), ref)
    return [*seen.values()]


def usable_model(project: Project, refs: Sequence[ModelRef], *, user: User | None) -> Chosen:
    """Returns: the first that can be used; when all of these are left alone now, the first one.

    Raises: AppError of the first when none of them can be used.
    """
    found = _Search(project, user, refs)
    if found.model is not None:
        return Chosen(found.model, found.skipped)
    if found.resting:
        # It says itself until when.
        return Chosen(found.resting[0])
    assert found.error is not None
    raise found.error


def first_awake(project: Project, refs: Sequence[ModelRef], *, user: User | None) -> Chosen | None:
    """Returns: the first that can be used and is not left alone, if there is one."""
    found = _Search(project, user, refs)
    return Chosen(found.model, found.skipped) if found.model is not None else None


class _Search:
    """Looks for the first of some models that can be used."""

    def __init__(self, project: Project, user: User | None, refs: Sequence[ModelRef]) -> None:
        self.model: AccountModel | None = None
        self.resting: list[AccountModel] = []
        self.skipped: dict[str, Told] = {}
        self.error: AppError | None = None
        team, data, now = project.team, config_data(project), timezone.now()
        for ref in refs:
            try:
                model = resolve_model(team, ref, config=data, user=user)
                require_price(model, team)
            except AppError as exc:
                self.error = self.error or exc
                self.skipped[str(replace(ref, variant=None))] = exc.told
                continue
            fault = next((one for one in model.faults if one.is_open(now)), None)
            if fault is None:
                self.model = model
                return
            self.resting.append(model)
            error = resting(fault, name=model.provider_name, now=now)
            self.skipped[model.name] = told_of(error, advise=False)
