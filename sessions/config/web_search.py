"""Which search engine a project's agents ask: what its team has set up, or what its settings name.

Settings name an engine without a key, so the key of the team is only used for the engine and the
address that it was set for.
"""

from __future__ import annotations

from django.utils.translation import gettext as _

from opencode_web.lib.compiled import CompiledQuery
from opencode_web.lib.crypto import DecryptionError, decrypt
from opencode_web.lib.errors import Invalid
from sessions.config.model import Config
from sessions.models import TeamSearch
from tools.features import Features
from tools.search.engine import ADDRESSES, Engine, EngineKind

# These answer without a key, if less often.
KEYLESS = frozenset({EngineKind.EXA, EngineKind.PARALLEL, EngineKind.SEARXNG})
_SEARCH = CompiledQuery(lambda team_id: TeamSearch.objects.filter(pk=team_id), str)


def with_search(features: Features, team_id: str, config: Config) -> Features:
    """Returns: the features with the searches that are switched on. One query."""
    chosen = _choose(_SEARCH.first(team_id), config)
    if chosen is None:
        return features
    return Features(
        **{**vars(features), "websearch": True, "codesearch": chosen[0] is EngineKind.EXA}
    )


def find_engine(team_id: str, config: Config) -> Engine | None:
    """Returns: the engine to ask, with its key; None while search is off.

    Raises: Invalid when the key was encrypted under a key that this server no longer has.
    """
    row = _SEARCH.first(team_id)
    chosen = _choose(row, config)
    if chosen is None:
        return None
    kind, address, has_key = chosen
    key = engine_key(row) if has_key and row is not None else ""
    return Engine(kind, address, key)


def engine_key(row: TeamSearch) -> str:
    """Returns: the key of a team's engine, "" without one. Raises: Invalid."""
    try:
        return decrypt(row.secret) if row.secret else ""
    except DecryptionError as exc:
        raise Invalid(
            _(
                "The key of the search engine cannot be read with this server's SECRET_KEY. Enter "
                "it again under Team settings → Web search."
            )
        ) from exc


def _choose(row: TeamSearch | None, config: Config) -> tuple[EngineKind, str, bool] | None:
    """Returns: which engine, where, and whether with the team's key."""
    wish = config.websearch
    if not wish.enabled:
        return None
    own = EngineKind(row.kind) if row is not None else None
    kind = wish.provider or own
    if kind is None:
        return None
    if row is not None and kind is own and not wish.url:
        return kind, row.address or ADDRESSES.get(kind, ""), bool(row.secret)
    address = wish.url.rstrip("/") if kind is EngineKind.SEARXNG else ADDRESSES[kind]
    return (kind, address, False) if address and kind in KEYLESS else None
