"""Open a pull request of what was pushed, and look at those that are open. On the network."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from datetime import timedelta

from django.utils import timezone
from django.utils.translation import gettext_noop

from opencode_web.lib.db import in_db
from opencode_web.lib.reasons import Cause, Told, english, stored
from sessions.events.checkout_reasons import CheckoutReason as Why
from sessions.events.live import publish_row
from sessions.forges.adapter import AlreadyOpen, Forge, ForgeError, Pull, PullState, Wanted
from sessions.models import Checkout, PullRequest
from sessions.publish_settings import forge_of, publishing_of

# Somebody waits for the page meanwhile.
_LOOK_S = 8.0
# What was seen within this time is not asked for again.
FRESH = timedelta(seconds=20)
_AT_ONCE = 3
# What lists and the header of its session show of it.
_SHOWN = ("title", "state", "checks", "check_counts")


async def open_request(checkout: Checkout, branch: str) -> Cause:
    """Open the one that is asked for; when the branch has an open one already, that is it.

    Returns: what came of it, for people. Raises: ForgeError.
    """
    forge = forge_of(await in_db(publishing_of, checkout.project))
    data = checkout.job_data
    wanted = Wanted(
        title=str(data["title"]),
        body=str(data["body"]),
        head=branch,
        base=str(data["base"]),
        draft=bool(data["draft"]),
    )
    # First, because a worker may have opened it and died.
    found = await forge.find(branch)
    pull = found or await _create(forge, wanted)
    await in_db(_note_opened, checkout, branch, pull)
    return Cause(Why.PULL_THERE if found else Why.PULL_OPENED, {"number": pull.number})


async def _create(forge: Forge, wanted: Wanted) -> Pull:
    try:
        return await forge.create(wanted)
    except AlreadyOpen:
        found = await forge.find(wanted.head)
        if found is None:
            raise
        return found


async def refresh_requests(checkout: Checkout) -> None:
    """Look at the pull requests of a place again. What goes wrong is noted with each."""
    rows = await in_db(_stale_requests, checkout)
    if not rows:
        return
    try:
        forge = forge_of(await in_db(publishing_of, checkout.project))
    except ForgeError as exc:
        for row in rows:
            await in_db(_note_unseen, row, exc.told)
        return
    await asyncio.gather(*(_refresh(forge, row) for row in rows))


async def _refresh(forge: Forge, row: PullRequest) -> None:
    try:
        async with asyncio.timeout(_LOOK_S):
            pull = await forge.read(row.number)
    except TimeoutError:
        await in_db(_note_unseen, row, gettext_noop("The forge did not answer in time."))
        return
    except ForgeError as exc:
        await in_db(_note_unseen, row, exc.told)
        return
    if pull.url != row.url:
        # The project has moved: the same number is another pull request there.
        await in_db(
            _note_unseen, row, gettext_noop("It is on another forge than the project is now.")
        )
        return
    await in_db(_note_seen, row, pull)


def _note_opened(checkout: Checkout, branch: str, pull: Pull) -> PullRequest:
    """A pull request of a branch is there, whoever opened it."""
    row, _ = PullRequest.objects.update_or_create(
        project=checkout.project,
        url=pull.url,
        defaults={"branch": branch, **_seen(pull)},
        create_defaults={
            "branch": branch,
            # The project's own folder has no session: the form says which one asked.
            "session_id": checkout.session_id
            or str(checkout.job_data.get("session") or "")
            or None,
            "opened_by": checkout.job_by,
            **_seen(pull),
        },
    )
    if row.session:
        publish_row(row.session)
    return row


def _note_seen(row: PullRequest, pull: Pull) -> None:
    """How it stands now."""
    seen = _seen(pull)
    PullRequest.objects.filter(pk=row.pk).update(**seen)
    if row.session and any(getattr(row, name) != seen[name] for name in _SHOWN):
        publish_row(row.session)


def _note_unseen(row: PullRequest, told: Told) -> None:
    """It could not be looked at. What is known of it stays."""
    PullRequest.objects.filter(pk=row.pk).update(
        problem=english(told), cause=stored(told), looked_at=timezone.now()
    )


def _stale_requests(checkout: Checkout) -> list[PullRequest]:
    """Returns: a few that may have changed since they were looked at, the newest first."""
    rows = PullRequest.objects.filter(
        project=checkout.project_id, looked_at__lt=timezone.now() - FRESH
    ).exclude(state=PullState.MERGED)
    if checkout.session_id:
        rows = rows.filter(session=checkout.session_id)
    else:
        rows = rows.filter(session__folder="")
    return list(rows.select_related("session__project").order_by("-created_at")[:_AT_ONCE])


def _seen(pull: Pull) -> dict[str, object]:
    return {
        "number": pull.number,
        "title": pull.title,
        "base_branch": pull.base[:250],
        "state": pull.state.value,
        "checks": pull.checks.value,
        "check_counts": asdict(pull.counts),
        "looked_at": timezone.now(),
        "problem": "",
        "cause": {},
    }
