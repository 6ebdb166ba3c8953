"""What the pages of a team's and of a project's MCP servers have in common."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlencode

from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from opencode_web.lib.errors import Invalid, NotFound
from opencode_web.lib.json import JsonObject, JsonValue
from sessions.actions.team_items import mark_of
from sessions.forms.mcp import McpServerForm, initial_of
from sessions.mcp.catalog import entry_of, find_entries
from sessions.mcp.servers import switched
from sessions.models import Project
from sessions.present.pages.mcp.servers import awaited_in
from teams.http import TeamRequest, attempt, done

_SHOWN = 100


@dataclass(frozen=True)
class Shelf:
    """The settings that hold servers: of a team or of a project.

    `projects` are those in which they hold. `own` is what stands in them, `below` what holds
    without them. `put` changes one that was seen with this mark; None takes it away. `address`: of
    what is done with one, by its name.
    """

    own: dict[str, JsonObject]
    below: dict[str, JsonObject]
    put: Callable[[str, JsonValue, str], None]
    put_secret: Callable[[str, str], object]
    address: Callable[[str, str], str]
    list_url: str
    # Where servers are chosen from the catalog, and where a form begins.
    catalog_url: str
    new_url: str
    projects: QuerySet[Project]
    # What the page shows beside the form.
    frame: dict[str, object]
    page: str

    def stored(self, name: str) -> JsonObject:
        """Raises: NotFound where these settings have no such server of their own."""
        found = self.own.get(name)
        if found is None:
            raise NotFound("MCP server", name)
        return found


def show_form(request: TeamRequest, shelf: Shelf, name: str) -> HttpResponse:
    """Add a server, or change the one of this name."""
    stored = shelf.stored(name) if name else None
    known = stored or {}
    posted = request.method == "POST"
    entry = None if name else entry_of(request.GET.get("from", "")[:200])
    initial = initial_of(name, known) if name else {}
    if entry is not None:
        initial = initial_of(entry.name, entry.settings, is_known=True)
    form = McpServerForm(request.POST if posted else None, initial=initial)
    if entry is not None:
        form.ask_for(entry.secrets)
    if name:
        form.fields["name"].validators.clear()  # it is stored, perhaps by other means, and stays
    if posted and attempt(form, lambda: _save(request, shelf, form, name, known)):
        return done(request, _said(shelf, form.cleaned_data["name"]), to=shelf.list_url)
    context: dict[str, object] = {
        **shelf.frame,
        "form": form,
        "name": name,
        "entry": entry,
        "catalog_url": "" if name else shelf.catalog_url,
        "seen": request.POST.get("seen") or mark_of(stored),
        "list_url": shelf.list_url,
        "delete_url": shelf.address("_delete", name) if name else "",
    }
    return render(request, shelf.page, context, status=422 if posted else 200)


def _said(shelf: Shelf, name: str) -> str:
    if name in awaited_in(shelf.projects):
        said = _(
            "%(name)s saved. It runs files of a project, so an admin has to accept them there "
            "first."
        )
    else:
        said = _("%(name)s saved. Its tools are loaded with the next turn.")
    return said % {"name": name}


def _save(
    request: TeamRequest, shelf: Shelf, form: McpServerForm, name: str, known: JsonObject
) -> bool:
    """Raises: Conflict for a form that is older than what is stored; Invalid for a new name."""
    given: str = form.cleaned_data["name"]
    if name and given != name:
        raise Invalid(_("Names cannot be changed. Create a new one and remove this one."))
    if not name and (given in shelf.own or given in shelf.below):
        raise Invalid(_("This name is already in use."))
    for secret, value in form.secrets().items():
        shelf.put_secret(secret, value)
    shelf.put(given, form.item(known), request.POST.get("seen", ""))
    return True


def show_catalog(request: TeamRequest, shelf: Shelf, page: str) -> HttpResponse:
    """List known servers, each with a form that sets it up. Nothing runs before that is saved."""
    text = request.GET.get("q", "")[:200]
    found = find_entries(text)
    lines = [
        {"entry": entry, "url": f"{shelf.new_url}?{urlencode({'from': entry.id})}"}
        for entry in found[:_SHOWN]
    ]
    context: dict[str, object] = {
        **shelf.frame,
        "lines": lines,
        "text": text,
        "more": max(0, len(found) - _SHOWN),
        "list_url": shelf.list_url,
        "new_url": shelf.new_url,
    }
    return render(request, page, context)


def switch(request: TeamRequest, shelf: Shelf, name: str) -> HttpResponse:
    """Switch a server on or off here. Raises: NotFound for one that is not known."""
    stored, below = shelf.own.get(name), shelf.below.get(name)
    if stored is None and below is None:
        raise NotFound("MCP server", name)
    on = request.POST.get("enabled") == "1"
    shelf.put(name, switched(stored, below, on=on), mark_of(stored))
    said = _("%(name)s turned on.") if on else _("%(name)s turned off.")
    return done(request, said % {"name": name}, to=shelf.list_url)


def confirm_removal(request: TeamRequest, shelf: Shelf, name: str) -> HttpResponse:
    """Remove a server; a form asks first."""
    stored = shelf.stored(name)
    if request.method == "POST":
        shelf.put(name, None, mark_of(stored))
        return done(request, _("%(name)s removed.") % {"name": name}, to=shelf.list_url)
    context: dict[str, object] = {
        "title": _("Remove %(name)s?") % {"name": name},
        "text": _("Agents can no longer use its tools. Secrets created for it are kept."),
        "action": _("Remove"),
        "back": shelf.list_url,
    }
    return render(request, "teams/confirm.html", context)
