"""A session in its header and in lists."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Literal

from django.template.defaultfilters import capfirst
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext

from opencode_web.lib.json import JsonObject, text_of
from opencode_web.lib.templatetags.ui import money
from sessions.actions.admission import find_closure
from sessions.actions.sessions import is_default_title
from sessions.changes.restore_request import is_restoring
from sessions.changes.turn_diffs import counts_now
from sessions.config.effective import model_names
from sessions.events.live import Estimate
from sessions.models import (
    Outcome,
    PermissionRequest,
    QuestionRequest,
    Session,
    State,
    WaitsFor,
)
from sessions.present.place import Place
from sessions.present.place_in_line import place_text
from sessions.present.pulls import PullLine
from sessions.present.stored_text import outcome_of, short_outcome_of
from sessions.queue_position import PlaceInLine, all_wait_for_funds, places_of
from sessions.rules.second_person import only_others_may_allow
from sessions.totals import Used, count_tokens
from teams.access import roles_with
from teams.models import Role, User

Look = Literal["ask", "run", "queue", "done", "warn", "fail", "stop", "idle"]
NOTHING = Used()
_OUTCOMES: dict[str, tuple[Look, str]] = {
    Outcome.DONE: ("done", gettext_noop("Done")),
    Outcome.STOPPED: ("stop", gettext_noop("Stopped")),
    Outcome.FAILED: ("fail", gettext_noop("Failed")),
    Outcome.INTERRUPTED: ("fail", gettext_noop("Interrupted")),
    Outcome.NONE: ("idle", gettext_noop("New")),
}


@dataclass(frozen=True)
class Header:
    """What the header of a session and the fragments in it show."""

    id: str
    title: str
    state: Look
    state_text: str
    since: datetime | None
    # The next try after a provider has failed.
    until: datetime | None
    running: bool
    # Members cannot answer what it waits for.
    waits_for_admin: bool
    tokens: int
    cost: Decimal
    # Of that, what the sub-agents cost.
    cost_below: Decimal
    # Models whose price is not known have been used as well.
    is_partly_unpriced: bool
    agent: str
    # `provider/model`
    model: str
    models: Callable[[str, str], str]
    project: str
    project_url: str
    # The page of its own worktree; empty for the project's folder.
    checkout_url: str
    publish_url: str
    rename_url: str
    # Empty while nothing was said.
    compact_url: str
    fork_url: str
    pin_url: str
    archive_url: str
    delete_url: str
    export_url: str
    stop_url: str
    share_url: str
    compare_url: str
    find_url: str
    archived: bool
    private: bool
    # Nothing can be sent as it is.
    blocked: bool
    context_percent: int | None
    context_tokens: int
    context_limit: int
    # What of this is guessed, while an answer streams.
    estimate: Estimate | None = None
    # Empty for who may not decide who sees it.
    privacy_url: str = ""

    @property
    def model_title(self) -> str:
        """What people call the model; found when it is shown."""
        provider, _slash, model = self.model.partition("/")
        return self.models(provider, model) if model else ""

    @property
    def guesses_context(self) -> bool:
        return self.estimate is not None and self.estimate.context is not None

    @property
    def guesses_cost(self) -> bool:
        return self.estimate is not None and self.estimate.cost is not None

    @property
    def knows_cost(self) -> bool:
        """Whether $0 would be no guess about a model whose price is not known."""
        is_guessed = self.estimate is not None and self.estimate.cost is None
        return self.cost > 0 or not (is_guessed or self.is_partly_unpriced)


@dataclass(frozen=True)
class Asked:
    """What a session waits for, in words. `needs`: the least role that can answer any of it, None
    where only `people` can, by their ids; `asks_admins`: somebody who may not answer has asked the
    admins to."""

    text: str
    needs: Role | None = Role.MEMBER
    asks_admins: bool = False
    people: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Row:
    """A session in the rail and in lists of pages."""

    id: str
    url: str
    title: str
    state: Look
    state_text: str
    updated: datetime
    detail: str
    # Empty for who looks at it, where that is known, and where the detail names them.
    owner: str
    owner_id: int | None
    project: str
    group: str
    # What can be done with it, without opening it.
    menu_url: str
    # In the line for a worker; 0 for who stands in none, or has only just come.
    place: int = 0
    pull: PullLine | None = None
    # Which of several attempts at one prompt it is, and its model; or what it is a fork of.
    kind: str = ""
    asked: Asked = Asked("")
    private: bool = False
    # That of who looks, in its project; None where the page goes by it anyway.
    role: Role | None = None

    @property
    def for_admins(self) -> bool:
        return self.asked.needs is Role.ADMIN

    @property
    def answerers(self) -> str:
        """The roles and people that can answer what it waits for, with blanks between."""
        able = roles_with(self.asked.needs) if self.asked.needs else []
        if self.role is not None:
            # The page it is on may go by another role than this one's project.
            able = [*Role] if self.role in able else []
        whose = [*able, *map(str, sorted(self.asked.people))]
        return " ".join(whose) if self.group == "ask" else ""


def look_of(
    session: Session,
    *,
    asked: bool = False,
    place: PlaceInLine | None = None,
    no_funds: bool = False,
) -> tuple[Look, str]:
    """`asked`: a sub-agent waits for a person; `place`: from `places_of`; `no_funds`: from
    `all_wait_for_funds`.

    Returns: the shape of the state, and its name.
    """
    if session.state == State.WAITING or asked:
        return "ask", _("Waiting for you")
    if session.state == State.BUSY:
        if session.compacting_at is not None and session.waits_for == WaitsFor.NOTHING:
            return "run", _("Compacting")
        if place is not None:
            return "queue", place_text(place)
        if no_funds or session.waits_for in (WaitsFor.FUNDS, WaitsFor.ROOM):
            is_room = session.waits_for == WaitsFor.ROOM
            return "queue", outcome_of(session) if is_room else _("Waiting for budget")
        return "run", _("Retrying") if session.waits_for == WaitsFor.RETRY else _("Running")
    look, text = _OUTCOMES[session.outcome]
    # What a turn that is done still says is that some of its calls failed.
    has_failures = look == "done" and bool(session.outcome_detail)
    return ("warn", outcome_of(session)) if has_failures else (look, _(text))


def shown_title(session: Session) -> str:
    """Returns: the title, without the moment that stands in one which nobody has given yet."""
    return _("New session") if is_default_title(session.title) else session.title


def build_header(
    session: Session,
    below: Used = NOTHING,
    *,
    models: Callable[[str, str], str] | None = None,
    is_lost: bool = False,
) -> Header:
    """`below`: what its sub-agents used; `is_lost`: its worker has died, if it needs one.

    `models`: those of the page, which then loads each provider once.

    `session.project.team` should be loaded.
    """
    line = places_of([session])
    look, text = look_of(
        session,
        asked=_is_asked_below(session),
        place=line.get(session.pk),
        no_funds=session.pk in all_wait_for_funds([session]),
    )
    place = Place.of(session)
    if look == "ask" and only_others_may_allow(session):
        text = _("Waiting for a second person")
    if look == "run" and is_restoring(session):
        text = _("Restoring files")
    is_lost = is_lost and look == "run" and not session.waits_for
    if is_lost:
        look, text = "queue", _("Worker lost, resuming")
    if look in ("stop", "fail") and session.outcome_detail and len(session.outcome_detail) < 60:
        text = outcome_of(session)
    is_own = session.parent_id is None
    retries = look == "run" and session.waits_for == WaitsFor.RETRY
    return Header(
        id=session.pk,
        title=shown_title(session),
        state=look,
        state_text=_("Retrying in") if retries else text,
        since=session.state_since if _is_timed(look, session) and not is_lost else None,
        until=session.wake_at if look == "run" else None,
        running=session.state != State.IDLE,
        waits_for_admin=session.waits_for == WaitsFor.BUDGET,
        tokens=count_tokens(session.tokens) + below.tokens,
        cost=session.cost + below.cost,
        cost_below=below.cost,
        is_partly_unpriced=session.is_partly_unpriced,
        agent=session.agent,
        model=model_name(session.model),
        models=models or model_names(session.project),
        project=session.project.name,
        project_url=reverse(
            "sessions:project", kwargs={"team": place.team, "project": session.project_id}
        ),
        checkout_url=place.url("checkout") if session.folder else "",
        publish_url=place.url("publish") if is_own else "",
        rename_url=place.url("rename") if is_own else "",
        compact_url=place.url("compact") if is_own and session.agent else "",
        fork_url=place.url("fork") if is_own and session.agent else "",
        pin_url=place.url("pin") if is_own else "",
        archive_url=place.url("archive") if is_own else "",
        delete_url=place.url("delete") if is_own else "",
        export_url=reverse("get_export", kwargs={"session_id": session.pk}),
        stop_url=place.url("stop"),
        share_url=place.url("shares") if is_own else "",
        compare_url=place.url("compare"),
        find_url=place.url("find_here"),
        archived=session.archived_at is not None,
        private=session.is_private,
        blocked=find_closure(session) is not None,
        context_percent=_percent(session.context_tokens, session.context_limit),
        context_tokens=session.context_tokens,
        context_limit=session.context_limit,
    )


def _is_timed(look: Look, session: Session) -> bool:
    is_open = session.wake_at is None or session.waits_for == WaitsFor.ROOM
    return look in ("run", "queue") and is_open


def with_estimate(header: Header, guess: Estimate) -> Header:
    """Returns: the header with what an answer that streams has used so far."""
    seen = replace(header, estimate=guess, tokens=header.tokens + guess.tokens)
    if guess.cost is not None:
        seen = replace(seen, cost=header.cost + guess.cost)
    if guess.context is None:
        return seen
    return replace(
        seen,
        context_percent=_percent(guess.context, guess.limit),
        context_tokens=guess.context,
        context_limit=guess.limit,
    )


def _is_asked_below(session: Session) -> bool:
    if session.waits_for != WaitsFor.CHILDREN:
        return False
    return any(
        model.objects.filter(session__root=session, status="pending").exists()
        for model in (PermissionRequest, QuestionRequest)
    )


def _percent(tokens: int, limit: int) -> int | None:
    """Returns: None while one is unknown."""
    return min(100, round(100 * tokens / limit)) if tokens and limit else None


def build_row(
    session: Session,
    asked: Asked | None = None,
    *,
    place: PlaceInLine | None = None,
    no_funds: bool = False,
    doing: str = "",
    viewer: User | None = None,
    role: Role | None = None,
    pull: PullLine | None = None,
    kind: str = "",
) -> Row:
    """`asked`: what waits for a person; `place` and `no_funds`: as `look_of` has them;
    `doing`: the call that runs; `viewer`: who it is for, None for everybody; `pull`: the newest
    pull request; `kind` and `role`: as the row has them.

    `session.project.team` and `session.owner` should be loaded.
    """
    look, text = look_of(session, asked=asked is not None, place=place, no_funds=no_funds)
    if asked and asked.needs is None:
        text = _("Waiting for a second person")
    owner = session.owner.display_name if session.owner and session.owner != viewer else ""
    if session.state == State.IDLE and session.outcome_detail.endswith(f" by {owner}"):
        # The detail names the same person.
        owner = ""
    where = Place.of(session)
    return Row(
        id=session.pk,
        url=where.url("session"),
        title=shown_title(session),
        state=look,
        state_text=text,
        updated=session.active_at,
        detail=_detail(session, text, asked.text if asked else "", doing),
        owner=owner,
        owner_id=session.owner_id,
        project=session.project.name,
        group=look if look in ("ask", "run", "queue") else "rest",
        menu_url=where.url("row_menu"),
        place=place.number if place else 0,
        pull=pull,
        kind=kind,
        asked=asked or Asked(""),
        private=session.is_private,
        role=role,
    )


def _detail(session: Session, text: str, asked: str, doing: str) -> str:
    if asked:
        return asked
    if session.waits_for == WaitsFor.RETRY:
        why = short_outcome_of(session)
        return _("Waiting to retry: %(why)s") % {"why": why}
    if session.state != State.IDLE:
        words = [doing] if doing else [text, capfirst(session.agent)]
        percent = _percent(session.context_tokens, session.context_limit)
        words += [] if percent is None else [_("%(percent)s %% context") % {"percent": percent}]
        return " · ".join(word for word in words if word)
    words = [short_outcome_of(session) or text]
    changed = counts_now(session)
    if changed.files:
        count = ngettext("%(count)s file", "%(count)s files", changed.files)
        count %= {"count": changed.files}
        words.append(f"{count} +{changed.additions} -{changed.deletions}")
    if session.cost:
        words.append(money(session.cost))
    return " · ".join(words)


def model_name(model: JsonObject) -> str:
    """Returns: `provider/model`, or nothing while none was chosen."""
    provider, name = text_of(model, "providerID"), text_of(model, "id")
    return f"{provider}/{name}" if provider and name else ""
