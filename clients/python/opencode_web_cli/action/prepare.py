"""The step before the run: what the agent is to know of the pull request."""

from __future__ import annotations

from pathlib import Path
from tempfile import mkdtemp

from opencode_web_cli.action.github import Refused, open_github
from opencode_web_cli.action.workflow import Workflow, escape_command

DIFF = "pull_request.diff"
# What a model can read at once, and more than people read of a review.
MAX_DIFF_CHARS = 400_000


def prepare(workflow: Workflow) -> int:
    """Make a folder for the results, with the diff of the pull request if there is one."""
    change = workflow.change
    folder = Path(mkdtemp(prefix="opencode-web-", dir=workflow.env.get("RUNNER_TEMP")))
    workflow.set_outputs(folder=str(folder))
    token = workflow.input("GITHUB_TOKEN")
    if not change.number or change.is_fork or not token:
        return 0
    github = open_github(workflow.env["GITHUB_API_URL"], token, change.repository)
    with github.client:
        try:
            diff = github.diff(change.number)
        except Refused as exc:
            print(f"::warning::The diff was not read. {escape_command(str(exc))}")
            return 0
    if len(diff) > MAX_DIFF_CHARS:
        diff = f"{diff[:MAX_DIFF_CHARS]}\n[cut: {len(diff) - MAX_DIFF_CHARS} more characters]\n"
    (folder / DIFF).write_text(diff, encoding="utf-8", newline="")
    return 0
