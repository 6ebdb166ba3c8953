"""What forges send when something happens on an issue or a pull request that is no comment.

Source: https://docs.github.com/en/webhooks/webhook-events-and-payloads (issues, pull_request,
pull_request_review_comment, check_run, check_suite, workflow_run),
https://docs.gitlab.com/user/project/integrations/webhook_events/ and `modules/structs/hook.go` of
Gitea.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from opencode_web.lib.json import JsonObject, JsonValue, object_of, text_of
from sessions.forges.adapter import LINE, OPENED, ForgeKind, Thread
from sessions.forges.inbound import (
    MAX_NAME_CHARS,
    MAX_TEXT_CHARS,
    MAX_TITLE_CHARS,
    Heard,
    cut,
    number_in,
    time_in,
)
from sessions.forges.triggers import Trigger

_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_MAX_HUNK_CHARS = 8_000
_MAX_LABELS = 100
# What a check ends with that somebody should look at. One that was cancelled is none.
_FAILED = {"failure", "timed_out", "startup_failure", "action_required"}
# Tokens of projects and groups are accounts with names like these on GitLab.
_GITLAB_BOT = re.compile(r"(?:project|group)_\d+_bot(?:_|$)|ghost\d*$|support-bot$|alert-bot$")


def read_event(kind: ForgeKind, event: str, sent: JsonObject) -> Heard | None:
    """Returns: None for what no rule can be about.

    Raises: Invalid for what is not of the form that the forge documents.
    """
    reader = _GITLAB if kind is ForgeKind.GITLAB else _GITHUB
    read = reader.get(event)
    return read(_Sent(kind, sent)) if read else None


@dataclass(frozen=True)
class _Sent:
    kind: ForgeKind
    data: JsonObject

    @property
    def repository(self) -> str:
        if self.kind is ForgeKind.GITLAB:
            return text_of(object_of(self.data, "project"), "path_with_namespace")
        return text_of(object_of(self.data, "repository"), "full_name")

    @property
    def sender(self) -> JsonObject:
        return object_of(self.data, "user" if self.kind is ForgeKind.GITLAB else "sender")

    def heard(self, trigger: Trigger, thread: Thread, about: JsonObject, **more: object) -> Heard:
        """Returns: what has happened in a thread that `about` describes."""
        sender = self.sender
        number = sender.get("id")
        fields: dict[str, object] = {
            "comment": "",
            "text": "",
            "title": cut(about.get("title"), MAX_TITLE_CHARS),
            "body": cut(about.get("description", about.get("body")), MAX_TEXT_CHARS),
            "url": cut(about.get("html_url", about.get("url")), 1_000),
            "at": time_in(about, "updated_at"),
        }
        return Heard(
            repository=self.repository,
            thread=thread,
            # Gitea's own automation has a negative one.
            author_id=str(number) if isinstance(number, int) else "",
            author=cut(sender.get("username", sender.get("login")), MAX_NAME_CHARS),
            is_trusted=False,
            is_bot=_is_bot(self.kind, sender),
            trigger=trigger.value,
            **{**fields, **more},  # type: ignore[arg-type]  # checked by whoever reads it
        )


def _is_bot(kind: ForgeKind, sender: JsonObject) -> bool:
    name = text_of(sender, "username") or text_of(sender, "login")
    if kind is ForgeKind.GITLAB:
        return bool(_GITLAB_BOT.match(name))
    number = sender.get("id")
    is_automatic = isinstance(number, int) and number <= 0
    return text_of(sender, "type") == "Bot" or name.endswith("[bot]") or is_automatic


def _issue(sent: _Sent) -> Heard | None:
    issue, action = object_of(sent.data, "issue"), text_of(sent.data, "action")
    if isinstance(issue.get("pull_request"), dict):
        return None
    thread = Thread(number_in(issue, "number"))
    if action == "opened":
        labels = _names(issue.get("labels"), "name")
        return sent.heard(
            *(Trigger.ISSUE_OPENED, thread, issue),
            comment=OPENED,
            labels=labels,
            has_all_labels=sent.kind is ForgeKind.GITEA,
            at=time_in(issue, "created_at"),
        )
    if action == "labeled":
        label = cut(object_of(sent.data, "label").get("name"), MAX_NAME_CHARS)
        return sent.heard(Trigger.ISSUE_LABELED, thread, issue, labels=[label])
    if action in ("label_updated", "label_cleared"):
        labels = _names(issue.get("labels"), "name") if action == "label_updated" else []
        return sent.heard(Trigger.ISSUE_LABELED, thread, issue, labels=labels, has_all_labels=True)
    return None


def _pull(sent: _Sent) -> Heard | None:
    pull, action = object_of(sent.data, "pull_request"), text_of(sent.data, "action")
    thread = Thread(number_in(pull, "number"), is_pull=True)
    more: dict[str, object] = {
        "head": _commit(object_of(pull, "head").get("sha")),
        "branch": cut(object_of(pull, "head").get("ref"), MAX_TITLE_CHARS),
    }
    if action == "opened":
        more |= {"comment": OPENED, "at": time_in(pull, "created_at")}
        return sent.heard(Trigger.PULL_OPENED, thread, pull, **more)
    # Gitea's and GitHub's words for it.
    if action in ("synchronize", "synchronized"):
        return sent.heard(Trigger.PULL_PUSHED, thread, pull, **more)
    # Gitea sends the text of a review, and not what it says of single lines.
    review = object_of(sent.data, "review")
    if action == "reviewed" and review:
        text = cut(review.get("content"), MAX_TEXT_CHARS)
        return sent.heard(Trigger.REVIEW_COMMENT, thread, pull, text=text)
    return None


def _review_comment(sent: _Sent) -> Heard | None:
    if text_of(sent.data, "action") != "created":
        return None
    pull, comment = object_of(sent.data, "pull_request"), object_of(sent.data, "comment")
    line = comment.get("line") or comment.get("original_line")
    return sent.heard(
        *(Trigger.REVIEW_COMMENT, Thread(number_in(pull, "number"), is_pull=True), pull),
        # Its numbers are not those of other comments.
        comment=f"{LINE}{number_in(comment, 'id')}",
        text=cut(comment.get("body"), MAX_TEXT_CHARS),
        url=cut(comment.get("html_url"), 1_000),
        at=time_in(comment, "created_at"),
        head=_commit(object_of(pull, "head").get("sha")),
        file=cut(comment.get("path"), MAX_TITLE_CHARS),
        line=line if isinstance(line, int) else 0,
        hunk=cut(comment.get("diff_hunk"), _MAX_HUNK_CHARS),
    )


def _check(name: str) -> Callable[[_Sent], Heard | None]:
    """Reads a check, a suite of checks or a workflow of GitHub, which Gitea has after it."""

    def read(sent: _Sent) -> Heard | None:
        run = object_of(sent.data, name)
        if text_of(sent.data, "action") != "completed" or text_of(run, "conclusion") not in _FAILED:
            return None
        suite = object_of(run, "check_suite") or run
        pulls = run.get("pull_requests")
        first = pulls[0] if isinstance(pulls, list) and pulls else None
        workflow = object_of(sent.data, "workflow")
        title = run.get("name") or workflow.get("name") or object_of(run, "app").get("name")
        return _failed(
            sent,
            number=first.get("number") if isinstance(first, dict) else 0,
            head=run.get("head_sha"),
            branch=suite.get("head_branch"),
            check=title,
            # First the page of who reports it: that is how this server knows its own.
            url=run.get("details_url") or run.get("html_url"),
            at=time_in(run, "completed_at") or time_in(run, "updated_at"),
        )

    return read


def _status(sent: _Sent) -> Heard | None:
    if text_of(sent.data, "state") not in ("failure", "error"):
        return None
    # The branch is not said: an adapter finds a pull request by its commit, too.
    return _failed(
        sent,
        number=0,
        head=sent.data.get("sha"),
        branch=sent.data.get("sha"),
        check=sent.data.get("context"),
        url=sent.data.get("target_url"),
        at=time_in(sent.data, "updated_at"),
    )


def _failed(
    sent: _Sent,
    *,
    number: JsonValue,
    head: JsonValue,
    branch: JsonValue,
    check: JsonValue,
    url: JsonValue,
    at: float,
) -> Heard | None:
    commit = _commit(head)
    if not commit:
        return None
    known = number if isinstance(number, int) and 0 < number < 2**31 else 0
    return sent.heard(
        *(Trigger.CHECK_FAILED, Thread(known, is_pull=True), {}),
        # Of one commit all that fails is told once.
        comment=f"check:{commit[:30]}",
        head=commit,
        branch=cut(branch, MAX_TITLE_CHARS),
        check=cut(check, MAX_NAME_CHARS),
        url=cut(url, 1_000),
        at=at,
    )


def _gitlab_issue(sent: _Sent) -> Heard | None:
    issue = object_of(sent.data, "object_attributes")
    thread = Thread(number_in(issue, "iid"))
    if issue.get("action") == "open":
        labels = _names(sent.data.get("labels"), "title")
        return sent.heard(
            *(Trigger.ISSUE_OPENED, thread, issue),
            comment=OPENED,
            labels=labels,
            at=time_in(issue, "created_at"),
        )
    changed = object_of(object_of(sent.data, "changes"), "labels")
    if issue.get("action") != "update" or not changed:
        return None
    before = _names(changed.get("previous"), "title")
    now = _names(changed.get("current"), "title")
    added = [one for one in now if one not in before]
    return sent.heard(Trigger.ISSUE_LABELED, thread, issue, labels=added)


def _gitlab_merge_request(sent: _Sent) -> Heard | None:
    pull = object_of(sent.data, "object_attributes")
    thread = Thread(number_in(pull, "iid"), is_pull=True)
    more: dict[str, object] = {
        "head": _commit(object_of(pull, "last_commit").get("id")),
        "branch": cut(pull.get("source_branch"), MAX_TITLE_CHARS),
    }
    if pull.get("action") == "open":
        more |= {"comment": OPENED, "at": time_in(pull, "created_at")}
        return sent.heard(Trigger.PULL_OPENED, thread, pull, **more)
    # Without it nothing of the code has changed.
    if pull.get("action") == "update" and _commit(pull.get("oldrev")):
        return sent.heard(Trigger.PULL_PUSHED, thread, pull, **more)
    return None


def _gitlab_note(sent: _Sent) -> Heard | None:
    note, pull = object_of(sent.data, "object_attributes"), object_of(sent.data, "merge_request")
    if note.get("type") != "DiffNote" or note.get("action") not in (None, "create"):
        return None
    if note.get("system") or text_of(note, "noteable_type") != "MergeRequest":
        return None
    position = object_of(note, "position")
    line = position.get("new_line") or position.get("old_line")
    diff = object_of(note, "st_diff")
    return sent.heard(
        *(Trigger.REVIEW_COMMENT, Thread(number_in(pull, "iid"), is_pull=True), pull),
        # It is one of the thread's comments, with a number of its own kind.
        comment=str(number_in(note, "id")),
        text=cut(note.get("note"), MAX_TEXT_CHARS),
        url=cut(note.get("url"), 1_000),
        at=time_in(note, "created_at"),
        head=_commit(position.get("head_sha")),
        file=cut(position.get("new_path") or position.get("old_path"), MAX_TITLE_CHARS),
        line=line if isinstance(line, int) else 0,
        hunk=cut(diff.get("diff"), _MAX_HUNK_CHARS),
    )


def _gitlab_pipeline(sent: _Sent) -> Heard | None:
    pipeline, builds = object_of(sent.data, "object_attributes"), sent.data.get("builds")
    if text_of(pipeline, "status") != "failed":
        return None
    failed = [
        text_of(one, "name")
        for one in (builds if isinstance(builds, list) else [])
        if isinstance(one, dict) and one.get("status") == "failed"
    ]
    return _failed(
        sent,
        number=object_of(sent.data, "merge_request").get("iid"),
        head=pipeline.get("sha"),
        branch=pipeline.get("ref"),
        check=", ".join(failed) or "Pipeline",
        url=pipeline.get("url"),
        at=time_in(pipeline, "finished_at"),
    )


_GITHUB: dict[str, Callable[[_Sent], Heard | None]] = {
    "issues": _issue,
    "issue_label": _issue,
    "pull_request": _pull,
    "pull_request_sync": _pull,
    "pull_request_review_comment": _review_comment,
    "check_run": _check("check_run"),
    "check_suite": _check("check_suite"),
    "workflow_run": _check("workflow_run"),
    # Gitea's reviews and statuses.
    "pull_request_comment": _pull,
    "pull_request_approved": _pull,
    "pull_request_rejected": _pull,
    "status": _status,
}
_GITLAB: dict[str, Callable[[_Sent], Heard | None]] = {
    "Issue Hook": _gitlab_issue,
    "Merge Request Hook": _gitlab_merge_request,
    "Note Hook": _gitlab_note,
    "Pipeline Hook": _gitlab_pipeline,
}


def _names(labels: JsonValue, key: str) -> list[str]:
    found = labels if isinstance(labels, list) else []
    texts = (
        cut(one.get(key), MAX_NAME_CHARS) for one in found[:_MAX_LABELS] if isinstance(one, dict)
    )
    return [text for text in texts if text]


def _commit(value: JsonValue) -> str:
    return value if isinstance(value, str) and _COMMIT.fullmatch(value) else ""
