"""From rows to what SCIM says of them, and back. Changes are made by actions."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any, TypeVar

from django.core.exceptions import ValidationError as DjangoValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.db.models import Prefetch, QuerySet
from scim2_models import Context, InvalidValueException, Meta, Resource

from opencode_web.lib.json import JsonObject
from opencode_web.scim.shapes import Group, InGroup, Member, User
from sessions.actions.people import deactivate_person
from teams.actions.accounts import reactivate_account
from teams.actions.directory import (
    AccountDraft,
    create_directory_account,
    forget_directory_account,
    save_directory_group,
    update_directory_account,
)
from teams.models import DirectoryGroup
from teams.models import User as Account

_Resource = TypeVar("_Resource", bound=Resource[Any])
_WHY = "The directory deactivated the account."
_WHY_BACK = "The directory reactivated the account."
_WHY_GONE = "The directory deleted the account."
# What a resource has of its own, beside what the directory says.
_OURS = {"schemas", "id", "external_id", "meta", "groups", "active"}


def accounts() -> QuerySet[Account]:
    """Returns: the accounts of people that the directory may know, the oldest first."""
    rows = Account.objects.filter(service_of=None).exclude(directory__is_deleted=True)
    groups = Prefetch("directory_groups", DirectoryGroup.objects.order_by("name"))
    return rows.select_related("directory").prefetch_related(groups).order_by("pk")


def groups() -> QuerySet[DirectoryGroup]:
    """Returns: all groups, the oldest first."""
    people = Prefetch("members", Account.objects.order_by("pk").only("pk"))
    return DirectoryGroup.objects.prefetch_related(people).order_by("pk")


def to_user(account: Account, base: str) -> User:
    """Returns: the account as SCIM says it; `base` is the address of the service."""
    known = getattr(account, "directory", None)
    data: JsonObject = known.data if known else {}
    if not data:
        email: JsonObject = {"value": account.email, "primary": True}
        data = {"userName": account.email, "displayName": account.name or None, "emails": [email]}
    user = User.model_validate({**data, "active": account.is_active})
    user.id = str(account.pk)
    user.external_id = (known.external_id if known else "") or None
    belongs = [InGroup(value=one.pk, display=one.name) for one in account.directory_groups.all()]
    user.groups = belongs or None
    changed = known.updated_at if known else account.created_at
    user.meta = Meta(
        resource_type="User",
        created=account.created_at,
        last_modified=changed,
        location=f"{base}/Users/{account.pk}",
    )
    return _with_version(user)


def to_group(row: DirectoryGroup, base: str) -> Group:
    """Returns: the group as SCIM says it."""
    group = Group(
        id=row.pk,
        external_id=row.external_id or None,
        display_name=row.name,
        members=[
            Member(value=str(one.pk), ref=f"{base}/Users/{one.pk}") for one in row.members.all()
        ]
        or None,
    )
    group.meta = Meta(
        resource_type="Group",
        created=row.created_at,
        last_modified=row.updated_at,
        location=f"{base}/Groups/{row.pk}",
    )
    return _with_version(group)


@transaction.atomic
def save_user(user: User, account: Account | None, *, ip: str | None) -> Account:
    """Make an account, or bring one to what the directory says; lock it out or let it in.

    Raises: InvalidValueException without an e-mail address; as the actions.
    """
    draft = _draft_of(user)
    if account is None:
        saved = create_directory_account(draft, ip=ip)
    else:
        saved = update_directory_account(account, draft, ip=ip)
    if user.active:
        return reactivate_account(saved, actor=None, reason=_WHY_BACK, ip=ip)
    return deactivate_person(saved, actor=None, reason=_WHY, ip=ip)


@transaction.atomic
def delete_user(account: Account, *, ip: str | None) -> None:
    """Lock the account out, and have the directory find it no more."""
    deactivate_person(account, actor=None, reason=_WHY_GONE, ip=ip)
    forget_directory_account(account)


def save_group(group: Group, row: DirectoryGroup | None, *, ip: str | None) -> DirectoryGroup:
    """Make or change a group. Raises: InvalidValueException; as the action."""
    row = row or DirectoryGroup()
    row.name = _clean(group.display_name)
    row.external_id = _clean(group.external_id)
    if not row.name:
        raise InvalidValueException(detail="displayName must not be empty")
    return save_directory_group(row, members=_numbers(group.members or []), ip=ip)


def _numbers(members: Iterable[Member]) -> list[int]:
    ids = {member.value or "" for member in members}
    wrong = next((one for one in ids if not (one.isascii() and one.isdecimal())), None)
    if wrong is not None:
        raise InvalidValueException(detail=f"{wrong!r} is not the id of a user")
    return [int(one) for one in ids if len(one) < 19]


def _draft_of(user: User) -> AccountDraft:
    data: JsonObject = user.model_dump(scim_ctx=Context.DEFAULT, exclude=_OURS)
    name = user.name
    parts = (name.given_name, name.family_name) if name else ()
    shown = user.display_name or (name and name.formatted) or " ".join(filter(None, parts))
    return AccountDraft(
        user_name=_clean(user.user_name),
        external_id=_clean(user.external_id),
        email=_address_of(user),
        name=_clean(shown)[:120],
        data=data,
    )


def _address_of(user: User) -> str:
    emails = user.emails or []
    primary = next((one for one in emails if one.primary), emails[0] if emails else None)
    email = _clean(primary.value if primary else "").lower()
    try:
        validate_email(email)
    except DjangoValidationError as exc:
        raise InvalidValueException(detail="emails must have a valid e-mail address") from exc
    return email


def _clean(text: str | None) -> str:
    return " ".join((text or "").split())


def _with_version(resource: _Resource) -> _Resource:
    text = resource.model_dump_json(scim_ctx=Context.DEFAULT)
    assert resource.meta is not None
    resource.meta.version = f'W/"{hashlib.sha256(text.encode()).hexdigest()[:16]}"'
    return resource
