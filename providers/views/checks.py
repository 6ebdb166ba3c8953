"""The check of an account: its models are listed, then one is asked for one token."""

from __future__ import annotations

from dataclasses import dataclass, replace
from urllib.parse import urlencode

from django.http import HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from opencode_web.lib.errors import Conflict, Invalid, NotFound
from opencode_web.lib.outside import waits_outside
from providers import actions
from providers.account_checks import Listing, list_account, models_to_try
from providers.catalog import known_provider
from providers.connections import row_cloud
from providers.credentials import mask
from providers.effective import effective_providers, offered_models, row_needs_key
from providers.forms import KeyForm
from providers.key_tests import try_key
from providers.kinds import ProviderKind
from providers.listed_models import ListedModel, listed_models, read_choice
from providers.llm.errors import NetworkError, ProviderError
from providers.models import Credential, ProviderConfig
from providers.resolve import default_model
from providers.views.connect import NEXT
from providers.views.holders import Holder, HolderRequest, holder_view
from providers.wire_errors import words_of
from teams.access import is_operator
from teams.http import attempt, client_ip, show


@dataclass(frozen=True)
class Step:
    """What came of the step that was taken. Without anything, the page begins to ask by itself."""

    listing: Listing | None = None
    tested: str = ""
    error: ProviderError | None = None
    problem: str = ""
    key_problem: str = ""
    pick_problem: str = ""
    # The models as a form with a fault has them.
    models: tuple[ListedModel, ...] = ()
    goes_on: bool = False

    @property
    def works(self) -> bool:
        return bool(self.tested and not self.error and not self.problem)

    @property
    def fault(self) -> str:
        return words_of(self.error) if self.error else ""

    @property
    def failed(self) -> bool:
        return bool(self.error or self.problem or (self.listing and self.listing.is_fatal))

    @property
    def cause(self) -> str:
        """For operators only."""
        if self.listing:
            return self.listing.cause
        return self.error.cause if isinstance(self.error, NetworkError) else ""

    @property
    def status(self) -> int:
        return 422 if self.problem or self.key_problem or self.pick_problem else 200


@waits_outside
@require_http_methods(["GET", "POST"])
@sensitive_post_parameters("key")
@holder_view()
def check(request: HolderRequest, *, provider: str) -> HttpResponse:
    """Take one step of the check; the page begins the next one by itself."""
    row = request.holder.account(provider)
    if row.kind == ProviderKind.SCRIPTED:
        raise NotFound("Check", provider)  # nobody is asked
    take = {"key": _set_key, "list": _list, "pick": _pick, "call": _call}
    step = take.get(request.POST.get("step", ""))
    taken = step(request, row) if step else Step()
    return _show(request, request.holder.account(provider), taken)


def _set_key(request: HolderRequest, row: ProviderConfig) -> Step:
    form, ip = KeyForm(request.POST), client_ip(request)

    def store() -> Credential:
        seen, key = request.POST.get("base_url"), form.cleaned_data["key"]
        return actions.set_key(row, actor=request.user, key=key, base_url=seen, ip=ip)

    if attempt(form, store) is not None:
        return Step()
    faults = [str(fault) for faults in form.errors.values() for fault in faults]
    return Step(key_problem=" ".join(faults))


def _list(request: HolderRequest, row: ProviderConfig) -> Step:
    listing = list_account(row, actor=request.user)
    # The models of a server of one's own are chosen first.
    return Step(listing, goes_on=not listing.is_fatal and not _is_own_server(row))


def _pick(request: HolderRequest, row: ProviderConfig) -> Step:
    models = listed_models(row)
    choice = read_choice(row, models, request.POST)
    refused = Step(pick_problem=choice.problem, models=tuple(models))
    if choice.problem:
        return refused
    try:
        if choice.picked or choice.unpicked:
            actions.pick_models(
                row,
                actor=request.user,
                models=choice.picked,
                unpicked=choice.unpicked,
                ip=client_ip(request),
            )
    except Invalid as exc:
        return replace(refused, pick_problem=exc.message)
    return Step(Listing(count=len(offered_models(row))), goes_on=True)


def _call(request: HolderRequest, row: ProviderConfig) -> Step:
    model = request.POST.get("model", "").strip()
    if not model:
        return Step(problem=_("Enter a model to test with."))
    try:
        error = try_key(row, model, actor=request.user, ip=client_ip(request))
    except Conflict as exc:
        return Step(tested=model, problem=exc.message)
    return Step(tested=model, error=error)


def _default_of(holder: Holder) -> str:
    """Returns: the name of the team's default model; "" without a team or one."""
    if holder.access is None:
        return ""
    team = holder.access.team
    providers = effective_providers(team, team.config)
    try:
        ref = default_model(team, providers=providers)
    except Invalid:
        return ""
    provider = providers[ref.provider_id]
    return f"{provider.models[ref.model_id].name} ({provider.name})"


def _is_own_server(row: ProviderConfig) -> bool:
    return known_provider(row.provider_id) is None


def _show(request: HolderRequest, row: ProviderConfig, step: Step) -> HttpResponse:
    holder, credential = request.holder, row.credential
    models = models_to_try(row)
    chosen = step.tested or next(iter(models), "")
    begins = step == Step()
    has_form = _is_own_server(row) and not begins
    listed = (step.models or listed_models(row)) if has_form else ()
    context: dict[str, object] = {
        "holder": holder,
        "row": row,
        "credential": credential,
        "key": mask(credential.last4) if credential else "",
        "takes_key": row_cloud(row) is None,
        "needs_key": credential is None and row_needs_key(row),
        "models": models,
        "chosen": chosen,
        "step": step,
        "is_unproven": row.answered_at is None,
        "cause": step.cause if is_operator(request.user) else "",
        "default": _default_of(holder) if step.works else "",
        # The page goes on by itself, once.
        "begins": begins,
        "goes_on": step.goes_on and bool(chosen),
        "listed": listed,
        "hidden_count": len(offered_models(row)) - len(listed) if has_form else 0,
        "next": _next(request, holder, f"{row.provider_id}/{chosen}") if step.works else "",
    }
    page = ("providers/check.html", "providers/_check_steps.html")
    return show(request, *page, context, status=step.status)


def _next(request: HolderRequest, holder: Holder, ref: str) -> str:
    """Returns: where the flow goes on: a team chooses its default, the instance who may use it."""
    if holder.access is not None:
        team = {"team": holder.access.team.slug}
        query = urlencode({"model": ref})
        return f"{reverse('sessions:default_model', kwargs=team)}?{query}"
    if holder.is_instance:
        return f"{holder.url('provider', provider=ref.partition('/')[0])}#provider-share"
    return str(request.session.get(NEXT) or holder.url("models"))
