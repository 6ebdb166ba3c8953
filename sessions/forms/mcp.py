"""The form of an MCP server: what it is started with, in the lines that people paste."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from opencode_web.lib.config_references import VARIABLE
from opencode_web.lib.json import JsonObject
from opencode_web.lib.outbound import FetchError, check_url
from sessions.config.programs import McpConfig
from sessions.config.public import MASK
from sessions.mcp.catalog import Asked
from sessions.mcp.servers import MAX_CHARS, is_plain_secret
from sessions.secrets import MAX_VALUE_BYTES
from tools.redaction import MIN_CHARS

_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,200}")
_VARIABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# Before the name of a field that asks for a secret.
_ASKED = "secret_"
_KEPT = gettext_noop("Stored encrypted as a secret. Leave it empty if there is one of this name.")
_CODE = {"spellcheck": "false", "class": "mono", "autocomplete": "off"}


class McpServerForm(forms.Form):
    """One server under `mcp`."""

    name = forms.RegexField(
        r"^[A-Za-z0-9_-]+$",
        label=_("Name"),
        max_length=MAX_CHARS,
        help_text=_(
            "Letters, digits, - and _. The names of its tools start with it, such as shop_stock."
        ),
        error_messages={"invalid": _("A name can only contain letters, digits, - and _.")},
        widget=forms.TextInput(attrs=_CODE),
    )
    type = forms.ChoiceField(
        label=_("Type"),
        choices=[
            ("local", _("A program in the sandbox")),
            ("remote", _("A remote server")),
        ],
        initial="local",
    )
    command = forms.CharField(
        label=_("Command"),
        max_length=8_000,
        required=False,
        help_text=_(
            "The program and its arguments, such as npx -y @acme/mcp-shop. It runs in the "
            "sandbox of a session, without a shell. Put arguments that contain spaces in "
            "quotation marks."
        ),
        widget=forms.TextInput(attrs=_CODE),
    )
    cwd = forms.CharField(
        label=_("Folder"),
        max_length=1_000,
        required=False,
        help_text=_(
            "Where the program starts, relative to the project. Defaults to the project folder."
        ),
        widget=forms.TextInput(attrs=_CODE),
    )
    environment = forms.CharField(
        label=_("Environment"),
        max_length=64 * 1024,
        required=False,
        help_text=_(
            "One variable per line: NAME=value. {env:NAME} stands for a secret of the project. "
            "Use it for keys, because these settings are stored in plain text. ••• keeps a "
            "value."
        ),
        widget=forms.Textarea(attrs={**_CODE, "rows": 4}),
    )
    url = forms.CharField(
        label=_("Address"),
        max_length=2_000,
        required=False,
        help_text=_("Such as https://mcp.example.org/mcp."),
        widget=forms.URLInput(attrs={**_CODE, "inputmode": "url"}),
    )
    headers = forms.CharField(
        label=_("Headers"),
        max_length=64 * 1024,
        required=False,
        help_text=_(
            "Sent with each request, one header per line: Name: value. {env:NAME} stands for a "
            "secret of the project, or for a variable that this server's operators have "
            "listed, as in Authorization: Bearer {env:SHOP_TOKEN}."
        ),
        widget=forms.Textarea(attrs={**_CODE, "rows": 3}),
    )
    account = forms.ChoiceField(
        label=_("Account"),
        choices=[
            ("team", _("The team's: an admin signs in for everyone")),
            ("own", _("Everyone's own: each person signs in")),
            ("either", _("The team's, or a person's own once they sign in")),
        ],
        initial="team",
        required=False,
        help_text=_(
            "For servers that require a sign-in. An own account is only used in turns that its "
            "owner prompts. Everyone who can open the session sees what agents read with it."
        ),
    )
    sampling = forms.ChoiceField(
        label=_("Model access"),
        choices=[
            ("never", _("Never")),
            ("ask", _("Ask each time")),
            ("allow", _("Allow")),
        ],
        initial="never",
        required=False,
        help_text=_(
            "Whether the server may ask the model of a session while one of its tools runs (MCP "
            "sampling). The session pays for the answers."
        ),
    )
    timeout = forms.IntegerField(
        label=_("Timeout in seconds"),
        min_value=1,
        max_value=600,
        initial=30,
        help_text=_("For starting the server and for each call."),
    )
    enabled = forms.BooleanField(label=_("Enabled"), required=False, initial=True)

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # those of a form
        super().__init__(*args, **kwargs)
        for name in ("command", "url", "account"):  # of what it is
            self.fields[name].depends = True  # type: ignore[attr-defined]

    def ask_for(self, secrets: Iterable[Asked]) -> None:
        """Have fields for what a known server needs. Values are never shown again."""
        for one in secrets:
            self.fields[_ASKED + one.name] = forms.CharField(
                label=one.name,
                max_length=MAX_VALUE_BYTES,
                required=False,
                strip=False,
                help_text=" ".join(filter(None, (one.description, gettext(_KEPT)))),
                widget=forms.PasswordInput(attrs=_CODE),
            )

    @property
    def secret_fields(self) -> list[forms.BoundField]:
        return [field for field in self if field.name.startswith(_ASKED)]

    def secrets(self) -> dict[str, str]:
        """Returns: those that were entered, by name."""
        given = ((field.name, self.cleaned_data[field.name]) for field in self.secret_fields)
        return {name.removeprefix(_ASKED): value for name, value in given if value}

    def clean_command(self) -> list[str]:
        if self._is_remote():
            return []
        try:
            words = shlex.split(self.cleaned_data["command"])
        except ValueError as exc:
            raise ValidationError(gettext("A quotation mark is not closed.")) from exc
        if not words or len(words) > 64:
            raise ValidationError(gettext("Enter a program and at most 63 arguments."))
        return words

    def clean_environment(self) -> dict[str, str]:
        if self._is_remote():
            return {}
        return _pairs(self.cleaned_data["environment"], "=", _VARIABLE_NAME, gettext("NAME=value"))

    def clean_url(self) -> str:
        url: str = self.cleaned_data["url"].strip()
        if not self._is_remote():
            return ""
        try:
            return str(check_url(url))
        except FetchError as exc:
            raise ValidationError(
                gettext("This address cannot be used: %(why)s.") % {"why": exc}
            ) from exc

    def clean_headers(self) -> dict[str, str]:
        if not self._is_remote():
            return {}
        return _pairs(self.cleaned_data["headers"], ":", _HEADER_NAME, gettext("Name: value"))

    def _is_remote(self) -> bool:
        return self.cleaned_data.get("type") == "remote"

    def item(self, known: JsonObject) -> JsonObject:
        """Returns: the server for the settings, with what this form does not know kept."""
        given = self.cleaned_data
        before = McpConfig.model_validate(known)
        item: JsonObject = {
            **known,
            "type": given["type"],
            "command": given["command"],
            "cwd": "" if self._is_remote() else given["cwd"],
            "environment": given["environment"],
            "url": given["url"],
            "headers": given["headers"],
            "enabled": given["enabled"],
            "account": given["account"] if self._is_remote() else "",
            "sampling": given["sampling"],
        }
        for key, usual in (("account", "team"), ("sampling", "never")):
            if item[key] == usual:
                item[key] = ""
        if given["timeout"] != before.timeout // 1000:  # what is finer than the form stays
            item["timeout"] = given["timeout"] * 1000
        return {key: value for key, value in item.items() if value not in ("", {}, [])}


def _pairs(text: str, sign: str, names: re.Pattern[str], shape: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        name, is_there, value = line.strip().partition(sign)
        name, value = name.strip(), value.strip()
        if not is_there or not names.fullmatch(name):
            wrong = {"number": number, "shape": shape}
            raise ValidationError(gettext("Line %(number)s: use the form %(shape)s.") % wrong)
        if value != MASK and is_plain_secret(name, value):
            raise ValidationError(_refusal(name, sign))
        found[name] = value
    return found


def _refusal(name: str, sign: str) -> str:
    variable = re.sub(r"[^A-Za-z0-9]", "_", name).upper()
    example = f"{name}={{env:{variable}}}" if sign == "=" else f"{name}: {{env:{variable}}}"
    return gettext(
        "%(name)s looks like a secret, and these settings are stored in plain text. Save "
        "it as a secret of the project, and enter %(example)s here."
    ) % {"name": name, "example": example}


def initial_of(
    name: str, stored: JsonObject, *, is_known: bool = False
) -> dict[str, Any]:  # initial values of a form
    """Returns: what the form shows of a stored server. No value is in it that can be secret, unless
    it `is_known` to everybody.
    """
    server = McpConfig.model_validate(stored)

    def shown(key: str, value: str) -> str:
        return value if is_known else _shown(key, value)

    return {
        "name": name,
        "type": "remote" if server.is_remote else "local",
        "command": shlex.join(server.command),
        "cwd": server.cwd,
        "environment": "\n".join(
            f"{key}={shown(key, value)}" for key, value in server.environment.items()
        ),
        "url": server.url,
        "headers": "\n".join(
            f"{key}: {shown(key, value)}" for key, value in server.headers.items()
        ),
        "account": server.account,
        "sampling": server.sampling,
        "timeout": max(1, server.timeout // 1000),
        "enabled": server.enabled,
    }


def _shown(name: str, value: str) -> str:
    """References are no secrets, nor is what is too short for one, unless its name says so."""
    if VARIABLE.search(value) or (len(value) < MIN_CHARS and not is_plain_secret(name, value)):
        return value
    return MASK
