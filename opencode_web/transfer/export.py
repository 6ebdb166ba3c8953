"""Write a team into one archive while people go on working in it."""

from __future__ import annotations

import os
import shutil
import tarfile
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO

from django.conf import settings
from django.utils import timezone

from opencode_web.backup.archive import Archive
from opencode_web.backup.errors import BackupError
from opencode_web.backup.files import Writer
from opencode_web.backup.layout import WORKTREES, Root
from opencode_web.lib.errors import Invalid
from opencode_web.lib.ids import new_id
from opencode_web.lib.json import JsonObject, JsonValue
from opencode_web.transfer.arrangements import read_arrangements
from opencode_web.transfer.outputs import outputs_folder, pack_outputs
from opencode_web.transfer.shapes import (
    EVENTS,
    FORMAT,
    LEFT_OUT,
    MANIFEST,
    TEAM,
    EventShape,
    GroupShape,
    MemberShape,
    PersonShape,
    ProjectShape,
    RuleShape,
    SkillShape,
    TeamManifest,
    TeamShape,
)
from providers.models import ProviderConfig
from sessions.config.public import MASK, keep_masked, public_config
from sessions.models import (
    ChangeRequest,
    Event,
    Project,
    ProjectForge,
    ProjectMember,
    ProjectSecret,
    SavedRule,
    Session,
    TeamSearch,
    TeamSecret,
    TeamSkill,
)
from teams.models import IdentityRule, LegalHold, Membership, Team, User

SCRATCH_PREFIX = ".export-"
WHO = ("owner_id", "author_id", "by_id")
# They name places and links of this server.
_LEFT_OUT = ("folder", "share")


def export_team(team: Team, target: Path, *, say: Callable[[str], None]) -> TeamShape:
    """Write the archive, which is there as a whole or not at all. Whoever asks has recorded it.

    Returns: what is in it. Raises: BackupError.
    """
    if os.path.lexists(target):
        raise BackupError(f"{target} exists already: choose another name.")
    try:
        with tempfile.TemporaryDirectory(prefix=SCRATCH_PREFIX, dir=target.parent) as scratch:
            writer = Writer(Path(scratch), None)
            shape = _write(writer, team, say)
            _pack(writer, target)
    except OSError as exc:
        raise BackupError(f"The archive cannot be written ({exc.strerror}): {target}") from exc
    return shape


def _write(writer: Writer, team: Team, say: Callable[[str], None]) -> TeamShape:
    # In no transaction: it would keep everybody from writing to SQLite while files are copied. What
    # is added meanwhile is not in the archive, and of what is deleted only what was written before.
    listed = list(team.projects.order_by("pk"))
    found, people = _in_order(listed), set[int]()
    say(f"Writing {len(found)} sessions…")
    with writer.file(EVENTS) as file:
        sessions = [one for one in found if _write_events(file, one, people)]
    say("Adding large tool outputs…")
    pack_outputs(writer, sessions)
    writers = _writers(team, {*sessions})
    people.update(*writers.values())
    projects = [_project(writer, *numbered, say) for numbered in enumerate(listed)]
    shape = TeamShape(
        name=team.name,
        slug=team.slug,
        config=_without_secrets(team.config),
        own_accounts=team.own_accounts,
        people=_people(team, people),
        groups=_groups(team),
        projects=projects,
        sessions=sessions,
        writers=writers,
        outputs=str(outputs_folder()),
        skills=[
            SkillShape(name=one.name, description=one.description, text=one.text)
            for one in TeamSkill.objects.filter(team=team).order_by("name")
        ],
        rules=_rules(team, {"", *(one.pk for one in listed)}, {"", *sessions}),
        arrangements=read_arrangements(team, {one.pk for one in listed}),
        again=_to_set_again(team),
    )
    with writer.file(TEAM) as file:
        file.write(shape.model_dump_json().encode())
    return shape


def _in_order(projects: list[Project]) -> list[str]:
    """Returns: parents before their sub-agents, which were made later."""
    rows = Session.objects.filter(project__in=projects).values_list("pk", "parent_id", "created_at")
    parents = {pk: parent for pk, parent, _ in rows}

    def depth(pk: str | None) -> int:
        count = 0
        while pk := parents.get(pk or ""):
            count += 1
        return count

    return [pk for pk, _, at in sorted(rows, key=lambda row: (depth(row[0]), row[2], row[0]))]


def _write_events(file: IO[bytes], session_id: str, people: set[int]) -> int:
    """Returns: how many there are; none of a session that was deleted meanwhile."""
    count = 0
    for line in _events_of(session_id, people):
        file.write(line.model_dump_json().encode() + b"\n")
        count += 1
    return count


def _events_of(session_id: str, people: set[int]) -> Iterator[EventShape]:
    for row in Event.objects.filter(session=session_id).order_by("seq").iterator():
        people.update(row.data[key] for key in WHO if isinstance(row.data.get(key), int))
        yield EventShape(
            session=session_id,
            seq=row.seq,
            type=row.type,
            version=row.schema_version,
            data={key: value for key, value in row.data.items() if key not in _LEFT_OUT},
            time=row.time,
        )


def _writers(team: Team, sessions: set[str]) -> dict[str, list[int]]:
    rows = Session.writers.through.objects.filter(session__project__team=team).order_by("pk")
    found: dict[str, list[int]] = {}
    for session, user in rows.values_list("session", "user"):
        if session in sessions:
            found.setdefault(session, []).append(user)
    return found


def _project(
    writer: Writer, number: int, project: Project, say: Callable[[str], None]
) -> ProjectShape:
    name = ""
    is_here = project.host == settings.HOST_NAME and project.status == Project.Status.READY
    if is_here and Path(project.directory).is_dir():
        say(f"Copying the files of {project.name}…")
        name = f"project-{number}.tar"
        with writer.file(name) as file:
            Archive(Root(WORKTREES, Path(project.directory)), file, frozenset()).write()
    return ProjectShape(
        id=project.pk,
        name=project.name,
        source=project.source,
        git_url=project.git_url,
        config=_without_secrets(project.config),
        icon=project.icon,
        created_at=project.created_at,
        is_restricted=project.is_restricted,
        members=_members(project),
        archive=name,
    )


def _without_secrets(config: JsonObject) -> JsonObject:
    masked = public_config(config)
    try:
        return keep_masked(masked, {})
    except Invalid:
        # A list with one keeps the mask in its place.
        return masked


def _people(team: Team, seen: set[int]) -> list[PersonShape]:
    members = Membership.objects.filter(team=team, expires_at=None)
    roles = dict(members.values_list("user_id", "role"))
    approvers = set(members.filter(is_approver=True).values_list("user_id", flat=True))
    rows = User.objects.filter(pk__in={*seen, *roles}).order_by("pk")
    return [
        PersonShape(
            id=row.pk,
            email=row.email,
            name=row.display_name,
            role=roles.get(row.pk),
            is_service=row.service_of_id is not None,
            is_approver=row.pk in approvers,
        )
        for row in rows
    ]


def _groups(team: Team) -> list[GroupShape]:
    rows = team.groups.prefetch_related("members").order_by("name")
    return [
        GroupShape(
            name=row.name,
            is_approver=row.is_approver,
            people=sorted(one.user_id for one in row.members.all() if one.expires_at is None),
        )
        for row in rows
    ]


def _members(project: Project) -> list[MemberShape]:
    rows = ProjectMember.objects.filter(project=project).select_related("membership", "group")
    return [
        MemberShape(
            person=row.membership.user_id if row.membership else None,
            group=row.group.name if row.group else "",
            role=row.role,
        )
        for row in rows.order_by("pk")
    ]


def _rules(team: Team, projects: set[str], sessions: set[str]) -> list[RuleShape]:
    rows = SavedRule.objects.filter(team=team) | SavedRule.objects.filter(project__team=team)
    found = [
        RuleShape(
            project=row.project_id or "",
            session=row.session_id or "",
            permission=row.permission,
            pattern=row.pattern,
        )
        for row in rows.order_by("pk")
    ]
    return [one for one in found if one.project in projects and one.session in sessions]


def _to_set_again(team: Team) -> list[str]:
    found = [f"provider {one.name}" for one in ProviderConfig.objects.filter(team=team)]
    secrets = ProjectSecret.objects.filter(project__team=team).select_related("project")
    found += [f"secret {one.name} of the project {one.project.name}" for one in secrets]
    found += [f"secret {one.name} of the team" for one in TeamSecret.objects.filter(team=team)]
    found += [f"plugin {one} of the team" for one in team.plugins.filter(trusted_at__isnull=False)]
    forges = ProjectForge.objects.filter(project__team=team).exclude(token="")
    found += [f"publishing of the project {one.project.name}" for one in forges]
    found += ["web search" for _ in TeamSearch.objects.filter(team=team)]
    found += [f"GitHub App {one.name}" for one in team.github_apps.order_by("pk")]
    for one in team.integrations.select_related("project").order_by("created_at", "pk"):
        found.append(f"{one.kind} integration of the {_place(one.project)}, with its rules")
    found += ["linked accounts of members"] if team.linked_accounts.exists() else []
    found += [f"legal hold: {one.reason}" for one in LegalHold.objects.live().filter(team=team)]
    if IdentityRule.objects.filter(team=team).exists():
        found.append("roles that identity providers assign")
    found += [f"secret of the webhook to {one.host}" for one in team.webhooks.order_by("pk")]
    asked = ChangeRequest.objects.filter(team=team, status=ChangeRequest.Status.PENDING).count()
    found += [f"{asked} pending requests for approval"] if asked else []
    found += [] if team.hides_keys else ["that well-known keys are not hidden"]
    configs = [("", team.config), *((f"{one.name}: ", one.config) for one in team.projects.all())]
    for whose, config in configs:
        found += [f"setting {whose}{path}" for path in _masked(public_config(config))]
    return found


def _place(project: Project | None) -> str:
    return f"project {project.name}" if project else "team"


def _masked(value: JsonValue, path: str = "") -> Iterable[str]:
    if value == MASK:
        yield path
    elif isinstance(value, dict):
        for key, one in value.items():
            yield from _masked(one, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for one in value:
            yield from _masked(one, path)


def _pack(writer: Writer, target: Path) -> None:
    manifest = TeamManifest(
        format=FORMAT,
        id=new_id("exp"),
        app_version=settings.VERSION,
        taken_at=timezone.now(),
        files=writer.files,
        left_out=[*LEFT_OUT],
    )
    (writer.folder / MANIFEST).write_text(manifest.model_dump_json(indent=1), encoding="utf-8")
    draft = writer.folder / "archive"
    with tarfile.open(draft, "x:", format=tarfile.GNU_FORMAT) as tar:
        for name in (MANIFEST, *(file.name for file in writer.files)):
            info = tarfile.TarInfo(name)
            info.size, info.mode = (writer.folder / name).stat().st_size, 0o600
            with (writer.folder / name).open("rb") as file:
                tar.addfile(info, file)
    draft.chmod(0o600)
    shutil.move(draft, target)
