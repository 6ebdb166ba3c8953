"""Where a command without a network of its own finds the proxy: at a port of its own loopback.

A socket belongs to the network in which it was made, whoever holds it. So a few lines of Python run
inside before the command: they make the listening socket there, hand it out over a descriptor that
they inherit, and become the command. The server takes the connections from outside. So no relay has
to run inside, where it would count as the command's, and no socket lies in a folder that commands
see: nothing but the connections themselves ever leads out, and all of it is of one command.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from tools.sandbox.hosts import HostRules
from tools.sandbox.process import readable
from tools.sandbox.proxy import Proxy

logger = logging.getLogger(__name__)

PORT = 3128
_LISTEN = f"""
import os, signal, socket, sys
inside = socket.socket()
inside.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
inside.bind(("127.0.0.1", {PORT}))
inside.listen(128)
handed = socket.socket(fileno=int(sys.argv[1]))
socket.send_fds(handed, [b"x"], [inside.fileno()])
inside.close()
handed.close()
# Python ignores these, and what is ignored stays so in the command.
for number in (signal.SIGPIPE, signal.SIGXFSZ):
    signal.signal(number, signal.SIG_DFL)
try:
    os.execvp(sys.argv[2], sys.argv[2:])
except OSError as exc:
    print(sys.argv[2] + ": " + exc.strerror, file=sys.stderr)
    os._exit(126 if isinstance(exc, PermissionError) else 127)
"""
_LOCAL = "localhost,127.0.0.1,::1"
_PLACES = (Path("/usr/bin/python3"), Path("/usr/local/bin/python3"))
NO_INTERPRETER = (
    "The hosts that commands may reach are a list, which takes python3 below /usr on this server. "
    "It is not there, so this command had no network"
)


@dataclass(frozen=True)
class Entrance:
    """`argv` comes before that of the command; `fd` must be inherited."""

    argv: tuple[str, ...]
    fd: int
    proxy: Proxy


@contextlib.asynccontextmanager
async def open_entrance(
    rules: HostRules | None, interpreter: Path | None
) -> AsyncIterator[Entrance | None]:
    """Serve one command's way out while the block lasts.

    Yields: None without rules, and where no `interpreter` could open it inside.
    """
    if rules is None or interpreter is None:
        yield None
        return
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.setblocking(False)
        proxy = Proxy(rules)
        serving = asyncio.create_task(_serve(ours, proxy))
        try:
            # -I: neither the command's environment nor its folder has a say in what runs.
            argv = (str(interpreter), "-I", "-S", "-c", _LISTEN, str(theirs.fileno()))
            yield Entrance(argv, theirs.fileno(), proxy)
        finally:
            serving.cancel()
            await asyncio.wait({serving})
            if not serving.cancelled() and (failure := serving.exception()):
                logger.error("the proxy of a command failed", exc_info=failure)


def proxy_environment() -> dict[str, str]:
    """Build the variables by which programs find the proxy."""
    address = f"http://127.0.0.1:{PORT}"
    names = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
    variables = {**dict.fromkeys(names, address), "NO_PROXY": _LOCAL}
    lower = {name.lower(): value for name, value in variables.items()}
    return {**variables, **lower, "NODE_USE_ENV_PROXY": "1"}


def find_interpreter(prefix: Path | None) -> Path | None:
    """Find a Python that commands see. `prefix` is an installation that is shown to them."""
    places = [*_PLACES, *([prefix / "bin" / "python3"] if prefix else [])]
    return next((path for path in places if os.access(path, os.X_OK)), None)


async def _serve(ours: socket.socket, proxy: Proxy) -> None:
    await readable(ours.fileno())
    _, fds, _, _ = socket.recv_fds(ours, 1, 1, socket.MSG_CMSG_CLOEXEC)
    # Nobody inside can have them send us another: this end is not read a second time.
    ours.close()
    if not fds:
        return
    with socket.socket(fileno=fds[0]) as listener:
        listener.setblocking(False)
        await proxy.serve(listener)
