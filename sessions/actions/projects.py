from __future__ import annotations

import os
import shutil
from pathlib import Path

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from opencode_web.lib.crypto import encrypt
from opencode_web.lib.errors import Conflict, Invalid, Unavailable
from opencode_web.lib.ids import new_id
from opencode_web.lib.json import JsonObject
from opencode_web.lib.loop import submit
from sessions.access import ProjectAccess
from sessions.actions.admission import require_disk
from sessions.actions.folders import claim_folder, refuse_overlap
from sessions.actions.mcp_sign_ins import erase_removed_grants
from sessions.actions.project_members import keep_creator
from sessions.actions.settings import update_project_settings
from sessions.checkouts.repository import CheckoutError, Repository
from sessions.events.live import publish_project
from sessions.git.process import BRANCH, allowed_protocols, commit_all, init_repository
from sessions.git.project_folders import made_or_nothing, managed_directory, resolve_brought_folder
from sessions.git.url import parse_git_url
from sessions.models import Project, State, TokenDefault
from sessions.retention.holds import holds_in_project
from sessions.wake import wake_clone, wake_removal
from teams.access import TeamAccess, is_operator, require_role
from teams.actions.members import change_views
from teams.audit import AuditAction, record
from teams.models import Budget, Role
from teams.retention.holds import refuse_held

MAX_NAME_CHARS = 120
WAITING = "Waiting for a worker"
SAMPLE_NAME = gettext_noop("Sample project")
_SAMPLE_FILES = Path(__file__).resolve().parent.parent / "sample_project"


@transaction.atomic
def create_project_from_git(
    access: TeamAccess, *, url: str, name: str = "", restricted: bool = False
) -> Project:
    """Start a clone. The project is there at once, and ready when a worker has finished.

    A credential in `url` is used for this one clone. It is stored nowhere.

    Raises: Invalid for an address that cannot be cloned; Forbidden below member.
    """
    source = parse_git_url(url, protocols=allowed_protocols())
    project = _add(
        access,
        name=name or source.name,
        source=Project.Source.GIT,
        git_url=source.url,
        status=Project.Status.PREPARING,
        status_detail=WAITING,
        restricted=restricted,
    )
    wake_clone(project, credential=encrypt(source.credential) if source.credential else "")
    return project


@transaction.atomic
def clone_again(access: ProjectAccess, *, url: str = "") -> Project:
    """Try a clone that failed once more, from another address or with a credential if one is given.

    Raises: Conflict when it did not fail; Invalid for a bad address; Forbidden below member.
    """
    require_role(access.team, Role.MEMBER)
    project = Project.objects.select_for_update().get(pk=access.project.pk)
    if project.source != Project.Source.GIT or project.status != Project.Status.FAILED:
        raise Conflict(_("{name} has no failed clone to retry.").format(name=project.name))
    source = parse_git_url(url or project.git_url, protocols=allowed_protocols())
    project.git_url, project.status = source.url, Project.Status.PREPARING
    project.status_detail = WAITING
    project.save(update_fields=["git_url", "status", "status_detail"])
    _audit(AuditAction.PROJECT_UPDATED, access.team, project, {"git_url": source.url})
    wake_clone(project, credential=encrypt(source.credential) if source.credential else "")
    return project


@transaction.atomic
def create_project_from_folder(
    access: TeamAccess, *, path: str, name: str = "", init: bool = False, restricted: bool = False
) -> Project:
    """Add a folder that is below the worktrees root of this host. `init` makes it a repository.

    Raises: Invalid when there is no such folder, the team may not use it, or it is no repository
    and `init` is off; Conflict when it overlaps another project; Forbidden below member.
    """
    require_role(access, Role.MEMBER)
    folder = resolve_brought_folder(path, for_operator=is_operator(access.user))
    claim_folder(access, folder)
    refuse_overlap(folder)
    # Also a link that leads nowhere: git would follow it.
    is_repository = os.path.lexists(folder / ".git")
    if not is_repository and not init:
        raise Invalid(
            _("{name} is not a Git repository. Choose to make it one, and try again.").format(
                name=folder.name
            ),
            field="init",
        )
    project = _add(
        access,
        name=name or folder.name,
        source=Project.Source.FOLDER,
        directory=folder,
        restricted=restricted,
    )
    if not is_repository:
        _init_brought(folder)
    return project


def _init_brought(folder: Path) -> None:
    """In the sandbox: somebody may have put anything there. Raises: Unavailable."""
    try:
        submit(Repository(folder / ".git", folder).init(f"--initial-branch={BRANCH}")).result()
    except CheckoutError as exc:
        raise Unavailable(_("Git could not create a repository: {why}").format(why=exc)) from exc


@transaction.atomic
def create_empty_project(access: TeamAccess, *, name: str, restricted: bool = False) -> Project:
    """Make a new repository with one empty commit. Raises: Invalid for the name; Forbidden."""
    project = _add(access, name=name, source=Project.Source.EMPTY, restricted=restricted)
    with made_or_nothing(Path(project.directory)) as folder:
        init_repository(folder)
        commit_all(folder, message="Start the project")
    return project


@transaction.atomic
def create_sample_project(access: TeamAccess, *, name: str = "") -> Project:
    """Make a small repository with a bug and a failing test. Raises: Forbidden below member."""
    project = _add(access, name=name or _(SAMPLE_NAME), source=Project.Source.SAMPLE)
    with made_or_nothing(Path(project.directory)) as folder:
        ignored = shutil.ignore_patterns("__pycache__", "*.pyc")
        shutil.copytree(_SAMPLE_FILES, folder, dirs_exist_ok=True, ignore=ignored)
        init_repository(folder)
        commit_all(folder, message="Add the till of a small shop")
    return project


@transaction.atomic
def update_project(
    access: ProjectAccess,
    *,
    name: str | None = None,
    icon: JsonObject | None = None,
    config: JsonObject | None = None,
) -> Project:
    """Change what is given; `config` replaces the settings as a whole.

    Raises: Invalid naming what is wrong; Forbidden below member.
    """
    require_role(access.team, Role.MEMBER)
    if config is not None:
        update_project_settings(access, config, replace=True)
    project = Project.objects.select_for_update().get(pk=access.project.pk)
    if name is not None:
        data: JsonObject = {"before": project.name, "after": _clean_name(name)}
        project.name = _clean_name(name)
        project.save(update_fields=["name"])
        _audit(AuditAction.PROJECT_UPDATED, access.team, project, data)
    if icon is not None:
        project.icon = icon
        project.save(update_fields=["icon"])
        _audit(AuditAction.PROJECT_UPDATED, access.team, project, {"icon": "changed"})
    transaction.on_commit(lambda: publish_project(project))
    return project


@transaction.atomic
def delete_project(access: ProjectAccess) -> None:
    """Remove the project with its sessions, and its files where the server made them.

    A folder that the team brought stays as it is. Unmerged work in worktrees of sessions is
    rescued: there, else in a repository below the data folder's `rescued`.
    Raises: Conflict while a session runs; Held under a legal hold; Forbidden below admin.
    """
    require_role(access.team, Role.ADMIN)
    project = Project.objects.select_for_update().get(pk=access.project.pk)
    refuse_held(holds_in_project(project))
    if project.sessions.filter(state=State.BUSY).exists():
        raise Conflict(_("A session of this project is running. Stop it first."))
    data: JsonObject = {"name": project.name, "directory": project.directory}
    _audit(AuditAction.PROJECT_DELETED, access.team, project, data)
    if project.source != Project.Source.FOLDER or project.checkouts.exists():
        wake_removal(project)
    # They have no reference to the project: their app is below this one.
    Budget.objects.filter(project=project.pk).delete()
    Project.objects.get(pk=project.pk).delete()
    erase_removed_grants(access.team.team)


def _add(
    access: TeamAccess,
    *,
    name: str,
    source: Project.Source,
    directory: Path | None = None,
    git_url: str = "",
    status: Project.Status = Project.Status.READY,
    status_detail: str = "",
    restricted: bool = False,
) -> Project:
    """With `restricted` only its members see it, whose first is who makes it."""
    require_role(access, Role.MEMBER)
    require_disk(access.team)
    project_id, name = new_id("prj"), _clean_name(name)
    project = Project(
        id=project_id,
        team=access.team,
        name=name,
        host=settings.HOST_NAME,
        directory=str(directory or managed_directory(project_id, name)),
        source=source,
        git_url=git_url,
        status=status,
        status_detail=status_detail,
        is_restricted=restricted,
        created_by=access.user,
    )
    try:
        with transaction.atomic():
            project.save(force_insert=True)
    except IntegrityError as exc:  # somebody added the same folder at the same moment
        raise Conflict(
            _("{folder} already belongs to a project.").format(folder=project.directory)
        ) from exc
    data: JsonObject = {"name": name, "source": str(source), "git_url": git_url}
    if restricted:
        data["restricted"] = True
        keep_creator(access, project)
        change_views(access.team.pk)
    _audit(AuditAction.PROJECT_CREATED, access, project, data)
    transaction.on_commit(lambda: publish_project(project))
    return project


def _audit(action: AuditAction, access: TeamAccess, project: Project, data: JsonObject) -> None:
    record(action, actor=access.user, team=access.team, target=project, data=data)


def _clean_name(name: str) -> str:
    name = " ".join(name.split())
    if not name or len(name) > MAX_NAME_CHARS:
        raise Invalid(
            _("A project name must have 1 to {count} characters.").format(count=MAX_NAME_CHARS),
            field="name",
        )
    return name


@transaction.atomic
def choose_default(access: ProjectAccess) -> None:
    """Have requests with the caller's token be about this project when they name none.

    Raises: Invalid for a browser, which has no token.
    """
    token_id = access.principal.token_id
    if token_id is None:
        raise Invalid("A default project belongs to an API token. Name the project instead.")
    TokenDefault.objects.update_or_create(token_id=token_id, defaults={"project": access.project})
