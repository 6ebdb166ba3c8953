from __future__ import annotations

from django.contrib.auth import update_session_auth_hash
from django.http import HttpResponse
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from opencode_web.lib.languages import language_of
from teams.actions.browsers import rename_browser
from teams.actions.tastes import remember_taste
from teams.actions.users import change_password, rename_user, set_theme
from teams.browser import BrowserSession
from teams.forms import AppearanceForm, PasswordForm, ProfileForm, ThemeForm
from teams.http import UserRequest, attempt, client_ip, done, show, user_view
from teams.models import Theme
from teams.themes import style_sheet, theme_of, theme_version, to_stored

_TASTES = ("language", "density", "text_size", "high_contrast")


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
    return done(request, _("Saved."), to=reverse("me:profile"))


@require_POST
@sensitive_post_parameters("current", "password")
@user_view
def password(request: UserRequest) -> HttpResponse:
    form = PasswordForm(request.POST, user=request.user, ip=client_ip(request))
    saved = attempt(
        form,
        lambda: change_password(
            request.user, password=form.cleaned_data["password"], ip=client_ip(request)
        ),
    )
    if saved is None:
        return _show_profile(request, status=422, password_form=form)
    before = BrowserSession.of(request.session)
    update_session_auth_hash(request, saved)
    after = BrowserSession.of(request.session)
    if before and after:
        rename_browser(saved, before=before, after=after)
    text = _("Password changed. Other browsers were signed out.")
    return done(request, text, to=reverse("me:profile"))


@require_http_methods(["GET", "POST"])
@user_view
def appearance(request: UserRequest) -> HttpResponse:
    user = request.user
    if request.method == "POST":
        form = AppearanceForm(request.POST)
        if form.is_valid():
            language = form.cleaned_data["language"]
            for key in _TASTES:
                remember_taste(user, key=key, value=form.cleaned_data[key])
            set_theme(user, theme=Theme(form.cleaned_data["theme"]))
            translation.activate(language_of(request, preferred=language))
            return done(request, _("Saved."), to=reverse("me:appearance"))
    else:
        form = AppearanceForm(initial={name: getattr(user, name) for name in (*_TASTES, "theme")})
    status = 422 if form.is_bound else 200
    context: dict[str, object] = {
        "form": form,
        "theme_form": ThemeForm(),
        "own_theme": theme_of(user),
    }
    return show(request, "teams/appearance.html", "teams/_appearance.html", context, status=status)


@require_POST
@user_view
def theme_save(request: UserRequest) -> HttpResponse:
    """Take the colors of a theme file, or go back to ours."""
    user = request.user
    if "remove" in request.POST:
        remember_taste(user, key="colors", value=None)
        return done(request, _("Theme removed."), to=reverse("me:appearance"))
    form = ThemeForm(request.POST, request.FILES)
    if not form.is_valid():
        tastes = {name: getattr(user, name) for name in (*_TASTES, "theme")}
        context: dict[str, object] = {
            "form": AppearanceForm(initial=tastes),
            "theme_form": form,
            "own_theme": theme_of(user),
        }
        page = ("teams/appearance.html", "teams/_own_theme.html")
        return show(request, *page, context, status=422)
    name = form.cleaned_data["name"] or _("Own theme")
    remember_taste(user, key="colors", value=to_stored(name, form.cleaned_data["theme"]))
    return done(request, _("Theme saved."), to=reverse("me:appearance"))


@require_GET
@user_view
def theme_css(request: UserRequest) -> HttpResponse:
    """The person's colors; what the address says changes with them."""
    response = HttpResponse(style_sheet(request.user), content_type="text/css")
    is_current = request.GET.get("v") == theme_version(request.user)
    age = "max-age=31536000, immutable" if is_current else "no-cache"
    response["Cache-Control"] = f"private, {age}"
    return response


def _show_profile(request: UserRequest, *, status: int = 200, **forms: object) -> HttpResponse:
    context: dict[str, object] = {
        "profile_form": ProfileForm(initial={"name": request.user.name}),
        "password_form": PasswordForm(user=request.user),
        "memberships": request.user.memberships.select_related("team").order_by("team__name"),
        **forms,
    }
    return show(request, "teams/profile.html", "teams/_profile.html", context, status=status)
