"""What waits, whom for, and since when."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Min, Q
from django.utils import timezone
from django.utils.translation import gettext as _

from opencode_web.lib.days import age_s
from opencode_web.ops.turns import TurnFilter, under_way
from sessions.models import (
    Checkout,
    PermissionRequest,
    Project,
    QuestionRequest,
    Schedule,
    SessionInput,
    WebhookDelivery,
)
from teams.models import UsageEntry

# Over how long a rate is taken, and what waits for longer than this is late.
RATE_S = 600
LATE_S = 30


@dataclass(frozen=True)
class Queue:
    """`oldest_s` is None where nothing waits. `rate` is what was done in the last ten minutes."""

    id: str
    label: str
    note: str
    depth: int
    oldest_s: float | None
    rate: int | None = None
    # Nobody is at fault when a person takes their time.
    for_people: bool = False

    @property
    def is_late(self) -> bool:
        return not self.for_people and self.oldest_s is not None and self.oldest_s > LATE_S


def load_queues() -> list[Queue]:
    """Nine queries, whatever waits."""
    now = timezone.now()
    return [*_of_hosts(now), *_of_server(now), *_of_people(now)]


def _of_hosts(now: datetime) -> Iterable[Queue]:
    """Sessions that are due for a worker, by the host that has their files."""
    due = under_way(TurnFilter.QUEUED, set()).values_list("project__host")
    waits = {
        host: (count, since) for host, count, since in due.annotate(Count("pk"), Min("state_since"))
    }
    hosts = dict(Project.objects.values_list("host").annotate(Count("pk")))
    done = _answers(now)
    for host in sorted({*hosts, *waits}):
        count, since = waits.get(host, (0, None))
        yield Queue(
            f"host-{host}",
            _("Sessions on %(host)s") % {"host": host},
            _("Model responses"),
            count,
            None if since is None else age_s(since, now),
            done[host],
        )


def _answers(now: datetime) -> Counter[str]:
    """Returns: answers of models in the last minutes, by the host of their project."""
    lately = UsageEntry.objects.filter(time__gte=now - timedelta(seconds=RATE_S))
    by_project = dict(lately.values_list("project").annotate(Count("pk")))
    rows = Project.objects.filter(pk__in=by_project).values_list("pk", "host")
    done: Counter[str] = Counter()
    for project, host in rows:
        done[host] += by_project[project]
    return done


def _of_server(now: datetime) -> Iterable[Queue]:
    jobs = Checkout.objects.exclude(job="").aggregate(count=Count("pk"), oldest=Min("job_at"))
    yield _queue("worktrees", _("Worktree jobs"), jobs, now)
    made = Project.objects.filter(status=Project.Status.PREPARING)
    clones = made.aggregate(count=Count("pk"), oldest=Min("created_at"))
    yield _queue("projects", _("Projects to prepare"), clones, now)
    schedules = Schedule.objects.filter(next_at__lte=now)
    due = schedules.aggregate(count=Count("pk"), oldest=Min("next_at"))
    yield _queue("schedules", _("Due schedules"), due, now)
    since = now - timedelta(seconds=RATE_S)
    pending = Q(state=WebhookDelivery.State.PENDING, next_at__lte=now)
    sent = Q(state=WebhookDelivery.State.DELIVERED, attempted_at__gte=since)
    recent = WebhookDelivery.objects.filter(Q(state="pending") | Q(created_at__gte=since))
    hooks = recent.aggregate(
        count=Count("pk", filter=pending),
        oldest=Min("next_at", filter=pending),
        done=Count("pk", filter=sent),
    )
    yield _queue("webhooks", _("Webhook deliveries"), hooks, now)


def _of_people(now: datetime) -> Iterable[Queue]:
    inputs = SessionInput.objects.filter(status=SessionInput.Status.ADMITTED)
    found = inputs.aggregate(count=Count("pk"), oldest=Min("created_at"))
    yield _queue("inputs", _("Messages waiting to start"), found, now, for_people=True)
    found = PermissionRequest.objects.pending().aggregate(
        count=Count("pk"), oldest=Min("created_at")
    )
    yield _queue("permissions", _("Permission requests"), found, now, for_people=True)
    found = QuestionRequest.objects.pending().aggregate(count=Count("pk"), oldest=Min("created_at"))
    yield _queue("questions", _("Agent questions"), found, now, for_people=True)


def _queue(
    id: str,
    label: str,
    found: dict[str, object],
    now: datetime,
    *,
    for_people: bool = False,
) -> Queue:
    count, oldest, done = found["count"], found["oldest"], found.get("done")
    assert isinstance(count, int)
    assert oldest is None or isinstance(oldest, datetime)
    assert done is None or isinstance(done, int)
    note = _("delivered") if done is not None else ""
    oldest_s = None if oldest is None else age_s(oldest, now)
    return Queue(id, label, note, count, oldest_s, done, for_people)
