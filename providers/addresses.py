"""Which addresses a team may point a provider at: a base URL makes the server send requests."""

from __future__ import annotations

from urllib.parse import urlsplit, urlunsplit

from django.utils.translation import gettext as _

from opencode_web.lib.addresses import RefusedAddress
from opencode_web.lib.outbound_policy import ClosedPlace, require_open_text

_PORTS = {"http": 80, "https": 443}
_NEVER_NAMES = frozenset({"metadata", "metadata.google.internal", "instance-data"})


def closed_place(url: str) -> str:
    """Returns: the private place that an operator would have to allow for this address, or ""."""
    try:
        check_base_url(url)
    except ClosedPlace as exc:
        return exc.place
    except RefusedAddress:
        pass
    return ""


def check_base_url(url: str) -> str:
    """Return the base URL without trailing slash, query and fragment.

    Names are judged again when they are resolved for a connection (`transport.py`): what a name
    means can change between this check and the call.

    Raises: RefusedAddress when it is not an http(s) address that a provider may have.
    """
    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname or "", parts.port
    except ValueError as exc:
        raise RefusedAddress(_("This is not a valid address.")) from exc
    if parts.scheme not in _PORTS or not host:
        raise RefusedAddress(
            _("The address must start with http:// or https:// and include a host.")
        )
    if parts.username is not None or parts.password is not None:
        raise RefusedAddress(
            _("Remove the user name and password from the address, and enter the key below.")
        )
    if host.rstrip(".").lower() in _NEVER_NAMES:
        raise RefusedAddress(_("This address belongs to the cloud host's metadata service."))
    require_open_text(host, port or _PORTS[parts.scheme])
    return urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/"), "", ""))
