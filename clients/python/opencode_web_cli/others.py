"""`attach`, `acp` and `serve`: the other programs of the system."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from argparse import Namespace
from pathlib import Path
from typing import NoReturn

from opencode_web_cli.failures import Code, Failure


def attach(options: Namespace) -> Code:
    """Start the terminal program on the server, or say how. Raises: Failure."""
    place = ["--dir", options.project] if options.project else []
    command = ["opencode", "attach", options.url, *place]
    if options.help_only:
        email = shlex.quote(options.email or "YOUR-E-MAIL")
        print("The genuine OpenCode terminal program works on this server's sessions.")
        print("Install it with: npm install -g opencode-ai")
        # Not as its options: everybody on the host can read a command line.
        print(f"Then: export OPENCODE_SERVER_USERNAME={email}")
        print('      export OPENCODE_SERVER_PASSWORD="$OPENCODE_WEB_TOKEN"')
        print(f"      {shlex.join(command)}")
        return Code.OK
    if not options.email:
        raise Failure("Give your e-mail address: --email, or OPENCODE_WEB_EMAIL.", Code.USAGE)
    if not options.token:
        raise Failure("No token: set OPENCODE_WEB_TOKEN.", Code.USAGE)
    if shutil.which("opencode") is None:
        raise Failure("opencode is not installed: npm install -g opencode-ai", Code.USAGE)
    # By the environment, as above.
    identity = {
        "OPENCODE_SERVER_USERNAME": options.email,
        "OPENCODE_SERVER_PASSWORD": options.token,
    }
    return _become(command, identity)


def acp(options: Namespace) -> Code:
    """Serve an editor. Raises: Failure, also when what it needs is not installed."""
    try:
        # Not with the others: it takes a second to import, and may be missing.
        from opencode_web_cli.bridge.command import serve as serve_editors
    except ImportError as exc:
        text = f"This needs more: pip install 'opencode-web-client[acp]' ({exc})"
        raise Failure(text, Code.USAGE) from exc
    return serve_editors(options)


def serve(options: Namespace) -> Code:
    """Start the server of this checkout or installation. Raises: Failure when there is none."""
    command = server_command() or _of_checkout(Path.cwd())
    if command is None:
        raise Failure(
            "The server is not installed with this command: install its wheel, or get its "
            "sources, and run `make run` or this in their folder.",
            Code.USAGE,
        )
    command += ["up", "--port", str(options.port)]
    if options.host:
        command += ["--host", options.host]
    return _become(command, {})


def server_command() -> list[str] | None:
    """Returns: how to run a management command of the server that this was installed with.

    The current folder is not looked at: it can be a repository that nobody has read.
    """
    here = Path(__file__).resolve()
    if (here.parents[1] / "opencode_web" / "__main__.py").is_file():
        return [sys.executable, "-P", "-m", "opencode_web"]
    return _of_checkout(here.parents[3])


def _of_checkout(folder: Path) -> list[str] | None:
    program = folder / "manage.py"
    is_one = program.is_file() and (folder / "opencode_web").is_dir()
    return [sys.executable, str(program)] if is_one else None


def _become(command: list[str], more: dict[str, str]) -> NoReturn:
    os.execvpe(command[0], command, {**os.environ, **more})  # noqa: S606  no shell is wanted
