"""Reviews that agents write of the pull request whose thread has started their session."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, replace

from opencode_web.lib.db import in_db
from opencode_web.lib.errors import Conflict, Invalid, NotFound
from opencode_web.lib.text import clean_text
from sessions.events.outbox import INTEGRATION
from sessions.forges.adapter import Forge, ForgeError, Thread
from sessions.forges.reasons import ForgeReason
from sessions.forges.reviews import LineComment, Review, Verdict, is_in
from sessions.integrations.replies import harmless, link_to
from sessions.integrations.steps import Step, begin_reply, is_again
from sessions.models import Checkout, Conversation, OutsideReply, Session
from sessions.secrets import project_redactor
from tools.context import ReviewComment, ReviewDraft
from tools.redaction import Redactor

MAX_CHARS = 40_000
# Of one prompt: a model that goes in circles must not fill a thread.
MAX_REVIEWS = 3
_REVIEW = OutsideReply.Kind.REVIEW
# Robots read what is in a block of code, too: a command, or a name with something to do.
_RISKY = re.compile(r"^[ \t>]*/[A-Za-z]|@[\w-]+[ \t]+\w|<!--", re.MULTILINE)
_APPROVES = (
    "*The agent has found nothing that must change. It does not approve pull requests here.*"
)
_REQUESTS = "**Changes requested**"
_MOVED = (
    "*The pull request has other commits than {commit}, which this is about, so the comments are "
    "not on its lines.*"
)


def can_review(session: Session) -> bool:
    """Whether a session answers in the thread of a pull request. One query where it may."""
    return _conversation_of(session) is not None


def _conversation_of(session: Session) -> Conversation | None:
    if INTEGRATION not in session.metadata or session.parent_id or session.is_private:
        return None
    rows = Conversation.objects.filter(session=session, thread__startswith="pull/")
    return rows.select_related("integration").first()


def request_review(session: Session, draft: ReviewDraft, *, call_id: str, prompt_id: str) -> str:
    """Have a review written. The same call asks once. Must run in a transaction.

    Returns: the thread. Raises: NotFound for another session; Conflict after MAX_REVIEWS; Invalid.
    """
    conversation = _conversation_of(session)
    if conversation is None:
        raise NotFound("Pull request")
    rows = OutsideReply.objects.filter(session=session, kind=_REVIEW, prompt_id=prompt_id)
    if rows.filter(data__call=call_id).exists():
        return conversation.thread
    if rows.count() >= MAX_REVIEWS:
        raise Conflict(f"There are {MAX_REVIEWS} reviews of this request already.")
    if not draft.summary.strip():
        raise Invalid("A review needs a summary.", field="summary")
    texts = [draft.summary]
    for one in draft.comments:
        texts += [one.path, one.body, one.suggestion or ""]
    if sum(map(len, texts)) > MAX_CHARS:
        raise Invalid(f"The review has more than {MAX_CHARS} characters.")
    redactor = project_redactor(session.project_id)
    comments = [asdict(_safe(one, redactor)) for one in map(_comment, draft.comments)]
    begin_reply(
        integration=conversation.integration,
        kind=_REVIEW,
        place=conversation.place,
        thread=conversation.thread,
        session=session,
        prompt_id=prompt_id,
        data={
            "call": call_id,
            "verdict": draft.verdict,
            "summary": redactor.text(clean_text(draft.summary).strip()),
            "comments": comments,
        },
    )
    return conversation.thread


def comments_of(row: OutsideReply) -> list[LineComment]:
    """Returns: what a review says of lines, without secrets, and so that a forge only shows it."""
    redactor = project_redactor(row.integration.project.pk)
    return [_harmless(_safe(LineComment(**one), redactor)) for one in row.data["comments"]]


def _comment(given: ReviewComment) -> LineComment:
    suggestion = None if given.suggestion is None else clean_text(given.suggestion).rstrip("\n")
    start = given.start_line if given.start_line and given.start_line != given.line else 0
    return LineComment(
        path=clean_text(given.path).strip().removeprefix("./"),
        line=given.line,
        body=clean_text(given.body).strip(),
        start=start,
        is_old=given.is_old,
        suggestion=suggestion,
    )


def _safe(comment: LineComment, redactor: Redactor) -> LineComment:
    """Returns: it without secrets. A suggestion with one is only shown: it would write the mark
    that stands for it into the file."""
    clean, code = comment, comment.suggestion or ""
    if redactor.text(code) != code or redactor.stands_in(code):
        clean = replace(comment, body=comment.text(), suggestion=None)
    return replace(clean, path=redactor.text(clean.path), body=redactor.text(clean.body))


def _harmless(comment: LineComment) -> LineComment:
    """Returns: it so that a forge commands nothing. What is suggested stays letter for letter, or
    is only shown."""
    if comment.suggestion is not None and _RISKY.search(comment.suggestion):
        comment = replace(comment, body=comment.text(), suggestion=None)
    return replace(comment, body=harmless(comment.body))


@dataclass(frozen=True)
class _Draft:
    """A review as it may be shown. `commits` are those that it can be about."""

    review: Review
    commits: frozenset[str]


async def post_review(row: OutsideReply, forge: Forge) -> Step:
    """Write a review on its pull request. Raises: ForgeError."""
    draft = await in_db(_draft_of, row)
    if row.comment or draft is None:
        return Step(is_last=True)
    number = Thread.parse(row.thread).number
    pull = await forge.read(number)
    review = replace(draft.review, commit=pull.head)
    if pull.head in draft.commits:
        diff = await forge.read_diff(number) if review.comments else {}
        placed = tuple(one for one in review.comments if is_in(diff, one))
        others = tuple(one for one in review.comments if not is_in(diff, one))
        review = replace(review, comments=placed, others=others)
    else:
        moved = _MOVED.format(commit=draft.review.commit[:10] or "the one")
        summary = f"{review.summary}\n\n{moved}"
        review = replace(review, summary=summary, comments=(), others=review.comments)
    row.comment = await _post(forge, number, review, again=is_again(row))
    return Step(is_last=True)


async def _post(forge: Forge, number: int, review: Review, *, again: bool) -> str:
    """Write as much of it on lines, and with its verdict, as can be. Raises: ForgeError."""
    summary = review.summary
    if review.verdict is Verdict.REQUEST_CHANGES:
        summary = f"{_REQUESTS}\n\n{summary}"
    # Nobody can approve what they have opened themselves, or ask themselves for changes.
    plain = review
    if review.verdict is not Verdict.COMMENT:
        plain = replace(review, verdict=Verdict.COMMENT, summary=summary)
    bare = replace(plain, comments=(), others=(*plain.comments, *plain.others))
    tries = list(dict.fromkeys((review, plain, bare)))
    for one in tries:
        try:
            return await forge.post_review(number, one, is_again=again)
        except ForgeError as exc:
            if exc.reason is not ForgeReason.REFUSED or one is tries[-1]:
                raise
    raise AssertionError


def _draft_of(row: OutsideReply) -> _Draft | None:
    """Returns: None where it must not be shown any more."""
    assert row.session is not None
    session = Session.objects.get(pk=row.session.pk)
    if session.is_private:
        return None
    redact = project_redactor(session.project_id).text
    summary, verdict = harmless(redact(str(row.data["summary"]))), Verdict(row.data["verdict"])
    # A stranger may have had the agent approve their own.
    may_approve = row.integration.approves and not session.is_read_only
    if verdict is Verdict.APPROVE and not may_approve:
        summary, verdict = f"{summary}\n\n{_APPROVES}", Verdict.COMMENT
    if link := link_to(row, session):
        summary = f"{summary}\n\n{link}"
    checkout = Checkout.objects.filter(session=session).first()
    commits = (checkout.base, checkout.pushed_head) if checkout else ()
    review = Review(
        mark=f"<!-- {row.pk} -->",
        commit=next(filter(None, commits), ""),
        verdict=verdict,
        summary=summary,
        comments=tuple(comments_of(row)),
    )
    return _Draft(review, frozenset(filter(None, commits)))
