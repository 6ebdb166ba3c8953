"""Addresses of the catalog of which each account has its own: `https://${ACCOUNT}.acme.com/v1`.

A value can only be what its place can hold, so that it never changes what stands around it: before
the rest of a host's name it is more labels of it, and below the host it is one step of the path.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from django.utils.translation import gettext_lazy, gettext_noop

from providers.clouds import Cloud, Setting

_PLACE = re.compile(r"\$\{([A-Z][A-Z0-9_]*)\}")
_LABEL = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9])?")
_LABELS = re.compile(rf"{_LABEL.pattern}(?:\.{_LABEL.pattern})*")
_HOST = re.compile(rf"{_LABEL.pattern}(?:\.{_LABEL.pattern})+")
_SCHEME = "https://"
_STEP = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.~-]{0,127}")
_START = re.compile(rf"https://{_HOST.pattern}(?::\d{{1,5}})?(?:/{_STEP.pattern})*")
_BAD_LABELS = gettext_noop(
    "Enter the first part of a host name: letters, digits, hyphens and dots, without slashes."
)
_BAD_HOST = gettext_noop("Enter a host name such as acme.example.com, without https:// or a path.")
_BAD_STEP = gettext_noop("Use letters, digits, dots, hyphens and underscores, without slashes.")
_BAD_START = gettext_noop("Enter an address such as https://acme.example.com, without a query.")
# In names of variables, words that are written so in texts.
_CAPITALS = frozenset({"ai", "api", "aws", "id", "url"})


def is_template(address: str) -> bool:
    """Whether parts of an address belong to one account."""
    return "${" in address


@lru_cache(maxsize=64)
def account_of(provider_id: str, template: str) -> Cloud | None:
    """Returns: the settings that a template asks for; None where it cannot be understood."""
    found = [*_PLACE.finditer(template)]
    if not found or is_template(_PLACE.sub("", template)):
        return None
    settings = tuple(one for place in found if (one := _setting(template, place)))
    if len(settings) < len(found):
        return None
    # The whole host is then what somebody enters, and not the vendor's.
    names_host = any(one.pattern in (_HOST, _START) for one in settings)
    return Cloud(f"account-{provider_id}", settings, names_host=names_host)


def filled(template: str, values: Mapping[str, str]) -> str:
    """Returns: the address of an account; "" while one of its parts is missing or cannot be one."""
    for place in _PLACE.finditer(template):
        setting = _setting(template, place)
        if setting is None or not setting.pattern.fullmatch(values.get(place[1], "")):
            return ""
    return _PLACE.sub(lambda place: values[place[1]], template)


def label_of(variable: str) -> str:
    """Returns: what people read for a variable: ACME_ACCOUNT_ID is "Acme account ID"."""
    words = [word.upper() if word in _CAPITALS else word for word in variable.lower().split("_")]
    return " ".join([words[0][:1].upper() + words[0][1:], *words[1:]])


def _setting(template: str, place: re.Match[str]) -> Setting | None:
    kind = _kind(template, place)
    if kind is None:
        return None
    pattern, fault, example = kind
    return Setting(
        place[1],
        label_of(place[1]),
        gettext_lazy("Part of your account's address with this provider."),
        example,
        pattern,
        fault,
    )


def _kind(template: str, place: re.Match[str]) -> tuple[re.Pattern[str], str, str] | None:
    """Returns: what can stand at a place, what is said of anything else, and an example.

    None for a place in the middle or at the end of a host's name, which is not understood.
    """
    before, after = template[: place.start()], template[place.end() :]
    if not before:
        return _START, _BAD_START, "https://acme.example.com"
    if not before.startswith(_SCHEME):
        return None
    host, slash, _path = before.removeprefix(_SCHEME).partition("/")
    if slash:
        return _STEP, _BAD_STEP, ""
    if host:
        return None
    if after.startswith("."):
        return _LABELS, _BAD_LABELS, "acme"
    return (_HOST, _BAD_HOST, "acme.example.com") if after[:1] in ("", "/") else None
