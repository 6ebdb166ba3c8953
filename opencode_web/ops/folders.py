"""Which team may use which folder below the worktrees root."""

from __future__ import annotations

from pathlib import Path

from django import forms
from django.conf import settings
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from opencode_web.ops.access import access_folder, operator_view
from sessions.actions.folders import assign_folder
from sessions.git.project_folders import resolve_brought_folder
from sessions.models import TeamFolder
from teams.audit import MAX_REASON
from teams.http import UserRequest, attempt, client_ip, done, show
from teams.models import Team

_PER_PAGE = 100


class _ReassignForm(forms.Form):
    team = forms.ModelChoiceField(
        Team.objects.order_by("name", "pk"), label=gettext_lazy("Team"), empty_label=None
    )
    reason = forms.CharField(label=gettext_lazy("Reason"), max_length=MAX_REASON)


class _AssignForm(_ReassignForm):
    path = forms.CharField(
        label=gettext_lazy("Folder"),
        max_length=1000,
        widget=forms.TextInput(attrs={"spellcheck": "false", "autocomplete": "off"}),
    )
    field_order = ("path", "team", "reason")


@require_http_methods(["GET", "POST"])
@never_cache
@operator_view
def folders(request: UserRequest) -> HttpResponse:
    """List the folders of teams, and assign new ones."""
    form = _AssignForm(request.POST or None)
    if request.method != "POST":
        return _show(request, form)
    row = attempt(
        form,
        lambda: _assign(
            request,
            form,
            resolve_brought_folder(form.cleaned_data["path"], for_operator=True),
        ),
    )
    return _show(request, form, status=422) if row is None else _done(request, row)


@require_POST
@operator_view
def folder(request: UserRequest, folder: int) -> HttpResponse:
    """Give a folder to another team."""
    row = access_folder(request.user, folder)
    form = _ReassignForm(request.POST)
    changed = attempt(form, lambda: _assign(request, form, Path(row.path), host=row.host))
    if changed is None:
        return _show(request, _AssignForm(), status=422, wrong=form)
    return _done(request, changed)


def _assign(request: UserRequest, form: forms.Form, path: Path, host: str = "") -> TeamFolder:
    return assign_folder(
        path,
        host=host,
        team=form.cleaned_data["team"],
        operator=request.user,
        reason=form.cleaned_data["reason"],
        ip=client_ip(request),
    )


def _done(request: UserRequest, row: TeamFolder) -> HttpResponse:
    message = _("%(folder)s is assigned to %(team)s.") % {"folder": row.path, "team": row.team.name}
    return done(request, message, to=reverse("ops:folders"))


def _show(
    request: UserRequest, form: forms.Form, *, status: int = 200, wrong: forms.Form | None = None
) -> HttpResponse:
    rows = TeamFolder.objects.select_related("team", "assigned_by").order_by("host", "path")
    context: dict[str, object] = {
        "form": form,
        "wrong": wrong,
        "reassign": _ReassignForm(auto_id=False),
        "page": Paginator(rows, _PER_PAGE).get_page(request.GET.get("page")),
        "root": Path(settings.WORKTREES_DIR).resolve(),
        "host": settings.HOST_NAME,
    }
    return show(request, "ops/folders.html", "ops/_folders.html", context, status=status)
