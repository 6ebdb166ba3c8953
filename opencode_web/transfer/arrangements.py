"""What a team has set up for itself, there and back: schedules, budgets, approvals and the like.

Nothing of it runs after an import before somebody of the team says so, nor with anybody's rights.
"""

from __future__ import annotations

from collections.abc import Iterator

from opencode_web.lib.errors import Conflict, Invalid
from opencode_web.transfer.shapes import (
    ArrangementsShape,
    BudgetShape,
    RetentionShape,
    ScheduleShape,
    WebhookShape,
)
from sessions.actions.budget_limits import put_limit
from sessions.actions.change_requests import set_approvals
from sessions.actions.schedules import ScheduleDraft, import_schedule
from sessions.actions.webhooks import import_webhook
from sessions.models import ChangeKind, Project, Schedule, Webhook
from teams.access import TeamAccess
from teams.actions.identity import set_team_policy
from teams.actions.retention import set_retention
from teams.budgets import Limit
from teams.models import Budget, Period, RetentionPolicy, Team
from teams.retention.days import Days, chosen_days


def read_arrangements(team: Team, projects: set[str]) -> ArrangementsShape:
    """Returns: what the team has set up, for these of its projects."""
    schedules = Schedule.objects.filter(project__in=projects).select_related("author")
    webhooks = Webhook.objects.filter(team=team).order_by("created_at", "pk")
    budgets = Budget.objects.filter(team=team).order_by("pk")
    return ArrangementsShape(
        schedules=[
            ScheduleShape(
                project=row.project_id,
                name=row.name,
                prompt=row.prompt,
                cron=row.cron,
                timezone=row.timezone,
                agent=row.agent,
                model=row.model,
                author=row.author.display_name if row.author else "",
                created_at=row.created_at,
            )
            for row in schedules.order_by("created_at", "pk")
        ],
        webhooks=[
            WebhookShape(url=row.url, events=row.events, project=row.project_id or "")
            for row in webhooks
            if row.project_id is None or row.project_id in projects
        ],
        budgets=[
            BudgetShape(
                scope=row.scope,
                person=row.user_id,
                project=row.project,
                model=row.model,
                period=row.period,
                is_soft=row.is_soft,
                amount=row.amount,
                warn_percent=row.warn_percent,
            )
            for row in budgets
            if not row.project or row.project in projects
        ],
        allows_unpriced_models=team.allows_unpriced_models,
        needs_approval=[ChangeKind(one) for one in team.needs_approval],
        requires_mfa=team.requires_mfa,
        requires_sso=team.requires_sso,
        sso_provider=team.sso_provider,
        retention=_retention_of(team),
    )


def make_arrangements(
    access: TeamAccess,
    shape: ArrangementsShape,
    projects: dict[str, Project],
    people: dict[int, int],
) -> Iterator[str]:
    """Set it up in a new team that the caller owns. Needs a transaction.

    `people`: accounts here by their numbers in the archive. Yields: what was left out, and why.
    Raises: Invalid and Conflict for what no server has written; KeyError for an unknown project.
    """
    for one in shape.schedules:
        draft = ScheduleDraft(
            one.name, one.prompt, one.cron, one.timezone, agent=one.agent, model=one.model
        )
        project = projects[one.project]
        import_schedule(project, draft, author=one.author or "?", created_at=one.created_at)
    for hook in shape.webhooks:
        place = projects[hook.project] if hook.project else None
        try:
            import_webhook(access, url=hook.url, events=hook.events, project=place)
        except Invalid as exc:
            yield f"a webhook: {exc.message}"
    access.team.allows_unpriced_models = shape.allows_unpriced_models
    access.team.save(update_fields=["allows_unpriced_models"])
    for budget in shape.budgets:
        if budget.project:
            projects[budget.project]
        try:
            put_limit(access, _limit(budget, people), amount=budget.amount)
        except Invalid as exc:
            yield f"a budget of {budget.amount} USD: {exc.message}"
    if kept := shape.retention:
        try:
            set_retention(access, Days(kept.sessions, kept.outputs, kept.audit))
        except Invalid as exc:
            yield f"retention: {exc.message}"
    yield from _require_of_sign_ins(access, shape)
    # Last: from now on a second person is asked.
    for kind in shape.needs_approval:
        try:
            set_approvals(access, [*map(ChangeKind, access.team.needs_approval), kind])
        except Conflict as exc:
            yield f"an approval: {exc.message}"


def _retention_of(team: Team) -> RetentionShape | None:
    if not RetentionPolicy.objects.filter(team=team).exists():
        return None
    days = chosen_days(team)
    return RetentionShape(sessions=days.sessions, outputs=days.outputs, audit=days.audit)


def _require_of_sign_ins(access: TeamAccess, shape: ArrangementsShape) -> Iterator[str]:
    """Take over what can be met here: single sign-on only with a provider of the same name."""
    if not (shape.requires_mfa or shape.requires_sso):
        return
    provider = shape.sso_provider
    try:
        set_team_policy(access, mfa=shape.requires_mfa, sso=shape.requires_sso, provider=provider)
    except Invalid as exc:
        set_team_policy(access, mfa=shape.requires_mfa, sso=False)
        yield f"required single sign-on: {exc.message}"


def _limit(budget: BudgetShape, people: dict[int, int]) -> Limit:
    user_id = None if budget.person is None else people.get(budget.person, 0)
    return Limit(
        Budget.Scope(budget.scope),
        Period(budget.period),
        budget.is_soft,
        user_id,
        budget.project,
        budget.model,
        budget.warn_percent,
    )
