"""Names of hosts that people enter, before they become parts of an address."""

from __future__ import annotations

import re

from .texts import gettext_noop

BAD_HOST = gettext_noop("Enter a host name such as company.ghe.com.")
_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
# The last label begins with a letter, so that no number is taken for a name.
_HOST = re.compile(rf"(?:{_LABEL}\.)+(?=[a-z]){_LABEL}")
_MAX_CHARS = 253


def host_of(text: str) -> str:
    """Returns: the name of a server, given alone or as an https address of it.

    Raises: ValueError for anything else: a port, a path, a number.
    """
    host = text.strip().lower().removeprefix("https://").removesuffix("/")
    if len(host) > _MAX_CHARS or not _HOST.fullmatch(host):
        raise ValueError(BAD_HOST)
    return host
