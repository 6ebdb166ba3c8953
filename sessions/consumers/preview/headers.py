"""Headers on their way to an app and back. Pure.

The app is told what it would hear from a browser on its own machine: dev servers refuse other
hosts, and compare the origin of a request with its host. So nothing says where the person really
visits it.
"""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlsplit

from django.conf import settings

Headers = list[tuple[bytes, bytes]]

_HOP_BY_HOP = frozenset(
    b"connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer "
    b"transfer-encoding upgrade".split()
)
# What proxies in front have added, and what this one answers itself.
_OURS_ALONE = frozenset(
    b"host origin referer cookie accept-encoding expect forwarded via x-real-ip".split()
)
_LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "::1", "0.0.0.0"})  # noqa: S104 - compared
_FRAMED = b"x-frame-options"
POLICIES = (b"content-security-policy", b"content-security-policy-report-only")
_SITE_RULES = frozenset({"domain", "samesite", "secure", "partitioned"})


def first(headers: Iterable[tuple[bytes, bytes]], name: bytes) -> bytes:
    """Returns: the first value of a header; empty without one."""
    return next((value for key, value in headers if key.lower() == name), b"")


def to_app(headers: Iterable[tuple[bytes, bytes]], *, port: int, origin: str) -> Headers:
    """Build the headers for an app from those of a browser at `origin`."""
    given = list(headers)
    dropped = _HOP_BY_HOP | _OURS_ALONE | _named_in_connection(given)
    local = f"http://localhost:{port}".encode()
    passed = [
        (name, value)
        for name, value in given
        if name not in dropped and not name.startswith((b"x-forwarded-", b"sec-websocket-"))
    ]
    if cookies := _other_cookies(first(given, b"cookie")):
        passed.append((b"cookie", cookies))
    for name in (b"origin", b"referer"):
        value = first(given, name)
        if value == origin.encode() or value.startswith(f"{origin}/".encode()):
            value = local + value[len(origin) :]
        if value:
            passed.append((name, value))
    # Pages are changed on their way, so they must be readable.
    return [(b"host", f"localhost:{port}".encode()), *passed, (b"accept-encoding", b"identity")]


def from_app(
    headers: Iterable[tuple[bytes, bytes]], *, port: int, app_origin: str, is_secure: bool
) -> Headers:
    """Build the headers for a browser from those of an app. `is_secure`: of its cookies."""
    given = [(name.lower(), value) for name, value in headers]
    dropped = _HOP_BY_HOP | _named_in_connection(given) | {_FRAMED}
    passed: Headers = []
    for name, value in given:
        if name in dropped:
            continue
        if name == b"location":
            value = _relative(value, port)
        elif name == b"set-cookie":
            value = _own_cookie(value, is_secure=is_secure)
        elif name in POLICIES:
            value = _without_ancestors(value)
        if value:
            passed.append((name, value))
    return [*passed, *_own_headers(app_origin, passed)]


def _own_headers(app_origin: str, passed: Headers) -> Headers:
    own = [
        (b"content-security-policy", f"frame-ancestors {app_origin}".encode()),
        (b"x-robots-tag", b"noindex"),
    ]
    names = {name for name, _ in passed}
    defaults = (
        # With none at all, forms of the app would be sent with the origin "null".
        (b"referrer-policy", b"same-origin"),
        (b"cross-origin-resource-policy", b"same-origin"),
    )
    return own + [(name, value) for name, value in defaults if name not in names]


def own_cookie_name(*, is_secure: bool) -> str:
    """Returns: the name of the cookie of a preview. Where the prefix is known, no other host can
    set one of that name."""
    return ("__Host-" if is_secure else "") + str(settings.PREVIEW_COOKIE_NAME)


def cookie_of(headers: Iterable[tuple[bytes, bytes]], *, is_secure: bool) -> str:
    """Returns: the value of the preview's own cookie; empty without it."""
    wanted = own_cookie_name(is_secure=is_secure)
    for pair in first(headers, b"cookie").decode("latin-1").split(";"):
        name, _, value = pair.strip().partition("=")
        if name == wanted:
            return value
    return ""


def _other_cookies(value: bytes) -> bytes:
    pairs = [pair.strip() for pair in value.split(b";")]
    return b"; ".join(pair for pair in pairs if pair and not _is_ours(pair))


def _is_ours(pair: bytes) -> bool:
    name = pair.partition(b"=")[0].strip().lower()
    return name.removeprefix(b"__host-") == settings.PREVIEW_COOKIE_NAME.encode()


def _own_cookie(value: bytes, *, is_secure: bool) -> bytes:
    """An app's cookie, of this host alone. In our frame browsers keep none that is not secure."""
    pair, *rules = value.split(b";")
    if _is_ours(pair):
        return b""
    left_out = _SITE_RULES if is_secure else {"domain", "partitioned"}
    kept = [
        rule
        for rule in rules
        if rule.partition(b"=")[0].strip().lower().decode("latin-1") not in left_out
    ]
    more = [b" Secure", b" SameSite=None", b" Partitioned"] if is_secure else []
    return b";".join([pair, *kept, *more])


def _relative(location: bytes, port: int) -> bytes:
    """An address of the app itself, without the host by which it knows itself."""
    try:
        target = urlsplit(location.decode("latin-1"))
        is_own = target.hostname in _LOCAL_NAMES and target.port == port
    except ValueError:
        return location
    if not is_own or target.scheme not in {"http", ""}:
        return location
    # Two slashes would begin the name of a host.
    path = "/" + target.path.lstrip("/")
    return target._replace(scheme="", netloc="", path=path).geturl().encode("latin-1")


def _without_ancestors(policy: bytes) -> bytes:
    rules = [rule.strip() for rule in policy.split(b";")]
    return b"; ".join(
        rule for rule in rules if rule and not rule.lower().startswith(b"frame-ancestors")
    )


def _named_in_connection(headers: Headers) -> frozenset[bytes]:
    named = (value for name, value in headers if name.lower() == b"connection")
    return frozenset(word.strip().lower() for value in named for word in value.split(b","))
