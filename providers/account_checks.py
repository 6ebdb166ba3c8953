"""The check of an account that was just connected: which models it has, and whether one answers."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from django.utils.translation import gettext as _

from opencode_web.lib.errors import AppError
from opencode_web.lib.outside import asking
from providers.actions.sign_ins import keep_listing
from providers.catalog import Model, known_provider
from providers.effective import used_models
from providers.listings import ask_for_models
from providers.llm.errors import AuthError, NetworkError, ProviderError
from providers.llm.route import UnknownAdapter
from providers.models import ProviderConfig
from providers.offers import is_ready
from providers.pricing import is_priced
from teams.models import User

# Where asking again cannot help before something is changed.
_FATAL = (AuthError, NetworkError)


@dataclass(frozen=True, slots=True)
class Listing:
    """What came of asking for the models. `is_fatal`: no model would answer either. `cause` is for
    operators, as that of the error."""

    count: int = 0
    problem: str = ""
    is_fatal: bool = False
    cause: str = ""


def list_account(row: ProviderConfig, *, actor: User) -> Listing:
    """Ask the provider of an account for its models. Must not be called on an event loop.

    What a server of one's own says is kept, as nobody else knows its models. The list of a provider
    of the catalog says less than the catalog, and names some models otherwise.

    Raises: TooManyRequests.
    """
    with asking(actor.pk):
        return _list(row)


def _list(row: ProviderConfig) -> Listing:
    try:
        listed = ask_for_models(row)
    except ProviderError as exc:
        cause = exc.cause if isinstance(exc, NetworkError) else ""
        return Listing(problem=_(exc.message), is_fatal=isinstance(exc, _FATAL), cause=cause)
    except UnknownAdapter:
        return Listing(problem=_("This provider does not list its models."))
    except AppError as exc:
        return Listing(problem=exc.message, is_fatal=True)
    if listed and known_provider(row.provider_id) is None:
        keep_listing(row, listed)
    return Listing(count=len(listed))


def cheapest(models: Collection[Model]) -> str:
    """Returns: the id of the model that costs least to try; "" without any."""
    ready = [one for one in models if is_ready(one)] or [*models]
    # A model without a price may cost anything.
    ready.sort(key=lambda one: (not is_priced(one.cost), one.cost.base.output, one.id))
    return ready[0].id if ready else ""


def models_to_try(row: ProviderConfig) -> dict[str, str]:
    """Returns: id -> name of the models of an account, the one to try first at the front."""
    models = used_models(row)
    first = cheapest(models.values())
    ordered = sorted(models, key=lambda key: key != first)
    return {key: models[key].name for key in ordered}
