"""What there is to publish: changed files, commits that are not pushed, branches to merge into."""

from __future__ import annotations

import re
from contextlib import aclosing
from dataclasses import asdict, dataclass, field
from itertools import islice

from opencode_web.lib.json import JsonObject
from sessions.checkouts.repository import STATUS, Repository

MAX_FILES = 300
_MAX_COMMITS, _MAX_BRANCHES, _MAX_SUBJECT_CHARS = 30, 60, 200
# What a form sends back as it was: browsers change line ends.
_UNFIT = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")


@dataclass(frozen=True)
class Survey:
    """`files` are (what happened, path): new, changed, deleted or conflict. `more` counts those
    beside them, also files whose names cannot be told.

    `unpushed` and `behind` count commits apart from what is known of the branch where it is pushed
    to, None where nothing is known. `commits` are subjects of what is new on the branch.
    """

    branch: str = ""
    files: list[tuple[str, str]] = field(default_factory=list)
    more: int = 0
    unpushed: int | None = None
    behind: int | None = None
    commits: list[str] = field(default_factory=list)
    branches: list[str] = field(default_factory=list)

    def to_json(self) -> JsonObject:
        """Returns: what a row stores."""
        return asdict(self)


async def survey(
    own: Repository, project: Repository, *, head: str, base: str, pushed: tuple[str, str]
) -> Survey:
    """Look at a place of work that has a commit. `pushed` is what was pushed last, (branch, hash).

    Raises: CheckoutError.
    """
    branch = await own.branch()
    files, more = await _files(own)
    upstream = await _upstream(own, branch, pushed)
    unpushed = behind = None
    if upstream:
        counted = await own.ask("rev-list", "--left-right", "--count", f"{upstream}...{head}")
        left, _, right = counted.strip().partition("\t")
        behind, unpushed = int(left), int(right)
    since = base if base != head else upstream
    commits = await _subjects(own, since, head) if since else []
    return Survey(
        branch, files, more, unpushed, behind, commits, await branches_of(project, branch)
    )


async def _files(own: Repository) -> tuple[list[tuple[str, str]], int]:
    files, total = list[tuple[str, str]](), 0
    async with aclosing(own.fields(*STATUS)) as said:
        async for lines in said:
            total += len(lines)
            # A folder is a repository of its own, which is no part of this one.
            fit = (one for one in lines if not (one.endswith("/") or _UNFIT.search(one[3:])))
            files += [(_what(one[:2]), one[3:]) for one in islice(fit, MAX_FILES - len(files))]
    return files, total - len(files)


def _what(code: str) -> str:
    if "U" in code or code in ("AA", "DD"):
        return "conflict"
    if code == "??" or "A" in code:
        return "new"
    return "deleted" if "D" in code else "changed"


async def _upstream(own: Repository, branch: str, pushed: tuple[str, str]) -> str:
    name, commit = pushed
    if commit and name == branch and await own.find(commit):
        return commit
    return await own.find(f"refs/remotes/origin/{branch}") or "" if branch else ""


async def _subjects(own: Repository, since: str, head: str) -> list[str]:
    said = await own.ask(
        *("log", "-z", "--format=%s", f"--max-count={_MAX_COMMITS}", f"{since}..{head}")
    )
    subjects = [_UNFIT.sub("\ufffd", line) for line in said.split("\0")]
    return [line[:_MAX_SUBJECT_CHARS] for line in subjects if line.strip()]


async def branches_of(project: Repository, own: str = "") -> list[str]:
    """Returns: branches of the project and of where it was cloned from, but for `own`, those of
    sessions last."""
    said = await project.ask(
        "for-each-ref", "--format=%(refname)", "--count=500", "refs/heads", "refs/remotes/origin"
    )
    names = [
        line.removeprefix("refs/heads/").removeprefix("refs/remotes/origin/")
        for line in said.splitlines()
    ]
    fit = [
        one for one in dict.fromkeys(names) if one not in (own, "HEAD") and not _UNFIT.search(one)
    ]
    return sorted(fit, key=lambda one: one.startswith("opencode/"))[:_MAX_BRANCHES]
