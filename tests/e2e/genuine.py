"""The genuine client against an installation, with a home of its own."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.installation import Installation


@dataclass(frozen=True)
class Genuine:
    program: Path
    home: Path
    server: Installation

    @property
    def env(self) -> dict[str, str]:
        folders = {
            f"XDG_{name}_HOME": str(self.home / name.lower())
            for name in ("DATA", "STATE", "CACHE", "CONFIG")
        }
        switches = {
            f"OPENCODE_DISABLE_{name}": "1"
            for name in ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "TERMINAL_TITLE")
        }
        base = {"PATH": os.environ["PATH"], "HOME": str(self.home), "TERM": "xterm-256color"}
        return {**base, **folders, **switches}

    def command(self, name: str, *more: str, token: str = "") -> list[str]:
        attach = ["--attach", self.server.url] if name == "run" else [self.server.url]
        password = token or self.server.token
        return [str(self.program), name, *attach, "-u", self.server.email, "-p", password, *more]

    def run(self, prompt: str, *more: str, token: str = "") -> subprocess.CompletedProcess[str]:
        # The prompt comes by stdin: the client quotes arguments that have spaces.
        options = ("-m", "demo/inline", *more, "Please.")
        return subprocess.run(
            self.command("run", *options, token=token),
            input=prompt,
            cwd=self.home,
            env=self.env,
            capture_output=True,
            text=True,
            timeout=90,
        )
