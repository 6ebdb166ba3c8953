"""Service accounts of a team, for its admins."""

from __future__ import annotations

from django.db.models import Exists, OuterRef
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from teams.actions.services import (
    access_service,
    create_service,
    create_service_token,
    delete_service,
    revoke_service_token,
    update_service,
)
from teams.forms import ServiceForm, ServiceTokenForm
from teams.http import TeamRequest, attempt, changed_fields, client_ip, done, team_view
from teams.models import ApiToken, Membership, Role, Scope


@require_http_methods(["GET", "POST"])
@team_view(need=Role.ADMIN)
def services(request: TeamRequest) -> HttpResponse:
    """List them, or make one."""
    data = request.POST if request.method == "POST" else None
    form = ServiceForm(data, role=request.access.role, initial={"role": Role.MEMBER.value})
    made = None
    if data is not None:
        made = attempt(
            form,
            lambda: create_service(
                request.access,
                name=form.cleaned_data["name"],
                role=form.cleaned_data["role"],
                ip=client_ip(request),
            ),
        )
    if made is not None:
        return done(
            request,
            _("%(name)s created. Create a token for it next.") % {"name": made.user.name},
            to=_url(request, made),
        )
    rows = request.team.memberships.filter(user__service_of=request.team).select_related("user")
    left = ApiToken.objects.live().filter(user=OuterRef("user")).of_leavers()
    rows = rows.annotate(of_leaver=Exists(left))
    context = {"form": form, "rows": rows.order_by("user__name", "pk")}
    return render(request, "teams/services.html", context, status=422 if data is not None else 200)


@require_http_methods(["GET", "POST"])
@team_view(need=Role.ADMIN)
def service(request: TeamRequest, *, service: int) -> HttpResponse:
    """Read its tokens, or change its name and role."""
    row = access_service(request.access, service)
    if request.method != "POST":
        return _show(request, row)
    form = ServiceForm(request.POST, role=request.access.role)
    saved = attempt(
        form,
        lambda: update_service(
            request.access,
            row,
            ip=client_ip(request),
            **changed_fields(form),
        ),
    )
    if saved is None:
        return _show(request, row, form=form, status=422)
    return done(request, _("%(name)s saved.") % {"name": saved.user.name}, to=_url(request, row))


@require_POST
@team_view(need=Role.ADMIN)
def service_enabled(request: TeamRequest, *, service: int) -> HttpResponse:
    """Switch it on, or off."""
    row = access_service(request.access, service)
    on = request.POST.get("enabled") == "1"
    update_service(request.access, row, enabled=on, ip=client_ip(request))
    said = (
        _("%(name)s turned on. Its tokens work again.")
        if on
        else _("%(name)s turned off. Its tokens no longer work.")
    )
    return done(request, said % {"name": row.user.name}, to=_url(request, row))


@require_POST
@never_cache
@team_view(need=Role.ADMIN)
def service_token(request: TeamRequest, *, service: int) -> HttpResponse:
    """Make a token, and show it on this very page."""
    row = access_service(request.access, service)
    form = ServiceTokenForm(request.POST)
    made = attempt(
        form,
        lambda: create_service_token(
            request.access,
            row,
            name=form.cleaned_data["name"],
            scope=Scope(form.cleaned_data["scope"]),
            expires_at=form.expires_at,
            ip=client_ip(request),
        ),
    )
    if made is None:
        return _show(request, row, token_form=form, status=422)
    # Not by redirect: the secret would have to wait in a cookie or in the database meanwhile.
    return _show(request, row, secret=made[1])


@require_POST
@team_view(need=Role.ADMIN)
def service_revoke(request: TeamRequest, *, service: int, token: str) -> HttpResponse:
    row = access_service(request.access, service)
    revoke_service_token(request.access, row, token, ip=client_ip(request))
    return done(request, _("Token revoked."), to=_url(request, row))


@require_http_methods(["GET", "POST"])
@team_view(need=Role.ADMIN)
def service_delete(request: TeamRequest, *, service: int) -> HttpResponse:
    row = access_service(request.access, service)
    if request.method == "POST":
        delete_service(request.access, row, ip=client_ip(request))
        url = reverse("teams:services", args=[request.team.slug])
        return done(request, _("%(name)s deleted.") % {"name": row.user.name}, to=url)
    context = {
        "title": _("Delete %(name)s?") % {"name": row.user.name},
        "text": _(
            "Its tokens stop working immediately, and its schedules fail. Its sessions are kept."
        ),
        "action": _("Delete"),
        "back": _url(request, row),
    }
    return render(request, "teams/confirm.html", context)


def _show(
    request: TeamRequest,
    row: Membership,
    *,
    form: ServiceForm | None = None,
    token_form: ServiceTokenForm | None = None,
    secret: str = "",
    status: int = 200,
) -> HttpResponse:
    known = {"name": row.user.name, "role": row.role}
    tokens = ApiToken.objects.filter(user=row.user, revoked_at=None).select_related("made_by")
    context = {
        "row": row,
        "form": form or ServiceForm(role=request.access.role, initial=known),
        "token_form": token_form or ServiceTokenForm(),
        "tokens": tokens.order_by("-created_at"),
        "of_leavers": set(tokens.live().of_leavers().values_list("pk", flat=True)),
        "secret": secret,
    }
    return render(request, "teams/service.html", context, status=status)


def _url(request: TeamRequest, row: Membership) -> str:
    return reverse("teams:service", args=[request.team.slug, row.user_id])
