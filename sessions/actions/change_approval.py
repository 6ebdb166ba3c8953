"""Approve a change that somebody has asked for. That makes it, in the same transaction."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from opencode_web.lib.approval import Approval, approving
from opencode_web.lib.crypto import DecryptionError, decrypt
from opencode_web.lib.errors import AppError, Conflict, Forbidden, NotFound
from providers.access import access_provider
from providers.actions import delete_provider, replace_picked
from sessions.access import ProjectAccess, access_project, access_session
from sessions.actions.budget_limits import put_limit, remove_limit
from sessions.actions.budgets import set_budgets
from sessions.actions.change_requests import end_request, lock_pending, set_approvals
from sessions.actions.checkouts import request_job
from sessions.actions.held_settings import with_rules
from sessions.actions.mcp_programs import accept_mcp_program
from sessions.actions.secrets import remove_secret, set_secret
from sessions.actions.settings import update_project_settings, update_team_settings
from sessions.actions.team_plugins import trust_team_plugin
from sessions.actions.team_secrets import remove_team_secret, set_team_secret
from sessions.actions.trust import trust_repository
from sessions.approvals.hold import NoLongerFits
from sessions.approvals.people import require_decider
from sessions.models import ChangeKind, ChangeRequest, Checkout, Project
from teams.access import TeamAccess, access_team
from teams.audit import AuditAction
from teams.auth import ALL_SCOPES, Principal
from teams.budgets import Limit, Scope
from teams.models import Budget, Period, Role, Team

Status = ChangeRequest.Status


@dataclass(frozen=True)
class _Asked:
    """A request, and who has asked with the rights that they have now."""

    request: ChangeRequest
    team: TeamAccess

    @property
    def principal(self) -> Principal:
        return Principal(self.request.asker, self.team.team, ALL_SCOPES, via="token")

    def project(self) -> ProjectAccess:
        return access_project(
            self.principal, self.request.project_id or "", need=Role(self.request.need)
        )


@transaction.atomic
def approve_request(
    access: TeamAccess, request: ChangeRequest, *, note: str = "", ip: str | None = None
) -> ChangeRequest:
    """Make the change in the name of who has asked for it.

    Where it no longer fits, or they no longer may, nothing is changed and the request ends so.

    Raises: Forbidden for who may not decide; Conflict when it is decided; what the change itself
    raises where it could be made later, and the request goes on waiting.
    """
    row = lock_pending(request)
    require_decider(access, row)
    arguments = _arguments_of(row)
    approval = Approval(row.pk, row.what, row.fingerprint, access.user.email)
    try:
        # A savepoint: the change is undone, and that the request has failed is kept.
        with transaction.atomic():
            # Their role in a project is asked for with the project.
            need = None if row.project_id else Role(row.need)
            asker = access_team(row.asker, row.team_id, need=need)
            with approving(approval):
                _MADE_BY[row.what](_Asked(row, asker), arguments)
    except (NoLongerFits, NotFound, Forbidden) as exc:
        why = _why_not(exc)
        action, status = AuditAction.CHANGE_FAILED, Status.FAILED
        return end_request(row, status, action, by=access.user, note=why, ip=ip)
    action, status = AuditAction.CHANGE_APPROVED, Status.APPROVED
    return end_request(row, status, action, by=access.user, note=note, ip=ip)


def _arguments_of(row: ChangeRequest) -> dict[str, Any]:
    """Raises: Conflict where the server has lost the key."""
    try:
        arguments: dict[str, Any] = json.loads(decrypt(row.arguments))
    except DecryptionError as exc:
        said = _("The server can no longer read this request. Reject it and have it made again.")
        raise Conflict(said) from exc
    return arguments


def _why_not(exc: AppError) -> str:
    if isinstance(exc, NoLongerFits):
        return exc.message
    return _("The person who asked can no longer make this change: %(why)s") % {"why": exc.message}


# As `Change.arguments` were written, by the action of the same name.
_Arguments = Mapping[str, Any]


def _set_budgets(asked: _Asked, given: _Arguments) -> None:
    set_budgets(
        asked.team,
        team=_amount(given["team"]),
        each=_amount(given["each"]),
        members={int(one): _amount(amount) for one, amount in given["members"].items()},
        session=_amount(given["session"]),
        allows_unpriced=given["unpriced"],
        warn_percent=given["warn_percent"],
    )


def _set_budget(asked: _Asked, given: _Arguments) -> None:
    limit = Limit(
        Scope(given["scope"]),
        Period(given["period"]),
        given["is_soft"],
        given["user_id"],
        given["project"],
        # Requests of earlier versions name none.
        given.get("model", ""),
        given["warn_percent"],
    )
    amount = _amount(given["amount"])
    if amount is not None:
        put_limit(asked.team, limit, amount=amount)
        return
    row = Budget.objects.filter(team=asked.team.team, **limit.columns()).first()
    if row is None:
        raise NoLongerFits
    remove_limit(asked.team, row.pk)


def _set_team_rules(asked: _Asked, given: _Arguments) -> None:
    team = Team.objects.select_for_update().get(pk=asked.team.team.pk)
    update_team_settings(asked.team, with_rules(team.config, given["rules"]), replace=True)


def _set_project_rules(asked: _Asked, given: _Arguments) -> None:
    access = asked.project()
    project = Project.objects.select_for_update().get(pk=access.project.pk)
    update_project_settings(access, with_rules(project.config, given["rules"]), replace=True)


def _request_job(asked: _Asked, given: _Arguments, job: Checkout.Job) -> None:
    access = access_session(asked.principal, given["session"], need=Role.MEMBER)
    checkout = Checkout.objects.filter(pk=given["checkout"], project=access.project.pk).first()
    if checkout is None:
        raise NoLongerFits
    request_job(access, checkout, job, given["data"], sealed=given["sealed"])


def _set_team_prices(asked: _Asked, given: _Arguments) -> None:
    team = Team.objects.select_for_update().get(pk=asked.team.team.pk)
    update_team_settings(asked.team, {**team.config, **given}, replace=True)


def _set_project_prices(asked: _Asked, given: _Arguments) -> None:
    access = asked.project()
    project = Project.objects.select_for_update().get(pk=access.project.pk)
    update_project_settings(access, {**project.config, **given}, replace=True)


def _set_account_prices(asked: _Asked, given: _Arguments) -> None:
    row = access_provider(asked.team, given["provider"])
    if (picked := given["picked"]) is None:
        delete_provider(row, actor=asked.request.asker)
    else:
        replace_picked(row, actor=asked.request.asker, picked=picked)


def _amount(text: str | None) -> Decimal | None:
    return None if text is None else Decimal(text)


_MADE_BY: dict[str, Callable[[_Asked, _Arguments], object]] = {
    "account.delete": _set_account_prices,
    "approvals.set": lambda asked, given: set_approvals(
        asked.team, [ChangeKind(one) for one in given["kinds"]]
    ),
    "budget.set": _set_budget,
    "budgets.set": _set_budgets,
    "checkout.merge": lambda asked, given: _request_job(asked, given, Checkout.Job.MERGE),
    "checkout.push": lambda asked, given: _request_job(asked, given, Checkout.Job.PUSH),
    "checkout.request": lambda asked, given: _request_job(asked, given, Checkout.Job.REQUEST),
    "limits.project": lambda asked, given: update_project_settings(asked.project(), {**given}),
    "limits.team": lambda asked, given: update_team_settings(asked.team, {**given}),
    "prices.account": _set_account_prices,
    "prices.project": _set_project_prices,
    "prices.team": _set_team_prices,
    "rules.project": _set_project_rules,
    "rules.team": _set_team_rules,
    "secret.remove": lambda asked, given: remove_secret(asked.project(), **given),
    "secret.set": lambda asked, given: set_secret(asked.project(), **given),
    "team_secret.remove": lambda asked, given: remove_team_secret(asked.team, **given),
    "trust.program": lambda asked, given: accept_mcp_program(asked.project(), **given),
    "trust.plugin": lambda asked, given: trust_team_plugin(asked.team, **given),
    "trust.repository": lambda asked, given: trust_repository(asked.project(), **given),
    "team_secret.set": lambda asked, given: set_team_secret(asked.team, **given),
}
