"""Which model of a provider an agent starts with when nobody has named one.

By what the catalog says, not by lists of names: able models that can be paid for, first those that
the provider itself makes or that many offer, then the strongest of the newest.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from datetime import date, timedelta
from decimal import Decimal

from providers.catalog import COMPATIBLE_NPM, Model, Provider
from providers.catalog_file import read_head
from providers.kinds import ProviderKind
from providers.offers import is_ready
from providers.testing import TOUR

# With less, the instructions and tools of an agent leave hardly any room for its work.
ROOMY_TOKENS = 100_000
# What is this much older than the newest is of an earlier generation.
_GENERATION = timedelta(days=45)
# Dearer models are for who chooses them. Units: USD per million tokens written.
_MOST_OUTPUT_PRICE = Decimal(25)
# Ids of Amazon Bedrock that only accounts in that part of the world can call.
_REGIONAL = ("us.", "eu.", "jp.", "au.", "apac.", "us-gov.")
# On trial, whatever its status says.
_TRIAL = re.compile(r"(?<![a-z])(?:preview|alpha|beta|exp|experimental|stealth)(?![a-z])")
# After the name of another model: what is faster, smaller or for a region. A number is a version.
_SUFFIX = re.compile(r"[-:@](?=[a-z])")

_Test = Callable[[Model], bool]


def best_model(provider: Provider) -> Model:
    """Returns: the model to start with; the provider must have one."""
    if provider.kind is ProviderKind.SCRIPTED and TOUR in provider.models:
        return provider.models[TOUR]
    models = [*provider.models.values()]
    found = [one for one in models if is_ready(one)] or models
    for test in _tests(provider, found):
        found = [one for one in found if test(one)] or found
    return max(_newest(found), key=_worth)


def _tests(provider: Provider, models: list[Model]) -> list[_Test]:
    """What is wanted, the most important first; a test that nothing passes does not count."""
    names = frozenset(_name(one) for one in models)
    roots = Counter(_root(one) for one in models)
    own, count = roots.most_common(1)[0]
    has_own = bool(own) and 2 * count > roots.total()
    is_paid = 2 * sum(_written(one) > 0 for one in models) > len(models)
    widely_offered = read_head().get("families")
    known = frozenset(map(str, widely_offered)) if isinstance(widely_offered, list) else frozenset()
    return [
        lambda one: one.capabilities.reasoning,
        lambda one: not one.limit.context or one.limit.context >= ROOMY_TOKENS,
        # What is free beside what is paid for is limited, or on trial.
        lambda one: not is_paid or _written(one) > 0,
        lambda one: not _TRIAL.search(one.id.lower()),
        # It has moved, or will.
        lambda one: "latest" not in one.id,
        # What it makes itself: that is called like it, or is most of what it has.
        lambda one: one.family.startswith(provider.id) or (has_own and _root(one) == own),
        # Other vendors' models on a cloud mostly have to be set up there first.
        lambda one: provider.npm in (COMPATIBLE_NPM, one.npm),
        lambda one: one.family in known,
        lambda one: not _is_variant(one, names),
        lambda one: _written(one) <= _MOST_OUTPUT_PRICE,
    ]


def _name(model: Model) -> str:
    """Without its maker and folders."""
    return model.id.lower().rpartition("/")[2]


def _root(model: Model) -> str:
    return model.family.partition("-")[0]


def _written(model: Model) -> Decimal:
    return model.cost.base.output


def _is_variant(model: Model, names: frozenset[str]) -> bool:
    """Whether it is another model with something after its name, such as fast, pro or a region."""
    name = _name(model)
    return any(name[: found.start()] in names for found in _SUFFIX.finditer(name)) or (
        model.provider_id == "amazon-bedrock" and name.startswith(_REGIONAL)
    )


def _newest(models: list[Model]) -> list[Model]:
    """Returns: those of the newest generation; dates that cannot be read are the oldest."""
    days = {one.id: _released(one) for one in models}
    since = max(days.values()).toordinal() - _GENERATION.days
    return [one for one in models if days[one.id].toordinal() >= since]


def _released(model: Model) -> date:
    try:
        return date.fromisoformat(model.release_date)
    except ValueError:
        return date.min


def _worth(model: Model) -> tuple[Decimal, date, int, bool, str]:
    """The dearest is the one that its vendor holds for the most able."""
    price = model.cost.base
    return (
        price.input + price.output,
        _released(model),
        model.limit.context,
        # The id that every region answers to.
        model.id.startswith("global."),
        model.id,
    )
