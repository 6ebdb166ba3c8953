"""Members of a team and invitations to it. `?team=` names it where the caller has several."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Literal, NotRequired

from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpResponse
from django.urls import reverse
from ninja import Field, Router, Schema
from typing_extensions import TypedDict

from opencode_web.lib.errors import NotFound
from opencode_web.lib.public_url import absolute_url
from opencode_web.lib.shapes import Unchecked
from sessions.api.auth import ApiRequest
from sessions.api.config import team_of
from sessions.wire import to_ms
from teams.access import TeamAccess
from teams.actions.invites import MAX_LIFETIME, create_invite, revoke_invite
from teams.actions.members import change_role, remove_member, set_approver
from teams.http import client_ip
from teams.models import Invite, Membership, Role

router = Router(tags=["member"])

RoleName = Literal["owner", "admin", "member", "viewer", "billing"]
# Its id is a number of the database.
MAX_ID = 2**62


class MemberPatch(Schema):
    """Only what is given changes."""

    role: RoleName | None = None
    approver: bool | None = Field(
        default=None, description="Whether they allow what needs a second person"
    )


class InviteBody(Schema):
    """With an address only its owner can accept it."""

    role: RoleName = "member"
    email: str = Field(default="", max_length=254, pattern=r"^$|^[^@\s]+@[^@\s]+$")
    days: int = Field(default=7, ge=1, le=MAX_LIFETIME.days)


class Member(TypedDict):
    id: int
    name: str
    email: str
    role: Annotated[str, Unchecked(RoleName)]
    approver: bool
    active: bool
    """False for an account that an operator or the directory has deactivated."""
    joined: int
    """Units: milliseconds since the epoch."""
    until: NotRequired[int]
    """When an operator's emergency access ends. Units: milliseconds since the epoch."""
    lastSeen: NotRequired[str]
    """A day, in UTC."""


class Invitation(TypedDict):
    id: str
    role: Annotated[str, Unchecked(RoleName)]
    email: str
    expires: int
    """Units: milliseconds since the epoch."""


class MadeInvitation(Invitation):
    url: str
    """The link, which is shown only here."""


@router.get("/member", summary="Members of a team")
def list_members(request: ApiRequest, team: str = "") -> list[Member]:
    access = team_of(request, team, need=None)
    return [_to_wire(row) for row in _people(access).order_by("pk")]


@router.patch("/member/{member_id}", summary="Change a member's role, or what they may allow")
def patch_member(request: ApiRequest, member_id: int, body: MemberPatch, team: str = "") -> Member:
    access = team_of(request, team, need=Role.ADMIN)
    row, ip = _find(access, member_id), client_ip(request)
    with transaction.atomic():
        if body.role is not None:
            row = change_role(row, access=access, role=Role(body.role), ip=ip)
        if body.approver is not None:
            row = set_approver(row, access=access, is_approver=body.approver, ip=ip)
    return _to_wire(row)


@router.delete("/member/{member_id}", summary="Remove a member, with their tokens for the team")
def delete_member(request: ApiRequest, member_id: int, team: str = "") -> bool:
    access = team_of(request, team, need=Role.ADMIN)
    remove_member(_find(access, member_id), access=access, ip=client_ip(request))
    return True


@router.get("/invitation", summary="Open invitations to a team")
def list_invitations(request: ApiRequest, team: str = "") -> list[Invitation]:
    access = team_of(request, team, need=Role.ADMIN)
    return [_invitation(row) for row in access.team.invites.open().order_by("expires_at", "pk")]


@router.post("/invitation", summary="Invite somebody; the link is shown once")
def post_invitation(
    request: ApiRequest, body: InviteBody, response: HttpResponse, team: str = ""
) -> MadeInvitation:
    row, secret = create_invite(
        team_of(request, team, need=Role.ADMIN),
        role=Role(body.role),
        email=body.email,
        lifetime=timedelta(days=body.days),
        ip=client_ip(request),
    )
    # Neither caches nor the answers that an Idempotency-Key repeats may have it.
    response["Cache-Control"] = "no-store"
    link = absolute_url(request, reverse("invite", args=[secret]))
    return {**_invitation(row), "url": link}


@router.delete("/invitation/{invitation_id}", summary="Revoke an invitation at once")
def delete_invitation(request: ApiRequest, invitation_id: str, team: str = "") -> bool:
    access = team_of(request, team, need=Role.ADMIN)
    row = access.team.invites.filter(pk=invitation_id).first()
    if row is None:
        raise NotFound("Invitation", invitation_id)
    revoke_invite(row, access=access, ip=client_ip(request))
    return True


def _people(access: TeamAccess) -> QuerySet[Membership]:
    rows = Membership.objects.current().filter(team=access.team, user__service_of=None)
    return rows.select_related("user")


def member_of(access: TeamAccess, member_id: int) -> Membership:
    """Somebody of the team, or one of its service accounts. Raises: NotFound."""
    rows = Membership.objects.current().filter(team=access.team, expires_at=None)
    row = rows.select_related("user").filter(pk=member_id if 0 < member_id < MAX_ID else 0).first()
    if row is None:
        raise NotFound("Member", str(member_id))
    return row


def _find(access: TeamAccess, member_id: int) -> Membership:
    row = _people(access).filter(pk=member_id if 0 < member_id < MAX_ID else 0).first()
    if row is None:
        raise NotFound("Member", str(member_id))
    return row


def _to_wire(row: Membership) -> Member:
    user = row.user
    wire: Member = {
        "id": row.pk,
        "name": user.display_name,
        "email": user.email,
        "role": str(row.role),
        "approver": row.is_approver,
        "active": user.is_active,
        "joined": to_ms(row.created_at),
    }
    if row.expires_at is not None:
        wire["until"] = to_ms(row.expires_at)
    if user.last_seen_on is not None:
        wire["lastSeen"] = user.last_seen_on.isoformat()
    return wire


def _invitation(row: Invite) -> Invitation:
    return {
        "id": row.pk,
        "role": str(row.role),
        "email": row.email,
        "expires": to_ms(row.expires_at),
    }
