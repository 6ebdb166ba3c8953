"""Which permission rules are in force for an agent in a session.

What `tools.permissions.evaluate` makes of them: session rules and saved answers loosen what is
asked for and tighten everything, but open nothing that the agent, team or project denies.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from opencode_web.lib.compiled import CompiledQuery
from opencode_web.lib.json import JsonObject
from sessions.agents.loader import Agent, find_agent
from sessions.config import project_config
from sessions.models import Project, SavedRule, Session
from tools.permissions import (
    DEFAULTS,
    MAX_PATTERN_CHARS,
    Action,
    Layer,
    Rule,
    Ruleset,
    asked_as,
    evaluate,
    parse_ruleset,
)

# In place of a `*`: longer than any row of `?` can be.
_LONG = "\0" * (MAX_PATTERN_CHARS + 1)
_SAVED = CompiledQuery(
    lambda project_id: SavedRule.objects.filter(project=project_id).order_by("pk"), str
)


def agent_ruleset(project: Project, agent: Agent) -> Ruleset:
    """Defaults, the agent's own, the team's and project's, then the project's for this agent."""
    config = project_config(project)
    own = config.agent.get(agent.name)
    return (*DEFAULTS, *agent.rules, *config.rules(), *(own.rules() if own else ()))


def inherited_rules(
    session: Session, caller: str, agent: Agent, *, may_spawn: bool
) -> list[JsonObject]:
    """The rules of a sub-agent's session, so that it may never do more than its caller.

    What the caller's agent asks for or denies beyond the defaults, then the rules of the caller's
    session; denials last, since nothing opens those. Rules of the team and the project hold for
    both anyway.
    """
    config = project_config(session.project)
    above = agent_ruleset(session.project, find_agent(config, caller))
    strict = [
        replace(rule, action=action)
        for rule in above
        if (action := _strictest(rule, above)) is not Action.ALLOW
    ]
    own = parse_ruleset(session.permission)
    rules = [
        *(rule for rule in strict if rule.action is Action.ASK),
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
    return next(one for one in (Action.DENY, Action.ASK, Action.ALLOW) if one in answers)


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


def session_ruleset(session: Session, agent_name: str) -> Ruleset:
    """What decides a call of this agent: its rules, the session's, the saved "always" answers."""
    project = session.project
    agent = find_agent(project_config(project), agent_name)
    own = parse_ruleset(session.permission)
    return (
        *agent_ruleset(project, agent),
        *(replace(rule, layer=Layer.SESSION) for rule in own),
        *(
            Rule(row.permission, row.pattern, Action.ALLOW, Layer.SAVED)
            for row in _SAVED.all(project.pk)
        ),
    )
