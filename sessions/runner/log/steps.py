"""What a drain does next, as decided by `advance` from the rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from opencode_web.lib.reasons import Cause
from providers.funding import FundedRequest
from providers.llm.messages import ModelRef
from sessions.changes.restore_request import RestoreRequest
from sessions.config.programs import McpConfig
from sessions.events.messages import AssistantMessage, Tokens, UserMessage
from sessions.events.parts import CompactionPart, StepStartPart, ToolPart
from sessions.events.types import SessionUsed
from sessions.models import Session
from sessions.output_format import OutputSchema
from sessions.rules.in_force import Setup
from sessions.runner.log.model_history import HistoryEntry
from teams.models import Basis


@dataclass(frozen=True)
class Wanted:
    """The form of an answer, and how often the model may still fail to give it."""

    format: OutputSchema
    retries_left: int


@dataclass(frozen=True)
class Summary:
    """The answer sums the conversation up. Units: tokens.

    `part` belongs to the user message `prompt`, which asked for it; when it says `auto`, the work
    goes on with a prompt in its name. `opened_by` is the prompt of the turn that is interrupted.
    """

    prompt: UserMessage
    author_id: int | None
    part: CompactionPart
    opened_by: str | None
    # Sequence number from which the history is kept verbatim.
    history_from: int
    before: int
    # Of what is kept, and of all that the model reads now, as estimated.
    kept: int
    read: int
    usable: int | None
    # The provider has refused the whole as too long, so its older part is left out.
    is_shortened: bool


@dataclass(frozen=True)
class ProviderTurn:
    """Make exactly one provider stream into the message `info`, which is already in the log."""

    session: Session
    setup: Setup
    info: AssistantMessage
    request: FundedRequest
    # Who prompted.
    author_id: int | None
    # Why calls of this answer are not run: its agent has no step left.
    no_calls: Cause | None = None
    # Which try of this answer it is, and how long to wait before it is made.
    attempt: int = 1
    wait_s: float = 0
    # The form that the answer is wanted in, when it is not text.
    output: Wanted | None = None
    # Set when it is a compaction.
    summary: Summary | None = None
    # What the request was built from, where plugins may change it.
    history: tuple[HistoryEntry, ...] = field(default=(), repr=False)
    # Whom the answer was to come from at first.
    first: ModelRef | None = None

    @property
    def prompt_id(self) -> str:
        """The prompt whose turn ends here, if it ends."""
        opened_by = self.summary.opened_by if self.summary else None
        return opened_by or self.info.parentID

    def used(self, cost: Decimal, tokens: Tokens, basis: Basis | None = None) -> SessionUsed:
        """What the answer used, in the name of who prompted."""
        return SessionUsed(
            cost=cost,
            tokens=tokens,
            provider_id=self.info.providerID,
            model_id=self.info.modelID,
            api_model=self.request.model.other_name,
            prompt_id=self.prompt_id,
            author_id=self.author_id,
            basis=basis,
        )


@dataclass(frozen=True)
class ToolStep:
    """Run `calls`, then close the step unless others of its calls still wait.

    `waiting` counts those that wait for a person, `held` those that wait for sub-agents.
    """

    session: Session
    info: AssistantMessage
    # With the worktree before the step's first change, when an earlier part of the step made one.
    start: StepStartPart | None
    calls: list[ToolPart]
    waiting: int
    held: int = 0


@dataclass(frozen=True)
class PageFetch:
    """Fetch pages of instructions that the next turn begins with, then decide again."""

    urls: tuple[str, ...]


@dataclass(frozen=True)
class SkillFetch:
    """Read the skills behind addresses of a team's settings again, then decide again."""

    team_id: str
    urls: tuple[str, ...]


@dataclass(frozen=True)
class CheckoutStep:
    """Have the session's own worktree there before a prompt's turn begins, then decide again."""

    checkout_id: str
    prompt_id: str


@dataclass(frozen=True)
class RestoreStep:
    """Put files of a session at rest back, then end."""

    session: Session
    request: RestoreRequest


@dataclass(frozen=True)
class ToolDescriptions:
    """Ask the tools that the repository brings what they are, then decide again."""

    session: Session


@dataclass(frozen=True)
class McpListing:
    """Ask MCP servers what tools they have, then decide again."""

    session: Session
    servers: Mapping[str, McpConfig]
    # Who prompted.
    user_id: int | None


@dataclass(frozen=True)
class McpUpdates:
    """Read mentioned resources again that have changed, then decide again.

    `resources` are server and address of each.
    """

    session: Session
    servers: Mapping[str, McpConfig]
    resources: tuple[tuple[str, str], ...]
    # Who prompted.
    user_id: int


@dataclass(frozen=True)
class Stopping:
    """Sum up what a turn changed that somebody has stopped, then settle it."""

    session_id: str


Next = (
    ProviderTurn
    | ToolStep
    | PageFetch
    | SkillFetch
    | CheckoutStep
    | RestoreStep
    | ToolDescriptions
    | McpListing
    | McpUpdates
    | Stopping
)
