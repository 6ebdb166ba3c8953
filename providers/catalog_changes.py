"""What a newer catalog has in place of an older one, and whether it can be one. Values only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from opencode_web.lib.json import JsonObject
from providers.catalog_file import Api
from providers.llm import has_adapter

# Of each kind of change so many are named.
NAMED = 20
# A source that has lost more of its providers or models than this is broken, not newer.
_MOST_LOST = 1 / 3


class RefusedCatalog(ValueError):
    """It is not taken, and the one before stays; the message says why."""


@dataclass(frozen=True, slots=True)
class Changes:
    """Names of what differs; models are named provider/model."""

    providers_added: tuple[str, ...] = ()
    providers_removed: tuple[str, ...] = ()
    # Their new addresses are not used, because keys were given for the old ones.
    addresses_kept: tuple[str, ...] = ()
    models_added: tuple[str, ...] = ()
    models_removed: tuple[str, ...] = ()
    models_deprecated: tuple[str, ...] = ()
    prices_changed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return any(getattr(self, one.name) for one in fields(self))

    def to_data(self) -> JsonObject:
        """Returns: how many there are of each kind, and the first of them, for the audit."""
        return {one.name: _counted(getattr(self, one.name)) for one in fields(self)}


def check_catalog(api: Api, older: Api) -> None:
    """Raises: RefusedCatalog for one that has lost too much."""
    for kind, now, before in (
        ("providers", len(api), len(older)),
        ("models", _models_in(api), _models_in(older)),
    ):
        if now < before * (1 - _MOST_LOST):
            raise RefusedCatalog(
                f"it has {now} {kind}, and the catalog in use has {before}. If that is right, run "
                "manage.py refresh_catalog with --force."
            )


def keep_addresses(api: Api, older: Api) -> tuple[str, ...]:
    """Put back, in place, where the keys of known providers go.

    A row has the address that its key was given for (see `moved_places`), unless that is its
    adapter's own or belongs to an account. Whoever can change the catalog must not get those keys.

    Returns: the ids of the providers whose new addresses are not used.
    """
    kept = []
    for key in sorted(api.keys() & older.keys()):
        before, now = older[key], api[key]
        place = str(before.get("api") or "")
        if _is_plain(place) or not (place or has_adapter(str(before.get("npm", "")))):
            continue
        if (place, before.get("npm")) != (now.get("api") or "", now.get("npm")):
            kept.append(key)
            now["npm"] = before.get("npm")
            now["api"] = before.get("api")
    return tuple(kept)


def moved_places(api: Api, older: Api) -> dict[str, str]:
    """Returns: id -> plain address in `older` of the providers that have another one in `api`."""
    places = {key: str(one.get("api") or "") for key, one in older.items()}
    return {
        key: place
        for key, place in places.items()
        if _is_plain(place) and place != (api.get(key, {}).get("api") or "")
    }


def compare(api: Api, older: Api, *, kept: Iterable[str] = ()) -> Changes:
    """Returns: what `api` has changed; renewed dates and texts do not count."""
    before, now = _named_models(older), _named_models(api)
    both = sorted(before.keys() & now.keys())
    return Changes(
        providers_added=_sorted(api.keys() - older.keys()),
        providers_removed=_sorted(older.keys() - api.keys()),
        addresses_kept=tuple(kept),
        models_added=_sorted(now.keys() - before.keys()),
        models_removed=_sorted(before.keys() - now.keys()),
        models_deprecated=tuple(
            name for name in both if _is_deprecated(now[name]) and not _is_deprecated(before[name])
        ),
        prices_changed=tuple(
            name for name in both if now[name].get("cost") != before[name].get("cost")
        ),
    )


def _is_plain(place: str) -> bool:
    return bool(place) and "${" not in place


def _counted(names: tuple[str, ...]) -> str:
    if not names:
        return ""
    more = ", …" if len(names) > NAMED else ""
    return f"{len(names)}: {', '.join(names[:NAMED])}{more}"


def _named_models(api: Api) -> dict[str, Mapping[str, Any]]:
    return {f"{key}/{name}": one for key in api for name, one in api[key]["models"].items()}


def _models_in(api: Api) -> int:
    return sum(len(provider["models"]) for provider in api.values())


def _is_deprecated(model: Mapping[str, Any]) -> bool:
    return model.get("status") == "deprecated"


def _sorted(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(names))
