"""The secrets of projects and teams: what they may be called, and their values for sandboxes."""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from django.db.models import F, Q, QuerySet, TextField, Value
from django.utils.translation import gettext as _

from opencode_web.lib.compiled import CompiledRows
from opencode_web.lib.crypto import DecryptionError, decrypt, fingerprints
from opencode_web.lib.errors import Invalid
from opencode_web.lib.json import JsonValue
from opencode_web.lib.known_keys import KnownKeys
from sessions.models import AllowedKey, Project, ProjectSecret, TeamSecret
from tools.redaction import MIN_CHARS, NO_SECRETS, Redactor, mark_of
from tools.sandbox.entrance import proxy_environment
from tools.sandbox.environment import build_environment

logger = logging.getLogger(__name__)

MAX_SECRETS = 50
MAX_VALUE_BYTES = 16 * 1024
MAX_NAME_CHARS = 100
# Kinds of rows.
_TEAM, _OWN, _ALLOWED, _OFF = range(4)
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


@dataclass(frozen=True)
class _Known:
    """What is known of a project, as it is stored."""

    secrets: tuple[tuple[str, str], ...]
    allowed: frozenset[str]
    hides_keys: bool


@dataclass(frozen=True)
class Hideable:
    """What would be hidden in a text, and in words what it is."""

    value: str
    kind: str
    # Of a secret of the project or the team.
    mark: str = ""


def project_redactor(project_id: str, *, keys: bool = True, written: bool = False) -> Redactor:
    """Returns: the secrets of a project and its team's, with their values, and unless the team does
    not want them hidden, or not `keys`, well-known keys. One query.

    `written` is for what people write: without the secrets that somebody has allowed there.
    """
    return project_redactors([project_id], keys=keys, written=written)[project_id]


def shown_patterns(project_id: str, patterns: Sequence[str]) -> list[JsonValue]:
    """Returns: what the audit log has of permission patterns, which may be whole commands: the
    first ones and their beginnings, without the values of the project's secrets."""
    redact = project_redactor(project_id).text
    return [redact(one)[:_SHOWN_CHARS] for one in patterns[:_SHOWN_PATTERNS]]


def project_redactors(
    project_ids: Collection[str], *, keys: bool = True, written: bool = False
) -> dict[str, Redactor]:
    """As `project_redactor` for several projects. One query."""
    named: dict[str, dict[str, str]] = {one: {} for one in project_ids}
    allowed: dict[str, set[str]] = {one: set() for one in project_ids}
    without_keys = set[str]() if keys else set(project_ids)
    # In this order: a secret of the project takes the place of its team's.
    for kind, project_id, name, value in sorted(_rows(project_ids)):
        if kind == _ALLOWED:
            allowed[project_id].add(name)
        elif kind == _OFF:
            without_keys.add(project_id)
        else:
            named[project_id][name] = value
    return {
        one: _redactor(
            one,
            _Known(tuple(own.items()), frozenset(allowed[one]), one not in without_keys),
            written=written,
        )
        for one, own in named.items()
    }


def _stored(*project_ids: str) -> QuerySet[ProjectSecret, tuple[int, str, str, str]]:
    """Returns: kind, project, name and value of each thing that is known of them."""
    projects = Project.objects.filter(pk__in=project_ids)
    of_team = Q(team__secrets__everywhere=True) | Q(team__secrets__projects=F("pk"))
    nothing = Value("", TextField())
    own = ProjectSecret.objects.filter(project__in=project_ids)
    allowed = AllowedKey.objects.filter(project__in=project_ids)
    return own.values_list(Value(_OWN), "project", "name", "value").union(
        projects.filter(of_team).values_list(
            Value(_TEAM), "pk", "team__secrets__name", "team__secrets__value"
        ),
        allowed.values_list(Value(_ALLOWED), "project", "fingerprint", nothing),
        projects.filter(team__hides_keys=False).values_list(Value(_OFF), "pk", nothing, nothing),
    )


_STORED = CompiledRows(_stored, str)


def _rows(project_ids: Collection[str]) -> Iterable[tuple[Any, ...]]:
    is_one = len(project_ids) == 1
    return _STORED.all(*project_ids) if is_one else _stored(*project_ids).iterator()


@lru_cache(maxsize=32)
def _redactor(project_id: str, known: _Known, *, written: bool) -> Redactor:
    values = {}
    for name, value in known.secrets:
        try:
            values[name] = decrypt(value)
        except DecryptionError as exc:
            logger.error("secret %s of project %s: %s", name, project_id, exc)
    if written and known.allowed:
        values = {
            name: value
            for name, value in values.items()
            if known.allowed.isdisjoint(fingerprints(value))
        }
    return Redactor(values, keys=KnownKeys(lambda: known.allowed) if known.hides_keys else None)


def key_redactor(project: Project) -> Redactor:
    """Returns: what hides keys, but not those that somebody has allowed. `project.team` should be
    loaded; the database is asked only once a key is found."""
    if not project.team.hides_keys:
        return NO_SECRETS

    @cache
    def allowed() -> frozenset[str]:
        rows = AllowedKey.objects.filter(project=project)
        return frozenset(rows.values_list("fingerprint", flat=True))

    return Redactor({}, keys=KnownKeys(allowed))


def hide_keys(project: Project, text: str) -> str:
    """Returns: a text that somebody has written as it may be kept."""
    return project_redactor(project.pk, written=True).text(text)


def keys_in(project: Project, text: str) -> list[Hideable]:
    """Returns: what would be hidden in a text that somebody writes."""
    redactor = project_redactor(project.pk, written=True)
    data = text.encode("utf-8", "surrogatepass")
    marks = {mark.decode() for _start, _end, mark in redactor.found(data)}
    stored = [
        Hideable(value, "secret", mark_of(name))
        for name, value in redactor.secrets.items()
        if mark_of(name) in marks
    ]
    data = redactor.named(data)
    found = redactor.keys.found(data) if redactor.keys else ()
    known = {data[one.start : one.end].decode(): one.kind for one in found}
    return [*stored, *(Hideable(value, kind) for value, kind in known.items())]


def team_secrets_of(project: Project) -> QuerySet[TeamSecret]:
    """Returns: those of its team that it gets, unless it has one of the same name."""
    reach = Q(everywhere=True) | Q(projects=project)
    return TeamSecret.objects.filter(reach, team=project.team_id).distinct()


def is_readable(row: ProjectSecret | TeamSecret) -> bool:
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
