"""What a prompt can be sent with: models, how long they think, and agents."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from django.conf import settings
from django.utils.translation import gettext as _

from opencode_web.lib.templatetags.ui import tokens
from providers.catalog import Model, Provider
from providers.effective import keyless_providers
from providers.kinds import ProviderKind
from providers.model_texts import abilities, price_line, status_label, variant_label
from providers.resolve import list_providers, parse_ref, switched_off
from providers.testing import INLINE
from sessions.agents.loader import Agent, find_agent, load_agents
from sessions.config.effective import config_data
from sessions.config.model import Config
from sessions.models import Project
from sessions.present.frame.builtin import describe
from sessions.present.frame.connect import Remedy, remedy_for
from sessions.rules.in_force import agent_ruleset
from teams.models import Team, User
from tools.permissions.rules import Action, Ruleset, evaluate, is_hidden

# Keys of a person's preferences: names as `provider/model`, the newest first.
FAVOURITES = "models_favourite"
RECENT = "models_recent"
MAX_RECENT = 5
MAX_FAVOURITES = 50


@dataclass(frozen=True)
class Offer:
    """A model of the team. Without a key for its provider it is shown, but cannot be chosen."""

    provider: Provider
    model: Model
    is_keyless: bool

    @property
    def ref(self) -> str:
        return f"{self.provider.id}/{self.model.id}"

    @property
    def reads(self) -> str:
        """Kinds of files that it is given as they are, such as `image pdf text`."""
        return " ".join(sorted(self.model.capabilities.input))


@dataclass(frozen=True)
class Choice:
    """`find` is what a filter looks into; `variants` those of a model, as JSON [[value, label]];
    `reads` the kinds of files that it is given as they are.
    """

    value: str
    label: str
    detail: str
    chips: list[str] = field(default_factory=list)
    find: str = ""
    variants: str = ""
    reads: str = ""
    selected: bool = False
    blocked: bool = False
    # None where nothing can be a favourite.
    favourite: bool | None = None


@dataclass(frozen=True)
class ChoiceGroup:
    label: str
    choices: list[Choice]
    # Why none of them can be chosen.
    remedy: Remedy | None = None


def load_offers(project: Project, user: User, *also: str) -> list[Offer]:
    """Every model that a person is offered, by provider, and these whatever they are."""
    return offers_of(list_providers(project.team, config_data(project), user=user), *also)


def offers_of(providers: Collection[Provider], *also: str) -> list[Offer]:
    """The same of what is loaded."""
    keyless = keyless_providers(providers)
    offers = [
        Offer(provider, model, provider.id in keyless)
        for provider in providers
        for model in provider.models.values()
    ]
    return [one for one in offers if one.ref in also or _is_offered(one)]


def load_off(project: Project, name: str) -> str:
    """Returns: the name of a model, as `provider/model`, that the team has switched off."""
    provider, slash, _model = name.partition("/")
    if not (provider and slash):
        return ""
    return switched_off(project.team, parse_ref(name), config_data(project))


def _is_offered(offer: Offer) -> bool:
    if offer.provider.kind is ProviderKind.SCRIPTED and offer.model.id == INLINE:
        return settings.DEBUG  # for developers; the API resolves it for everybody
    return offer.model.status != "hidden"


def model_choices(
    project: Project, user: User, chosen: str, *, in_use: str = "", back: str = ""
) -> list[ChoiceGroup]:
    """Favourites first, then what this person used last, then the rest of each provider.

    Before them what is chosen or `in_use` by the session, with the reason, where it is not offered.
    `back` is the page that somebody returns to who connects a provider.
    """
    used = [name for name in dict.fromkeys((chosen, in_use)) if name]
    offers = {one.ref: one for one in load_offers(project, user, *used)}
    favourites = _names(user, FAVOURITES)
    groups = [
        _withheld(project, name, offers.get(name), is_chosen=name == chosen)
        for name in used
        if name not in offers or not _is_offered(offers[name])
    ]
    shown = {group.choices[0].value for group in groups}
    for label, names in (
        (_("Favorites"), favourites),
        (_("Recently used"), _names(user, RECENT)[:MAX_RECENT]),
    ):
        first = [offers[name] for name in names if name in offers and name not in shown]
        shown |= {one.ref for one in first}
        if first:
            groups.append(ChoiceGroup(label, _rows(first, chosen, favourites)))
    left: dict[str, list[Offer]] = {}
    for one in offers.values():
        if one.ref not in shown:
            left.setdefault(one.provider.id, []).append(one)
    ordered = sorted(left.values(), key=lambda rows: _late(rows[0]))
    return groups + [_group(project.team, rows, chosen, favourites, back) for rows in ordered]


def _late(offer: Offer) -> tuple[bool, bool]:
    """Providers without a key are last, and before them the demo, which is no real model."""
    return offer.is_keyless, offer.provider.kind is ProviderKind.SCRIPTED


def _withheld(project: Project, name: str, offer: Offer | None, *, is_chosen: bool) -> ChoiceGroup:
    """A model that is in use and not offered. Where it still works, it can be taken again."""
    variants = reads = ""
    if offer is not None:
        title, label = _("In use, but not offered"), offer.model.name
        variants, reads = _variants_json(offer.model), offer.reads
        if offer.model.status != "hidden":
            detail = _("For developers: it plays a script that is in the message.")
        else:
            detail = _("It is hidden. It works as long as the provider serves it.")
    elif label := load_off(project, name):
        title = _("Turned off for this team")
        detail = _("An admin can turn it on again. Choose another one to continue.")
    else:
        title, label = _("No longer offered"), name
        detail = _("No provider of this team has it any more. Choose another one to continue.")
    row = Choice(
        name,
        label,
        detail,
        find=f"{label} {name}".lower(),
        variants=variants,
        reads=reads,
        selected=is_chosen,
        blocked=offer is None or offer.is_keyless,
    )
    return ChoiceGroup(title, [row])


def _names(user: User, key: str) -> list[str]:
    kept = user.preferences.get(key)
    return [one for one in kept if isinstance(one, str)] if isinstance(kept, list) else []


def _group(
    team: Team, rows: Sequence[Offer], chosen: str, favourites: Sequence[str], back: str
) -> ChoiceGroup:
    provider = rows[0].provider
    remedy = remedy_for(team, provider, back=back) if rows[0].is_keyless else None
    choices = _rows(rows, chosen, favourites, below=provider)
    return ChoiceGroup(provider.name, choices, remedy)


def _rows(
    rows: Iterable[Offer], chosen: str, favourites: Sequence[str], *, below: Provider | None = None
) -> list[Choice]:
    """`below`: the heading is the name of that provider, so that no row repeats it."""
    return [
        Choice(
            value=one.ref,
            label=one.model.name,
            detail=_facts(one, names_provider=below is None),
            chips=_status(one),
            find=f"{one.model.name} {one.ref} {one.provider.name}".lower(),
            variants=_variants_json(one.model),
            reads=one.reads,
            selected=one.ref == chosen,
            blocked=one.is_keyless,
            favourite=one.ref in favourites,
        )
        for one in rows
    ]


def _status(offer: Offer) -> list[str]:
    found = [label] if (label := status_label(offer.model)) else []
    row = offer.provider.account
    if row is not None and row.is_personal:
        found.append(_("Your account"))
    if offer.is_keyless:
        is_signed_out = row is not None and row.credential is not None
        lacks = _("Signed out") if is_signed_out else _("No key")
        found.append(_("Incomplete") if offer.provider.missing else lacks)
    return found


def _facts(offer: Offer, *, names_provider: bool) -> str:
    model = offer.model
    words = [offer.provider.name] if names_provider else []
    if model.limit.context:
        words.append(_("%(size)s context") % {"size": tokens(model.limit.context)})
    return " · ".join([*words, price_line(model), *abilities(model)])


def variants_of(model: Model) -> list[str]:
    """The amounts of thinking that can be chosen, the usual one first; none where there is no say
    in it.
    """
    return ["", *model.variants] if model.variants else []


def _variants_json(model: Model) -> str:
    return json.dumps([(name, variant_label(name)) for name in variants_of(model)])


def variant_choices(offers: Iterable[Offer], model: str, chosen: str) -> list[ChoiceGroup]:
    """How long a model thinks; nothing for one that has no say in it."""
    names = next((variants_of(one.model) for one in offers if one.ref == model), [])
    details = {
        "": _("The provider's default"),
        "low": _("Quick and cheap"),
        "high": _("Thorough, but slower and more expensive"),
    }
    rows = [
        Choice(
            value=name,
            label=variant_label(name),
            detail=details.get(name, ""),
            find=variant_label(name).lower(),
            selected=name == chosen,
        )
        for name in names
    ]
    return [ChoiceGroup("", rows)] if rows else []


def agent_choices(project: Project, config: Config, chosen: str) -> list[ChoiceGroup]:
    name = find_agent(config, chosen).name
    rows = [
        Choice(
            value=agent.name,
            label=agent.name.capitalize(),
            detail=" · ".join(
                filter(None, (describe(agent.description), _hint(project, config, agent)))
            ),
            find=f"{agent.name} {describe(agent.description)}".lower(),
            selected=agent.name == name,
        )
        for agent in load_agents(config).values()
        if agent.is_primary
    ]
    return [ChoiceGroup("", rows)]


def _hint(project: Project, config: Config, agent: Agent) -> str:
    """What it may do without asking, in a few words; single commands and files may differ."""
    ruleset = agent_ruleset(project, agent, config)
    edits, shell = _leave("edit", ruleset), _leave("bash", ruleset)
    texts = {
        (Action.DENY, Action.DENY): _("changes no files, runs no commands"),
        (Action.DENY, Action.ASK): _("changes no files, asks before commands"),
        (Action.DENY, Action.ALLOW): _("changes no files"),
        (Action.ASK, Action.DENY): _("asks before changes, runs no commands"),
        (Action.ASK, Action.ASK): _("asks before changes and commands"),
        (Action.ASK, Action.ALLOW): _("asks before changes"),
        (Action.ALLOW, Action.DENY): _("runs no commands"),
        (Action.ALLOW, Action.ASK): _("asks before commands"),
        (Action.ALLOW, Action.ALLOW): _("changes files and runs commands without asking"),
    }
    return texts[edits, shell]


def _leave(permission: str, ruleset: Ruleset) -> Action:
    return (
        Action.DENY
        if is_hidden(permission, ruleset)
        else evaluate(permission, "*", ruleset).for_clients
    )
