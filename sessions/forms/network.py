from __future__ import annotations

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from opencode_web.lib.json import JsonObject
from sessions.config.network import NetworkConfig
from tools.sandbox.hosts import Reach, parse_patterns

AS_ABOVE = ""
_LABELS = {
    Reach.NONE: _("None: no hosts, not even this server"),
    Reach.ALLOW_LIST: _("List: only the hosts below, through a proxy"),
    Reach.OPEN: _("Open: all hosts this server can reach, including its own services"),
}


class NetworkForm(forms.Form):
    """What commands reach. Only what the level above allows can be chosen.

    With `above` the level can also leave it to that, in these words.
    """

    policy = forms.ChoiceField(label=_("Network access"), widget=forms.RadioSelect, required=False)
    hosts = forms.CharField(
        label=_("Hosts"),
        required=False,
        max_length=60_000,
        help_text=_(
            "One per line: example.org, *.example.org for all names below it, host:port. "
            "Default ports: 80 and 443."
        ),
        widget=forms.Textarea(
            attrs={
                "rows": 8,
                "spellcheck": "false",
                "class": "mono",
                "placeholder": "packages.example.com\n*.example.org\ngithub.com",
            }
        ),
    )

    def __init__(
        self,
        data: object = None,
        *,
        stored: NetworkConfig | None,
        most: Reach,
        above: str = "",
    ) -> None:
        default = AS_ABOVE if above else Reach.NONE.value
        initial = {
            "policy": stored.policy.value if stored else default,
            "hosts": "\n".join(stored.hosts) if stored else "",
        }
        super().__init__(data, initial=initial)  # type: ignore[arg-type]  # a QueryDict or None
        choices = [(one.value, _LABELS[one]) for one in Reach if one.rank <= most.rank]
        self.fields["hosts"].depends = True  # type: ignore[attr-defined]
        field = self.fields["policy"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [(AS_ABOVE, above), *choices] if above else choices
        field.required = not above

    def clean_hosts(self) -> list[str]:
        texts = self.cleaned_data["hosts"].replace(",", " ").split()
        try:
            return [str(pattern) for pattern in parse_patterns(texts)]
        except ValueError as exc:
            raise ValidationError(str(exc)) from exc

    def to_config(self) -> JsonObject | None:
        """Returns: `network` of the settings; None to leave it to the level above."""
        policy = self.cleaned_data["policy"]
        if policy == AS_ABOVE:
            return None
        return {"policy": policy, "hosts": self.cleaned_data["hosts"]}
