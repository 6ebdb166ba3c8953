from __future__ import annotations

import json
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from opencode_web.lib.errors import Invalid
from opencode_web.lib.json import JsonObject
from opencode_web.lib.json_body import parse_json
from sessions.actions.projects import SAMPLE_NAME


def agent_field() -> forms.CharField:
    """Returns: who works on what starts by itself."""
    return forms.CharField(
        label=_("Agent"),
        max_length=60,
        required=False,
        help_text=_("Leave it empty for the project's default."),
    )


def model_field() -> forms.CharField:
    """Returns: with which model."""
    return forms.CharField(
        label=_("Model"),
        max_length=200,
        required=False,
        help_text=_("provider/model. Leave it empty for the project's default."),
    )


# Of fields for keys: nothing that browsers could keep or send to be checked.
UNKEPT = {"autocomplete": "off", "spellcheck": "false"}


class SecretField(forms.CharField):
    """A key that is pasted. Empty leaves the stored one as it is."""

    def __init__(self, **more: Any) -> None:  # Any: as Django's own has them
        widget = forms.PasswordInput(attrs=UNKEPT)
        super().__init__(max_length=300, required=False, widget=widget, **more)


class _ProjectForm(forms.Form):
    restricted = forms.BooleanField(
        label=_("Restrict to members"),
        required=False,
        help_text=_("Only you, people you add later and the team's admins see it."),
    )

    field_order = ("url", "path", "name", "init", "restricted")


class GitProjectForm(_ProjectForm):
    """A repository to clone."""

    url = forms.CharField(
        label=_("Repository address"),
        max_length=1000,
        help_text=_(
            "Such as https://host/team/code.git or git@host:team/code.git. Credentials in the "
            "address are used once and not stored."
        ),
        widget=forms.TextInput(attrs={"placeholder": "https://…", "spellcheck": "false"}),
    )
    name = forms.CharField(
        label=_("Name"),
        max_length=120,
        required=False,
        help_text=_("Defaults to the repository's name."),
    )


class FolderProjectForm(_ProjectForm):
    """A folder that is on this host already."""

    path = forms.CharField(
        label=_("Folder"),
        max_length=1000,
        help_text=_("A folder on this server that an operator has assigned to your team."),
        widget=forms.TextInput(attrs={"spellcheck": "false"}),
    )
    name = forms.CharField(
        label=_("Name"),
        max_length=120,
        required=False,
        help_text=_("Defaults to the folder's name."),
    )
    init = forms.BooleanField(label=_("Create a Git repository if there is none"), required=False)


class EmptyProjectForm(_ProjectForm):
    """A new repository."""

    name = forms.CharField(label=_("Name"), max_length=120)


class SampleProjectForm(forms.Form):
    """A small repository with a failing test, for the tour."""

    name = forms.CharField(
        label=_("Name"),
        max_length=120,
        initial=_(SAMPLE_NAME),
        help_text=_("A small shop with a failing test. The scripted demo fixes it without a key."),
    )


class SkillForm(forms.Form):
    """A skill of a team."""

    name = forms.CharField(
        label=_("Name"),
        max_length=64,
        help_text=_("Lowercase letters, digits, - and _. Agents load the skill by this name."),
        widget=forms.TextInput(attrs={"spellcheck": "false", "class": "mono"}),
    )
    description = forms.CharField(
        label=_("Description"),
        max_length=1024,
        help_text=_("When to use the skill, in one sentence. Agents decide based on this alone."),
        widget=forms.Textarea(attrs={"rows": 2}),
    )
    text = forms.CharField(
        label=_("Instructions"),
        max_length=64 * 1024,
        help_text=_("Markdown. Agents read it when they load the skill."),
        widget=forms.Textarea(attrs={"rows": 16, "class": "mono"}),
    )


class SettingsForm(forms.Form):
    """The settings of a team or project, in the shape of `opencode.json`."""

    config = forms.CharField(
        label="opencode.json",
        required=False,
        max_length=200_000,
        help_text=_(
            "Model, agents, permission rules, providers, instructions. ••• keeps a stored secret."
        ),
        widget=forms.Textarea(attrs={"rows": 10, "spellcheck": "false", "class": "mono"}),
    )
    # Marks of what the page showed, and of what may be lost.
    seen = forms.CharField(required=False, widget=forms.HiddenInput)
    agreed = forms.CharField(required=False, widget=forms.HiddenInput)

    # What agreeing to the loss takes that the errors tell of.
    to_agree = ""

    @property
    def is_empty(self) -> bool:
        """Whether nothing is set yet."""
        return not self["config"].value()

    def clean_config(self) -> JsonObject:
        text = self.cleaned_data["config"].strip() or "{}"
        try:
            json.loads(text)
            data = parse_json(text.encode(errors="replace"))
        except json.JSONDecodeError as exc:
            place = {"line": exc.lineno, "column": exc.colno, "what": exc.msg}
            raise ValidationError(_("Line %(line)s, column %(column)s: %(what)s.") % place) from exc
        except (RecursionError, Invalid) as exc:
            raise ValidationError(
                _("The text is nested too deeply or contains a value that JSON does not support.")
            ) from exc
        if not isinstance(data, dict):
            raise ValidationError(_("The text must be a JSON object."))
        return data
