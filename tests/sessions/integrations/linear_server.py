"""Linear on loopback: as much of its GraphQL schema as is asked for, executed as strictly as it is.

The types, and which of their fields may be null, are those of `packages/sdk/src/schema.graphql` in
github.com/linear/linear.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any
from uuid import UUID, uuid4

from graphql import GraphQLError, build_schema, graphql_sync

from tests.web_server import Send, answer, serve_any

Json = dict[str, Any]
# Not of the form of real ones, which scanners look for.
KEY, SECRET = "played-linear-key", "played-webhook-secret"
EMOJI = {"eyes", "tada", "confused"}
WORKSPACE, AGENT = "0a000000-0000-4000-8000-000000000001", "0a000000-0000-4000-8000-00000000000a"
BOB, MALLORY = "0a000000-0000-4000-8000-00000000000b", "0a000000-0000-4000-8000-00000000000c"
SCHEMA = build_schema(
    """
type Query {
  viewer: User!
  organization: Organization!
  teams(filter: TeamFilter, first: Int): TeamConnection!
  issue(id: String!): Issue!
  user(id: String!): User!
  comment(id: String): Comment!
}
type Mutation {
  commentCreate(input: CommentCreateInput!): CommentPayload!
  commentUpdate(id: String!, input: CommentUpdateInput!): CommentPayload!
  reactionCreate(input: ReactionCreateInput!): ReactionPayload!
  reactionDelete(id: String!): DeletePayload!
}
type User { id: ID! name: String! email: String! active: Boolean! guest: Boolean! }
type Organization { id: ID! name: String! urlKey: String! }
type Team { id: ID! key: String! name: String! }
type TeamConnection { nodes: [Team!]! }
type Issue { id: ID! identifier: String! title: String! description: String }
type Comment { id: ID! body: String! }
type CommentPayload { success: Boolean! comment: Comment! }
type ReactionPayload { success: Boolean! }
type DeletePayload { success: Boolean! }
input StringComparator { eq: String eqIgnoreCase: String }
input TeamFilter { key: StringComparator }
input CommentCreateInput { id: String issueId: String body: String parentId: String }
input CommentUpdateInput { body: String }
input ReactionCreateInput { id: String commentId: String issueId: String emoji: String! }
"""
)


class Refused(GraphQLError):
    def __init__(
        self, message: str, code: str = "INPUT_ERROR", kind: str = "invalid input"
    ) -> None:
        more = {"code": code, "type": kind, "userError": True, "userPresentableMessage": message}
        super().__init__(message, extensions=more)


@dataclass
class FakeLinear:
    """One workspace with two teams."""

    base: str = ""
    key: str = KEY
    people: dict[str, Json] = field(
        default_factory=lambda: {
            AGENT: _person(AGENT, "Agent"),
            BOB: _person(BOB, "Bob Builder"),
            MALLORY: _person(MALLORY, "Mallory", guest=True),
        }
    )
    issues: dict[str, Json] = field(default_factory=dict)
    comments: dict[str, Json] = field(default_factory=dict)
    # What each is to, and its emoji.
    reactions: dict[str, tuple[str, str]] = field(default_factory=dict)
    # What is answered next, whatever is asked.
    then: list[Send] = field(default_factory=list)
    # What is done when it is asked, and its answer lost.
    loses: str = ""
    asked: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.open("ENG-7", "The till is wrong", "It adds tax twice.")

    def open(self, key: str, title: str, description: str | None, **more: Any) -> Json:
        team, _, number = key.partition("-")
        about = {"id": str(uuid4()), "identifier": key, "number": int(number), "title": title}
        about |= {"description": description, "labels": [], "labelIds": [], "assigneeId": None}
        about |= {"teamId": team, "team": {"id": team, "key": team, "name": team}}
        about |= {"url": f"https://linear.app/acme/issue/{key}", "createdAt": _now()}
        self.issues[key] = {**about, "updatedAt": _now(), **more}
        return self.issues[key]

    def take(self, handler: BaseHTTPRequestHandler) -> None:
        body = handler.rfile.read(int(handler.headers.get("content-length") or 0))
        if self.then:
            self.then.pop(0)(handler)
            return
        status, said = self._answer(handler, body)
        if self.loses and self.loses in self.asked[-1]:
            handler.close_connection = True
            return
        sent = json.dumps(said).encode()
        left = {"X_RateLimit_Requests_Remaining": "1499"}
        answer(sent, status=status, content_type="application/json", **left)(handler)

    def _answer(self, handler: BaseHTTPRequestHandler, body: bytes) -> tuple[int, Json]:
        if handler.path != "/graphql" or handler.command != "POST":
            return 404, {"message": "Not found"}
        # Keys come as they are; only tokens of OAuth are Bearer ones.
        if handler.headers.get("authorization") != self.key:
            return 401, refusal("Authentication required", "AUTHENTICATION_ERROR")
        if handler.headers.get("content-type") != "application/json":
            return 400, refusal("This operation has been blocked", "BAD_REQUEST")
        asked = json.loads(body)
        self.asked.append(asked["query"])
        done = graphql_sync(SCHEMA, asked["query"], self, variable_values=asked["variables"])
        return 200, done.formatted

    # The resolvers, by the names of their fields.
    def viewer(self, _info: object) -> Json:
        return self.people[AGENT]

    def organization(self, _info: object) -> Json:
        return {"id": WORKSPACE, "name": "Acme", "urlKey": "acme"}

    def teams(self, _info: object, filter: Json | None = None, first: int = 50) -> Json:
        wanted = filter["key"]["eqIgnoreCase"].upper() if filter else None
        teams = [{"id": str(uuid4()), "key": key, "name": key} for key in ("ENG", "OPS")]
        return {"nodes": [one for one in teams if wanted in (None, one["key"])][:first]}

    def issue(self, _info: object, id: str) -> Json:
        return _found(self.issues, id, "Issue")

    def user(self, _info: object, id: str) -> Json:
        return _found(self.people, id, "User")

    def comment(self, _info: object, id: str = "") -> Json:
        return _found(self.comments, id, "Comment")

    def commentCreate(self, _info: object, input: Json) -> Json:
        made = input.get("id") or str(uuid4())
        if UUID(made).version != 4:
            raise Refused("Argument Validation Error")
        if made in self.comments:
            raise Refused("conflict on insert of Comment")
        issue = _found(self.issues, input.get("issueId", ""), "Issue")
        if not (input.get("body") or "").strip():
            raise Refused("Argument Validation Error")
        comment = {"id": made, "body": input["body"], "issue": issue["identifier"], "edits": 0}
        self.comments[made] = comment
        return {"success": True, "comment": comment}

    def commentUpdate(self, _info: object, id: str, input: Json) -> Json:
        comment = _found(self.comments, id, "Comment")
        comment |= {**input, "edits": comment["edits"] + 1}
        return {"success": True, "comment": comment}

    def reactionCreate(self, _info: object, input: Json) -> Json:
        made, on = input.get("id") or str(uuid4()), input.get("commentId")
        if UUID(made).version != 4 or bool(on) == ("issueId" in input):
            raise Refused("Argument Validation Error")
        if made in self.reactions:
            raise Refused("conflict on insert of Reaction")
        if on:
            _found(self.comments, on, "Comment")
        else:
            on = _found(self.issues, input["issueId"], "Issue")["identifier"]
        if input["emoji"] not in EMOJI:
            raise Refused("Argument Validation Error")
        self.reactions[made] = (on, input["emoji"])
        return {"success": True}

    def reactionDelete(self, _info: object, id: str) -> Json:
        return {"success": self.reactions.pop(id, None) is not None}

    # What it sends.
    def says(self, text: str, *, by: str = BOB, key: str = "ENG-7", **more: Any) -> Json:
        """Somebody comments on an issue."""
        made, issue = str(uuid4()), self.issues[key]
        self.comments[made] = {"id": made, "body": text, "issue": key, "edits": 0}
        about = {one: issue[one] for one in ("id", "identifier", "title", "teamId", "team", "url")}
        data = {"id": made, "body": text, "createdAt": _now(), "updatedAt": _now(), "issue": about}
        data |= {"issueId": issue["id"], "userId": by, "user": self.people[by], **more}
        return self.event("Comment", "create", data, by)

    def happens(
        self,
        action: str,
        before: Json | None = None,
        *,
        key: str = "ENG-7",
        by: str = BOB,
        **more: Any,
    ) -> Json:
        """Somebody creates an issue or changes it: `before` is what it was, `more` what it is."""
        self.issues[key] |= more
        sent = self.event("Issue", action, self.issues[key], by)
        return sent if before is None else {**sent, "updatedFrom": before}

    def event(self, kind: str, action: str, data: Json, by: str) -> Json:
        actor = {**self.people[by], "type": "user"} if by in self.people else {"id": by}
        at = {"createdAt": _now(), "webhookTimestamp": int(time.time() * 1000)}
        sent = {"action": action, "type": kind, "actor": actor, "data": data, **at}
        return {
            **sent,
            "url": "https://linear.app/acme/issue/ENG-7",
            "organizationId": WORKSPACE,
            "webhookId": str(uuid4()),
        }


def signed(sent: Json, *, secret: str = SECRET) -> tuple[bytes, dict[str, str]]:
    """Returns: the body and the headers of a delivery."""
    body = json.dumps(sent).encode()
    return body, {
        "Linear-Delivery": str(uuid4()),
        "Linear-Event": sent.get("type", ""),
        "Linear-Signature": hmac.new(secret.encode(), body, hashlib.sha256).hexdigest(),
    }


def refusal(message: str, code: str, kind: str = "") -> Json:
    more = {"code": code, "type": kind or code.lower().replace("_", " ")}
    return {"errors": [{"message": message, "extensions": more}], "data": None}


def limited(wait_s: int) -> Send:
    """Too many requests: Linear says it with the status 400."""

    def send(handler: BaseHTTPRequestHandler) -> None:
        at = str(int((time.time() + wait_s) * 1000))
        body = json.dumps(refusal("Rate limit exceeded", "RATELIMITED")).encode()
        left = {"X_RateLimit_Requests_Remaining": "0", "X_RateLimit_Requests_Reset": at}
        answer(body, status=400, content_type="application/json", **left)(handler)

    return send


def _found(rows: dict[str, Json], id: str, kind: str) -> Json:
    for known, row in rows.items():
        if id and id in (known, row["id"]):
            return row
    message = f"Entity not found: {kind} - Could not find referenced {kind}."
    raise Refused(message)


def _person(id: str, name: str, *, guest: bool = False) -> Json:
    email = f"{name.split()[0].lower()}@acme.example"
    return {"id": id, "name": name, "email": email, "active": True, "guest": guest}


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())


@contextmanager
def linear() -> Iterator[FakeLinear]:
    server = FakeLinear()
    with serve_any(server.take) as base:
        server.base = base
        yield server
