"""A server for one run: in a data folder of its own, on a loopback port, until the run is over.

Of the environment it gets what a program needs, and the settings named here. So neither it nor what
an agent runs sees the other secrets of a CI job.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import httpx

from opencode_web_cli.accounts import account_in_catalog, give_account
from opencode_web_cli.connection import ANSWER_S, Connection
from opencode_web_cli.failures import Code, Failure
from opencode_web_cli.others import server_command
from opencode_web_cli.prompt import build_model

_START_S = 180.0
_STOP_S = 30.0
# As actions/checkout and GitLab's runner leave one: as a header, or in the address of the remote.
_CREDENTIAL = re.compile(rb"\.extraheader\n|://[^/\s@]*:[^/\s@]+@")
_MACHINE = {
    *("PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "TZ", "TMPDIR"),
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR"),
}
# Settings of the server that a run may bring along, beside those that begin with SANDBOX_.
_SETTINGS = {
    *("ALLOWED_PRIVATE_ADDRESSES", "UNSAFE_SANDBOX", "INSTANCE_CONFIG", "PERMISSION_RULES"),
    *("CONFIG_ENV", "LOG_LEVEL"),
}


@contextmanager
def embedded_server(
    folder: str, *, model: str | None, max_cost: float | None = None
) -> Iterator[Connection]:
    """A server whose only project is the repository of `folder`, and where `folder` is named.

    The account of the model's provider comes from its usual variables, such as ANTHROPIC_API_KEY.
    Units: `max_cost` in US dollars.

    Raises: Failure.
    """
    command = server_command()
    if command is None:
        raise Failure("--embedded needs the server: install its wheel.", Code.USAGE)
    if not model:
        raise Failure("--embedded needs the model: --model PROVIDER/MODEL.", Code.USAGE)
    provider = build_model(model)["providerID"]
    if not os.environ.get("INSTANCE_CONFIG"):  # which may have a key, or another provider
        account_in_catalog(provider).require()
    place = Path(folder).resolve()
    root = _repository_of(place)
    with tempfile.TemporaryDirectory(prefix="opencode-web-", ignore_cleanup_errors=True) as data:
        port = _free_port()
        env = _environment(os.environ) | {
            "OPENCODE_WEB_DATA": data,
            "OPENCODE_WEB_WORKTREES": str(root.parent),
            "LISTEN_HOST": "127.0.0.1",
            "PORT": str(port),
            "TITLES": "0",
        }
        token = _bootstrap(command, env, root)
        # Not by a proxy of the environment: that is for the server.
        client = httpx.Client(
            base_url=f"http://127.0.0.1:{port}",
            headers={"Authorization": f"Bearer {token}"},
            timeout=ANSWER_S,
            trust_env=False,
        )
        with client, _running(command, env, Path(data, "server.log"), client):
            connection = Connection(client, str(place))
            account = give_account(connection, provider)
            if max_cost is not None:
                limits = {"limits": {"session_cost": max_cost}}
                connection.call("PATCH", "/config", body=limits)
            yield replace(connection, key_from=account.used)


def _environment(given: Mapping[str, str]) -> dict[str, str]:
    lent = {name.strip() for name in given.get("CONFIG_ENV", "").split(",")}
    return {
        name: value
        for name, value in given.items()
        if name in _MACHINE | _SETTINGS | lent or name.startswith("SANDBOX_")
    }


def _repository_of(place: Path) -> Path:
    found = _git(place, "rev-parse", "--show-toplevel")
    if found.returncode:
        why = found.stderr.decode("utf-8", "replace").strip()
        raise Failure(f"{place} is in no Git repository: {why}", Code.USAGE)
    settings = _git(place, "config", "--local", "--list", "-z").stdout
    if _CREDENTIAL.search(settings):
        raise Failure(
            "The repository's .git/config has a credential, which the agent could read. On GitHub, "
            "set `persist-credentials: false` of actions/checkout; on GitLab, the variable "
            "`FF_GIT_URLS_WITHOUT_TOKENS: true`.",
            Code.USAGE,
        )
    return Path(os.fsdecode(found.stdout).removesuffix("\n")).resolve()


def _git(place: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    command = ["git", "-C", str(place), *arguments]
    try:
        return subprocess.run(command, capture_output=True, check=False)  # noqa: S603  no shell
    except OSError as exc:
        raise Failure("git is not installed.", Code.USAGE) from exc


def _bootstrap(command: list[str], env: dict[str, str], root: Path) -> str:
    arguments = ["bootstrap", "--email", "agent@localhost", "--name", "OpenCode Web"]
    arguments += ["--password", "-", "--team", "CI", "--directory", str(root), "--json"]
    done = subprocess.run(  # noqa: S603  no shell
        [*command, *arguments],
        cwd=env["OPENCODE_WEB_DATA"],
        env=env,
        input=f"{secrets.token_urlsafe(24)}\n",
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise Failure(f"The server cannot be set up: {(done.stderr or done.stdout).strip()}")
    return str(json.loads(done.stdout)["token"])


@contextmanager
def _running(
    command: list[str], env: dict[str, str], log: Path, client: httpx.Client
) -> Iterator[None]:
    with log.open("w+", encoding="utf-8") as output:
        # In a session of its own: Ctrl+C stops the turn first, and then the server.
        process = subprocess.Popen(  # noqa: S603  no shell
            [*command, "up"],
            cwd=log.parent,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            _wait_for(process, client, log)
            yield
        finally:
            process.terminate()
            try:
                process.wait(_STOP_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            print(_warnings(log), end="", file=sys.stderr)


def _wait_for(process: subprocess.Popen[bytes], client: httpx.Client, log: Path) -> None:
    deadline = time.monotonic() + _START_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise Failure(f"The server did not start: {log.read_text('utf-8').strip()}")
        with suppress(httpx.HTTPError):
            if client.get("/global/ready").is_success:
                return
        time.sleep(0.1)
    raise Failure(f"The server was not ready after {_START_S:.0f} seconds.")


def _warnings(log: Path) -> str:
    """Returns: lines about a sandbox that does not work here, which explain what was refused."""
    lines = log.read_text("utf-8", "replace").splitlines(keepends=True)
    return "".join(line for line in lines if line.startswith("Sandbox: Shell"))


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
