"""The secrets of a project: what they may be called, and their values for its sandboxes."""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Sequence
from functools import lru_cache

from django.utils.translation import gettext as _

from opencode_web.lib.crypto import DecryptionError, decrypt
from opencode_web.lib.errors import Invalid
from opencode_web.lib.json import JsonValue
from sessions.models import ProjectSecret
from tools.redaction import MIN_CHARS, Redactor
from tools.sandbox.entrance import proxy_environment
from tools.sandbox.environment import build_environment

logger = logging.getLogger(__name__)

MAX_SECRETS = 50
MAX_VALUE_BYTES = 16 * 1024
MAX_NAME_CHARS = 100
_SHOWN_PATTERNS = 10
_SHOWN_CHARS = 300
# Control characters but tabs and line ends; halves of characters.
_UNFIT = re.compile("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# They decide which programs and libraries run, or are the shell's own.
_LOADING = ("LD_", "DYLD_", "BASH_", "GLIBC_", "PYTHON")
_SHELL = {"ENV", "IFS", "PS4", "PWD", "OLDPWD", "SHELLOPTS", "BASHOPTS", "PROMPT_COMMAND", "UID"}
_OURS = {*build_environment(home="", tmp="", path="", extra={}), *proxy_environment()}
_RESERVED = {name.upper() for name in (*_SHELL, *_OURS)}


def project_redactor(project_id: str) -> Redactor:
    """Returns: the secrets of a project, with their values. One query."""
    return project_redactors([project_id])[project_id]


def shown_patterns(project_id: str, patterns: Sequence[str]) -> list[JsonValue]:
    """Returns: what the audit log has of permission patterns, which may be whole commands: the
    first ones and their beginnings, without the values of the project's secrets."""
    redact = project_redactor(project_id).text
    return [redact(one)[:_SHOWN_CHARS] for one in patterns[:_SHOWN_PATTERNS]]


def project_redactors(project_ids: Collection[str]) -> dict[str, Redactor]:
    """As `project_redactor` for several projects. One query."""
    rows: dict[str, list[tuple[str, str]]] = {one: [] for one in project_ids}
    for row in ProjectSecret.objects.filter(project__in=project_ids).order_by("name"):
        rows[row.project_id].append((row.name, row.value))
    return {one: _redactor(one, tuple(own)) for one, own in rows.items()}


@lru_cache(maxsize=32)
def _redactor(project_id: str, encrypted: tuple[tuple[str, str], ...]) -> Redactor:
    values = {}
    for name, value in encrypted:
        try:
            values[name] = decrypt(value)
        except DecryptionError as exc:
            logger.error("secret %s of project %s: %s", name, project_id, exc)
    return Redactor(values)


def is_readable(row: ProjectSecret) -> bool:
    """Whether this server can still decrypt it."""
    try:
        decrypt(row.value)
    except DecryptionError:
        return False
    return True


def check_name(name: str) -> str:
    """Returns: the name of a variable. Raises: Invalid saying what is wrong with it."""
    name = name.strip()
    if not _NAME.fullmatch(name) or len(name) > MAX_NAME_CHARS:
        raise Invalid(
            _(
                "A name has letters, digits and _, and no digit at its beginning, like "
                "DEPLOY_TOKEN."
            ),
            field="name",
        )
    if name.upper() in _RESERVED or name.upper().startswith(_LOADING):
        raise Invalid(
            _(
                "{name} is set by the sandbox or decides which programs run. Take another name."
            ).format(name=name),
            field="name",
        )
    return name


def check_value(value: str) -> str:
    """Returns: the value, with the line ends of a file. Raises: Invalid."""
    value = value.replace("\r\n", "\n")
    if len(value.strip()) < MIN_CHARS:
        raise Invalid(
            _(
                "A value has at least {count} characters. A shorter one could not be taken "
                "out of outputs: put it into a file of the repository if it is no secret."
            ).format(count=MIN_CHARS),
            field="value",
        )
    if len(value.encode("utf-8", "replace")) > MAX_VALUE_BYTES:
        raise Invalid(
            _("A value has at most {size} KiB.").format(size=MAX_VALUE_BYTES // 1024), field="value"
        )
    if _UNFIT.search(value):
        raise Invalid(_("A value is text: letters, signs, line ends and tabs."), field="value")
    return value
