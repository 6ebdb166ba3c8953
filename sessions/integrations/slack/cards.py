"""What an agent asks, as messages with buttons. They say who has decided, wherever that was."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from django.db.models import Q

from opencode_web.lib.json import JsonObject, JsonValue, text_of
from sessions.config.cost_limit import PERMISSION as MORE_COST
from sessions.integrations.slack.blocks import (
    Block,
    actions,
    button,
    context,
    escape,
    plain,
    section,
    shorten,
)
from sessions.models import PermissionRequest, QuestionRequest, Session
from sessions.secrets import project_redactor, shown_patterns
from sessions.tree import tree_of

Asked = PermissionRequest | QuestionRequest
Redact = Callable[[str], str]
# Ids of buttons and of the form.
ONCE, ALWAYS, REJECT = "allow_once", "allow_always", "reject"
ANSWER, CHOOSE, DISMISS = "answer", "choose", "dismiss"
# Of an option, and of a text in a form.
_MAX_LABEL_CHARS, _MAX_TITLE_CHARS = 75, 24
_MAX_OPTIONS, _MAX_BUTTONS, _MAX_QUESTIONS = 10, 4, 20
_MAX_SHOWN_CHARS = 1500
_DECIDED = {
    "once": "Allowed once",
    "always": "Always allowed",
    "reject": "Rejected",
    "answered": "Answered",
    "cancelled": "The turn was stopped",
    "expired": "Nobody answered in time",
}


def pending_asks(session: Session) -> list[Asked]:
    """Returns: what a session and its sub-agents wait for."""
    tree = tree_of(session)
    permissions = PermissionRequest.objects.filter(session__in=tree).pending()
    questions = QuestionRequest.objects.filter(session__in=tree).pending()
    return [*permissions, *questions]


def find_ask(request_id: str, session: Session) -> Asked | None:
    """Returns: what was asked in a session or by its sub-agents."""
    here = Q(pk=request_id, session__in=tree_of(session))
    permissions = PermissionRequest.objects.select_related("replied_by")
    found = permissions.filter(here).first()
    return found or QuestionRequest.objects.select_related("replied_by").filter(here).first()


def card(ask: Asked, session: Session) -> tuple[list[Block], bool]:
    """Returns: the card as it is now, and whether it is decided."""
    redact = project_redactor(session.project_id).text
    if isinstance(ask, PermissionRequest):
        blocks = [section(_permission_text(ask, session))]
        buttons = _permission_buttons(ask)
    else:
        blocks = [section(shorten(_question_text(ask, redact), _MAX_SHOWN_CHARS * 2 - 1))]
        buttons = _question_buttons(ask, redact)
    if ask.status == "pending":
        more = []
        if isinstance(ask, PermissionRequest) and ask.second_person:
            more = [context("Somebody who has not prompted this session has to allow it.")]
        return [*blocks, *more, actions(buttons)], False
    who = f" by {escape(ask.replied_by.display_name)}" if ask.replied_by else ""
    said = _DECIDED.get(ask.status, "Decided")
    if isinstance(ask, QuestionRequest) and ask.status == "reject":
        said = "Dismissed"
    if isinstance(ask, QuestionRequest) and ask.status == "answered":
        chosen = "; ".join(", ".join(map(str, one)) for one in ask.answers if one)
        blocks.append(section(escape(shorten(redact(chosen), 500)) or "-"))
    return [*blocks, context(f"*{said}{who}.*")], True


def _permission_text(ask: PermissionRequest, session: Session) -> str:
    if ask.permission == MORE_COST:
        return "*The session has reached its cost limit.* An admin can let it go on."
    what = "\n".join(map(str, shown_patterns(session.project_id, ask.patterns)))
    shown = escape(shorten(what, _MAX_SHOWN_CHARS)).replace("```", "'''")
    return f"*Permission: {escape(ask.permission)}*\n```{shown or ' '}```"


def _permission_buttons(ask: PermissionRequest) -> list[Block]:
    buttons = [button("Allow once", ONCE, ask.pk, style="primary")]
    if ask.always and not ask.second_person:
        buttons.append(button("Always allow in this session", ALWAYS, ask.pk))
    return [*buttons, button("Reject", REJECT, ask.pk, style="danger")]


def _question_text(ask: QuestionRequest, redact: Redact) -> str:
    lines = []
    for one in _questions(ask):
        lines.append(f"*{escape(redact(text_of(one, 'question')))}*")
        for option in _options(one):
            about = text_of(option, "description")
            words = escape(redact(f"{text_of(option, 'label')}{f': {about}' if about else ''}"))
            lines.append(f"• {words}")
    return "\n".join(lines) or "*A question*"


def _question_buttons(ask: QuestionRequest, redact: Redact) -> list[Block]:
    buttons, questions = [], _questions(ask)
    options = _options(questions[0]) if len(questions) == 1 else []
    if 0 < len(options) <= _MAX_BUTTONS and not questions[0].get("multiple"):
        for number, option in enumerate(options):
            label = shorten(redact(text_of(option, "label")), _MAX_LABEL_CHARS)
            buttons.append(button(label, f"{CHOOSE}_{number}", f"{ask.pk}:{number}"))
    buttons.append(button("Answer…", ANSWER, ask.pk))
    return [*buttons, button("Dismiss", DISMISS, ask.pk, style="danger")]


def answer_form(ask: QuestionRequest, session: Session) -> JsonObject:
    """Returns: the modal in which all questions are answered, with room for one's own words."""
    redact = project_redactor(session.project_id).text
    blocks = list[JsonValue]()
    for number, one in enumerate(_questions(ask)[:_MAX_QUESTIONS]):
        label = plain(redact(text_of(one, "question")), 2000)
        options = _options(one)[:_MAX_OPTIONS]
        if options:
            choices: list[JsonValue] = [
                {
                    "text": plain(redact(text_of(option, "label")), _MAX_LABEL_CHARS),
                    "value": str(position),
                }
                for position, option in enumerate(options)
            ]
            kind = "checkboxes" if one.get("multiple") else "radio_buttons"
            element: JsonObject = {"type": kind, "action_id": "chosen", "options": choices}
            blocks.append(_input(f"q{number}", label, element))
            label = plain("Or in your own words", 200)
        written: JsonObject = {
            "type": "plain_text_input",
            "action_id": "written",
            "multiline": True,
        }
        blocks.append(_input(f"t{number}", label, {**written, "max_length": 2000}))
    return {
        "type": "modal",
        "callback_id": ANSWER,
        "private_metadata": ask.pk,
        "title": plain("Answer the agent", _MAX_TITLE_CHARS),
        "submit": plain("Answer", _MAX_TITLE_CHARS),
        "close": plain("Cancel", _MAX_TITLE_CHARS),
        "blocks": blocks,
    }


def answers_in(ask: QuestionRequest, given: tuple[tuple[str, ...], ...]) -> list[list[str]]:
    """Returns: the labels and words that a form had, for each question."""
    found = []
    for one, said in zip(_questions(ask), given, strict=False):
        options, words = _options(one), list[str]()
        for text in said:
            number = text[1:]
            if text.startswith("="):
                # One's own words stand in the place of the one choice there is.
                words = [*(words if one.get("multiple") else []), number]
            elif number.isdecimal() and int(number) < len(options):
                words.append(text_of(options[int(number)], "label"))
        found.append(words)
    return found


def _input(block: str, label: JsonObject, element: JsonObject) -> JsonObject:
    return {
        "type": "input",
        "block_id": block,
        "optional": True,
        "label": label,
        "element": element,
    }


def _questions(ask: QuestionRequest) -> list[JsonObject]:
    return cast(list[JsonObject], ask.questions)


def _options(question: JsonObject) -> list[JsonObject]:
    return cast(list[JsonObject], question.get("options") or [])
