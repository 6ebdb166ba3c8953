from __future__ import annotations

from django.db import transaction

from opencode_web.lib.json import JsonObject
from sessions.access import ProjectAccess, SessionAccess
from sessions.actions.checkouts import Plan
from sessions.actions.composer_input import admit_typed
from sessions.actions.prompts import PromptDraft, admit_prompt
from sessions.actions.sessions import create_session
from sessions.models import Session, SessionInput


@transaction.atomic
def start_session(
    access: ProjectAccess,
    draft: PromptDraft,
    *,
    checkout: Plan | None = None,
    private: bool = False,
    title: str = "",
    typed: bool = True,
) -> Session:
    """Make a session with its first prompt, or neither; with a `checkout`, in its own worktree.

    `typed`: a person has typed the prompt, which can then be a command or a shell line.

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
    session = create_session(
        access,
        title=title,
        agent=draft.agent or "",
        model=model,
        checkout=checkout,
        private=private,
    )
    admit = admit_typed if typed else admit_prompt
    admit(SessionAccess(session, access.team, access.principal), draft)
    return session
