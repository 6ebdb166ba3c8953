from __future__ import annotations

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from opencode_web.lib import signed_posts
from opencode_web.lib.crypto import DecryptionError, decrypt
from opencode_web.lib.db import in_db
from opencode_web.lib.ids import new_id
from opencode_web.lib.json import JsonObject
from opencode_web.lib.public_url import site_origin
from sessions.actions.notifications import note_own_delivery
from sessions.models import NotificationKind, OwnWebhook, PushSubscription
from sessions.notifications.channels.base import Line, Message, OneAddress, Result
from teams.models import User


class WebhookChannel(OneAddress):
    """Signed requests to an address of the person's, as those of a team's webhooks."""

    name = "webhook"
    label = gettext_lazy("Webhook")
    # Who gives an address wants to be told there.
    usual_kinds = frozenset(NotificationKind)

    def unavailable(self, user: User) -> str:
        hook = own_webhook(user)
        if hook is None:
            return _("Enter an address below first.")
        if hook.disabled_at is not None:
            return _("It is turned off, because nothing could be delivered. See below.")
        return ""

    async def send(self, user: User, device: PushSubscription | None, message: Message) -> Result:
        hook = await in_db(own_webhook, user)
        if hook is None:
            return Result("There is no webhook.", is_final=True)
        origin = site_origin()
        data: JsonObject = {
            "text": message.title or message.lines[0].text,
            "url": origin + message.path,
            "notifications": [_to_json(line, origin) for line in message.lines],
        }
        result = await _post(hook, message.id, "notification", data)
        return Result(result.problem)


async def send_test(user: User) -> signed_posts.Result | None:
    """Send something without meaning. Returns: None where there is no webhook."""
    hook = await in_db(own_webhook, user)
    return None if hook is None else await _post(hook, new_id("ntf"), "ping", {})


def own_webhook(user: User) -> OwnWebhook | None:
    """The person's, also while it is turned off."""
    return OwnWebhook.objects.filter(user=user).first()


async def _post(hook: OwnWebhook, id: str, event: str, data: JsonObject) -> signed_posts.Result:
    payload: JsonObject = {
        "id": id,
        "type": event,
        "timestamp": timezone.now().isoformat(),
        "data": data,
    }
    try:
        secret = decrypt(hook.secret)
    except DecryptionError:
        result = signed_posts.Result(0, signed_posts.UNREADABLE)
    else:
        result = await signed_posts.post(hook.url, secret, id=id, payload=payload)
    await in_db(note_own_delivery, hook, failed=bool(result.problem))
    return result


def _to_json(line: Line, origin: str) -> JsonObject:
    session: JsonObject | None = {"id": line.session_id} if line.session_id else None
    return {
        "kind": line.kind.value,
        "text": line.text,
        "url": origin + line.path,
        "team": {"id": line.team.pk, "slug": line.team.slug},
        "session": session,
    }
