"""What a person does while reviewing: mark files as viewed, write comments, send them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from django.db import transaction
from django.utils.translation import gettext as _

from opencode_web.lib.errors import Conflict, Invalid, NotFound
from opencode_web.lib.text import clean_text
from sessions.access import SessionAccess
from sessions.actions.prompts import PromptDraft, admit_prompt
from sessions.events.inbox import Delivery
from sessions.events.store import lock_session
from sessions.models import ReviewComment, SessionInput, ViewedFile
from sessions.secrets import hide_keys
from teams.access import require_role
from teams.models import Role

MAX_COMMENTS = 100
MAX_BODY_CHARS = 10_000
MAX_CODE_CHARS = 20_000
_MAX_MARKS = 20_000


@dataclass(frozen=True)
class Lines:
    """Lines of one side of a diff, with what stood in them."""

    source: str
    path: str
    side: str
    first: int
    last: int
    code: str


def viewed_digest(path: str, digest: str) -> str:
    """What a mark is kept under, from the digest of what was compared."""
    return hashlib.sha256(f"{path}\0{digest}".encode("utf-8", "replace")).hexdigest()


@transaction.atomic
def mark_viewed(access: SessionAccess, *, path: str, digest: str, viewed: bool) -> None:
    """Keep whether the person has looked at this change: a taste, so nothing is audited."""
    rows = ViewedFile.objects.filter(session=access.session, user=access.principal.user)
    key = viewed_digest(path, digest)
    if not viewed:
        rows.filter(digest=key).delete()
    elif rows.count() < _MAX_MARKS:
        named = {"session": access.session, "user": access.principal.user, "digest": key}
        defaults = {"path": clean_text(path), "seq": access.session.seq}
        ViewedFile.objects.get_or_create(**named, defaults=defaults)


@transaction.atomic
def add_comment(access: SessionAccess, lines: Lines, *, body: str) -> ReviewComment:
    """Keep a comment until it is sent.

    Raises: Invalid for no words, too many, or no lines; Conflict when there are too many comments;
    Forbidden below member.
    """
    require_role(access.team, Role.MEMBER)
    author = access.principal.user
    lock_session(access.session.pk)
    if access.session.review_comments.filter(author=author).count() >= MAX_COMMENTS:
        raise Conflict(_("Send these {count} comments first.").format(count=MAX_COMMENTS))
    if not lines.code:
        raise Invalid(_("These lines are not in the diff."), field="first")
    return ReviewComment.objects.create(
        session=access.session,
        author=author,
        source=lines.source,
        path=clean_text(lines.path),
        side=lines.side,
        first=lines.first,
        last=lines.last,
        code=hide_keys(access.project, clean_text(lines.code[:MAX_CODE_CHARS])),
        body=hide_keys(access.project, _body(body)),
    )


@transaction.atomic
def edit_comment(comment: ReviewComment, *, body: str) -> ReviewComment:
    """Raises: Invalid for no words, or too many."""
    comment.body = hide_keys(comment.session.project, _body(body))
    comment.save(update_fields=["body"])
    return comment


def remove_comment(comment: ReviewComment) -> None:
    """Forget a comment that was not sent."""
    comment.delete()


@transaction.atomic
def send_comments(
    access: SessionAccess, *, delivery: Delivery, message_id: str | None
) -> SessionInput:
    """Send all comments of a person as one prompt; then they are no longer kept.

    Repeating a message id returns what it has sent. Raises: NotFound when there are none; as
    `admit_prompt`.
    """
    author = access.principal.user
    lock_session(access.session.pk)
    mine = access.session.review_comments.filter(author=author).order_by("path", "first", "pk")
    comments = list(mine)
    if not comments:
        sent = SessionInput.objects.filter(pk=message_id, session=access.session, author=author)
        before = sent.first()
        if before is None:
            raise NotFound("Comments", access.session.pk)
        return before
    draft = PromptDraft(
        [{"type": "text", "text": comments_text(comments)}],
        message_id=message_id,
        delivery=delivery,
        # Not what stands in the code.
        typed="\n".join(comment.body for comment in comments),
    )
    admitted = admit_prompt(access, draft)
    mine.delete()
    return admitted


def comments_text(comments: Iterable[ReviewComment]) -> str:
    """What the model reads, in the language of the author, under whose name it stands."""
    texts = [_("I have reviewed the changes. Please look at these comments.")]
    for number, comment in enumerate(comments, start=1):
        fence = "`" * max(3, _longest_fence(comment.code) + 1)
        code = comment.code.removesuffix("\n")
        texts.append(f"{number}. {_where(comment)}\n\n{fence}\n{code}\n{fence}\n\n{comment.body}")
    return "\n\n".join(texts)


def _where(comment: ReviewComment) -> str:
    old = comment.side == ReviewComment.Side.OLD
    if comment.last > comment.first:
        text = _("{path}, lines {first} to {last}")
        if old:
            text = _("{path}, lines {first} to {last} before the change")
    else:
        text = _("{path}, line {first} before the change") if old else _("{path}, line {first}")
    path = " ".join(comment.path.split())
    return text.format(path=path, first=comment.first, last=comment.last)


def _longest_fence(code: str) -> int:
    longest = run = 0
    for letter in code:
        run = run + 1 if letter == "`" else 0
        longest = max(longest, run)
    return longest


def _body(text: str) -> str:
    body = clean_text(text.replace("\r\n", "\n").strip())
    if not body:
        raise Invalid(_("Enter a comment."), field="body")
    if len(body) > MAX_BODY_CHARS:
        raise Invalid(
            _("A comment can have at most {count} characters.").format(count=MAX_BODY_CHARS),
            field="body",
        )
    return body
