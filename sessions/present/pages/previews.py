"""Apps that run in a person's terminals of a session, and how each is previewed."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from django.db.models.functions import Now
from django.utils.translation import gettext as _

from opencode_web.lib.loop import submit
from sessions.access import SessionAccess, visible_terminals
from sessions.models import Preview, Terminal
from sessions.present.pages.terminals import why_no_terminals
from sessions.present.place import Place
from sessions.previews.exchange import ask_ports
from sessions.previews.origin import host_of_previews, origin_of
from teams.models import Role

_ANSWERS_WITHIN_S = 5.0


@dataclass(frozen=True)
class App:
    """Something that listens on a port of a terminal."""

    terminal: str
    title: str
    port: int


@dataclass(frozen=True)
class Previews:
    """`reason` says why the person can have none. `apps` is None before the workers were asked."""

    reason: str
    list_url: str
    open_url: str
    terminal_url: str
    apps: list[App] | None = None


@dataclass(frozen=True)
class ShownApp:
    """A preview that is open. `url` leads to it, wherever its query says."""

    origin: str
    url: str
    port: int


def load_previews(access: SessionAccess, app_origin: str) -> Previews:
    """What the page knows without asking a worker."""
    place = Place.of(access.session)
    return Previews(
        reason=_why_not(access, app_origin),
        list_url=place.url("previews"),
        open_url=place.url("preview"),
        terminal_url=f"{place.url('session')}?panel=terminal",
    )


def load_apps(access: SessionAccess) -> list[App]:
    """Ask the workers which apps run in the person's own terminals. Waits for their answers."""
    if not access.team.can(Role.MEMBER):
        return []
    rows = visible_terminals(access.principal).filter(
        creator=access.principal.user,
        project=access.session.project_id,
        folder=access.session.folder,
        status=Terminal.Status.RUNNING,
        lease_until__gt=Now(),
    )
    titles = {row.pk: row.title for row in rows.order_by("created_at", "pk")}
    try:
        ports = submit(ask_ports(list(titles))).result(_ANSWERS_WITHIN_S)
    except OSError:  # the bus, or the time that was given for it
        return []
    return [
        App(terminal, title, port)
        for terminal, title in titles.items()
        for port in ports.get(terminal, [])
    ]


def to_shown(access: SessionAccess, preview: Preview) -> ShownApp:
    """How a preview stands in the page."""
    return ShownApp(
        origin=origin_of(preview.label, preview.app_origin),
        url=Place.of(access.session).url("preview_page", label=preview.label),
        port=preview.port,
    )


def entrance_url(preview: Preview, ticket: str, path: str) -> str:
    """Returns: where a ticket lets somebody in, to go on to a path of the app."""
    query = urlencode({"ticket": ticket, "to": path})
    origin = origin_of(preview.label, preview.app_origin)
    return f"{origin}/.opencode-web/enter?{query}"


def _why_not(access: SessionAccess, app_origin: str) -> str:
    if reason := why_no_terminals(access):
        return reason
    if host_of_previews(app_origin):
        return ""
    return _(
        "Previews need a host name of their own. Ask an operator of this server to set "
        "PREVIEW_HOST."
    )
