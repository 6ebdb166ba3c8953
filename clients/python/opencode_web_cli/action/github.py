"""The few requests of GitHub's REST API that the action makes.

Source: https://docs.github.com/en/rest (version 2022-11-28).
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx

Json = dict[str, Any]
_TRIES = 4
_MAX_WAIT_S = 60.0
_PAGE = 100
_PAGES = 30


class Refused(Exception):
    """GitHub did not do it. `status` is that of its answer, 0 without one."""

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class GitHub:
    """One repository, with the token of the workflow."""

    client: httpx.Client
    repository: str

    def comments(self, number: int) -> Iterator[Json]:
        """Yields the comments of an issue or pull request, the oldest first. Raises: Refused."""
        for page in range(1, _PAGES + 1):
            query = {"per_page": _PAGE, "page": page}
            rows = self.call("GET", f"issues/{number}/comments", params=query).json()
            yield from rows
            if len(rows) < _PAGE:
                return

    def own_login(self) -> str:
        """Returns: who comments. The token of a workflow may not ask, and is that of its bot."""
        try:
            return str(self._send("GET", "/user").json()["login"])
        except Refused as exc:
            if exc.status in {401, 403, 404}:
                return "github-actions[bot]"
            raise

    def diff(self, number: int) -> str:
        """Returns: the diff of a pull request. Raises: Refused, also for one that is too large."""
        headers = {"Accept": "application/vnd.github.diff"}
        return self.call("GET", f"pulls/{number}", headers=headers).text

    def call(self, method: str, path: str, **more: Any) -> httpx.Response:
        """Raises: Refused."""
        return self._send(method, f"/repos/{self.repository}/{path}", **more)

    def _send(self, method: str, path: str, **more: Any) -> httpx.Response:
        for left in reversed(range(_TRIES)):
            try:
                answer = self.client.request(method, path, **more)
            except httpx.HTTPError as exc:
                # Whether a write was done is not known: it is not sent again.
                raise Refused(f"GitHub does not answer: {exc}") from exc
            wait_s = _wait_of(answer)
            if answer.is_success or not left or wait_s is None:
                break
            time.sleep(wait_s)
        if not answer.is_success:
            raise Refused(
                f"GitHub answered {answer.status_code}: {_words(answer)}", answer.status_code
            )
        return answer


def open_github(api_url: str, token: str, repository: str) -> GitHub:
    """Close its `client` when it is no longer needed."""
    headers = {
        "Authorization": f"Bearer {token}",
        "Accept": "application/vnd.github+json",
        "X-GitHub-Api-Version": "2022-11-28",
        "User-Agent": "opencode-web-action",
    }
    return GitHub(httpx.Client(base_url=api_url, headers=headers, timeout=30.0), repository)


def _wait_of(answer: httpx.Response) -> float | None:
    """Returns: seconds until it can be tried again; None when that is no use."""
    after = answer.headers.get("Retry-After", "")
    # 403 is also how GitHub tells of a limit, and then it says for how long.
    if answer.status_code in {403, 429} and after.isdecimal():
        return float(after) if float(after) <= _MAX_WAIT_S else None
    if answer.status_code in {502, 503, 504}:
        return float(after) if after.isdecimal() and float(after) <= _MAX_WAIT_S else 2.0
    return None


def _words(answer: httpx.Response) -> str:
    try:
        return str(answer.json()["message"])[:300]
    except (ValueError, KeyError, TypeError):
        return answer.reason_phrase
