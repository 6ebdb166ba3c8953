"""What a seed plays: a script for the model, and one fault at one point of it."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

STEP_TEXT = "All of this text has to be there in the end. "


@dataclass(frozen=True)
class Scenario:
    """`strikes` is how often the point is reached before the fault; `effects` are the lines that
    the session's commands append to a file, each at most once."""

    seed: int
    point: str
    fault: str
    strikes: int
    steps: list[list[dict[str, Any]]]
    effects: list[str] = field(default_factory=list)
    asks: bool = False
    # The first step fills the context, so that a summary goes before the next one.
    compacts: bool = False
    # What is done with the session's own worktree once it is idle, and where the fault strikes.
    then: str = ""

    @property
    def in_worktree(self) -> bool:
        """Whether the session works in a worktree of its own."""
        return self.point in WORKTREES

    @property
    def name(self) -> str:
        return f"seed {self.seed}: {self.fault} at {self.point}"


# Which faults make a difference at which point. `kill` ends the process that reaches it.
FAULTS = {
    "after_admit": ("kill", "redis", "db"),
    "after_lease": ("kill", "db", "web"),
    "mid_stream": ("kill", "kill", "db", "redis", "web"),
    "mid_compaction": ("kill", "kill", "db", "redis", "web"),
    "before_tool": ("kill", "db"),
    "during_tool": ("kill", "kill", "db", "redis"),
    "after_tool": ("kill", "kill", "db"),
    "suspended": ("kill_all", "redis", "db"),
    "before_idle": ("kill", "db", "redis"),
    "in_batch": ("kill", "kill", "db", "redis"),
    "making_checkout": ("kill", "kill", "db"),
    "dropping_checkout": ("kill",),
    "putting_back": ("kill",),
}
WORKTREES = {"making_checkout": "", "dropping_checkout": "drop", "putting_back": "revert"}
# How often a point may be reached before the fault: more than once is another place in the work.
STRIKES = {
    "mid_stream": 4,
    "mid_compaction": 4,
    "in_batch": 2,
    "making_checkout": 3,
    "dropping_checkout": 3,
    "putting_back": 4,
}


def scenario(seed: int, *, embedded: bool) -> Scenario:
    """Returns: what this seed plays, the same each time."""
    dice = random.Random(seed)
    points = sorted(FAULTS)
    point = points[seed % len(points)]
    faults = [
        fault
        for fault in FAULTS[point]
        # One process has no other web process, broker or database server to lose.
        if not embedded or fault in ("kill", "kill_all")
    ]
    fault = dice.choice(faults)
    text = [{"text": STEP_TEXT} for _ in range(dice.randint(2, 5))]
    paced = [item for chunk in text for item in (chunk, {"delay_ms": dice.randint(5, 60)})]
    compacts = point == "mid_compaction"
    with_tools = {"before_tool", "during_tool", "after_tool", "suspended", "mid_compaction"}
    tools = point in with_tools | {"in_batch", *WORKTREES} or dice.random() < 0.4
    effects = [f"seed-{seed}-{number}" for number in range(dice.randint(1, 2))] if tools else []
    if point == "in_batch":
        effects = [f"seed-{seed}-{number}" for number in range(3)]
    calls: list[dict[str, Any]] = [
        {"tool": "bash", "input": {"command": f"echo {effect} >> effects.txt; sleep 0.4"}}
        for effect in effects
    ]
    if point in WORKTREES:
        # Several files, which all have to go back or be rescued.
        more = {"command": f"for n in 1 2 3; do echo seed-{seed} > file-$n.txt; done"}
        calls.append({"tool": "bash", "input": more})
    if point == "in_batch":
        inner = [{"tool": one["tool"], "parameters": one["input"]} for one in calls]
        calls = [{"tool": "batch", "input": {"tool_calls": inner}}]
    steps = [[*paced, *calls], [{"text": "done"}]] if calls else [paced]
    return Scenario(
        seed=seed,
        point=point,
        fault=fault,
        strikes=dice.randint(1, STRIKES.get(point, 1)),
        steps=steps,
        effects=effects,
        asks=point == "suspended",
        compacts=compacts,
        then=WORKTREES.get(point, ""),
    )
