"""A session as a link shows it: read only, without what looks like a secret, and without addresses
that only members could open.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import cast

from django.urls import reverse
from django.utils.translation import gettext

from opencode_web.lib.errors import NotFound
from sessions.config.effective import model_names
from sessions.events.stored import StoredTool
from sessions.models import Part, Session, Share
from sessions.present.conversation.history import build_turns, load_rows
from sessions.present.conversation.items import Item, RenderContext
from sessions.present.conversation.tools import ToolRow, build_tool_row
from sessions.present.conversation.turns import Turn, TurnRows
from sessions.present.place import Place
from sessions.secrets import project_redactor
from sessions.shares.links import share_token
from sessions.shares.scan import without_contents
from sessions.shares.secrets import map_texts, mask_text

_REASONING = "sessions/parts/_reasoning.html"


@dataclass(frozen=True)
class SharedPlace(Place):
    """Leads to other pages of the same link, and nowhere else."""

    token: str = field(default="", repr=False)

    def url(self, name: str, **names: str) -> str:
        return ""

    def url_of(self, session: str) -> str:
        return ""

    def sub_url(self, session: str) -> str:
        return ""

    def changes_url(self, turn: str) -> str:
        return ""

    def changes_of(self, path: str) -> str:
        return ""

    def file_url(self, path: str) -> str:
        return ""

    def message_url(self, message: str, *, turn: str, part: str = "") -> str:
        return ""

    def body_url(self, part_id: str) -> str:
        return reverse("shared_part", kwargs={"token": self.token, "part": part_id})


@dataclass(frozen=True)
class Shared:
    """A stretch of a shared session. `earlier_url` and `newest_url` are empty at the ends."""

    title: str
    turns: list[Turn]
    earlier_url: str
    newest_url: str
    running: bool
    by: str
    until: datetime | None
    public: bool
    details: bool


def load_shared(share: Share, *, before: int | None = None) -> Shared:
    """`share` comes from `access_shared`."""
    session, clean = share.session, _cleaner(share.session)
    rows, earlier = load_rows(session, before=before)
    for row in rows:
        _clean_rows(row, clean)
    context = RenderContext(
        _place(share),
        is_partly_unpriced=session.is_partly_unpriced,
        model_name=model_names(session.project),
    )
    turns = build_turns(session, rows, context, newest=before is None)
    url = reverse("shared", kwargs={"token": share_token(share.pk)})
    return Shared(
        title=clean(session.title),
        turns=turns if share.details else [_bare(turn) for turn in turns],
        earlier_url=f"{url}?before={earlier}" if earlier else "",
        newest_url=url if before is not None else "",
        running=bool(turns) and turns[-1].footer is None and before is None,
        by=share.created_by.display_name if share.created_by else gettext("Someone"),
        until=share.expires_at,
        public=share.scope == Share.Scope.PUBLIC,
        details=share.details,
    )


def load_shared_row(share: Share, part_id: str) -> ToolRow:
    """Returns: a tool row with the whole of its body. Raises: NotFound, also without details."""
    visible = Part.objects.visible(share.session).filter(pk=part_id, type="tool")
    part = visible.first() if share.details else None
    if part is None:
        raise NotFound("Part")
    # Only texts in it have changed.
    data = cast(StoredTool, map_texts(without_contents(part.data), _cleaner(share.session)))
    row = build_tool_row(data, _place(share), whole=True)
    if not row.body_template:
        raise NotFound("Part")
    return row


def _place(share: Share) -> SharedPlace:
    session = share.session
    return SharedPlace("", session.pk, session.worktree, token=share_token(share.pk))


def _cleaner(session: Session) -> Callable[[str], str]:
    redactor = project_redactor(session.project_id)
    return lambda text: mask_text(redactor.text(text))


def _clean_rows(rows: TurnRows, clean: Callable[[str], str]) -> None:
    # The rows were read for this page and are never saved.
    for part in (*rows.prompt_parts, *(part for _, parts in rows.answers for part in parts)):
        part.data = map_texts(without_contents(part.data), clean)
    for message, _ in rows.answers:
        message.data = map_texts(message.data, clean)
    rows.decisions = {
        key: [replace(one, message=clean(one.message)) for one in made]
        for key, made in rows.decisions.items()
    }


def _bare(turn: Turn) -> Turn:
    """The turn without reasoning, and without what tools read, wrote and said."""
    kept = [item for item in turn.items if item.template != _REASONING]
    return replace(turn, items=[_bare_item(item) for item in kept])


def _bare_item(item: Item) -> Item:
    if item.row is not None:
        return replace(item, row=_bare_row(item.row))
    if item.group is not None:
        rows = [_bare_row(row) for row in item.group.rows]
        return replace(item, group=replace(item.group, rows=rows))
    return item


def _bare_row(row: ToolRow) -> ToolRow:
    return replace(row, body=None, body_template="", error="", tail="")
