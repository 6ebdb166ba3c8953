"""What a runner tells a step, and how a step answers."""

from __future__ import annotations

import json
import os
import secrets
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stderr
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from opencode_web_cli.failures import Code, Failure

Json = dict[str, Any]


@dataclass(frozen=True)
class Change:
    """What the workflow runs for: a pull request, or else a commit of a branch or tag.

    `ref` is where the repository itself has the commit. `number` is 0 without a pull request.
    """

    repository: str
    commit: str
    ref: str
    number: int = 0
    is_fork: bool = False

    @property
    def title(self) -> str:
        """A title for the session. No text that a stranger could have written is in it."""
        number = f"#{self.number}" if self.number else f"@{self.commit[:12]}"
        return f"{self.repository}{number}"


@dataclass(frozen=True)
class Workflow:
    """The environment of a step; `event` is the payload of what has started the workflow."""

    env: Mapping[str, str]
    event: Json

    @classmethod
    def of_environment(cls) -> Workflow:
        """Raises: Failure when the payload cannot be read."""
        try:
            path = os.environ.get("GITHUB_EVENT_PATH")
            event = json.loads(Path(path).read_text("utf-8")) if path else {}
        except (OSError, ValueError) as exc:
            raise Failure(f"The event of the workflow cannot be read: {exc}", Code.USAGE) from exc
        return cls(os.environ, event)

    def input(self, name: str) -> str:
        """Returns: an input of the action, without white space around it."""
        return self.env.get(f"OCW_{name}", "").strip()

    @property
    def folder(self) -> Path:
        """Where `prepare` and `run` leave files; it is gone after the job."""
        return Path(self.input("FOLDER"))

    @property
    def change(self) -> Change:
        """Raises: Failure for an event of another kind than GitHub's."""
        repository = self.env.get("GITHUB_REPOSITORY", "")
        pull = self.event.get("pull_request")
        try:
            if pull is None:
                return Change(repository, self.env["GITHUB_SHA"], self.env["GITHUB_REF"])
            head = pull["head"]
            return Change(
                repository,
                str(head["sha"]),
                f"refs/heads/{head['ref']}",
                int(pull["number"]),
                # The repository of a fork can be gone.
                (head.get("repo") or {}).get("full_name") != repository,
            )
        except (KeyError, TypeError, ValueError) as exc:
            raise Failure(f"The event of the workflow lacks {exc}.", Code.USAGE) from exc

    @property
    def run_url(self) -> str:
        """The page of this run of the workflow."""
        env = self.env
        server, run = env.get("GITHUB_SERVER_URL", ""), env.get("GITHUB_RUN_ID", "")
        return f"{server}/{env.get('GITHUB_REPOSITORY', '')}/actions/runs/{run}"

    def set_outputs(self, **values: str) -> None:
        """Each ends with a line that nobody can know, so that no value can add another output."""
        with Path(self.env["GITHUB_OUTPUT"]).open("a", encoding="utf-8", newline="\n") as file:
            for name, value in values.items():
                end = f"end-{secrets.token_hex(16)}"
                file.write(f"{name.replace('_', '-')}<<{end}\n{value}\n{end}\n")

    def add_summary(self, text: str) -> None:
        """Add Markdown to the page of the job."""
        if path := self.env.get("GITHUB_STEP_SUMMARY"):
            with Path(path).open("a", encoding="utf-8", newline="\n") as file:
                file.write(f"{text}\n")


def escape_command(text: str) -> str:
    """Returns: the text as the message of a workflow command."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


@contextmanager
def without_commands() -> Iterator[None]:
    """Have the runner show lines that look like commands, instead of doing what they say.

    What an agent, a model or a file says is printed meanwhile.
    """
    token = secrets.token_hex(16)
    print(f"::stop-commands::{token}", flush=True)
    try:
        # The runner reads both, but one of them can be late.
        with redirect_stderr(sys.stdout):
            yield
    finally:
        print(f"\n::{token}::", flush=True)
