"""A program on a terminal of its own, as somebody sees it: tmux draws, tests look and type."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from opencode_web.lib.ids import new_id

COLUMNS, LINES = 140, 45


@dataclass(frozen=True)
class Screen:
    """`socket` names the tmux server, which shows one program only."""

    socket: str

    def _tmux(self, *arguments: str) -> str:
        command = ["tmux", "-L", self.socket, *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=30).stdout

    @property
    def text(self) -> str:
        """What stands on the screen now."""
        return self._tmux("capture-pane", "-p")

    def wait(self, *texts: str, seconds: float = 60) -> None:
        """Until all of them are on the screen."""
        self.until(lambda shown: all(text in shown for text in texts), str(texts), seconds)

    def wait_gone(self, text: str, *, seconds: float = 60) -> None:
        self.until(lambda shown: text not in shown, f"no {text!r}", seconds)

    def until(self, is_shown: Callable[[str], bool], wanted: str, seconds: float = 60) -> None:
        deadline = time.monotonic() + seconds
        while not is_shown(self.text):
            assert time.monotonic() < deadline, f"wanted {wanted}, but this is shown:\n{self.text}"
            time.sleep(0.1)

    def type(self, text: str) -> None:
        self._tmux("send-keys", "-l", "--", text)

    def press(self, *keys: str) -> None:
        """Keys by tmux's names: Enter, Escape, C-c, Up. Escape and another in one are Alt."""
        for key in keys:
            self._tmux("send-keys", key)
            time.sleep(0.3)

    def act_until(
        self, act: Callable[[], object], is_shown: Callable[[str], bool], seconds: float = 60
    ) -> None:
        """A program that is drawing itself may not listen yet, so it may need to be told again."""
        deadline = time.monotonic() + seconds
        while True:
            act()
            patience = time.monotonic() + 5
            while time.monotonic() < patience:
                if is_shown(self.text):
                    return
                time.sleep(0.1)
            assert time.monotonic() < deadline, f"nothing came of it:\n{self.text}"


@contextmanager
def screen(command: list[str], *, env: dict[str, str], cwd: Path) -> Iterator[Screen]:
    """Run a program; it is gone at the end."""
    tmux = shutil.which("tmux")
    assert tmux, "tmux is not installed"
    shown = Screen(new_id("prt"))
    size = ["-x", str(COLUMNS), "-y", str(LINES)]
    start = [tmux, "-L", shown.socket, "-f", "/dev/null", "new-session", "-d", *size, *command]
    subprocess.run(start, env=env, cwd=cwd, check=True, timeout=30)
    try:
        yield shown
    finally:
        shown._tmux("kill-server")
