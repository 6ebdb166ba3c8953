from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace

from django.utils.translation import gettext as _

from opencode_web.lib.outbound_policy import parse_place
from tools.sandbox.base import Command
from tools.sandbox.bubblewrap import BubblewrapSandbox
from tools.sandbox.entrance import NO_INTERPRETER, PORT
from tools.sandbox.hosts import HostList, HostRules, parse_pattern

_TIMEOUT_S = 15
_WORD = "reached"
_ATTEMPTS = f"""
ask() {{
  exec 3<>/dev/tcp/127.0.0.1/{PORT} || return
  printf 'CONNECT %s HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n' "$1" >&3
  cat <&3 | tr -d '\\r' | tr '\\n' ' '
}}
echo "listed=$(ask "127.0.0.1:$LISTED")"
echo "other=$(ask "127.0.0.1:$OTHER")"
(exec 3<>/dev/tcp/127.0.0.1/$LISTED) 2>/dev/null && echo past=yes
"""


@dataclass(frozen=True)
class Wall:
    """One wall and whether it stood. `detail` says what to do where it did not."""

    name: str
    holds: bool
    detail: str


async def examine_list(sandbox: BubblewrapSandbox) -> list[Wall]:
    """Try what a command with a list of hosts reaches, on services of our own."""
    output = bytearray()

    async def take(chunk: bytes) -> None:
        output.extend(chunk)

    async def tell(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(_WORD.encode())
        writer.close()

    listed = await asyncio.start_server(tell, "127.0.0.1", 0)
    other = await asyncio.start_server(tell, "127.0.0.1", 0)
    async with listed, other:
        ports = [server.sockets[0].getsockname()[1] for server in (listed, other)]
        pattern = parse_pattern(f"127.0.0.1:{ports[0]}")
        rules = HostRules((HostList("team", (pattern,)),), (parse_place("127.0.0.1"),))
        command = Command(
            ("bash", "-c", _ATTEMPTS),
            sandbox.layout.worktree,
            _TIMEOUT_S,
            {"LISTED": str(ports[0]), "OTHER": str(ports[1])},
            network=True,
        )
        ended = await replace(sandbox, network=False, hosts=rules).run(command, on_output=take)
    said = dict(line.split("=", 1) for line in output.decode().splitlines() if "=" in line)
    return [_judge(said, missing=NO_INTERPRETER in ended.refused)]


def _judge(said: dict[str, str], *, missing: bool) -> Wall:
    name = "network list"
    if missing:
        return Wall(name, False, _("teams that list hosts get no network: install python3 in /usr"))
    if said.get("past") or _WORD in said.get("other", _WORD) or " 403 " not in said["other"]:
        found = _("a host that is not listed was reached: set SANDBOX_NETWORK=none")
        return Wall(name, False, found)
    if _WORD not in said.get("listed", ""):
        found = _("a listed host was not reached: {answer}")
        return Wall(name, False, found.format(answer=said.get("listed", "")[:200]))
    return Wall(name, True, _("listed hosts are reached by the proxy, others are not"))
