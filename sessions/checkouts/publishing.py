"""What the jobs of publishing do with the repositories of a place of work."""

from __future__ import annotations

from functools import partial

from opencode_web.lib.crypto import DecryptionError, decrypt
from opencode_web.lib.db import in_db
from sessions.checkouts import operations
from sessions.checkouts.branches import switch_branch
from sessions.checkouts.names import is_branch_name
from sessions.checkouts.operations import Looked, Repositories
from sessions.checkouts.push import push
from sessions.checkouts.repository import CheckoutError
from sessions.checkouts.rows import claim_branch, note_pushed, report_job
from sessions.checkouts.survey import Survey, survey
from sessions.models import Checkout
from sessions.publish_settings import publishing_of, push_credential

State = Checkout.State


async def switch(
    checkout: Checkout, repositories: Repositories, name: str, *, rename: bool
) -> None:
    """Go on on another branch. Raises: CheckoutError."""
    own = repositories.checkout
    before = checkout.branch
    if checkout.state != State.PROJECT:
        await in_db(claim_branch, checkout, name)
    try:
        # A worker may have done it and died.
        if await own.branch() != name:
            await switch_branch(own, repositories.project, name, rename=rename)
    except CheckoutError:
        if checkout.state != State.PROJECT:
            await in_db(claim_branch, checkout, before)
        raise


async def see(checkout: Checkout, repositories: Repositories) -> tuple[Looked, Survey]:
    """Look at a place of work. Raises: CheckoutError."""
    own = repositories.checkout
    if checkout.state == State.PROJECT:
        looked = await operations.look_alone(own)
    else:
        looked = await operations.look(repositories, checkout.base_branch)
    pushed = (checkout.pushed_branch, checkout.pushed_head)
    seen = await survey(
        own, repositories.project, head=looked.head, base=looked.base, pushed=pushed
    )
    return looked, seen


async def push_to(checkout: Checkout, repositories: Repositories, url: str, sealed: str) -> str:
    """Returns: the branch. Raises: CheckoutError; ForgeError."""
    branch = checkout.branch or await repositories.checkout.branch()
    if not is_branch_name(branch):
        raise CheckoutError("It is on no branch that could be pushed. Make a new branch first.")
    publishing = await in_db(publishing_of, checkout.project)
    try:
        given = decrypt(sealed) if sealed else ""
    except DecryptionError as exc:
        raise CheckoutError("The worker has another SECRET_KEY than the web server.") from exc
    own = "" if given else push_credential(publishing, url)
    head = await push(
        repositories,
        url=url,
        branch=branch,
        credential=given or own,
        stored=bool(own),
        report=partial(_report, checkout),
    )
    if url == publishing.url:
        await in_db(note_pushed, checkout, branch, head)
    return branch


async def _report(checkout: Checkout, detail: str) -> None:
    await in_db(report_job, checkout, detail)
