from __future__ import annotations

import re

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.translation import gettext as _

from opencode_web.lib.errors import Conflict, Invalid, NotFound
from opencode_web.lib.text import clean_text
from sessions.models import TeamSkill
from sessions.repository.skills import MAX_DESCRIPTION_CHARS, MAX_NAME_CHARS
from teams.access import TeamAccess, require_role
from teams.audit import AuditAction, record
from teams.models import Role

MAX_TEAM_SKILLS = 100
MAX_TEXT_CHARS = 64 * 1024
# As the name of a folder: it is typed in prompts and stands in permission rules.
_NAME = re.compile(rf"[a-z0-9][a-z0-9_-]{{0,{MAX_NAME_CHARS - 1}}}")


@transaction.atomic
def save_team_skill(
    access: TeamAccess,
    *,
    name: str,
    description: str,
    text: str,
    skill: TeamSkill | None = None,
    ip: str | None = None,
) -> TeamSkill:
    """Write a skill for every project of a team, or `skill` anew.

    Raises: Invalid for unusable fields; Conflict for a name in use; Forbidden below admin.
    """
    require_role(access, Role.ADMIN)
    if not _NAME.fullmatch(name):
        raise Invalid(
            _(
                "A name can have up to {count} lowercase letters, digits, - and _, and must start "
                "with a letter or digit."
            ).format(count=MAX_NAME_CHARS),
            field="name",
        )
    description = " ".join(clean_text(description).split())
    if not description or len(description) > MAX_DESCRIPTION_CHARS:
        raise Invalid(
            _("Describe when to use the skill in at most {count} characters.").format(
                count=MAX_DESCRIPTION_CHARS
            ),
            field="description",
        )
    text = clean_text(text).strip()
    if not text or len(text) > MAX_TEXT_CHARS:
        raise Invalid(
            _("A skill can have at most {count} characters of text.").format(
                count=number_format(MAX_TEXT_CHARS, force_grouping=True)
            ),
            field="text",
        )
    if skill is None and access.team.skills.count() >= MAX_TEAM_SKILLS:
        raise Conflict(
            _("A team can have at most {count} skills. Delete one first.").format(
                count=MAX_TEAM_SKILLS
            )
        )
    row = _lock(skill) if skill else TeamSkill(team=access.team)
    was = row.name
    row.name, row.description, row.text = name, description, text
    row.updated_by, row.updated_at = access.user, timezone.now()
    try:
        with transaction.atomic():
            row.save()
    except IntegrityError as exc:
        raise Conflict(_("The team already has a skill named {name}.").format(name=name)) from exc
    record(
        AuditAction.SKILL_SAVED,
        actor=access.user,
        team=access.team,
        target=row,
        data={"name": name, **({"was": was} if was and was != name else {})},
        ip=ip,
    )
    return row


def _lock(skill: TeamSkill) -> TeamSkill:
    """The row as it is now. Saving one that is gone would bring it back. Raises: NotFound."""
    row = TeamSkill.objects.select_for_update().filter(pk=skill.pk).first()
    if row is None:
        raise NotFound("Skill", skill.name)
    return row


@transaction.atomic
def delete_team_skill(access: TeamAccess, skill: TeamSkill, *, ip: str | None = None) -> None:
    """Take a skill from every project of its team. Raises: Forbidden below admin."""
    require_role(access, Role.ADMIN)
    record(
        AuditAction.SKILL_DELETED,
        actor=access.user,
        team=access.team,
        target=skill,
        data={"name": skill.name},
        ip=ip,
    )
    skill.delete()
