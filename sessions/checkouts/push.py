"""Push a checkout's branch to where the project was cloned from.

It is pushed from the store, whose config is the server's own, so nothing that an agent could write
sees the credential or decides where it goes.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable

from django.conf import settings

from opencode_web.lib.reasons import Cause
from sessions.checkouts.create import known_commits
from sessions.checkouts.fetch import pin_remote
from sessions.checkouts.operations import Repositories
from sessions.checkouts.repository import CheckoutError
from sessions.events.checkout_reasons import CheckoutReason as Why
from sessions.git.clone_errors import explain_failure, needs_sign_in
from sessions.git.remote_command import remote_git
from sessions.git.url import authorization

Report = Callable[[Cause], Awaitable[None]]

_KEPT_BYTES = 8192
_REPORT_EVERY_S = 0.5
_PROGRESS = re.compile(rb"(Counting|Compressing|Writing) objects:\s+(\d{1,3})%")
_PHASES = {
    b"Counting": Why.PUSH_COUNTING,
    b"Compressing": Why.PUSH_COMPRESSING,
    b"Writing": Why.PUSH_WRITING,
}


async def push(
    repositories: Repositories,
    *,
    url: str,
    branch: str,
    credential: str,
    head: str | None = None,
    stored: bool = False,
    report: Report | None = None,
) -> str:
    """Push `head`, or what is committed, as `branch`, never by force.

    `stored`: the credential is the project's own, and goes without TLS to hosts only that operators
    have listed.
    Returns: the commit. Raises: CheckoutError.
    """
    store, checkout = repositories.store, repositories.checkout
    head = head or await checkout.find("HEAD")
    if head is None:
        raise CheckoutError(Why.NO_COMMIT)
    await checkout.send(head, store, known=await known_commits(store))
    pin = await pin_remote(url, secret=stored and bool(credential))
    try:
        async with remote_git(
            *(f"--git-dir={store.git_dir}", "push", "--porcelain", "--progress", "--no-verify"),
            *("--", url, f"{head}:refs/heads/{branch}"),
            cwd=store.git_dir,
            pin=pin,
            config=authorization(url, credential) if credential else {},
            stdout=asyncio.subprocess.PIPE,
        ) as process:
            said, complaint = await _follow(process, report)
            await process.wait()
    except TimeoutError as exc:
        minutes = settings.CLONE_TIMEOUT_S // 60
        raise CheckoutError(Why.PUSH_STOPPED, minutes=minutes) from exc
    if process.returncode:
        raise _explain(said, complaint, had_credential=bool(credential))
    return head


async def _follow(
    process: asyncio.subprocess.Process, report: Report | None
) -> tuple[bytes, bytes]:
    """Returns: the last of what git said, and of what it complained of."""
    assert process.stdout is not None
    assert process.stderr is not None
    said, complaint = await asyncio.gather(
        _last(process.stdout, None), _last(process.stderr, report)
    )
    return said, complaint


async def _last(stream: asyncio.StreamReader, report: Report | None) -> bytes:
    kept, next_at = b"", 0.0
    while chunk := await stream.read(4096):
        kept = (kept + chunk)[-_KEPT_BYTES:]
        if report is None or time.monotonic() < next_at:
            continue
        if found := _PROGRESS.findall(kept):
            phase, percent = found[-1]
            await report(Cause(_PHASES[phase], {"percent": int(percent)}))
            next_at = time.monotonic() + _REPORT_EVERY_S
    return kept


def _explain(said: bytes, complaint: bytes, *, had_credential: bool) -> CheckoutError:
    text = said.decode("utf-8", "replace")
    if "[rejected]" in text:
        return CheckoutError(Why.PUSH_BEHIND)
    if "[remote rejected]" in text:
        reason = text.partition("[remote rejected]")[2].splitlines()[0].strip()[:200]
        return CheckoutError(Why.PUSH_REJECTED, why=re.sub("[^ -~]", "", reason))
    error = complaint.decode("utf-8", "replace")
    if not had_credential and needs_sign_in(error):
        return CheckoutError(Why.PUSH_SIGN_IN)
    told = explain_failure(error, had_credential=had_credential)
    return CheckoutError(told.replace("The clone", "The push"))
