"""What each forge sends when something happens, as it documents it."""

from __future__ import annotations

import hashlib
import hmac
import json
from datetime import timedelta
from typing import Any

from django.utils import timezone

from sessions.forges.adapter import ForgeKind
from sessions.integrations.rules import RuleDraft, create_rule
from sessions.models import InboundDelivery, IntegrationRule
from teams.access import access_team
from teams.actions.services import create_service
from teams.models import Role, User
from tests.sessions.integrations.conftest import REPOSITORY, Forge, reach
from tests.sessions.integrations.outside import SAYS

Json = dict[str, Any]
COMMIT, NEWER = "a" * 40, "b" * 40
STAMP = {
    ForgeKind.GITHUB: "%Y-%m-%dT%H:%M:%SZ",
    ForgeKind.GITLAB: "%Y-%m-%d %H:%M:%S UTC",
    ForgeKind.GITEA: "%Y-%m-%dT%H:%M:%SZ",
}


def rule(outside: Forge, by: User, trigger: str, **more: Any) -> IntegrationRule:
    """Somebody writes a rule whose agent answers at once."""
    draft = RuleDraft(trigger=trigger, **{"prompt": SAYS, **more})
    return create_rule(reach(by, outside.project), draft)


def service_of(outside: Forge, by: User) -> User:
    made = create_service(access_team(by, outside.project.team_id), name="Bot", role=Role.MEMBER)
    return made.user


def send(outside: Forge, event: str, payload: Json, *, work: bool = True) -> InboundDelivery:
    """Deliver it, signed as this forge does."""
    body = json.dumps(payload).encode()
    digest = hmac.new(outside.secret.encode(), body, hashlib.sha256).hexdigest()
    headers = {
        ForgeKind.GITHUB: {"X-GitHub-Event": event, "X-Hub-Signature-256": f"sha256={digest}"},
        ForgeKind.GITLAB: {"X-Gitlab-Event": event, "X-Gitlab-Token": outside.secret},
        ForgeKind.GITEA: {"X-Gitea-Event": event, "X-Gitea-Signature": digest},
    }[outside.kind]
    answer = outside.client.post(
        outside.address, body, content_type="application/json", headers=headers
    )
    assert answer.status_code == 200, answer.content
    if work:
        outside.work()
    return InboundDelivery.objects.get(pk=answer.json()["delivery"])


def _at(outside: Forge, ago_s: int = 0) -> str:
    at = timezone.now() - timedelta(seconds=ago_s)
    return at.strftime(STAMP[outside.kind])


def _person(outside: Forge, by: int, kind: str = "User") -> Json:
    name = f"person{by}"
    if outside.kind is ForgeKind.GITLAB:
        return {"id": by, "username": name, "name": name}
    return {"id": by, "login": name, "type": kind}


def _envelope(outside: Forge, by: int, kind: str = "User") -> Json:
    if outside.kind is ForgeKind.GITLAB:
        project = {"path_with_namespace": REPOSITORY, "id": 7}
        return {"user": _person(outside, by), "project": project}
    return {"sender": _person(outside, by, kind), "repository": {"full_name": REPOSITORY, "id": 7}}


def issue(
    outside: Forge,
    action: str = "opened",
    *,
    by: int = 42,
    number: int = 7,
    labels: tuple[str, ...] = (),
    new: str = "",
    title: str = "The till is wrong",
    body: str = "It adds tax twice.",
    ago_s: int = 0,
    kind: str = "User",
) -> tuple[str, Json]:
    """An issue is opened or labeled: `labels` are all that it has now, `new` the one that it got.

    With the action `unlabeled` it has lost `new`.
    """
    at = _at(outside, ago_s)
    sent = _envelope(outside, by, kind)
    if outside.kind is ForgeKind.GITLAB:
        about = {"iid": number, "title": title, "description": body, "url": "https://forge.test/i"}
        about |= {"created_at": at, "updated_at": at}
        about["action"] = "open" if action == "opened" else "update"
        now = [{"id": len(one), "title": one} for one in labels]
        before = [one for one in now if one["title"] != new]
        if action == "unlabeled":
            before = [*now, {"id": 0, "title": new}]
        changes = {} if action == "opened" else {"labels": {"previous": before, "current": now}}
        sent |= {"object_kind": "issue", "object_attributes": about, "changes": changes}
        return "Issue Hook", {**sent, "labels": now}
    about = {"number": number, "title": title, "body": body, "html_url": "https://forge.test/i"}
    about |= {"created_at": at, "updated_at": at, "labels": [{"name": one} for one in labels]}
    sent |= {"issue": about, "action": action}
    if outside.kind is ForgeKind.GITEA and action != "opened":
        sent |= {"action": "label_updated" if labels else "label_cleared", "number": number}
    elif action != "opened":
        sent["label"] = {"name": new}
    return "issues", sent


def pull_event(
    outside: Forge,
    action: str = "opened",
    *,
    by: int = 42,
    number: int = 3,
    head: str = COMMIT,
    title: str = "Mend the till",
    body: str = "It was wrong.",
    kind: str = "User",
    ago_s: int = 0,
) -> tuple[str, Json]:
    """A pull request is opened or pushed to (`pushed`)."""
    at = _at(outside, ago_s)
    sent = _envelope(outside, by, kind)
    if outside.kind is ForgeKind.GITLAB:
        about = {"iid": number, "title": title, "description": body, "url": "https://forge.test/p"}
        about |= {"source_branch": "topic", "target_branch": "main", "last_commit": {"id": head}}
        about |= {"created_at": at, "updated_at": at, "state": "opened"}
        about["action"] = "open" if action == "opened" else "update"
        if action == "pushed":
            about["oldrev"] = "c" * 40
        return "Merge Request Hook", {
            **sent,
            "object_kind": "merge_request",
            "object_attributes": about,
            "changes": {},
        }
    about = {"number": number, "title": title, "body": body, "html_url": "https://forge.test/p"}
    about |= {"created_at": at, "updated_at": at, "state": "open"}
    about |= {"head": {"ref": "topic", "sha": head}, "base": {"ref": "main"}}
    word = "synchronized" if outside.kind is ForgeKind.GITEA else "synchronize"
    action = word if action == "pushed" else action
    return "pull_request", {**sent, "action": action, "number": number, "pull_request": about}


def line_comment(
    outside: Forge, text: str, *, by: int = 42, number: int = 3, **more: Any
) -> tuple[str, Json]:
    """Somebody comments on a line of a pull request; on Gitea on the whole of it, in a review."""
    at, sent = _at(outside), _envelope(outside, by)
    hunk = "@@ -1 +1 @@\n-tax\n+tax twice"
    if outside.kind is ForgeKind.GITLAB:
        made = outside.server.comment(f"merge_requests/{number}", text)
        position = {"new_path": "till.py", "new_line": 4, "head_sha": COMMIT}
        note = {"id": made["id"], "note": text, "noteable_type": "MergeRequest", "type": "DiffNote"}
        note |= {"action": "create", "created_at": at, "url": "https://forge.test/n"}
        note |= {"position": position, "st_diff": {"diff": hunk}, **more}
        about = {"iid": number, "title": "Mend the till", "description": "It was wrong."}
        sent |= {"object_kind": "note", "object_attributes": note}
        return "Note Hook", {**sent, "merge_request": about}
    about = {"number": number, "title": "Mend the till", "body": "It was wrong."}
    about |= {"head": {"ref": "topic", "sha": COMMIT}, "html_url": "https://forge.test/p"}
    about["updated_at"] = at
    if outside.kind is ForgeKind.GITEA:
        review = {"type": "pull_request_review_comment", "content": text}
        sent |= {"action": "reviewed", "number": number, "review": review}
        return "pull_request_comment", {**sent, "pull_request": about}
    comment = {"id": 500 + len(text), "body": text, "path": "till.py", "line": 4, "diff_hunk": hunk}
    comment |= {"user": _person(outside, by), "created_at": at, **more}
    outside.server.lines.add(comment["id"])
    return "pull_request_review_comment", {
        **sent,
        "action": "created",
        "comment": {**comment, "html_url": "https://forge.test/c"},
        "pull_request": about,
    }


def check(
    outside: Forge,
    *,
    by: int = 42,
    head: str = COMMIT,
    branch: str = "topic",
    name: str = "tests",
    url: str = "https://ci.test/1",
    result: str = "failure",
    number: int = 0,
    kind: str = "User",
) -> tuple[str, Json]:
    """A check of a commit ends; `number` is that of a pull request, where the forge says it."""
    at, sent = _at(outside), _envelope(outside, by, kind)
    if outside.kind is ForgeKind.GITLAB:
        status = "failed" if result == "failure" else "success"
        about = {"id": 9, "ref": branch, "sha": head, "status": status, "finished_at": at}
        sent |= {"object_kind": "pipeline", "object_attributes": {**about, "url": url}}
        sent["builds"] = [{"id": 1, "name": name, "status": status}]
        return "Pipeline Hook", {**sent, "merge_request": {"iid": number} if number else None}
    if outside.kind is ForgeKind.GITEA:
        sent |= {"sha": head, "context": name, "state": result, "target_url": url}
        return "status", {**sent, "updated_at": at}
    run = {"id": 9, "name": name, "status": "completed", "conclusion": result, "head_sha": head}
    run |= {"check_suite": {"head_branch": branch}, "completed_at": at, "details_url": url}
    run["html_url"] = "https://forge.test/acme/till/runs/9"
    run["pull_requests"] = [{"number": number}] if number else []
    return "check_run", {**sent, "action": "completed", "check_run": run}
