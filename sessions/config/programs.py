"""Settings of the programs that look at code: `lsp` and `formatter` of an `opencode.json`.

Source: behaviour facts 6.2. Both are off until they are set to true or to an object.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from opencode_web.lib.json import JsonObject, JsonValue
from tools.formatters.spec import Formatter, FormatterSetting, apply_formatters
from tools.formatters.table import FORMATTERS
from tools.lsp.servers import SERVERS
from tools.lsp.spec import ServerSetting, ServerSpec, apply_settings

MAX_SERVERS = 100


class ProgramConfig(BaseModel):
    """A program by name: one that is known, changed, or one of your own."""

    model_config = ConfigDict(frozen=True, extra="allow")

    disabled: bool = False
    """Do not use it."""
    command: list[str] = Field(default=[], max_length=64)
    """The program and its arguments, in place of the usual ones."""
    extensions: list[str] = Field(default=[], max_length=64)
    """Endings of the files that it is for, with their dot."""


class LanguageServerConfig(ProgramConfig):
    """One server under `lsp`."""

    env: dict[str, str] = {}
    """Variables of its environment."""
    initialization: JsonObject = {}
    """Options that it is told when it starts."""


class FormatterConfig(ProgramConfig):
    """One formatter under `formatter`. In its command `$FILE` is the path of the file."""

    environment: dict[str, str] = {}
    """Variables of its environment."""


class McpOAuthConfig(BaseModel):
    """How a remote server is signed in to, where it does not find that out by itself."""

    model_config = ConfigDict(frozen=True, extra="allow", populate_by_name=True)

    client_id: str = Field(default="", alias="clientId", max_length=2_000)
    """A client that somebody has registered there; else one is registered when it is needed."""
    client_secret: str = Field(default="", alias="clientSecret", max_length=2_000)
    """Its secret. `{env:NAME}` stands for a secret of the project or a listed variable."""
    scope: str = Field(default="", max_length=2_000)
    """What to ask for, in place of what the server names."""


class McpConfig(BaseModel):
    """One server under `mcp`. Keys that OpenCode has besides are kept."""

    model_config = ConfigDict(frozen=True, extra="allow")

    type: Literal["local", "remote"] | None = None
    """A command that is run here, or an address."""
    command: list[str] = Field(default=[], max_length=64)
    """The program and its arguments; it runs in the sandbox of a session."""
    cwd: str = ""
    """Folder in which it starts, relative to the worktree."""
    environment: dict[str, str] = {}
    """Variables of its environment. `{env:NAME}` stands for a secret of the team or project."""
    url: str = Field(default="", max_length=2_000)
    """Address of a remote one."""
    headers: dict[str, str] = Field(default={}, max_length=64)
    """What a remote one is sent with each request. `{env:NAME}` stands for such a secret, or for a
    variable of this server that its operators have listed in CONFIG_ENV."""
    oauth: McpOAuthConfig | Literal[False] | None = None
    """How a remote one is signed in to; false for not at all."""
    account: Literal["team", "own", "either"] = "team"
    """Who signs in to a remote one: an admin for the team, each person for themselves, or both."""
    sampling: Literal["never", "ask", "allow"] = "never"
    """Whether it may ask the model of a session, while one of its tools runs, and has to be allowed
    each time."""
    enabled: bool = True
    """Whether it is used."""
    timeout: int = Field(default=30_000, gt=0, le=600_000)
    """Milliseconds that it has to start and answer."""

    @property
    def timeout_s(self) -> float:
        """Units: seconds."""
        return self.timeout / 1000

    @property
    def signs_in(self) -> bool:
        """Whether it is signed in to when it asks for that, and nothing else says who asks."""
        has_own = any(name.lower() == "authorization" for name in self.headers)
        return self.is_remote and self.oauth is not False and not has_own

    @property
    def takes_own(self) -> bool:
        """Whether each person may sign in to it on their own."""
        return self.signs_in and self.account != "team"

    @property
    def takes_team(self) -> bool:
        """Whether an admin may sign in to it for the team."""
        return self.signs_in and self.account != "own"

    @property
    def samples(self) -> bool:
        """Whether it may ask for answers of a model."""
        return self.sampling != "never"

    @property
    def is_remote(self) -> bool:
        """Whether it is at an address."""
        return self.type == "remote" or (self.type is None and bool(self.url))


Servers = dict[str, LanguageServerConfig]
Formatters = dict[str, FormatterConfig]


def read_switch(value: JsonValue) -> JsonValue:
    """Returns: an object for what may be a switch, None for off."""
    if isinstance(value, bool):
        return {} if value else None
    return value


def require_whole(settings: Mapping[str, ProgramConfig], known: Mapping[str, object]) -> None:
    """Raises: ValueError naming one of somebody's own that lacks what it needs."""
    if len(settings) > MAX_SERVERS:
        raise ValueError(f"has more than {MAX_SERVERS} entries")
    for name, setting in settings.items():
        if name in known or setting.disabled:
            continue
        if not setting.command or not setting.extensions:
            raise ValueError(f"{name} is not known here, so it needs a command and extensions")


def formatters_of(settings: Formatters | None) -> tuple[Formatter, ...]:
    """Returns: the formatters that are called after a change; none while they are off."""
    if settings is None:
        return ()
    return apply_formatters(
        FORMATTERS,
        {
            name: FormatterSetting(
                disabled=one.disabled,
                command=tuple(one.command),
                extensions=tuple(one.extensions),
                environment=one.environment,
            )
            for name, one in settings.items()
        },
    )


def language_servers(settings: Servers | None) -> tuple[ServerSpec, ...]:
    """Returns: the servers that may run; none while they are off."""
    if settings is None:
        return ()
    return apply_settings(
        SERVERS,
        {
            name: ServerSetting(
                disabled=one.disabled,
                command=tuple(one.command),
                extensions=tuple(one.extensions),
                env=one.env,
                initialization=one.initialization,
            )
            for name, one in settings.items()
        },
    )
