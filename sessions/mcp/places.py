"""Where an MCP server of the settings is, with the secrets that it is given."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from django.conf import settings

from opencode_web.lib.config_references import NotGiven, fill_variables, references_in
from opencode_web.lib.known_keys import KnownKeys
from sessions.config.programs import McpConfig
from sessions.mcp.servers import is_plain_secret
from tools.errors import ToolError
from tools.mcp.exchange import Server
from tools.mcp.remote import Address
from tools.mcp.stdio import Program
from tools.redaction import Redactor
from tools.sandbox.base import Command, Sandbox

_WANTED_INSIDE = "It wants the secret {}, which this project does not have."
_WANTED = (
    _WANTED_INSIDE[:-1] + ", and the operators of this server have not listed it in CONFIG_ENV."
)
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,200}")
_HEADER_VALUE = re.compile(r"[\x20-\x7e]{0,8000}")


def place_of(server: McpConfig, folder: Path, sandbox: Sandbox, *, bearer: str = "") -> Server:
    """Returns: a program in the sandbox, or an address, to which `bearer` was granted.

    Raises: ToolError naming a secret that is wanted and not there.
    """
    if server.is_remote:
        return address_of(server, sandbox.redactor.secrets, bearer=bearer)
    command = Command(
        argv=tuple(server.command),
        cwd=_inside(folder, server.cwd),
        timeout_s=None,
        env=_filled(server.environment, sandbox.redactor.secrets, _WANTED_INSIDE),
        network=True,
    )
    return Program(sandbox, command, samples=server.samples)


def address_of(server: McpConfig, secrets: Mapping[str, str], *, bearer: str = "") -> Address:
    """Raises: ToolError for a secret that is not there, or a header that cannot be sent."""
    headers = _filled(server.headers, {**settings.CONFIG_VALUES, **secrets}, _WANTED)
    if bearer:
        headers["Authorization"] = f"Bearer {bearer}"
    for name, value in headers.items():
        if not _HEADER_NAME.fullmatch(name) or not _HEADER_VALUE.fullmatch(value):
            raise ToolError(f"Its header {name} has characters that no header may have.")
    return Address(server.url, headers, samples=server.samples)


def redactor_of(
    server: McpConfig, known: Mapping[str, str], *, bearer: str = "", keys: KnownKeys | None = None
) -> Redactor:
    """Knows the secrets of the project, what the settings have in plain words, the variables of
    this server that they name, and the grant; and with `keys` well-known keys."""
    # Of `Bearer abc` the server may say the second word alone.
    headers = {name: value.rpartition(" ")[2] for name, value in server.headers.items()}
    given = {**headers, **server.environment}
    plain = {name: value for name, value in given.items() if is_plain_secret(name, value)}
    granted = {"of the sign-in": bearer} if bearer else {}
    named = {one.variable for one in references_in(server.model_dump(mode="json"))}
    listed = {name: value for name, value in settings.CONFIG_VALUES.items() if name in named}
    return Redactor({**plain, **listed, **granted, **known}, keys=keys)


def client_of(server: McpConfig, secrets: Mapping[str, str]) -> tuple[str, str]:
    """Returns: id and secret of a client that somebody has registered; empty where nobody has.

    Raises: ToolError naming a secret that is wanted and not there.
    """
    if not server.oauth:
        return "", ""
    given = {"id": server.oauth.client_id, "secret": server.oauth.client_secret}
    filled = _filled(given, {**settings.CONFIG_VALUES, **secrets}, _WANTED)
    return filled["id"], filled["secret"]


def _filled(values: Mapping[str, str], known: Mapping[str, str], wanted: str) -> dict[str, str]:
    try:
        return {name: fill_variables(text, known) for name, text in values.items()}
    except NotGiven as exc:
        raise ToolError(wanted.format(exc.name)) from exc


def _inside(folder: Path, wanted: str) -> Path:
    path = (folder / wanted).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise ToolError("The folder that it starts in is outside of the project.")
    return folder / wanted
