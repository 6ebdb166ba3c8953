"""Forms of the pages. Bounds of single fields are here, rules between rows are in the actions."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from allauth.account.forms import LoginForm
from django import forms
from django.conf import settings
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from opencode_web.lib.errors import Invalid
from teams.access import TeamAccess, has_role, teams_of
from teams.actions.attempts import Kind, count_attempt, forgive_attempt
from teams.actions.invites import DEFAULT_LIFETIME, MAX_LIFETIME
from teams.audit import AuditAction
from teams.audit_texts import GROUPS, action_label
from teams.models import (
    Density,
    Membership,
    Role,
    Scope,
    Team,
    TextSize,
    Theme,
    User,
)
from teams.theme_file import MAX_BYTES, parse_theme

_NEW_PASSWORD = forms.PasswordInput(attrs={"autocomplete": "new-password"})

_DAY = forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")
_TOKEN_DAYS = [(30, _("In 30 days")), (90, _("In 90 days")), (365, _("In a year")), (0, _("Never"))]


def days_from_now(days: int) -> datetime | None:
    """Returns: when a token ends; None for 0 days, which is never."""
    return timezone.now() + timedelta(days=days) if days else None


def offered_languages() -> list[tuple[str, str | Promise]]:
    """Returns: the choices of a person; each language has its own name, whoever reads it."""
    return [("", _("Same as the browser")), *settings.LANGUAGES]


def roles_below(role: Role) -> list[tuple[str, str]]:
    """Returns: the choices that somebody of this role may give to others."""
    return [(item.value, str(item.label)) for item in Role if has_role(role, item)]


class SignInForm(LoginForm):  # type: ignore[misc]  # allauth ships no types
    """allauth's form in the words and looks of the others."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # allauth's own shape
        super().__init__(*args, **kwargs)
        self.fields["login"].label = _("E-mail")
        self.fields["login"].widget.attrs["autofocus"] = True
        for field in self.fields.values():
            field.widget.attrs.pop("placeholder", None)


class CompanyForm(forms.Form):
    """Whose provider a domain names."""

    company_email = forms.EmailField(
        label=_("Work e-mail"), widget=forms.EmailInput(attrs={"autocomplete": "email"})
    )


class ForgotForm(forms.Form):
    """Whose password is forgotten."""

    email = forms.EmailField(
        label=_("E-mail"), widget=forms.EmailInput(attrs={"autocomplete": "username"})
    )


class NewPasswordForm(forms.Form):
    """What a reset link is for."""

    password = forms.CharField(
        label=_("New password"),
        strip=False,
        help_text=_("At least 10 characters, not a common password."),
        widget=_NEW_PASSWORD,
    )


class PolicyForm(forms.Form):
    """What a team asks of a sign-in."""

    requires_mfa = forms.BooleanField(
        label=_("Require multi-factor authentication"), required=False
    )
    requires_sso = forms.BooleanField(label=_("Require single sign-on"), required=False)


class NewTeamForm(forms.Form):
    """A team needs only a name; its address is made from it."""

    name = forms.CharField(
        label=_("Name"), max_length=80, help_text=_("For example the name of your company.")
    )


class TeamForm(forms.Form):
    """Name and address of a team."""

    name = forms.CharField(label=_("Name"), max_length=80)
    slug = forms.SlugField(
        label=_("Address"),
        max_length=40,
        help_text=_(
            "Part of every link of this team. Links with the old address will stop working."
        ),
    )


class TransferForm(forms.Form):
    """The next owner."""

    member = forms.ModelChoiceField(
        Membership.objects.none(), label=_("New owner"), empty_label=_("Choose a member")
    )

    def __init__(self, data: Any = None, *, access: TeamAccess) -> None:  # Django's own shape
        super().__init__(data)
        people = access.team.memberships.filter(user__service_of=None, expires_at=None)
        others = people.select_related("user").exclude(user=access.user)
        field = self.fields["member"]
        field.queryset = others.order_by("user__email")  # type: ignore[attr-defined]
        field.label_from_instance = lambda m: f"{m.user.display_name} ({m.user.email})"  # type: ignore[attr-defined]


class DeleteTeamForm(forms.Form):
    """The address, typed."""

    confirm = forms.CharField(
        label=_("Team address"), widget=forms.TextInput(attrs={"autocomplete": "off"})
    )


class RoleForm(forms.Form):
    """The new role of a member."""

    role = forms.ChoiceField(label=_("Role"), choices=Role.choices)


class InviteForm(forms.Form):
    """Whom to invite, as what, for how long."""

    role = forms.ChoiceField(label=_("Role"))
    email = forms.EmailField(
        label=_("E-mail"),
        required=False,
        help_text=_("If set, only the person with this address can use the link."),
    )
    days = forms.IntegerField(
        label=_("Valid for (days)"),
        min_value=1,
        max_value=MAX_LIFETIME.days,
        initial=DEFAULT_LIFETIME.days,
    )

    def __init__(self, data: Any = None, *, role: Role) -> None:  # Django's own shape
        super().__init__(data, initial={"role": Role.MEMBER.value})
        self.fields["role"].choices = roles_below(role)  # type: ignore[attr-defined]

    @property
    def lifetime(self) -> timedelta:
        return timedelta(days=self.cleaned_data["days"])


class AcceptForm(forms.Form):
    """The account of somebody who is invited and has none."""

    email = forms.EmailField(
        label=_("E-mail"), widget=forms.EmailInput(attrs={"autocomplete": "username"})
    )
    name = forms.CharField(
        label=_("Name"), max_length=120, widget=forms.TextInput(attrs={"autocomplete": "name"})
    )
    password = forms.CharField(
        label=_("Password"),
        strip=False,
        widget=_NEW_PASSWORD,
        help_text=_("At least 10 characters, not a common password."),
    )

    def __init__(self, data: Any = None, *, email: str) -> None:  # Django's own shape
        super().__init__(data)
        if email:
            del self.fields["email"]


class TokenForm(forms.Form):
    """What an API token is for."""

    name = forms.CharField(
        label=_("Name"), max_length=80, help_text=_("Where you use it, such as “laptop”.")
    )
    team = forms.ModelChoiceField(Team.objects.none(), label=_("Team"), empty_label=None)
    scope = forms.ChoiceField(label=_("Scope"), choices=Scope.choices, initial=Scope.WRITE.value)
    days = forms.TypedChoiceField(label=_("Expires"), coerce=int, choices=_TOKEN_DAYS, initial=90)

    def __init__(self, data: Any = None, *, user: User) -> None:  # Django's own shape
        super().__init__(data)
        self.fields["team"].queryset = teams_of(user, need=None)  # type: ignore[attr-defined]

    @property
    def expires_at(self) -> datetime | None:
        return days_from_now(self.cleaned_data["days"])


class ServiceForm(forms.Form):
    """The account of a program."""

    name = forms.CharField(
        label=_("Name"),
        max_length=80,
        show_hidden_initial=True,
        help_text=_("What it is for, such as “nightly checks”."),
    )
    role = forms.TypedChoiceField(
        coerce=Role, label=_("Role"), initial=Role.MEMBER.value, show_hidden_initial=True
    )

    def __init__(self, data: Any = None, *, role: Role, initial: Any = None) -> None:
        super().__init__(data, initial=initial)
        given = [(value, label) for value, label in roles_below(role) if value != Role.OWNER]
        self.fields["role"].choices = given  # type: ignore[attr-defined]


class ServiceTokenForm(forms.Form):
    """A token of such an account."""

    name = forms.CharField(
        label=_("Name"), max_length=80, help_text=_("Where it is used, such as “CI runner”.")
    )
    scope = forms.ChoiceField(label=_("Scope"), choices=Scope.choices, initial=Scope.WRITE.value)
    days = forms.TypedChoiceField(label=_("Expires"), coerce=int, choices=_TOKEN_DAYS, initial=90)

    @property
    def expires_at(self) -> datetime | None:
        return days_from_now(self.cleaned_data["days"])


class ProfileForm(forms.Form):
    """The name others see."""

    name = forms.CharField(
        label=_("Name"), max_length=120, widget=forms.TextInput(attrs={"autocomplete": "name"})
    )


class PasswordForm(forms.Form):
    """A new password, given by somebody who knows the present one."""

    current = forms.CharField(
        label=_("Current password"),
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )
    password = forms.CharField(
        label=_("New password"),
        strip=False,
        widget=_NEW_PASSWORD,
        help_text=_("At least 10 characters, not a common password."),
    )

    def __init__(
        self, data: Any = None, *, user: User, ip: str | None = None
    ) -> None:  # Django's own shape
        super().__init__(data)
        self.user = user
        self.ip = ip

    def clean_current(self) -> str:
        """Raises: TooManyRequests, as a sign-in does."""
        current: str = self.cleaned_data["current"]
        count_attempt(Kind.PASSWORD, address=self.ip, account=self.user.email)
        if not self.user.check_password(current):
            raise forms.ValidationError(_("This is not your current password."))
        forgive_attempt(Kind.PASSWORD, address=self.ip, account=self.user.email)
        return current


class AppearanceForm(forms.Form):
    """Personal tastes."""

    language = forms.ChoiceField(
        label=_("Language"), choices=offered_languages, required=False, widget=forms.RadioSelect
    )
    theme = forms.ChoiceField(
        label=_("Theme"), choices=Theme.choices, required=False, widget=forms.RadioSelect
    )
    density = forms.ChoiceField(
        label=_("Density"), choices=Density.choices, required=False, widget=forms.RadioSelect
    )
    text_size = forms.ChoiceField(
        label=_("Text size"), choices=TextSize.choices, required=False, widget=forms.RadioSelect
    )
    high_contrast = forms.BooleanField(label=_("High contrast"), required=False)


class ThemeForm(forms.Form):
    """A theme file of the terminal program, or its text."""

    file = forms.FileField(
        label=_("Theme file"),
        required=False,
        allow_empty_file=True,
        widget=forms.FileInput(attrs={"accept": "application/json,.json"}),
    )
    text = forms.CharField(
        label=_("Or paste its JSON"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 4, "class": "mono", "spellcheck": "false"}),
    )

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or {}
        file = data.get("file")
        given = file.read(MAX_BYTES + 1) if file else data.get("text", "").encode()
        if not given:
            raise forms.ValidationError(_("Choose a theme file, or paste its JSON."))
        if len(given) > MAX_BYTES:
            raise forms.ValidationError(_("A theme can have at most 64 KB."))
        try:
            data["theme"] = parse_theme(given.decode())
        except UnicodeDecodeError as exc:
            raise forms.ValidationError(_("This is not valid JSON.")) from exc
        except Invalid as exc:
            raise forms.ValidationError(exc.message) from exc
        data["name"] = Path(file.name).stem[:60] if file else ""
        return data


class AuditForm(forms.Form):
    """What to show of the audit trail; nothing given shows all of it."""

    who = forms.CharField(
        label=_("Who"),
        max_length=200,
        required=False,
        widget=forms.TextInput(attrs={"list": "audit-people"}),
    )
    what = forms.ChoiceField(label=_("What"), required=False)
    since = forms.DateField(label=_("From"), required=False, widget=_DAY)
    until = forms.DateField(label=_("To"), required=False, widget=_DAY)
    address = forms.CharField(label=_("IP address"), max_length=45, required=False)
    text = forms.CharField(label=_("Text"), max_length=200, required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # Django's own shape
        super().__init__(*args, **kwargs)
        named = sorted((action_label(action), action.value) for action in AuditAction)
        groups = [(name, label) for name, (label, _beginnings) in GROUPS.items()]
        choices = [
            ("", _("Everything")),
            (_("Groups"), groups),
            (_("Actions"), [(value, label) for label, value in named]),
        ]
        self.fields["what"].choices = choices  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or {}
        since, until = data.get("since"), data.get("until")
        if since and until and until < since:
            self.add_error("until", _("This is before the start date."))
        return data
