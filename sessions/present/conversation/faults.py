"""Why an answer did not come to its end, in the language of the reader, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from opencode_web.lib.json import text_of
from sessions.events.messages import CUT_AT_LENGTH
from sessions.events.reasons import TurnReason
from sessions.events.stored import StoredError
from sessions.present.place import Place
from sessions.present.stored_text import error_text

_NO_ANSWER = gettext_noop("The model could not answer.")
_TITLES = {
    # Ours, or a right that somebody has lost: no provider said it.
    "UnknownError": gettext_noop("The turn could not go on."),
    CUT_AT_LENGTH: gettext_noop("The answer is not complete."),
    "ContentFilterError": gettext_noop("The answer was refused."),
}
# Another model may do what this one does not.
_OF_MODEL = {"APIError", "ContextOverflowError", "ContentFilterError", "StructuredOutputError"}

# What was done until then stands; the agent only goes on with it.
_OF_LIMITS = (TurnReason.STEP_LIMIT, TurnReason.EQUAL_CALLS)


@dataclass(frozen=True)
class ErrorView:
    """`again` names what `again_url` does: have the agent go on. Both are empty where a person has
    stopped it. `keys_url` is where admins change the key that was refused."""

    id: str
    title: str
    text: str
    stopped: bool
    again: str = ""
    again_url: str = ""
    keys_url: str = ""
    offers_models: bool = False


def build_fault(message_id: str, error: StoredError, place: Place) -> ErrorView:
    """`error`: as an answer has it."""
    name, data = error["name"], error["data"]
    text = error_text(data) or name
    if name == "MessageAbortedError":
        lost = data.get("interrupted") is True
        return ErrorView(
            id=message_id,
            title=text,
            text=_("What arrived until then is kept.")
            if lost
            else _("What arrived until then is kept. Send a message to go on."),
            stopped=True,
            again=_("Continue") if lost else "",
            again_url=place.url("retry_now") if lost else "",
        )
    refused = name == "ProviderAuthError"
    provider = text_of(data, "providerID")
    title = _(_TITLES.get(name, _NO_ANSWER))
    if refused and provider:
        title = _("{provider} has refused the key.").format(provider=provider)
    is_cut = data.get("reason") == TurnReason.CUT
    if is_cut:
        title = _(_TITLES[CUT_AT_LENGTH])
    kept = "" if is_cut else _("Your message is kept.")
    goes_on = is_cut or name == CUT_AT_LENGTH or data.get("reason") in _OF_LIMITS
    return ErrorView(
        id=message_id,
        title=title,
        text=f"{text} {kept}".strip(),
        stopped=False,
        again=_("Continue") if goes_on else _("Try again"),
        again_url=place.url("retry_now"),
        keys_url=reverse("providers:keys", kwargs={"team": place.team})
        if refused and place.team
        else "",
        offers_models=name in _OF_MODEL,
    )
