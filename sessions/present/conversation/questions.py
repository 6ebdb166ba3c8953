"""What an agent asks a person, as a card with one form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from opencode_web.lib.markdown import render_markdown
from sessions.events.stored import StoredQuestion
from sessions.models import QuestionRequest
from sessions.present.data import first_line
from sessions.present.place import Place
from teams.models import Role


@dataclass(frozen=True)
class Choice:
    label: str
    description: str


@dataclass(frozen=True)
class Asked:
    """One question. `name` and `own` are the fields of the form: a choice, and free text."""

    name: str
    own: str
    header: str
    text: str
    # What the question is about, under it: a plan for instance.
    more: SafeString
    choices: list[Choice]
    multiple: bool


@dataclass(frozen=True)
class QuestionCard:
    id: str
    title: str
    agent: str
    asked: datetime
    questions: list[Asked]
    position: int
    total: int
    reply_url: str
    until: datetime | None
    needs: Role = Role.MEMBER
    template: str = "sessions/_question.html"


def question_summary(request: QuestionRequest) -> str:
    """What the list of sessions says under one that waits."""
    first: StoredQuestion = request.questions[0]
    return _("Question: %(what)s") % {"what": first_line(first["question"], 80)}


def build_question_card(
    request: QuestionRequest, place: Place, *, position: int, total: int
) -> QuestionCard:
    questions = [_asked(index, one) for index, one in enumerate(request.questions)]
    count = len(questions)
    return QuestionCard(
        id=request.pk,
        title=ngettext("The agent has a question", "The agent has %(count)s questions", count)
        % {"count": count},
        agent=request.agent,
        asked=request.created_at,
        questions=questions,
        position=position,
        total=total,
        reply_url=place.url("answer", question=request.pk),
        until=request.expires_at,
    )


def _asked(index: int, question: StoredQuestion) -> Asked:
    text, _, more = question["question"].partition("\n\n")
    return Asked(
        name=f"choice{index}",
        own=f"own{index}",
        header=question["header"],
        text=text,
        more=render_markdown(more) if more.strip() else SafeString(""),
        choices=[Choice(**option) for option in question["options"]],
        multiple=question.get("multiple", False),
    )


def read_answers(request: QuestionRequest, fields: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """The answers in a form: choices as positions, and own words beside or instead of them."""
    return [_answer(_asked(index, one), fields) for index, one in enumerate(request.questions)]


def _answer(asked: Asked, fields: Mapping[str, Sequence[str]]) -> list[str]:
    places = {
        int(text) for text in fields.get(asked.name, ()) if text.isdecimal() and len(text) < 4
    }
    chosen = [choice.label for place, choice in enumerate(asked.choices) if place in places]
    own = [text.strip() for text in fields.get(asked.own, ()) if text.strip()]
    if asked.multiple:
        return chosen + own
    # Who chose and then wrote has thought better of it.
    return own or chosen
