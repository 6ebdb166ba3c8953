"""What the jobs of publishing do with the repositories of a place of work."""

from __future__ import annotations

from functools import partial

from opencode_web.lib.crypto import DecryptionError, decrypt
from opencode_web.lib.db import in_db
from opencode_web.lib.json import text_of
from opencode_web.lib.reasons import Cause
from sessions.checkouts import operations
from sessions.checkouts.names import is_branch_name
from sessions.checkouts.operations import Looked, Repositories
from sessions.checkouts.push import push
from sessions.checkouts.repository import CheckoutError, Repository
from sessions.checkouts.rows import claim_branch, note_pushed, report_job
from sessions.checkouts.survey import Survey, survey
from sessions.events.checkout_reasons import CheckoutReason as Why
from sessions.models import Checkout
from sessions.publish_settings import git_credential, publishing_of

State = Checkout.State
_NONE = "0" * 40


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
            await _switch_branch(own, repositories.project, name, rename=rename)
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
    branch = text_of(checkout.job_data, "branch") or checkout.branch
    branch = branch or await repositories.checkout.branch()
    if not is_branch_name(branch):
        raise CheckoutError(Why.NOTHING_TO_PUSH)
    publishing = await in_db(publishing_of, checkout.project)
    try:
        given = decrypt(sealed) if sealed else ""
    except DecryptionError as exc:
        raise CheckoutError(Why.OTHER_KEY) from exc
    own = "" if given else await git_credential(publishing, url, push=True)
    head = await push(
        repositories,
        head=await head_of(checkout, repositories),
        url=url,
        branch=branch,
        credential=given or own,
        stored=bool(own),
        report=partial(_report, checkout),
    )
    if url == publishing.url:
        await in_db(note_pushed, checkout, branch, head)
    return branch


async def head_of(checkout: Checkout, repositories: Repositories) -> str:
    """Returns: the commit that a job is about.

    Raises: CheckoutError where there is none, or another one was approved.
    """
    head = await repositories.checkout.find("HEAD")
    if head is None:
        raise CheckoutError(Why.NO_COMMIT)
    if checkout.job_data.get("approved", head) != head:
        raise CheckoutError(Why.MOVED_ON)
    return head


async def _report(checkout: Checkout, told: Cause) -> None:
    await in_db(report_job, checkout, told)


async def _switch_branch(own: Repository, project: Repository, name: str, *, rename: bool) -> None:
    """Begin a branch where the work is and go on there; with `rename` the one it was on ends.

    Not by `git branch`, which would write into a config that is covered.
    Raises: CheckoutError when there is such a branch, or one that its name would collide with.
    """
    head, before = await own.find("HEAD"), await own.branch()
    if head is None:
        raise CheckoutError(Why.NO_COMMIT_YET)
    if before == name:
        return
    if rename and not before:
        raise CheckoutError(Why.NOTHING_TO_RENAME)
    for repository in (own, project):
        for place in ("refs/heads", "refs/remotes/origin"):
            if await repository.find(f"{place}/{name}"):
                raise CheckoutError(Why.BRANCH_THERE, branch=name)
    none = _NONE if own.object_format == "sha1" else "0" * 64
    await own.ask("update-ref", f"refs/heads/{name}", head, none, writes=True)
    await own.ask("symbolic-ref", "HEAD", f"refs/heads/{name}", writes=True)
    if rename:
        await own.ask("update-ref", "-d", f"refs/heads/{before}", head, writes=True)
