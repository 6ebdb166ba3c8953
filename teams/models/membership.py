from __future__ import annotations

from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext

from teams.models.team import Team


class Role(models.TextChoices):
    """What a person may do in one team.

    Viewers, members, admins and owners work, and each includes the ones before. Billing stands
    beside them: it has to do with the team's money and sees nothing of its work. Admins include it.
    """

    OWNER = "owner", _("Owner")
    ADMIN = "admin", _("Admin")
    MEMBER = "member", _("Member")
    VIEWER = "viewer", _("Viewer")
    BILLING = "billing", _("Billing")

    @property
    def includes(self) -> frozenset[Role]:
        """The roles whose rights this one has, its own among them."""
        match self:
            case Role.OWNER:
                return frozenset(Role)
            case Role.ADMIN:
                return frozenset(Role) - {Role.OWNER}
            case Role.MEMBER:
                return frozenset({Role.MEMBER, Role.VIEWER})
            case Role.VIEWER | Role.BILLING:
                return frozenset({self})

    @property
    def noun(self) -> str:
        """What somebody of this role is called within a sentence."""
        match self:
            case Role.OWNER:
                return pgettext("role in a sentence", "owner")
            case Role.ADMIN:
                return pgettext("role in a sentence", "admin")
            case Role.MEMBER:
                return pgettext("role in a sentence", "member")
            case Role.VIEWER:
                return pgettext("role in a sentence", "viewer")
            case Role.BILLING:
                return pgettext("role in a sentence", "billing contact")


class MembershipQuerySet(models.QuerySet["Membership"]):
    def current(self) -> Self:
        """Without those of operators whose time is over, which are removed a little later."""
        return self.filter(Q(expires_at=None) | Q(expires_at__gt=Now()))


class Membership(models.Model):
    """A person in a team, with one role. A team always has an owner: see `actions/members.py`."""

    team = models.ForeignKey(Team, models.CASCADE, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=8, choices=Role.choices, default=Role.MEMBER)
    # Whether the person is among those who allow what needs a second person.
    is_approver = models.BooleanField(default=False)
    # Only of an operator in an emergency, see `actions/break_glass.py`.
    expires_at = models.DateTimeField(null=True)
    reason = models.TextField(blank=True, default="")
    created_at = models.DateTimeField(default=timezone.now)

    objects = MembershipQuerySet.as_manager()

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["team", "user"], name="teams_membership_once"),
            models.CheckConstraint(
                condition=models.Q(role__in=Role.values), name="teams_membership_role"
            ),
        )

    def __str__(self) -> str:
        return f"{self.user_id} in {self.team_id}: {self.role}"
