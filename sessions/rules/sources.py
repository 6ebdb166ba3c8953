"""The rules of the levels that people write, and what holds while one of them cannot be read.

Then the last ones that could be read stay in force: they are kept in a row, so a restart does not
lose them. Where there are none, everything is asked for and no saved answer counts. Either way it
is logged once, and said by `doctor`, on the settings pages and in what is denied or asked for.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from django.conf import settings
from django.core.cache import cache
from django.db import transaction
from django.utils import timezone

from opencode_web.lib.instance_config import instance_config
from opencode_web.lib.json import JsonObject
from opencode_web.lib.jsonc import parse_jsonc
from sessions.config.rule_levels import RULE_KEYS, LevelRules, read_level
from sessions.models import Project, RuleSource
from sessions.rules.repository import join_rules, read_repository
from teams.models import Team
from tools.permissions.rules import Action, Level, Rule

logger = logging.getLogger(__name__)
_MAX_FILE_BYTES = 256 * 1024
_NOTHING = LevelRules()
_ASK_ALL = LevelRules((Rule("*", "*", Action.ASK, Level.UNREADABLE),))
# A process looks into the database once in a while whether it still remembers.
_KNOWN_S = 600


@dataclass(frozen=True)
class Source:
    """The rules of one level as they stand there. `read` raises ValueError where they are broken.

    `whose` names them for people; `read` returns settings in the shape of `opencode.json`.
    """

    level: Level
    key: str
    whose: str
    read: Callable[[], JsonObject]
    team: Team | None = None
    project: Project | None = None


@dataclass(frozen=True)
class Loaded:
    """The rules of one level that are in force. `problem` says why not those that stand there."""

    rules: LevelRules = _NOTHING
    problem: str = ""
    # Whether nothing at all is known of them.
    is_lost: bool = False


def sources_of(project: Project, directory: str) -> Iterator[Source]:
    """Yield the levels above a session that works in `directory`, from the highest on."""
    yield instance_source()
    yield _team_source(project.team)
    yield Source(
        Level.PROJECT,
        f"project:{project.pk}",
        "the project",
        lambda: _stored(project.config),
        project=project,
    )
    folder = hashlib.sha256(directory.encode()).hexdigest()[:16]
    if project.host == settings.HOST_NAME:
        yield Source(
            Level.REPOSITORY,
            f"repository:{project.pk}:{folder}",
            "the repository",
            lambda: read_repository(Path(directory)),
            project=project,
        )


def _team_source(team: Team) -> Source:
    key = f"team:{team.pk}"
    return Source(Level.TEAM, key, "the team", lambda: _stored(team.config), team=team)


def instance_source() -> Source:
    """The rules of this server: of its settings' file, then of the setting PERMISSION_RULES."""
    return Source(Level.INSTANCE, "instance", "this server", _read_instance)


def load(source: Source) -> Loaded:
    """Read one level, or what is left of it."""
    try:
        data = only_rules(source.read())
        rules = read_level(source.level, data)
    except ValueError as exc:
        return _fall_back(source, str(exc))
    if data:
        _remember_good(source.key, data, team=source.team, project=source.project)
    return Loaded(rules)


def problems_of(project: Project) -> list[str]:
    """Returns: a sentence for each level above the project whose rules cannot be read."""
    return _problems(sources_of(project, project.directory))


def problems_of_team(team: Team) -> list[str]:
    """Like `problems_of`, for what holds in every project of a team."""
    return _problems([instance_source(), _team_source(team)])


def _problems(sources: Iterable[Source]) -> list[str]:
    return [one.problem for one in map(load, sources) if one.problem]


def _fall_back(source: Source, problem: str) -> Loaded:
    problem = problem[:500]
    if _remember_problem(source.key, problem, team=source.team, project=source.project):
        logger.error("permission rules of %s cannot be read: %s", source.key, problem)
    row = RuleSource.objects.filter(key=source.key).first()
    if row is not None and row.good is not None:
        try:
            rules = read_level(source.level, row.good)
        except ValueError:
            # Kept by another version of this program.
            pass
        else:
            return Loaded(
                rules, _sentence(source, problem, "the last ones that could be read hold")
            )
    return Loaded(_ASK_ALL, _sentence(source, problem, "everything is asked for"), is_lost=True)


def _sentence(source: Source, problem: str, instead: str) -> str:
    return f"The permission rules of {source.whose} cannot be read ({problem}), so {instead}."


def only_rules(config: JsonObject) -> JsonObject:
    """Of settings, what has to do with rules; in the same order, which counts.

    Raises: ValueError where they are broken.
    """
    kept: JsonObject = {key: config[key] for key in config if key in RULE_KEYS}
    agents = config.get("agent")
    if agents is None:
        return kept
    if not isinstance(agents, dict):
        raise ValueError("agent must be an object")
    named: JsonObject = {}
    for name, own in agents.items():
        if not isinstance(own, dict):
            raise ValueError(f"agent.{name} must be an object")
        rules = {key: own[key] for key in own if key in RULE_KEYS}
        if rules:
            named[name] = rules
    return {**kept, "agent": named} if named else kept


def _stored(config: object) -> JsonObject:
    if not isinstance(config, dict):
        raise ValueError("settings must be an object")
    return config


def _read_instance() -> JsonObject:
    given = settings.PERMISSION_RULES.strip()
    own = instance_config()
    if not given:
        return own
    is_action = given in set(Action)
    if given[0] not in '{["' and not is_action:
        given = _read_file(Path(given))
    value = given if is_action else parse_jsonc(given)
    return join_rules(join_rules({}, own), {"permission": value})


def _read_file(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_FILE_BYTES + 1)
    except OSError as exc:
        # Without the path: members of teams read this too.
        raise ValueError(f"the file of PERMISSION_RULES: {exc.strerror}") from exc
    if len(data) > _MAX_FILE_BYTES:
        raise ValueError(f"the file of PERMISSION_RULES has more than {_MAX_FILE_BYTES} bytes")
    return data.decode("utf-8-sig").strip()


def _remember_good(
    key: str, rules: JsonObject, *, team: Team | None, project: Project | None
) -> None:
    """Keep rules that can be read, for the time when those in their place cannot.

    Costs nothing while they stay the same. Not an action: nobody does it, and what stands below the
    actions reads rules, too.
    """
    # As text: the order of the keys is meaning.
    text = json.dumps(rules)
    digest = hashlib.sha256(text.encode()).hexdigest()
    if cache.get(_cached(key)) != digest:
        _store_good(key, rules, text, team, project)
        transaction.on_commit(partial(cache.set, _cached(key), digest, _KNOWN_S))


@transaction.atomic
def _store_good(
    key: str, rules: JsonObject, text: str, team: Team | None, project: Project | None
) -> None:
    known = RuleSource.objects.filter(key=key).first()
    if known is None or known.problem or json.dumps(known.good) != text:
        now = timezone.now()
        values = {"good": rules, "good_at": now, "problem": "", "team": team, "project": project}
        RuleSource.objects.update_or_create(key=key, defaults=values)


@transaction.atomic
def _remember_problem(
    key: str, problem: str, *, team: Team | None, project: Project | None
) -> bool:
    """Keep why rules cannot be read. Returns: whether that is news."""
    row = RuleSource.objects.filter(key=key).first()
    if row is not None and row.problem == problem:
        return False
    values = {"problem": problem, "team": team, "project": project}
    RuleSource.objects.update_or_create(key=key, defaults=values)
    transaction.on_commit(partial(cache.delete, _cached(key)))
    return True


def _cached(key: str) -> str:
    return f"rule-source:{key}"
