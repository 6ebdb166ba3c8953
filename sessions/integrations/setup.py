from __future__ import annotations

import re
import secrets
from urllib.parse import urlsplit

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from opencode_web.lib.crypto import encrypt
from opencode_web.lib.errors import Conflict, Invalid, NotFound
from opencode_web.lib.ids import new_id
from opencode_web.lib.json import JsonObject
from sessions.access import ProjectAccess
from sessions.integrations.github_app import problem_of, project_page
from sessions.models import Integration
from sessions.publish_settings import Publishing, publishing_of
from teams.access import require_role
from teams.audit import AuditAction, record
from teams.models import Role, User

DEFAULT_COMMAND = "/oc"
_COMMAND = re.compile(r"[/@][A-Za-z0-9][A-Za-z0-9_-]{0,18}")


@transaction.atomic
def set_up_integration(
    access: ProjectAccess,
    *,
    command: str = DEFAULT_COMMAND,
    account_id: int | None = None,
    checks: bool = False,
    pulls: bool = False,
    approves: bool = False,
    ip: str | None = None,
) -> tuple[Integration, str]:
    """Have comments on the project's forge start sessions, or change how.

    `account_id` is a service account of the team, for people without a linked account. `checks`:
    commits of pull requests show how an agent is getting on; `pulls`: what it changes is published;
    `approves`: its reviews may approve.

    Returns: the row, and with a new one the secret, which cannot be shown again.
    Raises: Conflict where nothing is known of the forge; Invalid for a command or an account that
    cannot be used; Forbidden below admin.
    """
    require_role(access.team, Role.ADMIN)
    publishing = publishing_of(access.project)
    if publishing.kind is None:
        raise Conflict(
            _(
                "Nothing is known of the forge that the project is on. Choose it under Publishing "
                "first."
            )
        )
    row, secret = find_integration(access), ""
    if row is None:
        row = new_integration(access)
        row.secret, secret = _new_secret()
    row.kind, row.checks, row.approves = publishing.kind.value, checks, approves
    write_integration(access, row, command=command, account_id=account_id, pulls=pulls, ip=ip)
    return row, secret


def new_integration(access: ProjectAccess) -> Integration:
    """Returns: one of the project that is not saved yet."""
    row = Integration(id=new_id("igr"), team=access.team.team, project=access.project)
    row.created_by, row.created_at = access.principal.user, timezone.now()
    return row


def write_integration(
    access: ProjectAccess,
    row: Integration,
    *,
    command: str,
    account_id: int | None,
    pulls: bool,
    ip: str | None,
) -> None:
    """Save it with what all have alike. Must run in a transaction.

    Raises: Invalid for a command or an account that cannot be used.
    """
    if not _COMMAND.fullmatch(command):
        raise Invalid(
            _("A command is / or @ and a word of letters, digits, - and _, such as /oc."),
            field="command",
        )
    row.command, row.account, row.pulls = command, _account(access, account_id), pulls
    is_new = row._state.adding
    row.save(force_insert=is_new)
    action = AuditAction.INTEGRATION_CREATED if is_new else AuditAction.INTEGRATION_UPDATED
    account = row.account.display_name if row.account else ""
    switches = {"checks": row.checks, "pulls": pulls, "approves": row.approves}
    _record(action, access, row, ip, command=command, account=account, **switches)


@transaction.atomic
def rotate_secret(access: ProjectAccess, *, ip: str | None = None) -> str:
    """Make a new secret; nothing that is signed with the old one is taken any more.

    Returns: it. Raises: NotFound; Forbidden below admin.
    """
    require_role(access.team, Role.ADMIN)
    row = require_integration(access)
    row.secret, secret = _new_secret()
    row.refused = 0
    row.save(update_fields=["secret", "refused"])
    _record(AuditAction.INTEGRATION_UPDATED, access, row, ip, change="secret")
    return secret


@transaction.atomic
def remove_integration(access: ProjectAccess, tracker: str = "", *, ip: str | None = None) -> None:
    """Take nothing from there any more. The sessions stay. Raises: as `rotate_secret`."""
    require_role(access.team, Role.ADMIN)
    row = require_integration(access, tracker)
    _record(AuditAction.INTEGRATION_DELETED, access, row, ip)
    row.delete()


def find_integration(access: ProjectAccess, tracker: str = "") -> Integration | None:
    """Returns: the one of the project's forge, or of an issue tracker, with its service account;
    None without one."""
    rows = Integration.objects.select_related("account").filter(project=access.project)
    of_kind = {"kind": tracker} if tracker else {}
    return rows.filter(is_tracker=bool(tracker), **of_kind).first()


def require_integration(access: ProjectAccess, tracker: str = "") -> Integration:
    """Raises: NotFound while there is none."""
    row = find_integration(access, tracker)
    if row is None:
        raise NotFound("Integration")
    return row


def address_of(row: Integration) -> str:
    """Returns: where deliveries go; only a path while the server's own address is not set."""
    return f"{settings.PUBLIC_URL or settings.BASE_PATH}/integrations/{row.pk}"


def host_of(publishing: Publishing) -> str:
    """Returns: the host of the forge's API, which its accounts belong to."""
    return urlsplit(publishing.api_url).netloc


def page_of(row: Integration) -> str:
    """Returns: a link to its page, or what it is called while the server's address is not set."""
    if not settings.PUBLIC_URL:
        return "“Integration” on the project's page there"
    page = f"trackers/{row.kind}" if row.is_tracker else "integration"
    return f"[its page]({project_page(row.project)}/{page})"


def problems_of(row: Integration, publishing: Publishing) -> list[str]:
    """Returns: what stands in the way, as sentences that say what to do."""
    found = []
    if not settings.PUBLIC_URL:
        found.append(no_address())
    if row.is_tracker:
        if not row.secret:
            found.append(
                _("Paste the signing secret of the webhook. Deliveries are refused until then.")
            )
        if row.pulls and not publishing.can_request:
            found.append(_("The project has no access token, so no pull request can be opened."))
    elif publishing.kind is None or publishing.kind.value != row.kind:
        found.append(_("The project is on another forge now. Save this page again."))
    elif publishing.installation is not None:
        found += filter(None, [problem_of(publishing.installation)])
    elif not publishing.sealed:
        found.append(
            _("The project has no access token, so nothing can be answered. Set it in Publishing.")
        )
    if row.refused and row.is_tracker:
        found.append(
            _(
                "Deliveries have a wrong signature, or this server's clock is wrong. Paste the "
                "webhook's secret again."
            )
        )
    elif row.refused:
        found.append(
            _(
                "The forge sends deliveries whose signature is wrong. Enter the secret there once "
                "more, or create a new one here."
            )
        )
    if row.account and not row.account.is_active:
        found.append(_("The service account is disabled. Choose another one."))
    return found


def no_address() -> str:
    """Returns: what to do where nobody outside can be told where this server is."""
    return _("This server does not know its own address. An operator has to set PUBLIC_URL.")


def service_accounts(access: ProjectAccess) -> QuerySet[User]:
    """Returns: those of the team that are not disabled."""
    return User.objects.filter(service_of=access.team.team, is_active=True).order_by("name", "pk")


def _account(access: ProjectAccess, account_id: int | None) -> User | None:
    """Raises: Invalid for anything but a service account of the team."""
    if account_id is None:
        return None
    found = service_accounts(access).filter(pk=account_id).first()
    if found is None:
        raise Invalid(_("Choose a service account of this team."), field="account")
    return found


def _new_secret() -> tuple[str, str]:
    secret = secrets.token_hex(32)
    return encrypt(secret), secret


def _record(
    action: AuditAction, access: ProjectAccess, row: Integration, ip: str | None, **more: str | bool
) -> None:
    data: JsonObject = {"name": access.project.name, "forge": row.kind, **more}
    record(
        action,
        actor=access.principal.user,
        team=access.team.team,
        target=access.project,
        data=data,
        ip=ip,
    )
