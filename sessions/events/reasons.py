"""Why this server ended a turn by itself: a reason with its values, worded where people read it.

The log keeps the two apart. Clients of the API read the English sentence, pages the reader's.
"""

from __future__ import annotations

from collections import defaultdict
from enum import StrEnum

from django.utils.translation import gettext, gettext_noop

from opencode_web.lib.json import JsonObject
from sessions.events.messages import MessageError


class Reason(StrEnum):
    """What ended the turn, or one try of an answer."""

    STEP_LIMIT = "step_limit"
    EQUAL_CALLS = "equal_calls"
    RETRY_AFTER = "retry_after"
    SUMMARY_TOO_LONG = "summary_too_long"
    FILES_REFUSED = "files_refused"
    FILES_UNREADABLE = "files_unreadable"
    FELL_BACK = "fell_back"
    CUT = "cut"


_SENTENCES = {
    Reason.STEP_LIMIT: gettext_noop(
        "Stopped after {limit} steps, the limit for one turn. Continue if the work is going well, "
        "or say what to do differently."
    ),
    Reason.EQUAL_CALLS: gettext_noop(
        "Stopped: the agent made the same {tool} call more than {limit} times in one turn. "
        "Say what to do differently."
    ),
    Reason.RETRY_AFTER: gettext_noop(
        "{why} The provider asks us to wait {wait_s} s before the next try, which is more than "
        "the {limit_s} s that this server waits. Try again later, or choose another model."
    ),
    Reason.SUMMARY_TOO_LONG: gettext_noop(
        "The conversation is too long to be summarized, even without its older half. Choose a "
        "model with a larger context window, roll back to an earlier turn, or start a new session."
    ),
    Reason.FILES_REFUSED: gettext_noop(
        "{names}: left out because {model} refused it ({why}). The model has been told."
    ),
    Reason.FILES_UNREADABLE: gettext_noop(
        "{names}: left out because it is not a picture that can be read, or is too large. The "
        "model has been told."
    ),
    Reason.CUT: gettext_noop("The provider's answer ended in the middle. What came is kept."),
    Reason.FELL_BACK: gettext_noop("{model} did not answer ({why}). {next} went on."),
}


def english(reason: Reason, values: JsonObject) -> str:
    """Returns: the sentence as clients of the API read it."""
    return _filled(_SENTENCES[reason], values)


def _filled(sentence: str, values: JsonObject) -> str:
    # A log of an older server may have others.
    return sentence.format_map(defaultdict(lambda: "?", values))


def worded(data: JsonObject) -> str:
    """Returns: the sentence in the reader's language; "" when `data` has no reason.

    `data` is that of an error, or `Session.outcome_reason`.
    """
    reason, values = data.get("reason"), data.get("values")
    if reason not in _SENTENCES or not isinstance(values, dict):
        return ""
    return _filled(gettext(_SENTENCES[Reason(str(reason))]), values)


def reasoned_error(
    reason: Reason,
    values: JsonObject,
    *,
    name: str = "UnknownError",
    more: JsonObject | None = None,
) -> MessageError:
    """Returns: the error of an answer. `more` is what its data has besides."""
    message = english(reason, values)
    data: JsonObject = {**(more or {}), "message": message, "reason": reason, "values": values}
    return MessageError(name=name, data=data)
