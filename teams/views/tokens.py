from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from opencode_web.lib.errors import NotFound
from opencode_web.lib.public_url import absolute_url
from teams.actions.tokens import create_token, revoke_token
from teams.editors import editor_settings
from teams.forms import TokenForm
from teams.http import UserRequest, attempt, client_ip, done, show, user_view
from teams.models import ApiToken, Scope


@require_http_methods(["GET", "POST"])
@never_cache
@user_view
def tokens(request: UserRequest) -> HttpResponse:
    if request.method != "POST":
        return _show_tokens(request, TokenForm(user=request.user))
    form = TokenForm(request.POST, user=request.user)
    made = attempt(
        form,
        lambda: create_token(
            request.user,
            team=form.cleaned_data["team"],
            name=form.cleaned_data["name"],
            scope=Scope(form.cleaned_data["scope"]),
            expires_at=form.expires_at,
            ip=client_ip(request),
        ),
    )
    if made is None:
        return _show_tokens(request, form, status=422)
    # Not by redirect: the secret would have to wait in a cookie or in the database meanwhile.
    return _show_tokens(request, TokenForm(user=request.user), secret=made[1])


@require_http_methods(["GET", "POST"])
@user_view
def token_revoke(request: UserRequest, *, token: str) -> HttpResponse:
    row = ApiToken.objects.select_related("team").filter(pk=token, user=request.user).first()
    if row is None:
        raise NotFound("Token")
    url = reverse("me:tokens")
    if request.method == "POST":
        revoke_token(row, actor=request.user, ip=client_ip(request))
        return done(request, _("Token %(name)s revoked.") % {"name": row.name}, to=url)
    return ask_to_revoke(request, row, back=url)


def ask_to_revoke(request: HttpRequest, token: ApiToken, *, back: str) -> HttpResponse:
    context = {
        "title": _("Revoke the token %(name)s?") % {"name": token.name},
        "text": _("Programs that use it lose access immediately. This cannot be undone."),
        "action": _("Revoke"),
        "back": back,
    }
    return render(request, "teams/confirm.html", context)


def _show_tokens(
    request: UserRequest, form: TokenForm, *, secret: str = "", status: int = 200
) -> HttpResponse:
    live = request.user.api_tokens.filter(revoked_at=None).select_related("team")
    context: dict[str, object] = {
        "form": form,
        "secret": secret,
        "tokens": live.order_by("-created_at"),
    }
    if secret:
        address = absolute_url(request, settings.BASE_PATH or "/").rstrip("/")
        context["editors"] = editor_settings(address, secret)
    return show(request, "teams/tokens.html", "teams/_tokens.html", context, status=status)
