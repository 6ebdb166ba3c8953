"""What a person brings back from a provider's page: an address, or a code."""

from __future__ import annotations

import hmac
import re
from urllib.parse import parse_qsl, urlsplit

from ..texts import gettext_noop
from .errors import BadCode, Denied, SignInError

# A signed token in the address is long.
MAX_CHARS = 16 * 1024
_NO_ADDRESS = gettext_noop(
    "This is neither the address of the page nor a code. Copy everything in the address bar."
)
_OTHER_ATTEMPT = gettext_noop(
    "This belongs to another sign-in. Start again, and paste what the latest page shows."
)
_CODE = re.compile(r"[!-~]+")
_ANSWERS = re.compile(r"(?:^|[?#&])(?:code|error|state)=")
_MEANT = frozenset({"access_token", "code", "error", "state"})


def read_pasted(pasted: str, *, nonce: str) -> str:
    """Returns: the code in an address, in `code#state`, or alone.

    A code alone is enough with PKCE: it is of no use but to who has begun.
    Raises: BadCode; Denied; SignInError where the page says that something else went wrong.
    """
    pasted = pasted.strip()
    if "://" in pasted or _ANSWERS.search(pasted):
        # Some browsers copy an address without its scheme.
        address = pasted if "://" in pasted else f"http://{pasted}"
        if code := fields_of(address, nonce=nonce).get("code"):
            return code
        raise BadCode(_NO_ADDRESS)
    code, _, state = pasted.partition("#")
    if len(pasted) > MAX_CHARS or not _CODE.fullmatch(code):
        raise BadCode(_NO_ADDRESS)
    if state:
        _require_same(state, nonce)
    return code


def fields_of(address: str, *, nonce: str) -> dict[str, str]:
    """Returns: what a whole address says, in its query or its fragment.

    Raises: BadCode, also without the state of this attempt; Denied; SignInError.
    """
    address = address.strip()
    try:
        parts = urlsplit(address)
    except ValueError as exc:
        raise BadCode(_NO_ADDRESS) from exc
    if len(address) > MAX_CHARS or parts.scheme not in {"http", "https"}:
        raise BadCode(_NO_ADDRESS)
    pairs = [pair for text in (parts.query, parts.fragment) for pair in parse_qsl(text)]
    meant = [name for name, _ in pairs if name in _MEANT]
    # Of two values, the wrong one could be believed.
    if len(meant) != len(set(meant)):
        raise BadCode(_NO_ADDRESS)
    fields = dict(pairs)
    _require_same(fields.get("state", ""), nonce)
    if error := fields.get("error"):
        raise Denied if error == "access_denied" else SignInError
    return fields


def _require_same(state: str, nonce: str) -> None:
    if not hmac.compare_digest(state.encode("utf-8", "replace"), nonce.encode()):
        raise BadCode(_OTHER_ATTEMPT)
