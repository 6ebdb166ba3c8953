"""Lower prices of a team's models, which have its budgets and limits count less."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from opencode_web.lib.approval import current_approval
from opencode_web.lib.instance_config import instance_config
from opencode_web.lib.json import JsonObject, JsonValue
from providers.catalog import Model
from providers.config import ProviderBlock, parse_blocks
from providers.effective import described_models
from providers.llm.facts import Cost
from providers.models import ProviderConfig
from providers.pricing import counted_prices
from sessions.actions.held_budgets import said
from sessions.approvals.hold import Change, hold_for_approval, is_held
from sessions.config.effective import team_data
from sessions.config.model import merge
from sessions.models import ChangeKind, Project
from teams.access import TeamAccess, access_team
from teams.models import Role, Team, User

Prices = Mapping[tuple[str, str], Decimal]


def lower_prices(
    access: TeamAccess, before: JsonObject, after: JsonObject, *, project: Project | None
) -> Change | None:
    """Returns: the change of the providers in settings, where a model would count for less."""
    team = project.team if project else access.team
    above = team_data(team) if project else instance_config()
    old, new = (parse_blocks(merge(above, one)) for one in (before, after))
    none = ProviderBlock()
    changed = [key for key in old | new if old.get(key, none) != new.get(key, none)]
    rows = ProviderConfig.objects.filter(team=team, provider_id__in=changed) if changed else ()
    accounts = {row.provider_id: row for row in rows}
    lower: list[JsonObject] = []
    for key in changed:
        row = accounts.get(key)
        picked = row.picked if row else {}
        models = (described_models(key, row, picked, one.get(key, none)) for one in (old, new))
        lower += _lower(team, *models)
    if not lower:
        return None
    replaced: list[JsonValue] = [{**one, "after": None} for one in lower]
    return Change(
        kind=ChangeKind.BUDGETS,
        what="prices.project" if project else "prices.team",
        need=Role.ADMIN,
        arguments={"provider": after.get("provider") or {}},
        told={"changes": [*lower]},
        state={
            "of": project.pk if project else team.pk,
            "provider": before.get("provider"),
            "replaced": replaced,
        },
        project=project,
    )


def hold_account(row: ProviderConfig, picked: JsonObject | None, actor: User) -> None:
    """Hold what is said of models on the pages of an account, where one would count for less.

    Raises: NeedsApproval.
    """
    team, key = row.team, row.provider_id
    if team is None or not is_held(team, ChangeKind.BUDGETS):
        return
    # What the team's settings say of a model counts over both.
    block = parse_blocks(team_data(team)).get(key, ProviderBlock())
    before = described_models(key, row, row.picked, block)
    after = described_models(key, row if picked is not None else None, picked or {}, block)
    lower: list[JsonValue] = [*_lower(team, before, after)]
    # An approved change replaces everything, so that it is compared whatever it does by now.
    if not lower and current_approval() is None:
        return
    change = Change(
        kind=ChangeKind.BUDGETS,
        what="account.delete" if picked is None else "prices.account",
        need=Role.ADMIN,
        arguments={"provider": key, "picked": picked},
        told={"changes": lower, "name": row.shown_name},
        state={"of": team.pk, "provider": key, "picked": row.picked},
    )
    hold_for_approval(access_team(actor, team.pk, need=Role.ADMIN), change)


def _lower(team: Team, before: Mapping[str, Model], after: Mapping[str, Model]) -> list[JsonObject]:
    """Returns: every price that differs of the models that count for less."""
    found: list[JsonObject] = []
    for key, model in after.items():
        old = before.get(key)
        # What is called by another name counts as what it is.
        if old is None or old.api_id != model.api_id:
            old = before.get(model.api_id)
        cost = old.cost if old else Cost()
        least, most = counted_prices(cost, model.cost), counted_prices(model.cost, cost)
        if not _is_lower(team, least, most):
            continue
        found += [
            {
                "scope": "price",
                "model": f"{model.provider_id}/{key}",
                "price": name,
                "tier": tier,
                "before": said(least.get((name, tier))),
                "after": said(most.get((name, tier))),
            }
            for name, tier in {**least, **most}
            if least.get((name, tier)) != most.get((name, tier))
        ]
    return found


def _is_lower(team: Team, before: Prices, after: Prices) -> bool:
    if not (before and after):
        # Without a price a model costs nothing, or cannot be called.
        is_free = team.allows_unpriced_models or not team.has_budgets
        return bool(before if is_free else after)
    return any(after[key] < before[key] for key in before)
