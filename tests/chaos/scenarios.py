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
    "parked": ("kill_all", "redis", "db"),
    "before_idle": ("kill", "db", "redis"),
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
    with_tools = ("before_tool", "during_tool", "after_tool", "parked", "mid_compaction")
    tools = point in with_tools or dice.random() < 0.4
    effects = [f"seed-{seed}-{number}" for number in range(dice.randint(1, 2))] if tools else []
    calls = [
        {"tool": "bash", "input": {"command": f"echo {effect} >> effects.txt; sleep 0.4"}}
        for effect in effects
    ]
    steps = [[*paced, *calls], [{"text": "done"}]] if calls else [paced]
    return Scenario(
        seed=seed,
        point=point,
        fault=fault,
        strikes=dice.randint(1, 4) if point in ("mid_stream", "mid_compaction") else 1,
        steps=steps,
        effects=effects,
        asks=point == "parked",
        compacts=compacts,
    )
