"""What is under a legal hold. A hold beats retention, deletion by people and erasure."""

from __future__ import annotations

from collections.abc import Collection

from django.db.models import Q
from django.utils.translation import gettext as _

from opencode_web.lib.errors import Conflict
from teams.models import AuditEntry, LegalHold, Team, User
from teams.models.hold import LegalHoldQuerySet

Scope = LegalHold.Scope


class Held(Conflict):
    """It must not be deleted. Says who wants that, why, and what can be done."""

    def __init__(self, hold: LegalHold) -> None:
        super().__init__(
            _(
                "This is under a legal hold, set by %(name)s on %(day)s: %(reason)s. To delete "
                "it, ask an owner of the team or an operator to release the hold first."
            )
            % {
                "name": hold.set_by.display_name if hold.set_by else _("a deleted account"),
                "day": f"{hold.set_at:%Y-%m-%d}",
                "reason": hold.reason.rstrip("."),
            }
        )
        self.hold = hold


def refuse_held(holds: LegalHoldQuerySet) -> None:
    """Raises: Held where one of them is live."""
    hold = holds.live().select_related("set_by").order_by("set_at").first()
    if hold is not None:
        raise Held(hold)


def holds_of_people(team_id: str, people: Collection[int]) -> Q:
    """Returns: what finds the holds on what these people did in a team."""
    return Q(scope=Scope.PERSON, user__in=people) & (Q(team=None) | Q(team=team_id))


def holds_in_team(team: Team) -> LegalHoldQuerySet:
    """Returns: every hold that the deletion of the team would break."""
    everywhere = LegalHold.objects.live().filter(scope=Scope.PERSON, team=None)
    traces = AuditEntry.objects.filter(team=team, actor__in=everywhere.values("user"))
    known = set(traces.values_list("actor_id", flat=True))
    known.update(team.memberships.values_list("user_id", flat=True))
    return LegalHold.objects.filter(Q(team=team) | holds_of_people(team.pk, known))


def holds_on_person(user: User) -> LegalHoldQuerySet:
    """Returns: every hold that the erasure of the person would break.

    Those on teams that they have been in and on sessions there, too: it would take their name and
    words about them out of what is held.
    """
    in_team = Q(scope__in=(Scope.TEAM, Scope.SESSION), team__in=teams_of(user))
    return LegalHold.objects.filter(Q(scope=Scope.PERSON, user=user) | in_team)


def teams_of(user: User) -> set[str]:
    """Returns: the ids of the teams that a person is in, or has left traces in."""
    traces = AuditEntry.objects.filter(actor=user).exclude(team=None).order_by()
    found = set(traces.values_list("team_id", flat=True).distinct())
    return found | set(user.memberships.values_list("team_id", flat=True))


def first_held_entry(team_id: str | None) -> int | None:
    """Returns: the number of the first audit entry of a chain that a hold keeps, which is the first
    of all where the team is held; None for none."""
    live = LegalHold.objects.live()
    entries = AuditEntry.objects.filter(team=team_id)
    if not live.filter(Q(team=team_id) & ~Q(scope=Scope.PERSON)).exists():
        people = live.filter(Q(team=None) | Q(team=team_id), scope=Scope.PERSON)
        entries = entries.filter(actor__in=people.values("user"))
    return entries.exclude(seq=None).order_by("seq").values_list("seq", flat=True).first()
