"""`/metrics`: what this process measured, and what the rows say about the work of all processes.

With Redis the workers are processes of their own: each serves what it measured on METRICS_PORT.
"""

from __future__ import annotations

from django.conf import settings
from django.db.models import Count, Min, Q
from django.db.models.functions import Now
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from opencode_web.lib.days import age_s
from opencode_web.lib.errors import AppError, Forbidden
from opencode_web.lib.metrics import CONTENT_TYPE, Gauge, exposition
from providers.condition import provider_gauges
from sessions.api.auth import authenticate
from sessions.models import PermissionRequest, Run, Session, SessionInput, State
from sessions.runner.log.lease import runnable_sessions
from teams.access import is_operator
from teams.models import Scope
from teams.policy import require_instance_policy


@require_safe
@never_cache
def metrics(request: HttpRequest) -> HttpResponse:
    """For operators, and for whoever has the token of METRICS_TOKEN."""
    try:
        require_operator(request)
    except AppError as exc:
        return HttpResponse(f"{exc.message}\n", status=exc.status, content_type="text/plain")
    return HttpResponse(exposition(_gauges()), content_type=CONTENT_TYPE)


def require_operator(request: HttpRequest) -> None:
    """Raises: AppError for everybody else than operators and the holder of METRICS_TOKEN."""
    given = request.headers.get("Authorization", "")
    wanted = f"Bearer {settings.METRICS_TOKEN}"
    if settings.METRICS_TOKEN and constant_time_compare(given, wanted):
        return
    principal = authenticate(request)
    principal.require(Scope.ADMIN)
    if not is_operator(principal.user):
        raise Forbidden("Only operators can read the metrics of this server.")
    require_instance_policy(principal.user)


def _gauges() -> list[Gauge]:
    """Nine queries over partial indexes, whatever the sessions' number and length."""
    now = timezone.now()
    states: dict[tuple[str, ...], float] = {(State.BUSY,): 0, (State.WAITING,): 0}
    for state, count in (
        Session.objects.exclude(state=State.IDLE).values_list("state").annotate(Count("pk"))
    ):
        states[(state,)] = count
    live = Count("pk", filter=Q(lease_until__gte=Now()))
    leases = Run.objects.exclude(lease_until=None).aggregate(live=live, all=Count("pk"))
    waiting = SessionInput.objects.filter(status=SessionInput.Status.ADMITTED).aggregate(
        count=Count("pk"), oldest=Min("created_at")
    )
    asked = PermissionRequest.objects.pending().aggregate(
        count=Count("pk"), oldest=Min("created_at")
    )
    runnable = [session for session, _ in runnable_sessions()]
    since = Session.objects.filter(pk__in=runnable).aggregate(oldest=Min("state_since"))["oldest"]
    return [
        Gauge("sessions", "Sessions that are not idle.", ("state",), states),
        Gauge(
            "leases",
            "Leases on sessions; an expired one is of a worker that died.",
            ("state",),
            {("live",): leases["live"], ("expired",): leases["all"] - leases["live"]},
        ),
        _single("runnable_sessions", "Sessions that wait for a worker.", len(runnable)),
        _single(
            "queue_age_seconds", "How long the oldest of them has been due.", age_s(since, now)
        ),
        _single("inputs", "Prompts that were admitted and not yet taken up.", waiting["count"]),
        _single("input_age_seconds", "Age of the oldest of them.", age_s(waiting["oldest"], now)),
        _single("requests", "Requests that wait for a person.", asked["count"]),
        _single("request_age_seconds", "Age of the oldest of them.", age_s(asked["oldest"], now)),
        *provider_gauges(),
    ]


def _single(name: str, help: str, value: float) -> Gauge:
    return Gauge(name, help, (), {(): value})
