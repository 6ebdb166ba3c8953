from __future__ import annotations

from django.db import transaction

from providers.llm.messages import ModelRef
from providers.resolve import resolve_model
from sessions.access import SessionAccess
from sessions.agents.loader import choose_agent
from sessions.config.effective import config_data, project_config
from sessions.events.store import append, lock_session
from sessions.events.types import SessionUpdated
from sessions.models import Session


@transaction.atomic
def choose_for_session(
    access: SessionAccess, *, agent: str | None = None, model: ModelRef | None = None
) -> Session:
    """Choose the agent or model of the prompts that name none. The caller asked for a member.

    Raises: Invalid for an unknown agent; NotFound for a model that the team has not.
    """
    project = access.project
    changes: dict[str, object] = {}
    if agent is not None:
        changes["agent"] = choose_agent(project_config(project), agent).name
    if model is not None:
        resolve_model(project.team, model, config=config_data(project), user=access.principal.user)
        chosen = {"providerID": model.provider_id, "id": model.model_id, "variant": model.variant}
        changes["model"] = {key: value for key, value in chosen.items() if value}
    session = lock_session(access.session.pk)
    append(session, [SessionUpdated.model_validate(changes)])
    return session
