"""Identity providers, their rules, and what sign-ins must have: set by operators and owners."""

from __future__ import annotations

from allauth.socialaccount.models import SocialAccount
from django.db import transaction
from django.utils.translation import gettext as _

from opencode_web.lib.crypto import encrypt
from opencode_web.lib.errors import Conflict, Invalid
from opencode_web.lib.json import JsonObject, JsonValue
from teams.access import TeamAccess, require_operator, require_role
from teams.actions.members import announce_access
from teams.audit import AuditAction, record
from teams.models import (
    IdentityProvider,
    IdentityRule,
    Role,
    SignInPolicy,
    Team,
    TeamCreation,
    User,
)
from teams.policy import forget_team_creation, team_creation


@transaction.atomic
def save_provider(
    operator: User, row: IdentityProvider, *, secret: str = "", ip: str | None = None
) -> IdentityProvider:
    """Store a new or changed provider. Without `secret` the stored one stays.

    Raises: Forbidden for others than operators; Conflict for a slug that is taken, and for a
    second provider of GitHub.
    """
    require_operator(operator)
    is_new = row.pk is None
    others = IdentityProvider.objects.exclude(pk=row.pk)
    if others.filter(slug=row.slug).exists():
        raise Conflict(_("There is already a provider with this identifier."))
    github = IdentityProvider.Kind.GITHUB
    if row.kind == github and others.filter(kind=github).exists():
        raise Conflict(_("GitHub can be set up only once."))
    if secret:
        row.secret = encrypt(secret)
    row.save()
    data: JsonObject = {
        "name": row.name,
        "domains": list(row.domains),
        "enabled": row.is_enabled,
        "signup": row.allows_signup,
    }
    action = AuditAction.IDENTITY_CREATED if is_new else AuditAction.IDENTITY_UPDATED
    record(action, actor=operator, team=None, target=row, data=data, ip=ip)
    return row


@transaction.atomic
def delete_provider(operator: User, row: IdentityProvider, *, ip: str | None = None) -> None:
    """Remove a provider with the links of people to it; their accounts and memberships stay.

    Raises: Forbidden for others than operators.
    """
    require_operator(operator)
    # Another provider of the same identifier later must not find them.
    SocialAccount.objects.filter(provider=row.slug).delete()
    for team in Team.objects.select_for_update().filter(sso_provider=row.slug).order_by("pk"):
        # Its owners could not name another one: nobody can sign in with this any more.
        _set_team_policy(
            team, mfa=team.requires_mfa, sso=team.requires_sso, provider="", actor=operator, ip=ip
        )
    data: JsonObject = {"name": row.name}
    record(AuditAction.IDENTITY_DELETED, actor=operator, team=None, target=row, data=data, ip=ip)
    row.delete()


@transaction.atomic
def add_rule(operator: User, rule: IdentityRule, *, ip: str | None = None) -> IdentityRule:
    """Say who gets which role where, from their next sign-in with the provider.

    Raises: Forbidden for others than operators; Conflict when there is a role for it already.
    """
    require_operator(operator)
    same = rule.provider.rules.filter(claim=rule.claim, value=rule.value, team=rule.team)
    if same.exists():
        raise Conflict(_("There is already a rule for this value and team."))
    rule.save()
    _record_rule(operator, rule, "added", ip)
    return rule


@transaction.atomic
def remove_rule(operator: User, rule: IdentityRule, *, ip: str | None = None) -> None:
    """Take a rule away. Memberships that it made end at their people's next sign-in.

    Raises: Forbidden for others than operators.
    """
    require_operator(operator)
    _record_rule(operator, rule, "removed", ip)
    rule.delete()


def _record_rule(operator: User, rule: IdentityRule, change: str, ip: str | None) -> None:
    provider, text = rule.provider, f"{rule.claim}={rule.value}: {rule.role} ({rule.team.slug})"
    data: JsonObject = {"name": provider.name, "rule": text, "change": change}
    # It gives and takes roles of the team, whose admins can read of it.
    for team in (None, rule.team):
        action = AuditAction.IDENTITY_UPDATED
        record(action, actor=operator, team=team, target=provider, data=data, ip=ip)


@transaction.atomic
def set_instance_policy(
    operator: User, *, mfa: bool, sso: bool, exempts_operators: bool, ip: str | None = None
) -> None:
    """Say what every sign-in on this server must have.

    Raises: Forbidden for others than operators; Invalid for SSO without a provider.
    """
    require_operator(operator)
    _require_provider(sso)
    policy = SignInPolicy.objects.select_for_update().first() or SignInPolicy()
    before: list[JsonValue] = [policy.requires_mfa, policy.requires_sso, policy.exempts_operators]
    policy.requires_mfa, policy.requires_sso = mfa, sso
    policy.exempts_operators = exempts_operators
    policy.save()
    Team.objects.update(instance_requires_mfa=mfa, instance_requires_sso=sso)
    for team_id in Team.objects.values_list("pk", flat=True):
        announce_access(team_id)
    data: JsonObject = {"before": before, "after": [mfa, sso, exempts_operators]}
    record(AuditAction.POLICY_CHANGED, actor=operator, team=None, data=data, ip=ip)


@transaction.atomic
def set_team_creation(operator: User, *, who: TeamCreation, ip: str | None = None) -> None:
    """Say who may create teams on this server. Raises: Forbidden for others than operators."""
    require_operator(operator)
    policy = SignInPolicy.objects.select_for_update().first() or SignInPolicy()
    before = team_creation()
    policy.team_creation = who
    policy.save()
    forget_team_creation()
    # A page may have read it again meanwhile.
    transaction.on_commit(forget_team_creation)
    data: JsonObject = {"key": "teams", "before": before.value, "after": who.value}
    record(AuditAction.POLICY_CHANGED, actor=operator, team=None, data=data, ip=ip)


@transaction.atomic
def set_team_policy(
    access: TeamAccess, *, mfa: bool, sso: bool, provider: str = "", ip: str | None = None
) -> None:
    """Say what sign-ins must have for people to work in the team. `provider` is the slug of the
    one that counts as single sign-on, or empty for any.

    Raises: Forbidden for others than owners; Invalid for SSO without a provider.
    """
    require_role(access, Role.OWNER)
    team = Team.objects.select_for_update().get(pk=access.team.pk)
    provider = provider if sso else ""
    is_new = (sso, provider) != (team.requires_sso, team.sso_provider)
    _require_provider(sso and is_new, provider)
    _set_team_policy(team, mfa=mfa, sso=sso, provider=provider, actor=access.user, ip=ip)


def _set_team_policy(
    team: Team, *, mfa: bool, sso: bool, provider: str, actor: User, ip: str | None
) -> None:
    before: list[JsonValue] = [team.requires_mfa, team.requires_sso, team.sso_provider]
    team.requires_mfa, team.requires_sso, team.sso_provider = mfa, sso, provider
    team.save(update_fields=["requires_mfa", "requires_sso", "sso_provider"])
    announce_access(team.pk)
    data: JsonObject = {"before": before, "after": [mfa, sso, provider]}
    record(AuditAction.POLICY_CHANGED, actor=actor, team=team, target=team, data=data, ip=ip)


def _require_provider(wanted: bool, slug: str = "") -> None:
    rows = IdentityProvider.objects.filter(is_enabled=True)
    if wanted and not (rows.filter(slug=slug) if slug else rows).exists():
        raise Invalid(_("Set up an identity provider first. Otherwise nobody could sign in."))
