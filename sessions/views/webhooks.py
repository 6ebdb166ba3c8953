"""Webhooks of a team, for its admins: their addresses, and what was delivered."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from sessions.access import access_delivery, access_webhook
from sessions.actions.webhooks import (
    create_webhook,
    delete_webhook,
    ping_webhook,
    redeliver,
    rotate_secret,
    update_webhook,
)
from sessions.forms.webhooks import WebhookForm
from sessions.models import Webhook
from sessions.present.pages.webhooks import disabled_text, sent_line, webhook_line
from teams.http import TeamRequest, attempt, client_ip, done, team_view
from teams.models import Role

PAGE_SIZE = 30


@require_http_methods(["GET", "POST"])
@never_cache
@team_view(need=Role.ADMIN)
def webhooks(request: TeamRequest) -> HttpResponse:
    """List them, or make one, whose page then shows its secret."""
    if request.method != "POST":
        return _show_list(request, WebhookForm(team=request.team))
    form = WebhookForm(request.POST, team=request.team)
    ip = client_ip(request)
    made = attempt(form, lambda: create_webhook(request.access, **form.cleaned_data, ip=ip))
    if made is None:
        return _show_list(request, form, status=422)
    # Not by redirect: the secret would have to wait in a cookie or in the database meanwhile.
    return _show_one(request, made[0], secret=made[1])


@require_http_methods(["GET", "POST"])
@never_cache
@team_view(need=Role.ADMIN)
def webhook(request: TeamRequest, webhook: str) -> HttpResponse:
    """Read its log, or change it."""
    row = access_webhook(request.access, webhook)
    if request.method != "POST":
        return _show_one(request, row)
    form = WebhookForm(request.POST, team=request.team)
    ip = client_ip(request)
    saved = attempt(form, lambda: update_webhook(request.access, row, ip=ip, **form.cleaned_data))
    if saved is None:
        return _show_one(request, row, form=form, status=422)
    return done(request, _("Webhook saved."), to=_url(request, row))


@require_POST
@never_cache
@team_view(need=Role.ADMIN)
def webhook_secret(request: TeamRequest, webhook: str) -> HttpResponse:
    row = access_webhook(request.access, webhook)
    row, secret = rotate_secret(request.access, row, ip=client_ip(request))
    return _show_one(request, row, secret=secret)


@require_POST
@team_view(need=Role.ADMIN)
def webhook_enabled(request: TeamRequest, webhook: str) -> HttpResponse:
    """Switch it on, or off."""
    row = access_webhook(request.access, webhook)
    on = request.POST.get("enabled") == "1"
    update_webhook(request.access, row, enabled=on, ip=client_ip(request))
    said = _("Webhook turned on.") if on else _("Webhook turned off.")
    return done(request, said, to=_url(request, row))


@require_POST
@team_view(need=Role.ADMIN)
def webhook_ping(request: TeamRequest, webhook: str) -> HttpResponse:
    row = access_webhook(request.access, webhook)
    ping_webhook(request.access, row, ip=client_ip(request))
    return done(
        request, _("Test queued. The list of deliveries shows the result."), to=_url(request, row)
    )


@require_POST
@team_view(need=Role.ADMIN)
def webhook_redeliver(request: TeamRequest, webhook: str, delivery: str) -> HttpResponse:
    sent, row = access_delivery(request.access, webhook, delivery)
    redeliver(request.access, row, sent, ip=client_ip(request))
    return done(request, _("The delivery is sent again with the same ID."), to=_url(request, row))


@require_http_methods(["GET", "POST"])
@team_view(need=Role.ADMIN)
def webhook_delete(request: TeamRequest, webhook: str) -> HttpResponse:
    row = access_webhook(request.access, webhook)
    if request.method == "POST":
        delete_webhook(request.access, row, ip=client_ip(request))
        return done(request, _("Webhook deleted."), to=_list(request))
    context = {
        "title": _("Delete this webhook?"),
        "text": _(
            "%(host)s no longer receives events, and the list of deliveries is deleted. "
            "Waiting deliveries are not sent."
        )
        % {"host": row.host},
        "action": _("Delete"),
        "back": _url(request, row),
    }
    return render(request, "teams/confirm.html", context)


def _show_list(request: TeamRequest, form: WebhookForm, *, status: int = 200) -> HttpResponse:
    found = request.team.webhooks.select_related("project").order_by("created_at")
    rows = [webhook_line(row) for row in found]
    return render(request, "sessions/webhooks.html", {"form": form, "rows": rows}, status=status)


def _show_one(
    request: TeamRequest,
    row: Webhook,
    *,
    form: WebhookForm | None = None,
    secret: str = "",
    status: int = 200,
) -> HttpResponse:
    deliveries = row.deliveries.order_by("-pk")
    before = request.GET.get("before", "")
    if before:
        deliveries = deliveries.filter(pk__lt=before)
    shown = list(deliveries[: PAGE_SIZE + 1])
    context = {
        "row": row,
        "form": form or WebhookForm(team=request.team, row=row),
        "secret": secret,
        "deliveries": [sent_line(one) for one in shown[:PAGE_SIZE]],
        "disabled_reason": disabled_text(row),
        "older": shown[PAGE_SIZE - 1].pk if len(shown) > PAGE_SIZE else "",
        "is_first": not before,
    }
    return render(request, "sessions/webhook.html", context, status=status)


def _list(request: TeamRequest) -> str:
    return reverse("sessions:webhooks", kwargs={"team": request.team.slug})


def _url(request: TeamRequest, row: Webhook) -> str:
    return reverse("sessions:webhook", kwargs={"team": request.team.slug, "webhook": row.pk})
