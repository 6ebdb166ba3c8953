"""Signing in at a provider, from a browser or a client of the API.

    begin ─▶ SignInAttempt ─▶ advance, again and again   (a code is entered at the provider)
                           └▶ finish, with what the person brings back

The caller has found out that the person may set up accounts of the holder. Each function asks the
provider over guarded connections and must not be called on an event loop, nor in a transaction.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import TypeVar

from django.conf import settings
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from opencode_web.lib.crypto import DecryptionError
from opencode_web.lib.errors import Invalid, NotFound, TooManyRequests
from opencode_web.lib.json import JsonObject
from opencode_web.lib.outside import asking
from opencode_web.lib.public_url import site_origin
from providers.actions.sign_ins import (
    cancel_attempt,
    check_host,
    claim_step,
    complete_attempt,
    create_attempt,
    fail_attempt,
    forget_sign_in,
    wait_on,
)
from providers.catalog import known_provider
from providers.grants import open_grant
from providers.listings import refresh_listing
from providers.llm.secret import Secret
from providers.llm.sign_in import Grant, Http, Pending, errors, methods_of, sign_in_of
from providers.llm.sign_in.oauth import BY_ADDRESS, BY_RETURN
from providers.models import Credential, SignInAttempt
from providers.transport import one_time_pool
from teams.models import OwnAccounts, Team, User

logger = logging.getLogger(__name__)
T = TypeVar("T")

OWN_NOT_ALLOWED = gettext_noop(
    "This team does not allow members to use their own accounts. An admin can change "
    "this under Team settings → Models."
)
_NOT_OFFERED = gettext_noop(
    "{provider} does not support this way to sign in. Set an API key instead."
)


def begin_sign_in(
    holder: Team | User | None,
    provider_id: str,
    method: str,
    inputs: Mapping[str, str],
    *,
    actor: User,
    redirect_uri: str = "",
) -> SignInAttempt:
    """Begin to sign in for an account of `holder`; None is the instance.

    `redirect_uri` is where this server takes a browser back, for providers that know it.

    Raises: NotFound for a provider that is not in the catalog; Invalid for a method that it does
    not have, for answers that cannot be used, and when the provider does not begin;
    TooManyRequests.
    """
    sign_in = sign_in_of(provider_id)
    if known_provider(provider_id) is None:
        raise NotFound("Provider", provider_id)
    if sign_in is None:
        raise Invalid(_(_NOT_OFFERED).format(provider=provider_id))
    try:
        given = sign_in.method(method).checked(inputs)
        check_host(holder, Grant(Secret(""), connection=given))
        with asking(actor.pk):
            begun = _ask(
                lambda http: sign_in.begin(method, inputs, http, redirect_uri=redirect_uri)
            )
    except errors.BadInput as exc:
        field, fault = exc.first
        raise Invalid(_(fault), field=field) from exc
    except errors.SignInError as exc:
        raise Invalid(_(exc.message)) from exc
    return create_attempt(holder, provider_id=provider_id, method=method, begun=begun, actor=actor)


def advance_sign_in(attempt: SignInAttempt, *, ip: str | None = None) -> SignInAttempt:
    """Ask the provider whether the person is done, if that is due.

    Returns: the attempt as it is now. A fault of the provider leaves it pending.
    """
    sign_in = sign_in_of(attempt.provider_id)
    if sign_in is None or _is_over(attempt) or attempt.interval_s <= 0:
        return _fresh(attempt)
    with suppress(TooManyRequests), asking(attempt.started_by_id):
        state = _claimed(attempt)
        if state is not None:
            _step(attempt, lambda http: sign_in.poll(state, http, datetime.now(UTC)), ip=ip)
    return _fresh(attempt)


def finish_sign_in(attempt: SignInAttempt, pasted: str, *, ip: str | None = None) -> SignInAttempt:
    """Finish with the address or the code that the person brings back.

    Returns: the attempt as it is now: complete, or failed with its reason.
    Raises: Invalid for what is not of this attempt, which then goes on; TooManyRequests.
    """
    sign_in = sign_in_of(attempt.provider_id)
    if sign_in is None or _is_over(attempt):
        return _fresh(attempt)
    with asking(attempt.started_by_id):
        state = _claimed(attempt)
        if state is not None:
            _step(attempt, lambda http: sign_in.finish(state, pasted, http), ip=ip)
    return _fresh(attempt)


def cancel_sign_in(attempt: SignInAttempt) -> None:
    """Give an attempt up; what the person then does at the provider comes to nothing."""
    cancel_attempt(attempt)


def sign_out(credential: Credential, *, actor: User, ip: str | None = None) -> bool:
    """Delete a sign-in here, and have its provider forget it.

    Returns: whether the provider was told; what is stored here is gone in any case.
    Raises: TooManyRequests; then nothing has happened.
    """
    with asking(actor.pk):
        return _sign_out(credential, actor=actor, ip=ip)


def _sign_out(credential: Credential, *, actor: User, ip: str | None) -> bool:
    sign_in = sign_in_of(credential.provider.provider_id)
    try:
        grant = open_grant(credential.secret)
    except DecryptionError:
        grant = None  # nobody can read it any more
    forget_sign_in(credential, actor=actor, ip=ip)
    if sign_in is None or grant is None:
        return False
    held = grant
    try:
        _ask(lambda http: sign_in.revoke(held, http))
    except errors.SignInError as exc:
        logger.info("sign-out not told: provider=%s %s", sign_in.provider_id, type(exc).__name__)
        return False
    return not sign_in.revoke_page


def may_use_own(team: Team) -> bool:
    """Whether people can use accounts of their own at providers that the team has not set up."""
    return team.own_accounts == OwnAccounts.ANY


def key_grant(provider_id: str, key: str, inputs: Mapping[str, str]) -> Grant | None:
    """Returns: the grant that a pasted key is, where it has to be exchanged before each use.

    None where the key itself is what calls are made with.
    Raises: Invalid for answers that cannot be used.
    """
    sign_in = sign_in_of(provider_id)
    method = next((one for one in methods_of(provider_id) if one.kind == "key"), None)
    if sign_in is None or method is None:
        return None
    try:
        grant = sign_in.with_key(method.id, inputs, key)
    except errors.BadInput as exc:
        if not inputs:
            return None  # what it asks for may be known already
        field, fault = exc.first
        raise Invalid(_(fault), field=field) from exc
    return grant if grant.expires_at is not None else None


def return_uri() -> str:
    """Returns: where this server takes a browser back from a provider that knows this server."""
    return site_origin() + reverse("sign_in_return")


def instructions_of(attempt: SignInAttempt) -> str:
    """Returns: what the person has to do, with the code that is to be entered."""
    if attempt.user_code:
        return _("Enter code: {code}").format(code=attempt.user_code)
    return _(BY_RETURN if attempt.redirect_uri == return_uri() else BY_ADDRESS)


def fault_text(attempt: SignInAttempt) -> str:
    """Returns: what a person reads about an attempt that has failed."""
    found = getattr(errors, attempt.fault, errors.SignInError)
    return _(found.standard)


def _step(
    attempt: SignInAttempt,
    ask: Callable[[Http], Awaitable[Grant | Pending]],
    *,
    ip: str | None,
) -> None:
    """Raises: Invalid for what does not end the attempt but is to be told."""
    try:
        outcome = _ask(ask)
    except errors.BadCode as exc:
        wait_on(attempt)
        raise Invalid(_(exc.message)) from exc
    except errors.Unavailable:
        # A device code stays good: the next step asks again.
        wait_on(attempt, None)
        if attempt.interval_s <= 0:
            raise Invalid(_(errors.Unavailable.standard)) from None
    except errors.SignInError as exc:
        fail_attempt(attempt, type(exc).__name__)
    else:
        if isinstance(outcome, Pending):
            wait_on(attempt, outcome)
        else:
            refresh_listing(complete_attempt(attempt, outcome, ip=ip))


def _claimed(attempt: SignInAttempt) -> JsonObject | None:
    try:
        return claim_step(attempt)
    except DecryptionError:
        fail_attempt(attempt, errors.Expired.__name__)
        return None


def _is_over(attempt: SignInAttempt) -> bool:
    if attempt.status == SignInAttempt.Status.PENDING and attempt.expires_at <= timezone.now():
        fail_attempt(attempt, errors.Expired.__name__)
        return True
    return attempt.status != SignInAttempt.Status.PENDING


def _fresh(attempt: SignInAttempt) -> SignInAttempt:
    return SignInAttempt.objects.select_related("team", "owner", "started_by").get(pk=attempt.pk)


def _ask(work: Callable[[Http], Awaitable[T]]) -> T:
    async def ask() -> T:
        async with one_time_pool() as pool:
            return await work(Http(pool, user_agent=f"opencode-web/{settings.VERSION}"))

    return asyncio.run(ask())
