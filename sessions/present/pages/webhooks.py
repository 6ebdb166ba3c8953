"""Webhooks in words: their events, and why something did not arrive."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, pgettext

from opencode_web.lib.signed_posts import UNREADABLE
from sessions.forms.webhooks import EVENTS
from sessions.models import Webhook, WebhookDelivery

# As they are stored, in English: other programs read them too.
_STORED = (
    gettext_noop("The webhook was switched off."),
    UNREADABLE,
    gettext_noop("Nothing could be delivered for 3 days."),
)
_UNREACHED, _BY = "It could not be reached: ", " switched it off."


@dataclass(frozen=True)
class SentLine:
    row: WebhookDelivery
    event: str
    problem: str


@dataclass(frozen=True)
class WebhookLine:
    row: Webhook
    events: list[str]
    disabled_reason: str


def sent_line(row: WebhookDelivery) -> SentLine:
    return SentLine(row, _event(row.event), problem_text(row.status, row.problem))


def webhook_line(row: Webhook) -> WebhookLine:
    return WebhookLine(row, [_event(name) for name in row.events], disabled_text(row))


def disabled_text(row: Webhook) -> str:
    """Returns: why it is switched off, in the reader's language; nothing when it is on."""
    reason = row.disabled_reason
    if reason.endswith(_BY):
        return _("{name} turned it off.").format(name=reason.removesuffix(_BY))
    return _(reason) if reason in _STORED else reason


def _event(name: str) -> str:
    return str(EVENTS.get(name) or (pgettext("webhook event", "Test") if name == "ping" else name))


def problem_text(status: int, problem: str) -> str:
    """Returns: why something did not arrive, in the reader's language; nothing if it did."""
    if not problem:
        return ""
    if problem.startswith(_UNREACHED):
        why = problem.removeprefix(_UNREACHED)
        return _("It could not be reached: {why}.").format(why=_(why) if why else "?")
    if 300 <= status < 400:
        text = _("The server responded with status {status}. Redirects are not followed.")
        return text.format(status=status)
    if status:
        return _("The server responded with status {status}.").format(status=status)
    return _(problem) if problem in _STORED else problem
