"""What the calls of one step have in common. It is read once for all of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from django.conf import settings

from opencode_web.lib.pictures import ImageLimits
from sessions.config.model import Config
from sessions.config.programs import formatters_of, language_servers
from sessions.models import Session
from sessions.rules.in_force import Setup, session_setup
from sessions.runner.calls.subagents import depth_of
from tools.formatters.spec import Formatter
from tools.limits import ResultLimits
from tools.lsp.spec import ServerSpec
from tools.permissions.rules import Action, Ruleset, evaluate, is_hidden

_HELPER = "explore"


@dataclass(frozen=True)
class StepSetup:
    """Settings and folders that every call of a step uses."""

    setup: Setup
    limits: ResultLimits
    # The session's own folder comes first.
    output_dirs: tuple[Path, ...]
    # Language servers that may run.
    servers: tuple[ServerSpec, ...] = ()
    # Called after a change.
    formatters: tuple[Formatter, ...] = ()
    # A call that a person rejects does not end the turn.
    continues_rejected: bool = False
    # Instruction files that a call of this step has given to the model.
    claimed: set[Path] = field(default_factory=set)


def load_step_setup(session: Session, agent: str) -> StepSetup:
    """Read what the calls of an agent's step need."""
    setup = session_setup(session, agent)
    config = setup.config
    output, image = config.tool_output, config.attachment.image
    limits = ResultLimits(
        max_lines=output.max_lines,
        max_bytes=output.max_bytes,
        delegates=_delegates(session, config, setup.ruleset),
        image=ImageLimits(**image.model_dump()),
    )
    return StepSetup(
        setup,
        limits,
        tuple(_output_dirs(session)),
        servers=language_servers(config.lsp),
        formatters=formatters_of(config.formatter),
        continues_rejected=config.experimental.continue_loop_on_deny,
    )


def _delegates(session: Session, config: Config, ruleset: Ruleset) -> bool:
    if is_hidden("task", ruleset) or evaluate("task", _HELPER, ruleset) is Action.DENY:
        return False
    return depth_of(session) < config.subagent_depth


def _output_dirs(session: Session) -> Iterator[Path]:
    """Its own, then those of the sessions it works for: their calls name files to look into."""
    above: Session | None = session
    while above is not None:
        yield settings.DATA_DIR / "tool-output" / above.pk
        above = above.parent
