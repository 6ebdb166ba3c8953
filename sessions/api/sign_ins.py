"""Signing in at a provider, as clients do it.

A subscription is a person's, so what comes of it is their own account, where the team lets them use
one; else it becomes the team's, if they are an admin.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Literal, NotRequired

from django.utils import timezone
from django.utils.translation import gettext as _
from ninja import Field, Router, Schema
from typing_extensions import TypedDict

from opencode_web.lib.db import in_db
from opencode_web.lib.errors import AppError, ErrorCode, Forbidden, Invalid
from opencode_web.lib.outside import run_outside
from opencode_web.lib.shapes import drop_none
from providers.access import newest_attempt
from providers.llm.sign_in import Method, Prompt, methods_of, sign_in_ids
from providers.llm.sign_in.methods import Option
from providers.models import SignInAttempt
from providers.sign_ins import (
    OWN_NOT_ALLOWED,
    advance_sign_in,
    begin_sign_in,
    fault_text,
    finish_sign_in,
    instructions_of,
    may_use_own,
    return_uri,
)
from sessions.api.auth import ApiRequest, AsyncTokenOrCookie
from sessions.api.config import team_of
from sessions.api.location import find_location
from teams.access import TeamAccess, require_role
from teams.http import client_ip
from teams.models import Role, Scope, Team, User

router = Router(tags=["provider"])

# A browser that nobody looks at any more must not be asked after for ever.
_LOOK_AGAIN_S = 1.0


class AuthorizeBody(Schema):
    """Which way to sign in, by its place in the list, and the answers to what it asks first."""

    method: int = Field(ge=0, le=100)
    inputs: dict[str, str] = Field(default_factory=dict, max_length=20)


class CallbackBody(Schema):
    """What the person brings back, where the way to sign in wants it."""

    method: int = Field(ge=0, le=100)
    code: str | None = Field(default=None, max_length=20_000)


class NoSignIn(AppError):
    """Nobody has begun to sign in."""

    code = ErrorCode.OAUTH_MISSING


class NoCode(AppError):
    """The way to sign in ends with a code that the person brings back."""

    code = ErrorCode.OAUTH_CODE_MISSING


class SignInFailed(AppError):
    """The provider, or the person there, has said no."""

    code = ErrorCode.OAUTH_CALLBACK_FAILED


class PromptOption(TypedDict):
    label: str
    value: str
    hint: NotRequired[str]


class PromptWhen(TypedDict):
    key: str
    op: Literal["eq", "neq"]
    value: str


class TextPrompt(TypedDict):
    type: Literal["text"]
    key: str
    message: str
    placeholder: NotRequired[str | None]
    when: NotRequired[PromptWhen | None]


class SelectPrompt(TypedDict):
    type: Literal["select"]
    key: str
    message: str
    options: list[PromptOption]
    when: NotRequired[PromptWhen | None]


class AuthMethod(TypedDict):
    type: Literal["oauth", "api"]
    label: str
    prompts: NotRequired[list[TextPrompt | SelectPrompt]]


class Authorization(TypedDict):
    url: str
    method: Literal["auto", "code"]
    instructions: str


def credential_access(request: ApiRequest) -> TeamAccess:
    """Returns: the team that a request about credentials is for.

    A token needs the scope that admins' work needs, whoever's credentials they are.

    Raises: NotFound; Forbidden below member, and for a token with less.
    """
    location = find_location(request)
    request.auth.require(Scope.ADMIN)
    if location is None:
        return team_of(request, need=Role.MEMBER)
    # They are of use in the whole team, so the role in the project gives no right to them.
    access = location.access.team.in_team
    require_role(access, Role.MEMBER)
    return access


def may_connect(request: ApiRequest) -> bool:
    """Whether the caller can add a provider that is not set up yet."""
    try:
        holder_of(credential_access(request))
    except AppError:
        return False
    return True


def holder_of(access: TeamAccess) -> Team | User:
    """Returns: whose account becomes what the person signs in for.

    Raises: Forbidden for a member of a team that does not want accounts of members.
    """
    if may_use_own(access.team):
        return access.user
    if not access.can(Role.ADMIN):
        raise Forbidden(_(OWN_NOT_ALLOWED))
    return access.team


def methods_to_wire(keyed: Iterable[str]) -> dict[str, list[AuthMethod]]:
    """Returns: provider id -> `ProviderAuthMethod[]`, of all that can be signed in to.

    `keyed` are further providers that take a plain key.
    """
    key: AuthMethod = {"type": "api", "label": "API key"}
    found = {provider: [key] for provider in keyed}
    for provider in sign_in_ids():
        found[provider] = [method_to_wire(method) for method in methods_of(provider)]
    return dict(sorted(found.items()))


def method_to_wire(method: Method) -> AuthMethod:
    """Returns: `ProviderAuthMethod`."""
    wire: AuthMethod = {
        "type": "api" if method.kind == "key" else "oauth",
        "label": _(method.label),
    }
    if method.prompts:
        wire["prompts"] = [prompt_to_wire(prompt) for prompt in method.prompts]
    return wire


def prompt_to_wire(prompt: Prompt) -> TextPrompt | SelectPrompt:
    """Returns: a question as both versions of the API have it."""
    when: PromptWhen | None = (
        {"key": prompt.when.key, "op": prompt.when.op, "value": prompt.when.value}
        if prompt.when
        else None
    )
    if prompt.type == "select":
        select: SelectPrompt = {
            "type": "select",
            "key": prompt.key,
            "message": _(prompt.message),
            "options": [_option_to_wire(one) for one in prompt.options],
            "when": when,
        }
        return drop_none(select)
    text: TextPrompt = {
        "type": "text",
        "key": prompt.key,
        "message": _(prompt.message),
        "placeholder": prompt.placeholder or None,
        "when": when,
    }
    return drop_none(text)


def _option_to_wire(one: Option) -> PromptOption:
    option: PromptOption = {"label": one.label, "value": one.value}
    if one.hint:
        option["hint"] = one.hint
    return option


@router.post(
    "/provider/{provider_id}/oauth/authorize",
    summary="Begin to sign in at a provider",
    auth=AsyncTokenOrCookie(),
)
async def authorize(request: ApiRequest, provider_id: str, body: AuthorizeBody) -> Authorization:
    return await run_outside(_authorize, request, provider_id, body)


def _authorize(request: ApiRequest, provider_id: str, body: AuthorizeBody) -> Authorization:
    access = credential_access(request)
    attempt = begin_sign_in(
        holder_of(access),
        provider_id,
        _method(provider_id, body.method).id,
        body.inputs,
        actor=access.user,
        redirect_uri=return_uri(),
    )
    return {
        "url": attempt.url,
        "method": "auto" if attempt.is_polled else "code",
        "instructions": instructions_of(attempt),
    }


@router.post(
    "/provider/{provider_id}/oauth/callback",
    summary="Wait for the end of a sign-in",
    auth=AsyncTokenOrCookie(),
)
async def callback(request: ApiRequest, provider_id: str, body: CallbackBody) -> bool:
    """Wait until the person is done at the provider, or finish with the code they bring back."""
    access, ip = await in_db(credential_access, request), client_ip(request)
    attempt = await in_db(newest_attempt, access.user, provider_id)
    if attempt is None:
        raise NoSignIn("No sign-in has begun here.", providerID=provider_id[:100])
    if not attempt.is_polled:
        if not body.code:
            raise NoCode("Send the code, or the address of the page.", providerID=provider_id[:100])
        attempt = await run_outside(finish_sign_in, attempt, body.code, ip=ip)
    while attempt.status == SignInAttempt.Status.PENDING:
        next_look = min(attempt.next_poll_at, attempt.expires_at)
        wait_s = (next_look - timezone.now()).total_seconds()
        await asyncio.sleep(max(wait_s, _LOOK_AGAIN_S))
        attempt = await run_outside(advance_sign_in, attempt, ip=ip)
    if attempt.status != SignInAttempt.Status.COMPLETE:
        raise SignInFailed(fault_text(attempt), providerID=provider_id[:100])
    return True


def _method(provider_id: str, place: int) -> Method:
    methods = methods_of(provider_id)
    if place >= len(methods) or methods[place].kind == "key":
        raise Invalid(
            f"{provider_id[:100]} does not support this way to sign in. GET /provider/auth "
            "lists the supported ones."
        )
    return methods[place]
