"""What was granted at MCP servers, to a team or to a person in it, as it is read."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Collection
from datetime import timedelta

from django.db.models import F, Q, QuerySet
from django.urls import reverse
from django.utils import timezone

from opencode_web.lib.crypto import decrypt
from opencode_web.lib.public_url import site_origin
from sessions.config.programs import McpConfig
from sessions.models import McpSignIn, Project
from tools.mcp.sign_in import Grant

# Somebody is told so long before it ends, unless it never lasts long.
_WARNED = timedelta(days=3)
_LONG = timedelta(days=7)


def signed_in(
    project: Project, name: str, server: McpConfig, user_id: int | None
) -> McpSignIn | None:
    """Returns: what was granted for this server at this address, for a turn of this person.

    Their own comes before the team's, as far as the settings of the server allow each.
    """
    if not server.signs_in:
        return None
    rows = McpSignIn.objects.live().filter(team=project.team_id, name=name)
    rows = rows.filter(_of(server, user_id), url_digest=digest_of_url(server.url))
    return rows.order_by(F("user").asc(nulls_last=True)).first()


def _of(server: McpConfig, user_id: int | None) -> Q:
    own = Q(user=user_id) if server.takes_own and user_id is not None else Q(pk=None)
    return own | Q(user=None) if server.takes_team else own


def granted_by(
    project: Project, servers: dict[str, McpConfig], user_id: int
) -> dict[str, set[bool]]:
    """Returns: by the name of each that is signed in to, whether on their own and for the team.

    One query at most.
    """
    wanted = {name: digest_of_url(one.url) for name, one in servers.items() if one.signs_in}
    found = defaultdict[str, set[bool]](set)
    if not wanted:
        return found
    rows = McpSignIn.objects.live().filter(team=project.team_id, name__in=wanted)
    rows = rows.filter(Q(user=None) | Q(user=user_id))
    for name, digest, owner in rows.values_list("name", "url_digest", "user"):
        may = servers[name].takes_team if owner is None else servers[name].takes_own
        if may and wanted[name] == digest:
            found[name].add(owner is not None)
    return found


def ending_sign_ins(user_id: int, teams: Collection[str]) -> QuerySet[McpSignIn]:
    """Returns: what a person has signed in to in these teams, and has to sign in to again."""
    soon = Q(state=McpSignIn.State.LIVE, ends_at__lt=timezone.now() + _WARNED)
    soon &= Q(ends_at__gt=F("signed_in_at") + _LONG)
    rows = McpSignIn.objects.filter(soon | Q(state=McpSignIn.State.REFUSED), team__in=teams)
    return rows.filter(Q(user=user_id) | Q(user=None, signed_in_by=user_id)).order_by("pk")


def sign_in_url(project: Project) -> str:
    """Returns: where a person signs in, as it can be told to them anywhere."""
    where = {"team": project.team.slug, "project": project.pk}
    return site_origin() + reverse("sessions:project_mcp", kwargs=where)


def digest_of_url(url: str) -> str:
    """Returns: what rows of this address are found by."""
    return hashlib.sha256(url.encode()).hexdigest()


def grant_of(row: McpSignIn) -> Grant:
    """Raises: DecryptionError."""
    return Grant.model_validate_json(decrypt(row.sealed))
