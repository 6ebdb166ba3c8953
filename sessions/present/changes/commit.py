"""Commit what the review shows, and where a commit can be looked at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from opencode_web.lib.ids import new_id
from opencode_web.lib.json import number_of
from sessions.actions.suggested_message import suggested_message
from sessions.forges.registry import NAMES
from sessions.models import Checkout, Session
from sessions.present.changes.entries import Asked, Found, Source
from sessions.present.place import Place
from sessions.present.stored_text import stored_text
from sessions.publish_settings import publishing_of

_SHORT = 10


@dataclass(frozen=True)
class CommitLink:
    url: str
    text: str
    is_ours: bool


@dataclass(frozen=True)
class CommitForm:
    """What is committed, in the words of its button. `id` is another once something was.

    `names` are what it sends. `is_shared`: others work in the folder, too. `is_open`: it was asked
    for where another source was shown.
    """

    url: str
    id: str
    text: str
    message: str
    names: dict[str, str]
    is_shared: bool
    is_open: bool
    publish_url: str


@dataclass(frozen=True)
class ReviewCommit:
    """While a worker is at it, `poll_url` tells how it went; then that is the `result`."""

    form: CommitForm | None = None
    poll_url: str = ""
    result: str = ""
    look: Literal["", "ok", "bad"] = ""
    links: tuple[CommitLink, ...] = ()


def build_commit(
    session: Session,
    row: Checkout | None,
    found: Found,
    asked: Asked,
    *,
    was_asked: bool,
    is_open: bool,
) -> ReviewCommit | None:
    """`row` is of where the session works. `was_asked`: somebody waits for their commit. `is_open`:
    somebody is about to write its message."""
    if asked.source is Source.COMMIT and found.commit:
        said = _("Commit %(commit)s") % {"commit": found.commit[:_SHORT]}
        return ReviewCommit(result=said, links=_at_forge(session, row, found.commit))
    if asked.turn or asked.source is not Source.UNCOMMITTED:
        return None
    place = Place.of(session)
    form = _form(session, row, found, place, is_open) if found.entries else None
    if not (row and was_asked):
        return ReviewCommit(form) if form else None
    if row.job:
        return ReviewCommit(form, poll_url=commit_address(place, Source.UNCOMMITTED))
    links = _at_forge(session, row, row.head) or (
        CommitLink(commit_address(place, Source.COMMIT), _("Show the commit"), is_ours=True),
    )
    return ReviewCommit(
        form,
        result=stored_text(row.job_cause, row.job_detail),
        look="bad" if row.job_failed else "ok",
        links=() if row.job_failed else links,
    )


def commit_address(place: Place, source: Source) -> str:
    """The pane of a source, with what became of a commit that was asked for."""
    more = "&committed=1" if source is Source.UNCOMMITTED else ""
    return f"{place.url('session')}?panel=changes&source={source.value}{more}"


def _form(
    session: Session, row: Checkout | None, found: Found, place: Place, is_open: bool
) -> CommitForm:
    count = len(found.entries) + found.rest.files
    text = ngettext("Commit %(count)s file", "Commit all %(count)s files", count)
    if found.staged:
        count = found.staged
        text = ngettext(
            "Commit staged changes in %(count)s file",
            "Commit staged changes in %(count)s files",
            count,
        )
    return CommitForm(
        url=place.url("review_commit"),
        id=row.head[:_SHORT] if row else "",
        text=text % {"count": count},
        message=suggested_message(session, row),
        names={
            "source": str(Source.UNCOMMITTED.value),
            "which": "staged" if found.staged else "all",
            "key": new_id("msg"),
        },
        is_shared=not session.folder and not found.staged,
        is_open=is_open,
        publish_url=place.url("publish"),
    )


def _at_forge(session: Session, row: Checkout | None, commit: str) -> tuple[CommitLink, ...]:
    """Its page on the host that it was pushed to; none where nobody knows that it was."""
    if row is None or not commit:
        return ()
    was_pushed = row.head == commit and number_of(row.survey, "unpushed") == 0
    if commit != row.pushed_head and not was_pushed:
        return ()
    publishing = publishing_of(session.project)
    url = publishing.commit_url(commit)
    if not url or publishing.kind is None:
        return ()
    text = _("View on %(forge)s") % {"forge": NAMES[publishing.kind]}
    return (CommitLink(url, text, is_ours=False),)
