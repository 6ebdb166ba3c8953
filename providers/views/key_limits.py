"""How much each key of a provider may be used."""

from __future__ import annotations

from django.http import HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from providers import actions
from providers.forms import KeyLimitsForm
from providers.views.holders import HolderRequest, holder_view
from providers.views.key_items import prefix_of
from providers.views.page import account_url, show_provider
from teams.http import attempt, client_ip, done


@require_POST
@holder_view()
def change(request: HolderRequest, *, provider: str, credential: int) -> HttpResponse:
    row = request.holder.account(provider)
    form = KeyLimitsForm(request.POST, prefix=prefix_of(credential))
    changed = attempt(
        form,
        lambda: actions.limit_key(
            row, credential, actor=request.user, ip=client_ip(request), **form.cleaned_data
        ),
    )
    if changed is None:
        return show_provider(request, row, key_form=form, status=422)
    to = f"{account_url(request.holder, row)}#provider-keys"
    return done(request, _("Limits saved."), to=to)
