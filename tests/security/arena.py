"""A host with things to steal, around the worktree of one session."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.fakes import FakeToolContext
from tools.sandbox.hosts import HostList, HostPattern, HostRules
from tools.sandbox.select import select_sandbox

# So many attempts at once, each for so long; attempts write into `said/`, never to each other.
_AT_ONCE = 4
_LONGEST_S = 4
# Bounded in what it writes: an attempt that reads everything would read its own output for ever.
_ATTEMPT = (
    'ulimit -f 2000; mine="$PWD"; cd /tmp; exec </dev/null >"$mine/said/NUMBER" 2>&1; '
    f'timeout -k 1 {_LONGEST_S} bash "$mine/attempts/NUMBER"; true'
)
# The worst of them are never to run anywhere else, not even when the sandbox is broken.
ONLY_INSIDE = "grep -qx sandbox /proc/sys/kernel/hostname || exit 99; "


def canary(name: str) -> str:
    return f"canary-{name}-{secrets.token_hex(6)}"


class Listener:
    """Counts who reaches a socket."""

    def __init__(self, family: socket.AddressFamily, kind: socket.SocketKind, address: object):
        self._socket = socket.socket(family, kind)
        self._socket.bind(address)  # type: ignore[arg-type]
        self.address = self._socket.getsockname()
        self.reached = 0
        self._stream = kind == socket.SOCK_STREAM
        if self._stream:
            self._socket.listen(16)
        self._socket.settimeout(0.05)
        self._closing = False
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while not self._closing:
            try:
                if self._stream:
                    self._socket.accept()[0].close()
                else:
                    self._socket.recv(100)
            except TimeoutError:
                continue
            self.reached += 1

    def stop(self) -> None:
        self._closing = True

    def close(self) -> None:
        self._thread.join()
        self._socket.close()


@dataclass
class Arena:
    """`root` holds the worktree, another project, the server's data and another session's home."""

    root: Path
    secrets: dict[str, str] = field(default_factory=dict)
    listeners: dict[str, Listener] = field(default_factory=dict)
    listed: tuple[HostPattern, ...] = ()

    @property
    def worktree(self) -> Path:
        return self.root / "projects" / "mine"

    @property
    def other(self) -> Path:
        return self.root / "projects" / "other"

    @property
    def server(self) -> Path:
        return self.root / "server"

    @property
    def neighbour(self) -> Path:
        return self.server / "sessions" / "ses_other"

    @property
    def session_dir(self) -> Path:
        return self.server / "sessions" / "ses_mine"

    def plant(self, name: str, path: Path) -> None:
        self.secrets[name] = canary(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.secrets[name] + "\n")

    def context(self) -> FakeToolContext:
        rules = HostRules((HostList("team", self.listed),))
        sandbox = select_sandbox(
            worktree=self.worktree,
            session_dir=self.session_dir,
            network=False,
            hosts=rules if self.listed else None,
            hidden=(self.server,),
        )
        output = self.server / "tool-output" / "ses_mine"
        output.mkdir(parents=True, exist_ok=True)
        return FakeToolContext(worktree=self.worktree, output_dir=output, sandbox=sandbox)

    def outside(self) -> dict[str, bytes | str]:
        """Everything around the worktree and the session's own folder, with content and kind."""
        own = (self.worktree, self.session_dir, self.server / "tool-output")
        found: dict[str, bytes | str] = {}
        for path in sorted(self.root.rglob("*")):
            if any(path.is_relative_to(folder) for folder in own):
                continue
            kind = str(path.lstat().st_mode)
            found[str(path)] = path.read_bytes() + kind.encode() if path.is_file() else kind
        return found

    def leaked(self, text: str) -> list[str]:
        return [name for name, value in self.secrets.items() if value in text]

    async def attempt(self, commands: list[str], *, may_end: bool = False) -> list[str]:
        """Run each command through the bash tool, all in one sandbox. Returns: what each said.

        `may_end`: they may take their sandbox with them, before they have said all.
        """
        for name in ("attempts", "said"):
            shutil.rmtree(self.worktree / name, ignore_errors=True)
            (self.worktree / name).mkdir()
        for number, command in enumerate(commands):
            (self.worktree / "attempts" / str(number)).write_text(self.fill(command) + "\n")
            (self.worktree / "said" / str(number)).touch()
        context = self.context()
        await context.call(
            "bash",
            command=f"{ONLY_INSIDE} ls attempts | xargs -P {_AT_ONCE} -I NUMBER"
            f" sh -c '{_ATTEMPT}'; echo all-done",
        )
        output = str(context.updates[-1]["output"])
        assert may_end or "all-done" in output, output
        return [
            (self.worktree / "said" / str(number)).read_bytes().decode("utf-8", "replace")
            for number in range(len(commands))
        ]

    def fill(self, command: str) -> str:
        values = {
            "MINE": str(self.worktree),
            "OTHER": str(self.other),
            "SERVER": str(self.server),
            "NEIGHBOUR": str(self.neighbour),
            "ROOT": str(self.root),
            "ADMIN": str(Path("/", "root")),
            "TCP": str(self.listeners["tcp"].address[1]),
            "UDP": str(self.listeners["udp"].address[1]),
            "SOCKET": str(self.listeners["unix"].address),
            "ABSTRACT": self.listeners["abstract"].address[1:].decode(),
        }
        for name, value in values.items():
            command = command.replace(f"@{name}@", value)
        return command


@contextlib.contextmanager
def open_arena(root: Path) -> Iterator[Arena]:
    arena = Arena(root)
    arena.worktree.mkdir(parents=True)
    arena.plant("project", arena.other / "key.txt")
    arena.plant("git", arena.other / ".git" / "config")
    arena.plant("database", arena.server / "db.sqlite3")
    arena.plant("key", arena.server / "secret_key")
    arena.plant("home", arena.neighbour / "home" / ".netrc")
    arena.plant("tmp", arena.neighbour / "tmp" / "note")
    arena.plant("output", arena.server / "tool-output" / "ses_other" / "tool_1")
    arena.secrets["environment"] = canary("environment")
    os.environ["SERVER_SECRET_KEY"] = arena.secrets["environment"]
    abstract = f"\0{secrets.token_hex(8)}"
    unix, stream = socket.AF_UNIX, socket.SOCK_STREAM
    victim = subprocess.Popen(["sleep", "300"])
    try:
        arena.listeners = {
            "tcp": Listener(socket.AF_INET, stream, ("127.0.0.1", 0)),
            "udp": Listener(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)),
            "unix": Listener(unix, stream, str(arena.server / "s.sock")),
            "abstract": Listener(unix, stream, abstract),
        }
        yield arena
        assert victim.poll() is None
    finally:
        os.environ.pop("SERVER_SECRET_KEY", None)
        for listener in arena.listeners.values():
            listener.stop()
        for listener in arena.listeners.values():
            listener.close()
        victim.kill()
        victim.wait()
