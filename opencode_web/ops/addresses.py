"""The page of private addresses that outgoing connections may reach."""

from __future__ import annotations

from django import forms
from django.http import HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from opencode_web.lib.outbound_policy import places_of_settings
from opencode_web.ops.access import operator_view
from teams.actions.addresses import allow_address, close_address
from teams.http import UserRequest, attempt, client_ip, done, show
from teams.models import AllowedAddress


class AddressForm(forms.Form):
    """A private place to open."""

    place = forms.CharField(
        label=gettext_lazy("Address"),
        max_length=300,
        help_text=gettext_lazy(
            "A host, host:port, IP address or network such as 10.0.5.0/24:443. Without a port, "
            "all ports are allowed."
        ),
    )


@require_http_methods(["GET", "POST"])
@never_cache
@operator_view
def addresses(request: UserRequest) -> HttpResponse:
    """List what is open, and open another place."""
    form = AddressForm(request.POST or None)
    row = attempt(
        form,
        lambda: allow_address(request.user, form.cleaned_data["place"], ip=client_ip(request)),
    )
    if row is not None:
        said = _("%(place)s is now allowed.") % {"place": row.place}
        return done(request, said, to=reverse("ops:addresses"))
    context: dict[str, object] = {
        "form": form,
        "fixed": [str(place) for place in places_of_settings()],
        "rows": AllowedAddress.objects.select_related("created_by").order_by("place"),
    }
    status = 422 if request.method == "POST" else 200
    return show(request, "ops/addresses.html", "ops/_addresses.html", context, status=status)


@require_POST
@operator_view
def address_close(request: UserRequest) -> HttpResponse:
    """Close a place that operators have opened."""
    place = request.POST.get("place", "")
    close_address(request.user, place, ip=client_ip(request))
    said = _("%(place)s is no longer allowed.") % {"place": place}
    return done(request, said, to=reverse("ops:addresses"))
