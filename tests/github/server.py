"""GitHub's REST API of one repository, as far as the action needs it, on loopback."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.web_server import answer, serve_any

Json = dict[str, Any]
TOKEN = "ghs_0123456789abcdef0123456789abcdef0123"
BOT = "github-actions[bot]"
REPOSITORY = "acme/till"
_MAX_CHARS = 65_535
_CONCLUSIONS = {
    *("action_required", "cancelled", "failure", "neutral", "success", "skipped", "timed_out"),
}


@dataclass
class FakeGitHub:
    """`then` answers in place of the next requests; `denied` are what the token may not write."""

    commit: str = ""
    diff: str = ""
    url: str = ""
    checks: list[Json] = field(default_factory=list)
    statuses: list[Json] = field(default_factory=list)
    comments: list[Json] = field(default_factory=list)
    seen: list[str] = field(default_factory=list)
    then: list[tuple[int, dict[str, str]]] = field(default_factory=list)
    denied: set[str] = field(default_factory=set)

    def take(self, handler: BaseHTTPRequestHandler) -> None:
        length = int(handler.headers.get("content-length") or 0)
        body = json.loads(handler.rfile.read(length) or "{}")
        parts = urlsplit(handler.path)
        self.seen.append(f"{handler.command} {parts.path}")
        if self.then:
            status, headers = self.then.pop(0)
            answer(b'{"message": "Later."}', status=status, **headers)(handler)
            return
        if handler.headers.get("authorization") != f"Bearer {TOKEN}":
            status, said = 401, {"message": "Bad credentials"}
        elif handler.headers.get("x-github-api-version") != "2022-11-28":
            status, said = 400, {"message": "Unknown version"}
        else:
            accept = handler.headers.get("accept", "")
            query = {name: int(values[0]) for name, values in parse_qs(parts.query).items()}
            status, said = self._answer(handler.command, parts.path, query, accept, body)
        text = said if isinstance(said, str) else json.dumps(said)
        answer(text.encode(), status=status, content_type="application/json")(handler)

    def _answer(
        self, method: str, path: str, query: dict[str, int], accept: str, body: Json
    ) -> tuple[int, Any]:
        unable = (403, {"message": "Resource not accessible by integration"})
        if path == "/user":
            return unable
        rest = path.removeprefix(f"/repos/{REPOSITORY}/")
        if rest.split("/")[0] in self.denied:
            return unable
        match method, rest.split("/"):
            case "GET", ["pulls", "7"]:
                assert accept == "application/vnd.github.diff"
                return 200, self.diff
            case "POST", ["check-runs"]:
                return self._check(body)
            case "POST", ["statuses", self.commit]:
                if len(body["description"]) > 140 or body["state"] not in {"success", "failure"}:
                    return 422, {"message": "Validation Failed"}
                self.statuses.append(body)
                return 201, body
            case "GET", ["issues", "7", "comments"]:
                size = min(query.get("per_page", 30), 100)
                first = (query.get("page", 1) - 1) * size
                return 200, self.comments[first : first + size]
            case "POST", ["issues", "7", "comments"]:
                return self._comment(None, body)
            case "PATCH", ["issues", "comments", number]:
                found = next((one for one in self.comments if str(one["id"]) == number), None)
                return self._comment(found, body) if found else (404, {"message": "Not Found"})
        return 404, {"message": "Not Found"}

    def _check(self, body: Json) -> tuple[int, Any]:
        output = body.get("output", {})
        is_valid = (
            body["head_sha"] == self.commit
            and body["name"]
            and body["status"] == "completed"
            and body["conclusion"] in _CONCLUSIONS
            and {"title", "summary"} <= set(output)
            and len(output["summary"]) <= _MAX_CHARS
        )
        if not is_valid:
            return 422, {"message": "Validation Failed"}
        self.checks.append(body)
        return 201, {"id": len(self.checks)}

    def _comment(self, found: Json | None, body: Json) -> tuple[int, Any]:
        if set(body) != {"body"} or not 0 < len(body["body"]) <= _MAX_CHARS:
            return 422, {"message": "Validation Failed"}
        if found is None:
            return 201, self.add_comment(BOT, body["body"])
        found["body"] = body["body"]
        return 200, found

    def add_comment(self, login: str, body: str) -> Json:
        made = {"id": len(self.comments) + 1, "user": {"login": login}, "body": body}
        self.comments.append(made)
        return made


@contextmanager
def fake_github() -> Iterator[FakeGitHub]:
    made = FakeGitHub()
    with serve_any(made.take) as made.url:
        yield made
