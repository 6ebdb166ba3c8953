"""Sign-ins to MCP servers at an address: begun by an admin, kept for the team, and ended."""

from __future__ import annotations

from datetime import timedelta
from urllib.parse import urlsplit

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from opencode_web.lib.crypto import encrypt, fingerprint, fingerprints
from opencode_web.lib.errors import Invalid
from sessions.access import ProjectAccess
from sessions.config.effective import config_data, team_data
from sessions.mcp.grants import digest_of_url
from sessions.mcp.servers import servers_in
from sessions.models import McpServer, McpSignIn, McpSignInAttempt, Project
from sessions.wake import signal_servers
from teams.access import require_role
from teams.audit import AuditAction, record
from teams.models import Role, Team, User
from tools.mcp.sign_in import Begun, Grant

_LIFE = timedelta(minutes=10)
# A request to renew takes less; whoever takes longer is gone.
_RENEWAL = timedelta(seconds=30)
_UNKNOWN = "This sign-in was not begun here, has been used, or took longer than ten minutes."


@transaction.atomic
def begin_attempt(access: ProjectAccess, *, name: str, url: str, begun: Begun) -> McpSignInAttempt:
    """Keep an attempt in place of an earlier one. Raises: Forbidden below admin."""
    require_role(access.team, Role.ADMIN)
    McpSignInAttempt.objects.filter(expires_at__lt=timezone.now()).delete()
    return McpSignInAttempt.objects.update_or_create(
        project=access.project,
        user=access.principal.user,
        name=name,
        defaults={
            "team": access.team.team,
            "url": url,
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
    access: ProjectAccess, *, name: str, url: str, grant: Grant, ip: str | None = None
) -> McpSignIn:
    """Keep what was granted for this address, and have the server asked again.

    Raises: Forbidden below admin.
    """
    require_role(access.team, Role.ADMIN)
    row, _ = McpSignIn.objects.update_or_create(
        team=access.team.team,
        name=name,
        url_digest=digest_of_url(url),
        defaults={
            "url": url,
            "sealed": encrypt(grant.model_dump_json()),
            "signed_in_by": access.principal.user,
            "signed_in_at": timezone.now(),
            "renewing_until": None,
        },
    )
    _forget(access, name)
    _audit(AuditAction.MCP_SIGNED_IN, access, name, url, ip)
    return row


@transaction.atomic
def sign_out(access: ProjectAccess, *, name: str, url: str, ip: str | None = None) -> bool:
    """Erase what a server of this name granted, at whatever address.

    Returns: whether there was anything. Raises: Forbidden below admin.
    """
    require_role(access.team, Role.ADMIN)
    McpSignInAttempt.objects.filter(team=access.team.team, name=name).delete()
    if not McpSignIn.objects.filter(team=access.team.team, name=name).delete()[0]:
        return False
    _forget(access, name)
    signal_servers()
    _audit(AuditAction.MCP_SIGNED_OUT, access, name, url, ip)
    return True


def erase_removed_grants(team: Team) -> None:
    """Erase what was granted for addresses that no settings of the team or its projects have."""
    rows = list(McpSignIn.objects.filter(team=team))
    if not rows:
        return
    projects = Project.objects.filter(team=team).select_related("team")
    levels = [team_data(team), *map(config_data, projects)]
    named = {
        (name, server.get("url")) for level in levels for name, server in servers_in(level).items()
    }
    gone = [row.pk for row in rows if (row.name, row.url) not in named]
    McpSignIn.objects.filter(pk__in=gone).delete()


def claim_renewal(row: McpSignIn) -> bool:
    """Whether this one may renew it now: nobody else does, and nobody has since it was read."""
    now = timezone.now()
    free = Q(renewing_until__isnull=True) | Q(renewing_until__lt=now)
    same = McpSignIn.objects.filter(free, pk=row.pk, sealed=row.sealed)
    return bool(same.update(renewing_until=now + _RENEWAL))


def keep_renewal(row: McpSignIn, grant: Grant | None) -> None:
    """Keep what came of a renewal; None leaves everything as it was, for another try."""
    changed = {"sealed": encrypt(grant.model_dump_json())} if grant else {}
    same = McpSignIn.objects.filter(pk=row.pk, sealed=row.sealed)
    same.update(renewing_until=None, **changed)


def drop_grant(row: McpSignIn) -> None:
    """Erase what counts no more, unless it has been renewed or given anew meanwhile."""
    McpSignIn.objects.filter(pk=row.pk, sealed=row.sealed).delete()


def _forget(access: ProjectAccess, name: str) -> None:
    McpServer.objects.filter(project__team=access.team.team, name=name).delete()


def _audit(action: AuditAction, access: ProjectAccess, name: str, url: str, ip: str | None) -> None:
    record(
        action,
        actor=access.principal.user,
        team=access.team.team,
        target=access.project,
        data={"server": name, "host": urlsplit(url).hostname or ""},
        ip=ip,
    )
