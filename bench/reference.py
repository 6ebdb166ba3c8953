"""The genuine program: `opencode serve` of the npm package, set up without any network."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from pathlib import Path

from bench import npm
from bench.api import Address, Json
from bench.processes import free_port
from bench.repository import copy_repository, make_large, make_repository
from bench.server import Server, opencode_config

VERSION = "1.18.33"
_IMPORT_S = 120


def install() -> Path:
    """Install the npm package into a cache folder, once.

    Returns: its program. Raises: Unavailable.
    """
    machine = {"x86_64": "x64", "aarch64": "arm64", "arm64": "arm64", "AMD64": "x64"}
    package = f"opencode-{platform.system().lower()}-{machine.get(platform.machine(), 'unknown')}"
    folder = npm.cache(VERSION)
    # Without its install script: the program is in the platform's own package.
    program = folder / "node_modules" / package / "bin" / "opencode"
    return npm.install([f"opencode-ai@{VERSION}"], program, folder)


def install_sdk() -> Path:
    """Install the genuine JavaScript client into the cache folder, once.

    Returns: its module. Raises: Unavailable.
    """
    folder = npm.cache(VERSION, "sdk")
    module = folder / "node_modules" / "@opencode-ai" / "sdk" / "dist" / "index.js"
    return npm.install([f"@opencode-ai/sdk@{VERSION}"], module, folder)


def reference(work: Path, endpoint: str) -> Server:
    """Set the genuine program up below `work`. Raises: Unavailable."""
    program = install()
    home = work / "home"
    folders = {f"XDG_{name}_HOME": str(home / name.lower()) for name in ("DATA", "STATE", "CACHE")}
    config = home / "config"
    (config / "opencode").mkdir(parents=True)
    (config / "opencode" / "opencode.json").write_text(json.dumps(opencode_config(endpoint)))
    repository = make_repository(work / "repository")
    port = free_port()
    env = {
        "PATH": os.environ["PATH"],
        "LANG": "C.UTF-8",
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(config),
        **folders,
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
    }

    def import_session(document: Json) -> None:
        file = work / "session.json"
        file.write_text(json.dumps(document))
        subprocess.run(
            [str(program), "import", str(file)],
            cwd=repository.directory,
            env=env,
            check=True,
            capture_output=True,
            timeout=_IMPORT_S,
        )

    return Server(
        key="genuine",
        title=f"opencode serve {VERSION}",
        address=Address(f"http://127.0.0.1:{port}", repository.directory),
        command=[str(program), "serve", "--port", str(port), "--hostname", "127.0.0.1"],
        env=env,
        cwd=Path(repository.directory),
        log=work / "genuine.log",
        page="/",
        repository=repository,
        add_repositories=lambda count: copy_repository(repository, work / "more", count=count),
        add_large=lambda: make_large(work / "large"),
        import_session=import_session,
    )
