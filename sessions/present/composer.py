"""The message field: where it sends to, and what can be chosen beside it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from django.conf import settings
from django.urls import reverse

from opencode_web.lib.errors import AppError
from opencode_web.lib.ids import new_id
from opencode_web.lib.json import JsonObject
from providers.catalog import Model, Provider
from providers.effective import keyless_providers
from providers.facts import ProviderKind
from providers.resolve import default_model, list_providers
from providers.testing import INLINE
from sessions.agents.loader import find_agent, load_agents
from sessions.config import Config
from sessions.effective_config import config_data, project_config, session_config
from sessions.models import Project, Session
from sessions.present.place import Place
from sessions.present.projects import labels_of, project_url
from sessions.present.sessions import Header, build_header, model_name
from teams.models import Team

_PLACES = (
    ("", "Usual place"),
    ("own", "Own worktree"),
    ("project", "Project's folder"),
)


@dataclass(frozen=True)
class Option:
    value: str
    label: str
    selected: bool


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


@dataclass(frozen=True)
class Draft:
    """What somebody has typed and chosen, when it is shown again."""

    text: str = ""
    agent: str = ""
    model: str = ""
    project: str = ""
    place: str = ""
    branch: str = ""
    error: str = ""
    idempotency: str = ""


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
    projects: list[Option] = field(default_factory=list)
    # Where a new session works; none for one that has begun.
    places: list[Option] = field(default_factory=list)
    branch: str = ""
    reason: Reason | None = None
    session: Header | None = None
    rows: int = 1
    commands_url: str = ""
    mentions_url: str = ""


def session_composer(session: Session, draft: Draft | None = None) -> Composer:
    """`session.project.team` should be loaded."""
    draft = draft or Draft()
    project = session.project
    composer = _composer(
        project,
        session_config(session),
        draft,
        url=Place.of(session).url("prompt"),
        key=session.pk,
        placeholder="Message the agent",
        agent=draft.agent or session.agent,
        model=draft.model or model_name(session.model),
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
    team: Team, projects: list[Project], draft: Draft | None = None, *, choose: bool = True
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
        project_config(chosen),
        draft,
        url=reverse("sessions:start", kwargs={"team": team.slug}),
        key="new" if choose else chosen.pk,
        placeholder="What shall the agent do?",
        agent=draft.agent,
        model=draft.model,
        projects=options if choose else options[:1],
    )
    places = [Option(value, label, value == draft.place) for value, label in _PLACES]
    return replace(composer, places=places, branch=draft.branch, rows=3)


def _composer(
    project: Project,
    config: Config,
    draft: Draft,
    *,
    url: str,
    key: str,
    placeholder: str,
    agent: str,
    model: str,
    projects: list[Option] | None = None,
    session: Header | None = None,
) -> Composer:
    models, reason = _models(project, config, model)
    return Composer(
        url=url,
        key=key,
        placeholder=placeholder,
        text=draft.text,
        error=draft.error,
        idempotency=draft.idempotency or new_id("msg"),
        agents=_agents(config, agent),
        models=models,
        projects=projects or [],
        reason=reason,
        session=session,
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


def _models(
    project: Project, config: Config, chosen: str
) -> tuple[list[OptionGroup], Reason | None]:
    data: JsonObject = config_data(project)
    providers = list_providers(project.team, data)
    try:
        fallback = default_model(project.team, wanted=config.model, config=data)
    except AppError as exc:
        url = reverse("providers:models", kwargs={"team": project.team.slug})
        return [], Reason(exc.message, url, "Open the settings")
    names = {f"{one.id}/{model_id}" for one in providers for model_id in one.models}
    if chosen not in names:
        chosen = f"{fallback.provider_id}/{fallback.model_id}"
    keyless = keyless_providers(project.team, providers)
    groups = [
        OptionGroup(
            provider.name,
            [
                Option(f"{provider.id}/{key}", model.name, f"{provider.id}/{key}" == chosen)
                for key, model in provider.models.items()
                if f"{provider.id}/{key}" == chosen
                or (provider.id not in keyless and _is_offered(provider, model))
            ],
        )
        for provider in providers
    ]
    return [group for group in groups if group.options], None


def _is_offered(provider: Provider, model: Model) -> bool:
    if provider.kind is ProviderKind.SCRIPTED and model.id == INLINE:
        return settings.DEBUG  # for developers; the API resolves it for everybody
    return model.status != "hidden"
