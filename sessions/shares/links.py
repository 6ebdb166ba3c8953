"""What is behind `/share/` in the address of a link: the share's id and a keyed hash of it.

Nothing that opens a link is stored, so whoever reads the database cannot open one; and the link can
be shown again to those who may share. Like the hashes of tokens it follows SECRET_KEY, and links
made under a former key open after `manage.py rotate_keys`.
"""

from __future__ import annotations

from opencode_web.lib.crypto import fingerprint, fingerprints, is_same
from opencode_web.lib.ids import is_id
from opencode_web.lib.public_url import base_url
from teams.models import FormerKey

_PREFIX = "shr"
# An id without its prefix, then 160 bits in hexadecimal.
_ID_CHARS, _MARK_CHARS = 26, 40


def share_token(share_id: str) -> str:
    """Returns: letters and digits, the same for a share as long as SECRET_KEY is."""
    return share_id.removeprefix(f"{_PREFIX}_") + fingerprint(_named(share_id))[:_MARK_CHARS]


def share_id_of(token: str) -> str | None:
    """Returns: the id of the share that a token opens; None when this server has not made it."""
    share_id, mark = f"{_PREFIX}_{token[:_ID_CHARS]}", token[_ID_CHARS:]
    if not token.isascii() or len(mark) != _MARK_CHARS or not is_id(share_id, _PREFIX):
        return None
    for known in (fingerprints, FormerKey.objects.fingerprints):
        if any(is_same(one[:_MARK_CHARS], mark) for one in known(_named(share_id))):
            return share_id
    return None


def share_url(share_id: str) -> str:
    """Returns: the whole address, below PUBLIC_URL or else where the server listens."""
    return f"{base_url()}/share/{share_token(share_id)}"


def _named(share_id: str) -> str:
    # No API token looks like it: they are hashed with the same key.
    return f"share {share_id}"
