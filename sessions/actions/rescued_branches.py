"""Request an operation on rescued work. Its session may be gone."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from opencode_web.lib.errors import Conflict, Invalid, NotFound
from opencode_web.lib.json import JsonObject
from sessions.access import ProjectAccess, checkouts_in
from sessions.actions.checkouts import in_use
from sessions.checkouts.names import is_branch_name
from sessions.models import Checkout
from sessions.retention.holds import holds_in_project
from sessions.wake import wake_checkout
from teams.access import require_role
from teams.audit import AuditAction, record
from teams.models import Role
from teams.retention.holds import refuse_held


def rescued_work(access: ProjectAccess) -> list[Checkout]:
    """Returns: the rescued work of a project, the newest first. One query."""
    rows = checkouts_in(access).filter(state=Checkout.State.RESCUED)
    return list(rows.select_related("session__owner").order_by("-created_at", "pk"))


def request_branch(access: ProjectAccess, checkout_id: str, *, name: str) -> Checkout:
    """Put rescued work on a new branch of the project. The rescue branch stays as well.

    Raises: Invalid for a name that git does not take; as `_request`.
    """
    require_role(access.team, Role.MEMBER)
    name = name.strip()
    if not is_branch_name(name):
        raise Invalid(_("This is not a valid branch name."), field="name")
    return _request(access, checkout_id, Checkout.Job.BRANCH, {"name": name})


def request_discard(access: ProjectAccess, checkout_id: str) -> Checkout:
    """Delete rescued work permanently.

    Raises: Forbidden below admin; Held while anything in the project is under a legal hold; as
    `_request`.
    """
    require_role(access.team, Role.ADMIN)
    refuse_held(holds_in_project(access.project))
    return _request(access, checkout_id, Checkout.Job.DISCARD, {})


@transaction.atomic
def _request(
    access: ProjectAccess, checkout_id: str, job: Checkout.Job, data: JsonObject
) -> Checkout:
    """Raises: NotFound; Conflict while something else is done with it."""
    checkout = checkouts_in(access).select_for_update().filter(pk=checkout_id).first()
    if checkout is None:
        raise NotFound("Rescued work", checkout_id)
    if checkout.job:
        raise Conflict(
            _("Another operation is in progress ({job}). Wait until it is done.").format(
                job=checkout.job
            )
        )
    if checkout.state != Checkout.State.RESCUED or in_use(checkout):
        raise Conflict(_("This work is no longer rescued: its session uses it again."))
    checkout.job, checkout.job_data = job, data
    checkout.job_by, checkout.job_at = access.principal.user, timezone.now()
    checkout.job_begun, checkout.job_failed = False, False
    checkout.job_detail, checkout.job_cause = "", {}
    checkout.save()
    record(
        AuditAction.CHECKOUT_BRANCHED
        if job == Checkout.Job.BRANCH
        else AuditAction.CHECKOUT_DISCARDED,
        actor=access.principal.user,
        team=access.team.team,
        target=access.project,
        data={"session": checkout.pk, "commit": checkout.rescued, **data},
    )
    wake_checkout(checkout.pk, access.project)
    return checkout
