"""What a message says, read when it is sent: nothing that the person may not know by then."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from opencode_web.lib.errors import AppError
from sessions.access import access_session
from sessions.actions.sessions import is_default_title
from sessions.approvals.requests import changes_to_decide
from sessions.config.cost_limit import role_to_answer
from sessions.models import (
    ChangeKind,
    ChangeRequest,
    Notification,
    NotificationKind,
    PermissionRequest,
    QuestionRequest,
    Session,
)
from sessions.models import Message as Prompt
from sessions.notifications.channels.base import Channel, Line, Message
from sessions.rules.second_person import second_person
from teams.access import TeamAccess, access_team
from teams.budget_notices import REACHED_PERCENT, notices_of
from teams.models import BudgetNotice, Role, User


@dataclass(frozen=True)
class _Found:
    line: Line
    # A newer one with the same takes its place.
    tag: str
    is_urgent: bool = False


def compose(rows: Sequence[Notification], user: User, channel: Channel) -> Message | None:
    """Say in the person's language what happened, the oldest first.

    Returns: None where nothing of it is news any more, or may be known to the person.
    """
    newest: dict[str, _Found] = {}
    with translation.override(user.language or settings.LANGUAGE_CODE):
        for row in sorted(rows, key=lambda row: (row.created_at, row.pk)):
            found = _find(row, user, channel)
            if found is not None:
                newest.pop(found.tag, None)
                newest[found.tag] = found
        return _message([*newest.values()], _id_of(rows)) if newest else None


def _id_of(rows: Sequence[Notification]) -> str:
    numbers = ",".join(str(row.pk) for row in sorted(rows, key=lambda row: row.pk))
    return f"ntf_{hashlib.sha256(numbers.encode()).hexdigest()[:32]}"


def _message(found: list[_Found], message_id: str) -> Message:
    lines = tuple(one.line for one in found)
    first = found[0]
    if len(found) == 1:
        path, tag = first.line.path, first.tag
        return Message(lines, "", path, tag, message_id, is_urgent=first.is_urgent)
    number = len(found)
    title = ngettext("%(number)d notification", "%(number)d notifications", number)
    is_one_team = len({line.team.pk for line in lines}) == 1
    inbox = reverse("sessions:waiting", kwargs={"team": first.line.team.slug})
    path = inbox if is_one_team else reverse("home")
    return Message(lines, title % {"number": number}, path, "digest", message_id)


def _find(row: Notification, user: User, channel: Channel) -> _Found | None:
    about = row.budget or row.change or (row.session.project if row.session else None)
    team = about.team if about else None
    if team is None:
        return None
    principal = channel.principal(user, row.device, team)
    if principal is None:
        return None
    try:
        if row.session is None:
            return _of_team(row, access_team(principal.user, team.pk, need=None))
        access = access_session(principal, row.session.pk)
    except AppError:
        return None
    session, kind = access.session, NotificationKind(row.kind)
    # The tag that open pages give to theirs, so that nobody sees two.
    what, anchor, tag = _what(kind), "", f"row-{session.pk}"
    if kind is NotificationKind.ASKS:
        anchor = _card(row, access.team, user)
    elif kind is NotificationKind.MENTIONED:
        what, anchor = find_mention(row, session)
        tag = f"mention-{row.request}"
    if not anchor and kind in (NotificationKind.ASKS, NotificationKind.MENTIONED):
        return None
    path = reverse("sessions:session", kwargs={"team": team.slug, "session": session.pk})
    line = Line(what, title_of(session), f"{path}{anchor}", kind, team, session.pk)
    return _Found(line, tag, is_urgent=kind is NotificationKind.ASKS)


def _card(row: Notification, access: TeamAccess, user: User) -> str:
    """Returns: the anchor of the card of a request that waits and that the person can answer."""
    asked = PermissionRequest.objects.pending().filter(pk=row.request).first()
    if asked is None:
        waits = QuestionRequest.objects.pending().filter(pk=row.request).exists()
        return f"#que-{row.request}" if waits and access.can(Role.MEMBER) else ""
    if not access.can(role_to_answer(asked.permission)):
        return ""
    if asked.second_person and row.session is not None:
        able = second_person(row.session, access.team).may_allow
        if all(one.pk != user.pk for one in able):
            return ""
    return f"#perm-{row.request}"


def find_mention(row: Notification, session: Session) -> tuple[str, str]:
    """Returns: who has mentioned the person, and where; empty once that is rolled back."""
    shown = Prompt.objects.visible(session).filter(pk=row.request).select_related("author")
    message = shown.first()
    if message is None:
        return "", ""
    name = message.author.display_name if message.author else ""
    what = _("%(name)s mentioned you") % {"name": name} if name else _("You were mentioned")
    return what, f"?at={message.pk}#turn-{message.pk}"


def _of_team(row: Notification, access: TeamAccess) -> _Found | None:
    if row.budget is not None:
        return _of_budget(row.budget, access)
    return _of_change(row.change, access) if row.change is not None else None


def _of_change(change: ChangeRequest, access: TeamAccess) -> _Found | None:
    """Returns: None once it is decided, and for who cannot decide on it any more."""
    if change not in changes_to_decide(access):
        return None
    names = {"name": change.asker.display_name, "what": ChangeKind(change.kind).label}
    said = _("%(name)s asks for approval (%(what)s)") % names
    path = reverse("sessions:approvals", kwargs={"team": access.team.slug})
    kind = NotificationKind.ASKS
    line = Line(access.team.name, said, f"{path}#{change.pk}", kind, access.team)
    return _Found(line, f"change-{change.pk}", is_urgent=True)


def _of_budget(notice: BudgetNotice, access: TeamAccess) -> _Found | None:
    if not notices_of(access).filter(pk=notice.pk).exclude(put_away_by=access.user).exists():
        return None
    said = (
        _("A budget is spent")
        if notice.threshold >= REACHED_PERCENT
        else _("%(percent)d%% of a budget is spent") % {"percent": notice.threshold}
    )
    path = reverse("sessions:budgets", kwargs={"team": access.team.slug})
    line = Line(access.team.name, said, path, NotificationKind.BUDGET, access.team)
    return _Found(line, f"budget-{access.team.pk}")


def _what(kind: NotificationKind) -> str:
    match kind:
        case NotificationKind.ASKS:
            return _("Needs you")
        case NotificationKind.FAILS:
            return _("Failed")
        case _:
            return _("Done")


def title_of(session: Session) -> str:
    """Returns: the title that people read."""
    return _("New session") if is_default_title(session.title) else session.title
