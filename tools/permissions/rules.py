"""Who may call what: rules and what becomes of a call under them. Pure.

Rules come from levels, each with an author of its own. **Within** a level the last matching rule
counts, as in OpenCode 1.18. **Between** levels a lower one can only tighten:

1. One level that denies is enough. `instance`, `team`, `project`, `repository`, `session` bind so.
   So does the `agent`: what its own rules deny (`plan` edits no files) is opened only by settings
   for that agent by name, not by general ones.
2. Else one level that asks is enough; of the levels above, the agent's asks are mere defaults.
3. The defaults of the server are no level. Where `instance`, `team` or `project` say anything about
   a call, the defaults say nothing. The `repository` loosens not even them. A `session` turns their
   ask into allow, and opens nothing that they deny.
4. An answer "always" satisfies whatever asks, and opens nothing that is denied.
5. One level that asks for a second person is enough, too, and no answer "always" satisfies it.
6. A command that can run or write anything is asked for where a level denies commands, changes or
   reading of files, or wants a second person for some of them; see `Subject`.
7. The `policy` of a team, of what a second person approves, binds like the levels above, and what
   its settings say about the same call cannot open it.
8. Where nobody says anything, it is asked.

What settings say about an agent by name belongs to the level of those settings, after the general
rules there: an admin's word for `build` goes before the same admin's word for all agents.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import TypeAlias

from django.utils.translation import gettext, gettext_noop

from tools.permissions.wildcards import matches, may_match, must_match, names_match


class Action(StrEnum):
    """What happens to a call that a rule matches."""

    ALLOW = "allow"
    ASK = "ask"
    # By somebody who has not prompted the session.
    ASK_OTHER = "ask-other"
    DENY = "deny"

    @property
    def for_clients(self) -> Action:
        """As OpenCode's clients know it."""
        return Action.ASK if self is Action.ASK_OTHER else self


class Reach(IntEnum):
    """What a command can do besides what it is called."""

    NOTHING = 0
    # It changes files, as a tool does that is asked for as `edit`.
    WRITES = 1
    # It can run or write anything.
    ANYTHING = 2


class Level(StrEnum):
    """Whose word a rule is. See the module for what each can do."""

    DEFAULT = "default"
    # The operator of the server, by a setting.
    INSTANCE = "instance"
    # What a team has a second person approve, whatever its settings say.
    POLICY = "policy"
    TEAM = "team"
    PROJECT = "project"
    # Made of the rules that are about the agent by name, whatever their level.
    AGENT = "agent"
    # The opencode.json in the worktree: whoever may write there wrote it.
    REPOSITORY = "repository"
    # The rules of one session, and the `tools` of its prompts.
    SESSION = "session"
    # Stands for a level whose rules cannot be read.
    UNREADABLE = "unreadable"
    # The project's "always" answers.
    SAVED = "saved"


_SETTINGS = (Level.INSTANCE, Level.TEAM, Level.PROJECT)
_DENYING = (Level.POLICY, *_SETTINGS, Level.AGENT, Level.REPOSITORY, Level.SESSION)
_ASKING = (Level.POLICY, *_SETTINGS, Level.REPOSITORY, Level.SESSION, Level.UNREADABLE)
# What a command can do that is asked for by other names.
_EVADED = ("bash", "edit", "read")
ASKS = frozenset({Action.ASK, Action.ASK_OTHER})
_STRICT = frozenset({Action.ASK_OTHER, Action.DENY})
_STOPS = frozenset({Action.ASK, Action.DENY})
_STRICTNESS = {None: 0, Action.ALLOW: 0, Action.ASK: 1, Action.ASK_OTHER: 2, Action.DENY: 3}


@dataclass(frozen=True)
class Rule:
    """One line of a ruleset. Both names are wildcards: `*` any text, `?` one character."""

    permission: str
    pattern: str
    action: Action
    level: Level = Level.DEFAULT
    # Whether it is about the agent by name.
    for_agent: bool = False


Ruleset: TypeAlias = tuple[Rule, ...]

# Every ask is matched against every rule.
MAX_PATTERN_CHARS = 200

# Tools that are asked for under another name.
_ASKED_AS = {"write": "edit", "patch": "edit", "apply_patch": "edit", "multiedit": "edit"}


@dataclass(frozen=True)
class Subject:
    """One thing that an ask is about: a path, or a command of a shell line.

    `others` spell the same differently (`rm x` for `r''m x`). They can only tighten: a rule that
    matches one of them and not `text` counts if it is stricter than what `text` meets.
    `unsure_from` is the beginning of a text whose rest is known when it runs (`git ` of `git $X`):
    then it is asked for as long as a rule could deny or ask for what it becomes, and of a second
    person as long as a rule could want one. With a `reach` it is asked for as long as a rule denies
    something that it could do by another name, or wants a second person for it, unless the same
    level, or a saved answer, allows it by more than a `*`.
    """

    text: str
    others: tuple[str, ...] = ()
    unsure_from: str | None = None
    reach: Reach = Reach.NOTHING


@dataclass(frozen=True)
class Verdict:
    """What becomes of a call, and by which rule; None where no rule says anything."""

    action: Action
    rule: Rule | None = None


def asked_as(tool: str) -> str:
    """Returns: the permission by which a tool's calls are asked for."""
    return _ASKED_AS.get(tool, tool)


def evaluate(permission: str, pattern: str, ruleset: Ruleset) -> Action:
    """Decide one pattern of an ask; without any matching rule the answer is ASK."""
    return judge(permission, (Subject(pattern),), ruleset).action


def decide(permission: str, patterns: Iterable[str], ruleset: Ruleset) -> Action:
    """Decide a whole ask: one denied pattern denies it, and only if all are allowed it is."""
    return judge(permission, map(Subject, patterns), ruleset).action


def judge(
    permission: str, subjects: Iterable[Subject], ruleset: Ruleset, *, opaque: bool = False
) -> Verdict:
    """Decide a whole ask: one denied subject denies it, and only if all are allowed it is.

    `opaque`: nobody can tell what it does, so no saved answer covers it.

    Returns: the strictest verdict, the first of those; ALLOW for no subject at all.
    """
    rules = [rule for rule in ruleset if names_match(permission, rule.permission)]
    if opaque:
        rules = [rule for rule in rules if rule.level is not Level.SAVED]
    denies = _live_denies(ruleset)
    worst: Verdict | None = None
    for subject in dict.fromkeys(subjects):
        verdict = _judge_one(subject, rules, denies)
        if verdict.action is Action.DENY:
            return verdict
        if worst is None or _is_stricter(verdict.action, worst.action):
            worst = verdict
    return worst or Verdict(Action.ALLOW)


def is_hidden(permission: str, ruleset: Ruleset) -> bool:
    """Tell whether tools of this permission are not offered: the last rule of a level denies all.

    The patterns before it do not matter, as in OpenCode.
    """
    last = _last_by_level(rule for rule in ruleset if names_match(permission, rule.permission))
    if any(_denies_all(last.get(level)) for level in _DENYING):
        return True
    opened = any(level in last for level in _SETTINGS)
    return _denies_all(last.get(Level.DEFAULT)) and not opened


def _denies_all(rule: Rule | None) -> bool:
    return rule is not None and rule.pattern == "*" and rule.action is Action.DENY


def _judge_one(subject: Subject, rules: list[Rule], denies: list[Rule]) -> Verdict:
    last = _last_by_level(rule for rule in rules if matches(subject.text, rule.pattern))
    for other in subject.others:
        tighter = _last_by_level(rule for rule in rules if matches(other, rule.pattern))
        for level, rule in tighter.items():
            known = last.get(level)
            if not matches(subject.text, rule.pattern) and _is_stricter(
                rule.action, known.action if known else None
            ):
                last[level] = rule
    verdict = _settle(last)
    start = subject.unsure_from
    if start is not None and verdict.action in (Action.ALLOW, Action.ASK):
        if risk := _risk(start, rules, {Action.ASK_OTHER}):
            verdict = Verdict(Action.ASK_OTHER, risk)
        elif verdict.action is Action.ALLOW and (risk := _risk(start, rules, _STOPS)):
            verdict = Verdict(Action.ASK, risk)
    if verdict.action is Action.ALLOW and (evaded := _evaded(subject.reach, last, denies)):
        return Verdict(Action.ASK, evaded)
    return verdict


def _live_denies(ruleset: Ruleset) -> list[Rule]:
    """Returns: what denies commands or files, or wants a second person for them, but for what a
    later rule for everything opens."""
    live: list[Rule] = []
    for rule in ruleset:
        if rule.action in _STRICT and any(names_match(one, rule.permission) for one in _EVADED):
            live.append(rule)
        elif must_match("", rule.pattern):
            live = [
                one
                for one in live
                if one.level is not rule.level or not names_match(one.permission, rule.permission)
            ]
    return live


def _evaded(reach: Reach, last: dict[Level, Rule], denies: list[Rule]) -> Rule | None:
    """Returns: a rule whose deny a command could get around that is allowed as any other is."""
    if reach is Reach.NOTHING or _names(last.get(Level.SAVED)):
        return None
    for rule in denies:
        if reach is Reach.WRITES and not names_match("edit", rule.permission):
            continue
        for level in _levels_of(rule):
            # A policy names nothing that may be run: the settings of those who set it do.
            owners = (Level.INSTANCE, Level.TEAM) if level is Level.POLICY else (level,)
            if level in _DENYING and not any(_names(last.get(one)) for one in owners):
                return rule
    return None


def _names(rule: Rule | None) -> bool:
    return rule is not None and rule.action is Action.ALLOW and not must_match("", rule.pattern)


def _settle(last: dict[Level, Rule]) -> Verdict:
    """Decide by the last matching rule of each level, as the module says."""
    denies = _first(last, _DENYING, Action.DENY)
    if denies:
        return Verdict(Action.DENY, denies)
    default = last.get(Level.DEFAULT)
    is_set = any(level in last for level in _SETTINGS)
    if not is_set and default and default.action is Action.DENY:
        return Verdict(Action.DENY, default)
    others = _first(last, _ASKING, Action.ASK_OTHER)
    if others:
        return Verdict(Action.ASK_OTHER, others)
    opens = _first(last, reversed(_SETTINGS), Action.ALLOW)
    asks = _first(last, _ASKING, Action.ASK)
    if not is_set:
        opens = default if default and default.action is Action.ALLOW else None
        opens = opens or _first(last, (Level.SESSION,), Action.ALLOW)
    if asks is None and opens is not None:
        return Verdict(Action.ALLOW, opens)
    saved = last.get(Level.SAVED)
    return Verdict(Action.ALLOW, saved) if saved else Verdict(Action.ASK, asks or default)


def _first(last: dict[Level, Rule], levels: Iterable[Level], action: Action) -> Rule | None:
    found = (last[level] for level in levels if level in last)
    return next((rule for rule in found if rule.action is action), None)


def _last_by_level(rules: Iterable[Rule]) -> dict[Level, Rule]:
    last: dict[Level, Rule] = {}
    for rule in rules:
        for level in _levels_of(rule):
            last[level] = rule
    return last


def _levels_of(rule: Rule) -> Iterator[Level]:
    yield rule.level
    if rule.for_agent and rule.level is not Level.REPOSITORY:
        yield Level.AGENT


def _risk(start: str, rules: list[Rule], actions: Collection[Action]) -> Rule | None:
    """Returns: a rule with one of these actions that may be about a text of which only the start is
    known."""
    settled: set[Level] = set()
    for rule in reversed(rules):
        for level in _levels_of(rule):
            if level in settled or level is Level.SAVED:
                continue
            asks = level in _ASKING and rule.action in ASKS
            if rule.action in actions and (asks or rule.action is Action.DENY):
                if may_match(start, rule.pattern):
                    return rule
            elif must_match(start, rule.pattern):
                settled.add(level)
    return None


def _is_stricter(action: Action, than: Action | None) -> bool:
    return _STRICTNESS[action] > _STRICTNESS[than]


_SOURCES = {
    Level.DEFAULT: gettext_noop("the defaults of this server"),
    Level.INSTANCE: gettext_noop("the rules of this server"),
    Level.POLICY: gettext_noop("what the team has a second person approve"),
    Level.TEAM: gettext_noop("the settings of the team"),
    Level.PROJECT: gettext_noop("the settings of the project"),
    Level.REPOSITORY: gettext_noop("the opencode.json of the repository"),
    Level.SESSION: gettext_noop("the rules of this session"),
    Level.UNREADABLE: gettext_noop("rules that cannot be read, so that everything is asked for"),
    Level.SAVED: gettext_noop("an answer that was saved"),
}
_OF_AGENT = gettext_noop("the rules of this agent")


def source_of(rule: Rule | None) -> str:
    """Returns: whose word a rule is, as people read it: `the settings of the team (bash: rm *)`."""
    if rule is None:
        return "the defaults of this server (no rule is about it)"
    source = _SOURCES[rule.level]
    if rule.for_agent:
        source = _OF_AGENT if rule.level is Level.DEFAULT else f"{source} for this agent"
    return f"{source} ({rule.permission}: {rule.pattern})"


def say_source(text: str) -> str:
    """What `source_of` has said, in the reader's language: the log has it in English."""
    known = next((one for one in (*_SOURCES.values(), _OF_AGENT) if text.startswith(one)), None)
    if known is None:
        return text
    # Which rule it is, helps only where somebody can change it.
    is_default = known == _SOURCES[Level.DEFAULT]
    return gettext(known) + ("" if is_default else text.removeprefix(known))
