"""What putting files back means for each file: what it shall be, and what should be there now."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from sessions.changes.steps import ChangedStep
from sessions.events.removal import Restored
from sessions.git.snapshots import Snapshots
from tools.files.put_back import TreeEntry

Entries = dict[bytes, TreeEntry | None]


@dataclass(frozen=True)
class Plan:
    """By path, None for no file.

    `expected` is what the session has left there: anything else is somebody's. It is overwritten
    all the same, as the snapshot before has it, but not in `spared` paths, where it stays.
    `is_part`: lines of a file go back, and others of it stay changed.
    """

    wanted: Entries = field(default_factory=dict)
    expected: Entries = field(default_factory=dict)
    spared: frozenset[bytes] = frozenset()
    is_part: bool = False

    def only(self, *names: str) -> Plan:
        """The plan for one file, by its names as people see them."""
        paths = [path for path in self.wanted if to_text(path) in names]
        return Plan(
            {path: self.wanted[path] for path in paths},
            {path: self.expected[path] for path in paths},
            self.spared.intersection(paths),
        )

    def over(self, other: Plan) -> Plan:
        """This plan in a worktree in which `other` would take something back first."""
        return Plan(
            {**other.wanted, **self.wanted},
            {**self.expected, **other.expected},
            self.spared | other.spared,
        )


async def plan_before(snapshots: Snapshots, steps: Iterable[ChangedStep], *, end: str) -> Plan:
    """Files as they were before the first step that changed them. `end`: the tree after the last.

    Raises: SnapshotError.
    """
    pairs = [(step.before, step.after or end) for step in steps]
    wanted, expected = Entries(), Entries()
    async for change in snapshots.entry_changes(pairs):
        wanted.setdefault(change.path, change.before)
        expected[change.path] = change.after
    return Plan(wanted, expected)


async def plan_undo(snapshots: Snapshots, restored: Restored | None) -> Plan:
    """Files as they were before they were put back. Raises: SnapshotError."""
    if restored is None or not restored.snapshot:
        return Plan()
    wanted, expected = Entries(), Entries()
    async for change in snapshots.entry_changes([(restored.snapshot, restored.after)]):
        wanted[change.path], expected[change.path] = change.before, change.after
    return Plan(wanted, expected, frozenset(wanted))


def to_text(path: bytes) -> str:
    """The name as it stands in diffs: what is no text in it is replaced."""
    return path.decode("utf-8", "replace")
