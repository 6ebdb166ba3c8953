"""What a turn has changed, in the thread that asked: its files, or its diff.

The ids of uploaded files are kept before they are shared, so a message whose answer was lost is
found by them.

Source: https://docs.slack.dev/messaging/working-with-files/#uploading_files
"""

from __future__ import annotations

import base64
from dataclasses import dataclass

from opencode_web.lib.db import in_db
from opencode_web.lib.errors import AppError, NotFound
from opencode_web.lib.json import JsonValue, list_of, object_of, text_of
from sessions.access import SessionAccess, access_session
from sessions.actions.exports import note_download
from sessions.browse.ask import browse
from sessions.browse.file_scope import Where
from sessions.browse.operations import VIEW_FILE
from sessions.changes.turn_diffs import diffs_of
from sessions.integrations.slack.api import MAX_FILE_BYTES, Slack
from sessions.integrations.slack.blocks import Block, actions, button
from sessions.integrations.steps import is_again, note
from sessions.models import Message, OutsideReply, Session
from sessions.secrets import project_redactor
from teams.auth import authenticate_for
from teams.models import Role, User

# Ids of buttons, and of what the answer to them is.
FILES, DIFF = "send_files", "send_diff"
MAX_FILES = 10
_MAX_DIFF_CHARS = 1_000_000
# A longer diff is uploaded.
_MAX_SHOWN_CHARS = 2_500


@dataclass(frozen=True)
class Upload:
    """A file as it goes to Slack."""

    name: str
    content: bytes
    kind: str = ""


def file_buttons(session: Session, prompt_id: str) -> list[Block]:
    """Returns: what asks for the changes of a prompt's turn; empty without any."""
    if not _names(session, prompt_id):
        return []
    value = f"{session.pk}:{prompt_id}"
    return [actions([button("Send files", FILES, value), button("Show diff", DIFF, value)])]


def diff_of(session: Session, prompt_id: str) -> str:
    """Returns: what a prompt's turn has changed, as a patch without secrets."""
    info = _message(session, prompt_id)
    diff = "".join(text_of(one, "patch") for one in diffs_of(info))
    return project_redactor(session.project_id).text(diff)[:_MAX_DIFF_CHARS]


def short_diff(session: Session, prompt_id: str) -> str:
    """Returns: a diff that a message has room for, in Markdown; empty for a longer one."""
    diff = diff_of(session, prompt_id)
    return f"```\n{diff}\n```" if len(diff) <= _MAX_SHOWN_CHARS and "```" not in diff else ""


async def send_files(slack: Slack, row: OutsideReply) -> str:
    """Upload what somebody has asked for, with the rights that they have now.

    Returns: what could not be sent, and why. Raises: SlackError.
    """
    ids = text_of(row.data, "uploaded").split()
    if ids and is_again(row) and await _is_shared(slack, row, ids):
        return ""
    uploads, left_out = await _collect(row)
    if not uploads:
        return left_out
    ids = [await slack.upload(one.name, one.content, kind=one.kind) for one in uploads]
    await in_db(note, row, uploaded=" ".join(ids))
    files: list[JsonValue] = [
        {"id": file_id, "title": one.name} for file_id, one in zip(ids, uploads, strict=True)
    ]
    thread = {"thread_ts": row.thread} if row.thread else {}
    await slack.call("files.completeUploadExternal", files=files, channel_id=row.place, **thread)
    return left_out


async def _is_shared(slack: Slack, row: OutsideReply, ids: list[str]) -> bool:
    found = await slack.replies(row.place, row.thread, since=row.created_at)
    shared = [one for message in found for one in list_of(message, "files")]
    return any(text_of(object_of({"file": one}, "file"), "id") in ids for one in shared)


async def _collect(row: OutsideReply) -> tuple[list[Upload], str]:
    try:
        access = await in_db(_access_of, row)
    except AppError as exc:
        return [], str(exc)
    session, prompt_id = access.session, row.prompt_id
    if text_of(row.data, "what") == DIFF:
        diff = await in_db(diff_of, session, prompt_id)
        await in_db(note_download, access, file="changes.diff")
        return [Upload("changes.diff", diff.encode(), "diff")], ""
    where = Where.of_session(session, cautious=not access.team.can(Role.MEMBER))
    uploads, left_out, room = list[Upload](), list[str](), MAX_FILE_BYTES
    names = await in_db(_names, session, prompt_id)
    redactor = await in_db(project_redactor, session.project_id)
    for name in names[:MAX_FILES]:
        try:
            wire = await browse(where, VIEW_FILE, path=name, most_bytes=room)
        except AppError as exc:
            left_out.append(str(exc))
            continue
        if "text" not in wire and "content" not in wire:
            left_out.append(f"{name} is too large.")
            continue
        # Also of well-known keys, which people see in the browser.
        if "text" in wire:
            content = redactor.text(wire["text"]).encode()
        elif redactor.data(content := base64.b64decode(wire["content"])) is not content:
            left_out.append(f"{name} contains a secret.")
            continue
        if not content:
            left_out.append(f"{name} is empty, which Slack does not take.")
            continue
        room -= len(content)
        await in_db(note_download, access, file=name)
        uploads.append(Upload(name.rpartition("/")[2], content))
    if len(names) > MAX_FILES:
        left_out.append(f"Only the first {MAX_FILES} files are sent.")
    return uploads, " ".join(left_out)


def _access_of(row: OutsideReply) -> SessionAccess:
    """Raises: AppError where whoever has asked may not read it any more."""
    user = User.objects.filter(pk=text_of(row.data, "by"), is_active=True).first()
    if user is None or row.session is None:
        raise NotFound("Session")
    return access_session(authenticate_for(user, row.session.project.team), row.session.pk)


def _names(session: Session, prompt_id: str) -> list[str]:
    changed = diffs_of(_message(session, prompt_id))
    return [text_of(one, "file") for one in changed if one.get("status") != "deleted"]


def _message(session: Session, prompt_id: str) -> dict[str, JsonValue]:
    rows = Message.objects.visible(session).filter(pk=prompt_id)
    return rows.values_list("data", flat=True).first() or {}
