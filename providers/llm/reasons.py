"""What went wrong, and what a person can do about it, as names with English sentences.

Whoever shows an error may translate the sentence by its reason, and fill in the values then.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Protocol

from .texts import gettext_noop


class Sentenced(Protocol):
    """A member of a `StrEnum` with its sentence, in which `{name}` stands for a value."""

    @property
    def value(self) -> str: ...

    @property
    def sentence(self) -> str: ...


class ErrorReason(StrEnum):
    """Those with `{said}` add what to do to what was said."""

    sentence: str

    def __new__(cls, value: str, sentence: str) -> ErrorReason:
        member = str.__new__(cls, value)
        member._value_ = value
        member.sentence = sentence
        return member

    SAID = "provider_said", gettext_noop("The provider says: “{said}”")
    SILENT = "provider_silent", gettext_noop("The provider sent nothing for too long.")
    TOO_SLOW = (
        "answer_too_slow",
        gettext_noop("The provider took longer for its whole answer than it is given."),
    )
    CONNECTION_CUT = "connection_cut", gettext_noop("The connection to the provider was cut.")
    # Of a stream that has begun well.
    ANSWER_CUT = "answer_cut", gettext_noop("The provider's answer ended in the middle.")
    STOPPED = (
        "provider_stopped",
        gettext_noop("The provider stopped with an error of its own."),
    )
    SPEECHLESS = "provider_speechless", gettext_noop("The provider failed without saying why.")
    UNANSWERED = (
        "provider_unanswered",
        gettext_noop(
            "The provider cannot be reached: its name cannot be found, it does not answer, or it "
            "is not allowed. Check the spelling of its address; an operator has to allow a "
            "private one."
        ),
    )
    ANSWERED = "provider_answered", gettext_noop("The provider answered {status}.")
    PAGE_ANSWERED = (
        "page_answered",
        gettext_noop(
            "The provider answered {status}. It was a web page: a gateway or proxy in front of the "
            "provider may have refused."
        ),
    )
    UNREADABLE_PICTURE = (
        "unreadable_picture",
        gettext_noop("It is not a picture that can be read, or it is too large."),
    )
    KEY_REFUSED = (
        "key_refused",
        gettext_noop(
            "{said} The key was refused: an admin can replace it under Team settings → Models."
        ),
    )
    REQUEST_REFUSED = (
        "request_refused",
        gettext_noop("{said} Change the message or choose another model before you try again."),
    )
    FILE_REFUSED = (
        "file_refused",
        gettext_noop("{said} Send the file in another form, or choose another model."),
    )
    UNKNOWN_MODEL = (
        "unknown_model",
        gettext_noop(
            "{said} Choose another model, or have an admin check its name under Team settings → "
            "Models."
        ),
    )
    PROMPT_TOO_LONG = (
        "prompt_too_long",
        gettext_noop("{said} Start a new session, or choose a model that reads more."),
    )
    CONTENT_REFUSED = (
        "content_refused",
        gettext_noop("{said} Ask in other words, or choose another model."),
    )
    QUOTA_EXCEEDED = (
        "quota_exceeded",
        gettext_noop(
            "{said} Its account has nothing left to spend: an admin can top it up at the provider, "
            "or set another key under Team settings → Models."
        ),
    )
    RATE_LIMITED = (
        "rate_limited",
        gettext_noop(
            "{said} The provider takes no more for now: wait a little, or choose another model."
        ),
    )
    PROVIDER_FAILED = (
        "provider_failed",
        gettext_noop(
            "{said} The provider has a problem of its own: try later, or choose another model."
        ),
    )
    UNREACHABLE = (
        "provider_unreachable",
        gettext_noop(
            "{said} Try later; if it stays, an admin can check the address under Team settings → "
            "Models."
        ),
    )
