"""The message field: where it sends to, and what can be chosen beside it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from opencode_web.lib.errors import AppError
from opencode_web.lib.ids import new_id
from opencode_web.lib.json import text_of
from providers.effective import effective_providers
from providers.model_texts import variant_label
from providers.resolve import default_model
from sessions.agents.loader import find_agent, load_agents
from sessions.config.effective import config_data, project_config, session_config
from sessions.config.model import Config
from sessions.models import Project, Session
from sessions.present.frame.choices import Offer, load_off, offers_of, variants_of
from sessions.present.frame.connect import connect_url, remedy_for
from sessions.present.frame.start_place import StartPlace, build_start_place
from sessions.present.place import Place
from sessions.present.projects import labels_of, project_url
from sessions.present.sessions import Header, build_header, model_name
from sessions.wire import to_ms
from teams.models import Team, User


@dataclass(frozen=True)
class Option:
    value: str
    label: str
    selected: bool
    # What a model reads beside text, such as `image pdf`; "" where nobody knows.
    reads: str = ""
    # Of a model: its account has not answered yet.
    is_unproven: bool = False


@dataclass(frozen=True)
class OptionGroup:
    label: str
    options: list[Option]


@dataclass(frozen=True)
class Reason:
    """Why nothing can be sent, and where that is changed."""

    text: str
    url: str
    action: str
    # Of the chosen model: another one may be free of it.
    of_model: bool = False
    # A budget is reached: what is typed is kept, and everybody may look where it is set.
    of_budget: bool = False
    # Where more of it is asked for.
    ask_url: str = ""

    @property
    def locks(self) -> bool:
        """Whether there is nothing to be typed for."""
        return not (self.of_model or self.of_budget)


@dataclass(frozen=True)
class Draft:
    """What somebody has typed and chosen, when it is shown again."""

    text: str = ""
    agent: str = ""
    model: str = ""
    variant: str = ""
    project: str = ""
    # None: nothing was chosen.
    place: str | None = None
    branch: str = ""
    branch_fault: str = ""
    private: bool = False
    # `agent:` or `model:` and a name each: other sessions with the same prompt.
    also: tuple[str, ...] = ()
    error: str = ""
    # What looks like keys in it: its writer is asked whether they are to be hidden.
    keys: tuple[str, ...] = ()
    # The name of a command that is not there: sent again, it is text.
    unknown_command: str = ""
    idempotency: str = ""
    # When it was typed, in milliseconds since the epoch; 0 for what is not kept.
    typed_ms: int = 0


@dataclass(frozen=True)
class Composer:
    url: str
    key: str
    placeholder: str
    text: str
    error: str
    idempotency: str
    agents: list[Option] = field(default_factory=list)
    models: list[OptionGroup] = field(default_factory=list)
    # How long the chosen model thinks; none for one that has no say in it.
    variants: list[Option] = field(default_factory=list)
    projects: list[Option] = field(default_factory=list)
    # Where a new session works; None for one that has begun.
    start: StartPlace | None = None
    # What a new session can be compared with; none for one that has begun.
    also: list[OptionGroup] = field(default_factory=list)
    reason: Reason | None = None
    session: Header | None = None
    rows: int = 1
    choices_url: str = ""
    draft_url: str = ""
    # Milliseconds since the epoch: of the draft, and of the server's clock.
    typed_ms: int = 0
    now_ms: int = 0
    commands_url: str = ""
    mentions_url: str = ""
    # What is about to be in the way.
    note: str = ""
    # As in `Draft`.
    keys: tuple[str, ...] = ()
    unknown_command: str = ""


def session_composer(session: Session, user: User, draft: Draft | None = None) -> Composer:
    """The field in which `user` writes. `session.project.team` should be loaded."""
    draft = draft or Draft()
    project = session.project
    composer = _composer(
        project,
        user,
        session_config(session),
        replace(
            draft,
            agent=draft.agent or session.agent,
            model=draft.model or model_name(session.model),
            variant=draft.variant if draft.model else text_of(session.model, "variant"),
        ),
        url=Place.of(session).url("prompt"),
        key=session.pk,
        placeholder=_("Message the agent"),
        session=build_header(session),
    )
    # Its own worktree may bring others.
    own = f"?session={session.pk}"
    return replace(
        composer,
        commands_url=composer.commands_url + own,
        mentions_url=composer.mentions_url + own,
    )


def start_composer(
    team: Team,
    projects: list[Project],
    user: User,
    draft: Draft | None = None,
    *,
    choose: bool = True,
) -> Composer:
    """For the first prompt of a new session; with `choose` in a project that is picked from a list.

    `projects` must not be empty.
    """
    draft = draft or Draft()
    chosen = next((one for one in projects if one.pk == draft.project), projects[0])
    labels = labels_of(projects)
    options = [Option(one.pk, labels[one.pk], one.pk == chosen.pk) for one in projects]
    composer = _composer(
        chosen,
        user,
        project_config(chosen),
        draft,
        url=reverse("sessions:start", kwargs={"team": team.slug}),
        key="new" if choose else chosen.pk,
        placeholder=_("What should the agent do?"),
        projects=options if choose else options[:1],
    )
    start = build_start_place(
        chosen,
        user,
        place=draft.place,
        branch=draft.branch,
        fault=draft.branch_fault,
        private=draft.private,
    )
    also = _also(composer, draft)
    return replace(composer, start=start, also=also, rows=3)


def _also(composer: Composer, draft: Draft) -> list[OptionGroup]:
    """Every agent and model that the prompt can be sent to as well."""
    groups = [OptionGroup(_("Agents"), composer.agents), *composer.models]
    kinds = ["agent", *("model" for _group in composer.models)]
    return [
        OptionGroup(
            group.label,
            [
                replace(option, value=value, selected=value in draft.also)
                for option in group.options
                for value in [f"{kind}:{option.value}"]
            ],
        )
        for kind, group in zip(kinds, groups, strict=True)
    ]


def _composer(
    project: Project,
    user: User,
    config: Config,
    draft: Draft,
    *,
    url: str,
    key: str,
    placeholder: str,
    projects: list[Option] | None = None,
    session: Header | None = None,
) -> Composer:
    back = reverse("team_home", kwargs={"team": project.team.slug})
    if session is not None:
        back = reverse("sessions:session", kwargs={"team": project.team.slug, "session": key})
    offers, chosen, reason = _offers(
        project, user, config, draft.model, back, is_in_use=session is not None
    )
    return Composer(
        url=url,
        key=key,
        placeholder=placeholder,
        text=draft.text,
        error=draft.error,
        keys=draft.keys,
        unknown_command=draft.unknown_command,
        idempotency=draft.idempotency or new_id("msg"),
        agents=_agents(config, draft.agent),
        models=_groups(offers, chosen),
        variants=_variants(offers, chosen, draft.variant),
        projects=projects or [],
        reason=reason,
        session=session,
        choices_url=reverse("sessions:choices", kwargs={"team": project.team.slug}),
        draft_url=reverse("sessions:draft", kwargs={"team": project.team.slug}),
        typed_ms=draft.typed_ms,
        now_ms=to_ms(timezone.now()),
        commands_url=project_url(project, "commands"),
        mentions_url=project_url(project, "mentions"),
    )


def session_agents(session: Session) -> list[Option]:
    """Who can answer the next prompt; chosen is the agent of the session."""
    return _agents(session_config(session), session.agent)


def _agents(config: Config, chosen: str) -> list[Option]:
    # The one that was used before may be gone.
    chosen = find_agent(config, chosen).name
    return [
        Option(agent.name, agent.name.capitalize(), agent.name == chosen)
        for agent in load_agents(config).values()
        if agent.is_primary
    ]


def _offers(
    project: Project, user: User, config: Config, chosen: str, back: str, *, is_in_use: bool
) -> tuple[list[Offer], str, Reason | None]:
    """`is_in_use`: a session goes on with what is chosen.

    Returns: what can be chosen, what is chosen, and why nothing can.
    """
    data = config_data(project)
    try:
        providers = effective_providers(project.team, data, user=user)
        fallback = default_model(
            project.team, wanted=config.model, config=data, user=user, providers=providers
        )
    except AppError as exc:
        url = connect_url(project.team, back=back)
        return [], "", Reason(exc.message, url, _("Connect a provider"))
    offers = offers_of(providers.values(), chosen, str(fallback))
    if chosen not in {one.ref for one in offers}:
        if off := load_off(project, chosen):
            return offers, chosen, _off(project, off)
        if chosen and is_in_use:
            text = _("%(model)s is no longer offered. Choose another model.") % {"model": chosen}
            return offers, chosen, Reason(text, "", "", of_model=True)
        chosen = str(fallback)
    usable = [one for one in offers if not one.is_keyless or one.ref == chosen]
    keyless = next((one for one in usable if one.is_keyless and one.ref == chosen), None)
    if keyless is None:
        return usable, chosen, None
    remedy = remedy_for(project.team, keyless.provider, back=back)
    reason = Reason(remedy.text, remedy.url or remedy.own_url, remedy.action, of_model=True)
    return usable, chosen, reason


def _off(project: Project, name: str) -> Reason:
    text = _("%(model)s is turned off for this team.") % {"model": name}
    url = reverse("providers:models", kwargs={"team": project.team.slug})
    return Reason(text, url, _("Turn it on"), of_model=True)


def _groups(offers: list[Offer], chosen: str) -> list[OptionGroup]:
    groups: dict[str, OptionGroup] = {}
    for one in offers:
        group = groups.setdefault(one.provider.id, OptionGroup(one.provider.name, []))
        is_unproven = one.provider.is_unproven
        option = Option(one.ref, one.model.name, one.ref == chosen, one.reads, is_unproven)
        group.options.append(option)
    if chosen not in {one.ref for one in offers} and chosen:
        # It stays chosen until somebody takes another one: nothing is changed behind their back.
        option = Option(chosen, _("Not available: %(model)s") % {"model": chosen}, True)
        groups[""] = OptionGroup(_("Not available"), [option])
    return list(groups.values())


def _variants(offers: list[Offer], model: str, chosen: str) -> list[Option]:
    names = next((variants_of(one.model) for one in offers if one.ref == model), [])
    return [Option(name, variant_label(name), name == chosen) for name in names]
