"""Connect a provider: choose it, give it a credential. `providers.views.checks` goes on."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_http_methods

from opencode_web.lib.errors import NotFound
from providers import actions
from providers.actions.sign_ins import keep_grant
from providers.catalog import KnownProvider, known_provider
from providers.connect_forms import AccountForm, ServerForm
from providers.connections import update_connection
from providers.directory import load_directory
from providers.llm.sign_in import methods_of
from providers.models import ProviderConfig
from providers.sign_in_forms import SignInForm
from providers.views.holders import Holder, HolderRequest, holder_view
from providers.views.page import attempt_address
from teams.http import client_ip, go, show

# Key of the browser's session: the page that somebody comes from, and goes back to in the end.
NEXT = "connect_next"


@require_GET
@holder_view()
def choose(request: HolderRequest) -> HttpResponse:
    """List what can be connected."""
    _remember_next(request)
    query = request.GET.get("q", "").strip()
    set_up = set(request.holder.rows().values_list("provider_id", flat=True))
    context: dict[str, object] = {
        "holder": request.holder,
        "directory": load_directory(query, set_up=set_up, takes_address=not request.holder.is_own),
        "query": query,
    }
    return show(request, "providers/choose.html", "providers/_choose.html", context)


def take_next(request: HttpRequest) -> str:
    """Returns: the page that the flow was begun from; it is forgotten then. "" for none."""
    return str(request.session.pop(NEXT, ""))


def _remember_next(request: HolderRequest) -> None:
    to = request.GET.get("next", "")
    if not to and request.path == request.holder.url("choose") and "q" not in request.GET:
        request.session.pop(NEXT, None)
    if to and url_has_allowed_host_and_scheme(to, allowed_hosts=None):
        request.session[NEXT] = to


@require_http_methods(["GET", "POST"])
@sensitive_post_parameters()
@holder_view()
def account_new(request: HolderRequest, *, provider: str) -> HttpResponse:
    """Connect a provider of the catalog: by its key or cloud account, or by signing in."""
    holder, known = request.holder, known_provider(provider)
    if known is None:
        raise NotFound("Provider", provider)
    _remember_next(request)
    if request.method != "POST":
        return show_account(request, known)
    row, ip = holder.rows().filter(provider_id=provider).first(), client_ip(request)
    form = _account_form(holder, known, row, request.POST)

    def connect() -> ProviderConfig:
        grant = form.to_grant()
        if grant is not None:
            return keep_grant(holder.owner, provider, grant, actor=request.user, ip=ip)
        given = form.to_arguments()
        if row is None:
            return actions.create_provider(holder.owner, actor=request.user, ip=ip, **given)
        if form.cloud is not None:
            given = {name: given[name] for name in ("connection", "secrets", "key")}
            return update_connection(row, actor=request.user, ip=ip, **given)
        actions.set_key(row, actor=request.user, key=given["key"], ip=ip)
        return row

    connected = attempt_address(request, form, connect)
    if connected is None:
        return show_account(request, known, form=form, status=422)
    return go(request, to=holder.url("check", provider=provider))


def _account_form(
    holder: Holder, known: KnownProvider, row: ProviderConfig | None, data: object = None
) -> AccountForm:
    # The address of an account that is there already is changed on its own page.
    return AccountForm(
        data,
        known=known,
        takes_address=row is None and not holder.is_own,
        is_of_instance=holder.is_instance,
    )


def show_account(
    request: HolderRequest,
    known: KnownProvider,
    *,
    form: AccountForm | None = None,
    sign_in_form: SignInForm | None = None,
    status: int = 200,
) -> HttpResponse:
    """Render the ways to connect a provider, with the form that has errors in its place."""
    holder = request.holder
    row = holder.rows().filter(provider_id=known.id).first()
    credential = row.credential if row else None
    ways = [one for one in methods_of(known.id) if one.kind != "key"]
    context: dict[str, object] = {
        "holder": holder,
        "known": known,
        "form": form or _account_form(holder, known, row),
        "sign_ins": [
            sign_in_form
            if sign_in_form is not None and sign_in_form.method is one
            else SignInForm(method=one)
            for one in ways
        ],
        "is_set_up": credential is not None and not credential.fault,
    }
    return show(
        request, "providers/account.html", "providers/_account.html", context, status=status
    )


@require_http_methods(["GET", "POST"])
@sensitive_post_parameters()
@holder_view()
def server_new(request: HolderRequest) -> HttpResponse:
    """Connect a compatible server by its address."""
    form = ServerForm(request.POST or None)
    ip = client_ip(request)
    row = attempt_address(
        request,
        form,
        lambda: actions.create_provider(
            request.holder.owner, actor=request.user, ip=ip, **form.to_arguments()
        ),
    )
    if row is not None:
        return go(request, to=request.holder.url("check", provider=row.provider_id))
    context: dict[str, object] = {"holder": request.holder, "form": form}
    status = 422 if request.method == "POST" else 200
    return show(request, "providers/server.html", "providers/_server.html", context, status=status)
