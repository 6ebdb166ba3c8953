"""Fetch one ref of the project's remote repository into the store.

As a push it runs outside the sandbox with the server's own config, so nothing that an agent could
write sees the credential or decides where it goes.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from django.conf import settings

from opencode_web.lib.outbound import FetchError
from opencode_web.lib.reasons import english
from sessions.checkouts.repository import CheckoutError, Repository
from sessions.events.checkout_reasons import CheckoutReason as Why
from sessions.forges.adapter import ForgeError
from sessions.forges.api import require_safe
from sessions.git.clone_address import AddressRefused, Pin, pin_address
from sessions.git.clone_errors import explain_failure
from sessions.git.remote_command import remote_git
from sessions.git.url import authorization


@dataclass(frozen=True)
class Remote:
    """Where to fetch from; `credential` gives the project's own, `user:token`, or nothing."""

    url: str
    credential: Callable[[], Awaitable[str]] = field(repr=False)


async def fetch(store: Repository, remote: Remote, ref: str, *, keep_as: str) -> None:
    """Fetch a ref as `keep_as`, without tags. Raises: CheckoutError."""
    try:
        credential = await remote.credential()
    except ForgeError as exc:
        raise CheckoutError(english(exc.told)) from exc
    pin = await pin_remote(remote.url, secret=bool(credential))
    auth = authorization(remote.url, credential) if credential else {}
    options = (
        "--quiet",
        "--no-tags",
        "--force",
        "--no-write-fetch-head",
        "--no-recurse-submodules",
    )
    try:
        async with remote_git(
            *(f"--git-dir={store.git_dir}", "fetch", *options),
            *("--", remote.url, f"{ref}:{keep_as}"),
            cwd=store.git_dir,
            pin=pin,
            config=auth,
        ) as process:
            _, complaint = await process.communicate()
    except TimeoutError as exc:
        minutes = settings.CLONE_TIMEOUT_S // 60
        raise CheckoutError(Why.FETCH_STOPPED, minutes=minutes) from exc
    if process.returncode:
        text = complaint.decode("utf-8", "replace")
        told = explain_failure(text, had_credential=bool(credential))
        raise CheckoutError(told.replace("The clone", "The fetch"))


async def pin_remote(url: str, *, secret: bool) -> Pin:
    """Look the address up once, so that it cannot change. `secret`: a stored credential goes there.

    Raises: CheckoutError for one that must not be reached, or not with a secret.
    """
    try:
        if secret:
            await require_safe(url)
        return await pin_address(url)
    except AddressRefused as exc:
        raise CheckoutError(str(exc)) from exc
    except FetchError as exc:
        raise CheckoutError(Why.TOKEN_NOT_SENT, why=str(exc)) from exc
