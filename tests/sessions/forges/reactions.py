"""Reactions as each forge has them: who has already given one, and how one is taken back."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from sessions.forges.adapter import ForgeKind

Json = dict[str, Any]
# GitHub's eight, which are also those that Gitea allows by itself.
NAMES = {"+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"}
# Some of GitLab's.
EMOJI = {"thumbsup", "confused", "tada", "eyes", "rocket"}
MISSING = 404, {"message": "Not Found"}


@dataclass
class PlayedReactions:
    """`given` are {"id", "on", "name", "user"}, `changes` the names in the order of time."""

    given: list[Json] = field(default_factory=list)
    changes: list[str] = field(default_factory=list)
    # Whether the token may do everything but this.
    are_refused: bool = False

    def on(self, number: int) -> list[str]:
        """Returns: the names of those to a comment or an issue, whose numbers never meet."""
        return [one["name"] for one in self.given if one["on"].endswith(f"/{number}")]

    def give(self, on: str, name: str, user: int) -> tuple[Json, bool]:
        """Returns: it, and whether it is new."""
        mine = {"on": on, "name": name, "user": user}
        for one in self.given:
            if mine.items() <= one.items():
                return one, False
        self.given.append({"id": 500 + len(self.changes), **mine})
        self.changes.append(f"+{name}")
        return self.given[-1], True

    def take(self, one: Json) -> None:
        self.given.remove(one)
        self.changes.append(f"-{one['name']}")

    def answer(
        self, kind: ForgeKind, method: str, on: str, number: str, body: Json, *, user: int
    ) -> tuple[int, Any]:
        """`on` is what is reacted to, and is there; `number` that of a reaction, or empty."""
        if self.are_refused and method != "GET":
            return 403, {"message": "Resource not accessible by integration"}
        if method == "GET" and not number:
            return 200, [_shown(kind, one) for one in self.given if one["on"] == on]
        if method == "POST" and not number:
            return self._post(kind, on, body, user)
        if method == "DELETE" and kind is ForgeKind.GITEA and not number:
            # It says nothing of one that was not there.
            if set(body) != {"content"}:
                return 422, {"message": "[Content]: Required"}
            mine = {"on": on, "name": body["content"], "user": user}
            for one in [one for one in self.given if mine.items() <= one.items()]:
                self.take(one)
            return 200, ""
        if method == "DELETE" and kind is not ForgeKind.GITEA:
            found = [one for one in self.given if (one["on"], str(one["id"])) == (on, number)]
            if not found:
                return MISSING
            if found[0]["user"] != user:
                return (401 if kind is ForgeKind.GITLAB else 403), {"message": "Unauthorized"}
            self.take(found[0])
            return 204, ""
        return 405, {"message": "Method Not Allowed"}

    def _post(self, kind: ForgeKind, on: str, body: Json, user: int) -> tuple[int, Any]:
        if kind is ForgeKind.GITLAB:
            if set(body) != {"name"}:
                return 400, {"error": "name is missing"}
            made, is_new = (
                self.give(on, body["name"], user) if body["name"] in EMOJI else ({}, False)
            )
            why = "has already been taken" if made else "is not a valid emoji name"
            refused = {"message": f"404 Award Emoji Name {why} Not Found"}
            return (201, _shown(kind, made)) if is_new else (404, refused)
        if set(body) != {"content"} or body["content"] not in NAMES:
            return (403 if kind is ForgeKind.GITEA else 422), {"message": "Validation Failed"}
        made, is_new = self.give(on, body["content"], user)
        return 201 if is_new else 200, _shown(kind, made)


def _shown(kind: ForgeKind, one: Json) -> Json:
    user = {"id": one["user"], "login": f"person{one['user']}", "username": f"person{one['user']}"}
    if kind is ForgeKind.GITLAB:
        return {"id": one["id"], "name": one["name"], "user": user}
    if kind is ForgeKind.GITEA:
        return {"user": user, "content": one["name"], "created_at": "2026-11-22T12:00:00Z"}
    return {"id": one["id"], "user": user, "content": one["name"]}


def reacted_to(kind: ForgeKind, rest: str) -> tuple[str, str, str] | None:
    """Read the path of a reaction, below the repository.

    Returns: the kind and the id of what it is to, and its own id, which is empty for all of them.
    """
    form = r"(issues/comments|pulls/comments|issues)/(\d+)/reactions(?:/(\d+))?"
    if kind is ForgeKind.GITEA:
        form = form.replace("|pulls/comments", "")
    if kind is ForgeKind.GITLAB:
        form = r"((?:issues|merge_requests)/\d+/notes|issues|merge_requests)/(\d+)/award_emoji"
        form += r"(?:/(\d+))?"
    found = re.fullmatch(f"/{form}", rest)
    return (found[1], found[2], found[3] or "") if found else None
