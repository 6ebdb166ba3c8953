"""Why this server ended or held up a turn by itself, as it stands in the log and in rows.

They have the reason and its values. Clients of the API read the English sentence, pages
the reader's.
"""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import TypeAlias, get_args

from django.utils.translation import gettext_noop

from opencode_web.lib.disk import DiskReason
from opencode_web.lib.json import JsonObject, JsonValue
from opencode_web.lib.reasons import Cause, Reason, Sentenced, Told, Value, english, stored
from providers.llm.reasons import ErrorReason
from providers.reasons import ProviderReason
from sessions.events.checkout_reasons import CheckoutReason
from sessions.events.messages import MessageError
from sessions.forges.reasons import ForgeReason
from sessions.models import Session
from teams.budgets.reasons import BudgetReason
from tools.sandbox.stop_reasons import StopReason


class TurnReason(Reason):
    """What ended a turn, or one try of an answer."""

    STEP_LIMIT = (
        "step_limit",
        gettext_noop(
            "Stopped after {limit} steps, the limit for one turn. Continue if the work is going "
            "well, or say what to do differently."
        ),
    )
    TURN_COST = (
        "turn_cost",
        gettext_noop(
            "Stopped: this turn has cost {spent}, and the limit for one turn is {limit}. Send a "
            "message to continue."
        ),
    )
    EQUAL_CALLS = (
        "equal_calls",
        gettext_noop(
            "Stopped: the agent made the same {tool} call more than {limit} times in one turn. "
            "Say what to do differently."
        ),
    )
    RETRY_AFTER = (
        "retry_after",
        gettext_noop(
            "{why} The provider asks us to wait {wait_s} s before the next try, which is more than "
            "the {limit_s} s that this server waits. Try again later, or choose another model."
        ),
    )
    SUMMARY_TOO_LONG = (
        "summary_too_long",
        gettext_noop(
            "The conversation is too long to be summarized, even without its older half. Choose a "
            "model with a larger context window, roll back to an earlier turn, or start a new "
            "session."
        ),
    )
    CONTEXT_FULL = (
        "context_full",
        gettext_noop(
            "The conversation is too long for this model, and summing it up twice has not made "
            "room. Choose a model that reads more, roll back to an earlier turn, or start a new "
            "session."
        ),
    )
    NO_SUMMARY = (
        "no_summary",
        gettext_noop(
            "The conversation could not be summed up: {why}. Nothing of it is lost. Try again, or "
            "set another model for the agent `compaction`."
        ),
    )
    # Within that.
    CALLED_INSTEAD = "called_instead", gettext_noop("the model called a tool instead")
    SUMMARY_FILTERED = (
        "summary_filtered",
        gettext_noop("the provider's content filter stopped it"),
    )
    SUMMARY_EMPTY = "summary_empty", gettext_noop("the model's answer was empty")
    SUMMARIES_OFF = (
        "summaries_off",
        gettext_noop("The agent that sums conversations up is switched off in the settings."),
    )
    FILTERED = (
        "filtered",
        gettext_noop(
            "The provider's content filter cut the answer off. Ask in other words, or choose "
            "another model."
        ),
    )
    AT_LENGTH = (
        "at_length",
        gettext_noop(
            "The answer has reached the model's limit for one answer. Ask it to continue, or for "
            "less at a time."
        ),
    )
    AT_BUDGET = (
        "at_budget",
        gettext_noop(
            "The answer was cut off because no more of it could be paid for with what is left of "
            "the budget. Ask the agent to continue once the budget is raised."
        ),
    )
    WRONG_FORM = (
        "wrong_form",
        gettext_noop("The model did not give its answer in the wanted form. {problem}"),
    )
    FOLDER_GONE = (
        "folder_gone",
        gettext_noop(
            "This session works in the folder {path}, which is no longer in the project. Bring it "
            "back, or start a session in another folder."
        ),
    )
    WORKTREE_NOT_MADE = (
        "worktree_not_made",
        gettext_noop("The session's worktree could not be made: {reason}"),
    )
    WORKTREE_GONE = (
        "worktree_gone",
        gettext_noop("The worktree of this session is gone. Start a new session."),
    )
    WORKTREE_ELSEWHERE = (
        "worktree_elsewhere",
        gettext_noop("The worktree of this session is on another host."),
    )
    UNFINISHED = (
        "unfinished",
        gettext_noop("It was not finished when the session was exported."),
    )
    FILES_REFUSED = (
        "files_refused",
        gettext_noop(
            "{names}: left out because {model} refused it ({why}). The model has been told."
        ),
    )
    FILES_UNREADABLE = (
        "files_unreadable",
        gettext_noop(
            "{names}: left out because it is not a picture that can be read, or is too large. The "
            "model has been told."
        ),
    )
    STOPPED = "stopped", gettext_noop("Stopped")
    STOPPED_BY = "stopped_by", gettext_noop("Stopped by {name}")
    STOPPED_BY_OPERATOR = "stopped_by_operator", gettext_noop("Stopped by operator {name}")
    REJECTED = "rejected", gettext_noop("Rejected by {name}")
    DISMISSED = "dismissed", gettext_noop("Question dismissed by {name}")
    EXPIRED = "expired", gettext_noop("Nobody answered in time")
    # Of a turn that came to its end all the same.
    CALL_FAILED = "call_failed", gettext_noop("Done, 1 tool call failed")
    CALLS_FAILED = "calls_failed", gettext_noop("Done, {count} tool calls failed")
    # In place of a name.
    SOMEBODY = "somebody", gettext_noop("somebody")
    AUTHOR_GONE = (
        "author_gone",
        gettext_noop("The person who asked for this may no longer work in this team."),
    )
    FAULT = (
        "fault",
        gettext_noop(
            "The server failed while it worked on this; the fault was logged. You can go on."
        ),
    )
    WORKER_LOST = (
        "worker_lost",
        gettext_noop("Interrupted: the worker that ran this was lost."),
    )
    SERVER_STOPPED = (
        "server_stopped",
        gettext_noop("Interrupted: the server was stopped while this ran."),
    )
    DOUBTFUL = (
        "doubtful",
        gettext_noop("{reason} It may have had effects; look before you repeat it."),
    )
    # Short enough to stand beside the title too.
    NO_STEP_LEFT = (
        "no_step_left",
        gettext_noop("Not run: the limit of {steps} steps is reached."),
    )
    REPEATED_CALLS = "repeated_calls", gettext_noop("Stopped: the agent repeated itself.")
    REPEATED_TEXT = (
        "repeated_text",
        gettext_noop("Stopped: the model repeated one piece of text without end."),
    )
    ASK_OTHERWISE = (
        "ask_otherwise",
        gettext_noop("{said} Ask again, in other words or with another model."),
    )
    CUT = "cut", gettext_noop("The provider's answer ended in the middle. What came is kept.")
    FELL_BACK = "fell_back", gettext_noop("{model} did not answer ({why}). {next} went on.")


class TerminalReason(Reason):
    """Why a terminal did not end by itself."""

    IDLE = "terminal_idle", gettext_noop("Nobody has typed anything for {hours} hours.")
    LIMIT = "terminal_limit", gettext_noop("It was ended: it {why}.")


class RestoreReason(Reason):
    """Why files stay as they are, all of them or some, when history is rolled back or restored."""

    AS_ASKED = "files_kept_as_asked", gettext_noop("Files stay as they are, as was asked for.")
    UNRECORDED = (
        "files_unrecorded",
        gettext_noop("Files stay as they are: no snapshots were taken while they were changed."),
    )
    SNAPSHOTS_GONE = (
        "snapshots_gone",
        gettext_noop("Files stay as they are: the snapshots of these turns are not kept any more."),
    )
    SNAPSHOTS_OFF = "snapshots_off", gettext_noop("Files stay as they are: {reason}.")
    LEFT_OUT = (
        "files_left_out",
        gettext_noop("Over {limit} MB, so not kept and not rolled back: {names}."),
    )
    MANY_LEFT_OUT = (
        "many_files_left_out",
        gettext_noop("Over {limit} MB, so not kept and not rolled back: {names} and {more} more."),
    )
    KEPT = "files_kept", gettext_noop("Stays as it is: {names}, because {reason}.")
    MANY_KEPT = (
        "many_files_kept",
        gettext_noop("Stays as it is: {names} and {more} more, because {reason}."),
    )
    UNCHANGED = "file_unchanged", gettext_noop("{file} was not changed by that turn.")
    FAILED = (
        "restore_failed",
        gettext_noop("The files could not be put back, and nothing was changed: {reason}."),
    )
    GAVE_UP = (
        "restore_gave_up",
        gettext_noop("The files could not be put back: the worker died over it {tries} times."),
    )


class ScheduleReason(Reason):
    """How a run of a schedule went, and why a schedule is paused."""

    PAUSED_BY = "paused_by", gettext_noop("{name} paused it.")
    FAILED_AGAIN = "failed_again", gettext_noop("It failed {times} times in a row. {reason}")
    STILL_RUNNING = "still_running", gettext_noop("The run before it still went on.")
    MISSED_ONE = "missed_one", gettext_noop("1 more time was missed before it.")
    MISSED = "missed", gettext_noop("{count} more times were missed before it.")
    # How it went, and what was missed.
    ALSO_MISSED = "also_missed", "{said} {missed}"
    SESSION_DELETED = "session_deleted", gettext_noop("Its session was deleted.")
    NO_ACCOUNT = (
        "author_without_account",
        gettext_noop("Its author has no account any more. Somebody has to save it anew."),
    )
    NO_RIGHT = (
        "author_without_right",
        gettext_noop(
            "Its author may not start sessions here any more. Somebody has to save it anew."
        ),
    )
    IMPORTED = (
        "imported",
        gettext_noop(
            "It was imported; {name} had written it. Save it, so that it runs with your rights, "
            "and resume it."
        ),
    )


# In the metadata of a failed call: its cause.
CAUSE = "cause"
# In every shape that is stored.
AnyReason: TypeAlias = (
    TurnReason
    | RestoreReason
    | ErrorReason
    | ProviderReason
    | BudgetReason
    | DiskReason
    | CheckoutReason
    | TerminalReason
    | ForgeReason
    | StopReason
)
REASONS: dict[str, Sentenced] = {
    one.value: one for kind in (*get_args(AnyReason), ScheduleReason) for one in kind
}


def read_cause(data: JsonObject) -> Cause | None:
    """Returns: the cause in what is stored of an error, a status or a session; None for none."""
    reason, values = REASONS.get(str(data.get("reason"))), data.get("values")
    if reason is None or not isinstance(values, dict):
        return None
    return Cause(reason, {name: _read_value(value) for name, value in values.items()})


def read_call_cause(metadata: JsonObject) -> Cause | None:
    """Returns: why a call failed, by the metadata of its state."""
    cause = metadata.get(CAUSE)
    return read_cause(cause) if isinstance(cause, dict) else None


def _read_value(value: JsonValue) -> Value:
    match value:
        case {"usd": str(amount)}:
            return Decimal(amount)
        case {"day": str(day)}:
            return date.fromisoformat(day)
        case dict():
            return read_cause(value) or "?"
        case str() | int():
            return value
        case _:
            return str(value)


def told_error(
    told: Told, *, name: str = "UnknownError", more: JsonObject | None = None
) -> MessageError:
    """Returns: the error of an answer. `more` is what its data has besides."""
    return MessageError(name=name, data={**(more or {}), "message": english(told), **stored(told)})


def told_by_error(error: MessageError) -> Told:
    """Returns: what an error says."""
    return read_cause(error.data) or str(error.data.get("message", error.name))


def told_by_session(session: Session) -> Told:
    """Returns: how the latest turn ended, or what it waits for; "" when that is not said."""
    return read_cause(session.outcome_reason) or session.outcome_detail
