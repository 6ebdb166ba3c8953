"""Which rule is about what has happened."""

from __future__ import annotations

from django.conf import settings

from sessions.forges.inbound import Heard
from sessions.models import Integration, IntegrationRule


def rule_for(integration: Integration, heard: Heard) -> IntegrationRule | None:
    """Returns: the first that is about it, with its account; None without one. One query."""
    rows = integration.rules.filter(trigger__in=[heard.trigger, *heard.also], is_enabled=True)
    labels = {label.casefold() for label in heard.labels}
    for row in rows.select_related("account"):
        if not row.label or row.label.casefold() in labels:
            return row
    return None


def is_own_check(heard: Heard) -> bool:
    """Whether a check is one that this server reports: its link leads here."""
    return bool(settings.PUBLIC_URL) and heard.url.startswith(f"{settings.PUBLIC_URL}/")
