from __future__ import annotations

from django import forms
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from sessions.actions.shares import DAYS
from sessions.config.sharing import Links
from sessions.models import Share

_DAYS = [
    (str(days), format_lazy(ngettext_lazy("In {days} day", "In {days} days", days), days=days))
    for days in DAYS
]
_SCOPES = {
    Share.Scope.TEAM: _("Team members, after signing in"),
    Share.Scope.PUBLIC: _("Anyone with the link"),
}
_LINKS = {
    Links.NONE: _("None"),
    Links.TEAM: _("Team members only, after signing in"),
    Links.PUBLIC: _("Anyone with the link, without signing in"),
}


class ShareForm(forms.Form):
    """A new link. Only the scopes that are allowed can be chosen."""

    scope = forms.ChoiceField(label=_("Access"), widget=forms.RadioSelect)
    days = forms.ChoiceField(label=_("Expires"), choices=_DAYS, initial="7")
    details = forms.BooleanField(
        label=_("Include tool output"),
        required=False,
        help_text=_(
            "Command output, file contents and changes, and the agent's thinking. Otherwise, "
            "the link only shows which tools were used and for what."
        ),
    )
    # Asked for only where something was found.
    confirmed = forms.BooleanField(
        label=_("I have reviewed the session and want to share it"), required=False
    )

    def __init__(self, data: object = None, *, allowed: Links) -> None:
        super().__init__(data, initial={"scope": Share.Scope.TEAM.value})  # type: ignore[arg-type]  # a QueryDict or None
        field = self.fields["scope"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [(one.value, said) for one, said in _SCOPES.items() if allowed.allows(one)]


class SharingForm(forms.Form):
    """Which links a team's sessions may have."""

    links = forms.ChoiceField(label=_("Session links"), widget=forms.RadioSelect)

    def __init__(self, data: object = None, *, stored: Links, most: Links) -> None:
        super().__init__(data, initial={"links": stored.value})  # type: ignore[arg-type]  # a QueryDict or None
        field = self.fields["links"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [
            (one.value, said)
            for one, said in _LINKS.items()
            if one is not Links.PUBLIC or most is Links.PUBLIC
        ]
