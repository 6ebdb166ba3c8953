"""Reviews of the pull request that a session is about, as calls ask for them."""

from __future__ import annotations

from django.db import transaction

from opencode_web.lib.errors import AppError
from opencode_web.lib.json import text_of
from sessions.events.parts import ToolPart
from sessions.events.store import lock_session
from sessions.forges.adapter import Thread
from sessions.integrations.reviews import request_review
from sessions.models import Message
from sessions.runner.log.lease import Lease
from tools.base import ToolError
from tools.context import ReviewDraft


@transaction.atomic
def write_review(lease: Lease, part: ToolPart, draft: ReviewDraft) -> str:
    """Have a review posted. Returns: the pull request, for the model.

    Raises: ToolError; SessionGone; LeaseLost.
    """
    session = lock_session(lease.session_id, token=lease.token)
    answer = Message.objects.get(pk=part.messageID)
    prompt_id = text_of(answer.data, "parentID")
    try:
        thread = request_review(session, draft, call_id=part.callID, prompt_id=prompt_id)
    except AppError as exc:
        raise ToolError(f"The review was not posted: {exc.message}") from exc
    return f"#{Thread.parse(thread).number}"
