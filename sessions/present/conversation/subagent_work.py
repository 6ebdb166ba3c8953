"""What the sub-agents of a session have done so far, for the rows of their calls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Count, Q
from django.urls import reverse
from django.utils.translation import ngettext

from opencode_web.lib.templatetags.ui import money
from sessions.events.stored import StoredText, StoredTool
from sessions.models import Part, Session, State
from sessions.present.data import first_line
from sessions.present.place import Place


@dataclass(frozen=True)
class Below:
    """`latest`: what one that works has come to; `stop_url` is empty for one that does not."""

    calls: int
    cost: Decimal
    latest: str
    stop_url: str


# From the id of a sub-agent's session.
FindBelow = Callable[[str], Below | None]


def nothing_below(_session_id: str) -> Below | None:
    return None


class LoadedBelow:
    """Asks the database with the first call: most conversations have no sub-agents."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._found: dict[str, Below] | None = None

    def __call__(self, session_id: str) -> Below | None:
        if self._found is None:
            self._found = _load(self._session)
        return self._found.get(session_id)


def _load(session: Session) -> dict[str, Below]:
    place = Place.of(session)
    children = Session.objects.filter(parent=session)
    rows = children.annotate(calls=Count("parts", filter=Q(parts__type="tool")))
    found = {}
    for pk, cost, state, calls in rows.values_list("pk", "cost", "state", "calls"):
        works = state != State.IDLE
        stop = reverse("sessions:stop", kwargs={"team": place.team, "session": pk})
        found[pk] = Below(calls, cost, _latest(pk) if works else "", stop if works else "")
    return found


def _latest(session_id: str) -> str:
    parts = Part.objects.filter(session=session_id, type__in=("text", "tool"))
    newest = parts.order_by("-seq", "-id").values_list("data", flat=True)
    data: StoredText | StoredTool | None = newest.first()
    if data is None:
        return ""
    if data["type"] == "tool":
        return first_line(f"{data['tool'].capitalize()} {data['state'].get('title', '')}")
    lines = data["text"].strip().splitlines()
    return first_line(lines[-1]) if lines else ""


def work_of(agent: str, done: Below | None) -> str:
    """Returns: such as `general · 7 tool calls · $0.02`."""
    words = [agent] if agent else []
    if done is not None:
        calls = ngettext("%(count)s tool call", "%(count)s tool calls", done.calls)
        words.append(calls % {"count": done.calls})
        words += [money(done.cost)] if done.cost else []
    return " · ".join(words)
