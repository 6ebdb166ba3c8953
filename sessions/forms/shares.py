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
    Share.Scope.TEAM: _("Members of the team, after signing in"),
    Share.Scope.PUBLIC: _("Anybody who has the link"),
}
_LINKS = {
    Links.NONE: _("None"),
    Links.TEAM: _("For members of the team: they sign in to open one"),
    Links.PUBLIC: _("Also for anybody who has the link, without signing in"),
}


class ShareForm(forms.Form):
    """A new link. Only the scopes that are allowed can be chosen."""

    scope = forms.ChoiceField(label=_("Who can open it"), widget=forms.RadioSelect)
    days = forms.ChoiceField(label=_("Ends"), choices=_DAYS, initial="7")
    details = forms.BooleanField(
        label=_("Include tool output"),
        required=False,
        help_text=_(
            "What commands said, what files held and how they changed, and the agent's "
            "reasoning. Else only that a tool was used, and for what."
        ),
    )
    # Asked for only where something was found.
    confirmed = forms.BooleanField(
        label=_("I have looked at it, and it can be shown"), required=False
    )

    def __init__(self, data: object = None, *, allowed: Links) -> None:
        super().__init__(data, initial={"scope": Share.Scope.TEAM.value})  # type: ignore[arg-type]  # a QueryDict or None
        field = self.fields["scope"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [(one.value, said) for one, said in _SCOPES.items() if allowed.allows(one)]


class SharingForm(forms.Form):
    """Which links a team's sessions may have."""

    links = forms.ChoiceField(label=_("Links to sessions"), widget=forms.RadioSelect)

    def __init__(self, data: object = None, *, stored: Links, most: Links) -> None:
        super().__init__(data, initial={"links": stored.value})  # type: ignore[arg-type]  # a QueryDict or None
        field = self.fields["links"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [
            (one.value, said)
            for one, said in _LINKS.items()
            if one is not Links.PUBLIC or most is Links.PUBLIC
        ]
