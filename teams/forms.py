"""Forms of the pages. Bounds of single fields are here, rules between rows are in the actions."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from allauth.account.forms import LoginForm
from django import forms
from django.utils import timezone

from teams.access import TeamAccess, has_role, teams_of
from teams.actions.invites import DEFAULT_LIFETIME, MAX_LIFETIME
from teams.models import Membership, Role, Scope, Team, Theme, User

_NEW_PASSWORD = forms.PasswordInput(attrs={"autocomplete": "new-password"})

_TOKEN_DAYS = [(30, "In 30 days"), (90, "In 90 days"), (365, "In a year"), (0, "Never")]


def days_from_now(days: int) -> datetime | None:
    """Returns: when a token ends; None for 0 days, which is never."""
    return timezone.now() + timedelta(days=days) if days else None


def roles_below(role: Role) -> list[tuple[str, str]]:
    """Returns: the choices that somebody of this role may give to others."""
    return [(item.value, item.label) for item in Role if has_role(role, item)]


class SignInForm(LoginForm):  # type: ignore[misc]  # allauth ships no types
    """allauth's form in the words and looks of the others."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # allauth's own shape
        super().__init__(*args, **kwargs)
        self.fields["login"].label = "E-mail"
        self.fields["login"].widget.attrs["autofocus"] = True
        for field in self.fields.values():
            field.widget.attrs.pop("placeholder", None)


class NewTeamForm(forms.Form):
    """A team needs only a name; its address is made from it."""

    name = forms.CharField(max_length=80, help_text="For example the name of your company.")


class TeamForm(forms.Form):
    """Name and address of a team."""

    name = forms.CharField(max_length=80)
    slug = forms.SlugField(
        label="Address",
        max_length=40,
        help_text="Part of every link of this team. Links with the old address stop working.",
    )


class TransferForm(forms.Form):
    """The next owner."""

    member = forms.ModelChoiceField(
        Membership.objects.none(), label="New owner", empty_label="Choose a member"
    )

    def __init__(self, data: Any = None, *, access: TeamAccess) -> None:  # Django's own shape
        super().__init__(data)
        people = access.team.memberships.filter(user__service_of=None)
        others = people.select_related("user").exclude(user=access.user)
        field = self.fields["member"]
        field.queryset = others.order_by("user__email")  # type: ignore[attr-defined]
        field.label_from_instance = lambda m: f"{m.user.display_name} ({m.user.email})"  # type: ignore[attr-defined]


class DeleteTeamForm(forms.Form):
    """The address, typed."""

    confirm = forms.CharField(
        label="Address of the team", widget=forms.TextInput(attrs={"autocomplete": "off"})
    )


class RoleForm(forms.Form):
    """The new role of a member."""

    role = forms.ChoiceField(choices=Role.choices)


class InviteForm(forms.Form):
    """Whom to invite, as what, for how long."""

    role = forms.ChoiceField()
    email = forms.EmailField(
        label="E-mail",
        required=False,
        help_text="When given, only the person with this address can use the link.",
    )
    days = forms.IntegerField(
        label="Valid for days",
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
        label="E-mail", widget=forms.EmailInput(attrs={"autocomplete": "username"})
    )
    name = forms.CharField(max_length=120, widget=forms.TextInput(attrs={"autocomplete": "name"}))
    password = forms.CharField(
        strip=False, widget=_NEW_PASSWORD, help_text="At least 10 characters, and no common word."
    )

    def __init__(self, data: Any = None, *, email: str) -> None:  # Django's own shape
        super().__init__(data)
        if email:
            del self.fields["email"]


class TokenForm(forms.Form):
    """What an API token is for."""

    name = forms.CharField(max_length=80, help_text="Where you use it, such as “laptop”.")
    team = forms.ModelChoiceField(Team.objects.none(), empty_label=None)
    scope = forms.ChoiceField(choices=Scope.choices, initial=Scope.WRITE.value)
    days = forms.TypedChoiceField(label="Expires", coerce=int, choices=_TOKEN_DAYS, initial=90)

    def __init__(self, data: Any = None, *, user: User) -> None:  # Django's own shape
        super().__init__(data)
        self.fields["team"].queryset = teams_of(user)  # type: ignore[attr-defined]

    @property
    def expires_at(self) -> datetime | None:
        return days_from_now(self.cleaned_data["days"])


class ServiceForm(forms.Form):
    """The account of a program."""

    name = forms.CharField(max_length=80, help_text="What it is for, such as “nightly checks”.")
    role = forms.ChoiceField(initial=Role.MEMBER.value)

    def __init__(self, data: Any = None, *, role: Role, initial: Any = None) -> None:
        super().__init__(data, initial=initial)
        given = [(value, label) for value, label in roles_below(role) if value != Role.OWNER]
        self.fields["role"].choices = given  # type: ignore[attr-defined]


class ServiceTokenForm(forms.Form):
    """A token of such an account."""

    name = forms.CharField(max_length=80, help_text="Where it is used, such as “CI runner”.")
    scope = forms.ChoiceField(choices=Scope.choices, initial=Scope.WRITE.value)
    days = forms.TypedChoiceField(label="Expires", coerce=int, choices=_TOKEN_DAYS, initial=90)

    @property
    def expires_at(self) -> datetime | None:
        return days_from_now(self.cleaned_data["days"])


class ProfileForm(forms.Form):
    """The name others see."""

    name = forms.CharField(max_length=120, widget=forms.TextInput(attrs={"autocomplete": "name"}))


class PasswordForm(forms.Form):
    """A new password, given by somebody who knows the present one."""

    current = forms.CharField(
        label="Present password",
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )
    password = forms.CharField(
        label="New password",
        strip=False,
        widget=_NEW_PASSWORD,
        help_text="At least 10 characters, and no common word.",
    )

    def __init__(self, data: Any = None, *, user: User) -> None:  # Django's own shape
        super().__init__(data)
        self.user = user

    def clean_current(self) -> str:
        current: str = self.cleaned_data["current"]
        if not self.user.check_password(current):
            raise forms.ValidationError("This is not your present password.")
        return current


class NotificationsForm(forms.Form):
    """What browsers tell of while nobody looks at the page. Its fields are those of `NOTICES`."""

    asks = forms.BooleanField(
        label="An agent needs somebody",
        required=False,
        help_text="A permission or a question waits in a session of your list.",
    )
    ends = forms.BooleanField(label="A turn has ended, or failed", required=False)


class AppearanceForm(forms.Form):
    """Personal tastes."""

    theme = forms.ChoiceField(choices=Theme.choices, required=False, widget=forms.RadioSelect)
    keys_enabled = forms.BooleanField(
        label="Single-key shortcuts",
        required=False,
        help_text="Switch them off when they get in the way of a screen reader or voice control.",
    )
