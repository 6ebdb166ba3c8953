from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from django.http import HttpResponse
from django.views.decorators.http import require_POST

from opencode_web.lib.errors import Invalid
from sessions.access import ProjectAccess, SessionAccess
from sessions.actions.drafts import CHOICES, save_choices, save_draft
from sessions.models import KeptDraft, Project, Session
from sessions.present.frame.composer import Draft
from sessions.views.requests import project_of, session_of
from sessions.visibility import projects_in
from sessions.wire import to_ms
from teams.access import TeamAccess
from teams.http import TeamRequest, team_view
from teams.models import Role, User

# Of milliseconds since the epoch: until the year 2286.
_DIGITS = 13
_MAX_NAME_CHARS = 200


@require_POST
@team_view()
def draft(request: TeamRequest) -> HttpResponse:
    """Keep what is typed or chosen, for the same person on another device or after a crash."""
    fields = request.POST
    access: ProjectAccess | SessionAccess
    if fields.get("session"):
        access = session_of(request, fields["session"], need=Role.MEMBER)
    else:
        access = project_of(request, fields.get("project", ""), need=Role.MEMBER)
    if chosen := {name: fields[name][:_MAX_NAME_CHARS] for name in CHOICES if name in fields}:
        save_choices(access, chosen)
        return HttpResponse(status=204)
    typed_ms = fields.get("at", "")
    if not typed_ms.isdecimal() or len(typed_ms) > _DIGITS:
        raise Invalid("at must be a time in milliseconds since 1970.", field="at")
    typed_at = datetime.fromtimestamp(int(typed_ms) / 1000, tz=UTC)
    save_draft(access, text=fields.get("text", "").replace("\r\n", "\n"), typed_at=typed_at)
    return HttpResponse(status=204)


def kept_in_session(user: User, session: Session) -> Draft:
    """What this person has typed there and not sent, if anything."""
    return _shown(KeptDraft.objects.filter(user=user, session=session).first(), Draft())


def kept_for_new(user: User, project: Project) -> Draft:
    row = KeptDraft.objects.filter(user=user, project=project, session=None).first()
    return _shown(row, Draft(project=project.pk))


def kept_for_any(access: TeamAccess, usual: Draft) -> Draft:
    """The newest for a new session in any project of a team that is ready; else `usual`."""
    rows = KeptDraft.objects.filter(
        user=access.user, session=None, project__in=projects_in(access)
    ).filter(project__status=Project.Status.READY)
    row = rows.order_by("-typed_at").first()
    return _shown(row, replace(usual, project=row.project_id) if row and row.text else usual)


def _shown(row: KeptDraft | None, draft: Draft) -> Draft:
    if row is None:
        return draft
    return replace(draft, text=row.text, typed_ms=to_ms(row.typed_at), **row.choices)
