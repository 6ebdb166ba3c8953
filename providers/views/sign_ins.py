"""Sign in at a provider: begin, wait or paste, and what came of it."""

from __future__ import annotations

from django.http import HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_POST

from opencode_web.lib.errors import Invalid, NotFound
from opencode_web.lib.outside import waits_outside
from providers import sign_ins
from providers.access import access_attempt
from providers.catalog import known_provider
from providers.llm.sign_in import methods_of
from providers.models import SignInAttempt
from providers.sign_in_forms import SignInForm
from providers.views.connect import show_account
from providers.views.holders import HolderRequest, holder_view
from teams.http import attempt, client_ip, done, go, show

# Slower providers say so themselves; more often no page asks.
LEAST_INTERVAL_S = 3


@waits_outside
@require_POST
@sensitive_post_parameters()
@holder_view()
def begin(request: HolderRequest, *, provider: str) -> HttpResponse:
    """Begin to sign in by one of the provider's methods."""
    holder, known = request.holder, known_provider(provider)
    methods = {one.id: one for one in methods_of(provider) if one.kind != "key"}
    method = methods.get(request.POST.get("method", ""))
    if known is None or method is None:
        raise NotFound("Provider", provider)
    form = SignInForm(request.POST, method=method)
    begun = attempt(
        form,
        lambda: sign_ins.begin_sign_in(
            holder.owner,
            provider,
            method.id,
            form.to_inputs(),
            actor=request.user,
            redirect_uri=sign_ins.return_uri(),
        ),
    )
    if begun is None:
        return show_account(request, known, sign_in_form=form, status=422)
    return go(request, to=holder.url("sign_in", attempt=begun.pk))


@waits_outside
@require_GET
@never_cache
@holder_view()
def sign_in(request: HolderRequest, *, attempt: str) -> HttpResponse:
    """Show how far it is. A sign-in that is asked for its end is asked by this."""
    row = sign_ins.advance_sign_in(_access(request, attempt), ip=client_ip(request))
    if request.htmx and row.status == SignInAttempt.Status.PENDING:
        return HttpResponse(status=204)  # the page stays as it is
    return _show(request, row)


@waits_outside
@require_POST
@sensitive_post_parameters("pasted")
@holder_view()
def finish(request: HolderRequest, *, attempt: str) -> HttpResponse:
    """Finish with the address or the code that the person has brought back."""
    row = _access(request, attempt)
    pasted = request.POST.get("pasted", "").strip()
    if not pasted:
        return _show(request, row, problem=_("Paste the address or the code."), status=422)
    try:
        row = sign_ins.finish_sign_in(row, pasted, ip=client_ip(request))
    except Invalid as exc:
        return _show(request, row, problem=exc.message, status=422)
    return _show(request, row)


@require_POST
@holder_view()
def cancel(request: HolderRequest, *, attempt: str) -> HttpResponse:
    row = _access(request, attempt)
    sign_ins.cancel_sign_in(row)
    to = request.holder.url("account_new", provider=row.provider_id)
    return done(request, _("Sign-in canceled."), to=to)


def _access(request: HolderRequest, attempt_id: str) -> SignInAttempt:
    """Raises: NotFound for what somebody else has begun, or was begun for another holder."""
    row, holder = access_attempt(request.user, attempt_id), request.holder
    if (row.team, row.owner) != (holder.team, request.user if holder.is_own else None):
        raise NotFound("Sign-in", attempt_id)
    return row


def _show(
    request: HolderRequest, row: SignInAttempt, *, problem: str = "", status: int = 200
) -> HttpResponse:
    holder, known = request.holder, known_provider(row.provider_id)
    is_done = row.status == SignInAttempt.Status.COMPLETE
    account = holder.account(row.provider_id) if is_done else None
    context: dict[str, object] = {
        "holder": holder,
        "attempt": row,
        "name": known.name if known else row.provider_id,
        "credential": account.credential if account else None,
        "is_device": row.interval_s > 0,
        "comes_back": row.redirect_uri == sign_ins.return_uri(),
        "every_s": max(LEAST_INTERVAL_S, int(row.interval_s)),
        "fault": sign_ins.fault_text(row) if row.status == SignInAttempt.Status.FAILED else "",
        "problem": problem,
    }
    return show(
        request, "providers/sign_in.html", "providers/_sign_in.html", context, status=status
    )
