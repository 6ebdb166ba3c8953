"""What a person can name while they write: `@` files, folders, agents, teammates, past sessions,
resources of MCP servers and what is defined in files, and `/` commands.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

from django.utils.translation import gettext as _

from opencode_web.lib.json import JsonObject, number_of, object_of, text_of
from opencode_web.lib.templatetags.ui import ago
from sessions.agents.loader import Agent
from sessions.changes.steps import changed_paths
from sessions.commands.catalog import Command
from sessions.commands.template import mentions
from sessions.models import Session
from sessions.present.frame.builtin import describe
from sessions.present.pages.find_pages import Target
from sessions.present.sessions import shown_title
from teams.models import User

MAX_SHOWN = 12
MAX_COMMANDS = 60
MAX_SESSIONS = 4
_MAX_RESOURCES = 5
_MAX_PEOPLE = 5
_MAX_TITLE_CHARS = 80
_MAX_PATCHES = 20
_MAX_CHANGED = 50


@dataclass(frozen=True)
class Mention:
    """`insert` takes the place of what was typed; `icon` is one of the sprite.

    Without `insert`, `act` is the id of the command that is done or `url` the page that is opened;
    without any it cannot be chosen.
    """

    insert: str
    icon: str
    label: str
    detail: str = ""
    act: str = ""
    url: str = ""


def agent_mentions(agents: Iterable[Agent], typed: str) -> list[Mention]:
    """Those that a message can be handed to."""
    return [
        Mention(f"@{agent.name}", "bot", agent.name, describe(agent.description) or _("Agent"))
        for agent in agents
        if not agent.hidden and not agent.is_primary and agent.name.startswith(typed.lower())
    ]


def people_mentions(people: Iterable[User], typed: str) -> list[Mention]:
    """Those one of whose names begins so."""
    wanted = typed.casefold()
    found = [
        Mention(f"@{one.handle}", "user", one.display_name, _("Teammate"))
        for one in people
        if one.handle and any(name.casefold().startswith(wanted) for name in _names(one))
    ]
    return found[:_MAX_PEOPLE]


def _names(one: User) -> list[str]:
    return [one.handle, *one.display_name.split()]


def file_mentions(paths: Iterable[str]) -> list[Mention]:
    """Paths from the session's folder; those of folders end with a slash."""
    return [
        Mention(f"@{path}", "folder" if path.endswith("/") else "file-text", path)
        for path in paths
        # A blank would end the name.
        if not any(char.isspace() for char in path)
    ]


def session_mentions(rows: Iterable[Session]) -> list[Mention]:
    """Past sessions: the id is what is read, the title is for people."""
    return [
        Mention(
            f"@{row.pk} ({shown_title(row)[:_MAX_TITLE_CHARS]})",
            "message-square",
            shown_title(row),
            _("Session, %(age)s") % {"age": ago(row.active_at)},
        )
        for row in rows
    ]


def resource_mentions(resources: Mapping[str, JsonObject], typed: str) -> list[Mention]:
    """Those that have what was typed in their name or address, by what is written for them."""
    wanted = typed.lower()
    found = [
        Mention(f"@{written}", "link", text_of(one, "name"), _of_server(one))
        for written, one in resources.items()
        if wanted in f"{written} {text_of(one, 'name')}".lower()
        # Not all addresses can be told from the text around them.
        and mentions(f"@{written}") == [written]
    ]
    return found[:_MAX_RESOURCES]


def _of_server(resource: JsonObject) -> str:
    return " · ".join(filter(None, (text_of(resource, "client"), text_of(resource, "description"))))


def newest_changed(session: Session) -> list[str]:
    return changed_paths(session, most_patches=_MAX_PATCHES)[:_MAX_CHANGED]


def symbol_mentions(symbols: Iterable[JsonObject], directory: str) -> list[Mention]:
    """What is defined in files below a folder, as language servers tell it: the file is named, and
    which of its lines.
    """
    found = []
    for symbol in symbols:
        place = object_of(symbol, "location")
        path = PurePosixPath(unquote(urlsplit(text_of(place, "uri")).path))
        line = (number_of(object_of(object_of(place, "range"), "start"), "line") or 0) + 1
        name = text_of(symbol, "name")
        if not path.is_relative_to(directory) or any(char.isspace() for char in str(path)):
            continue
        inside = path.relative_to(directory)
        found.append(
            Mention(f"@{inside} ({name}, line {line})", "circle", name, f"{inside}:{line}")
        )
    return found[:MAX_SHOWN]


def command_mentions(
    commands: Iterable[Command], targets: Iterable[Target], typed: str
) -> list[Mention]:
    """What a message can begin with, and what can be done from the field: `targets`.

    Those whose name begins so come before those that only have it in them.
    """
    wanted = typed.lower()
    found = {
        one.name: Mention(f"/{_call(one)}", "terminal", f"/{one.name}", _about(one))
        for one in commands
    }
    for target in targets:
        name = next((one for one in target.names if one.startswith(wanted)), target.names[0])
        if name not in found and (target.key or name == wanted):
            found[name] = _of_target(target, name)
    fitting = sorted(
        (name for name in found if wanted in name.lower()),
        key=lambda name: (not name.lower().startswith(wanted), name),
    )
    return [found[name] for name in fitting[:MAX_COMMANDS]]


def _of_target(target: Target, name: str) -> Mention:
    if target.key:
        icon = "arrow-right" if target.url else "chevron-right"
        act = "" if target.url else target.key
        return Mention("", icon, f"/{name}", target.label, act=act, url=target.url)
    detail = _("%(command)s: not possible here") % {"command": target.label}
    return Mention("", "info", f"/{name}", detail)


def _call(command: Command) -> str:
    """How it is written: arguments that a server has named are filled in by their names."""
    return " ".join([command.name, *(f"{name}=" for name in command.argument_names)])


def _about(command: Command) -> str:
    """What follows its name, unless it is any text, and what it is for."""
    hints = " ".join(command.argument_names or [h for h in command.hints if h != "$ARGUMENTS"])
    return " · ".join(filter(None, (hints, describe(command.config.description or ""))))
