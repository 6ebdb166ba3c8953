from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from opencode_web.ops.access import operator_view
from opencode_web.ops.health import examination, load_health
from opencode_web.ops.history import Span, load_history
from opencode_web.ops.overview import load_overview
from opencode_web.ops.queues import load_queues
from opencode_web.ops.turns import TurnFilter, load_turns
from opencode_web.ops.workers import load_processes
from teams.http import UserRequest, show


@require_GET
@never_cache
@operator_view
def overview(request: UserRequest) -> HttpResponse:
    context: dict[str, object] = {"overview": load_overview(request.user)}
    return show(request, "ops/overview.html", "ops/_overview.html", context)


@require_GET
@never_cache
@operator_view
def history(request: UserRequest) -> HttpResponse:
    """What the server did over a day, a week or a month."""
    asked = request.GET.get("range", "")
    span = Span(asked) if asked in set(Span) else Span.DAY
    return render(request, "ops/history.html", {"history": load_history(span)})


@require_GET
@never_cache
@operator_view
def workers(request: UserRequest) -> HttpResponse:
    context: dict[str, object] = {"processes": load_processes(request.user)}
    return show(request, "ops/workers.html", "ops/_workers.html", context)


@require_GET
@never_cache
@operator_view
def turns(request: UserRequest) -> HttpResponse:
    asked = request.GET.get("state", "")
    turn_filter = TurnFilter(asked) if asked in set(TurnFilter) else TurnFilter.ALL
    number = request.GET.get("page", "")
    page = load_turns(
        request.user,
        turn_filter,
        worker=request.GET.get("worker", "")[:120],
        number=int(number) if number.isdecimal() and len(number) < 9 else 1,
    )
    return show(request, "ops/turns.html", "ops/_turns.html", {"page": page})


@require_GET
@never_cache
@operator_view
def queues(request: UserRequest) -> HttpResponse:
    return show(request, "ops/queues.html", "ops/_queues.html", {"queues": load_queues()})


# Findings are made again after so long; who asks for new ones gets them after so short.
_FINDINGS_S, _AGAIN_S = 300, 5


@require_GET
@never_cache
@operator_view
def health(request: UserRequest) -> HttpResponse:
    return show(request, "ops/health.html", "ops/_health.html", {"health": load_health()})


@require_GET
@never_cache
@operator_view
def findings(request: UserRequest) -> HttpResponse:
    """What the doctor finds takes seconds, so the page of health brings it after itself."""
    at_most_s = _AGAIN_S if request.GET.get("again") == "1" else _FINDINGS_S
    context: dict[str, object] = {"diagnosis": examination.findings(at_most_s=at_most_s)}
    return show(request, "ops/findings.html", "ops/_findings.html", context)
