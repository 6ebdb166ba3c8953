"""When a conversation is too long for its model, and what may go. Pure; units are tokens.

Source: behaviour facts 4.7.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from providers.llm.facts import Limit
from sessions.config.model import CompactionConfig

MAX_OUTPUT = 32_000
# Kept free of a model whose input has a limit of its own.
BUFFER = 20_000

# The newest outputs of tools that are never taken out, and the least that is worth the new prefix.
PRUNE_PROTECT = 40_000
PRUNE_MINIMUM = 20_000
# The newest turns of people, whose outputs are never taken out.
PRUNE_TURNS = 2
# What a skill says holds for the whole session.
NEVER_PRUNED = frozenset({"skill"})

MIN_TAIL = 2_000
MAX_TAIL = 15_000

# A compaction that frees less than this part of the conversation was in vain.
MIN_GAIN = 0.05
MAX_IN_VAIN = 2


def usable_tokens(limit: Limit, config: CompactionConfig) -> int | None:
    """How much of a model's context a conversation may take up. Returns: None while unknown."""
    if not limit.context and not limit.input:
        return None
    output = min(limit.output, MAX_OUTPUT) or MAX_OUTPUT
    reserved = min(BUFFER, output) if config.reserved is None else config.reserved
    usable = limit.input - reserved if limit.input else limit.context - output
    # Of some small models the answer may fill the whole context, or its limit is not known.
    return usable if usable > 0 else (limit.input or limit.context) // 2


def is_full(tokens: int, limit: Limit, config: CompactionConfig) -> bool:
    """Whether room has to be made before the next request."""
    usable = usable_tokens(limit, config)
    return config.auto and usable is not None and tokens >= usable


@dataclass(frozen=True)
class Output:
    """The output of a tool's call, as it counts for pruning."""

    tool: str
    tokens: int
    # Prompts of people that came after it.
    turns_after: int
    is_pruned: bool


def prunable(outputs: Sequence[Output]) -> list[int]:
    """Choose old outputs of tools that the model can do without.

    Returns: the places in `outputs`, which is in the order of the conversation; empty when they are
    too few to be worth it.
    """
    kept = freed = 0
    found: list[int] = []
    for index in reversed(range(len(outputs))):
        output = outputs[index]
        if output.turns_after < PRUNE_TURNS or output.tool in NEVER_PRUNED:
            continue
        if output.is_pruned:
            break
        kept += output.tokens
        if kept > PRUNE_PROTECT:
            freed += output.tokens
            found.append(index)
    return found[::-1] if freed > PRUNE_MINIMUM else []


@dataclass(frozen=True)
class Size:
    """A message as it counts for the tail."""

    tokens: int
    is_prompt: bool


def tail_budget(usable: int, config: CompactionConfig) -> int:
    """How many tokens of the newest messages are kept verbatim."""
    if config.preserve_recent_tokens is not None:
        return config.preserve_recent_tokens
    return max(MIN_TAIL, min(MAX_TAIL, usable // 4))


def tail_start(sizes: Sequence[Size], *, budget: int, turns: int | None) -> int:
    """Choose where the end of a conversation begins that is kept verbatim beside its summary.

    Whole turns are kept as long as they fit, and of the turn that does not, its newest messages.
    Prompts that were not answered yet are kept whatever their size. When all of it would be kept,
    only those are: a summary has to be of something.

    Returns: a place in `sizes`; its length for nothing.
    """
    pinned = len(sizes)
    while pinned and sizes[pinned - 1].is_prompt:
        pinned -= 1
    start, left = pinned, budget - sum(size.tokens for size in sizes[pinned:])
    prompts = len(sizes) - pinned
    for index in reversed(range(pinned)):
        if sizes[index].tokens > left or (turns is not None and prompts >= turns):
            break
        left -= sizes[index].tokens
        prompts += sizes[index].is_prompt
        start = index
    return pinned if start == 0 else start


def is_in_vain(before: int, after: int, usable: int | None) -> bool:
    """Whether a compaction has made too little room to go on from."""
    is_still_full = usable is not None and after >= usable
    return is_still_full or after > before * (1 - MIN_GAIN)
