"""Forges on loopback that hold what is asked of them against their real APIs, and remember it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

from sessions.forges.adapter import ForgeKind
from tests.sessions.forges.github_apps import PlayedApps
from tests.sessions.forges.pull_parts import Page, PullParts, answer_parts, page_of
from tests.sessions.forges.reactions import MISSING, PlayedReactions, reacted_to
from tests.web_server import answer, serve_any

TOKEN = "glpat-0123456789abcdef"
Json = dict[str, Any]


@dataclass
class FakeForge:
    """One repository with its pull requests. `then` answers in place of the next requests."""

    kind: ForgeKind
    path: str = "acme/till"
    token: str = TOKEN
    base: str = ""
    # Method, path with its query, headers, body.
    seen: list[tuple[str, str, dict[str, str], Json]] = field(default_factory=list)
    pulls: list[Json] = field(default_factory=list)
    branches: set[str] = field(default_factory=lambda: {"main", "opencode/mend"})
    # What one check says, and how many more have passed.
    checks: str = ""
    passed: int = 0
    then: list[Callable[[BaseHTTPRequestHandler], None]] = field(default_factory=list)
    # What is written on its issues and pull requests: {"id", "body", "on"}.
    comments: list[Json] = field(default_factory=list)
    issues: set[int] = field(default_factory=lambda: {7, 8})
    # GitHub's comments on lines, which have numbers of their own.
    lines: set[int] = field(default_factory=set)
    parts: PullParts = field(default_factory=PullParts)
    reactions: PlayedReactions = field(default_factory=PlayedReactions)
    # The accounts that may push, and the token's own; names are "person" and the number.
    writers: set[int] = field(default_factory=set)
    account: int = 1
    # GitHub's.
    apps: PlayedApps = field(default_factory=PlayedApps)
    # Whether what is written is kept and the answer lost.
    loses_answers: bool = False

    @property
    def api(self) -> str:
        return self.base + {"github": "/api/v3", "gitlab": "/api/v4", "gitea": "/api/v1"}[self.kind]

    @property
    def page(self) -> str:
        return f"{self.base}/{self.path}"

    def take(self, handler: BaseHTTPRequestHandler) -> None:
        length = int(handler.headers.get("content-length") or 0)
        body = json.loads(handler.rfile.read(length) or b"{}")
        headers = {name.lower(): value for name, value in handler.headers.items()}
        self.seen.append((handler.command, handler.path, headers, body))
        if self.then:
            self.then.pop(0)(handler)
            return
        before = self._written()
        status, said = self._answer(handler.command, handler.path, headers, body)
        if self.loses_answers and self._written() > before:
            handler.close_connection = True
            return
        if isinstance(said, str):
            answer(said.encode(), status=status)(handler)
            return
        links = said.links(self.base, handler.path) if isinstance(said, Page) else {}
        sent = json.dumps(said).encode()
        answer(sent, status=status, content_type="application/json", **links)(handler)

    def _written(self) -> int:
        return len(self.comments) + self.parts.written + len(self.reactions.changes)

    def _answer(
        self, method: str, path: str, headers: dict[str, str], body: Json
    ) -> tuple[int, Any]:
        parts = urlsplit(path)
        root = urlsplit(self.api).path
        token = headers.get("authorization", "").rpartition(" ")[2]
        below = parts.path.removeprefix(root)
        if said := self.apps.answer(method, below, token, body):
            return said
        is_signed = self._is_signed(headers)
        if said := None if is_signed else self.apps.refusal(method, below, token):
            return said
        path = quote(self.path, safe="") if self.kind is ForgeKind.GITLAB else self.path
        here = f"{root}/{'projects' if self.kind is ForgeKind.GITLAB else 'repos'}/{path}"
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        rest = parts.path.removeprefix(here)
        if rest != parts.path and (said := self._react(method, rest, body)):
            return said
        if rest != parts.path and (said := answer_parts(self, method, rest, query, body)):
            return said
        if parts.path == f"{root}/user":
            return 200, {"id": self.account, "login": f"person{self.account}"}
        if self.kind is ForgeKind.GITLAB:
            root += f"/projects/{quote(self.path, safe='')}"
            if (number := parts.path.removeprefix(f"{root}/members/all/")) != parts.path:
                is_writer = int(number) in self.writers
                return (200, {"access_level": 30}) if is_writer else (404, {"message": "404"})
            if (rest := parts.path.removeprefix(root)) != parts.path and "/notes" in rest:
                return self._notes(method, rest, query, body)
            root += "/merge_requests"
        else:
            root += f"/repos/{self.path}"
            if (name := parts.path.removeprefix(f"{root}/collaborators/")) != parts.path:
                return self._permission(name)
            if (rest := parts.path.removeprefix(root)) != parts.path and "/issues/" in rest:
                return self._issue_comments(method, rest, query, body)
        if not parts.path.startswith(root):
            return 404, {"message": "404 Not Found"}
        rest = parts.path.removeprefix(root)
        return {"github": self._github, "gitlab": self._gitlab, "gitea": self._gitea}[self.kind](
            method, rest, query, body
        )

    def _permission(self, rest: str) -> tuple[int, Any]:
        name, _, what = rest.partition("/")
        number = int(name.removeprefix("person"))
        said = "write" if number in self.writers else "read"
        if what != "permission":
            return 404, {"message": "Not Found"}
        return 200, {"permission": said, "user": {"id": number, "login": name}}

    def _is_signed(self, headers: dict[str, str]) -> bool:
        if self.kind is ForgeKind.GITLAB:
            return headers.get("private-token") == self.token
        word, _, token = headers.get("authorization", "").partition(" ")
        words = ("Bearer", "token") if self.kind is ForgeKind.GITHUB else ("token",)
        return word in words and token == self.token

    def _find(self, number: str) -> Json | None:
        key = "iid" if self.kind is ForgeKind.GITLAB else "number"
        return next((one for one in self.pulls if str(one[key]) == number), None)

    def _open(self, head: str) -> list[Json]:
        return [
            one for one in self.pulls if one["state"] in ("open", "opened") and _head(one) == head
        ]

    def _github(self, method: str, rest: str, query: Json, body: Json) -> tuple[int, Any]:
        if rest == "/pulls" and method == "POST":
            if set(body) != {"title", "body", "head", "base", "draft"}:
                return 422, {"message": "Invalid request."}
            if self._open(body["head"]):
                said = f"A pull request already exists for acme:{body['head']}."
                return 422, {"message": "Validation Failed", "errors": [{"message": said}]}
            if body["head"] not in self.branches:
                errors = [{"resource": "PullRequest", "field": "head", "code": "invalid"}]
                return 422, {"message": "Validation Failed", "errors": errors}
            return 201, self._add(body, draft=body["draft"])
        if rest == "/pulls":
            owner, _, head = query["head"].partition(":")
            found = self._open(head) if query["state"] == "open" else []
            return 200, [one for one in found if one.get("owner", "acme") == owner]
        if rest.startswith("/commits/"):
            conclusion = {"passed": "success", "failed": "failure"}.get(self.checks)
            run = {"status": "completed" if conclusion else "queued", "conclusion": conclusion}
            done = {"status": "completed", "conclusion": "success"}
            runs = [run, *[done] * self.passed] if self.checks else []
            return 200, {"total_count": len(runs), "check_runs": runs}
        return self._one(rest.removeprefix("/pulls/"))

    def _gitlab(self, method: str, rest: str, query: Json, body: Json) -> tuple[int, Any]:
        if rest == "" and method == "POST":
            if set(body) != {"title", "description", "source_branch", "target_branch"}:
                return 400, {"error": "it is not valid"}
            if others := self._open(body["source_branch"]):
                said = "Another open merge request already exists for this source branch: "
                return 409, {"message": [f"{said}!{others[0]['iid']}"]}
            made = {
                "iid": len(self.pulls) + 1,
                "web_url": f"{self.page}/-/merge_requests/{len(self.pulls) + 1}",
                "title": body["title"],
                "state": "opened",
                "draft": body["title"].startswith("Draft:"),
                "description": body["description"],
                "source_branch": body["source_branch"],
                "target_branch": body["target_branch"],
                "source_project_id": 3,
                "target_project_id": 3,
            }
            self.pulls.append(made)
            return 201, made
        if rest == "":
            wanted = self._open(query["source_branch"]) if query["state"] == "opened" else []
            return 200, wanted
        status, found = self._one(rest.removeprefix("/"))
        if status == 200 and self.checks:
            statuses = {"running": "running", "passed": "success", "failed": "failed"}
            found = {**found, "head_pipeline": {"status": statuses[self.checks]}}
        return status, found

    def _gitea(self, method: str, rest: str, query: Json, body: Json) -> tuple[int, Any]:
        if rest == "/pulls" and method == "POST":
            if set(body) != {"title", "body", "head", "base"}:
                return 422, {"message": "Invalid"}
            if self._open(body["head"]):
                return 409, {"message": "pull request already exists for these targets [id: 1]"}
            if body["head"] not in self.branches:
                return 404, {"message": "The target couldn't be found."}
            return 201, self._add(body, draft=body["title"].startswith("WIP:"))
        if rest == "/pulls":
            found = [one for one in self.pulls if one["state"] == query.get("state", "open")]
            return page_of(found, query, "limit")
        if rest.startswith("/commits/"):
            states = {"": "", "running": "pending", "passed": "success", "failed": "failure"}
            statuses = [states[self.checks], *["success"] * self.passed] if self.checks else []
            return 200, {
                "state": states[self.checks],
                "total_count": len(statuses),
                "statuses": [{"status": status} for status in statuses],
            }
        return self._one(rest.removeprefix("/pulls/"))

    def comment(self, thread: str, text: str) -> Json:
        """Somebody writes one on the forge."""
        made = {"id": 1000 + len(self.comments), "body": text, "on": thread}
        if self.kind is ForgeKind.GITHUB:
            made["url"] = f"{self.api}/repos/{self.path}/issues/comments/{made['id']}"
        self.comments.append(made)
        return made

    def _write(self, thread: str, body: Json) -> tuple[int, Any]:
        if set(body) != {"body"} or not body["body"].strip() or len(body["body"]) > 65_536:
            return 422, {"message": "Validation Failed"}
        return 201, self.comment(thread, body["body"])

    def _change(self, comment: str, body: Json) -> tuple[int, Any]:
        found = next((one for one in self.comments if str(one["id"]) == comment), None)
        if found is None:
            return 404, {"message": "Not Found"}
        found["body"] = body["body"]
        return 200, found

    def _react(self, method: str, rest: str, body: Json) -> tuple[int, Any] | None:
        """Returns: None for what is about no reaction."""
        said = reacted_to(self.kind, rest)
        if said is None:
            return None
        about, number, made = said
        if about == "pulls/comments":
            ids = self.lines
        elif about.endswith(("comments", "notes")):
            ids = {one["id"] for one in self.comments}
        else:
            ids = self._numbers()
        if int(number) not in ids:
            return MISSING
        on = f"{about.rpartition('/')[2]}/{number}"
        return self.reactions.answer(self.kind, method, on, made, body, user=self.account)

    def _issue_comments(self, method: str, rest: str, query: Json, body: Json) -> tuple[int, Any]:
        match method, *rest.removeprefix("/issues/").split("/"):
            case "POST", number, "comments" if int(number) in self._numbers():
                return self._write(number, body)
            case "GET", number, "comments":
                found = [one for one in self.comments if one["on"] == number]
                # Gitea has no pages of these.
                is_paged = self.kind is ForgeKind.GITHUB
                return page_of(found, query, "per_page") if is_paged else (200, found)
            case "PATCH", "comments", comment:
                return self._change(comment, body)
        return 404, {"message": "Not Found"}

    def _notes(self, method: str, rest: str, query: Json, body: Json) -> tuple[int, Any]:
        kind, number, _, *more = rest.strip("/").split("/")
        thread = f"{kind}/{number}"
        match method, *more:
            case ["POST"] if kind == "merge_requests" or int(number) in self.issues:
                return self._write(thread, body)
            case ["GET"]:
                found = [one for one in reversed(self.comments) if one["on"] == thread]
                return page_of(found, query, "per_page")
            case ["PUT", comment]:
                return self._change(comment, body)
        return 404, {"message": "404 Not found"}

    def _numbers(self) -> set[int]:
        key = "iid" if self.kind is ForgeKind.GITLAB else "number"
        return self.issues | {int(one[key]) for one in self.pulls}

    def _one(self, number: str) -> tuple[int, Any]:
        found = self._find(number)
        return (200, found) if found else (404, {"message": "Not Found"})

    def _add(self, body: Json, *, draft: bool) -> Json:
        number = len(self.pulls) + 1
        made = {
            "number": number,
            "html_url": f"{self.page}/pulls/{number}",
            "title": body["title"],
            "body": body["body"],
            "state": "open",
            "draft": draft,
            "merged": False,
            "merged_at": None,
            "head": {"ref": body["head"], "sha": "a" * 40, "repo_id": 7},
            "base": {"ref": body["base"], "repo_id": 7},
        }
        self.pulls.append(made)
        return made

    def settle(self, number: int, *, merged: bool) -> None:
        """Somebody merges or closes it on the forge."""
        one = self._find(str(number))
        assert one is not None
        if self.kind is ForgeKind.GITLAB:
            one["state"] = "merged" if merged else "closed"
        else:
            one["state"] = "closed"
            one["merged"] = merged
            one["merged_at"] = "2026-11-22T12:00:00Z" if merged else None


def _head(one: Json) -> str:
    return str(one["source_branch"] if "source_branch" in one else one["head"]["ref"])


@contextmanager
def forge(kind: ForgeKind, **more: Any) -> Iterator[FakeForge]:
    made = FakeForge(kind, **more)
    with serve_any(made.take) as made.base:
        yield made
