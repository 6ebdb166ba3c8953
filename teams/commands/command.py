"""A command of the pages, and the groups that the lists have them in."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import TextChoices
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy


class Group(TextChoices):
    """Where the lists have them, in their order."""

    SESSION = "session", gettext_lazy("This session")
    MESSAGE = "message", gettext_lazy("Message")
    REQUESTS = "requests", gettext_lazy("Agent requests")
    PANEL = "panel", gettext_lazy("Side panel")
    CHANGES = "changes", gettext_lazy("In the changes")
    TERMINAL = "terminal", gettext_lazy("Terminal")
    PREVIEW = "preview", gettext_lazy("Preview")
    GO = "go", gettext_lazy("Go to")
    SESSIONS = "sessions", gettext_lazy("Sessions")
    ANYWHERE = "anywhere", gettext_lazy("Anywhere")
    PROJECT = "project", gettext_lazy("This project")
    TEAM = "team", gettext_lazy("Team settings")
    PEOPLE = "people", gettext_lazy("People")
    MODELS = "models", gettext_lazy("Models")
    AGENTS = "agents", gettext_lazy("Agents")
    SECURITY = "security", gettext_lazy("Security")
    AUTOMATION = "automation", gettext_lazy("Automation")
    DATA = "data", gettext_lazy("Data")
    ACCOUNT = "account", gettext_lazy("Your account")
    OPERATIONS = "operations", gettext_lazy("Operations")


@dataclass(frozen=True)
class Command:
    """Something that people do, by the same name and key everywhere.

    `keys` is what it is bound to at first, in the notation of `teams/shortcuts.py`; `slash` are the
    names that it has after `/` in the message field; `words` are others that it is found by.
    """

    id: str
    group: Group
    label: Promise | str
    keys: str = ""
    slash: str = ""
    words: Promise | str = ""
    # Those that act only while a part of the page has the focus may have a key of others.
    scope: str = ""
    # What fields and buttons do by themselves stays as it is.
    is_fixed: bool = False
    # One of a row or a part that its menu was opened for: it has no key and is in no list.
    is_of_row: bool = False

    @property
    def names(self) -> list[str]:
        """What it is called after `/`."""
        return self.slash.split()

    @property
    def is_bindable(self) -> bool:
        return not (self.is_fixed or self.is_of_row)

    @property
    def is_listed(self) -> bool:
        """Whether the palette and `/` offer it where it acts."""
        return self.is_bindable and not self.scope and self.id != "palette"
