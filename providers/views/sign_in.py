"""Coming back from the page of a provider that knows this server."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from opencode_web.lib.errors import Invalid
from opencode_web.lib.outside import waits_outside
from providers.access import attempts_led_back
from providers.models import SignInAttempt
from providers.sign_ins import finish_sign_in, return_uri
from providers.views.holders import INSTANCE, NAMESPACES, OWN, TEAM
from teams.http import UserRequest, client_ip, user_view


@waits_outside
@require_GET
@never_cache
@user_view
def sign_in_return(request: UserRequest) -> HttpResponse:
    """Finish the sign-in that the browser comes back from, which its state tells."""
    address = f"{return_uri()}?{request.GET.urlencode()}"
    for attempt in attempts_led_back(request.user, return_uri()):
        try:
            ended = finish_sign_in(attempt, address, ip=client_ip(request))
        except Invalid:
            continue  # it is not the one that this address belongs to
        return redirect(_page_of(ended))
    messages.error(request, _("This sign-in has expired or was not started here. Start again."))
    return redirect("home")


def _page_of(attempt: SignInAttempt) -> str:
    kind = OWN if attempt.owner else TEAM if attempt.team else INSTANCE
    place = {"team": attempt.team.slug} if attempt.team else {}
    return reverse(f"{NAMESPACES[kind]}:sign_in", kwargs={**place, "attempt": attempt.pk})
