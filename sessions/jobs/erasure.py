"""Erase a person, a project or a team for good: a job that goes on where a dead worker ended."""

from __future__ import annotations

import logging

from django.conf import settings
from django.utils import timezone

from opencode_web.lib.errors import AppError
from opencode_web.lib.removals import removing
from sessions.actions.erasure import erase_project_rows, erase_team_rows, erase_tree
from sessions.events.store import SessionGone
from sessions.jobs.erase_files import (
    erase_exports,
    erase_project_files,
    erase_session_files,
    erase_terminal_files,
)
from sessions.jobs.mcp_grants import revoke_grants_of
from sessions.jobs.scrub import scrub_database
from sessions.models import Project, Session
from sessions.wake import wake_file_erasure
from teams.actions.audit import BrokenChain, prune_entries
from teams.actions.erasure import (
    LEASE,
    claim_erasure,
    email_of,
    end_erasure,
    erase_account,
    erase_person_in_audit,
    forget_answers,
    note_fault,
    note_progress,
    suspend_account,
)
from teams.actions.pseudonyms import Person, replace_person, text_models
from teams.models import Erasure, Team, User
from teams.retention.holds import teams_of

logger = logging.getLogger(__name__)

_BATCH = 50


def run_erasure(erasure_id: str) -> None:
    """Do a job, unless another worker does it. While a backup is made it waits for the beat."""
    with removing() as may_remove:
        row = claim_erasure(erasure_id) if may_remove else None
        if row is None:
            return
        logger.info("erasure.began id=%s kind=%s", row.pk, row.kind)
        try:
            problem = _erase(row)
            # Also of what was removed before a job ended early.
            scrub_database()
        except Exception as exc:
            # It is tried again when the lease ends.
            note_fault(row, exc)
            raise
    end_erasure(row, problem)
    logger.info("erasure.ended id=%s", row.pk)


def _erase(row: Erasure) -> str:
    """Returns: why it ended early, or nothing."""
    try:
        _ERASERS[Erasure.Kind(row.kind)](row)
    except AppError as exc:
        logger.warning("erasure.failed id=%s problem=%s", row.pk, exc.code)
        return exc.message
    except BrokenChain as exc:
        logger.error("erasure.audit_broken id=%s problem=%s", row.pk, exc)
        return f"The audit log is broken and was not removed: {exc}"
    return ""


def _erase_person(row: Erasure) -> None:
    user = User.objects.get(pk=int(row.subject))
    tables = text_models()
    row.total = len(tables) + 1
    if user.email != email_of(row.pseudonym):
        note_progress(row, files=erase_exports(teams_of(user)))
        suspend_account(user)
        revoke_grants_of(user)
        email = user.email
        person = Person(email, user.display_name, row.pseudonym, email_of(row.pseudonym))
        for number, model in enumerate(tables):
            row.done = number
            note_progress(row, rows=replace_person(model, person))
        entries = erase_person_in_audit(user, email=email, pseudonym=row.pseudonym)
        # From here on nobody knows any more who it was: what was written meanwhile is now replaced.
        note_progress(row, entries=entries, removed=erase_account(user, row.pseudonym))
        for model in tables:
            replace_person(model, person)
    row.done = row.total
    note_progress(row)


def _erase_project(row: Erasure) -> None:
    project = Project.objects.select_related("team").filter(pk=row.subject).first()
    # A worker that died may have left the files.
    if project is None:
        note_progress(row, files=erase_project_files(row.subject))
        return
    row.total = row.done + project.sessions.filter(root=None).count()
    _erase_whole_project(row, project)


def _erase_whole_project(row: Erasure, project: Project) -> None:
    note_progress(row, files=erase_exports([project.team_id]))
    tops = project.sessions.filter(root=None).order_by("pk")
    is_here = project.host == settings.HOST_NAME
    while ids := list(tops.values_list("pk", flat=True)[:_BATCH]):
        for top_id in ids:
            gone = _erase_one(top_id, project.team)
            row.done += 1
            if is_here:
                note_progress(row, sessions=len(gone), files=erase_session_files(gone))
            else:
                wake_file_erasure(project, gone)
                note_progress(row, sessions=len(gone))
    is_brought = project.source == Project.Source.FOLDER
    terminals = erase_project_rows(project)
    forget_answers(project.team)
    # Those that somebody has asked for since.
    note_progress(row, files=erase_exports([project.team_id]))
    if is_here:
        files = erase_terminal_files(terminals) + erase_project_files(project.pk)
        note_progress(row, projects=1, files=files, folders_left=int(is_brought))
    else:
        wake_file_erasure(project, [])
        note_progress(row, projects=1, hosts=1, folders_left=int(is_brought))


def _erase_one(top_id: str, team: Team) -> list[str]:
    try:
        return erase_tree(top_id, team)
    except SessionGone:
        return []


def _erase_team(row: Erasure) -> None:
    team = Team.objects.filter(pk=row.subject).first()
    if team is not None:
        sessions = Session.objects.filter(project__team=team, root=None)
        row.total = row.done + sessions.count()
        for project in team.projects.select_related("team").order_by("pk"):
            _erase_whole_project(row, project)
        note_progress(row, files=erase_exports([team.pk]))
        forget_answers(team)
        erase_team_rows(team)
    # All of it: nobody is left who could read it.
    removed = prune_entries(row.subject, before=timezone.now() + LEASE)
    note_progress(row, entries=removed)


_ERASERS = {
    Erasure.Kind.PERSON: _erase_person,
    Erasure.Kind.PROJECT: _erase_project,
    Erasure.Kind.TEAM: _erase_team,
}


def erase_files(project_id: str, session_ids: list[str]) -> None:
    """For the host that has the files of what another one deletes: of sessions, else of all."""
    if not session_ids:
        erase_project_files(project_id)
        return
    with removing() as may_remove:
        if may_remove:
            erase_session_files(session_ids)
