"""Which providers have a credential, setting one, and signing in."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Annotated, Literal, NotRequired

from django.db.models import Q
from django.http import HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from ninja import Field, Router, Schema
from typing_extensions import TypedDict

from opencode_web.lib.db import in_db
from opencode_web.lib.errors import Invalid, NotFound
from opencode_web.lib.json import JsonObject, text_of
from opencode_web.lib.outside import run_outside
from opencode_web.lib.shapes import Unchecked
from providers.access import access_attempt
from providers.actions import remove_credential, rename_credential, set_key_of, set_own_key
from providers.credentials import MAX_KEY_CHARS
from providers.llm.sign_in import Method, methods_of
from providers.models import Credential, SignInAttempt
from providers.sign_ins import (
    advance_sign_in,
    begin_sign_in,
    cancel_sign_in,
    fault_text,
    finish_sign_in,
    instructions_of,
    return_uri,
)
from sessions.api.auth import ApiRequest, AsyncTokenOrCookie
from sessions.api.location import Location, require_location
from sessions.api.sign_ins import (
    SelectPrompt,
    TextPrompt,
    credential_access,
    holder_of,
    prompt_to_wire,
)
from sessions.api.v2.catalog import all_providers, find_provider
from sessions.api.v2.place import Placed, placed
from sessions.wire import to_ms
from teams.access import require_role
from teams.http import client_ip
from teams.models import Role

router = Router(tags=["catalog"])

_NUMBER = re.compile(r"[0-9]{1,18}")


class KeyConnection(Schema):
    """A key for a provider. It is never shown again."""

    key: str = Field(max_length=MAX_KEY_CHARS)
    label: str = Field(default="", max_length=100)


class OAuthConnection(Schema):
    """Which way to sign in, and the answers to what it asks first."""

    methodID: str = Field(max_length=40)
    inputs: dict[str, str] = Field(default_factory=dict, max_length=20)
    label: str = Field(default="", max_length=100)


class CodeBody(Schema):
    """What the person brings back from the provider's page."""

    code: str | None = Field(default=None, max_length=20_000)


class LabelBody(Schema):
    """What a credential is called."""

    label: str = Field(max_length=100)


class KeyMethod(TypedDict):
    type: Literal["key"]
    label: str


class OAuthMethod(TypedDict):
    id: str
    type: Literal["oauth"]
    label: str
    prompts: NotRequired[list[TextPrompt | SelectPrompt]]


class AttemptTime(TypedDict):
    created: int
    expires: int


class Attempt(TypedDict):
    attemptID: str
    url: str
    instructions: str
    mode: Literal["auto", "code"]
    time: AttemptTime


class AttemptStatus(TypedDict):
    status: Annotated[str, Unchecked(Literal["pending", "complete", "failed", "expired"])]
    message: NotRequired[str]
    time: AttemptTime


class KeyOfTeam(TypedDict):
    type: Literal["credential"]
    id: str
    label: str


class Integration(TypedDict):
    id: str
    name: str
    methods: list[KeyMethod | OAuthMethod]
    connections: list[KeyOfTeam]


@router.get("/api/integration", summary="Providers, how one signs in, and who has")
def list_integrations(request: ApiRequest) -> Placed[list[Integration]]:
    location = require_location(request)
    held = _credentials(request, location)
    return placed(location, [_integration(one, held) for one in all_providers(request)])


@router.get("/api/integration/{integration_id}", summary="One of them")
def get_integration(request: ApiRequest, integration_id: str) -> Placed[Integration]:
    location = require_location(request)
    wire = find_provider(request, integration_id)
    return placed(location, _integration(wire, _credentials(request, location)))


@router.post(
    "/api/integration/{integration_id}/connect/key",
    response={204: None},
    summary="Set a key: the team's, or one's own below admin",
)
def connect_key(request: ApiRequest, integration_id: str, body: KeyConnection) -> HttpResponse:
    access = credential_access(request)
    ip = client_ip(request)
    if access.can(Role.ADMIN):
        set_key_of(access.team, integration_id, key=body.key, actor=access.user, ip=ip)
    else:
        holder_of(access)
        set_own_key(access.user, integration_id, key=body.key, ip=ip)
    return HttpResponse(status=204)


@router.post(
    "/api/integration/{integration_id}/connect/oauth",
    summary="Begin to sign in at a provider",
    auth=AsyncTokenOrCookie(),
)
async def connect_oauth(
    request: ApiRequest, integration_id: str, body: OAuthConnection
) -> Placed[Attempt]:
    return await run_outside(_connect_oauth, request, integration_id, body)


def _connect_oauth(
    request: ApiRequest, integration_id: str, body: OAuthConnection
) -> Placed[Attempt]:
    location, access = require_location(request), credential_access(request)
    attempt = begin_sign_in(
        holder_of(access),
        integration_id,
        body.methodID,
        body.inputs,
        actor=access.user,
        redirect_uri=return_uri(),
    )
    data: Attempt = {
        "attemptID": attempt.pk,
        "url": attempt.url,
        "instructions": instructions_of(attempt),
        "mode": "auto" if attempt.is_polled else "code",
        "time": _time_of(attempt),
    }
    return placed(location, data)


@router.get(
    "/api/integration/attempt/{attempt_id}",
    summary="How a sign-in is going",
    auth=AsyncTokenOrCookie(),
)
async def get_attempt(request: ApiRequest, attempt_id: str) -> Placed[AttemptStatus]:
    return await run_outside(_get_attempt, request, attempt_id)


def _get_attempt(request: ApiRequest, attempt_id: str) -> Placed[AttemptStatus]:
    location, access = require_location(request), credential_access(request)
    attempt = access_attempt(access.user, attempt_id)
    return placed(location, _status(advance_sign_in(attempt, ip=client_ip(request))))


@router.delete(
    "/api/integration/attempt/{attempt_id}",
    response={204: None},
    summary="Give a sign-in up",
    auth=AsyncTokenOrCookie(),
)
async def cancel_attempt(request: ApiRequest, attempt_id: str) -> HttpResponse:
    return await in_db(_cancel_attempt, request, attempt_id)


def _cancel_attempt(request: ApiRequest, attempt_id: str) -> HttpResponse:
    credential_access(request)
    cancel_sign_in(access_attempt(request.auth.user, attempt_id))
    return HttpResponse(status=204)


@router.post(
    "/api/integration/attempt/{attempt_id}/complete",
    response={204: None},
    summary="Finish a sign-in with the code that the person brings back",
    auth=AsyncTokenOrCookie(),
)
async def complete_attempt(request: ApiRequest, attempt_id: str, body: CodeBody) -> HttpResponse:
    return await run_outside(_complete_attempt, request, attempt_id, body)


def _complete_attempt(request: ApiRequest, attempt_id: str, body: CodeBody) -> HttpResponse:
    credential_access(request)
    attempt = access_attempt(request.auth.user, attempt_id)
    if not body.code:
        raise Invalid("Send the code, or the address of the page.", field="code")
    ended = finish_sign_in(attempt, body.code, ip=client_ip(request))
    if ended.status != SignInAttempt.Status.COMPLETE:
        raise Invalid(fault_text(ended))
    return HttpResponse(status=204)


@router.delete(
    "/api/credential/{credential_id}", response={204: None}, summary="Forget a credential"
)
def remove_key(request: ApiRequest, credential_id: str) -> HttpResponse:
    credential = _credential(request, credential_id)
    remove_credential(credential, actor=request.auth.user, ip=client_ip(request))
    return HttpResponse(status=204)


@router.patch(
    "/api/credential/{credential_id}", response={204: None}, summary="Rename a credential"
)
def rename_key(request: ApiRequest, credential_id: str, body: LabelBody) -> HttpResponse:
    credential = _credential(request, credential_id)
    rename_credential(credential, label=body.label, actor=request.auth.user, ip=client_ip(request))
    return HttpResponse(status=204)


def _credential(request: ApiRequest, credential_id: str) -> Credential:
    """Raises: NotFound for one that is neither the team's nor the caller's own; Forbidden."""
    access = credential_access(request)
    number = credential_id.removeprefix("cred_")
    usable = Q(provider__team=access.team) | Q(provider__owner=access.user)
    rows = Credential.objects.filter(usable).select_related("provider__team", "provider__owner")
    row = rows.filter(pk=int(number)).first() if _NUMBER.fullmatch(number) else None
    if row is None:
        raise NotFound("Credential", credential_id)
    if row.provider.team_id is not None:
        require_role(access, Role.ADMIN)
    return row


def _credentials(request: ApiRequest, location: Location) -> dict[str, list[Credential]]:
    usable = Q(provider__team=location.project.team) | Q(provider__owner=request.auth.user)
    found = defaultdict(list)
    for row in Credential.objects.filter(usable).select_related("provider").order_by("pk"):
        found[row.provider.provider_id].append(row)
    return found


def _integration(wire: JsonObject, held: dict[str, list[Credential]]) -> Integration:
    provider_id = text_of(wire, "id")
    key: KeyMethod = {"type": "key", "label": "API key"}
    return {
        "id": provider_id,
        "name": text_of(wire, "name"),
        "methods": [_method(one) for one in methods_of(provider_id)] or [key],
        "connections": [
            {"type": "credential", "id": f"cred_{one.pk}", "label": _label(one)}
            for one in held.get(provider_id, ())
        ],
    }


def _label(row: Credential) -> str:
    return row.label or row.account or (f"…{row.last4}" if row.last4 else "API key")


def _method(method: Method) -> KeyMethod | OAuthMethod:
    label = _(method.label)
    if method.kind == "key":
        return {"type": "key", "label": label}
    wire: OAuthMethod = {"id": method.id, "type": "oauth", "label": label}
    if method.prompts:
        wire["prompts"] = [prompt_to_wire(prompt) for prompt in method.prompts]
    return wire


def _time_of(attempt: SignInAttempt) -> AttemptTime:
    return {"created": to_ms(attempt.created_at), "expires": to_ms(attempt.expires_at)}


def _status(attempt: SignInAttempt) -> AttemptStatus:
    time = _time_of(attempt)
    match attempt.status:
        case SignInAttempt.Status.PENDING | SignInAttempt.Status.COMPLETE:
            return {"status": attempt.status, "time": time}
        case SignInAttempt.Status.FAILED if attempt.expires_at > timezone.now():
            return {"status": "failed", "message": fault_text(attempt), "time": time}
        case _:
            return {"status": "expired", "time": time}
