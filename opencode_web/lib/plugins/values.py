"""What hooks get and give."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from opencode_web.lib.json import JsonObject

Need = Literal["everybody", "work", "member", "admin", "owner", "operator"]


class ToolFailure(Exception):
    """Ends one tool call with a text that the model reads.

    Raised by a tool it says what went wrong; raised by `before_tool` it forbids the call.
    """


@dataclass(frozen=True)
class Place:
    """Where a session works: absolute paths of its folder, and of the worktree that this lies in.

    Files there are anybody's, links too: what is read of them is no more trusted than a web page.
    """

    team_id: str
    project_id: str
    directory: Path
    worktree: Path


@dataclass(frozen=True)
class ToolCall(Place):
    """One call of a tool by a model."""

    tool: str
    session_id: str
    message_id: str
    call_id: str
    agent: str


@dataclass(frozen=True)
class ToolOutput:
    """What came of a call. The model reads `text`; `title` and `metadata` are for people and
    clients."""

    text: str
    title: str = ""
    metadata: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class PluginTool:
    """A tool as agents are offered it.

    `name` also is its permission, which the rules or a person give before `run` is called.
    `parameters` is a JSON schema of an object, which the arguments of every call fit. `run` may be
    a coroutine function; each call has a thread of its own, in the process that works on the
    session. It returns a ToolOutput, or anything whose `str` the model reads. Units: seconds.
    """

    name: str
    description: str
    parameters: JsonObject
    run: Callable[[ToolCall, JsonObject], object]
    limit_s: float = 300.0


@dataclass(frozen=True, eq=False)
class PluginProvider:
    """A provider of models that people can connect; it takes the place of one of the catalog.

    `description` has models.dev's fields: `name`, `npm`, `api`, `env`, `doc`, and `models` with
    their own by id. `adapter` is a function from `providers.llm.messages.ProviderRequest` to
    `providers.llm.route.Route`; without one the `npm` has to be one that the server can call.
    `sign_in` is a `providers.llm.sign_in.SignIn` of this id, for more than a plain key.
    """

    id: str
    description: JsonObject
    adapter: Callable[..., object] | None = None
    sign_in: object = None


@dataclass(frozen=True)
class TerminalLocation:
    """The Location of a terminal and its person.

    `directory` is the worktree and `cwd` the folder in it where the program starts.
    """

    project_id: str
    team_id: str
    user_id: int
    email: str
    directory: str
    cwd: str


@dataclass(frozen=True)
class MenuEntry:
    """A link in the list of commands.

    `id` has small letters, digits and hyphens; `url` is an address with `https://`, or a path of
    this server. `need`: who sees it; `words`: what it is found by beside its label.
    """

    id: str
    label: str
    url: str
    need: Need = "work"
    words: str = ""
