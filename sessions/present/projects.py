"""A project in lists and on its page, and the progress of a clone."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from django.conf import settings
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from sessions.git.branch import branch_of, has_file
from sessions.models import Project
from tools.redaction import Redactor

_PERCENT = re.compile(r"(\d{1,3})\s*%")
_INSTRUCTIONS = ("AGENTS.md", "CLAUDE.md", "CONTEXT.md")
_SOURCES = {
    Project.Source.FOLDER: gettext_noop("Folder on this host"),
    Project.Source.EMPTY: gettext_noop("Created here"),
    Project.Source.SAMPLE: gettext_noop("Sample included with the server"),
}


@dataclass(frozen=True)
class ProjectLine:
    """A project in a list. `problem`: why it cannot be used; `busy`: what it waits for."""

    name: str
    url: str
    source: str
    branch: str
    sessions: int
    problem: str
    busy: str


@dataclass(frozen=True)
class ProjectPage:
    name: str
    source: str
    folder: str
    branch: str
    problem: str
    instructions: list[str]
    created: datetime
    author: str


@dataclass(frozen=True)
class Clone:
    """A project whose files are not there yet."""

    id: str
    state: str
    text: str
    percent: int | None
    lines: list[str]
    error: str
    hint: str
    url: str
    retry_url: str
    delete_url: str
    poll_url: str


def source_of(project: Project) -> str:
    known = _SOURCES.get(Project.Source(project.source))
    return project.git_url or (_(known) if known else project.source)


def labels_of(projects: list[Project]) -> dict[str, str]:
    """Returns: by id, the name in a select; with its source or age where others have that name."""
    names = Counter(project.name for project in projects)
    hints = {one.pk: _hint(one) for one in projects if names[one.name] > 1}
    same = Counter((one.name, hints[one.pk]) for one in projects if one.pk in hints)
    labels = {}
    for one in projects:
        hint = hints.get(one.pk, "")
        if hint and same[one.name, hint] > 1:
            hint = _("added %(date)s") % {
                "date": date_format(timezone.localtime(one.created_at), "DATETIME_FORMAT")
                + f":{one.created_at:%S}"
            }
        labels[one.pk] = f"{one.name} ({hint})" if hint else one.name
    return labels


def _hint(project: Project) -> str:
    if project.git_url:
        return project.git_url.removeprefix("https://")
    if project.source == Project.Source.FOLDER:
        return project.directory
    return _("added %(date)s") % {
        "date": date_format(timezone.localtime(project.created_at), "DATE_FORMAT")
    }


def project_url(project: Project, name: str = "project", /, **names: str) -> str:
    fields = {"team": project.team.slug, "project": project.pk, **names}
    return reverse(f"sessions:{name}", kwargs=fields)


def build_line(project: Project, redactor: Redactor) -> ProjectLine:
    """`project` with its team and, as `session_count`, the number of its sessions; `redactor` knows
    its secrets."""
    return ProjectLine(
        name=project.name,
        url=project_url(project),
        source=source_of(project),
        branch=branch_of(project, redactor),
        sessions=getattr(project, "session_count", 0),
        problem=_("Not ready") if project.status == Project.Status.FAILED else "",
        busy=_("Preparing") if project.status == Project.Status.PREPARING else "",
    )


def build_page(project: Project) -> ProjectPage:
    folder = Path(project.directory)
    here = project.host == settings.HOST_NAME
    return ProjectPage(
        name=project.name,
        source=source_of(project),
        folder=project.directory,
        branch=branch_of(project),
        problem=_("Not ready") if project.status == Project.Status.FAILED else "",
        instructions=[name for name in _INSTRUCTIONS if here and has_file(folder, name)],
        created=project.created_at,
        author=project.created_by.display_name if project.created_by else "",
    )


def _stored(text: str) -> str:
    """Returns: a sentence that a worker has written down in English."""
    return _(text) if text else ""


def build_clone(project: Project) -> Clone | None:
    """Returns: None once the files are there."""
    if project.status == Project.Status.READY:
        return None
    failed = project.status == Project.Status.FAILED
    last = project.status_detail.strip().splitlines()[-1:] or [""]
    percent = _PERCENT.search(last[0])
    can_retry = failed and project.source == Project.Source.GIT
    return Clone(
        id=project.pk,
        state="failed" if failed else "running",
        text=_("Could not prepare %(name)s") % {"name": project.name}
        if failed
        else _("Preparing %(name)s") % {"name": project.name},
        percent=min(int(percent[1]), 100) if percent and not failed else None,
        lines=[] if failed else last,
        error=_stored(project.status_detail) if failed else "",
        hint=_("Check the address, and that this server has access to it.") if can_retry else "",
        url=project.git_url,
        retry_url=project_url(project, "clone_again") if can_retry else "",
        delete_url=project_url(project, "project_delete") if failed else "",
        poll_url="" if failed else project_url(project, "clone"),
    )
