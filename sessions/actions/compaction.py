from __future__ import annotations

from django.utils import timezone
from django.utils.translation import gettext as _

from opencode_web.lib.errors import Conflict
from opencode_web.lib.ids import new_id
from providers.llm.messages import ModelRef
from sessions.access import SessionAccess
from sessions.actions.prompts import admit_input, session_model
from sessions.agents.fallback_models import models_of, usable_model
from sessions.agents.loader import choose_agent
from sessions.config.effective import session_config
from sessions.events.inbox import InputAdmitted
from sessions.events.messages import MessageModel, MessageTime, UserMessage
from sessions.events.parts import CompactionPart
from sessions.models import SessionInput
from sessions.wire import to_ms


def request_compaction(
    access: SessionAccess, *, model: ModelRef | None = None, auto: bool = False
) -> SessionInput:
    """Have the conversation summed up for the model: now, or when the turn that runs is over.

    It waits in the inbox like a queued prompt, can be taken back there, and survives a restart.
    With `auto` the agent goes on afterwards. The caller must have asked for a member's access.

    Raises: Conflict when nothing was said yet; NotFound for an unknown model.
    """
    session = access.session
    if not session.messages.visible(session).filter(role="assistant").exists():
        raise Conflict(_("This conversation has nothing to compact yet."))
    config = session_config(session)
    ref = model or session_model(session, config, user=access.principal.user)
    agent = choose_agent(config, session.agent or None)
    usable_model(session.project, models_of(config, agent, ref), user=access.principal.user)
    info = UserMessage(
        id=new_id("msg"),
        sessionID=session.pk,
        time=MessageTime(created=to_ms(timezone.now())),
        agent=agent.name,
        model=MessageModel(providerID=ref.provider_id, modelID=ref.model_id, variant=ref.variant),
    )
    part = CompactionPart(id=new_id("prt"), sessionID=session.pk, messageID=info.id, auto=auto)
    event = InputAdmitted(
        author_id=access.principal.user.pk, delivery="queue", info=info, parts=[part]
    )
    return admit_input(session.pk, event)
