from __future__ import annotations

from allauth.account.utils import get_next_redirect_url
from allauth.account.views import LoginView
from celery import current_app
from django.conf import settings
from django.contrib import messages
from django.forms import BaseForm
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST
from kombu.exceptions import OperationalError

from opencode_web.lib.errors import NotFound, Unavailable
from teams.actions.attempts import Kind, count_attempt
from teams.actions.resets import ResetUnusable, find_reset, use_reset
from teams.forms import CompanyForm, ForgotForm, NewPasswordForm, SignInForm
from teams.http import attempt, client_ip, done
from teams.identity.openid import begin
from teams.models import IdentityProvider, User


class SignInView(LoginView):  # type: ignore[misc]  # allauth ships no types
    """allauth's sign-in (safe `next`), with our limits and our status for a wrong form."""

    form_class = SignInForm

    def get_context_data(self, **names: object) -> dict[str, object]:
        providers = IdentityProvider.objects.filter(is_enabled=True).order_by("name")
        # On a server without people the page says where the first one comes in.
        return {
            **super().get_context_data(**names),
            "is_new_server": not User.objects.exists(),
            "sends_mail": bool(settings.SMTP_URL),
            "providers": providers,
            "company_form": CompanyForm() if any(row.domains for row in providers) else None,
        }

    def form_invalid(self, form: BaseForm) -> HttpResponse:
        response: HttpResponse = super().form_invalid(form)
        response.status_code = 422
        if (wait_s := getattr(self.request, "retry_after_s", None)) is not None:
            response.status_code = 429
            response["Retry-After"] = str(wait_s)
        return response


@require_POST
def sign_in_with(request: HttpRequest, slug: str) -> HttpResponse:
    """Go to an identity provider: to sign in, or to connect it to the account in hand."""
    connects = request.POST.get("process") == "connect" and request.user.is_authenticated
    # allauth judges it again before anybody is sent there.
    next_url = get_next_redirect_url(request) or ""
    return begin(request, slug, process="connect" if connects else "login", next_url=next_url)


@require_POST
def sign_in_company(request: HttpRequest) -> HttpResponse:
    """Go to the provider of an address's domain."""
    form = CompanyForm(request.POST)
    email = form.cleaned_data["company_email"] if form.is_valid() else ""
    rows = IdentityProvider.objects.filter(is_enabled=True).order_by("name")
    row = next((row for row in rows if row.covers(email)), None)
    if row is None:
        messages.error(request, _("No identity provider is set up for this e-mail domain."))
        return redirect("account_login")
    return begin(request, row.slug, process="login", next_url=get_next_redirect_url(request) or "")


@require_http_methods(["GET", "POST"])
@never_cache
def forgot(request: HttpRequest) -> HttpResponse:
    """Have a link mailed to reset a password. Nothing tells whether there is such an account."""
    if not settings.SMTP_URL:
        raise NotFound("Page")
    form = ForgotForm(request.POST if request.method == "POST" else None)
    if not form.is_valid():
        status = 422 if request.method == "POST" else 200
        return render(request, "account/forgot.html", {"form": form}, status=status)
    email = form.cleaned_data["email"]
    count_attempt(Kind.RESET, address=client_ip(request), account=email)
    try:
        # Not here, as how long it takes would tell who has an account.
        current_app.send_task("teams.mail_reset", args=[email], ignore_result=True)
    except OperationalError as exc:
        raise Unavailable(_("No mail can be sent at the moment. Try again later.")) from exc
    said = _("If there is an account with this address and a password, a link is on its way.")
    return done(request, said, to=reverse("account_login"))


@require_http_methods(["GET", "POST"])
@never_cache
@sensitive_post_parameters("password")
def reset(request: HttpRequest, token: str) -> HttpResponse:
    """Set a new password with a link."""
    try:
        link = find_reset(token)
    except ResetUnusable:
        count_attempt(Kind.RESET, address=client_ip(request))
        raise
    form = NewPasswordForm(request.POST if request.method == "POST" else None)
    user = attempt(
        form,
        lambda: use_reset(link, password=form.cleaned_data["password"], ip=client_ip(request)),
    )
    if user is not None:
        return done(request, _("Password changed. Sign in with it."), to=reverse("account_login"))
    status = 422 if request.method == "POST" else 200
    context = {"form": form, "email": link.user.email}
    return render(request, "account/reset.html", context, status=status)
