from __future__ import annotations

from urllib.parse import urlsplit

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from opencode_web.lib.crypto import encrypt
from opencode_web.lib.errors import Invalid
from opencode_web.lib.json import JsonObject
from opencode_web.lib.outbound import FetchError, check_url
from opencode_web.lib.text import is_secret_text
from providers.credentials import MIN_CHARS_FOR_LAST4
from sessions.access import ProjectAccess
from sessions.forges.adapter import ForgeKind
from sessions.git.process import allowed_protocols
from sessions.git.url import parse_git_url
from sessions.models import Project, ProjectForge
from sessions.publish_settings import Publishing, describe
from teams.access import require_role
from teams.audit import AuditAction, record
from teams.models import Role

MAX_TOKEN_CHARS = 500


@transaction.atomic
def set_up_publishing(
    access: ProjectAccess,
    *,
    remote_url: str = "",
    kind: str = "",
    api_url: str = "",
    token: str = "",
    forget: bool = False,
    ip: str | None = None,
) -> ProjectForge:
    """Say where a project is published. Without `token` the one that is stored stays.

    Not so for another host of the remote or the API: whoever may change an address could otherwise
    have the token sent to a server of their own and read it there.

    Raises: Invalid for an address or a token that cannot be used; Forbidden below admin.
    """
    require_role(access.team, Role.ADMIN)
    project = Project.objects.select_for_update().get(pk=access.project.pk)
    row = ProjectForge.objects.filter(pk=project.pk).first() or ProjectForge(project=project)
    before = _hosts(_described(row, project))
    row.remote_url, row.kind = _remote(remote_url), ForgeKind(kind).value if kind else ""
    row.api_url, token = _api(api_url), _token(token)
    after = _described(row, project)
    if row.api_url and after.kind is None:
        raise Invalid(_("Choose a forge."), field="kind")
    if forget or _hosts(after) != before:
        row.token = row.last4 = ""
    if token:
        row.token = encrypt(token)
        row.last4 = token[-4:] if len(token) >= MIN_CHARS_FOR_LAST4 else ""
    row.updated_by, row.updated_at = access.principal.user, timezone.now()
    row.save()
    data: JsonObject = {
        "remote": row.remote_url,
        "kind": row.kind,
        "api": row.api_url,
        "with_token": bool(row.token),
    }
    record(
        AuditAction.PUBLISHING_SET_UP,
        actor=access.principal.user,
        team=access.team.team,
        target=project,
        data=data,
        ip=ip,
    )
    return row


def _described(row: ProjectForge, project: Project) -> Publishing:
    return describe(row.remote_url or project.git_url, kind=row.kind, api_url=row.api_url)


def _hosts(publishing: Publishing) -> tuple[str, ...]:
    """Returns: whatever a token is sent to."""
    parts = [urlsplit(url) for url in (publishing.url, publishing.api_url)]
    return tuple(f"{one.scheme}://{one.netloc.rpartition('@')[2]}" for one in parts)


def _remote(text: str) -> str:
    if not text.strip():
        return ""
    source = parse_git_url(text, protocols=allowed_protocols())
    if source.credential:
        raise Invalid(
            _("Enter the address without user name and password, and the token below."),
            field="remote_url",
        )
    return source.url


def _api(text: str) -> str:
    text = text.strip().rstrip("/")
    if not text:
        return ""
    try:
        url = check_url(text).rstrip("/")
    except FetchError as exc:
        raise Invalid(
            _("The API address cannot be used: {why}.").format(why=exc), field="api_url"
        ) from exc
    if urlsplit(url).query:
        raise Invalid(_("The API address must not contain a ?."), field="api_url")
    return url


def _token(token: str) -> str:
    token = token.strip()
    if not is_secret_text(token, max_chars=MAX_TOKEN_CHARS):
        raise Invalid(
            _("An access token must be printable text without line breaks."),
            field="token",
        )
    if " " in token or ":" in token:
        raise Invalid(_("An access token must not contain spaces or colons."), field="token")
    return token
