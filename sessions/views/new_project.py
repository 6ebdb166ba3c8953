from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from django import forms
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from django.views.decorators.http import require_http_methods

from opencode_web.lib.errors import Invalid
from sessions.actions.projects import (
    create_empty_project,
    create_project_from_folder,
    create_project_from_git,
    create_sample_project,
)
from sessions.forms.fields import (
    EmptyProjectForm,
    FolderProjectForm,
    GitProjectForm,
    SampleProjectForm,
)
from sessions.models import Project
from sessions.present.frame.rail import load_rail
from sessions.present.projects import project_url
from sessions.views.requests import rail_filter
from teams.access import TeamAccess, is_operator
from teams.http import TeamRequest, attempt, team_view
from teams.models import Role


@dataclass(frozen=True)
class _Kind:
    """One way to get a project."""

    label: str
    icon: str
    action: str
    form: type[forms.Form]
    create: Callable[..., Project]


_KINDS = {
    "git": _Kind(
        gettext_noop("From a Git repository"),
        "folder-git-2",
        gettext_noop("Clone"),
        GitProjectForm,
        create_project_from_git,
    ),
    "folder": _Kind(
        gettext_noop("From a folder on this server"),
        "folder",
        gettext_noop("Add"),
        FolderProjectForm,
        create_project_from_folder,
    ),
    "empty": _Kind(
        gettext_noop("Empty project"),
        "plus",
        gettext_noop("Create"),
        EmptyProjectForm,
        create_empty_project,
    ),
    "sample": _Kind(
        gettext_noop("Sample project"),
        "terminal",
        gettext_noop("Create"),
        SampleProjectForm,
        create_sample_project,
    ),
}


@require_http_methods(["GET", "POST"])
@team_view(need=Role.MEMBER)
def project_new(request: TeamRequest) -> HttpResponse:
    bound: dict[str, forms.Form] = {}
    if request.method == "POST":
        key = request.POST.get("kind", "")
        if key not in _KINDS:
            raise Invalid(
                _("Choose a Git repository, a folder, an empty project or the sample project.")
            )
        form = bound[key] = _KINDS[key].form(request.POST, prefix=key)
        project = attempt(form, lambda: _create(key, request.access, form))
        if project is not None:
            return redirect(project_url(project))
    url = reverse("sessions:project_new", kwargs={"team": request.team.slug})
    choices = [
        {
            "key": key,
            "label": _(kind.label),
            "icon": kind.icon,
            "action": _(kind.action),
            "url": url,
            "form": bound.get(key) or kind.form(prefix=key),
        }
        for key, kind in _KINDS.items()
    ]
    context = {
        "choices": choices,
        "folders_url": reverse("ops:folders") if is_operator(request.user) else "",
        "rail": load_rail(request.access, rail_filter(request)),
        "crumbs": [{"label": _("New project"), "url": ""}],
    }
    return render(request, "sessions/project_new.html", context, status=422 if bound else 200)


def _create(key: str, access: TeamAccess, form: forms.Form) -> Project:
    return _KINDS[key].create(access, **form.cleaned_data)
