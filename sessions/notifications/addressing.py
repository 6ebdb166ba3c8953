"""Whom something concerns, and where they want to be told of it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from sessions.approvals.people import deciders
from sessions.approvers import approvers
from sessions.events.mentions import people_in
from sessions.models import (
    Message,
    Notification,
    NotificationKind,
    Part,
    PermissionRequest,
    Session,
)
from sessions.notifications.channels.base import Channel
from sessions.notifications.channels.registry import CHANNELS
from sessions.notifications.choices import ChannelChoice, Choices
from sessions.rules.second_person import second_person
from teams.access import roles_with
from teams.models import BudgetNotice, Membership, Role, User


def choice_for(choices: Choices, channel: Channel) -> ChannelChoice:
    """Returns: what the person wants of a channel, or what it usually brings."""
    return choices.channels.get(channel.name, ChannelChoice(channel.usual_kinds))


@transaction.atomic
def address(row: Notification) -> None:
    """Put one row for each person and device in the place of one that is for nobody yet."""
    # Another attempt may have begun: only one of them deletes the row.
    if not Notification.objects.filter(pk=row.pk, attempts=row.attempts).delete()[0]:
        return
    now = timezone.now()
    people = _people(row)
    rows = [one for user in people for one in _rows_for(row, user, now=now)]
    if row.kind == NotificationKind.MENTIONED:
        kept = Notification.State.KEPT
        rows += [_row_for(row, user, state=kept, next_at=now) for user in people]
    Notification.objects.bulk_create(rows)


@transaction.atomic
def collect_budget_notices() -> None:
    """Have people told of the budgets that were noted since the last time."""
    now = timezone.now()
    # Operators see those of the server on its overview.
    for notice in BudgetNotice.objects.filter(is_told=False).exclude(team=None):
        if BudgetNotice.objects.filter(pk=notice.pk, is_told=False).update(is_told=True):
            Notification.objects.create(
                kind=NotificationKind.BUDGET, budget=notice, next_at=now, created_at=now
            )


def _rows_for(row: Notification, user: User, *, now: datetime) -> list[Notification]:
    choices, kind = Choices.of(user), NotificationKind(row.kind)
    found = []
    for channel in CHANNELS:
        choice = choice_for(choices, channel)
        if kind not in choice.kinds or channel.unavailable(user):
            continue
        held = choices.held_until(is_daily=choice.is_daily, now=now)
        found += [
            _row_for(
                *(row, user),
                channel=channel.name,
                device=device,
                is_held=held is not None,
                next_at=held or now,
            )
            for device in channel.devices(user)
        ]
    return found


def _row_for(row: Notification, user: User, **more: Any) -> Notification:  # Any: as its fields are
    return Notification(
        kind=row.kind,
        session_id=row.session_id,
        request=row.request,
        budget_id=row.budget_id,
        change_id=row.change_id,
        user=user,
        created_at=row.created_at,
        **more,
    )


def _people(row: Notification) -> list[User]:
    if row.budget is not None:
        return _concerned(row.budget)
    if (change := row.change) is not None:
        return deciders(approvers(change.team, change.project), change)
    return [] if row.session is None else _of_session(row, row.session)


def _of_session(row: Notification, session: Session) -> list[User]:
    team = session.project.team
    if row.kind == NotificationKind.MENTIONED:
        return _mentioned(row)
    if row.for_admins:
        rows = Membership.objects.current().filter(team=team, role__in=roles_with(Role.ADMIN))
        return list(_told(Q(pk__in=rows.values("user")) & ~_takes_part(session)))
    if PermissionRequest.objects.filter(pk=row.request, second_person=True).exists():
        return list(second_person(session, team).may_allow)
    return list(_told(_takes_part(session)))


def _mentioned(row: Notification) -> list[User]:
    texts = Part.objects.filter(session=row.session, message=row.request, type="text")
    kept = texts.values_list("data__metadata", flat=True)
    return list(_told(Q(pk__in={user_id for one in kept for _, user_id in people_in(one)})))


def _takes_part(session: Session) -> Q:
    """Returns: who has begun the session or has prompted it."""
    prompts = Message.objects.filter(session=session, role="user", author__isnull=False)
    return Q(pk=session.owner_id) | Q(pk__in=prompts.values("author"))


def _concerned(notice: BudgetNotice) -> list[User]:
    """Returns: whose budget it is, and who sees what all spend."""
    rows = Membership.objects.current().filter(team=notice.team)
    rows = rows.filter(Q(role__in=roles_with(Role.BILLING)) | Q(user=notice.user_id))
    return list(_told(Q(pk__in=rows.values("user"))))


def _told(whose: Q) -> list[User]:
    return list(User.objects.filter(whose, is_active=True, service_of=None))
