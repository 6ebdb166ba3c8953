"""The audit trail of the whole installation, as far as it is an operator's business.

Teams' admins read what their entries say. Here stand who did what to which id and when; the details
only where no team is concerned, and of what operators did.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _

from teams.audit_sentences import Details, described, details_of
from teams.audit_texts import action_label, kind_label
from teams.audit_trail import narrowed
from teams.forms import AuditForm
from teams.models import SERVER_CHAIN, AuditEntry, AuditHead, Team

COLUMNS = ("time", "who", "what", "team", "kind", "id", "details", "from")


class OpsAuditForm(AuditForm):
    """As the team's; the text is looked for in ids, names and addresses, never in details."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # Django's own shape
        super().__init__(*args, **kwargs)
        # The list is of a team's members.
        del self.fields["who"].widget.attrs["list"]


@dataclass(frozen=True)
class AuditLine:
    """An entry with what may be shown of it."""

    entry: AuditEntry
    team: str
    details: Details

    @property
    def kind(self) -> str:
        return kind_label(self.entry.target_type)

    @property
    def action(self) -> str:
        return action_label(self.entry.action)

    @property
    def labelled(self) -> Details:
        return described(self.entry.told) if self.details else []

    @property
    def cells(self) -> list[str]:
        """What stands in a line of CSV, in the order of `COLUMNS`."""
        entry = self.entry
        return [
            f"{entry.time:%Y-%m-%dT%H:%M:%SZ}",
            entry.actor_email,
            entry.action,
            self.team,
            self.kind,
            entry.target_id,
            ", ".join(f"{key}: {value}" for key, value in self.details),
            entry.ip or "",
        ]


def find_all(asked: Mapping[str, Any]) -> QuerySet[AuditEntry]:
    """Returns: the entries that match what a valid `OpsAuditForm` asks for, the newest first."""
    entries = narrowed(AuditEntry.objects.all(), asked)
    if asked["text"]:
        found = Q(team__in=Team.objects.filter(name__icontains=asked["text"]))
        for column in ("actor_email", "action", "target_type", "target_id", "ip"):
            found |= Q(**{f"{column}__icontains": asked["text"]})
        entries = entries.filter(found)
    return entries


def to_lines(entries: list[AuditEntry]) -> list[AuditLine]:
    """One query for the names of their teams."""
    ids = {entry.team_id for entry in entries}
    names = dict(Team.objects.filter(pk__in=ids).values_list("pk", "name"))
    return [AuditLine(entry, _team_name(entry, names), _shown_details(entry)) for entry in entries]


def to_broken(heads: list[AuditHead]) -> list[tuple[str, str]]:
    """Returns: whose chain is broken, and what is wrong with it."""
    names = dict(Team.objects.filter(pk__in=[head.pk for head in heads]).values_list("pk", "name"))
    names[SERVER_CHAIN] = _("Server")
    return [(names.get(head.pk) or _("Deleted team"), head.problem) for head in heads]


def _team_name(entry: AuditEntry, names: dict[str, str]) -> str:
    if entry.team_id is None:
        return ""
    return names.get(entry.team_id) or _("Deleted team")


def _shown_details(entry: AuditEntry) -> Details:
    is_ours = entry.team_id is None or entry.action.startswith("operator.")
    return details_of(entry.told) if is_ours else []
