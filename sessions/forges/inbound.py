"""What forges send: who may be believed, and what a new comment says. The rest is in `events`.

The secret proves that a forge sent it; every word in it is still a stranger's.

Source: https://docs.github.com/en/webhooks/webhook-events-and-payloads#issue_comment,
https://docs.gitlab.com/user/project/integrations/webhook_events/#comment-events and
https://docs.gitea.com/usage/webhooks
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.utils.dateparse import parse_datetime

from opencode_web.lib.errors import Invalid
from opencode_web.lib.json import JsonObject, JsonValue, object_of, read_json, text_of
from opencode_web.lib.text import clean_text
from sessions.forges.adapter import LINE, OPENED, ForgeKind, Thread

MAX_TEXT_CHARS = 60_000
MAX_TITLE_CHARS, MAX_NAME_CHARS = 300, 100
# The header of the signature, and what stands before the digits.
_SIGNATURES = {
    ForgeKind.GITHUB: ("x-hub-signature-256", "sha256="),
    ForgeKind.GITEA: ("x-gitea-signature", ""),
}
_EVENTS = {
    ForgeKind.GITHUB: "x-github-event",
    ForgeKind.GITLAB: "x-gitlab-event",
    ForgeKind.GITEA: "x-gitea-event",
}
# Forgejo and Gitea say nothing of the kind; there the rights of the account decide alone.
_COLLABORATORS = {"OWNER", "MEMBER", "COLLABORATOR"}


@dataclass(frozen=True)
class Heard:
    """A new comment, or with a `trigger` what else has happened.

    `repository` is the path that the forge knows the repository by, and the thread's number is 0
    where it is not said. `author_id` is the number that stays when somebody takes another name,
    `author` the name. `is_trusted` says whether the forge counts them among those who work in the
    repository. `comment` is its id there, or what else is the same whenever it is sent again.
    """

    repository: str
    thread: Thread
    comment: str
    author_id: str
    author: str
    is_trusted: bool
    text: str
    title: str
    body: str
    url: str
    # When it was, in seconds since the epoch; 0 where the forge does not say.
    at: float = 0
    # A `Trigger`.
    trigger: str = ""
    is_bot: bool = False
    # Further ones that it is as well, as an issue can be opened with labels.
    also: Sequence[str] = ()
    # What people call the thread, where that is not its number.
    key: str = ""
    # That the thread has got. Where a forge says all that it has now, they are told apart later.
    labels: Sequence[str] = ()
    has_all_labels: bool = False
    all_labels: Sequence[str] = ()
    # The commit that was pushed or checked, and its branch; the check.
    head: str = ""
    branch: str = ""
    check: str = ""
    # Where in a diff a comment is.
    file: str = ""
    line: int = 0
    hunk: str = ""

    @property
    def name(self) -> str:
        """What people call the thread."""
        return self.key or f"#{self.thread.number}"

    @property
    def to_react_to(self) -> str:
        """What gets a reaction: the comment, or what was opened; empty for anything else."""
        is_there = self.comment.isdigit() or self.comment.startswith((OPENED, LINE))
        return self.comment if is_there or not self.trigger else ""


def is_signed(kind: ForgeKind, headers: Mapping[str, str], body: bytes, *, secret: str) -> bool:
    """Whether it comes from who knows the secret. `headers` have names in lower case."""
    if kind is ForgeKind.GITLAB:
        # It sends the secret itself.
        given = headers.get("x-gitlab-token", "")
        return hmac.compare_digest(given.encode(), secret.encode())
    name, prefix = _SIGNATURES[kind]
    expected = prefix + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(headers.get(name, "").encode(), expected.encode())


def event_of(kind: ForgeKind, headers: Mapping[str, str]) -> str:
    """Returns: the forge's own name of what happened."""
    return headers.get(_EVENTS[kind], "")[:MAX_NAME_CHARS]


def read_body(body: bytes) -> JsonObject:
    """Raises: Invalid for what is not JSON."""
    try:
        return object_of({"sent": read_json(body.decode())}, "sent")
    except ValueError as exc:
        raise Invalid("The delivery must be JSON. Choose application/json on the forge.") from exc


def read_comment(kind: ForgeKind, event: str, sent: JsonObject) -> Heard | None:
    """Returns: None for everything but a new comment of a person on an issue or pull request.

    Raises: Invalid for what is not of the form that the forge documents.
    """
    return _READERS[kind](event, sent)


def _read_issue_comment(event: str, sent: JsonObject) -> Heard | None:
    """GitHub's, and Gitea's after it."""
    if event not in ("issue_comment", "pull_request_comment") or sent.get("action") != "created":
        return None
    issue, comment = object_of(sent, "issue"), object_of(sent, "comment")
    author = object_of(comment, "user")
    if text_of(author, "type") == "Bot":
        return None
    is_pull = isinstance(issue.get("pull_request"), dict) or sent.get("is_pull") is True
    return Heard(
        repository=text_of(object_of(sent, "repository"), "full_name"),
        thread=Thread(number_in(issue, "number"), is_pull),
        comment=str(number_in(comment, "id")),
        author_id=str(number_in(author, "id")),
        author=cut(author.get("login"), MAX_NAME_CHARS),
        is_trusted=text_of(comment, "author_association") in _COLLABORATORS,
        text=cut(comment.get("body"), MAX_TEXT_CHARS),
        title=cut(issue.get("title"), MAX_TITLE_CHARS),
        body=cut(issue.get("body"), MAX_TEXT_CHARS),
        url=cut(comment.get("html_url"), 1_000),
        at=time_in(comment, "created_at"),
    )


def _read_note(event: str, sent: JsonObject) -> Heard | None:
    """GitLab's. A project's own and group access tokens are accounts named like bots there."""
    note, author = object_of(sent, "object_attributes"), object_of(sent, "user")
    kind = text_of(note, "noteable_type")
    # Older servers do not say that it was edited.
    if event != "Note Hook" or note.get("action") not in (None, "create") or note.get("system"):
        return None
    if kind not in ("Issue", "MergeRequest") or note.get("type") == "DiffNote":
        return None
    about = object_of(sent, "issue" if kind == "Issue" else "merge_request")
    return Heard(
        repository=text_of(object_of(sent, "project"), "path_with_namespace"),
        thread=Thread(number_in(about, "iid"), kind == "MergeRequest"),
        comment=str(number_in(note, "id")),
        author_id=str(number_in(author, "id")),
        author=cut(author.get("username"), MAX_NAME_CHARS),
        is_trusted=False,
        text=cut(note.get("note"), MAX_TEXT_CHARS),
        title=cut(about.get("title"), MAX_TITLE_CHARS),
        body=cut(about.get("description"), MAX_TEXT_CHARS),
        url=cut(note.get("url"), 1_000),
        at=time_in(note, "created_at"),
    )


_READERS = {
    ForgeKind.GITHUB: _read_issue_comment,
    ForgeKind.GITLAB: _read_note,
    ForgeKind.GITEA: _read_issue_comment,
}


def number_in(value: JsonObject, name: str) -> int:
    """Raises: Invalid without one."""
    found = value.get(name)
    if not isinstance(found, int) or isinstance(found, bool) or not 0 < found < 2**63:
        raise Invalid(f"The delivery has no valid {name}.", field=name)
    return found


def time_in(value: JsonObject, name: str) -> float:
    """Returns: seconds since the epoch; 0 for what is no time."""
    # GitLab's older form ends in the name of the zone.
    text = text_of(value, name)[:40].replace(" UTC", "+00:00")
    try:
        found = parse_datetime(text)
    except ValueError:
        return 0
    return found.timestamp() if found and found.tzinfo else 0


def cut(value: JsonValue, most: int) -> str:
    """Returns: a text that can be stored, empty for anything else."""
    return clean_text(value[: 2 * most])[:most] if isinstance(value, str) else ""
