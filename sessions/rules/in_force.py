"""Which permission rules are in force for an agent in a session, of all levels.

What becomes of a call under them, and what each level can do: `tools.permissions.rules`.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from django.db.models import Q, QuerySet

from opencode_web.lib.compiled import CompiledQuery
from opencode_web.lib.json import JsonObject
from sessions.agents.loader import Agent, find_agent
from sessions.config.effective import session_config
from sessions.config.model import Config
from sessions.mcp.servers import asked_for_servers, running
from sessions.models import Project, SavedRule, Session
from sessions.repository.custom_tools import asked_for, offered_by
from sessions.rules.policy import policy_rules
from sessions.rules.sources import Loaded, load, sources_of
from tools.installed import asked_for_installed
from tools.permissions.config import parse_ruleset
from tools.permissions.defaults import DEFAULTS, READ_ONLY_SESSION
from tools.permissions.rules import (
    ASKS,
    MAX_PATTERN_CHARS,
    Action,
    Level,
    Rule,
    Ruleset,
    asked_as,
    evaluate,
)

logger = logging.getLogger(__name__)
_ASK_ALL = Rule("*", "*", Action.ASK, Level.UNREADABLE)
# In place of a `*`: longer than any row of `?` can be.
_LONG = "\0" * (MAX_PATTERN_CHARS + 1)


def _in_every_session(project: object, team: object) -> Q:
    """Which "always" answers hold in all of a project, its team's among them."""
    return Q(project=project, session=None) | Q(team=team)


_SAVED = CompiledQuery(
    lambda session_id, project_id, team_id: SavedRule.objects.filter(
        Q(session=session_id) | _in_every_session(project_id, team_id)
    ).order_by("pk"),
    str,
    str,
    str,
)


@dataclass(frozen=True)
class Setup:
    """What a step of a session goes by, as read once at its boundary.

    `problems` say which of the rules cannot be read, in sentences.
    """

    config: Config
    agent: Agent
    ruleset: Ruleset
    problems: tuple[str, ...] = ()


def agent_ruleset(project: Project, agent: Agent, config: Config, directory: str = "") -> Ruleset:
    """The defaults, what the agent itself says, and the levels above a session.

    `directory` is where the session works, by default the project's own folder, and `config` what
    is in force there.
    """
    return _above(project, agent, config, directory or project.directory)[0]


def _above(
    project: Project, agent: Agent, config: Config, directory: str
) -> tuple[Ruleset, list[Loaded]]:
    levels = [load(source) for source in sources_of(project, directory)]
    ruleset = (
        *DEFAULTS,
        *asked_for_installed(),
        *asked_for_servers(running(config.mcp)),
        *asked_for(offered_by(project, config.brought)),
        *agent.rules,
        *(rule for level in levels for rule in level.rules.rules_for(agent.name)),
    )
    return ruleset, levels


def inherited_rules(
    session: Session, caller: str, agent: Agent, config: Config, *, may_spawn: bool
) -> list[JsonObject]:
    """The rules of a sub-agent's session, so that it may never do more than its caller.

    What the caller's agent asks for or denies, then the rules of the caller's session; denials
    last, since nothing opens those.
    """
    above = agent_ruleset(session.project, find_agent(config, caller), config, session.worktree)
    strict = [
        replace(rule, action=action)
        for rule in above
        if (action := _strictest(rule, above)) is not Action.ALLOW
    ]
    own, _ = _of_session(session)
    rules = [
        *(rule for rule in strict if rule.action in ASKS),
        *own,
        *(rule for rule in strict if rule.action is Action.DENY),
    ]
    named = {rule.permission for rule in agent.rules}
    if "todowrite" not in named:
        # The list belongs to the session of people.
        rules.append(Rule("todowrite", "*", Action.DENY))
    if not may_spawn:
        rules.append(Rule("task", "*", Action.DENY))
    return [
        {"permission": rule.permission, "pattern": rule.pattern, "action": rule.action.value}
        for rule in rules
    ]


def _strictest(rule: Rule, ruleset: Ruleset) -> Action:
    """What becomes of the texts that a rule matches: of the shortest, and of ones so long that no
    row of `?` in another rule can stand for them."""
    answers = {
        evaluate(rule.permission.replace("*", some), rule.pattern.replace("*", text), ruleset)
        for some in ("", _LONG)
        for text in ("", _LONG)
    }
    return next(
        one for one in (Action.DENY, Action.ASK_OTHER, Action.ASK, Action.ALLOW) if one in answers
    )


def with_tools(session: Session, tools: Mapping[str, bool]) -> list[JsonObject]:
    """The rules of a session after a prompt with `tools`: only these, as in OpenCode.

    A sub-agent's session keeps what it has from its caller, its denials last.
    """
    names: dict[str, bool] = {}
    for name, wanted in tools.items():
        names[asked_as(name)] = wanted and names.get(asked_as(name), True)
    wished: list[JsonObject] = [
        {"permission": name, "pattern": "*", "action": "allow" if wanted else "deny"}
        for name, wanted in names.items()
    ]
    if session.parent_id is None:
        return wished
    kept = [rule for rule in session.permission if rule not in wished]
    return [
        *(rule for rule in kept if rule["action"] != "deny"),
        *wished,
        *(rule for rule in kept if rule["action"] == "deny"),
    ]


def saved_rules(project: Project) -> QuerySet[SavedRule]:
    """Returns: the "always" answers that hold in every session of a project, its team's too."""
    return SavedRule.objects.filter(_in_every_session(project, project.team_id))


def session_ruleset(session: Session, agent_name: str) -> Ruleset:
    """What decides a call of this agent: its rules, the session's, the saved "always" answers."""
    return session_setup(session, agent_name).ruleset


def session_setup(session: Session, agent_name: str) -> Setup:
    """Read the settings of a session, its agent and the rules, and what is wrong with those.

    A step does it once and hands it on; a decision on a permission does it anew.
    """
    project = session.project
    config = session_config(session)
    agent = find_agent(config, agent_name)
    above, levels = _above(project, agent, config, session.worktree)
    own, problem = _of_session(session)
    # Where nothing is known of the rules of a level, nothing saved may count.
    is_lost = bool(problem) or any(level.is_lost for level in levels)
    saved = () if is_lost else _SAVED.all(session.top_id, project.pk, project.team_id)
    always = (Rule(row.permission, row.pattern, Action.ALLOW, Level.SAVED) for row in saved)
    problems = [level.problem for level in levels] + [problem]
    policy = policy_rules(project.team.needs_approval, in_project=not session.folder)
    bounds = READ_ONLY_SESSION if session.is_read_only else ()
    ruleset = (*above, *policy, *own, *bounds, *always)
    return Setup(config, agent, ruleset, tuple(filter(None, problems)))


def _of_session(session: Session) -> tuple[Ruleset, str]:
    """Returns: the rules of the session itself, and what is wrong with them."""
    try:
        own = parse_ruleset(session.permission)
    except ValueError as exc:
        logger.error("rules of session %s cannot be read: %s", session.pk, exc)
        # What it denies holds as far as it can be read; the rest is asked for.
        denied = [rule for rule in _readable(session.permission) if rule.action is Action.DENY]
        return (
            (_ASK_ALL, *(replace(rule, level=Level.SESSION) for rule in denied)),
            f"The rules of this session cannot be read ({exc}), so everything is asked for.",
        )
    return tuple(replace(rule, level=Level.SESSION) for rule in own), ""


def _readable(entries: object) -> Iterator[Rule]:
    for entry in entries if isinstance(entries, list) else []:
        with contextlib.suppress(ValueError):
            yield from parse_ruleset([entry])
