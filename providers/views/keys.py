"""The keys of a team: who set which, whether it works, and what it is for."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from opencode_web.lib.errors import Conflict
from providers import actions
from providers.access import access_provider
from providers.account_settings import labels_of
from providers.connections import row_cloud
from providers.credentials import mask
from providers.effective import model_names, offered_models, row_missing, row_needs_key
from providers.forms import KeyForm
from providers.key_tests import try_key
from providers.kinds import ProviderKind
from providers.llm.errors import ProviderError
from providers.models import Credential, ProviderConfig
from teams.http import TeamRequest, attempt, client_ip, done, show, team_view
from teams.models import Role

NAMED_MODELS = 4


@dataclass(frozen=True)
class KeyRow:
    """A provider with its key, as the page has it."""

    config: ProviderConfig
    credential: Credential | None
    models: dict[str, str]
    # Of its account, as the page calls them.
    missing: str = ""

    @property
    def is_cloud(self) -> bool:
        return row_cloud(self.config) is not None

    @property
    def key(self) -> str:
        return mask(self.credential.last4) if self.credential else ""

    @property
    def is_missing(self) -> bool:
        return self.credential is None and row_needs_key(self.config)

    @property
    def known(self) -> int:
        """How many models could be switched on."""
        return len(offered_models(self.config))

    @property
    def used_by(self) -> str:
        names = [*self.models.values()]
        more = len(names) - NAMED_MODELS
        if more <= 0:
            return ", ".join(names)
        shown = ", ".join(names[:NAMED_MODELS])
        return _("%(names)s and %(count)s more") % {"names": shown, "count": more}

    @property
    def fault(self) -> str:
        """What the last test has found, in words."""
        match self.config.test_fault:
            case "AuthError":
                return _("the key was refused")
            case "QuotaExceeded":
                return _("the account has nothing left to spend")
            case "RateLimited":
                return _("too many requests")
            case "NetworkError":
                return _("there was no connection")
            case "UnknownModel":
                return _("it does not know the model")
            case _:
                return _("it did not answer")


@require_GET
@team_view(need=Role.ADMIN)
def keys(request: TeamRequest) -> HttpResponse:
    return _show(request)


@require_POST
@sensitive_post_parameters("key")
@team_view(need=Role.ADMIN)
def provider_key(request: TeamRequest, *, provider: str) -> HttpResponse:
    row = access_provider(request.access, provider)
    form = KeyForm(request.POST)
    ip = client_ip(request)
    made = attempt(
        form,
        lambda: actions.set_key(
            row,
            actor=request.user,
            key=form.cleaned_data["key"],
            # The key was entered for the address that the page showed.
            base_url=request.POST.get("base_url"),
            ip=ip,
        ),
    )
    if made is None:
        faults = [fault for faults in form.errors.values() for fault in faults]
        return _show(request, provider, problem=" ".join(map(str, faults)), status=422)
    said = _("The key of %(name)s is stored. Test it below.") % {"name": row.name}
    return done(request, said, to=f"{_url(request)}#key-of-{row.provider_id}")


@require_POST
@team_view(need=Role.ADMIN)
def provider_test(request: TeamRequest, *, provider: str) -> HttpResponse:
    row = access_provider(request.access, provider)
    model = request.POST.get("model", "").strip()
    if not model or row.kind == ProviderKind.SCRIPTED:
        return _show(request, provider, problem=_("Name a model to test with."), status=422)
    try:
        error = try_key(row, model, actor=request.user, ip=client_ip(request))
    except Conflict as exc:
        return _show(request, provider, problem=exc.message, status=422)
    return _show(request, provider, tested=model, error=error)


@require_http_methods(["GET", "POST"])
@team_view(need=Role.ADMIN)
def provider_key_remove(request: TeamRequest, *, provider: str) -> HttpResponse:
    row = access_provider(request.access, provider)
    if request.method == "POST":
        actions.remove_key(row, actor=request.user, ip=client_ip(request))
        said = _("The key of %(name)s is removed.") % {"name": row.name}
        return done(request, said, to=_url(request))
    used_by = KeyRow(row, None, model_names(row)).used_by
    context = {
        "title": _("Remove the key of %(name)s?") % {"name": row.name},
        "text": _(
            "It is erased and cannot be read again. Until there is another one, no session can go "
            "on with these models: %(models)s."
        )
        % {"models": used_by or _("none")},
        "action": _("Remove"),
        "back": _url(request),
    }
    return render(request, "teams/confirm.html", context)


def _show(
    request: TeamRequest,
    of: str = "",
    *,
    tested: str = "",
    error: ProviderError | None = None,
    problem: str = "",
    status: int = 200,
) -> HttpResponse:
    """Render all keys, and what has become of a form with the provider `of` it is about."""
    every = ProviderConfig.objects.filter(team=request.team)
    configs = every.exclude(kind=ProviderKind.SCRIPTED)
    rows = [
        KeyRow(
            config,
            config.credential,
            model_names(config),
            labels_of(row_missing(config, request.team.config)),
        )
        for config in configs.select_related("team").prefetch_related("credentials__created_by")
    ]
    context: dict[str, object] = {
        "rows": rows,
        "keyless": not rows and every.filter(enabled=True).exists(),
        "of": of,
        "tested": tested,
        "error": error,
        "problem": problem,
    }
    return show(request, "providers/keys.html", "providers/_keys.html", context, status=status)


def _url(request: TeamRequest) -> str:
    return reverse("providers:keys", kwargs={"team": request.team.slug})
