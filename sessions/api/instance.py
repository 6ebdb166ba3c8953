"""What a client of one person asks of its own server: here it changes nothing for others."""

from __future__ import annotations

import json
import logging
from typing import Literal

from ninja import Field, Router, Schema
from typing_extensions import TypedDict

from opencode_web.lib.errors import Forbidden
from sessions.api.auth import ApiRequest
from sessions.api.location import require_location
from sessions.api.schemas import Extra
from teams.models import Scope

router = Router(tags=["instance"])
logger = logging.getLogger(__name__)

_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warn": logging.WARNING}
_LEVELS["error"] = logging.ERROR
MAX_MESSAGE_CHARS = 2_000


class LogBody(Schema):
    """A line for the server's log."""

    service: str = Field(max_length=100)
    level: Literal["debug", "info", "error", "warn"]
    message: str = Field(max_length=MAX_MESSAGE_CHARS)
    extra: Extra | None = None


class UpgradeBody(Schema):
    """A version."""

    target: str = Field(default="", max_length=100)


class Upgraded(TypedDict):
    success: Literal[False]
    error: str


@router.post("/log", summary="Write a line into the server's log, in your name")
def write_log(request: ApiRequest, body: LogBody) -> bool:
    request.auth.require(Scope.WRITE)
    # As JSON on one line: what a client says must not look like a line of the server.
    said = json.dumps([body.service, body.message, body.extra or {}])
    user = request.auth.user.pk
    logger.log(_LEVELS[body.level], "client.log user=%s said=%s", user, said)
    return True


@router.get("/log", summary="Not offered: operators read the log where the server writes it")
def read_log(request: ApiRequest) -> list[str]:
    raise Forbidden("The log contains entries of all teams. Operators can read it on the server.")


@router.post("/instance/dispose", summary="Nothing is kept for one client, so nothing is dropped")
def dispose(request: ApiRequest) -> bool:
    require_location(request)
    return True


@router.post("/global/dispose", summary="Nothing is kept for one client, so nothing is dropped")
def dispose_all(request: ApiRequest) -> bool:
    return True


@router.post("/global/upgrade", summary="Not by clients: operators upgrade the server")
def upgrade(request: ApiRequest, body: UpgradeBody | None = None) -> Upgraded:
    return {"success": False, "error": "The operators of this server upgrade it."}
