"""Make a team of an archive: all of it, or nothing."""

from __future__ import annotations

import secrets
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any  # names of columns

from django.conf import settings
from django.db import DatabaseError, transaction
from django.utils import timezone

from opencode_web.backup.errors import BackupError, DamagedBackup
from opencode_web.backup.files import Reader
from opencode_web.backup.layout import WORKTREES, Root
from opencode_web.backup.unpack import unpack
from opencode_web.lib.errors import AppError
from opencode_web.transfer.arrangements import make_arrangements
from opencode_web.transfer.events import Checked, write_events
from opencode_web.transfer.outputs import place_outputs, unpack_outputs, with_paths_here
from opencode_web.transfer.shapes import (
    GroupShape,
    MemberShape,
    PersonShape,
    ProjectShape,
    TeamShape,
)
from opencode_web.transfer.unpack import content_of, open_archive, read_events, read_team
from sessions.git.process import allowed_protocols
from sessions.git.project_folders import managed_directory, managed_home, managed_root
from sessions.git.url import parse_git_url
from sessions.models import Project, ProjectMember, SavedRule, Session, TeamSkill
from teams.access import TeamAccess
from teams.actions.erasure import IMPORTED_INTO
from teams.actions.members import add_member
from teams.actions.teams import create_team, free_slug, require_free_slug
from teams.audit import AuditAction, record
from teams.models import Membership, Role, Team, TeamGroup, User

_NO_FILES = "Its files were not in the archive. Clone it again, or delete it."


@dataclass(frozen=True)
class Imported:
    """A team that was made. `unknown`: how many people have no account here. `left`: what of the
    archive this server does not take, and why."""

    team: Team
    events: int
    unknown: int
    left: list[str]
    shape: TeamShape


def import_team(path: Path, *, owner: User, slug: str = "", say: Callable[[str], None]) -> Imported:
    """Make a team that `owner` owns. Members are found by their addresses.

    Raises: BackupError for an archive that cannot be imported here; DamagedBackup for one that is
    not what was written.
    """
    if slug:
        try:
            # An archive may take an hour to read.
            require_free_slug(slug)
        except AppError as exc:
            raise BackupError(exc.message) from exc
    managed_root().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".import-", dir=managed_root()) as scratch:
        say("Checking the archive…")
        reader = open_archive(path, Path(scratch))
        shape = read_team(reader)
        _check(reader, shape)
        made: list[Path] = []
        try:
            # Before the transaction: nobody else could write to SQLite for so long.
            for project in shape.projects:
                say(f"Unpacking {project.name}…")
                _unpack_project(reader, project, made)
            outputs = Path(scratch, "outputs")
            if shape.outputs:
                unpack_outputs(reader, shape.sessions, outputs)
            with transaction.atomic():
                imported = _make(reader, shape, owner, slug, say)
        except DatabaseError as exc:
            _remove(made)
            raise DamagedBackup("The archive contradicts itself, or this server.") from exc
        except AppError as exc:
            _remove(made)
            raise BackupError(exc.message) from exc
        except BaseException:
            _remove(made)
            raise
        if shape.outputs:
            place_outputs(outputs)
        return imported


def _check(reader: Reader, shape: TeamShape) -> None:
    ids = [project.id for project in shape.projects]
    if len(set(ids)) != len(ids) or not all(one.startswith("prj_") for one in ids):
        raise DamagedBackup("The archive has a project with a bad ID.")
    if Project.objects.filter(pk__in=ids).exists() or any(
        managed_home(one).exists() for one in ids
    ):
        raise BackupError(
            "Projects of the archive are on this server already. Erase the team first if it was "
            "imported before."
        )
    checked = Checked(shape.sessions, set(ids))
    for line in read_events(reader):
        checked.take(line)
    checked.finish()


def _make(
    reader: Reader,
    shape: TeamShape,
    owner: User,
    slug: str,
    say: Callable[[str], None],
) -> Imported:
    slug = slug or (free_slug(shape.slug) if shape.slug else "")
    team = create_team(owner, name=shape.name, slug=slug, as_operator=True)
    team.config, team.own_accounts = shape.config, shape.own_accounts
    team.save(update_fields=["config", "own_accounts"])
    people, unknown = _people(team, owner, shape.people)
    groups = _groups(team, shape.groups, people)
    projects = {project.id: _project(team, owner, project) for project in shape.projects}
    for project in shape.projects:
        _project_members(projects[project.id], project.members, groups, people)
    say(f"Writing {len(shape.sessions)} sessions…")
    events = read_events(reader)
    if shape.outputs:
        events = with_paths_here(events, shape.outputs)
    count = write_events(events, projects, people)
    _writers(shape, people)
    now = timezone.now()
    for skill in shape.skills:
        TeamSkill.objects.create(team=team, updated_at=now, **skill.model_dump())
    known = set(shape.sessions)
    for rule in shape.rules:
        if rule.project not in {"", *projects} or rule.session not in {"", *known}:
            raise DamagedBackup("The archive has a rule of what is not in it.")
        SavedRule.objects.create(
            team=None if rule.project else team,
            project=projects.get(rule.project),
            session_id=rule.session or None,
            permission=rule.permission,
            pattern=rule.pattern,
            created_at=now,
        )
    access = TeamAccess(team, Membership.objects.get(team=team, user=owner), owner)
    try:
        left = list(make_arrangements(access, shape.arrangements, projects, people))
    except KeyError as exc:
        raise DamagedBackup("The archive has something of a project that is not in it.") from exc
    data = {"sessions": len(shape.sessions), "events": count, "projects": len(projects)}
    record(AuditAction.TEAM_IMPORTED, actor=owner, team=team, target=team, data={**data})
    return Imported(team, count, unknown, left, shape)


def _people(team: Team, owner: User, people: list[PersonShape]) -> tuple[dict[int, int], int]:
    """Returns: accounts by the numbers of the archive, and how many were made for nobody."""
    found, unknown = dict[int, int](), 0
    for person in people:
        known = None
        if not person.is_service:
            known = User.objects.filter(email__iexact=person.email, service_of=None).first()
        if known is None:
            found[person.id] = _pseudonym(person, team).pk
            unknown += 1
            continue
        found[person.id] = known.pk
        if person.role is not None and known.pk != owner.pk and known.is_active:
            role = Role.ADMIN if person.role == Role.OWNER else person.role
            add_member(team, user=known, role=role, actor=owner)
        if person.is_approver:
            Membership.objects.filter(team=team, user=known).update(is_approver=True)
    return found, unknown


def _groups(team: Team, shapes: list[GroupShape], people: dict[int, int]) -> dict[str, TeamGroup]:
    """Returns: by name, with those of their people who are in the team."""
    made = {}
    for shape in shapes:
        made[shape.name] = row = TeamGroup.objects.create(
            team=team, name=shape.name, is_approver=shape.is_approver
        )
        accounts = [people[one] for one in shape.people if one in people]
        row.members.set(Membership.objects.filter(team=team, user__in=accounts))
    return made


def _project_members(
    project: Project,
    shapes: list[MemberShape],
    groups: dict[str, TeamGroup],
    people: dict[int, int],
) -> None:
    for shape in shapes:
        of_project: dict[str, Any] = {"project": project, "role": shape.role}
        if shape.group in groups:
            ProjectMember.objects.get_or_create(**of_project, group=groups[shape.group])
        user = people.get(shape.person or 0)
        member = Membership.objects.filter(team=project.team, user=user).first()
        if user and member:
            ProjectMember.objects.get_or_create(**of_project, membership=member)


def _pseudonym(person: PersonShape, team: Team) -> User:
    """An account that nobody can sign in to. Its name tells who said what in the team."""
    user = User(
        email=f"person-{secrets.token_hex(6)}@imported.invalid",
        name=person.name,
        is_active=False,
        preferences={IMPORTED_INTO: team.pk},
    )
    user.set_unusable_password()
    user.save()
    return user


def _writers(shape: TeamShape, people: dict[int, int]) -> None:
    through, known = Session.writers.through, set(shape.sessions)
    through.objects.bulk_create(
        [
            through(session_id=session, user_id=people[one])
            for session, writers in shape.writers.items()
            for one in dict.fromkeys(writers)
            if session in known and one in people
        ],
        batch_size=500,
        ignore_conflicts=True,
    )


def _unpack_project(reader: Reader, shape: ProjectShape, made: list[Path]) -> None:
    if not shape.archive:
        return
    directory = managed_directory(shape.id, shape.name)
    made.append(managed_home(shape.id))
    directory.mkdir(mode=0o700, parents=True)
    with reader.file(shape.archive) as content:
        source = content_of(reader, content, shape.archive)
        unpack(source, Root(WORKTREES, directory), directory)


def _project(team: Team, owner: User, shape: ProjectShape) -> Project:
    is_git = shape.source == Project.Source.GIT
    return Project.objects.create(
        id=shape.id,
        team=team,
        name=shape.name,
        host=settings.HOST_NAME,
        directory=str(managed_directory(shape.id, shape.name)),
        # A folder that the other server's team had brought is the server's own here.
        source=shape.source if shape.source != Project.Source.FOLDER else Project.Source.EMPTY,
        git_url=parse_git_url(shape.git_url, protocols=allowed_protocols()).url if is_git else "",
        status=Project.Status.READY if shape.archive else Project.Status.FAILED,
        status_detail="" if shape.archive else _NO_FILES,
        config=shape.config,
        icon=shape.icon,
        created_by=owner,
        created_at=shape.created_at,
        is_restricted=shape.is_restricted,
    )


def _remove(made: list[Path]) -> None:
    for path in made:
        with suppress(OSError):
            shutil.rmtree(path)
