"""The step that posts the result of a run: a check, a comment and the summary of the job."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

from opencode_web_cli.action.github import GitHub, Refused, open_github
from opencode_web_cli.action.workflow import Change, Workflow, escape_command

# GitHub takes 65,535 characters.
_MAX_CHARS = 60_000
# GitHub notifies whoever is named. `<!--` begins what nobody sees.
_MENTION = re.compile(r"@|&(?:#0*64|#x0*40|commat)(?=;)", re.IGNORECASE)
_COMMENT = re.compile(r"<(?=!--)")
_NOTHING = "\u200b"
_CONCLUSIONS = {"done": "success", "skipped": "skipped", "refused": "action_required"}
_STATES = {"done": "success", "skipped": "success"}
_TOLD = {
    "done": "The agent is done.",
    "skipped": "The agent was not started.",
    "failed": "The agent failed.",
    "invalid": "The agent was not started.",
    "refused": "The agent asked for something that was refused, because nobody could allow it.",
    "over-budget": "The agent was stopped at the limit of its cost.",
    "timeout": "The agent was stopped at its time limit.",
    "interrupted": "The agent was stopped.",
}


def report(workflow: Workflow) -> int:
    """Returns: 0, also where GitHub refuses a check or a comment: that is a warning."""
    result = workflow.input("RESULT") or "failed"
    text = _build_text(workflow, result)
    workflow.add_summary(f"## {_title(workflow)}\n\n{text}")
    change, token = workflow.change, workflow.input("GITHUB_TOKEN")
    if not token or change.is_fork:
        return 0
    github = open_github(workflow.env["GITHUB_API_URL"], token, change.repository)
    with github.client:
        if workflow.input("CHECK"):
            _try("check", lambda: _post_check(github, workflow, change, result, text))
        if change.number and workflow.input("COMMENT") == "true":
            _try("comment", lambda: _post_comment(github, workflow, change, text))
    return 0


def _try(what: str, post: Any) -> None:
    try:
        post()
    except Refused as exc:
        print(f"::warning::The {what} was not posted. {escape_command(str(exc))}")


def _build_text(workflow: Workflow, result: str) -> str:
    answer = defused(_file(workflow, "answer.md"))
    files = json.loads(_file(workflow, "result.json") or "{}").get("changed", [])
    pieces = [
        _TOLD.get(result, result),
        defused(workflow.input("WHY"))[:1_000],
        answer[:_MAX_CHARS],
    ]
    if len(answer) > _MAX_CHARS:
        pieces.append("The rest of the answer is in the artifact.")
    if files:
        names = "\n".join(f"- {_code(name)}" for name in files[:100])
        pieces.append(f"Changed files: {len(files)}\n\n{names}"[:4_000])
    links = [f"[Workflow run]({workflow.run_url})"]
    if url := workflow.input("URL"):
        links.insert(0, f"[Session]({url})")
    return "\n\n".join([*filter(None, pieces), " · ".join(links)])


def _file(workflow: Workflow, name: str) -> str:
    path = workflow.folder / name
    return path.read_text("utf-8").strip() if path.is_file() else ""


def _title(workflow: Workflow) -> str:
    return workflow.input("CHECK") or "OpenCode Web"


def _post_check(github: GitHub, workflow: Workflow, change: Change, result: str, text: str) -> None:
    check = {
        "name": _title(workflow),
        "head_sha": change.commit,
        "status": "completed",
        "conclusion": _CONCLUSIONS.get(result, "failure"),
        "details_url": workflow.input("URL") or workflow.run_url,
        "output": {"title": _TOLD.get(result, result), "summary": text},
    }
    try:
        github.call("POST", "check-runs", json=check)
    except Refused as exc:
        # Checks are for apps only, of which the token of a workflow is one. A person's may do less.
        if exc.status not in {403, 404}:
            raise
        status = {
            "state": _STATES.get(result, "failure"),
            "context": _title(workflow),
            "description": _TOLD.get(result, result),
            "target_url": workflow.input("URL") or workflow.run_url,
        }
        github.call("POST", f"statuses/{change.commit}", json=status)


def _post_comment(github: GitHub, workflow: Workflow, change: Change, text: str) -> None:
    """Edit the comment of an earlier run, else write one."""
    mark = _mark(workflow)
    own = github.own_login()
    body = {"body": f"{mark}\n### {_title(workflow)}\n\n{text}"}
    for comment in github.comments(change.number):
        # Anybody can write the mark, and words of ours must not stand under another name.
        if comment["user"]["login"] == own and comment["body"].startswith(mark):
            github.call("PATCH", f"issues/comments/{comment['id']}", json=body)
            return
    github.call("POST", f"issues/{change.number}/comments", json=body)


def _mark(workflow: Workflow) -> str:
    """Returns: what tells this use of the action from others on the same pull request."""
    env = workflow.env
    use = (env.get("GITHUB_WORKFLOW", ""), env.get("GITHUB_JOB", ""), _title(workflow))
    return f"<!-- opencode-web {hashlib.sha256(json.dumps(use).encode()).hexdigest()[:16]} -->"


def defused(text: str) -> str:
    """Returns: text of a model that mentions nobody and hides nothing."""
    text = _MENTION.sub(lambda found: f"{found[0]}{_NOTHING}", text)
    return _COMMENT.sub(f"<{_NOTHING}", text)


def _code(name: str) -> str:
    plain = re.sub(r"[`\s]", " ", name)
    return f"`{plain}`"
