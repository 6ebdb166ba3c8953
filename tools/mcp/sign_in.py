"""What is kept of a sign-in to a server at an address, and the errors on the way to one.

ToolError
├── NeedsRegistration  somebody has to register a client there first
└── Revoked            what was granted counts no more
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pydantic import BaseModel, ConfigDict, Field

from tools.errors import ToolError


class NeedsRegistration(ToolError):
    """The server of the sign-in registers no clients by itself."""


class Revoked(ToolError):
    """What was granted cannot be renewed; somebody has to sign in again."""


class _Stored(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class Client(_Stored):
    """A client, as one authorisation server knows it. `method`: how it says who it is there."""

    issuer: str
    token_url: str
    resource: str
    redirect_uri: str
    client_id: str
    client_secret: str = Field(default="", repr=False)
    method: str = "none"
    # Where grants are given back; empty where that cannot be done.
    revocation_url: str = ""
    # Whether answers of the authorisation server have to name it.
    names_itself: bool = False


class Attempt(_Stored):
    """A sign-in that has begun. All of it is secret."""

    client: Client
    verifier: str = Field(repr=False)
    scope: str = ""


class Grant(_Stored):
    """What a sign-in came to. All of it is secret.

    `expires_at` is when it has to be renewed, `ends_at` when it cannot be renewed any more, where
    that is known. Units: Unix time in seconds.
    """

    client: Client
    access_token: str = Field(repr=False)
    refresh_token: str = Field(default="", repr=False)
    expires_at: float | None = None
    ends_at: float | None = None
    scope: str = ""


@dataclass(frozen=True)
class Wish:
    """A sign-in that somebody wants.

    `challenge` is what the server at `url` answered without one; `known` a client that it was
    given before.
    """

    url: str
    challenge: str
    redirect_uri: str
    client_id: str = ""
    client_secret: str = field(default="", repr=False)
    scope: str = ""
    known: Client | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Begun:
    """Where a browser has to go. `state` comes back from there, and tells this attempt."""

    authorization_url: str
    state: str
    attempt: Attempt = field(repr=False)
