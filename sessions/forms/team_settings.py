"""Forms of the pages that change one item of a team's settings."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from opencode_web.lib.json import JsonObject
from tools.permissions.rules import MAX_PATTERN_CHARS, Action

_CODE = {"spellcheck": "false", "class": "mono", "autocomplete": "off"}
_NAME = forms.TextInput(attrs=_CODE)
_NAME_CHARS = r"^[^\s/]+$"

ACTIONS = [
    (Action.ALLOW.value, _("Allow")),
    (Action.ASK.value, _("Ask")),
    (Action.ASK_OTHER.value, _("Ask someone else")),
    (Action.DENY.value, _("Deny")),
]


class RuleForm(forms.Form):
    """One permission rule of a team."""

    tool = forms.CharField(
        label=_("Tool"),
        max_length=MAX_PATTERN_CHARS,
        widget=forms.TextInput(attrs={**_CODE, "list": "tools"}),
    )
    pattern = forms.CharField(
        label=_("Pattern"), max_length=MAX_PATTERN_CHARS, initial="*", widget=_NAME
    )
    action = forms.ChoiceField(label=_("Action"), choices=ACTIONS, initial="ask")


class TrialForm(forms.Form):
    """A call to try."""

    project = forms.ChoiceField(label=_("Project"))
    agent = forms.CharField(label=_("Agent"), max_length=100, initial="build", widget=_NAME)
    tool = forms.CharField(
        label=_("Tool"),
        max_length=100,
        initial="bash",
        widget=forms.TextInput(attrs={**_CODE, "list": "tools"}),
    )
    text = forms.CharField(
        label=_("Command, path or address"), max_length=2000, widget=forms.TextInput(attrs=_CODE)
    )

    def __init__(self, data: Any = None, *, projects: list[tuple[str, str]]) -> None:
        # The page has another form with a tool.
        super().__init__(data, auto_id="trial_%s")
        self.fields["project"].choices = projects  # type: ignore[attr-defined]


class CommandForm(forms.Form):
    """A command of a team."""

    name = forms.RegexField(
        _NAME_CHARS,
        label=_("Name"),
        max_length=100,
        help_text=_("One word, typed after a slash."),
        error_messages={"invalid": _("A name must be one word without a slash.")},
        widget=_NAME,
    )
    description = forms.CharField(label=_("Description"), max_length=300, required=False)
    template = forms.CharField(
        label=_("Prompt"),
        max_length=64 * 1024,
        widget=forms.Textarea(attrs={"rows": 10, "class": "mono"}),
        help_text=_(
            "$ARGUMENTS is replaced by the text typed after the name, $1, $2 … by single words "
            "of it. !`git status` inserts the output of a command, @README.md a file."
        ),
    )
    agent = forms.CharField(
        label=_("Agent"),
        max_length=100,
        required=False,
        help_text=_("The agent that runs the command. Defaults to the session's agent."),
        widget=_NAME,
    )
    model = forms.CharField(
        label=_("Model"),
        max_length=200,
        required=False,
        help_text=_("provider/model. Defaults to the session's model."),
        widget=_NAME,
    )
    subtask = forms.BooleanField(label=_("Run in a sub-agent"), required=False)

    def item(self, known: JsonObject) -> JsonObject:
        """Returns: the command for the settings, with what this form does not know kept."""
        return _merged(known, self.cleaned_data)


class AgentForm(forms.Form):
    """An agent of a team, or changes to a built-in one."""

    name = forms.RegexField(
        _NAME_CHARS,
        label=_("Name"),
        max_length=60,
        help_text=_("One word, such as reviewer. People and agents use it to choose this agent."),
        error_messages={"invalid": _("A name must be one word without a slash.")},
        widget=_NAME,
    )
    description = forms.CharField(
        label=_("Description"),
        max_length=1024,
        required=False,
        help_text=_(
            "What the agent is for, in one sentence, such as: Reviews a change and lists its "
            "faults. Other agents decide by this when to give it work."
        ),
        widget=forms.Textarea(attrs={"rows": 2}),
    )
    mode = forms.ChoiceField(
        label=_("Available to"),
        required=False,
        choices=[
            ("", _("Unchanged (new agents: people and other agents)")),
            ("primary", _("People, in the message field")),
            ("subagent", _("Other agents, as a sub-agent")),
            ("all", _("Both")),
        ],
    )
    model = forms.CharField(
        label=_("Model"),
        max_length=200,
        required=False,
        help_text=_(
            "provider/model, such as anthropic/claude-sonnet-4-5. Defaults to the session's model."
        ),
        widget=_NAME,
    )
    steps = forms.IntegerField(
        label=_("Step limit"),
        min_value=1,
        required=False,
        help_text=_(
            "The agent must finish after this many steps, such as 30. A step is one response "
            "of the model with its tool calls."
        ),
    )
    prompt = forms.CharField(
        label=_("Instructions"),
        max_length=64 * 1024,
        required=False,
        help_text=_(
            "The agent's instructions, which replace the built-in text, such as: You review "
            "code. Look for faults in the latest changes, and change nothing yourself."
        ),
        widget=forms.Textarea(attrs={"rows": 12, "class": "mono"}),
    )
    disable = forms.BooleanField(
        label=_("Turn this agent off"),
        required=False,
        help_text=_("No one can use it. Its settings are kept."),
    )

    def item(self, known: JsonObject) -> JsonObject:
        """Returns: the agent for the settings, with what this form does not know kept."""
        return _merged(known, self.cleaned_data)


def _merged(known: JsonObject, given: dict[str, Any]) -> JsonObject:
    fields = {key: value for key, value in given.items() if key != "name"}
    merged = {**known, **fields}
    return {key: value for key, value in merged.items() if value not in (None, "", False)}
