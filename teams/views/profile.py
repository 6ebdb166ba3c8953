from __future__ import annotations

from django.contrib.auth import update_session_auth_hash
from django.http import HttpResponse
from django.urls import reverse
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from teams.actions.tastes import remember_taste
from teams.actions.users import change_password, rename_user, set_keys_enabled, set_theme
from teams.forms import AppearanceForm, NotificationsForm, PasswordForm, ProfileForm
from teams.http import UserRequest, attempt, client_ip, done, show, user_view
from teams.models import NOTICES, Theme


@require_http_methods(["GET", "POST"])
@user_view
def profile(request: UserRequest) -> HttpResponse:
    if request.method != "POST":
        return _show_profile(request)
    form = ProfileForm(request.POST)
    saved = attempt(
        form,
        lambda: rename_user(request.user, name=form.cleaned_data["name"], ip=client_ip(request)),
    )
    if saved is None:
        return _show_profile(request, status=422, profile_form=form)
    return done(request, "Saved.", to=reverse("me:profile"))


@require_POST
@sensitive_post_parameters("current", "password")
@user_view
def password(request: UserRequest) -> HttpResponse:
    form = PasswordForm(request.POST, user=request.user)
    saved = attempt(
        form,
        lambda: change_password(
            request.user, password=form.cleaned_data["password"], ip=client_ip(request)
        ),
    )
    if saved is None:
        return _show_profile(request, status=422, password_form=form)
    update_session_auth_hash(request, saved)
    text = "Your password is changed. Other browsers are signed out."
    return done(request, text, to=reverse("me:profile"))


@require_http_methods(["GET", "POST"])
@user_view
def appearance(request: UserRequest) -> HttpResponse:
    user = request.user
    if request.method == "POST":
        form = AppearanceForm(request.POST)
        if form.is_valid():
            set_theme(user, theme=Theme(form.cleaned_data["theme"]))
            set_keys_enabled(user, enabled=form.cleaned_data["keys_enabled"])
            return done(request, "Saved.", to=reverse("me:appearance"))
    else:
        form = AppearanceForm(initial={"theme": user.theme, "keys_enabled": user.keys_enabled})
    status = 422 if form.is_bound else 200
    context: dict[str, object] = {"form": form}
    return show(request, "teams/appearance.html", "teams/_appearance.html", context, status=status)


@require_http_methods(["GET", "POST"])
@user_view
def notifications(request: UserRequest) -> HttpResponse:
    user = request.user
    if request.method == "POST":
        form = NotificationsForm(request.POST)
        form.full_clean()  # no answer of two boxes is wrong
        for kind in NOTICES:
            user = remember_taste(user, key=f"notify_{kind}", value=form.cleaned_data[kind])
        return done(request, "Saved.", to=reverse("me:notifications"))
    kinds = user.notified_kinds.split()
    form = NotificationsForm(initial={kind: kind in kinds for kind in NOTICES})
    template = ("teams/notifications.html", "teams/_notifications.html")
    return show(request, *template, {"form": form})


def _show_profile(request: UserRequest, *, status: int = 200, **forms: object) -> HttpResponse:
    context: dict[str, object] = {
        "profile_form": ProfileForm(initial={"name": request.user.name}),
        "password_form": PasswordForm(user=request.user),
        **forms,
    }
    return show(request, "teams/profile.html", "teams/_profile.html", context, status=status)
