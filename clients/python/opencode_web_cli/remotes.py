"""Addresses of repositories, told apart by where they lead."""

from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit

# `git@host:group/name.git`, which is no URL.
_SCP = re.compile(r"(?:[^@/:]+@)?(?P<host>[^/:]+):(?!//)(?P<path>.+)")


def normalized(remote: str) -> str:
    """Returns: `host/path` of the address of a repository; empty for what has no host.

    Who signs in, by which protocol and port, makes no other repository of it.
    """
    remote = remote.strip()
    try:
        if "://" in remote:
            parts = urlsplit(remote)
            host, path = parts.hostname or "", parts.path
        elif match := _SCP.fullmatch(remote):
            host, path = match["host"], match["path"]
        else:
            return ""
    except ValueError:
        return ""
    path = unquote(path).strip("/").removesuffix(".git").rstrip("/")
    return f"{host.lower()}/{path}" if host and path else ""
