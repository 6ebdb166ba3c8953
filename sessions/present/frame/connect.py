"""The ways from a model that cannot be called to where that is changed."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _

from providers.catalog import Provider, known_provider
from teams.models import OwnAccounts, Team


@dataclass(frozen=True, slots=True)
class Remedy:
    """What keeps a provider's models from being called, and where admins change it.

    `own_url` is where a person connects an account of their own; "" where the team does not let one
    count.
    """

    text: str
    url: str
    action: str
    own_url: str = ""


def remedy_for(team: Team, provider: Provider, *, back: str) -> Remedy:
    """`provider` lacks a credential or a setting. `back` is the page to return to."""
    row, slug = provider.account, {"team": team.slug}
    name = {"provider": provider.name}
    if provider.missing:
        text = _("The setup of %(provider)s is not complete.") % name
        place = {**slug, "provider": provider.id}
        is_of_team = row is not None and row.team_id is not None
        url = reverse("providers:provider" if is_of_team else "providers:account_new", kwargs=place)
        return Remedy(text, url, _("Complete the setup"))
    is_signed_out = row is not None and row.credential is not None
    text = _("The sign-in to %(provider)s has expired.") if is_signed_out else _no_key()
    action = _("Sign in again") if is_signed_out else _("Add a key")
    if known_provider(provider.id) is None:
        url = f"{reverse('providers:keys', kwargs=slug)}#key-of-{provider.id}"
        return Remedy(text % name, url, action)
    query = urlencode({"next": back})
    own = reverse("my_models:account_new", kwargs={"provider": provider.id})
    url = reverse("providers:account_new", kwargs={**slug, "provider": provider.id})
    if is_signed_out and row is not None and row.is_personal:
        return Remedy(text % name, "", "", f"{own}?{query}")
    allows_own = team.own_accounts != OwnAccounts.NEVER
    return Remedy(text % name, f"{url}?{query}", action, f"{own}?{query}" if allows_own else "")


def _no_key() -> str:
    return _("There is no key for %(provider)s.")


def connect_url(team: Team, *, back: str) -> str:
    """Returns: where an admin connects the first provider."""
    query = urlencode({"next": back})
    return f"{reverse('providers:choose', kwargs={'team': team.slug})}?{query}"
