"""Linear: comments on issues by webhook and by its GraphQL API.

Source: https://linear.app/developers/webhooks, https://linear.app/developers/graphql,
https://linear.app/developers/rate-limiting and the schema in npm's `@linear/sdk`.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

import httpx
from django.conf import settings
from django.utils.translation import gettext as _

from opencode_web.lib.errors import Invalid
from opencode_web.lib.json import (
    JsonObject,
    JsonValue,
    list_of,
    number_of,
    object_of,
    read_json,
    text_of,
)
from opencode_web.lib.reasons import Cause
from sessions.forges.adapter import OPENED, ForgeError, Reaction, Thread
from sessions.forges.api import Api, clean
from sessions.forges.inbound import (
    MAX_NAME_CHARS,
    MAX_TEXT_CHARS,
    MAX_TITLE_CHARS,
    Heard,
    cut,
    time_in,
)
from sessions.forges.reasons import ForgeReason as Why
from sessions.forges.triggers import Trigger
from sessions.integrations.system import Found

# Of a delivery: what is older may have been recorded by somebody.
WINDOW_S = 60
_SIGNATURE, _DELIVERY = "linear-signature", "linear-delivery"
_KEY = re.compile(r"([A-Z][A-Z0-9_]{0,19})-([1-9][0-9]{0,8})")
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
# Names are free texts, and stand in comments of ours.
_UNFIT_IN_NAMES = re.compile(r"[^\w .'-]+")
# Linear tells whoever's profile a comment links to.
_PROFILE = re.compile(r"(linear\.app/[^/\s]*/)(?=profiles)", re.IGNORECASE)
_MAX_WAIT_S, _USUAL_WAIT_S = 3600, 60
_LIMITS = ("requests", "complexity", "endpoint-requests")
_LIMITED = "RATELIMITED"
_REASONS = {
    "AUTHENTICATION_ERROR": Why.KEY_REFUSED,
    "FORBIDDEN": Why.KEY_FORBIDDEN,
    _LIMITED: Why.LIMITED,
}
_WHO = """query($key: String!) {
  viewer { id }
  organization { id name urlKey }
  teams(filter: { key: { eqIgnoreCase: $key } }) { nodes { key name } }
  others: teams(first: 20) { nodes { key } }
}"""
_ABOUT = """query($issue: String!, $author: String!, $named: Boolean!) {
  issue(id: $issue) { title description }
  user(id: $author) @include(if: $named) { active guest }
}"""
_FIND = "query($id: String!) { comment(id: $id) { id } }"
_CREATE = """mutation($input: CommentCreateInput!) {
  commentCreate(input: $input) { success }
}"""
_UPDATE = """mutation($id: String!, $input: CommentUpdateInput!) {
  commentUpdate(id: $id, input: $input) { success }
}"""
_REACT = """mutation($input: ReactionCreateInput!) { reactionCreate(input: $input) { success } }"""
_UNREACT = "mutation($id: String!) { reactionDelete(id: $id) { success } }"
# Where its name is another one.
_EMOJI = {Reaction.HOORAY: "tada"}


@dataclass(frozen=True)
class Linear:
    """The issues of one team of a workspace. A `sessions.integrations.system.Tracker`."""

    # An API key, or an access token of OAuth.
    token: str = field(repr=False)
    found: Found

    @property
    def host(self) -> str:
        return self.found.host

    @property
    def path(self) -> str:
        return self.found.path

    def is_signed(self, headers: Mapping[str, str], body: bytes, *, secret: str) -> bool:
        expected = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
        if not hmac.compare_digest(headers.get(_SIGNATURE, "").encode(), expected.encode()):
            return False
        try:
            sent = object_of({"sent": read_json(body.decode())}, "sent")
        except ValueError:
            return False
        sent_ms = number_of(sent, "webhookTimestamp") or 0
        return abs(time.time() - sent_ms / 1000) <= WINDOW_S

    def read(self, headers: Mapping[str, str], sent: JsonObject) -> tuple[str, Heard | None]:
        event = f"{text_of(sent, 'type')} {text_of(sent, 'action')}"[:MAX_NAME_CHARS]
        if text_of(sent, "organizationId") != self.found.workspace:
            return event, None
        match event:
            case "Comment create":
                return event, _comment(sent)
            case "Issue create":
                return event, self._opened(sent)
            case "Issue update":
                return event, self._changed(sent, headers.get(_DELIVERY, ""))
        return event, None

    def _opened(self, sent: JsonObject) -> Heard:
        data = object_of(sent, "data")
        also = [Trigger.ISSUE_LABELED.value] if data.get("labels") else []
        if data.get("assigneeId") == self.found.account:
            also.append(Trigger.ISSUE_ASSIGNED.value)
        heard = _issue(sent, Trigger.ISSUE_OPENED, at="createdAt")
        return replace(heard, comment=OPENED, labels=_labels(data), also=also)

    def _changed(self, sent: JsonObject, delivery: str) -> Heard | None:
        data, before = object_of(sent, "data"), object_of(sent, "updatedFrom")
        had = set(map(str, list_of(before, "labelIds")))
        labels = _labels(data, but=had) if "labelIds" in before else []
        is_own = data.get("assigneeId") == self.found.account and "assigneeId" in before
        if not (labels or is_own):
            return None
        trigger = Trigger.ISSUE_LABELED if labels else Trigger.ISSUE_ASSIGNED
        also = [Trigger.ISSUE_ASSIGNED.value] if labels and is_own else []
        # When it is sent again it has another time, and the same id.
        same = delivery if _ID.fullmatch(delivery) else ""
        heard = _issue(sent, trigger, at="updatedAt")
        return replace(heard, comment=same, labels=labels, also=also)

    async def probe(self, path: str) -> Found:
        said = await self._ask(_WHO, key=path)
        workspace, teams = object_of(said, "organization"), _nodes(said, "teams")
        if not teams:
            keys = ", ".join(text_of(one, "key")[:20] for one in _nodes(said, "others"))
            text = _("The API key sees no team {key}. It sees: {keys}.")
            raise Invalid(text.format(key=path, keys=keys or "-"), field="path")
        return Found(
            workspace=text_of(workspace, "id")[:40],
            host=f"linear.app/{cut(workspace.get('urlKey'), MAX_NAME_CHARS)}",
            path=text_of(teams[0], "key")[:20],
            name=cut(workspace.get("name"), MAX_NAME_CHARS),
            account=text_of(object_of(said, "viewer"), "id")[:40],
        )

    async def complete(self, heard: Heard) -> Heard:
        """The text of the issue, and whether the author is a member of the workspace."""
        named = bool(heard.author_id)
        said = await self._ask(_ABOUT, issue=heard.key, author=heard.author_id, named=named)
        issue, user = object_of(said, "issue"), object_of(said, "user")
        return replace(
            heard,
            title=cut(issue.get("title"), MAX_TITLE_CHARS),
            body=cut(issue.get("description"), MAX_TEXT_CHARS),
            is_trusted=user.get("active") is True and user.get("guest") is False,
        )

    async def may_write(self, heard: Heard) -> bool:
        return heard.is_trusted

    async def own_account(self) -> str:
        return self.found.account

    async def comment(self, thread: Thread, text: str, *, mark: str) -> str:
        given: JsonObject = {"id": _id_of(mark), "issueId": f"{self.path}-{thread.number}"}
        await self._ask(_CREATE, input={**given, "body": _harmless(text)})
        return _id_of(mark)

    async def find_comment(self, thread: Thread, *, mark: str, since: datetime) -> str:
        try:
            await self._ask(_FIND, id=_id_of(mark))
        except ForgeError as exc:
            if exc.reason is not Why.GONE:
                raise
            return ""
        return _id_of(mark)

    async def edit_comment(self, thread: Thread, comment: str, text: str, *, mark: str) -> bool:
        try:
            await self._ask(_UPDATE, id=comment, input={"body": _harmless(text)})
        except ForgeError as exc:
            # Somebody has deleted it, and its id cannot be used again.
            if exc.reason is not Why.GONE:
                raise
        return True

    async def react(self, thread: Thread, to: str, reaction: Reaction) -> str:
        issue = f"{self.path}-{thread.number}"
        about: JsonObject = {"issueId": issue} if to == OPENED else {"commentId": to}
        made = _id_of(f"{issue} {to} {reaction}")
        emoji = _EMOJI.get(reaction, reaction.value)
        try:
            await self._ask(_REACT, input={"id": made, "emoji": emoji, **about})
        except ForgeError as exc:
            # The answer to an earlier attempt was lost.
            if "conflict on insert" not in str(exc):
                raise
        return made

    async def unreact(self, thread: Thread, to: str, reaction: Reaction, made: str) -> None:
        await self._ask(_UNREACT, id=made)

    async def _ask(self, query: str, **variables: JsonValue) -> JsonObject:
        """Returns: the data. Raises: ForgeError."""
        form = "Bearer {}" if self.token.startswith("lin_oauth_") else "{}"
        api = _GraphQL("Linear", settings.LINEAR_API, self.token, ("authorization", form))
        said = await api.post("/graphql", {"query": query, "variables": variables})
        return object_of(said if isinstance(said, dict) else {}, "data")


class _GraphQL(Api):
    """An API that says in its answers what is wrong, whatever their status is."""

    def judge(self, response: httpx.Response, text: str, token: str) -> JsonValue:
        """Raises: ForgeError."""
        try:
            value = read_json(text)
        except ValueError:
            value = None
        errors = list_of(value, "errors") if isinstance(value, dict) else []
        if not errors:
            return super().judge(response, text, token)
        first = errors[0] if isinstance(errors[0], dict) else {}
        more, message = object_of(first, "extensions"), text_of(first, "message")
        code = text_of(more, "code")
        why = Why.GONE if message.startswith("Entity not found") else _REASONS.get(code)
        if why is not None:
            wait_s = _wait_s(response.headers) if code == _LIMITED else 0
            error = ForgeError(why, name=self.name, minutes=-(-wait_s // 60))
            error.wait_s = wait_s
            raise error
        if response.status_code >= 500:
            return super().judge(response, text, token)
        reason = Cause(Why.REFUSED, {"name": self.name, "status": response.status_code})
        said = clean(text_of(more, "userPresentableMessage") or message, token)
        raise ForgeError(Why.SAYING, reason=reason, words=said) if said else ForgeError(reason)


def _wait_s(headers: Mapping[str, str]) -> int:
    """Returns: until the last of the limits that are reached is none any more."""
    resets = [
        headers.get(f"x-ratelimit-{one}-reset", "")
        for one in _LIMITS
        if headers.get(f"x-ratelimit-{one}-remaining") == "0"
    ]
    known = [int(one) for one in resets if one.isdecimal() and len(one) <= 13]
    wait_s = -(-(max(known) - int(time.time() * 1000)) // 1000) if known else _USUAL_WAIT_S
    return min(max(1, wait_s), _MAX_WAIT_S)


def _comment(sent: JsonObject) -> Heard | None:
    """Returns: None for one that is not of a person, or not on an issue."""
    data = object_of(sent, "data")
    issue, user = object_of(data, "issue"), object_of(data, "user")
    if not issue or data.get("userId") is None or data.get("botActor"):
        return None
    return replace(
        _heard(sent, issue, by=user, at=time_in(data, "createdAt")),
        comment=_id(data, "id"),
        author_id=_id(data, "userId"),
        text=cut(data.get("body"), MAX_TEXT_CHARS),
    )


def _issue(sent: JsonObject, trigger: Trigger, *, at: str) -> Heard:
    """Returns: what somebody has done with an issue."""
    data, actor = object_of(sent, "data"), object_of(sent, "actor")
    heard = replace(_heard(sent, data, by=actor, at=time_in(data, at)), trigger=trigger.value)
    if text_of(actor, "type") != "user":
        return replace(heard, is_bot=True)
    return replace(heard, author_id=_id(actor, "id"))


def _heard(sent: JsonObject, issue: JsonObject, *, by: JsonObject, at: float) -> Heard:
    """Returns: which issue it is about. What it says more is asked for when it is needed.

    Raises: Invalid for an issue without its key.
    """
    key = _KEY.fullmatch(text_of(issue, "identifier"))
    if key is None:
        raise Invalid("The delivery has no valid identifier.", field="identifier")
    return Heard(
        repository=key[1],
        thread=Thread(int(key[2])),
        comment="",
        author_id="",
        author=cut(_UNFIT_IN_NAMES.sub("", text_of(by, "name")), MAX_NAME_CHARS),
        is_trusted=False,
        text="",
        title=cut(issue.get("title"), MAX_TITLE_CHARS),
        body="",
        url=cut(sent.get("url"), 1_000),
        at=at,
        key=key[0],
    )


def _labels(issue: JsonObject, but: Collection[str] = ()) -> list[str]:
    labels = [one for one in list_of(issue, "labels") if isinstance(one, dict)]
    return [cut(one.get("name"), MAX_NAME_CHARS) for one in labels if text_of(one, "id") not in but]


def _nodes(data: JsonObject, name: str) -> list[JsonObject]:
    return [one for one in list_of(object_of(data, name), "nodes") if isinstance(one, dict)]


def _id(data: JsonObject, name: str) -> str:
    """Raises: Invalid without one."""
    found = text_of(data, name)
    if not _ID.fullmatch(found):
        raise Invalid(f"The delivery has no valid {name}.", field=name)
    return found


def _id_of(mark: str) -> str:
    """Returns: the id that a comment or reaction is given, so that it is never made twice."""
    return str(UUID(bytes=hashlib.sha256(mark.encode()).digest()[:16], version=4))


def _harmless(text: str) -> str:
    return _PROFILE.sub("\\1\u200b", text)
