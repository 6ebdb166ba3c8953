from __future__ import annotations

from django.db import transaction

from opencode_web.lib.json import JsonObject
from sessions.access import ProjectAccess, SessionAccess
from sessions.actions.checkouts import Plan
from sessions.actions.composer_input import admit_typed
from sessions.actions.prompts import PromptDraft
from sessions.actions.sessions import create_session
from sessions.models import Session, SessionInput


@transaction.atomic
def start_session(
    access: ProjectAccess, draft: PromptDraft, *, checkout: Plan | None = None
) -> Session:
    """Make a session with its first prompt, or neither; with a `checkout`, in its own worktree.

    Repeating a message id in the same project returns the session that it started.

    Raises: Conflict while the project's files are not ready; and as `admit_typed`.
    """
    before = SessionInput.objects.filter(
        pk=draft.message_id, session__project=access.project, author=access.principal.user
    ).first()
    if before is not None:
        return before.session
    model: JsonObject = {}
    if draft.model is not None:
        model = {"providerID": draft.model.provider_id, "id": draft.model.model_id}
        if draft.model.variant:
            model["variant"] = draft.model.variant
    session = create_session(access, agent=draft.agent or "", model=model, checkout=checkout)
    admit_typed(SessionAccess(session, access.team, access.principal), draft)
    return session
