from __future__ import annotations

from allauth.account.views import LoginView
from django.forms import BaseForm
from django.http import HttpResponse

from teams.forms import SignInForm
from teams.models import User


class SignInView(LoginView):  # type: ignore[misc]  # allauth ships no types
    """allauth's sign-in (safe `next`), with our limits and our status for a wrong form."""

    form_class = SignInForm

    def get_context_data(self, **names: object) -> dict[str, object]:
        # On a server without people the page says where the first one comes in.
        return {**super().get_context_data(**names), "is_new_server": not User.objects.exists()}

    def form_invalid(self, form: BaseForm) -> HttpResponse:
        response: HttpResponse = super().form_invalid(form)
        response.status_code = 422
        if (wait_s := getattr(self.request, "retry_after_s", None)) is not None:
            response.status_code = 429
            response["Retry-After"] = str(wait_s)
        return response
