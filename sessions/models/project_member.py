from __future__ import annotations

from django.db import models
from django.db.models import Q

from teams.models import Membership, Role, TeamGroup

_ROLES = [(role.value, role.label) for role in (Role.VIEWER, Role.MEMBER)]


class ProjectMember(models.Model):
    """The role in one project of a person or a group of its team. Ends with the membership."""

    project = models.ForeignKey(
        "agent_sessions.Project", models.CASCADE, related_name="project_members"
    )
    membership = models.ForeignKey(Membership, models.CASCADE, null=True, related_name="+")
    group = models.ForeignKey(TeamGroup, models.CASCADE, null=True, related_name="+")
    role = models.CharField(max_length=8, choices=_ROLES)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["project", "membership"], name="project_member_person_once"
            ),
            models.UniqueConstraint(fields=["project", "group"], name="project_member_group_once"),
            models.CheckConstraint(
                condition=Q(membership=None, group__isnull=False)
                | Q(membership__isnull=False, group=None),
                name="project_member_is_person_or_group",
            ),
            models.CheckConstraint(
                condition=Q(role__in=[Role.VIEWER, Role.MEMBER]), name="project_member_role"
            ),
        )

    def __str__(self) -> str:
        return f"{self.membership_id or self.group_id} in {self.project_id}: {self.role}"
