from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from opencode_web.lib.errors import Invalid
from sessions.access import access_question
from sessions.actions.questions import reject_question, reply_question
from sessions.models import QuestionRequest
from sessions.present.conversation.questions import read_answers
from sessions.views.requests import require_shown
from teams.auth import authenticate_user
from teams.http import TeamRequest, team_view


@require_POST
@team_view()
def answer(request: TeamRequest, session: str, question: str) -> HttpResponse:
    """Answer an agent's questions, or dismiss them."""
    asked, access = access_question(authenticate_user(request.user), question)
    require_shown(request, session, access, kind="Question", id=question)
    dismissed = "dismiss" in request.POST
    if dismissed:
        asked = reject_question(access, asked)
    else:
        answers = read_answers(asked, dict(request.POST.lists()))
        if not any(answers):
            raise Invalid(_("Choose an answer, or write one."))
        asked = reply_question(access, asked, answers=answers)
    if not request.htmx:
        return redirect("sessions:session", request.team.slug, session)
    context = {"permission": _answered(asked, request), "rejected": dismissed}
    return render(request, "sessions/_answered.html", context)


def _answered(asked: QuestionRequest, request: TeamRequest) -> dict[str, str]:
    time = timezone.localtime(asked.replied_at)
    said = (
        _("answered it") if asked.status == QuestionRequest.Status.ANSWERED else _("dismissed it")
    )
    return {"id": asked.pk, "text": f"{request.user.display_name} {said}, {time:%H:%M}"}
