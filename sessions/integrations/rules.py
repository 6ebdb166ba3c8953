"""The rules of a project: what on its forge starts sessions. Admins write them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from decimal import Decimal

from django.db import transaction
from django.db.models import Max
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from opencode_web.lib.errors import Conflict, Invalid, NotFound
from opencode_web.lib.ids import new_id
from opencode_web.lib.json import JsonObject
from opencode_web.lib.text import clean_text
from providers.resolve import parse_ref, resolve_model
from sessions.access import ProjectAccess
from sessions.agents.loader import choose_agent
from sessions.config.effective import config_data, project_config
from sessions.forges.triggers import Trigger
from sessions.integrations.setup import require_integration, service_accounts
from sessions.integrations.templates import check_template
from sessions.models import Integration, IntegrationRule
from sessions.secrets import hide_keys
from teams.access import require_role
from teams.audit import AuditAction, record
from teams.models import Role

MAX_RULES = 30
MAX_PER_HOUR = 1_000
DEFAULT_PER_HOUR = 20
Audience = IntegrationRule.Audience
TRIGGERS = {
    Trigger.ISSUE_OPENED.value: gettext_lazy("Issue opened"),
    Trigger.ISSUE_LABELED.value: gettext_lazy("Issue labeled"),
    Trigger.PULL_OPENED.value: gettext_lazy("Pull request opened"),
    Trigger.PULL_PUSHED.value: gettext_lazy("Pull request pushed to"),
    Trigger.REVIEW_COMMENT.value: gettext_lazy("Line comment with the command"),
    Trigger.CHECK_FAILED.value: gettext_lazy("Check of a pull request failed"),
}
TRACKER_TRIGGERS = {
    Trigger.ISSUE_OPENED.value: TRIGGERS[Trigger.ISSUE_OPENED],
    Trigger.ISSUE_LABELED.value: TRIGGERS[Trigger.ISSUE_LABELED],
    Trigger.ISSUE_ASSIGNED.value: gettext_lazy("Issue assigned to the API key's account"),
}
# As in the models, in words that fit.
TRACKER_AUDIENCE = {
    Audience.LINKED.value: Audience.LINKED.label,
    Audience.COLLABORATORS.value: gettext_lazy("All members of the workspace, without guests"),
    Audience.ANYBODY.value: Audience.ANYBODY.label,
}


@dataclass(frozen=True)
class RuleDraft:
    """What a rule is about and does. Empty `agent` and `model` are the project's.

    Units: `cost_limit` is USD.
    """

    trigger: str
    prompt: str
    label: str = ""
    agent: str = ""
    model: str = ""
    account_id: int | None = None
    audience: str = Audience.LINKED.value
    takes_forks: bool = False
    takes_bots: bool = False
    cost_limit: Decimal | None = None
    per_hour: int = DEFAULT_PER_HOUR
    is_enabled: bool = True


@transaction.atomic
def create_rule(
    access: ProjectAccess, draft: RuleDraft, *, tracker: str = "", ip: str | None = None
) -> IntegrationRule:
    """Have something on the forge or on an issue tracker start sessions, after its other rules.

    Raises: Invalid for what cannot be run; Conflict for too many; NotFound without an integration
    and for an unknown model; Forbidden below admin.
    """
    require_role(access.team, Role.ADMIN)
    # Locked: two at once would get the same place.
    found = require_integration(access, tracker)
    integration = Integration.objects.select_for_update().get(pk=found.pk)
    if integration.rules.count() >= MAX_RULES:
        raise Conflict(
            _("A project can have at most {count} rules. Remove one first.").format(count=MAX_RULES)
        )
    last = integration.rules.aggregate(last=Max("position"))["last"] or 0
    row = IntegrationRule(id=new_id("rul"), integration=integration, position=last + 1)
    row.created_at = timezone.now()
    _write(row, access, draft)
    row.save(force_insert=True)
    _record(AuditAction.INTEGRATION_RULE_ADDED, access, row, ip)
    return row


@transaction.atomic
def update_rule(
    access: ProjectAccess,
    rule_id: str,
    draft: RuleDraft,
    *,
    tracker: str = "",
    ip: str | None = None,
) -> IntegrationRule:
    """Change what it is about or does. Raises: as `create_rule`; NotFound."""
    row = _lock(access, rule_id, tracker)
    _write(row, access, draft)
    row.save()
    _record(AuditAction.INTEGRATION_RULE_CHANGED, access, row, ip)
    return row


@transaction.atomic
def move_rule(
    access: ProjectAccess,
    rule_id: str,
    *,
    to: int | None = None,
    tracker: str = "",
    ip: str | None = None,
) -> IntegrationRule:
    """Put it at another place: 1 is the first, None is one up. Raises: as `delete_rule`."""
    row = _lock(access, rule_id, tracker)
    rows = list(row.integration.rules.select_for_update())
    before = rows.index(row)
    place = before - 1 if to is None else to - 1
    rows.insert(max(place, 0), rows.pop(before))
    if rows.index(row) != before:
        for position, one in enumerate(rows, start=1):
            one.position = position
        IntegrationRule.objects.bulk_update(rows, ["position"])
        _record(AuditAction.INTEGRATION_RULE_CHANGED, access, row, ip)
    return row


@transaction.atomic
def delete_rule(
    access: ProjectAccess, rule_id: str, *, tracker: str = "", ip: str | None = None
) -> None:
    """Forget it; its sessions stay. Raises: NotFound; Forbidden below admin."""
    row = _lock(access, rule_id, tracker)
    _record(AuditAction.INTEGRATION_RULE_REMOVED, access, row, ip)
    row.delete()


def triggers_of(row: Integration) -> Mapping[str, Promise]:
    """Returns: what rules can be about there, with its names."""
    return TRACKER_TRIGGERS if row.is_tracker else TRIGGERS


def find_rule(access: ProjectAccess, rule_id: str, tracker: str = "") -> IntegrationRule:
    """Raises: NotFound, also for a rule of another integration."""
    rows = IntegrationRule.objects.filter(integration=require_integration(access, tracker))
    row = rows.select_related("account", "integration").filter(pk=rule_id).first()
    if row is None:
        raise NotFound("Rule", rule_id)
    return row


def _lock(access: ProjectAccess, rule_id: str, tracker: str) -> IntegrationRule:
    require_role(access.team, Role.ADMIN)
    found = find_rule(access, rule_id, tracker)
    rows = IntegrationRule.objects.select_related("integration")
    return rows.select_for_update(of=("self",)).get(pk=found.pk)


def _write(row: IntegrationRule, access: ProjectAccess, draft: RuleDraft) -> None:
    if draft.trigger not in triggers_of(row.integration) or draft.audience not in Audience.values:
        raise Invalid(_("Choose one of the listed values."), field="trigger")
    label = clean_text(" ".join(draft.label.split()))
    if bool(label) != (draft.trigger == Trigger.ISSUE_LABELED) or len(label) > 100:
        raise Invalid(
            _("Enter the label for “Issue labeled”, and leave it empty for everything else."),
            field="label",
        )
    if draft.cost_limit is not None and not Decimal(0) < draft.cost_limit < Decimal(1_000_000):
        raise Invalid(_("Enter an amount above zero, or leave it empty."), field="cost_limit")
    if not 0 < draft.per_hour <= MAX_PER_HOUR:
        raise Invalid(
            _("Enter a number from 1 to {most}.").format(most=MAX_PER_HOUR), field="per_hour"
        )
    for name, value in asdict(draft).items():
        setattr(row, name, value)
    row.label = label
    row.prompt = hide_keys(access.project, clean_text(check_template(draft.prompt)))
    row.agent, row.model = draft.agent.strip(), draft.model.strip()
    _check_account(access, draft)
    if row.agent:
        choose_agent(project_config(access.project), row.agent)
    if row.model:
        config, user = config_data(access.project), access.principal.user
        resolve_model(access.project.team, parse_ref(row.model), config=config, user=user)


def _check_account(access: ProjectAccess, draft: RuleDraft) -> None:
    if draft.account_id is None:
        if draft.audience != Audience.LINKED:
            raise Invalid(
                _("Choose the service account that people without a linked account run as."),
                field="account",
            )
    elif not service_accounts(access).filter(pk=draft.account_id).exists():
        raise Invalid(_("Choose a service account of this team."), field="account")


def _record(
    action: AuditAction, access: ProjectAccess, row: IntegrationRule, ip: str | None
) -> None:
    data: JsonObject = {
        "name": access.project.name,
        "trigger": row.trigger,
        "label": row.label,
        "audience": row.audience,
        "forks": row.takes_forks,
        "bots": row.takes_bots,
        "account": row.account.display_name if row.account else "",
        "enabled": row.is_enabled,
    }
    actor, team = access.principal.user, access.team.team
    record(action, actor=actor, team=team, target=access.project, data=data, ip=ip)
