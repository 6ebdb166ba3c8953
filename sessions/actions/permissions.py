from __future__ import annotations

from functools import partial
from typing import Literal

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from opencode_web.lib.errors import Conflict, Forbidden, Invalid, Settled
from opencode_web.lib.json import JsonObject
from opencode_web.lib.text import clean_text
from sessions.access import SessionAccess
from sessions.actions.requests import close_requests
from sessions.config.cost_limit import PERMISSION, role_to_answer
from sessions.events.live import publish_row
from sessions.events.store import append, lock_session
from sessions.events.types import PermissionReplied, SessionEvent
from sessions.models import (
    AdminsAsked,
    ChangeKind,
    Notification,
    NotificationKind,
    PermissionRequest,
    RuleScope,
    SavedRule,
    Session,
)
from sessions.rules.in_force import session_ruleset
from sessions.rules.second_person import require_second_person
from sessions.secrets import hide_keys, shown_patterns
from sessions.tree import tree_of
from sessions.wake import wake
from teams.access import require_lasting, require_role
from teams.audit import AuditAction, record
from teams.models import Role, User
from tools.permissions.rules import MAX_PATTERN_CHARS, Action, decide

Reply = Literal["once", "always", "reject"]
_BY = {
    "once": gettext_noop("Already answered: {name} allowed it once."),
    "always": gettext_noop("Already answered: {name} always allowed it."),
    "reject": gettext_noop("Already answered: {name} rejected it."),
    "cancelled": gettext_noop("No longer pending: {name} stopped the turn."),
}
_LATE = {
    "cancelled": gettext_noop("No longer pending: the turn was stopped."),
    "expired": gettext_noop("No longer pending: nobody answered in time."),
}
_GONE = gettext_noop("No longer pending: somebody answered before.")
Pending = PermissionRequest.Status.PENDING


@transaction.atomic
def reply_permission(
    access: SessionAccess,
    request: PermissionRequest,
    *,
    reply: Reply,
    message: str = "",
    patterns: list[str] | None = None,
    scope: RuleScope = RuleScope.PROJECT,
) -> PermissionRequest:
    """Answer a pending request. The first answer wins.

    `always` is saved for `scope`: what the request offers, or with `patterns` a choice among that
    and what was asked for itself. It also answers the session's other requests that it now covers.
    `reject` with a message goes to the agent, which continues; without one it rejects the session's
    other requests and questions too, and the turn ends.

    Raises: Settled when somebody has answered before, naming who; Conflict for `always` where a
    second person approves rules; Invalid when there is nothing that `always` could remember;
    Forbidden for a member who allows more cost, or something to the whole team, and for whoever has
    prompted where a second person must answer.
    """
    user = access.principal.user
    session = lock_session(access.session.pk)
    request = session.permissions.select_related("replied_by").get(pk=request.pk)
    if request.status != Pending:
        raise Settled(_answered(request))
    if reply != "reject" and not access.team.can(role_to_answer(request.permission)):
        raise Forbidden(_("Only an admin or owner of the team can allow more cost."))
    if reply != "reject" and request.second_person:
        require_second_person(access.team, session)
    if reply == "always":
        require_lasting(access.team)
        if ChangeKind.RULES in access.team.team.needs_approval:
            raise Conflict(_("In this team a second person approves rules. Allow it once."))
        if scope is RuleScope.TEAM:
            require_role(access.team, Role.ADMIN)
        _save_rules(session, request, patterns, scope, user)
    feedback = hide_keys(session.project, clean_text(message)) if message else ""
    events: list[SessionEvent] = [
        PermissionReplied(id=request.pk, reply=reply, feedback=feedback, by_id=user.pk)
    ]
    if reply == "reject" and not message:
        events += close_requests(session, "reject", by_id=user.pk, but=request.pk)
    elif reply == "always":
        # Nobody has looked at the others, so what needs a second person goes on waiting.
        others = session.permissions.pending().filter(second_person=False)
        events += [
            PermissionReplied(id=other.pk, reply="always", by_id=user.pk)
            for other in others.exclude(pk=request.pk)
            if _is_allowed_now(session, other)
        ]
    append(session, events)
    more: JsonObject = {"others": len(events) - 1} if len(events) > 1 else {}
    if reply == "always":
        kept = _chosen(request, patterns)
        more |= {"scope": scope.value, "always": shown_patterns(session.project_id, kept)}
    record(
        AuditAction.PERMISSION_REPLIED,
        actor=user,
        team=access.team.team,
        target=session,
        data={
            "request": request.pk,
            "permission": request.permission,
            "patterns": shown_patterns(session.project_id, request.patterns),
            "reply": reply,
            **({"second_person": True} if request.second_person else {}),
            **more,
        },
    )
    wake(session.pk, session.project)
    if request.permission == PERMISSION:
        # The answer holds for all of the tree; who waits for the same looks again.
        waiting = tree_of(session).filter(waits_for="budget")
        for one in waiting.exclude(pk=session.pk):
            wake(one.pk, session.project)
    request.refresh_from_db()
    return request


@transaction.atomic
def ask_admins(access: SessionAccess, request: PermissionRequest) -> None:
    """Tell the admins of the team that somebody waits for their answer. Only the first time counts.

    Raises: Settled as `reply_permission`; Invalid for a request that members can answer.
    """
    user = access.principal.user
    session = lock_session(access.session.pk)
    request = session.permissions.select_related("replied_by").get(pk=request.pk)
    if request.status != Pending:
        raise Settled(_answered(request))
    if role_to_answer(request.permission) is not Role.ADMIN:
        raise Invalid(_("You can answer this request yourself."))
    now = timezone.now()
    asked = {"asked_by": user, "asked_at": now}
    if not AdminsAsked.objects.get_or_create(request=request, defaults=asked)[1]:
        return
    Notification.objects.create(
        kind=NotificationKind.ASKS,
        session_id=session.top_id,
        request=request.pk,
        for_admins=True,
        next_at=now,
        created_at=now,
    )
    record(
        AuditAction.PERMISSION_ADMINS_ASKED,
        actor=user,
        team=access.team.team,
        target=session,
        data={"request": request.pk},
    )
    transaction.on_commit(partial(publish_row, session))


def _answered(request: PermissionRequest) -> str:
    who = request.replied_by.display_name if request.replied_by else ""
    if who and request.status in _BY:
        return _(_BY[request.status]).format(name=who)
    return _(_LATE.get(request.status, _GONE))


def _save_rules(
    session: Session,
    request: PermissionRequest,
    patterns: list[str] | None,
    scope: RuleScope,
    user: User,
) -> None:
    if not _chosen(request, None):
        if request.second_person:
            raise Invalid(_("This can only be allowed once: a second person must see each call."))
        raise Invalid(_("This can only be allowed once, because its effect cannot be determined."))
    chosen = _chosen(request, patterns)
    if not chosen:
        raise Invalid(_("Choose what to remember, or allow it once."))
    of_team = scope is RuleScope.TEAM
    SavedRule.objects.bulk_create(
        (
            SavedRule(
                team_id=session.project.team_id if of_team else None,
                project=None if of_team else session.project,
                session_id=session.top_id if scope is RuleScope.SESSION else None,
                permission=request.permission,
                pattern=pattern,
                created_by=user,
                created_at=timezone.now(),
            )
            for pattern in chosen
        ),
        ignore_conflicts=True,
    )


def _chosen(request: PermissionRequest, patterns: list[str] | None) -> list[str]:
    """Returns: what is remembered; without a choice of `patterns`, what the request offers."""
    offered = dict.fromkeys([*request.always, *(request.exact if patterns is not None else [])])
    return [
        one
        for one in offered
        if len(one) <= MAX_PATTERN_CHARS and (patterns is None or one in patterns)
    ]


def _is_allowed_now(session: Session, request: PermissionRequest) -> bool:
    ruleset = session_ruleset(session, request.agent)
    return decide(request.permission, request.patterns, ruleset) is Action.ALLOW
