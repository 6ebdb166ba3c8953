"""Choose the models of an account, and keep what was learned of their bounds."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from django.db import transaction
from django.db.models.functions import Greatest
from django.utils.translation import gettext as _

from opencode_web.lib.errors import Invalid
from opencode_web.lib.json import JsonObject, JsonValue
from providers.actions.rows import lock_provider
from providers.bounds import Factors
from providers.config import parse_blocks
from providers.llm.messages import ModelRef
from providers.models import LearnedBound, ProviderConfig
from teams.audit import AuditAction, record
from teams.models import Team, User

MAX_PICKED = 500


@transaction.atomic
def pick_models(
    row: ProviderConfig,
    *,
    actor: User | None,
    models: Mapping[str, JsonObject],
    unpicked: Collection[str] = (),
    ip: str | None = None,
) -> ProviderConfig:
    """Add to the models that the team may use: id -> overrides; and take `unpicked` away.

    Without overrides a model keeps those that it has. None picked means all current ones.

    Raises: Invalid when an override is not in the shape of opencode.json's models.
    """
    parse_blocks({"provider": {row.provider_id: {"models": dict(models)}}})
    row = lock_provider(row)
    before = set(row.picked)
    picked = {key: value for key, value in row.picked.items() if key not in unpicked}
    picked.update({key: value or row.picked.get(key, {}) for key, value in models.items()})
    if len(picked) > MAX_PICKED:
        raise Invalid(
            _("At most %(max_picked)s models can be picked.") % {"max_picked": MAX_PICKED}
        )
    row.picked = picked
    row.save(update_fields=["picked"])
    forget_bounds(row)
    added: list[JsonValue] = [*sorted(picked.keys() - before)]
    removed: list[JsonValue] = [*sorted(before - picked.keys())]
    data: JsonObject = {"provider": row.provider_id, "picked": added, "unpicked": removed}
    record(AuditAction.PROVIDER_UPDATED, actor=actor, team=row.team, target=row, data=data, ip=ip)
    return row


def forget_bounds(row: ProviderConfig) -> None:
    """What was learned holds for an address and for prices that may be others now."""
    LearnedBound.objects.filter(team=row.team_id, provider=row.provider_id).delete()


@transaction.atomic
def learn_bound(team: Team, ref: ModelRef, factors: Factors) -> None:
    """Have the next calls of a model expect what a provider has billed beyond a bound."""
    names = {"team": team, "provider": ref.provider_id, "model": ref.model_id}
    LearnedBound.objects.select_for_update().get_or_create(
        **names, defaults={"input": 1, "output": 1}
    )
    LearnedBound.objects.filter(**names).update(
        input=Greatest("input", factors.input), output=Greatest("output", factors.output)
    )
