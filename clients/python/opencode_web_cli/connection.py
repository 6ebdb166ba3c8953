"""One server, as one caller, in one project."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx

from opencode_web_cli.failures import Code, Failure

# The server sends a heartbeat every ten seconds.
_SILENCE_S = 35.0
ANSWER_S = 60.0


@dataclass(frozen=True)
class Connection:
    """`project` is a path on the server or `team/project`; empty for the token's default.

    `key_from` are the variables that the key of a server for one run comes from.
    """

    client: httpx.Client
    project: str = ""
    key_from: tuple[str, ...] = ()

    def call(self, method: str, path: str, *, body: Any = None, **query: Any) -> Any:
        """Returns: the answer's JSON. Raises: Failure with the server's own words."""
        try:
            answer = self.client.request(method, path, json=body, params=self.query(**query))
        except httpx.HTTPError as exc:
            raise Failure(f"{self.client.base_url} does not answer: {exc}") from exc
        require_success(answer)
        try:
            return answer.json()
        except ValueError as exc:
            if not answer.content:
                return None
            raise Failure(f"{answer.url} did not answer with JSON. Is it this server?") from exc

    def query(self, **query: Any) -> dict[str, Any]:
        given = {"directory": self.project or None, **query}
        return {name: value for name, value in given.items() if value is not None}

    @contextmanager
    def stream(self, path: str, **query: Any) -> Iterator[httpx.Response]:
        """Raises: Failure, also when it ends too early."""
        timeout = httpx.Timeout(ANSWER_S, read=_SILENCE_S)
        try:
            with self.client.stream(
                "GET", path, params=self.query(**query), timeout=timeout
            ) as answer:
                if answer.is_error:
                    answer.read()
                require_success(answer)
                yield answer
        except httpx.HTTPError as exc:
            raise Failure(f"The connection to {self.client.base_url} was lost: {exc}") from exc


def connect(url: str, token: str, project: str) -> Connection:
    """Raises: Failure when there is no token."""
    if not token:
        raise Failure(
            "No token: make one on the server under your name → API tokens, then set "
            "OPENCODE_WEB_TOKEN.",
            Code.USAGE,
        )
    headers = {"Authorization": f"Bearer {token}"}
    try:
        client = httpx.Client(base_url=url, headers=headers, timeout=ANSWER_S)
    except (httpx.InvalidURL, ValueError) as exc:
        raise Failure(f"{url} is no address of a server: {exc}", Code.USAGE) from exc
    return Connection(client, project)


def require_success(answer: httpx.Response) -> None:
    """Raises: Failure with the server's own words."""
    if answer.is_redirect:
        raise Failure(f"{answer.url} leads elsewhere. Is it the address of the server?")
    if answer.is_error:
        raise Failure(words_of(answer) or f"{answer.url} answered {answer.status_code}.")


def words_of(answer: httpx.Response) -> str:
    """Returns: what the server says of an error, nothing where it is not this server's."""
    try:
        error = answer.json()
        return str(error.get("data", {}).get("message") or error.get("message") or "")
    except (ValueError, AttributeError):
        return ""


def events(answer: httpx.Response) -> Iterator[dict[str, Any]]:
    """Yields each event of a stream, its id beside it when it has one."""
    data: list[str] = []
    for line in answer.iter_lines():
        if line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
        elif not line and data:
            yield json.loads("\n".join(data))
            data = []
