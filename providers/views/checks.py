"""The check of an account: its models are listed, then one is asked for one token."""

from __future__ import annotations

from urllib.parse import urlencode

from django.http import HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from opencode_web.lib.errors import Conflict, NotFound
from opencode_web.lib.outside import waits_outside
from providers.account_checks import Listing, list_account, models_to_try
from providers.catalog import known_provider
from providers.effective import used_models
from providers.key_tests import try_key
from providers.kinds import ProviderKind
from providers.llm.errors import ProviderError
from providers.model_texts import list_models
from providers.models import ProviderConfig
from providers.views.connect import NEXT
from providers.views.holders import Holder, HolderRequest, holder_view
from teams.http import client_ip, show

SHOWN_MODELS = 50


@waits_outside
@require_http_methods(["GET", "POST"])
@holder_view()
def check(request: HolderRequest, *, provider: str) -> HttpResponse:
    """Take one step of the check; the page begins the next one by itself."""
    row = request.holder.account(provider)
    if row.kind == ProviderKind.SCRIPTED:
        raise NotFound("Check", provider)  # nobody is asked
    step = request.POST.get("step", "")
    if step == "call":
        return _call(request, row, request.POST.get("model", "").strip())
    if step == "list":
        listing = list_account(row, actor=request.user)
        row = request.holder.account(provider)
        return _show(request, row, listing=listing)
    return _show(request, row)


def _call(request: HolderRequest, row: ProviderConfig, model: str) -> HttpResponse:
    if not model:
        return _show(request, row, problem=_("Enter a model to test with."), status=422)
    try:
        error = try_key(row, model, actor=request.user, ip=client_ip(request))
    except Conflict as exc:
        return _show(request, row, tested=model, problem=exc.message, status=422)
    return _show(request, row, tested=model, error=error)


def _show(
    request: HolderRequest,
    row: ProviderConfig,
    *,
    listing: Listing | None = None,
    tested: str = "",
    error: ProviderError | None = None,
    problem: str = "",
    status: int = 200,
) -> HttpResponse:
    models = models_to_try(row)
    is_own_server = known_provider(row.provider_id) is None
    chosen = tested or next(iter(models), "")
    works = bool(tested and not error and not problem)
    context: dict[str, object] = {
        "holder": request.holder,
        "row": row,
        "models": models,
        "chosen": chosen,
        "listing": listing,
        "tested": tested,
        "error": error,
        "problem": problem,
        "works": works,
        # The page goes on by itself, once.
        "begins": not (listing or tested or problem),
        "goes_on": bool(listing and not listing.is_fatal and chosen),
        "rows": list_models([*used_models(row).values()][:SHOWN_MODELS]) if is_own_server else [],
        "next": _next(request, request.holder, f"{row.provider_id}/{chosen}") if works else "",
    }
    return show(
        request, "providers/check.html", "providers/_check_steps.html", context, status=status
    )


def _next(request: HolderRequest, holder: Holder, ref: str) -> str:
    """Returns: where the flow goes on: a team chooses its default, the instance who may use it."""
    if holder.access is not None:
        team = {"team": holder.access.team.slug}
        query = urlencode({"model": ref})
        return f"{reverse('sessions:default_model', kwargs=team)}?{query}"
    if holder.is_instance:
        return f"{holder.url('provider', provider=ref.partition('/')[0])}#provider-share"
    return str(request.session.get(NEXT) or holder.url("models"))
