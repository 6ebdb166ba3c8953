"""Tool calls of a turn that failed, and that nothing after them has made good."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

from opencode_web.lib.json import number_of, text_of
from sessions.events.stored import StoredTool
from sessions.models import Message, PermissionRequest, QuestionRequest, Session

_CHANGING: Final = frozenset({"write", "edit", "multiedit", "apply_patch"})


def count_failed(calls: Iterable[StoredTool], refused: Collection[tuple[str, str]] = ()) -> int:
    """`calls`: in the order of the turn; `refused`: (message id, call id) of those to which a
    person said no, which is no failure.

    A change of a file is made good by a later one of the same file, any other call by any later one
    that succeeds.
    """
    # The file that each should have changed, or "" where that is not known; None for other calls.
    left: list[str | None] = []
    for call in calls:
        state = call["state"]
        is_ended = state["status"] in ("completed", "error")
        if not is_ended or _was_stopped(call) or (call["messageID"], call["callID"]) in refused:
            continue
        changed = _file_of(call) if call["tool"] in _CHANGING else None
        if _has_failed(call):
            left.append(changed)
        else:
            left = [file for file in left if file is not None and not _is_mended(file, changed)]
    return len(left)


def load_failed(session: Session) -> int:
    """Returns: how many calls of the newest turn failed and were not made good."""
    prompts = Message.objects.visible(session).filter(role="user").order_by("-seq")
    began = prompts.values("seq")[:1]
    parts = session.parts.filter(type="tool", seq__gt=began, seq__lt=session.visible_before)
    calls: list[StoredTool] = [part.data for part in parts.order_by("seq", "id")]
    if not count_failed(calls):
        return 0
    refused = {
        asked
        for model in (PermissionRequest, QuestionRequest)
        for asked in model.objects.filter(
            session=session, status__in=("reject", "expired")
        ).values_list("message_id", "call_id")
    }
    return count_failed(calls, refused)


def _has_failed(call: StoredTool) -> bool:
    state = call["state"]
    is_unknown = call["tool"] == "invalid"
    has_exit = call["tool"] == "bash" and bool(number_of(state.get("metadata", {}), "exit"))
    return state["status"] == "error" or is_unknown or has_exit


def _was_stopped(call: StoredTool) -> bool:
    metadata = call["state"].get("metadata", {})
    return metadata.get("interrupted") is True or bool(metadata.get("stoppedBy"))


def _file_of(call: StoredTool) -> str:
    # Its last name: a wrong folder is put right by the right one.
    return text_of(call["state"].get("input", {}), "filePath").rpartition("/")[2]


def _is_mended(file: str, changed: str | None) -> bool:
    return changed is not None and (not file or not changed or file == changed)
