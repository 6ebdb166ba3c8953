"""Files that a provider refuses: marked in the log, so that no later request has them.

A conversation is sent whole each time: one file that is refused would have every later prompt of
the session refused.
"""

from __future__ import annotations

from dataclasses import dataclass

from opencode_web.lib.reasons import Cause
from opencode_web.lib.text import clean_text
from providers.llm.errors import RefusedFiles, UnreadablePictures
from providers.llm.messages import File
from sessions.events.files import FileRefused
from sessions.events.messages import MessageError
from sessions.events.reasons import TurnReason, told_error
from sessions.models import Message, Part
from sessions.runner.log.model_history import SEPARATOR
from sessions.runner.log.steps import ProviderTurn

_MAX_REASON_CHARS = 300
# What the model is told of a picture that was not sent.
UNREADABLE = "it is not a picture that can be read"


@dataclass(frozen=True)
class Refusal:
    """The files that are left out from here on, and what the person is told."""

    events: list[FileRefused]
    error: MessageError


def refusal_of(turn: ProviderTurn, error: RefusedFiles) -> Refusal | None:
    """Find out which files a request is to be made without.

    Where the provider does not say which, it is one that no earlier request of this model had.

    Returns: None when nothing can be left out.
    """
    rows = Part.objects.filter(session=turn.session, pk__in={_part_id(one) for one in error.files})
    messages = {row.pk: row.message for row in rows.select_related("message").defer("data")}
    chosen = [file for file in error.files if _part_id(file) in messages]
    if not error.is_certain:
        last = _last_accepted(turn)
        chosen = [one for one in chosen if messages[_part_id(one)].seq >= last] or chosen
    if not chosen:
        return None
    model = str(turn.request.model.ref)
    why = " ".join(clean_text(error.message).split()).rstrip(".")[:_MAX_REASON_CHARS]
    is_broken = isinstance(error, UnreadablePictures)
    events = [
        FileRefused(
            message_id=messages[_part_id(file)].pk,
            part_id=_part_id(file),
            file_id=file.key.rpartition(SEPARATOR)[2],
            model=model,
            reason=UNREADABLE if is_broken else f"the provider refused it: {why}",
        )
        for file in chosen
    ]
    names = ", ".join(file.name or file.mime for file in chosen)
    reason = TurnReason.FILES_UNREADABLE if is_broken else TurnReason.FILES_REFUSED
    told = Cause(reason, {"names": names, "model": model, "why": why})
    return Refusal(events, told_error(told, name=error.wire_name))


def _last_accepted(turn: ProviderTurn) -> int:
    """Returns: where the newest answer of this model stands: it has read what was before."""
    answers = Message.objects.filter(
        session=turn.session,
        role="assistant",
        data__providerID=turn.info.providerID,
        data__modelID=turn.info.modelID,
        data__has_key="finish",
    ).exclude(data__has_any_keys=["error", "summary"])
    return answers.order_by("-seq").values_list("seq", flat=True).first() or 0


def _part_id(file: File) -> str:
    return file.key.partition(SEPARATOR)[0]
