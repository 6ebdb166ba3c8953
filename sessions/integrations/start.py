"""Whether a rule starts a session for what has happened on a forge, in whose name, and with what.

Nobody is told on the forge why nothing was started: anybody can open an issue. The project's page
says it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta

from django.utils import timezone

from opencode_web.lib.db import in_db
from opencode_web.lib.reasons import Told
from sessions.forges.adapter import Forge, Pull, PullState, Thread
from sessions.forges.inbound import Heard
from sessions.forges.triggers import Trigger
from sessions.integrations.accounts import linked_person, usable_account
from sessions.integrations.matching import rule_for
from sessions.integrations.system import System
from sessions.integrations.systems import project_forge
from sessions.models import Checkout, InboundDelivery, IntegrationRule, PullRequest
from teams.models import User

_HOUR = timedelta(hours=1)
_OPEN = (PullState.OPEN, PullState.DRAFT)
Audience = IntegrationRule.Audience


class NotStarted(Exception):
    """No rule starts anything. `told` says why, to the project's admins."""

    def __init__(self, told: Told) -> None:
        super().__init__(told)
        self.told = told


@dataclass(frozen=True)
class Start:
    """What a rule starts: `user` runs it, for what was `heard`; `read_only` for a stranger."""

    rule: IntegrationRule
    user: User
    heard: Heard
    pull: Pull | None
    read_only: bool


async def find_start(row: InboundDelivery, heard: Heard, system: System) -> Start | None:
    """Returns: None for a comment that no rule is about, which counts as any other.

    Raises: NotStarted; ForgeError.
    """
    if not heard.trigger:
        return None
    rule = await in_db(rule_for, row.integration, heard)
    if rule is None:
        if heard.trigger == Trigger.REVIEW_COMMENT and not heard.is_bot:
            return None
        raise NotStarted("No rule of the project is about this.")
    await in_db(_require_room, row, rule)
    pull = None
    if heard.thread.is_pull:
        pull = await _pull_of(await in_db(project_forge, row.integration.project, system), heard)
    if pull is not None:
        await in_db(_require_of_others, row, heard, pull)
        if pull.is_fork and not rule.takes_forks:
            raise NotStarted("The rule does not allow pull requests from other repositories.")
        heard = _with_pull(heard, pull)
    user, is_stranger = await _whose(row, rule, heard, system)
    is_fork = pull is not None and pull.is_fork
    return Start(rule, user, heard, pull, read_only=is_stranger or is_fork)


def _require_room(row: InboundDelivery, rule: IntegrationRule) -> None:
    """Raises: NotStarted for what comes too often, and where something newer waits."""
    others = row.integration.deliveries.exclude(pk=row.pk)
    since = timezone.now() - _HOUR
    started = others.filter(rule=rule, received_at__gt=since).exclude(prompt_id="").count()
    if started >= rule.per_hour:
        raise NotStarted(f"The rule has reached its {rule.per_hour} starts an hour.")
    if rule.trigger == Trigger.PULL_PUSHED:
        newer = others.filter(thread=row.thread, state=InboundDelivery.State.WAITING, pk__gt=row.pk)
        if newer.filter(heard__trigger=Trigger.PULL_PUSHED).exists():
            raise NotStarted("More was pushed before this was handled.")


async def _pull_of(forge: Forge, heard: Heard) -> Pull:
    """Raises: NotStarted for what is of no open pull request; ForgeError."""
    number = heard.thread.number
    if not number:
        found = await forge.find(heard.branch) if heard.branch else None
        if found is None:
            raise NotStarted("The check is of a branch without an open pull request.")
        number = found.number
    pull = await forge.read(number)
    if pull.state not in _OPEN:
        raise NotStarted("The pull request is not open any more.")
    if heard.trigger == Trigger.CHECK_FAILED and heard.head != pull.head:
        raise NotStarted("The check is not of the pull request's newest commit.")
    return pull


def _require_of_others(row: InboundDelivery, heard: Heard, pull: Pull) -> None:
    """Raises: NotStarted for what this server has done itself, whoever's token it has."""
    project = row.integration.project
    if heard.trigger == Trigger.PULL_OPENED:
        own = PullRequest.objects.filter(project=project, number=pull.number)
        if own.exists():
            raise NotStarted("This server has opened the pull request.")
    if heard.trigger == Trigger.REVIEW_COMMENT:
        return
    pushed = {heard.head, pull.head} - {""}
    if Checkout.objects.filter(project=project, pushed_head__in=pushed).exists():
        raise NotStarted("This server has pushed the commit.")


def _with_pull(heard: Heard, pull: Pull) -> Heard:
    """What a check does not say of its pull request."""
    return replace(
        heard,
        thread=Thread(pull.number, is_pull=True),
        title=heard.title or pull.title,
        url=heard.url or pull.url,
    )


async def _whose(
    row: InboundDelivery, rule: IntegrationRule, heard: Heard, system: System
) -> tuple[User, bool]:
    """Returns: in whose name it runs, and whether a stranger has caused it.

    Raises: NotStarted for whom the rule does not allow; ForgeError.
    """
    team, host = row.integration.project.team, system.host
    is_check = heard.trigger == Trigger.CHECK_FAILED
    if heard.is_bot and not (rule.takes_bots or is_check):
        raise NotStarted("It was done by a bot, which the rule does not allow.")
    user = await in_db(linked_person, team, host=host, outside_id=heard.author_id)
    if user is not None and not heard.is_bot:
        return user, False
    account = await in_db(usable_account, rule.account, team)
    if account is None or rule.audience == Audience.LINKED:
        raise NotStarted("Nobody has linked the account to one on this server.")
    if not is_check and heard.author_id == await system.own_account():
        raise NotStarted("It was done with the project's own access token.")
    # Who could push the branch could push whatever is checked there.
    if is_check or await system.may_write(heard):
        return account, False
    if rule.audience == Audience.ANYBODY:
        return account, True
    if row.integration.is_tracker:
        raise NotStarted("The account is not a member of the workspace.")
    raise NotStarted("The account may not push to the repository.")
