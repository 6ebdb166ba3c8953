"""Sign-ins to MCP servers at an address: begun, kept, and ended.

An admin signs in for the team, and each person for themselves. What ends is used no more at once;
the row goes when the server has been told.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from opencode_web.lib.crypto import encrypt, fingerprint, fingerprints
from opencode_web.lib.errors import Invalid, NotFound
from opencode_web.lib.json import JsonObject
from sessions.access import ProjectAccess
from sessions.config.effective import config_data, team_data
from sessions.mcp.grants import digest_of_url
from sessions.mcp.servers import servers_in
from sessions.models import McpServer, McpSignIn, McpSignInAttempt, Project
from sessions.wake import signal_servers, wake_revocations
from teams.access import require_role
from teams.audit import AuditAction, record
from teams.models import Role, Team, User
from tools.mcp.sign_in import Begun, Grant

_LIFE = timedelta(minutes=10)
# A request to renew takes less; whoever takes longer is gone.
_RENEWAL = timedelta(seconds=30)
# After that, one that could not be given back is tried again.
_GIVING_BACK = timedelta(minutes=10)
# By `account` in the settings: whether what is a person's own is kept, and what is the team's.
_WHOSE = {"team": (False,), "own": (True,), "either": (False, True)}
_UNKNOWN = "This sign-in was not begun here, has been used, or took longer than ten minutes."


def role_for(*, own: bool) -> Role:
    """Returns: who may sign in: for themselves, or for the team."""
    return Role.MEMBER if own else Role.ADMIN


@transaction.atomic
def begin_attempt(
    access: ProjectAccess, *, name: str, url: str, begun: Begun, own: bool
) -> McpSignInAttempt:
    """Keep an attempt in place of an earlier one. Raises: Forbidden, see `role_for`."""
    require_role(access.team, role_for(own=own))
    McpSignInAttempt.objects.filter(expires_at__lt=timezone.now()).delete()
    return McpSignInAttempt.objects.update_or_create(
        project=access.project,
        user=access.principal.user,
        name=name,
        defaults={
            "team": access.team.team,
            "url": url,
            "is_own": own,
            "state_digest": fingerprint(begun.state),
            "sealed": encrypt(begun.attempt.model_dump_json()),
            "expires_at": timezone.now() + _LIFE,
        },
    )[0]


@transaction.atomic
def take_attempt(user: User, *, state: str) -> McpSignInAttempt:
    """Use up the attempt of this person. Raises: Invalid where they have none of this state."""
    return _taken(Q(user=user, state_digest__in=fingerprints(state)))


@transaction.atomic
def take_own_attempt(access: ProjectAccess, *, name: str) -> McpSignInAttempt:
    """Like `take_attempt`, by the name of the server."""
    return _taken(Q(user=access.principal.user, project=access.project, name=name))


def _taken(wanted: Q) -> McpSignInAttempt:
    attempts = McpSignInAttempt.objects.select_for_update().filter(expires_at__gte=timezone.now())
    attempt = attempts.filter(wanted).first()
    if attempt is None:
        raise Invalid(_UNKNOWN)
    McpSignInAttempt.objects.filter(pk=attempt.pk).delete()
    return attempt


@transaction.atomic
def keep_grant(
    access: ProjectAccess,
    *,
    name: str,
    url: str,
    grant: Grant,
    own: bool = False,
    ip: str | None = None,
) -> McpSignIn:
    """Keep what was granted for this address, and have the server asked again.

    Raises: Forbidden, see `role_for`.
    """
    require_role(access.team, role_for(own=own))
    person, team = access.principal.user, access.team.team
    rows = McpSignIn.objects.filter(team=team, user=person if own else None, name=name)
    rows.filter(state=McpSignIn.State.REFUSED).delete()
    row, _ = rows.update_or_create(
        team=team,
        user=person if own else None,
        name=name,
        url_digest=digest_of_url(url),
        state=McpSignIn.State.LIVE,
        defaults={
            "url": url,
            **_sealed(grant),
            "signed_in_by": person,
            "signed_in_at": timezone.now(),
            "renewing_until": None,
        },
    )
    _forget(team, name, person if own else None)
    _audit(AuditAction.MCP_SIGNED_IN, person, access.project, row, ip)
    return row


@transaction.atomic
def sign_out(access: ProjectAccess, *, name: str, own: bool = False, ip: str | None = None) -> bool:
    """End what a server of this name granted, at whatever address.

    Returns: whether there was anything. Raises: Forbidden, see `role_for`.
    """
    require_role(access.team, role_for(own=own))
    person, team = access.principal.user, access.team.team
    attempts = McpSignInAttempt.objects.filter(team=team, name=name, is_own=own)
    (attempts.filter(user=person) if own else attempts).delete()
    rows = McpSignIn.objects.filter(team=team, user=person if own else None, name=name)
    first = rows.exclude(state=McpSignIn.State.ENDED).first()
    if first is None:
        return False
    end_grants(rows)
    _forget(team, name, person if own else None)
    _audit(AuditAction.MCP_SIGNED_OUT, person, access.project, first, ip)
    return True


@transaction.atomic
def sign_out_here(user: User, sign_in_id: int, *, ip: str | None = None) -> McpSignIn:
    """End one of a person's own sign-ins, also in a team that they are not in any more.

    Raises: NotFound for what is not theirs.
    """
    rows = McpSignIn.objects.filter(pk=sign_in_id, user=user)
    row = rows.exclude(state=McpSignIn.State.ENDED).select_related("team").first()
    if row is None:
        raise NotFound("Sign-in", str(sign_in_id))
    end_grants(rows)
    _forget(row.team, row.name, user)
    _audit(AuditAction.MCP_SIGNED_OUT, user, row.team, row, ip)
    return row


def end_grants(rows: QuerySet[McpSignIn]) -> None:
    """Use them no more, and have their servers told."""
    rows.filter(state=McpSignIn.State.REFUSED).delete()
    live = rows.filter(state=McpSignIn.State.LIVE)
    if live.update(state=McpSignIn.State.ENDED, state_at=timezone.now()):
        signal_servers()
        wake_revocations()


def end_lost_grants() -> None:
    """End those of people who are locked out, or have left the team."""
    rows = McpSignIn.objects.lost().values_list("pk", flat=True)
    end_grants(McpSignIn.objects.filter(pk__in=list(rows)))


def erase_removed_grants(team: Team) -> None:
    """End what was granted for what no settings of the team or its projects have any more."""
    rows = list(McpSignIn.objects.filter(team=team))
    if not rows:
        return
    projects = Project.objects.filter(team=team).select_related("team")
    # Whoever calls this may have read the team long ago.
    levels = [team_data(Team.objects.get(pk=team.pk)), *map(config_data, projects)]
    named = set[tuple[str, object, bool]]()
    for level in levels:
        for name, server in servers_in(level).items():
            account = server.get("account", "team")
            named |= {(name, server.get("url"), own) for own in _WHOSE.get(str(account), ())}
    gone = [row.pk for row in rows if (row.name, row.url, row.user_id is not None) not in named]
    end_grants(McpSignIn.objects.filter(pk__in=gone))


def claim_renewal(row: McpSignIn) -> bool:
    """Whether this one may renew it now: nobody else does, and nobody has since it was read."""
    return _claim(row, _RENEWAL)


def claim_ended(rows: QuerySet[McpSignIn], *, most: int) -> Iterator[McpSignIn]:
    """Yields: those that this one may give back now, the longest untried first."""
    ended = rows.filter(_is_free(), state=McpSignIn.State.ENDED)
    order = F("renewing_until").asc(nulls_first=True), "state_at", "pk"
    yield from (row for row in ended.order_by(*order)[:most] if _claim(row, _GIVING_BACK))


def _claim(row: McpSignIn, life: timedelta) -> bool:
    same = McpSignIn.objects.filter(_is_free(), pk=row.pk, sealed=row.sealed, state=row.state)
    return bool(same.update(renewing_until=timezone.now() + life))


def _is_free() -> Q:
    return Q(renewing_until=None) | Q(renewing_until__lt=timezone.now())


def keep_renewal(row: McpSignIn, grant: Grant | None) -> bool:
    """Keep what came of a renewal; None leaves everything as it was, for another try.

    Returns: whether it may be used: nobody has ended it meanwhile, or signed in anew.
    """
    changed = _sealed(grant) if grant else {}
    same = McpSignIn.objects.filter(pk=row.pk, sealed=row.sealed)
    is_kept = bool(same.update(renewing_until=None, **changed))
    return is_kept and McpSignIn.objects.live().filter(pk=row.pk).exists()


def refuse_grant(row: McpSignIn) -> None:
    """Erase what its server renews no more, unless it has been renewed or given anew meanwhile.

    The row stays, so that the person is told.
    """
    same = McpSignIn.objects.live().filter(pk=row.pk, sealed=row.sealed)
    same.update(sealed="", state=McpSignIn.State.REFUSED, state_at=timezone.now(), ends_at=None)


def _sealed(grant: Grant) -> dict[str, object]:
    ends_at = None if grant.ends_at is None else datetime.fromtimestamp(grant.ends_at, UTC)
    return {"sealed": encrypt(grant.model_dump_json()), "ends_at": ends_at}


def _forget(team: Team, name: str, user: User | None) -> None:
    rows = McpServer.objects.filter(project__team=team, name=name)
    # Who has none of their own may use the team's.
    (rows if user is None else rows.filter(user=user)).delete()


def _audit(
    action: AuditAction, actor: User, target: Project | Team, row: McpSignIn, ip: str | None
) -> None:
    data: JsonObject = {"server": row.name, "host": urlsplit(row.url).hostname or ""}
    if row.user_id is not None:
        data["scope"] = "member"
    record(action, actor=actor, team=row.team, target=target, data=data, ip=ip)
