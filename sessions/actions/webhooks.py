from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from opencode_web.lib.crypto import encrypt
from opencode_web.lib.errors import Conflict, Invalid
from opencode_web.lib.ids import new_id
from opencode_web.lib.json import JsonObject
from opencode_web.lib.signed_posts import check_receiver, new_secret
from sessions.events.outbox import Happening, delivery
from sessions.models import AuditCursor, Project, Webhook, WebhookDelivery
from teams.access import TeamAccess, require_role
from teams.audit import AuditAction, record
from teams.models import AuditHead, Role

MAX_WEBHOOKS = 20
PING = "ping"


@transaction.atomic
def create_webhook(
    access: TeamAccess,
    *,
    url: str,
    events: Sequence[str],
    project: Project | None = None,
    ip: str | None = None,
) -> tuple[Webhook, str]:
    """Have an address told of events.

    Returns: the row and the secret that signs what is sent, which cannot be shown again.
    Raises: Invalid for an unusable address or event; Conflict when the team has too many; Forbidden
    below admin.
    """
    require_role(access, Role.ADMIN)
    if Webhook.objects.filter(team=access.team).count() >= MAX_WEBHOOKS:
        raise Conflict(
            _("A team can have at most {count} webhooks. Delete one first.").format(
                count=MAX_WEBHOOKS
            )
        )
    secret = new_secret()
    hook = Webhook.objects.create(
        id=new_id("whk"),
        team=access.team,
        project=_own(access, project),
        url=check_receiver(url),
        events=_checked_events(events),
        secret=encrypt(secret),
        created_by=access.user,
    )
    _follow_audit(hook)
    _record(AuditAction.WEBHOOK_CREATED, access, hook, ip)
    return hook, secret


@transaction.atomic
def update_webhook(
    access: TeamAccess, hook: Webhook, *, ip: str | None = None, **changes: Any
) -> Webhook:
    """Change `url`, `events`, `project` (None: all) or `enabled`, whichever are given.

    Another host gets another secret only by `rotate_secret`: the old one signs, and is not sent.

    Raises: as `create_webhook`.
    """
    require_role(access, Role.ADMIN)
    hook = Webhook.objects.select_for_update(no_key=True).get(pk=hook.pk)
    if "url" in changes:
        hook.url = check_receiver(changes["url"])
    if "events" in changes:
        hook.events = _checked_events(changes["events"])
    if "project" in changes:
        hook.project = _own(access, changes["project"])
    if changes.get("enabled") is True:
        hook.disabled_at, hook.disabled_reason, hook.failing_since = None, "", None
    if changes.get("enabled") is False and hook.disabled_at is None:
        disable_webhook(hook, f"{access.user.display_name} switched it off.")
    hook.save()
    _follow_audit(hook)
    _record(AuditAction.WEBHOOK_UPDATED, access, hook, ip)
    return hook


@transaction.atomic
def import_webhook(
    access: TeamAccess, *, url: str, events: Sequence[str], project: Project | None
) -> Webhook:
    """Take over a webhook of another server, with a new secret and switched off. Raises: as
    `create_webhook`."""
    hook, _secret = create_webhook(access, url=url, events=events, project=project)
    said = "It was imported. Make a new secret, tell the receiver, and switch it on."
    disable_webhook(hook, said)
    return hook


def disable_webhook(hook: Webhook, reason: str) -> None:
    """Stop telling it, and give up what waits. Must run inside a transaction."""
    hook.disabled_at, hook.disabled_reason = timezone.now(), reason
    hook.save(update_fields=["disabled_at", "disabled_reason"])
    waiting = hook.deliveries.filter(state=WebhookDelivery.State.PENDING)
    waiting.update(state=WebhookDelivery.State.FAILED, problem="The webhook was switched off.")


@transaction.atomic
def rotate_secret(
    access: TeamAccess, hook: Webhook, *, ip: str | None = None
) -> tuple[Webhook, str]:
    """Make a new secret; what is sent from now on is signed with it. Returns: as creation."""
    require_role(access, Role.ADMIN)
    secret = new_secret()
    hook.secret = encrypt(secret)
    hook.save(update_fields=["secret"])
    _record(AuditAction.WEBHOOK_UPDATED, access, hook, ip, change="secret")
    return hook, secret


@transaction.atomic
def delete_webhook(access: TeamAccess, hook: Webhook, *, ip: str | None = None) -> None:
    """Forget the webhook with its log."""
    require_role(access, Role.ADMIN)
    _record(AuditAction.WEBHOOK_DELETED, access, hook, ip)
    AuditCursor.objects.filter(stream=hook.pk).delete()
    hook.delete()


@transaction.atomic
def ping_webhook(access: TeamAccess, hook: Webhook, *, ip: str | None = None) -> WebhookDelivery:
    """Send something without meaning. Raises: Conflict while the webhook is switched off."""
    require_role(access, Role.ADMIN)
    _require_enabled(hook)
    team: JsonObject = {"id": access.team.pk, "slug": access.team.slug}
    row = delivery(hook, PING, {"team": team, "data": {}})
    row.save(force_insert=True)
    _record(AuditAction.WEBHOOK_PINGED, access, hook, ip)
    return row


@transaction.atomic
def redeliver(
    access: TeamAccess, hook: Webhook, row: WebhookDelivery, *, ip: str | None = None
) -> WebhookDelivery:
    """Send a delivery again, under its id. Raises: Conflict while it waits, or is switched off."""
    require_role(access, Role.ADMIN)
    _require_enabled(hook)
    over = WebhookDelivery.objects.filter(pk=row.pk).exclude(state=WebhookDelivery.State.PENDING)
    now = timezone.now()
    if not over.update(state=WebhookDelivery.State.PENDING, next_at=now, attempts=0, problem=""):
        raise Conflict(_("This delivery is still waiting to be sent."))
    _record(AuditAction.WEBHOOK_REDELIVERED, access, hook, ip, delivery=row.pk)
    row.refresh_from_db()
    return row


def _follow_audit(hook: Webhook) -> None:
    """Begin with what is written from now on. One that is switched on again misses nothing."""
    if Happening.AUDIT not in hook.events:
        AuditCursor.objects.filter(stream=hook.pk).delete()
        return
    if hook.project_id is not None:
        raise Invalid(
            _("The audit log is the whole team's. Choose all projects, or leave this event out."),
            field="events",
        )
    head = AuditHead.objects.filter(pk=hook.team_id).first()
    AuditCursor.objects.get_or_create(
        stream=hook.pk, chain=hook.team_id, defaults={"seq": head.seq if head else 0}
    )


def _require_enabled(hook: Webhook) -> None:
    if hook.disabled_at is not None:
        raise Conflict(_("The webhook is turned off. Turn it on first."))


def _own(access: TeamAccess, project: Project | None) -> Project | None:
    if project is not None and project.team_id != access.team.pk:
        raise Invalid(_("The project is in another team."), field="project")
    return project


def _checked_events(events: Sequence[str]) -> list[str]:
    known = [one.value for one in Happening]
    unknown = sorted(set(events) - set(known))
    if unknown or not events:
        raise Invalid(
            _("Choose from these events: {names}.").format(names=", ".join(known)), field="events"
        )
    return [name for name in known if name in events]


def _record(
    action: AuditAction, access: TeamAccess, hook: Webhook, ip: str | None, **more: str
) -> None:
    data: JsonObject = {"name": hook.host, "events": hook.events, **more}
    record(action, actor=access.user, team=access.team, target=hook, data=data, ip=ip)
