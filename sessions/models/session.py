from __future__ import annotations

from decimal import Decimal

from django.conf import settings
from django.db import models

# Above every sequence number.
_NOTHING_HIDDEN = 2**63 - 1


class State(models.TextChoices):
    """What the session is doing now."""

    IDLE = "idle"
    BUSY = "busy"
    # Suspended: a person has to answer before the turn goes on. No worker is held.
    WAITING = "waiting"


class WaitsFor(models.TextChoices):
    """Why a session that is not idle is suspended, without a worker."""

    NOTHING = ""
    # Waiting: somebody has to answer, or to allow more cost.
    PERSON = "person"
    BUDGET = "budget"
    # Busy: it goes on by itself, when its sub-agents are done or the next try is due.
    CHILDREN = "children"
    RETRY = "retry"
    # Or when a budget of the team or of a member is raised, or its month is over.
    FUNDS = "funds"
    # Or when a key of the provider has room for one more call.
    ROOM = "room"


class Outcome(models.TextChoices):
    """How the latest drain ended."""

    NONE = ""
    DONE = "done"
    STOPPED = "stopped"
    FAILED = "failed"
    INTERRUPTED = "interrupted"


class Session(models.Model):
    """A durable conversation with an agent in one project. Every column is folded from the log."""

    id = models.CharField(primary_key=True, max_length=40)
    project = models.ForeignKey("agent_sessions.Project", models.CASCADE, related_name="sessions")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True)
    parent = models.ForeignKey("self", models.CASCADE, null=True, related_name="children")
    # The session of people at the top of a tree of sub-agents; none for itself.
    root = models.ForeignKey("self", models.CASCADE, null=True, related_name="descendants")
    # Of forks: the session that they and the forks of them began as, which may be gone.
    origin = models.CharField(max_length=40, blank=True)
    title = models.CharField(max_length=300)
    slug = models.CharField(max_length=60)
    # Its own checkout on the project's host; empty while it works in the project's folder.
    folder = models.CharField(max_length=1000, blank=True)
    # Where it works below the root of that checkout or of the project; empty for the root.
    path = models.CharField(max_length=1000, blank=True)
    agent = models.CharField(max_length=60, blank=True)
    # {"providerID", "id", "variant"?}, or empty while none was chosen.
    model = models.JSONField(default=dict)
    # Extra permission rules of this session, [{"permission", "pattern", "action"}].
    permission = models.JSONField(default=list)
    metadata = models.JSONField(default=dict)
    # {"additions", "deletions", "files"} of all turns, or empty.
    summary = models.JSONField(default=dict)
    cost = models.DecimalField(max_digits=18, decimal_places=10, default=Decimal(0))
    # Whether it used models whose price is not known: they are not in the cost.
    is_partly_unpriced = models.BooleanField(default=False)
    # {"input", "output", "reasoning", "cache": {"read", "write"}}
    tokens = models.JSONField(default=dict)
    # Tokens that the conversation took up with its newest answer, and what the model of that answer
    # can hold: 0 while unknown.
    context_tokens = models.BigIntegerField(default=0)
    context_limit = models.BigIntegerField(default=0)
    # While a summary is written that will stand for the history.
    compacting_at = models.DateTimeField(null=True)
    state = models.CharField(max_length=10, choices=State, default=State.IDLE)
    state_since = models.DateTimeField()
    waits_for = models.CharField(max_length=8, choices=WaitsFor, default="", blank=True)
    # When it goes on by itself, or when the first deadline of a request runs out.
    wake_at = models.DateTimeField(null=True)
    # Failed tries of the open answer, while it waits for the next.
    attempt = models.PositiveSmallIntegerField(default=0)
    outcome = models.CharField(max_length=12, choices=Outcome, default=Outcome.NONE, blank=True)
    # Who stopped it, what failed: one sentence.
    outcome_detail = models.TextField(blank=True)
    # {"reason", "values"} where this server ended it (`events.reasons`), or empty.
    outcome_reason = models.JSONField(default=dict)
    # Answers of the model since the newest prompt was promoted.
    turn_steps = models.PositiveIntegerField(default=0)
    # Sequence number of the newest event.
    seq = models.BigIntegerField(default=0)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    # When something last happened in it, for lists: a new title or the archive is nothing of that.
    active_at = models.DateTimeField()
    archived_at = models.DateTimeField(null=True)
    # `events.removal.Rollback` while history is rolled back, or empty.
    revert = models.JSONField(default=dict)
    # {"id", "until"?} of the newest link for the team, in milliseconds since the epoch, or empty.
    share = models.JSONField(default=dict)
    # [{"file", "scope", "restored"}] of single files that went back since the newest prompt.
    file_reverts = models.JSONField(default=list)
    # Whether only its owner and those who oversee the team see it, with all of its sub-agents.
    is_private = models.BooleanField(default=False, db_default=False)
    # Whether strangers have a say in it: its agents only read, without network and secrets.
    is_read_only = models.BooleanField(default=False, db_default=False)
    # USD that it may cost by what has started it, besides the limits of settings.
    cost_limit = models.DecimalField(max_digits=10, decimal_places=2, null=True)
    # Messages and parts with this sequence number or a higher one are rolled back.
    hidden_from = models.BigIntegerField(null=True)
    # Who has given it words of which no message says so: by an edit, an import or before a fork.
    # Apart from the log, whose events do not name all of them.
    writers = models.ManyToManyField(settings.AUTH_USER_MODEL, related_name="+")

    class Meta:
        indexes = [
            models.Index(fields=["project", "-updated_at"], name="session_list_of_project"),
            models.Index(fields=["project", "-active_at"], name="session_rail_of_project"),
            models.Index(
                fields=["state"],
                condition=~models.Q(state="idle"),
                name="session_not_idle",
            ),
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def worktree(self) -> str:
        """The root of the files that it works on, on the project's host."""
        return self.folder or self.project.directory

    @property
    def directory(self) -> str:
        """The folder that it works in: the worktree, or a folder in it."""
        return f"{self.worktree}/{self.path}" if self.path else self.worktree

    @property
    def files_id(self) -> str:
        """Whose files it works on: the project's, or those of the tree of sessions it is in."""
        return self.top_id if self.folder else self.project_id

    @property
    def family_id(self) -> str:
        """What it has in common with its forks, and they with each other."""
        return self.origin or self.pk

    @property
    def visible_before(self) -> int:
        """Messages and parts with a lower sequence number are shown and sent to models."""
        return _NOTHING_HIDDEN if self.hidden_from is None else self.hidden_from

    @property
    def top_id(self) -> str:
        """The session at the top of the tree, which is the one that people see in their lists."""
        return self.root_id or self.pk
