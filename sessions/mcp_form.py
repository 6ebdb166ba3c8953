"""The form of an MCP server: what it is started with, in the lines that people paste."""

from __future__ import annotations

import re
import shlex
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _

from opencode_web.lib.json import JsonObject
from sessions.code_config import McpConfig
from sessions.mcp_servers import VARIABLE, is_plain_secret
from sessions.public_config import MASK
from tools.redaction import MIN_CHARS

MAX_NAME_CHARS = 40
NAME = re.compile(r"[A-Za-z0-9_-]+")
_VARIABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CODE = {"spellcheck": "false", "class": "mono", "autocomplete": "off"}


class McpServerForm(forms.Form):
    """One server under `mcp`."""

    name = forms.RegexField(
        rf"^{NAME.pattern}$",
        label=_("Name"),
        max_length=MAX_NAME_CHARS,
        help_text=_("Letters, digits, - and _. Its tools begin with it, such as shop_stock."),
        error_messages={"invalid": _("A name has only letters, digits, - and _.")},
        widget=forms.TextInput(attrs=_CODE),
    )
    command = forms.CharField(
        label=_("Command"),
        max_length=8_000,
        help_text=_(
            "The program and its arguments, such as npx -y @acme/mcp-shop. It runs in the sandbox "
            "of a session, without a shell; quotes keep words together."
        ),
        widget=forms.TextInput(attrs=_CODE),
    )
    cwd = forms.CharField(
        label=_("Folder"),
        max_length=1_000,
        required=False,
        help_text=_("Where it starts, relative to the project. Empty: the project's own folder."),
        widget=forms.TextInput(attrs=_CODE),
    )
    environment = forms.CharField(
        label=_("Environment"),
        max_length=64 * 1024,
        required=False,
        help_text=_(
            "A variable a line, NAME=value. {env:NAME} stands for a secret of the project: these "
            "settings are kept in plain text, so keys belong there. ••• keeps a value."
        ),
        widget=forms.Textarea(attrs={**_CODE, "rows": 4}),
    )
    timeout = forms.IntegerField(
        label=_("Seconds to answer"),
        min_value=1,
        max_value=600,
        initial=30,
        help_text=_("To start and answer, for each call."),
    )
    enabled = forms.BooleanField(label=_("Switched on"), required=False, initial=True)

    def clean_command(self) -> list[str]:
        try:
            words = shlex.split(self.cleaned_data["command"])
        except ValueError as exc:
            raise ValidationError(_t("A quote in it is not closed.")) from exc
        if not words or len(words) > 64:
            raise ValidationError(_t("Give a program and at most 63 arguments."))
        return words

    def clean_environment(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for number, line in enumerate(self.cleaned_data["environment"].splitlines(), 1):
            if not line.strip():
                continue
            name, is_there, value = line.strip().partition("=")
            name = name.strip()
            if not is_there or not _VARIABLE_NAME.fullmatch(name):
                raise ValidationError(_t("Line %(number)s: write NAME=value.") % {"number": number})
            if value != MASK and is_plain_secret(name, value):
                raise ValidationError(_refusal(name))
            found[name] = value
        return found

    def item(self, known: JsonObject) -> JsonObject:
        """Returns: the server for the settings, with what this form does not know kept."""
        given = self.cleaned_data
        before = McpConfig.model_validate(known)
        item: JsonObject = {
            **known,
            "type": "local",
            "command": given["command"],
            "cwd": given["cwd"],
            "environment": given["environment"],
            "enabled": given["enabled"],
        }
        if given["timeout"] != before.timeout // 1000:  # what is finer than the form stays
            item["timeout"] = given["timeout"] * 1000
        return {key: value for key, value in item.items() if value not in ("", {})}


def _refusal(name: str) -> str:
    return _t(
        "%(name)s sounds like a secret, and these settings are kept in plain text. Save it as a "
        "secret of the project, and write %(name)s={env:%(name)s} here."
    ) % {"name": name}


def initial_of(name: str, stored: JsonObject) -> dict[str, Any]:  # initial values of a form
    """Returns: what the form shows of a stored server. No value is in it that can be secret."""
    server = McpConfig.model_validate(stored)
    return {
        "name": name,
        "command": shlex.join(server.command),
        "cwd": server.cwd,
        "environment": "\n".join(
            f"{key}={_shown(key, value)}" for key, value in server.environment.items()
        ),
        "timeout": max(1, server.timeout // 1000),
        "enabled": server.enabled,
    }


def _shown(name: str, value: str) -> str:
    """References are no secrets, nor is what is too short for one, unless its name says so."""
    if VARIABLE.search(value) or (len(value) < MIN_CHARS and not is_plain_secret(name, value)):
        return value
    return MASK
