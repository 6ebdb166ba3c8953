from __future__ import annotations

import re
import secrets

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from opencode_web.lib.errors import Conflict, Forbidden, Invalid
from opencode_web.lib.json import JsonObject
from opencode_web.lib.text import slug_of
from teams.access import TeamAccess, is_operator, require_role
from teams.actions.members import announce_access, revoke_invites_above
from teams.actions.usage import keep_spend
from teams.audit import AuditAction, record
from teams.models import Budget, Membership, OwnAccounts, Role, Team, TeamCreation, User
from teams.models.team import SLUG_PATTERN
from teams.policy import instance_policy, team_creation
from teams.retention.holds import holds_in_team, refuse_held


@transaction.atomic
def create_team(
    user: User,
    *,
    name: str,
    slug: str = "",
    ip: str | None = None,
    as_operator: bool = False,
) -> Team:
    """Make a team that `user` owns. Without `slug` one is made from the name.

    `as_operator`: an operator does it for `user`, from the command line of the server.

    Raises: Invalid for an unusable name or slug; Conflict when the slug is taken; Forbidden when
    the policy of the server does not let `user` create teams.
    """
    if not (as_operator or is_operator(user) or team_creation() == TeamCreation.EVERYONE):
        raise Forbidden(_("Only operators of this server can create teams."))
    name = _valid_name(name)
    team = Team(name=name, slug=slug or free_slug(name))
    # Those of the whole server hold for it from the start.
    team.has_budgets = Budget.objects.filter(team=None).exists()
    policy = instance_policy()
    team.instance_requires_mfa = policy.requires_mfa
    team.instance_requires_sso = policy.requires_sso
    _save_slug(team)
    Membership.objects.create(team=team, user=user, role=Role.OWNER)
    data: JsonObject = {"name": name, "slug": team.slug}
    record(AuditAction.TEAM_CREATED, actor=user, team=team, target=team, data=data, ip=ip)
    return team


@transaction.atomic
def set_own_accounts(access: TeamAccess, *, policy: OwnAccounts, ip: str | None = None) -> None:
    """Say where members may use accounts at providers that are theirs.

    Raises: Forbidden.
    """
    require_role(access, Role.ADMIN)
    team = Team.objects.select_for_update().get(pk=access.team.pk)
    data: JsonObject = {"own_accounts": [team.own_accounts, policy.value]}
    team.own_accounts = access.team.own_accounts = policy
    team.save(update_fields=["own_accounts"])
    record(AuditAction.CONFIG_CHANGED, actor=access.user, team=team, target=team, data=data, ip=ip)


@transaction.atomic
def rename_team(team: Team, *, actor: User, name: str, slug: str, ip: str | None = None) -> Team:
    """Change name and slug. Old links with the old slug end; ids stay.

    Raises: Invalid for an unusable name or slug; Conflict when the slug is taken.
    """
    before: JsonObject = {"name": team.name, "slug": team.slug}
    team.name, team.slug = _valid_name(name), slug
    _save_slug(team)
    data: JsonObject = {"before": before, "after": {"name": team.name, "slug": team.slug}}
    record(AuditAction.TEAM_RENAMED, actor=actor, team=team, target=team, data=data, ip=ip)
    return team


@transaction.atomic
def transfer_team(team: Team, *, actor: User, to: Membership, ip: str | None = None) -> Team:
    """Hand ownership over: `to` becomes owner and the actor, who must be an owner, admin.

    Raises: Invalid when `to` is the actor, or is not, or is no longer, a member of the team that
    stays; Forbidden when the actor no longer owns it.
    """
    # As in `members`: who changes roles in the team waits here.
    Team.objects.select_for_update().get(pk=team.pk)
    rows = Membership.objects.select_related("team", "user").filter(team=team)
    former = rows.filter(user=actor, role=Role.OWNER).first()
    if former is None:
        raise Forbidden(_("Only an owner can transfer the team."))
    others = rows.filter(pk=to.pk, expires_at=None).exclude(user=actor)
    if not others.update(role=Role.OWNER):
        raise Invalid(_("Choose another member of this team as the new owner."))
    former.role = Role.ADMIN
    former.save(update_fields=["role"])
    revoke_invites_above(former)
    announce_access(team.pk)
    to.role = Role.OWNER
    data: JsonObject = {"from": actor.email, "to": to.user.email}
    record(AuditAction.TEAM_TRANSFERRED, actor=actor, team=team, target=to, data=data, ip=ip)
    return team


@transaction.atomic
def delete_team(team: Team, *, actor: User, confirm: str, ip: str | None = None) -> None:
    """Remove a team with its memberships, invitations, tokens and all that other apps hang on it.

    `confirm` must be the slug, typed by the person. The audit entries stay.
    Raises: Invalid when it is something else; Held under a legal hold.
    """
    if confirm.strip() != team.slug:
        raise Invalid(_("Type %(slug)s to delete this team.") % {"slug": team.slug})
    team = Team.objects.select_for_update().get(pk=team.pk)
    refuse_held(holds_in_team(team))
    data: JsonObject = {"name": team.name, "slug": team.slug}
    record(AuditAction.TEAM_DELETED, actor=actor, team=team, target=team, data=data, ip=ip)
    announce_access(team.pk)
    keep_spend(team)
    team.delete()


def free_slug(name: str) -> str:
    """A slug for `name` that no team has."""
    base = slug_of(name).replace("_", "-")[:32].strip("-")
    base = re.sub(r"-{2,}", "-", base) or "team"
    slug = base
    while Team.objects.filter(slug=slug).exists():
        slug = f"{base}-{secrets.token_hex(3)}"
    return slug


def _valid_name(name: str) -> str:
    name = " ".join(name.split())
    if not name or len(name) > 80:
        raise Invalid(_("A team name must have 1 to 80 characters."))
    return name


def require_free_slug(slug: str) -> None:
    """Raises: Invalid for an unusable slug; Conflict when it is taken."""
    _require_slug(slug)
    if Team.objects.filter(slug=slug).exists():
        raise _taken(slug)


def _require_slug(slug: str) -> None:
    if not re.fullmatch(SLUG_PATTERN, slug) or len(slug) > 40:
        raise Invalid(
            _("The address can only contain lowercase letters, digits and single hyphens.")
        )


def _taken(slug: str) -> Conflict:
    return Conflict(_("The address %(slug)s is already used by another team.") % {"slug": slug})


def _save_slug(team: Team) -> None:
    _require_slug(team.slug)
    try:
        with transaction.atomic():
            team.save(update_fields=None if team._state.adding else ["name", "slug"])
    except IntegrityError as exc:
        raise _taken(team.slug) from exc
