"""The MCP servers of a project, as people have set them up under `mcp`, and what they said.

Of a repository's own settings none count: they start programs and reach addresses. Each level above
can add some.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Annotated, Literal

from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_noop
from typing_extensions import TypedDict

from opencode_web.lib.config_references import VARIABLE
from opencode_web.lib.json import JsonObject
from opencode_web.lib.outbound import FetchError, check_url
from opencode_web.lib.shapes import Unchecked
from sessions.config.programs import McpConfig
from sessions.models import McpServer, Project
from tools.permissions.rules import Action, Rule, Ruleset, is_hidden
from tools.registry import all_tools

# Of the settings.
KEY = "mcp"
MAX_SERVERS = 32
# States of a server beside connected and failed.
NEEDS_AUTH, NEEDS_REGISTRATION = "needs_auth", "needs_client_registration"
# Programs change under the same settings, and one that failed may have been mended.
_FRESH = timedelta(minutes=10)
_UNNAMEABLE = re.compile(r"[^A-Za-z0-9_-]")
# Names of variables and headers that say what their values are.
_SECRET_NAME = re.compile(r"key|token|secret|passw|credential|auth", re.IGNORECASE)
# Names of permissions, and of what the server offers by other ways than the registry.
LIST_RESOURCES, LIST_TEMPLATES = "list_mcp_resources", "list_mcp_resource_templates"
READ_RESOURCE = "read_mcp_resource"
# Its patterns are names of servers.
SAMPLING = "sampling"
RESERVED = frozenset({"external_directory", "doom_loop", "patch", "lsp", "StructuredOutput"}) | {
    LIST_RESOURCES,
    LIST_TEMPLATES,
    READ_RESOURCE,
    SAMPLING,
}
MAX_CHARS = 40
MAX_URI_CHARS = 2_000
WRONG_NAME = gettext_noop(
    "Its name is empty, longer than 40 characters, starts or ends with a space, or "
    "contains invisible characters."
)


@dataclass(frozen=True)
class McpTool:
    """A tool as agents are offered it. `remote` is how `server` itself calls it."""

    name: str
    server: str
    remote: str
    description: str
    parameters: JsonObject


@dataclass(frozen=True)
class McpPrompt:
    """A prompt as people are offered it. `hints` are what is filled into the template.

    `arguments` are the names of these, which servers that were asked before do not have.
    """

    name: str
    description: str
    template: str
    hints: list[str]
    arguments: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class ServerWords:
    """What a server wants agents to know."""

    server: str
    text: str


class McpConnected(TypedDict):
    """It could be asked when it was asked last."""

    status: Literal["connected"]


class McpDisabled(TypedDict):
    """It is switched off."""

    status: Literal["disabled"]


class McpNeedsAuth(TypedDict):
    """Somebody has to sign in."""

    status: Literal["needs_auth"]


class McpFailed(TypedDict):
    """It could not be asked."""

    status: Literal["failed"]
    error: str


class McpNeedsRegistration(TypedDict):
    """Its authorization server registers no clients."""

    status: Literal["needs_client_registration"]
    error: str


def servers_in(config: JsonObject) -> dict[str, JsonObject]:
    """Returns: what some settings say of servers, by name, as it was written."""
    found = config.get(KEY)
    servers = found.items() if isinstance(found, dict) else ()
    return {name: one for name, one in servers if isinstance(one, dict)}


def switched(stored: JsonObject | None, below: JsonObject | None, *, on: bool) -> JsonObject | None:
    """Returns: what settings say of a server that is switched on or off in them, if anything.

    `below` is what the levels under them say.
    """
    rest = {key: value for key, value in (stored or {}).items() if key != "enabled"}
    if not rest and below is not None and below.get("enabled", True) is on:
        return None
    return {**rest, "enabled": on}


def tool_name(server: str, tool: str) -> str:
    """Returns: the name by which models call a server's tool, and rules are written for it."""
    return _UNNAMEABLE.sub("_", f"{server}_{tool}")


def prompt_name(server: str, prompt: str) -> str:
    """Returns: the name of the command that a server's prompt is."""
    return f"{_UNNAMEABLE.sub('_', server)}:{_UNNAMEABLE.sub('_', prompt)}"


def resource_pattern(given: JsonObject) -> str:
    """Returns: what rules are written for, of the input of a call that reads a resource."""
    return f"mcp:{given.get('server')}:{given.get('uri')}"


def running(servers: dict[str, McpConfig]) -> dict[str, McpConfig]:
    """Returns: those that are switched on and can be asked, by name."""
    return {name: one for name, one in servers.items() if one.enabled and not refusal(name, one)}


def refusal(name: str, server: McpConfig) -> str:
    """Returns: why a server can never be asked, as a sentence; else nothing."""
    if server.is_remote:
        try:
            check_url(server.url)
        except FetchError as exc:
            return f"Its address cannot be used: {exc}."
    elif not server.command:
        return "It has no command."
    start = tool_name(name, "")
    if not is_name(name):
        return WRONG_NAME
    if any(taken.startswith(start) for taken in (*all_tools(), *RESERVED)):
        return f"Names of built-in tools begin with {start}: give it another name."
    return ""


def is_plain_secret(name: str, value: str) -> bool:
    """Whether a variable or header is a secret by its name, and is written out."""
    return bool(_SECRET_NAME.search(name)) and not VARIABLE.search(value)


def digest_of(server: McpConfig) -> str:
    """Returns: what changes with the settings of a server."""
    data = json.dumps(server.model_dump(mode="json"), sort_keys=True)
    return hashlib.sha256(data.encode()).hexdigest()


def known_servers(
    project: Project, servers: dict[str, McpConfig], user_id: int | None
) -> dict[str, McpServer]:
    """Returns: the last answers of servers with these settings, of any age, by name.

    What a server that each signs in to on their own has said to one is told to nobody else.
    """
    wanted = {
        name: (digest_of(one), user_id if one.takes_own else None)
        for name, one in running(servers).items()
    }
    if not wanted:
        return {}
    rows = McpServer.objects.filter(Q(user=None) | Q(user=user_id), project=project)
    found = rows.order_by("name")
    return {row.name: row for row in found if wanted.get(row.name) == (row.digest, row.user_id)}


def stale_servers(
    project: Project, servers: dict[str, McpConfig], user_id: int | None
) -> tuple[str, ...]:
    """Returns: the servers that have to be asked, for the first time or again."""
    known, oldest = known_servers(project, servers, user_id), timezone.now() - _FRESH
    names = list(running(servers))[:MAX_SERVERS]
    return tuple(name for name in names if name not in known or known[name].asked_at < oldest)


def offered_by_servers(
    project: Project, servers: dict[str, McpConfig], user_id: int | None
) -> tuple[McpTool, ...]:
    """Returns: the tools that agents may be offered. No two have one name, nor a built-in's."""
    return tools_of(known_servers(project, servers, user_id))


def tools_of(known: dict[str, McpServer]) -> tuple[McpTool, ...]:
    """`offered_by_servers` of what was read."""
    found: dict[str, McpTool] = {}
    for row in known.values():
        for tool in row.tools:
            found.setdefault(tool["name"], McpTool(**tool, server=row.name))
    return tuple(found.values())


def prompts_of_servers(
    project: Project, servers: dict[str, McpConfig], user_id: int | None
) -> tuple[McpPrompt, ...]:
    """Returns: the prompts that people may be offered as commands."""
    rows = known_servers(project, servers, user_id).values()
    return tuple(McpPrompt(**prompt) for row in rows for prompt in row.prompts)


def resources_of_servers(
    project: Project, servers: dict[str, McpConfig], user_id: int | None
) -> dict[str, JsonObject]:
    """Returns: the resources when they were last listed, as OpenCode's API has them."""
    found: dict[str, JsonObject] = {}
    for row in known_servers(project, servers, user_id).values():
        for one in row.resources or ():
            found.setdefault(prompt_name(row.name, one["name"]), {**one, "client": row.name})
    return found


def mentionable_resources(
    project: Project, servers: dict[str, McpConfig], user_id: int | None
) -> dict[str, JsonObject]:
    """Returns: the resources by what people write after an `@`, as `resources_of_servers`."""
    return {
        f"{_UNNAMEABLE.sub('_', row.name)}:{one['uri']}": {**one, "client": row.name}
        for row in known_servers(project, servers, user_id).values()
        for one in row.resources or ()
    }


def words_of_servers(
    project: Project, servers: dict[str, McpConfig], ruleset: Ruleset, user_id: int | None
) -> tuple[ServerWords, ...]:
    """Returns: what those say of whose tools an agent with these rules is offered any."""
    known = known_servers(project, servers, user_id).values()
    rows = [row for row in known if row.instructions]
    return tuple(
        ServerWords(row.name, row.instructions)
        for row in rows
        if any(not is_hidden(tool["name"], ruleset) for tool in row.tools)
    )


def asked_for_servers(servers: Mapping[str, McpConfig]) -> Ruleset:
    """The defaults for servers: each of their tools is asked for, also one that nobody knows yet,
    and so is what they ask a model, unless their settings allow it."""
    return tuple(rule for name, one in servers.items() for rule in _asked_for(name, one))


def _asked_for(name: str, server: McpConfig) -> Iterator[Rule]:
    yield Rule(tool_name(name, "") + "*", "*", Action.ASK)
    # As a pattern the name could stand for others.
    is_allowed = server.sampling == "allow" and not set("*?") & set(name)
    yield Rule(SAMPLING, name, Action.ALLOW if is_allowed else Action.ASK)


def statuses(project: Project, servers: dict[str, McpConfig], user_id: int) -> dict[str, McpStatus]:
    """Returns: how each server is for a person, as OpenCode's API has it."""
    known = known_servers(project, servers, user_id)
    return {name: status_of(name, one, known.get(name)) for name, one in servers.items()}


McpStatus = Annotated[
    JsonObject,
    Unchecked(McpConnected | McpDisabled | McpNeedsAuth | McpFailed | McpNeedsRegistration),
]


def status_of(name: str, server: McpConfig, row: McpServer | None) -> McpStatus:
    """Returns: how a server is, as OpenCode's API has it."""
    if not server.enabled:
        return {"status": "disabled"}
    if row is not None and row.state == NEEDS_AUTH:
        return {"status": NEEDS_AUTH}
    if row is not None and row.state:
        return {"status": row.state, "error": row.error}
    if error := refusal(name, server) or (row.error if row else ""):
        return {"status": "failed", "error": error}
    if row is None:
        return {"status": "failed", "error": "It has not been asked yet: the next turn does that."}
    return {"status": "connected"}


def is_name(name: str) -> bool:
    """Whether a server may have this name: up to 40 characters that can be seen, and spaces."""
    return 0 < len(name) <= MAX_CHARS and name.isprintable() and name == name.strip()
