"""Inputs of context sources, without a database."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

from opencode_web.lib.plugins.values import Place
from sessions.agents.loader import Agent
from sessions.config.model import Config
from sessions.runner.context.source import ContextInputs

BUILD = Agent(name="build", description="", mode="primary", prompt="You write code.")


def make_inputs(worktree: Path, **changes: Any) -> ContextInputs:
    inputs = ContextInputs(
        project="shop",
        place=Place("team_test", "prj_test", worktree, worktree),
        directory=worktree,
        worktree=worktree,
        agent=BUILD,
        provider_id="anthropic",
        api_model="claude-sonnet-4-5",
        config=Config(),
        prompt_system="",
        today=date(2026, 1, 2),
    )
    return replace(inputs, **changes)
