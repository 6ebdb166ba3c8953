"""Give calls the key that is to be used, have turns stand in line, and wake who is next.

Whoever asks holds the account's row until the transaction ends, so that no two take one place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from providers.account_model import AccountModel
from providers.credentials import least_used, open_credential, usable_keys, with_credential
from providers.funding import FundedRequest
from providers.models import Credential, KeyUse, ProviderConfig
from providers.room import ALIVE, MINUTE, Key, KeyPool, NoRoom, Use
from providers.room_bell import ring_for
from providers.tokens import estimate_request

# Of who was never looked for again: its session is gone.
_FORGOTTEN = 30 * ALIVE


def take_key(request: FundedRequest, *, call: str) -> FundedRequest:
    """Choose the key that a request is made with; it holds a place at that from now on.

    Nothing is asked or written where an account has one key without limits. Must run inside a
    transaction. The place is given back by `leave`, and by itself when nobody says `keep_place`.

    Raises: NoRoom; then `call` has its place in the line.
    """
    model = request.model
    if not isinstance(model, AccountModel) or not model.shares or model.account_id is None:
        return request
    account = _locked(model.account_id)
    keys, now = usable_keys(account) if account else [], timezone.now()
    if account is None or not keys:
        return request
    if not any(key.has_limits for key in keys):
        chosen = least_used(keys)
        Credential.objects.filter(pk=chosen.pk).update(used_at=now)
        return _with(request, model, chosen, others=len(keys) - 1, use=None)
    _forget_old(account, call)
    waiting = KeyUse.objects.filter(account=account, call=call, started_at=None).first()
    pool = _pool(account, keys)
    tokens = estimate_request(request)
    found = pool.choose(call, tokens=tokens, asker=model.asker)
    if found is None:
        if waiting is None:
            turn = pool.turn_of(model.asker)
            waiting = KeyUse(account=account, call=call, asker=model.asker, turn=turn)
        waiting.tokens, waiting.alive_until = tokens, now + ALIVE
        waiting.save()
        raise NoRoom(account.name, until=pool.look_again_at())
    chosen = next(key for key in keys if key.pk == found.id)
    use = waiting or KeyUse(account=account, call=call, asker=model.asker)
    use.credential, use.tokens = chosen, tokens
    use.started_at, use.alive_until = now, now + ALIVE
    use.save()
    Credential.objects.filter(pk=chosen.pk).update(used_at=now)
    _ring(_pool(account, keys).next_calls())
    return _with(request, model, chosen, others=len(keys) - 1, use=use.pk)


def keep_place(use: int) -> None:
    """Say that the call which holds a place still runs."""
    KeyUse.objects.filter(pk=use, ended_at=None).update(alive_until=timezone.now() + ALIVE)


@transaction.atomic
def leave(use: int, *, tokens: int | None) -> None:
    """End a call; `tokens` are those that its provider has counted, if it has."""
    row = KeyUse.objects.filter(pk=use).first()
    account = _locked(row.account_id) if row else None
    if row is None or account is None:
        return
    counted = {} if tokens is None else {"tokens": tokens}
    KeyUse.objects.filter(pk=use).update(ended_at=timezone.now(), **counted)
    _ring(_pool(account, usable_keys(account)).next_calls())


def leave_line(call: str) -> None:
    """Have a turn wait no longer. Must run inside a transaction."""
    rows = KeyUse.objects.filter(call=call, started_at=None)
    accounts = list(rows.values_list("account", flat=True))
    rows.delete()
    for account_id in accounts:
        account = _locked(account_id)
        if account is not None:
            _ring(_pool(account, usable_keys(account)).next_calls())


def _locked(account_id: int) -> ProviderConfig | None:
    return ProviderConfig.objects.select_for_update(of=("self",)).filter(pk=account_id).first()


def _forget_old(account: ProviderConfig, call: str) -> None:
    now = timezone.now()
    ended = Q(started_at__lt=now - MINUTE) & (Q(ended_at__isnull=False) | Q(alive_until__lt=now))
    # What runs under this name is of a worker that has died: a turn makes one call at a time.
    own = Q(call=call, started_at__isnull=False, ended_at=None)
    lost = Q(alive_until__lt=now - _FORGOTTEN, started_at=None)
    KeyUse.objects.filter(ended | lost, account=account).delete()
    KeyUse.objects.filter(own, account=account).update(ended_at=now)


def _pool(account: ProviderConfig, keys: Sequence[Credential]) -> KeyPool:
    uses = KeyUse.objects.filter(account=account)
    return KeyPool(
        [Key(key.pk, key.used_at, key.max_calls, key.tokens_per_minute) for key in keys],
        [
            Use(
                use.pk,
                use.call,
                use.credential_id,
                use.tokens,
                use.started_at,
                use.ended_at,
                use.alive_until,
                use.asker,
                use.turn,
            )
            for use in uses
        ],
        timezone.now(),
    )


def _with(
    request: FundedRequest, model: AccountModel, key: Credential, *, others: int, use: int | None
) -> FundedRequest:
    if key.pk != model.credential_id:
        model = with_credential(model, open_credential(key, name=model.provider_name))
    return replace(request, model=replace(model, others=others, use=use))


def _ring(calls: Sequence[str]) -> None:
    if calls:
        transaction.on_commit(partial(ring_for, calls))
