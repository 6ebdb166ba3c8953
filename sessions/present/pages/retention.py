"""Legal holds as pages list them."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Q
from django.urls import reverse
from django.utils.translation import gettext as _

from sessions.models import Session
from teams.models import LegalHold, Team
from teams.retention.holds import Scope


@dataclass(frozen=True)
class HoldLine:
    """A live hold. `url` leads to its session; `release_url` is empty for who may not release."""

    hold: LegalHold
    what: str
    team: str
    url: str
    release_url: str


def load_holds(team: Team | None, *, may_release: bool) -> list[HoldLine]:
    """Returns: the holds on a team and in it, or all of the server; the newest first."""
    rows = LegalHold.objects.live().select_related("team", "user", "set_by").order_by("-set_at")
    if team is not None:
        own = Q(user__memberships__team=team)
        rows = rows.filter(Q(team=team) | Q(own, team=None)).distinct()
    holds = list(rows)
    named = [hold.session for hold in holds if hold.session]
    titles = dict(Session.objects.filter(pk__in=named).values_list("pk", "title"))
    return [_line(hold, titles, team, may_release) for hold in holds]


def _line(
    hold: LegalHold, titles: dict[str, str], page_of: Team | None, may_release: bool
) -> HoldLine:
    what, url, release_url = "", "", ""
    if hold.scope == Scope.TEAM:
        what = _("The whole team")
    elif hold.user is not None:
        what = hold.user.email
    elif page_of is None:
        # Operators see nothing of a team's work.
        what = hold.session
    else:
        what = titles.get(hold.session, hold.session)
        url = reverse("sessions:session", kwargs={"team": page_of.slug, "session": hold.session})
    if may_release and page_of is None:
        release_url = reverse("ops:hold_release", kwargs={"hold": hold.pk})
    elif may_release and page_of is not None and hold.team_id == page_of.pk:
        release_url = reverse("sessions:hold_release", args=[page_of.slug, hold.pk])
    return HoldLine(hold, what, hold.team.name if hold.team else _("All teams"), url, release_url)
