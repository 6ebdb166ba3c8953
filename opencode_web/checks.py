"""System checks of settings. Errors stop every process; people read the others under Health."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.apps import AppConfig
from django.conf import settings
from django.core import checks
from django.core.checks import CheckMessage, Error, register, run_checks
from django.utils.translation import gettext as _

from opencode_web.lib.outbound_policy import places_of_settings
from opencode_web.lib.plugins.checks import check_plugins
from opencode_web.preflight import RESTORING
from tools.sandbox.hosts import Reach, parse_patterns

TAG = "opencode_web"
MIN_SECRET_CHARS = 32
# As browsers send it. Some desktop programs have a scheme of their own.
_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://(?:[a-z0-9.-]+|\[[0-9a-f:]+\])(?::[0-9]{1,5})?")
_HOST = re.compile(r"(?:[a-z0-9-]{1,63}\.)*[a-z0-9-]{1,63}(?::[0-9]{1,5})?")
_BASE_PATH = re.compile(r"(?:/[A-Za-z0-9_-]+)*")
_SYSLOG = ("syslog", "syslog+tls", "syslog+udp")
_WEBHOOK_SECRET = re.compile(r"whsec_(?:[A-Za-z0-9+/]{4}){8,21}[A-Za-z0-9+/]{0,3}={0,2}")
_LOCAL_HOSTS = {"localhost", "127.0.0.1", "[::1]", "::1", "testserver"}


def require_sound_settings() -> None:
    """Raises: SystemExit listing the errors and what to do about each."""
    errors = [message for message in run_checks(tags=[TAG]) if message.is_serious()]
    if errors:
        raise SystemExit("\n".join(f"{error.msg} {error.hint} ({error.id})" for error in errors))


def _check_secret() -> list[CheckMessage]:
    key = settings.SECRET_KEY
    if not key.startswith(("insecure", "django-insecure")) and len(key) >= MIN_SECRET_CHARS:
        return []
    return [
        Error(
            "SECRET_KEY is not set or too short.",
            hint=f"Set SECRET_KEY or SECRET_KEY_FILE to at least {MIN_SECRET_CHARS} random "
            "characters, the same for every process of this installation.",
            id="opencode_web.E001",
        )
    ]


def _check_debug() -> list[CheckMessage]:
    if not settings.DEBUG or set(settings.ALLOWED_HOSTS) <= _LOCAL_HOSTS:
        return []
    return [
        Error(
            "DEBUG is on for a server that others can reach.",
            hint="Unset DEBUG: its error pages show settings and source code.",
            id="opencode_web.E002",
        )
    ]


def _check_hosts() -> list[CheckMessage]:
    if not {"*", "."} & set(settings.ALLOWED_HOSTS):
        return []
    return [
        Error(
            "ALLOWED_HOSTS accepts every host name.",
            hint="List the names people use. Links in invitations and the origin check of "
            "websockets rely on them.",
            id="opencode_web.E003",
        )
    ]


def _check_audit_stream() -> list[CheckMessage]:
    url = urlsplit(settings.AUDIT_STREAM_URL)
    if not settings.AUDIT_STREAM_URL:
        return []
    if not url.hostname or url.scheme not in (*_SYSLOG, "https", "http"):
        return [
            Error(
                "AUDIT_STREAM_URL is not an address that the audit log can be sent to.",
                hint="Use https://…, syslog://host:port, syslog+tls://host:port or "
                "syslog+udp://host:port.",
                id="opencode_web.E021",
            )
        ]
    if url.scheme in _SYSLOG or _WEBHOOK_SECRET.fullmatch(settings.AUDIT_STREAM_SECRET):
        return []
    return [
        Error(
            "AUDIT_STREAM_SECRET cannot sign webhooks.",
            hint='Set it to "whsec_" and the Base64 of 24 to 64 random bytes.',
            id="opencode_web.E022",
        )
    ]


def _check_cors() -> list[CheckMessage]:
    wrong = [origin for origin in settings.CORS_ORIGINS if not _ORIGIN.fullmatch(origin)]
    return [
        Error(
            f"CORS_ORIGINS has {origin!r}, which is not an origin.",
            hint="Write a scheme, a host and a port if it is not the default, and nothing after "
            "it, such as https://ide.example.com. A * is not accepted.",
            id="opencode_web.E015",
        )
        for origin in wrong
    ]


def _check_public_url() -> list[CheckMessage]:
    if not settings.PUBLIC_URL:
        return []
    url = urlsplit(settings.PUBLIC_URL)
    if url.scheme not in {"http", "https"} or not url.hostname or url.query or url.fragment:
        return [
            Error(
                "PUBLIC_URL is not the address of a site.",
                hint="Write it like https://agents.example.com or https://example.com/agents.",
                id="opencode_web.E004",
            )
        ]
    if url.scheme == "https" or url.hostname in _LOCAL_HOSTS:
        return []
    return [
        checks.Warning(
            _("PUBLIC_URL is plain http, so cookies and tokens travel unencrypted."),
            hint=_(
                "Put a TLS proxy in front, set PUBLIC_URL to its https address and "
                "BEHIND_TLS_PROXY=1."
            ),
            id="opencode_web.W004",
        )
    ]


def _check_mail() -> list[CheckMessage]:
    if not settings.SMTP_URL:
        return []
    is_known = settings.SMTP_URL.partition("://")[0] in {"smtp", "smtps", "smtp+plain"}
    if is_known and settings.EMAIL_HOST and settings.PUBLIC_URL:
        return []
    return [
        Error(
            "SMTP_URL cannot be used: it needs a host, and PUBLIC_URL for the links in mail.",
            hint="Write it like smtp://user:password@mail.example.com:587, and set PUBLIC_URL.",
            id="opencode_web.E025",
        )
    ]


def _check_base_path() -> list[CheckMessage]:
    base = settings.BASE_PATH
    if not _BASE_PATH.fullmatch(base):
        return [
            Error(
                f"BASE_PATH is {base!r}, which cannot be part of an address.",
                hint="Write it like /agents, with letters, digits, hyphens and underscores.",
                id="opencode_web.E023",
            )
        ]
    public = urlsplit(settings.PUBLIC_URL)
    if not public.hostname or public.path == base:
        return []
    return [
        Error(
            f"BASE_PATH is {base!r}, but PUBLIC_URL has another path.",
            hint="Unset BASE_PATH: the path of PUBLIC_URL is used.",
            id="opencode_web.E024",
        )
    ]


def _check_database() -> list[CheckMessage]:
    engine = str(settings.DATABASES["default"]["ENGINE"])
    if settings.EMBEDDED or not engine.endswith("sqlite3"):
        return []
    return [
        Error(
            "REDIS_URL is set, but the database is SQLite.",
            hint="Separate processes need PostgreSQL: set DATABASE_URL too, or unset REDIS_URL.",
            id="opencode_web.E005",
        )
    ]


def _check_worktrees() -> list[CheckMessage]:
    root = Path(settings.WORKTREES_DIR)
    # Below the data folder it is made when the first project is; elsewhere a missing folder most
    # likely is a disk that was not mounted.
    inside = root.is_relative_to(settings.DATA_DIR)
    expected = next(path for path in (root, *root.parents) if path.exists()) if inside else root
    if expected.is_dir() and os.access(expected, os.W_OK | os.X_OK):
        return []
    variable = "OPENCODE_WEB_DATA" if inside else "OPENCODE_WEB_WORKTREES"
    hint = _("Set {variable} to a folder that this user can write to.")
    return [
        Error(
            _("The folder {path} cannot be used.").format(path=expected),
            hint=hint.format(variable=variable),
            id="opencode_web.E006",
        )
    ]


def _check_host_name() -> list[CheckMessage]:
    # It becomes part of queue names.
    if re.fullmatch(r"[A-Za-z0-9._-]{1,100}", settings.HOST_NAME):
        return []
    return [
        Error(
            "OPENCODE_WEB_HOST is not a usable name.",
            hint="Use letters, digits, dots, hyphens and underscores only.",
            id="opencode_web.E007",
        )
    ]


def _check_sandbox() -> list[CheckMessage]:
    if not settings.UNSAFE_SANDBOX:
        return []
    return [
        checks.Warning(
            _(
                "UNSAFE_SANDBOX is on: where bubblewrap does not work, commands of agents run with "
                "all rights of this server."
            ),
            hint=_("Unset it, unless this machine is a throw-away container of one person."),
            id="opencode_web.W008",
        )
    ]


def _check_network() -> list[CheckMessage]:
    try:
        Reach(settings.SANDBOX_NETWORK)
        parse_patterns(settings.SANDBOX_HOSTS)
    except ValueError as exc:
        return [
            Error(
                f"SANDBOX_NETWORK or SANDBOX_HOSTS is not valid: {exc}",
                hint="SANDBOX_NETWORK is none, allow-list or open; SANDBOX_HOSTS are hosts with "
                "commas between them.",
                id="opencode_web.E009",
            )
        ]
    return []


def _check_terminal_environment() -> list[CheckMessage]:
    module = settings.TERMINAL_ENVIRONMENT.rpartition(".")[0]
    try:
        # Found, not imported: it may need the apps, which are not ready yet.
        if not settings.TERMINAL_ENVIRONMENT or (module and find_spec(module)):
            return []
    except ImportError:
        pass
    return [
        Error(
            "TERMINAL_ENVIRONMENT is not a function that can be imported.",
            hint="Write it like package.module.function, of a package that Python finds.",
            id="opencode_web.E010",
        )
    ]


def _check_preview_host() -> list[CheckMessage]:
    host = settings.PREVIEW_HOST
    if host and not _HOST.fullmatch(host):
        return [
            Error(
                f"PREVIEW_HOST is {host!r}, which is not a host name.",
                hint="Write it like preview.example.net, with a port if browsers need one.",
                id="opencode_web.E016",
            )
        ]
    visited = urlsplit(settings.PUBLIC_URL).hostname or ""
    if not host or host.partition(":")[0].split(".")[-2:] != visited.split(".")[-2:]:
        return []
    return [
        checks.Warning(
            _(
                "PREVIEW_HOST is below the same domain as {host}, so a previewed app can set "
                "cookies for this server."
            ).format(host=visited),
            hint=_("Use a domain of its own for previews, such as preview.example.net."),
            id="opencode_web.W016",
        )
    ]


def _check_team_creation() -> list[CheckMessage]:
    if settings.TEAM_CREATION in {"operators", "everyone"}:
        return []
    return [
        Error(
            f"TEAM_CREATION is {settings.TEAM_CREATION!r}.",
            hint="Set it to operators or everyone.",
            id="opencode_web.E014",
        )
    ]


def _check_private_addresses() -> list[CheckMessage]:
    messages: list[CheckMessage] = [
        checks.Warning(
            _("{name} is set, but no longer has any effect.").format(name=name),
            hint=_(
                "Private addresses are closed unless they are listed: unset it, and name the "
                "hosts that are needed in ALLOWED_PRIVATE_ADDRESSES, such as localhost:11434, or "
                "under Operations, Private addresses."
            ),
            id="opencode_web.W012",
        )
        for name in settings.REMOVED_SETTINGS
    ]
    try:
        places_of_settings()
    except ValueError as exc:
        messages.append(
            Error(
                f"ALLOWED_PRIVATE_ADDRESSES is not valid: {exc}",
                hint="Write host, host:port, an address, or a network such as 10.0.5.0/24:443, "
                "with commas between them.",
                id="opencode_web.E012",
            )
        )
    return messages


def _check_config_env() -> list[CheckMessage]:
    messages: list[CheckMessage] = [
        Error(
            f"CONFIG_ENV lists {name}, which is a setting of the server itself.",
            hint="Remove it: team settings must not use variables of the server itself.",
            id="opencode_web.E013",
        )
        for name in settings.CONFIG_ENV
        if name not in settings.CONFIG_VALUES
    ]
    messages += [
        checks.Warning(
            _("CONFIG_ENV lists {name}, which is not set.").format(name=name),
            hint=_("Set it for every process of this installation, or remove it."),
            id="opencode_web.W014",
        )
        for name, value in settings.CONFIG_VALUES.items()
        if not value
    ]
    return messages


def _check_restore() -> list[CheckMessage]:
    if not (settings.DATA_DIR / RESTORING).exists():
        return []
    return [
        Error(
            "A restore was cut short, so files and database may not belong together.",
            hint="Run `manage.py restore` with --force again, until it ends without an error.",
            id="opencode_web.E018",
        )
    ]


_CHECKS = (
    _check_secret,
    _check_debug,
    _check_hosts,
    _check_audit_stream,
    _check_cors,
    _check_public_url,
    _check_base_path,
    _check_mail,
    _check_database,
    _check_worktrees,
    _check_host_name,
    _check_sandbox,
    _check_network,
    _check_terminal_environment,
    _check_preview_host,
    _check_team_creation,
    _check_private_addresses,
    _check_config_env,
    _check_restore,
    lambda: check_plugins(settings.PLUGINS),
)


@register(TAG)
def check_settings(app_configs: Sequence[AppConfig] | None, **_: Any) -> list[CheckMessage]:
    """Run every check of this module; Django's `check` command calls it."""
    return [message for check in _CHECKS for message in check()]
