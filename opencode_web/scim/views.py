"""The addresses of SCIM below `/scim/v2`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from scim2_models import (
    Context,
    ForbiddenException,
    InvalidFilterException,
    InvalidSyntaxException,
    ListResponse,
    Meta,
    NotFoundException,
    NotImplementedException,
    PatchOp,
    PreconditionFailedException,
    Resource,
    ResourceType,
    Schema,
)

from opencode_web.lib.json import JsonObject
from opencode_web.lib.json_body import parse_json
from opencode_web.lib.public_url import absolute_url
from opencode_web.scim.answers import MAX_FILTER_CHARS, json_answer, scim_view, to_response
from opencode_web.scim.search import list_groups, list_users
from opencode_web.scim.shapes import CONFIG, SERVICE, Group, User
from opencode_web.scim.store import (
    accounts,
    delete_user,
    groups,
    save_group,
    save_user,
    to_group,
    to_user,
)
from teams.actions.accounts import lock_account
from teams.actions.directory import delete_directory_group
from teams.http import client_ip
from teams.models import DirectoryGroup
from teams.models import User as Account

# Only this server says these; a directory that sends them back means nothing by it.
_READ_ONLY = frozenset({"id", "meta", "groups"})


def _query_users(request: HttpRequest) -> HttpResponse:
    return json_answer(list_users(_asked(request), _base(request)))


def _create_user(request: HttpRequest) -> HttpResponse:
    user = User.model_validate(
        _filled(_body(request), active=True), scim_ctx=Context.RESOURCE_CREATION_REQUEST
    )
    saved = save_user(user, None, ip=client_ip(request))
    return _answer_user(request, saved.pk, Context.RESOURCE_CREATION_RESPONSE, status=201)


def _read_user(request: HttpRequest, user_id: str) -> HttpResponse:
    return _answer_user(request, _account(user_id).pk, Context.RESOURCE_QUERY_RESPONSE)


@transaction.atomic
def _replace_user(request: HttpRequest, user_id: str) -> HttpResponse:
    account = _account(user_id, lock=True)
    _require_match(request, to_user(account, _base(request)))
    data = _filled(_body(request), active=account.is_active)
    user = User.model_validate(data, scim_ctx=Context.RESOURCE_REPLACEMENT_REQUEST)
    save_user(user, account, ip=client_ip(request))
    return _answer_user(request, account.pk, Context.RESOURCE_REPLACEMENT_RESPONSE)


@transaction.atomic
def _patch_user(request: HttpRequest, user_id: str) -> HttpResponse:
    account = _account(user_id, lock=True)
    user = to_user(account, _base(request))
    _require_match(request, user)
    before = user.model_copy(deep=True)
    follows = (user.user_name or "").lower() == account.email
    patch = PatchOp[User].model_validate(_body(request), scim_ctx=Context.RESOURCE_PATCH_REQUEST)
    patch.patch(user)
    if follows and user.user_name != before.user_name and user.emails == before.emails:
        # A directory that has one name for both tells only this one.
        user.emails = User.model_validate(_filled({"userName": user.user_name}, active=True)).emails
    save_user(user, account, ip=client_ip(request))
    return _answer_user(request, account.pk, Context.RESOURCE_PATCH_RESPONSE)


@transaction.atomic
def _delete_user(request: HttpRequest, user_id: str) -> HttpResponse:
    account = _account(user_id, lock=True)
    _require_match(request, to_user(account, _base(request)))
    delete_user(account, ip=client_ip(request))
    return HttpResponse(status=204)


def _query_groups(request: HttpRequest) -> HttpResponse:
    return json_answer(list_groups(_asked(request), _base(request)))


def _create_group(request: HttpRequest) -> HttpResponse:
    group = Group.model_validate(_body(request), scim_ctx=Context.RESOURCE_CREATION_REQUEST)
    row = save_group(group, None, ip=client_ip(request))
    return _answer_group(request, row.pk, Context.RESOURCE_CREATION_RESPONSE, status=201)


def _read_group(request: HttpRequest, group_id: str) -> HttpResponse:
    return _answer_group(request, group_id, Context.RESOURCE_QUERY_RESPONSE)


@transaction.atomic
def _replace_group(request: HttpRequest, group_id: str) -> HttpResponse:
    row = _group(group_id, lock=True)
    _require_match(request, to_group(row, _base(request)))
    group = Group.model_validate(_body(request), scim_ctx=Context.RESOURCE_REPLACEMENT_REQUEST)
    save_group(group, row, ip=client_ip(request))
    return _answer_group(request, row.pk, Context.RESOURCE_REPLACEMENT_RESPONSE)


@transaction.atomic
def _patch_group(request: HttpRequest, group_id: str) -> HttpResponse:
    row = _group(group_id, lock=True)
    group = to_group(row, _base(request))
    _require_match(request, group)
    patch = PatchOp[Group].model_validate(_body(request), scim_ctx=Context.RESOURCE_PATCH_REQUEST)
    patch.patch(group)
    save_group(group, row, ip=client_ip(request))
    return _answer_group(request, row.pk, Context.RESOURCE_PATCH_RESPONSE)


@transaction.atomic
def _delete_group(request: HttpRequest, group_id: str) -> HttpResponse:
    row = _group(group_id, lock=True)
    _require_match(request, to_group(row, _base(request)))
    delete_directory_group(row, ip=client_ip(request))
    return HttpResponse(status=204)


def _read_config(request: HttpRequest) -> HttpResponse:
    config = CONFIG.model_copy()
    place = f"{_base(request)}/ServiceProviderConfig"
    config.meta = Meta(resource_type="ServiceProviderConfig", location=place)
    return to_response(request, config, Context.RESOURCE_QUERY_RESPONSE)


def _list_schemas(request: HttpRequest) -> HttpResponse:
    return _list(request, Schema, SERVICE.schemas)


def _read_schema(request: HttpRequest, name: str) -> HttpResponse:
    return _one(request, SERVICE.schemas, name)


def _list_types(request: HttpRequest) -> HttpResponse:
    return _list(request, ResourceType, SERVICE.resource_types)


def _read_type(request: HttpRequest, name: str) -> HttpResponse:
    return _one(request, SERVICE.resource_types, name)


def _no_search(request: HttpRequest) -> HttpResponse:
    raise NotImplementedException(detail="Search one resource type at a time, with GET.")


def _nothing(request: HttpRequest, /, **_names: str) -> HttpResponse:
    raise NotFoundException(detail="There is no such address.")


users = scim_view(get=_query_users, post=_create_user)
user = scim_view(get=_read_user, put=_replace_user, patch=_patch_user, delete=_delete_user)
groups_view = scim_view(get=_query_groups, post=_create_group)
group = scim_view(get=_read_group, put=_replace_group, patch=_patch_group, delete=_delete_group)
config = scim_view(get=_read_config)
schemas = scim_view(get=_list_schemas)
schema = scim_view(get=_read_schema)
types = scim_view(get=_list_types)
type_ = scim_view(get=_read_type)
search = scim_view(post=_no_search)
nothing = scim_view(
    get=_nothing, post=_nothing, put=_nothing, patch=_nothing, delete=_nothing, head=_nothing
)


def _base(request: HttpRequest) -> str:
    return absolute_url(request, reverse("scim:users").removesuffix("/Users"))


def _asked(request: HttpRequest) -> dict[str, str]:
    asked = {name: str(value) for name, value in request.GET.items() if value}
    if len(asked.get("filter", "")) > MAX_FILTER_CHARS:
        raise InvalidFilterException(detail="The filter is too long.")
    return asked


def _body(request: HttpRequest) -> JsonObject:
    data = parse_json(request.body)
    if not isinstance(data, dict):
        raise InvalidSyntaxException(detail="Send a JSON object.")
    return {key: value for key, value in data.items() if key.lower() not in _READ_ONLY}


def _filled(data: JsonObject, *, active: bool) -> JsonObject:
    """Many directories have the address as the name and nowhere else, and say only who is gone."""
    names = {key.lower(): key for key in data}
    name = data.get(names.get("username", ""))
    filled: JsonObject = dict(data)
    if "active" not in names:
        filled["active"] = active
    if "emails" not in names and isinstance(name, str):
        filled["emails"] = [{"value": name, "primary": True}]
    return filled


def _account(user_id: str, *, lock: bool = False) -> Account:
    number = int(user_id) if user_id.isascii() and user_id.isdecimal() and len(user_id) < 19 else 0
    if not accounts().filter(pk=number).exists():
        raise NotFoundException(detail=f"User {user_id} not found")
    if lock:
        lock_account(number)
    return accounts().get(pk=number)


def _group(group_id: str, *, lock: bool = False) -> DirectoryGroup:
    rows = groups().select_for_update() if lock else groups()
    row = rows.filter(pk=group_id).first()
    if row is None:
        raise NotFoundException(detail=f"Group {group_id} not found")
    return row


def _answer_user(
    request: HttpRequest, user_id: int, context: Context, *, status: int = 200
) -> HttpResponse:
    found = to_user(accounts().get(pk=user_id), _base(request))
    return to_response(request, found, context, status=status)


def _answer_group(
    request: HttpRequest, group_id: str, context: Context, *, status: int = 200
) -> HttpResponse:
    found = to_group(_group(group_id), _base(request))
    return to_response(request, found, context, status=status)


def _require_match(request: HttpRequest, resource: Resource[Any]) -> None:
    wanted = request.headers.get("If-Match", "*")
    version = resource.meta.version if resource.meta else None
    if wanted != "*" and version not in [one.strip() for one in wanted.split(",")]:
        raise PreconditionFailedException(detail="It has changed since it was read.")


def _list(
    request: HttpRequest, model: type[Resource[Any]], found: Iterable[Resource[Any]]
) -> HttpResponse:
    if "filter" in request.GET:
        # Source: RFC 7644 4, which wants this for schemas and types.
        raise ForbiddenException(detail="This list takes no filter.")
    resources = [_placed(request, one) for one in found]
    answer = ListResponse[model](  # type: ignore[valid-type]
        total_results=len(resources),
        start_index=1,
        items_per_page=len(resources),
        resources=resources,
    )
    return json_answer(answer.model_dump(scim_ctx=Context.RESOURCE_QUERY_RESPONSE))


def _one(request: HttpRequest, found: Iterable[Resource[Any]], name: str) -> HttpResponse:
    for one in found:
        if str(one.id).lower() == name.lower():
            return to_response(request, _placed(request, one), Context.RESOURCE_QUERY_RESPONSE)
    raise NotFoundException(detail=f"{name} not found")


def _placed(request: HttpRequest, resource: Resource[Any]) -> Resource[Any]:
    kind = type(resource).__name__
    placed = resource.model_copy()
    placed.meta = Meta(resource_type=kind, location=f"{_base(request)}/{kind}s/{resource.id}")
    return placed
