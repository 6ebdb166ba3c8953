from __future__ import annotations

from typing import Any

from allauth.account.adapter import get_adapter
from django import forms
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from opencode_web.first_run import Installation, create_installation
from opencode_web.lib.errors import Forbidden
from opencode_web.setup_key import is_setup_key, remove_setup_key
from teams.actions.attempts import Kind, count_attempt
from teams.http import attempt, client_ip
from teams.models import User


class SetupForm(forms.Form):
    """The first owner."""

    name = forms.CharField(
        label=_("Your name"), max_length=120, widget=forms.TextInput(attrs={"autocomplete": "name"})
    )
    email = forms.EmailField(
        label=_("E-mail"),
        help_text=_("Used to sign in. No e-mail is sent to it."),
        widget=forms.EmailInput(attrs={"autocomplete": "username"}),
    )
    password = forms.CharField(
        label=_("Password"),
        strip=False,
        help_text=_("At least 10 characters, not a common password."),
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )
    team_name = forms.CharField(
        label=_("Team"), max_length=80, help_text=_("For example the name of your company.")
    )

    def clean(self) -> dict[str, Any]:
        """Judge the password beside the other fields, so that all faults are shown at once."""
        data: dict[str, Any] = super().clean() or {}
        if "password" in data:
            person = User(email=data.get("email", ""), name=data.get("name", ""))
            try:
                validate_password(data["password"], person)
            except ValidationError as exc:
                self.add_error("password", exc)
        return data


@require_http_methods(["GET", "POST"])
@never_cache
@sensitive_post_parameters("password")
def setup(request: HttpRequest) -> HttpResponse:
    if User.objects.exists():
        return redirect("account_login")
    key = request.GET.get("key", "")
    if not is_setup_key(key):
        count_attempt(Kind.SETUP, address=client_ip(request))
        raise Forbidden(
            gettext("Open the setup address that the server printed in its terminal at startup.")
        )
    form = SetupForm(request.POST or None)
    if request.method == "POST":
        made = attempt(form, lambda: _install(form, request))
        if made is not None:
            get_adapter(request).login(request, made.user)
            remove_setup_key()
            return redirect("sessions:project", made.team.slug, made.project.pk)
    action = f"{reverse('setup')}?key={key}"
    status = 422 if request.method == "POST" else 200
    return render(request, "setup.html", {"form": form, "action": action}, status=status)


def _install(form: SetupForm, request: HttpRequest) -> Installation:
    return create_installation(**form.cleaned_data, only_first=True, ip=client_ip(request))
