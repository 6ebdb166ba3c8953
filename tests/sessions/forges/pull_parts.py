"""What the played forges have of reviews, checks and statuses, as strict as the real ones."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from sessions.forges.adapter import ForgeKind

if TYPE_CHECKING:
    from tests.sessions.forges.servers import FakeForge

Json = dict[str, Any]
Said = tuple[int, Any]
_MISSING = (404, {"message": "Not Found"})


@dataclass
class PullParts:
    """`files` are the diff of every pull request: the hunks by path.

    `is_app`: the token is that of a GitHub App. `is_own`: it has opened the pull requests.
    """

    files: dict[str, str] = field(default_factory=dict)
    default_branch: str = "main"
    is_app: bool = False
    is_own: bool = False
    reviews: list[Json] = field(default_factory=list)
    discussions: list[Json] = field(default_factory=list)
    approvals: list[str] = field(default_factory=list)
    runs: list[Json] = field(default_factory=list)
    statuses: list[Json] = field(default_factory=list)

    @property
    def written(self) -> int:
        each = (self.reviews, self.discussions, self.approvals, self.runs, self.statuses)
        return sum(map(len, each)) + sum(len(one["annotations"]) for one in self.runs)

    def diff(self) -> str:
        heads = (
            f"diff --git a/{p} b/{p}\n--- a/{p}\n+++ b/{p}\n{h}" for p, h in self.files.items()
        )
        return "\n".join(heads)

    def takes(self, path: str, line: int, *, old: bool) -> bool:
        return line in _shown(self.files.get(path, ""))[0 if old else 1]


def _shown(hunks: str) -> tuple[dict[int, int], dict[int, int]]:
    """Returns: the lines of the old and of the new file that are shown, each with the other."""
    old: dict[int, int] = {}
    new: dict[int, int] = {}
    at_old = at_new = 0
    for line in hunks.splitlines():
        if found := re.match(r"@@ -(\d+)\S* \+(\d+)", line):
            at_old, at_new = int(found[1]), int(found[2])
            continue
        if line[:1] in ("-", " "):
            old[at_old] = at_new if line[0] == " " else 0
        if line[:1] in ("+", " "):
            new[at_new] = at_old if line[0] == " " else 0
        at_old += line[:1] in ("-", " ")
        at_new += line[:1] in ("+", " ")
    return old, new


def answer_parts(fake: FakeForge, method: str, rest: str, query: Json, body: Json) -> Said | None:
    """Returns: None for what is nothing of these. `rest` is below the path of the repository."""
    if rest == "" and method == "GET":
        return 200, {"default_branch": fake.parts.default_branch}
    names = [unquote(one) for one in rest.strip("/").split("/")]
    if fake.kind is ForgeKind.GITLAB:
        return _gitlab(fake, method, names, query, body)
    match method, *names:
        case "GET", "pulls", number, "files" if fake.kind is ForgeKind.GITHUB:
            return page_of(_files(fake), query, "per_page") if fake._find(number) else _MISSING
        case "GET", "pulls", number if number.endswith(".diff") and fake.kind is ForgeKind.GITEA:
            return 200, fake.parts.diff()
        case "GET", "pulls", number, "reviews":
            size = "per_page" if fake.kind is ForgeKind.GITHUB else "limit"
            mine = [one for one in fake.parts.reviews if one["on"] == number]
            return page_of(mine, query, size)
        case "POST", "pulls", number, "reviews":
            return _review(fake, number, body)
        case "POST", "statuses", commit:
            return _status(
                fake, commit, body, ("pending", "success", "failure", "error"), "context"
            )
        case ["POST", "check-runs"]:
            return _begin_run(fake, body)
        case "GET" | "PATCH", "check-runs", run:
            return _run(fake, method, run, body)
        case "GET", "commits", commit, "check-runs" if "check_name" in query:
            found = [one for one in fake.parts.runs if one["head_sha"] == commit]
            return 200, {"total_count": len(found), "check_runs": found}
    return None


def _files(fake: FakeForge) -> list[Json]:
    return [{"filename": path, "patch": hunks} for path, hunks in fake.parts.files.items()]


class Page(list[Json]):
    """A part of a list, whose answer has the addresses of the others."""

    last = number = 1

    def links(self, base: str, path: str) -> dict[str, str]:
        def at(number: int) -> str:
            parts = urlsplit(path)
            query = urlencode({**dict(parse_qsl(parts.query)), "page": number})
            return f"<{base}{parts.path}?{query}>"

        links = [f'{at(self.number + 1)}; rel="next"'] if self.number < self.last else []
        return {"link": ", ".join([*links, f'{at(self.last)}; rel="last"'])}


def page_of(found: list[Json], query: Json, size: str) -> Said:
    most, page = int(query.get(size, 30)), int(query.get("page", 1))
    if not 0 < most <= 100:
        return 422, {"message": "Invalid page size"}
    made = Page(found[(page - 1) * most : page * most])
    made.number, made.last = page, max(1, -(-len(found) // most))
    return 200, made


def _review(fake: FakeForge, number: str, body: Json) -> Said:
    pull = fake._find(number)
    if pull is None:
        return _MISSING
    is_github = fake.kind is ForgeKind.GITHUB
    approve = "APPROVE" if is_github else "APPROVED"
    if set(body) != {"commit_id", "body", "event", "comments"} or not body["body"].strip():
        return 422, {"message": "Unprocessable Entity"}
    if body["event"] not in (approve, "REQUEST_CHANGES", "COMMENT") or len(body["body"]) > 65_536:
        return 422, {"message": "Unprocessable Entity"}
    if fake.parts.is_own and body["event"] != "COMMENT":
        return 422, {"message": "Review Can not approve your own pull request"}
    if body["commit_id"] != pull["head"]["sha"]:
        return 422, {"message": "commit_id is not part of the pull request"}
    check = _is_github_comment if is_github else _is_gitea_comment
    if not all(check(fake, one) for one in body["comments"]):
        return 422, {"message": "Unprocessable Entity", "errors": ["Line could not be resolved"]}
    made = {"id": 500 + len(fake.parts.reviews), "on": number, **body}
    fake.parts.reviews.append(made)
    return 200, made


def _is_github_comment(fake: FakeForge, one: Json) -> bool:
    wanted = {"path", "line", "side", "body"}
    if set(one) - {"start_line", "start_side"} != wanted or one["side"] not in ("LEFT", "RIGHT"):
        return False
    lines = [one["line"]]
    if "start_line" in one:
        if one["start_line"] >= one["line"] or one["start_side"] != one["side"]:
            return False
        lines.append(one["start_line"])
    return all(fake.parts.takes(one["path"], at, old=one["side"] == "LEFT") for at in lines)


def _is_gitea_comment(fake: FakeForge, one: Json) -> bool:
    if "old_position" in one:
        return fake.parts.takes(one["path"], one["old_position"], old=True)
    return fake.parts.takes(one["path"], one["new_position"], old=False)


def _status(fake: FakeForge, commit: str, body: Json, states: tuple[str, ...], name: str) -> Said:
    if set(body) - {"target_url"} != {"state", "description", name} or body["state"] not in states:
        return 422, {"message": "Validation Failed"}
    if not re.fullmatch("[0-9a-f]{40}", commit) or len(body["description"]) > 140:
        return 422, {"message": f"No commit found for SHA: {commit}"}
    fake.parts.statuses.append({"sha": commit, "status": body["state"], **body})
    return 201, {"id": len(fake.parts.statuses), "state": body["state"]}


def _begin_run(fake: FakeForge, body: Json) -> Said:
    if fake.kind is not ForgeKind.GITHUB:
        return _MISSING
    if not fake.parts.is_app:
        return 403, {"message": "You must authenticate via a GitHub App."}
    if not {"name", "head_sha", "status"} <= set(body):
        return 422, {"message": "Invalid request."}
    made = {"id": 900 + len(fake.parts.runs), "annotations": [], "conclusion": None, **body}
    made["url"] = f"{fake.api}/repos/{fake.path}/check-runs/{made['id']}"
    fake.parts.runs.append(made)
    return 201, made


def _run(fake: FakeForge, method: str, run: str, body: Json) -> Said:
    found = next((one for one in fake.parts.runs if str(one["id"]) == run), None)
    if found is None:
        return _MISSING
    if method == "PATCH":
        output = body.get("output", {})
        more = output.get("annotations", [])
        if len(more) > 50:
            return 422, {"message": "Invalid request. No more than 50 items are allowed."}
        if not {"title", "summary"} <= set(output):
            return 422, {"message": "Invalid request."}
        found["annotations"] += more
        found |= {name: body[name] for name in ("status", "conclusion") if name in body}
        found["output"] = {"title": output["title"], "summary": output["summary"]}
    shown = {**found.get("output", {}), "annotations_count": len(found["annotations"])}
    return 200, {**found, "output": shown}


def _gitlab(fake: FakeForge, method: str, names: list[str], query: Json, body: Json) -> Said | None:
    match method, *names:
        case "GET", "merge_requests", _, "diffs":
            files = [
                {"old_path": path, "new_path": path, "diff": hunks}
                for path, hunks in fake.parts.files.items()
            ]
            return page_of(files, query, "per_page")
        case "GET", "merge_requests", number, "discussions":
            mine = [one for one in fake.parts.discussions if one["on"] == number]
            notes = [one for one in fake.comments if one["on"] == f"merge_requests/{number}"]
            return page_of([*mine, *({"notes": [one]} for one in notes)], query, "per_page")
        case "POST", "merge_requests", number, "discussions":
            return _discuss(fake, number, body)
        case "POST", "merge_requests", number, "approve":
            if fake.parts.is_own:
                return 401, {"message": "401 Unauthorized"}
            fake.parts.approvals.append(number)
            return 201, {"id": 1}
        case "POST", "statuses", commit:
            newest = _newest(fake, commit)
            if newest and newest == body["state"] == "running":
                said = "Cannot transition status via :run from :running (Reason(s): Status cannot)"
                return 400, {"message": said}
            states = ("pending", "running", "success", "failed", "canceled")
            return _status(fake, commit, body, states, "name")
        case "GET", "repository", "commits", commit, "statuses":
            newest = _newest(fake, commit)
            return 200, [{"name": query["name"], "status": newest}] if newest else []
    return None


def _newest(fake: FakeForge, commit: str) -> str:
    said = [one["status"] for one in fake.parts.statuses if one["sha"] == commit]
    return said[-1] if said else ""


def _discuss(fake: FakeForge, number: str, body: Json) -> Said:
    pull, at = fake._find(number), body.get("position", {})
    if pull is None:
        return _MISSING
    refs = {name: at.get(name) for name in ("base_sha", "start_sha", "head_sha")}
    old, new = _shown(fake.parts.files.get(at.get("new_path", ""), ""))
    lines = at.get("old_line", 0), at.get("new_line", 0)
    fits = old.get(lines[0]) == lines[1] if lines[0] else new.get(lines[1]) == 0
    if refs != pull["diff_refs"] or at.get("position_type") != "text" or not fits:
        said = '400 Bad request - Note {:line_code=>["can\'t be blank"]}'
        return 400, {"message": said}
    note = {"id": 700 + len(fake.parts.discussions), "body": body["body"]}
    fake.parts.discussions.append({"on": number, "position": at, "notes": [note]})
    return 201, {"id": "abc", "notes": [note]}
