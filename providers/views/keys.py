"""The credentials of accounts: who set which, whether it works, and what it is for."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from opencode_web.lib.errors import Conflict, NotFound
from opencode_web.lib.outside import waits_outside
from providers import actions
from providers.account_settings import labels_of
from providers.connections import row_cloud
from providers.credentials import mask
from providers.effective import offered_models, row_missing, row_needs_key, used_names
from providers.forms import KeyForm
from providers.key_tests import try_key
from providers.kinds import ProviderKind
from providers.llm.errors import ProviderError
from providers.llm.sign_in import methods_of
from providers.models import Credential, ProviderConfig
from providers.sign_ins import sign_out
from providers.views.holders import HolderRequest, holder_view
from providers.wire_errors import words_of
from teams.audit_fields import said_value
from teams.http import attempt, client_ip, done, show

NAMED_MODELS = 4


@dataclass(frozen=True)
class KeyRow:
    """An account with its credentials, as the page has it."""

    config: ProviderConfig
    models: dict[str, str]
    # Of its account, as the page calls them.
    missing: str = ""

    @property
    def credentials(self) -> list[tuple[Credential, str]]:
        """Each with what is shown of it, the first one first."""
        rows = sorted(self.config.credentials.all(), key=lambda one: one.pk)
        return [(one, mask(one.last4)) for one in rows]

    @property
    def has_key(self) -> bool:
        return any(one.kind == Credential.Kind.KEY for one, _masked in self.credentials)

    @property
    def is_cloud(self) -> bool:
        return row_cloud(self.config) is not None

    @property
    def signs_in(self) -> bool:
        """Whether somebody can sign in for it."""
        return any(method.kind != "key" for method in methods_of(self.config.provider_id))

    @property
    def is_missing(self) -> bool:
        return not self.credentials and row_needs_key(self.config)

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
        return fault_label(self.config.test_fault)


def fault_label(fault: str) -> str:
    """Returns: what a test has found, by the class of its error."""
    told = said_value("outcome", fault)
    return _("no response") if told == fault else told


@require_GET
@holder_view()
def keys(request: HolderRequest) -> HttpResponse:
    return _show(request)


@require_POST
@sensitive_post_parameters("key")
@holder_view()
def provider_key(request: HolderRequest, *, provider: str) -> HttpResponse:
    """Replace the key of an account, or add another one beside it."""
    row = request.holder.account(provider)
    form = KeyForm(request.POST)
    ip = client_ip(request)
    # The key was entered for the address that the page showed.
    seen = request.POST.get("base_url")

    def store() -> Credential:
        key, label = form.cleaned_data["key"], form.cleaned_data["label"]
        if request.POST.get("add") == "1":
            return actions.add_key(
                row, actor=request.user, key=key, label=label, base_url=seen, ip=ip
            )
        return actions.set_key(row, actor=request.user, key=key, base_url=seen, ip=ip)

    if attempt(form, store) is None:
        faults = [fault for faults in form.errors.values() for fault in faults]
        return _show(request, provider, problem=" ".join(map(str, faults)), status=422)
    said = _("Key of %(name)s saved. Test it below.") % {"name": row.name}
    return done(request, said, to=f"{_url(request)}#key-of-{row.provider_id}")


@waits_outside
@require_POST
@holder_view()
def provider_test(request: HolderRequest, *, provider: str) -> HttpResponse:
    row = request.holder.account(provider)
    model = request.POST.get("model", "").strip()
    if not model or row.kind == ProviderKind.SCRIPTED:
        return _show(request, provider, problem=_("Enter a model to test with."), status=422)
    try:
        error = try_key(row, model, actor=request.user, ip=client_ip(request))
    except Conflict as exc:
        return _show(request, provider, problem=exc.message, status=422)
    return _show(request, provider, tested=model, error=error)


@waits_outside
@require_http_methods(["GET", "POST"])
@holder_view()
def credential_remove(request: HolderRequest, *, provider: str, credential: int) -> HttpResponse:
    """Forget one credential of an account, after a question."""
    row = request.holder.account(provider)
    one = next((one for one in row.credentials.all() if one.pk == credential), None)
    if one is None:
        raise NotFound("Key", str(credential))
    is_sign_in = one.kind == Credential.Kind.OAUTH
    if request.method != "POST":
        is_last = len(row.credentials.all()) == 1
        return _ask(request, row, is_last=is_last, is_sign_in=is_sign_in)
    ip = client_ip(request)
    if not is_sign_in:
        actions.remove_credential(one, actor=request.user, ip=ip)
        said = _("Key of %(name)s removed.")
    elif sign_out(one, actor=request.user, ip=ip):
        said = _("Signed out of %(name)s.")
    else:
        said = _(
            "The sign-in to %(name)s was removed from this server. Also revoke the access on "
            "the provider's website."
        )
    return done(request, said % {"name": row.name}, to=_url(request))


def _ask(
    request: HolderRequest,
    row: ProviderConfig,
    *,
    is_last: bool = True,
    is_sign_in: bool = False,
) -> HttpResponse:
    text = _("It is deleted permanently. The account's other keys are kept.")
    if is_last:
        used_by = KeyRow(row, used_names(row)).used_by
        text = _(
            "It is deleted permanently. Until you add another one, sessions cannot use these "
            "models: %(models)s."
        ) % {"models": used_by or _("none")}
    title = _("Sign out of %(name)s?") if is_sign_in else _("Remove the key of %(name)s?")
    context = {
        "title": title % {"name": row.name},
        "text": text,
        "action": _("Sign out") if is_sign_in else _("Remove"),
        "back": _url(request),
    }
    return render(request, "teams/confirm.html", context)


def _show(
    request: HolderRequest,
    of: str = "",
    *,
    tested: str = "",
    error: ProviderError | None = None,
    problem: str = "",
    status: int = 200,
) -> HttpResponse:
    """Render all keys, and what has become of a form with the provider `of` it is about."""
    every = request.holder.rows()
    rows = [
        KeyRow(config, used_names(config), labels_of(row_missing(config, config.config)))
        for config in every.exclude(kind=ProviderKind.SCRIPTED)
    ]
    context: dict[str, object] = {
        "holder": request.holder,
        "rows": rows,
        "keyless": not rows and every.filter(enabled=True).exists(),
        "of": of,
        "tested": tested,
        "error": error,
        "fault": words_of(error) if error else "",
        "problem": problem,
    }
    return show(request, "providers/keys.html", "providers/_keys.html", context, status=status)


def _url(request: HolderRequest) -> str:
    return request.holder.url("keys")
