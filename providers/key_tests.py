"""Test a key by one tiny call, which is reserved and counted like any other."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import dataclass
from decimal import Decimal

from django.db import transaction

from opencode_web.lib.ids import new_id
from opencode_web.lib.outside import asking
from providers.account_model import AccountModel
from providers.accounts import Accounts
from providers.actions import note_success, record_test
from providers.catalog import npm_of
from providers.config import ProviderBlock, parse_blocks
from providers.credentials import pick_credential
from providers.effective import build_provider, connection_of, offered_models
from providers.funding import FundedRequest, fund
from providers.health import Part, faults_of
from providers.kinds import ProviderKind
from providers.llm.errors import NetworkError, ProviderError
from providers.llm.events import Failed, Finished
from providers.llm.facts import Cost
from providers.llm.messages import ModelRef, ProviderRequest, Text, Usage, UserMessage
from providers.llm.reasons import ErrorReason
from providers.models import ProviderConfig
from providers.pricing import charge_for
from providers.stream import call
from providers.transport import one_time_pool
from teams.actions.budgets import settle
from teams.actions.usage import entry_beside_sessions, write_usage
from teams.models import Basis, Reservation, Team, UsageEntry, User

# For the whole exchange.
TIMEOUT_S = 30.0
# The answer is one word; more than this is not read.
_MAX_CHARS = 64 * 1024
# Some reasoning models refuse to answer in fewer.
MAX_TOKENS = 16
QUESTION = UserMessage((Text("Answer with the word ok."),))


def try_key(
    row: ProviderConfig, model: str, *, actor: User, ip: str | None = None
) -> ProviderError | None:
    """Ask a model of a provider for one word. Must not be called on an event loop.

    Returns: None when it answered, else why it did not.
    Raises: BudgetReached; UnpricedModel; NotFound when it was deleted meanwhile; TooManyRequests.
    """
    with asking(actor.pk):
        return _try(row, model, actor=actor, ip=ip)


def _try(row: ProviderConfig, model: str, *, actor: User, ip: str | None) -> ProviderError | None:
    call_id = f"test.{new_id('tst')}"
    with transaction.atomic():
        request = fund(_build(row, model), row.team, call_id=call_id, user_id=actor.pk)
    outcome = probe(request)
    # Nobody but its owner pays for an account that is not a team's.
    if row.team is not None:
        with transaction.atomic():
            held = settle(row.team, call_id)
            entry = _entry(call_id, request, outcome, held, team=row.team, actor=actor)
            if entry is not None:
                write_usage([entry])
    if outcome.error is None and isinstance(request.model, AccountModel):
        note_success(request.model)
    # On its own: what the call has cost counts also when the provider was deleted meanwhile.
    record_test(row, actor=actor, error=outcome.error, ip=ip)
    return outcome.error


def _build(row: ProviderConfig, name: str) -> ProviderRequest:
    return ProviderRequest(
        account_model(row, name),
        system=(),
        messages=(QUESTION,),
        tools=(),
        session_id="",
        max_output_tokens=MAX_TOKENS,
        purpose="title",
    )


def account_model(row: ProviderConfig, name: str = "") -> AccountModel:
    """Returns: a model of an account, whether anybody uses it or not.

    Raises: Invalid when there is a credential that cannot be read.
    """
    block = parse_blocks(row.config).get(row.provider_id, ProviderBlock())
    used = build_provider(row.provider_id, accounts=Accounts(team=row), block=block, config={})
    known = (used.models if used else {}).get(name) or offered_models(row).get(name)
    picked = pick_credential(row)
    base_url = known.base_url if known else row.base_url
    return AccountModel(
        ref=ModelRef(row.provider_id, name),
        npm=known.npm if known else npm_of(row.provider_id, ProviderKind(row.kind)),
        api_model=known.api_id if known else name,
        base_url=picked.base_url or base_url or None,
        api_key=picked.key,
        name=known.name if known else name,
        cost=known.cost if known else Cost(),
        connection={
            **connection_of(row, block.options),
            **(known.connection if known else {}),
            **picked.connection,
        },
        secrets=picked.secrets,
        credential_id=picked.credential_id,
        fresh_until=picked.expires_at,
        account_id=row.pk,
        faults=(*faults_of(Part.ADDRESS, row), *picked.faults),
        is_unproven=row.answered_at is None,
        is_personal=row.is_personal,
        is_of_instance=row.is_of_instance,
    )


def _entry(
    call_id: str,
    request: FundedRequest,
    outcome: Outcome,
    held: Reservation | None,
    *,
    team: Team,
    actor: User,
) -> UsageEntry | None:
    """Returns: what the call has used, or may have; None when that is nothing."""
    model, finished = request.model, outcome.finished
    cost, basis = (held.amount if held else Decimal(0)), Basis.BOUND
    if finished is not None:
        charge = charge_for(finished, request)
        cost, basis = charge.cost, charge.basis
    elif outcome.is_free or not cost:
        return None
    counts = finished.usage if finished else Usage()
    return entry_beside_sessions(
        call_id,
        team_id=team.pk,
        user_id=actor.pk,
        provider=model.ref.provider_id,
        model=model.ref.model_id,
        api_model=model.other_name or "",
        input=counts.input_tokens,
        output=counts.output_tokens,
        reasoning=counts.reasoning_tokens,
        cache_read=counts.cache_read_tokens,
        cache_write=counts.cache_write_tokens,
        cost=cost,
        basis=basis,
    )


@dataclass(frozen=True, slots=True)
class Outcome:
    """How it ended. `finished` is None where nobody has counted; no key is in `error`."""

    error: ProviderError | None = None
    finished: Finished | None = None
    # Refused before the model began.
    is_free: bool = False


def probe(request: FundedRequest) -> Outcome:
    """Ask the model `QUESTION`, the only message of the request.

    Must not be called on an event loop.
    """
    return asyncio.run(_probe(request))


async def _probe(request: FundedRequest) -> Outcome:
    received = 0
    try:
        async with (
            asyncio.timeout(TIMEOUT_S),
            one_time_pool() as pool,
            aclosing(call(request, pool)) as events,
        ):
            async for event in events:
                received += len(getattr(event, "text", ""))
                if received > _MAX_CHARS:
                    return Outcome()
                if isinstance(event, Failed):
                    return Outcome(event.error, is_free=event.is_free)
                if isinstance(event, Finished):
                    return Outcome(finished=event if event.is_counted else None)
    except TimeoutError:
        pass
    return Outcome(NetworkError(reason=ErrorReason.SILENT))
