"""What must hold of a session's own worktree after a fault."""

from __future__ import annotations

import subprocess
from pathlib import Path

from sessions.models import Checkout, Session

_NAMES = ("effects.txt", "file-1.txt", "file-2.txt", "file-3.txt")


def files_of(session_id: str) -> dict[str, str]:
    """Returns: what the session's commands have written, by name."""
    folder = Path(Session.objects.get(pk=session_id).directory)
    return {name: (folder / name).read_text() for name in _NAMES if (folder / name).exists()}


def is_ready(session_id: str) -> bool:
    return Checkout.objects.get(pk=session_id).state == Checkout.State.READY


def has_job(session_id: str) -> bool:
    return bool(Checkout.objects.get(pk=session_id).job)


def complaints_about_drop(session_id: str, before: dict[str, str]) -> list[str]:
    """Returns: what was in the dropped worktree and cannot be found where it says."""
    row = Checkout.objects.select_related("project").get(pk=session_id)
    # Another seed's fault may have ended the turn before its commands wrote anything.
    wanted_state = Checkout.State.RESCUED if before else Checkout.State.DROPPED
    if row.state != wanted_state:
        return [f"its worktree is {row.state}: {row.job_detail}"]
    found = []
    if Path(row.folder).exists():
        found.append("its worktree is still there")
    for name, text in before.items():
        wanted = ["git", "show", f"refs/opencode/rescue/{session_id}:{name}"]
        said = subprocess.run(
            wanted, cwd=row.project.directory, capture_output=True, text=True, check=False
        )
        if said.stdout != text:
            found.append(f"{name} is not rescued: {said.stderr.strip()}")
    return found


def complaints_about_worktree(session_id: str) -> list[str]:
    """Returns: what is wrong with a worktree in which a turn has just ended."""
    session = Session.objects.select_related("project").get(pk=session_id)
    row = Checkout.objects.get(pk=session_id)
    folder = Path(row.folder)
    if (row.state, row.job) != (Checkout.State.READY, ""):
        return [f"its worktree is {row.state}, with the job {row.job!r}: {row.detail}"]
    if session.folder != row.folder or not folder.is_dir():
        return ["it does not work in its own worktree"]
    checked = subprocess.run(
        ["git", "-c", "core.fsmonitor=false", "fsck", "--connectivity-only"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    found = [] if checked.returncode == 0 else [f"its repository is broken: {checked.stderr}"]
    left = [path.name for path in folder.parent.iterdir() if path != folder]
    # A lock is no leftover.
    left = [name for name in left if not name.endswith("lock")]
    return [*found, f"beside the worktree lies {left}"] if left else found
