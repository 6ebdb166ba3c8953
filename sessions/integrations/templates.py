"""The prompts of rules: a text of an admin's, with names in braces for what has happened. Pure.

What strangers can choose, such as a title, is never put in. Its name stands for where the text is,
which the agent reads after the prompt, in a frame: see `sessions.integrations.prompts`.
"""

from __future__ import annotations

import re

from django.utils.translation import gettext as _

from opencode_web.lib.errors import Invalid
from sessions.forges.adapter import Pull
from sessions.forges.inbound import Heard

MAX_PROMPT_CHARS = 10_000
_NAME = re.compile(r"\{\s*([A-Za-z_]+)\s*\}")
# What accounts are called on every forge. Anything else is nobody's name.
_ACCOUNT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}(?:\[bot\])?")
_URL = re.compile(r"https?://[A-Za-z0-9.:\[\]-]+/[A-Za-z0-9._~/#?=&%+-]*")
FRAMED = {
    "title": ("thread_title", "the title in <thread_title>"),
    "branch": ("branch_name", "the branch in <branch_name>"),
    "check": ("check_name", "the check in <check_name>"),
    "file": ("file_name", "the file in <file_name>"),
}
NAMES = ("number", "url", "author", "repository", "label", "base", "head", "line", *FRAMED)


def check_template(text: str) -> str:
    """Returns: the text as it is kept. Raises: Invalid for an empty one and for unknown names."""
    text = text.replace("\r\n", "\n").strip()
    if not text or len(text) > MAX_PROMPT_CHARS:
        raise Invalid(
            _("A prompt must have 1 to {count} characters.").format(count=MAX_PROMPT_CHARS),
            field="prompt",
        )
    unknown = [one for one in _NAME.findall(text) if one not in NAMES]
    if unknown:
        raise Invalid(
            _("There is no {name}. These names can be used: {names}.").format(
                name=f"{{{unknown[0]}}}", names=", ".join(f"{{{one}}}" for one in NAMES)
            ),
            field="prompt",
        )
    return text


def fill_template(text: str, heard: Heard, pull: Pull | None, *, label: str) -> str:
    """Returns: the text with every name replaced. `label` is that of the rule."""
    values = {
        "number": str(heard.thread.number),
        "url": heard.url if _URL.fullmatch(heard.url) else "",
        "author": heard.author if _ACCOUNT.fullmatch(heard.author) else "somebody",
        "repository": heard.repository,
        "label": label,
        "base": pull.base if pull else "",
        "head": pull.head if pull else heard.head,
        "line": str(heard.line or ""),
        **{name: words for name, (_frame, words) in FRAMED.items()},
    }
    return _NAME.sub(lambda found: values.get(found[1], found[0]), text)
