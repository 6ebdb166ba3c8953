"""`sessions` and `token`: what there is, and its end."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from opencode_web_cli.connection import Connection
from opencode_web_cli.failures import Code
from opencode_web_cli.printing import plain

_TITLE_CHARS = 60


def list_sessions(connection: Connection, options: Namespace) -> Code:
    """Raises: Failure."""
    rows = connection.call("GET", "/session", roots="true", limit=options.limit)
    if options.json:
        print(json.dumps(rows, indent=2))
        return Code.OK
    busy = connection.call("GET", "/session/status") if rows else {}
    table = [
        (row["id"], "running" if row["id"] in busy else "", _when(row), _short(row["title"]))
        for row in rows
    ]
    _print_table(("ID", "STATE", "UPDATED", "TITLE"), table)
    return Code.OK


def delete_sessions(connection: Connection, options: Namespace) -> Code:
    """Raises: Failure at the first that cannot be deleted."""
    for session in options.ids:
        connection.call("DELETE", f"/session/{session}")
        print(f"Deleted {session}")
    return Code.OK


def list_tokens(connection: Connection, options: Namespace) -> Code:
    """Raises: Failure."""
    rows = connection.call("GET", "/token")
    if options.json:
        print(json.dumps(rows, indent=2))
        return Code.OK
    table = [
        (
            row["id"],
            f"{row['prefix']}…",
            row["scopes"][-1],
            (row["expires_at"] or "never")[:10],
            row["name"] + (" (this one)" if row["current"] else ""),
        )
        for row in rows
    ]
    _print_table(("ID", "TOKEN", "SCOPE", "ENDS", "NAME"), table)
    return Code.OK


def create_token(connection: Connection, options: Namespace) -> Code:
    """Print the secret, and nothing else, so that a script can keep it. Raises: Failure."""
    body = {"name": options.name, "scope": options.scope, "expires_days": options.days}
    print(connection.call("POST", "/token", body=body)["token"])
    return Code.OK


def revoke_tokens(connection: Connection, options: Namespace) -> Code:
    """Raises: Failure at the first that cannot be revoked."""
    for token in options.ids:
        connection.call("DELETE", f"/token/{token}")
        print(f"Revoked {token}")
    return Code.OK


def _when(row: dict[str, Any]) -> str:
    updated = datetime.fromtimestamp(row["time"]["updated"] / 1000, UTC)
    return updated.astimezone().strftime("%Y-%m-%d %H:%M")


def _short(title: str) -> str:
    text = plain(title).replace("\n", " ")
    return text if len(text) <= _TITLE_CHARS else f"{text[: _TITLE_CHARS - 1]}…"


def _print_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    if not rows:
        print("None.")
        return
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    for row in (head, *rows):
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        print("  ".join(cells).rstrip())
