"""Push a checkout's branch to where the project was cloned from.

It is pushed from the store, whose config is the server's own, so nothing that an agent could write
sees the credential or decides where it goes.
"""

from __future__ import annotations

import asyncio

from django.conf import settings

from opencode_web.lib.crypto import DecryptionError, decrypt
from sessions.checkouts.making import known_commits
from sessions.checkouts.repository import CheckoutError
from sessions.checkouts.work import Repositories
from sessions.clone_address import AddressRefused, pin_address
from sessions.clone_errors import explain_failure
from sessions.git import git_environment
from sessions.git_url import authorization
from tools.sandbox.process import kill_group

_KEPT_BYTES = 8192


async def push(
    repositories: Repositories, *, url: str, branch: str, sealed_credential: str
) -> None:
    """Push what is committed as `branch`, never by force. Raises: CheckoutError."""
    store, checkout = repositories.store, repositories.checkout
    head = await checkout.find("HEAD")
    if head is None:
        raise CheckoutError("The session's branch has no commit.")
    await checkout.send(head, store, known=await known_commits(store))
    try:
        credential = decrypt(sealed_credential) if sealed_credential else ""
        pin = await pin_address(url)
    except DecryptionError as exc:
        raise CheckoutError("The worker has another SECRET_KEY than the web server.") from exc
    except AddressRefused as exc:
        raise CheckoutError(str(exc)) from exc
    config = {**(authorization(url, credential) if credential else {}), **pin.config}
    process = await asyncio.create_subprocess_exec(
        *("git", f"--git-dir={store.git_dir}", "push", "--porcelain", "--no-verify"),
        *("--", url, f"{head}:refs/heads/{branch}"),
        cwd=store.git_dir,
        env=git_environment(config, ssh_options=pin.ssh_options),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(settings.CLONE_TIMEOUT_S):
            said, complaint = await process.communicate()
    except TimeoutError as exc:
        minutes = settings.CLONE_TIMEOUT_S // 60
        raise CheckoutError(f"The push was stopped after {minutes} minutes.") from exc
    finally:
        if process.returncode is None:
            kill_group(process)
            await asyncio.shield(asyncio.ensure_future(process.communicate()))
    if process.returncode:
        raise CheckoutError(_explain(said, complaint, had_credential=bool(credential)))


def _explain(said: bytes, complaint: bytes, *, had_credential: bool) -> str:
    text = said[-_KEPT_BYTES:].decode("utf-8", "replace")
    if "[rejected]" in text:
        return (
            "The other side has commits on this branch that are not here. Have the session bring "
            "them in, then push again."
        )
    if "[remote rejected]" in text:
        reason = text.partition("[remote rejected]")[2].splitlines()[0].strip()[:200]
        return f"The other side does not take it: {reason}"
    error = complaint[-_KEPT_BYTES:].decode("utf-8", "replace")
    return explain_failure(error, had_credential=had_credential).replace("The clone", "The push")
