"""Prompts at times. A schedule belongs to a project and runs with the rights of its author."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Literal, NotRequired

from ninja import Field, Router, Schema
from typing_extensions import TypedDict

from opencode_web.lib.shapes import Unchecked, drop_none
from sessions.access import access_schedule, visible_projects
from sessions.actions.prompts import MAX_TEXT_CHARS
from sessions.actions.schedule_runs import run_now
from sessions.actions.schedules import (
    MAX_NAME_CHARS,
    ScheduleDraft,
    create_schedule,
    delete_schedule,
    pause_schedule,
    resume_schedule,
    update_schedule,
)
from sessions.api.auth import ApiRequest
from sessions.api.location import find_location, names_place, require_location
from sessions.models import Schedule, ScheduleRun
from sessions.wire import CreatedTime, to_ms
from teams.http import client_ip
from teams.models import Role

router = Router(tags=["schedule"])

MAX_LISTED = 200


class ScheduleBody(Schema):
    """`cron` has five fields, read in `timezone`; `model` is `provider/model`."""

    name: str = Field(max_length=MAX_NAME_CHARS)
    prompt: str = Field(max_length=MAX_TEXT_CHARS)
    cron: str = Field(max_length=120)
    timezone: str = Field(default="UTC", max_length=64)
    agent: str = Field(default="", max_length=60)
    model: str = Field(default="", max_length=200)


class SchedulePatch(Schema):
    """Only what is given changes. Whoever changes more than `paused` becomes its author."""

    name: str | None = Field(default=None, max_length=MAX_NAME_CHARS)
    prompt: str | None = Field(default=None, max_length=MAX_TEXT_CHARS)
    cron: str | None = Field(default=None, max_length=120)
    timezone: str | None = Field(default=None, max_length=64)
    agent: str | None = Field(default=None, max_length=60)
    model: str | None = Field(default=None, max_length=200)
    paused: bool | None = None


class ScheduleTimes(CreatedTime):
    updated: int
    next: NotRequired[int | None]


class ScheduleWire(TypedDict):
    id: str
    projectID: str
    name: str
    prompt: str
    cron: str
    timezone: str
    agent: str
    model: str
    author: NotRequired[str | None]
    """The e-mail of whose rights it has."""
    paused: bool
    pausedReason: str
    failures: int
    time: ScheduleTimes


class RunTimes(TypedDict):
    """Units: milliseconds since the epoch."""

    due: int
    started: int
    ended: NotRequired[int | None]


class ScheduleRunWire(TypedDict):
    id: str
    scheduleID: str
    state: Annotated[str, Unchecked(Literal["running", "done", "failed", "stopped", "skipped"])]
    detail: str
    sessionID: NotRequired[str | None]
    time: RunTimes


@router.get("/schedule", summary="Schedules of the named project, else of all")
def list_schedules(request: ApiRequest) -> list[ScheduleWire]:
    location = find_location(request) if names_place(request) else None
    projects = visible_projects(request.auth)
    if location is not None:
        projects = projects.filter(pk=location.project.pk)
    rows = Schedule.objects.filter(project__in=projects).select_related("author")
    return [schedule_to_wire(row) for row in rows.order_by("created_at")[:MAX_LISTED]]


@router.post("/schedule", summary="Have a prompt sent at times")
def post_schedule(request: ApiRequest, body: ScheduleBody) -> ScheduleWire:
    location = require_location(request, need=Role.MEMBER)
    draft = ScheduleDraft(**body.model_dump())
    return schedule_to_wire(create_schedule(location.access, draft, ip=client_ip(request)))


@router.get("/schedule/{schedule_id}", summary="One schedule")
def get_schedule(request: ApiRequest, schedule_id: str) -> ScheduleWire:
    return schedule_to_wire(access_schedule(request.auth, schedule_id)[0])


@router.patch("/schedule/{schedule_id}", summary="Change, pause or resume it")
def patch_schedule(request: ApiRequest, schedule_id: str, body: SchedulePatch) -> ScheduleWire:
    row, access = access_schedule(request.auth, schedule_id, need=Role.MEMBER)
    ip = client_ip(request)
    changes = body.model_dump(exclude_none=True)
    paused = changes.pop("paused", None)
    if changes:
        row = update_schedule(access, row, ScheduleDraft(**{**_draft_of(row), **changes}), ip=ip)
    if paused is not None:
        act = pause_schedule if paused else resume_schedule
        row = act(access, row, ip=ip)
    return schedule_to_wire(row)


@router.delete("/schedule/{schedule_id}", summary="Forget it; its sessions stay")
def remove_schedule(request: ApiRequest, schedule_id: str) -> bool:
    row, access = access_schedule(request.auth, schedule_id, need=Role.MEMBER)
    delete_schedule(access, row, ip=client_ip(request))
    return True


@router.post("/schedule/{schedule_id}/run", summary="Run it now, with its author's rights")
def post_run(request: ApiRequest, schedule_id: str) -> ScheduleRunWire:
    row, access = access_schedule(request.auth, schedule_id, need=Role.MEMBER)
    return run_to_wire(run_now(access, row, ip=client_ip(request)))


@router.get("/schedule/{schedule_id}/run", summary="Its runs, newest first")
def list_runs(
    request: ApiRequest, schedule_id: str, limit: int = 50, before: str = ""
) -> list[ScheduleRunWire]:
    rows = access_schedule(request.auth, schedule_id)[0].runs.order_by("-pk")
    if before:
        rows = rows.filter(pk__lt=before)
    return [run_to_wire(row) for row in rows[: max(1, min(limit, MAX_LISTED))]]


def _draft_of(row: Schedule) -> dict[str, str]:
    fields = asdict(ScheduleDraft("", "", ""))
    return {name: getattr(row, name) for name in fields}


def schedule_to_wire(row: Schedule) -> ScheduleWire:
    times: ScheduleTimes = {
        "created": to_ms(row.created_at),
        "updated": to_ms(row.updated_at),
        "next": to_ms(row.next_at) if row.next_at else None,
    }
    wire: ScheduleWire = {
        "id": row.pk,
        "projectID": row.project_id,
        "name": row.name,
        "prompt": row.prompt,
        "cron": row.cron,
        "timezone": row.timezone,
        "agent": row.agent,
        "model": row.model,
        "author": row.author.email if row.author else None,
        "paused": row.paused_at is not None,
        "pausedReason": row.paused_reason,
        "failures": row.failures,
        "time": drop_none(times),
    }
    return drop_none(wire)


def run_to_wire(row: ScheduleRun) -> ScheduleRunWire:
    times: RunTimes = {
        "due": to_ms(row.due_at),
        "started": to_ms(row.started_at),
        "ended": to_ms(row.ended_at) if row.ended_at else None,
    }
    wire: ScheduleRunWire = {
        "id": row.pk,
        "scheduleID": row.schedule_id,
        "state": row.state,
        "detail": row.detail,
        "sessionID": row.session_id,
        "time": drop_none(times),
    }
    return drop_none(wire)
