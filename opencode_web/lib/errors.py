"""Faults of the caller, and the one shape in which they leave the server.

AppError
├── Invalid       400  the request is malformed or names something that cannot be used
├── Unauthorized  401  nobody is signed in, or the token is not valid
├── Forbidden     403  the caller may know the object but lacks the right
├── NotFound      404  it does not exist, or the caller may not know that it does
├── Conflict      409  it would contradict what is already there
│   └── Settled        somebody else was first, and nothing is wrong
├── TooLarge      413  more than the server takes
├── Mismatch      422  it is not what the caller sent before under the same name
├── TooManyRequests 429  asked again too soon
└── Unavailable   503  something this request needs is not working on this host

Faults of a tool or of the model are `tools.base.ToolError`; faults of a provider are
`providers.llm.errors.ProviderError`. Anything else is ours and propagates.
"""

from __future__ import annotations

from enum import StrEnum

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from opencode_web.lib.json import JsonObject, JsonValue
from opencode_web.lib.reasons import Sentenced, Told

# What can be missing on a page, for the catalogues.
NAMED = (
    *(gettext_noop("Session"), gettext_noop("Project"), gettext_noop("Team"), gettext_noop("Turn")),
    *(gettext_noop("Part"), gettext_noop("File"), gettext_noop("Prompt"), gettext_noop("Question")),
    *(gettext_noop("Permission request"), gettext_noop("Rule"), gettext_noop("Terminal")),
    *(gettext_noop("Skill"), gettext_noop("Schedule"), gettext_noop("Webhook")),
    *(gettext_noop("Delivery"), gettext_noop("Image"), gettext_noop("Attachment")),
    *(gettext_noop("Panel"), gettext_noop("Token"), gettext_noop("Invite")),
    *(gettext_noop("Page"), gettext_noop("Process"), gettext_noop("Announcement")),
    *(gettext_noop("Legal hold"), gettext_noop("Export")),
)


class ErrorCode(StrEnum):
    """Stable names that scripts can rely on."""

    INVALID = "BadRequest"
    UNAUTHORIZED = "UnauthorizedError"
    FORBIDDEN = "ForbiddenError"
    NOT_FOUND = "NotFoundError"
    CONFLICT = "ConflictError"
    TOO_LARGE = "TooLargeError"
    MISMATCH = "MismatchError"
    TOO_MANY_REQUESTS = "TooManyRequestsError"
    UNAVAILABLE = "ServiceUnavailableError"
    NOT_APPLIED = "VcsApplyError"
    OAUTH_MISSING = "ProviderAuthOauthMissing"
    OAUTH_CODE_MISSING = "ProviderAuthOauthCodeMissing"
    OAUTH_CALLBACK_FAILED = "ProviderAuthOauthCallbackFailed"


class AppError(Exception):
    """A fault of the caller with a message that says what to do about it.

    `told` is what is stored of it; the message is that in the language of the reader.
    """

    code = ErrorCode.INVALID
    status = 400

    def __init__(self, told: Told, **data: JsonValue) -> None:
        self.told = told
        self.message = told if isinstance(told, str) else told.worded()
        super().__init__(self.message)
        self.data = data

    @property
    def reason(self) -> Sentenced | None:
        """Its name for programs, finer than `code`, where it has one."""
        return None if isinstance(self.told, str) else self.told.reason

    def to_json(self) -> JsonObject:
        """Returns: the error body of OpenCode's API, `{name, data: {message, …}}`."""
        return {"name": str(self.code), "data": {"message": self.message, **self.data}}


class Invalid(AppError):
    """The request is malformed or names something that cannot be used."""


class Unauthorized(AppError):
    """Nobody is signed in, or the token is not valid."""

    code = ErrorCode.UNAUTHORIZED
    status = 401


class Forbidden(AppError):
    """The caller may know the object but lacks the right."""

    code = ErrorCode.FORBIDDEN
    status = 403


class NotFound(AppError):
    """It does not exist, or the caller may not know that it does."""

    code = ErrorCode.NOT_FOUND
    status = 404

    def __init__(self, what: str, name: str = "", **data: JsonValue) -> None:
        self.what = what
        named = _("%(what)s not found: %(name)s") if name else _("%(what)s not found")
        super().__init__(named % {"what": _(what), "name": name}, **data)


class Conflict(AppError):
    """It would contradict what is already there."""

    code = ErrorCode.CONFLICT
    status = 409


class Settled(Conflict):
    """Somebody else, or the agent, was first: what the caller wanted to decide is decided."""


class TooLarge(AppError):
    """More than the server takes."""

    code = ErrorCode.TOO_LARGE
    status = 413


class Mismatch(AppError):
    """It is not what the caller sent before under the same name."""

    code = ErrorCode.MISMATCH
    status = 422


class TooManyRequests(AppError):
    """The caller has to wait before it asks again."""

    code = ErrorCode.TOO_MANY_REQUESTS
    status = 429


class Unavailable(AppError):
    """Something this request needs is not working on this host."""

    code = ErrorCode.UNAVAILABLE
    status = 503
