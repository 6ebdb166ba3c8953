"""The one way to a model: what a call may cost is set apart before it can be made.

    fund ─▶ FundedRequest ─▶ stream ─▶ settle (teams.actions.budgets)

Where a budget holds, the longest answer is cut to what is left of it and always sent. Only
`fund` makes a `FundedRequest`, and `stream` takes nothing else: a test looks for calls past it.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from decimal import Decimal
from typing import Any

from opencode_web.lib.errors import Conflict
from opencode_web.lib.reasons import Cause
from providers.account_model import is_of_instance, is_personal
from providers.bounds import Bound, Factors, bound_of
from providers.llm.messages import ModelRef, ProviderRequest, ResolvedModel
from providers.models import LearnedBound
from providers.pricing import is_priced
from providers.reasons import ProviderReason
from teams.actions.budgets import reserve
from teams.models import Budget, Reservation, Team


class UnpricedModel(Conflict):
    """The team has budgets, and does not allow models whose price is not known.

    `of_server`: the server has budgets, too, and pays for the model.
    """

    def __init__(self, model: ResolvedModel, *, of_server: bool = False) -> None:
        reason = ProviderReason.UNPRICED_OF_SERVER if of_server else ProviderReason.UNPRICED
        super().__init__(Cause(reason, {"model": model.name, "provider": model.ref.provider_id}))


@dataclass(frozen=True, slots=True)
class FundedRequest(ProviderRequest):
    """A request that may be sent. Without a `bound` no budget holds, or no price is known."""

    bound: Bound | None = None

    @property
    def most(self) -> Decimal:
        """The most that the call may cost. Units: USD; 0 without a bound."""
        return self.bound.cost(self.max_output_tokens) if self.bound else Decimal(0)

    def most_after(self, received_bytes: int) -> Decimal:
        """The same for a call that was ended from here when so much of its answer had come."""
        if self.bound is None:
            return Decimal(0)
        return min(self.most, self.bound.cost_after(received_bytes))

    @property
    def is_cut(self) -> bool:
        """Whether the answer may be less long than was wanted."""
        return self.bound is not None and (self.max_output_tokens or 0) < self.bound.output


def fund(
    request: ProviderRequest,
    team: Team | None,
    *,
    call_id: str,
    user_id: int | None,
    project_id: str = "",
    prompt_id: str = "",
) -> FundedRequest:
    """Set apart what a call may cost at most. No query where no budget holds.

    What a person pays, or the instance for itself (`team` is None), is held to no budget.

    Must run inside a transaction. `call_id` is what `settle` is told afterwards.

    Raises: BudgetReached; UnpricedModel.
    """
    if team is None or is_personal(request.model):
        return _funded(request)
    require_price(request.model, team)
    if not team.has_budgets or not is_priced(request.model.cost):
        return _funded(request)
    ref = request.model.ref
    bound = bound_of(request, _factors(team, ref))
    held = reserve(
        Reservation(
            id=call_id,
            team=team,
            user_id=user_id,
            project=project_id,
            provider=ref.provider_id,
            model=ref.model_id,
            api_model=request.model.other_name or "",
            prompt=prompt_id,
            amount=bound.cost(),
        ),
        least=bound.cost(bound.least_output),
    )
    output = bound.affordable_output(held.amount)
    return _funded(request, max_output_tokens=output, bound=bound)


def refit(request: FundedRequest, **more: Any) -> FundedRequest:  # fields of the class
    """Change a request within what was set apart for it: the longer it is, the less it may answer.

    Raises: ValueError when too little would be left of the answer.
    """
    changed = replace(request, **more)
    if request.bound is None:
        return changed
    bound = bound_of(changed, request.bound.factors)
    if bound.cost(bound.least_output) > request.most:
        raise ValueError("the request has become too long for what was set apart")
    output = bound.affordable_output(request.most)
    bound = replace(bound, output=request.bound.output)
    return replace(changed, max_output_tokens=output, bound=bound)


def require_price(model: ResolvedModel, team: Team) -> None:
    """Raises: UnpricedModel."""
    if not team.has_budgets or is_personal(model) or is_priced(model.cost):
        return
    # No team decides that the server's budgets do not count for what the server pays.
    of_server = is_of_instance(model) and Budget.objects.filter(team=None, is_soft=False).exists()
    if of_server or not team.allows_unpriced_models:
        raise UnpricedModel(model, of_server=of_server)


def _factors(team: Team, ref: ModelRef) -> Factors:
    learned = LearnedBound.objects.filter(team=team, provider=ref.provider_id, model=ref.model_id)
    row = learned.first()
    return Factors(row.input, row.output) if row is not None else Factors()


def _funded(request: ProviderRequest, **more: Any) -> FundedRequest:  # fields of the class
    values = {field.name: getattr(request, field.name) for field in fields(ProviderRequest)}
    return FundedRequest(**{**values, **more})
