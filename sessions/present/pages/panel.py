"""The side panel of a session: which tabs there are, and how a person left it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from django.db import models
from django.utils.translation import gettext_lazy as _

from opencode_web.lib.json import JsonObject, number_of, object_of, text_of
from sessions.present.place import Place

# Key of a person's preferences: {"shown": a name or "", "width": percent, "thinking": bool}.
TASTE = "panel"
# The style sheet has a rule for each, so that a page is drawn with it at once. In percent.
WIDTHS = range(30, 75, 5)


class Pane(models.TextChoices):
    """What the panel can show."""

    CHANGES = "changes", _("Changes")
    FILES = "files", _("Files")
    TERMINAL = "terminal", _("Terminal")
    PREVIEW = "preview", _("Preview")
    CONTEXT = "context", _("Context")


@dataclass(frozen=True)
class Tab:
    """`src` is where its content comes from when it is first shown; empty for what is there."""

    name: str
    label: str
    url: str
    src: str


@dataclass(frozen=True)
class Panel:
    """`state` is `kept` when it is open as its person left it: only where it covers nothing.

    `drawn` is the tab whose content the page has with it; empty for none.
    """

    state: Literal["open", "kept", "closed"]
    shown: str
    drawn: str
    width: int | None
    tabs: list[Tab]
    save_url: str
    close_url: str
    # Whether what models think is unfolded.
    thinking: bool
    # The changes have the whole window.
    is_full: bool
    # They were left open, and there are none now: the first one opens them.
    awaits_changes: bool


def build_panel(
    place: Place, tastes: JsonObject, *, asked: str, has_changes: bool, is_full: bool = False
) -> Panel:
    """`asked` is what the address names; whatever else than a pane closes the panel.

    Without changes their pane is not opened by itself.
    """
    taste = object_of(tastes, TASTE)
    width, kept = number_of(taste, "width"), text_of(taste, "shown")
    awaits_changes = not asked and kept == Pane.CHANGES and not has_changes
    if awaits_changes:
        kept = ""
    base = place.url("session")
    shown = asked or kept
    is_known = shown in Pane.values
    # The page has the changes with it when they were left open: they are what is looked at most.
    drawn = asked or (kept if kept == Pane.CHANGES else "")
    return Panel(
        state="closed" if not is_known else "open" if asked else "kept",
        drawn=drawn if drawn in Pane.values else "",
        shown=shown if is_known else Pane.CHANGES.value,
        width=width if width in WIDTHS else None,
        tabs=[
            Tab(
                pane.value,
                str(pane.label),
                url := f"{base}?panel={pane}",
                src="" if pane == drawn else url,
            )
            for pane in Pane
        ],
        save_url=place.url("panel"),
        close_url=f"{base}?panel=none",
        thinking=taste.get("thinking") is True,
        is_full=is_full and asked == Pane.CHANGES,
        awaits_changes=awaits_changes,
    )
