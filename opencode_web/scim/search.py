"""Filters and pages. What directories ask for all the time is asked of the database."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from django.db.models import Model, Q, QuerySet
from scim2_models import Context, ListResponse, SearchRequest
from scim2_models.path import CompareOperator, Comparison, FilterNode, LogicalExpr, LogicalOperator

from opencode_web.lib.json import JsonObject
from opencode_web.scim.shapes import MAX_RESULTS, Group, User
from opencode_web.scim.store import accounts, groups, to_group, to_user

_Row = TypeVar("_Row", bound=Model)
Narrow = Callable[[str], Q]
_USERS: dict[str, Narrow] = {
    "username": lambda text: (
        Q(directory__user_name=text.lower()) | Q(directory=None, email__iexact=text)
    ),
    "externalid": lambda text: Q(directory__external_id=text),
    "emails": lambda text: Q(email__iexact=text) | Q(directory__isnull=False),
    "id": lambda text: Q(pk=int(text) if text.isdecimal() and len(text) < 19 else 0),
}
_GROUPS: dict[str, Narrow] = {
    "displayname": lambda text: Q(name__iexact=text),
    "externalid": lambda text: Q(external_id=text),
    "id": lambda text: Q(pk=text),
}


def list_users(asked: dict[str, str], base: str) -> JsonObject:
    """Returns: the accounts that match. Raises: ValidationError and SCIMException for a filter."""
    request = SearchRequest[User].model_validate(asked, scim_ctx=Context.SEARCH_REQUEST)
    return _found(request, accounts(), _USERS, lambda row: to_user(row, base), User)


def list_groups(asked: dict[str, str], base: str) -> JsonObject:
    """Returns: the groups that match. Raises: as `list_users`."""
    request = SearchRequest[Group].model_validate(asked, scim_ctx=Context.SEARCH_REQUEST)
    return _found(request, groups(), _GROUPS, lambda row: to_group(row, base), Group)


def _found(
    request: SearchRequest[Any],
    rows: QuerySet[_Row],
    narrow: dict[str, Narrow],
    to_resource: Callable[[_Row], Any],
    model: type[User] | type[Group],
) -> JsonObject:
    start = request.start_index_0 or 0
    count = min(MAX_RESULTS if request.count is None else request.count, MAX_RESULTS)
    if request.filter:
        wanted = request.filter
        some = rows.filter(_narrowed(wanted.ast, narrow))
        found = [one for row in some if wanted.match(one := to_resource(row))]
        total, page = len(found), found[start : start + count]
    else:
        total = rows.count()
        page = [to_resource(row) for row in rows[start : start + count]]
    answer = ListResponse[model](  # type: ignore[valid-type]
        total_results=total, start_index=start + 1, items_per_page=len(page), resources=page
    )
    return answer.model_dump(scim_ctx=Context.RESOURCE_QUERY_RESPONSE, response_parameters=request)


def _narrowed(node: FilterNode, narrow: dict[str, Narrow]) -> Q:
    """Returns: a condition that everything fulfils that the filter matches."""
    match node:
        case Comparison(op=CompareOperator.eq, value=str(text)):
            build = narrow.get(node.attr_path.attr.lower())
            return build(text) if build else Q()
        case LogicalExpr(op=LogicalOperator.and_):
            found = Q()
            for term in node.terms:
                found &= _narrowed(term, narrow)
            return found
    return Q()
