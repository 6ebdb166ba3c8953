"""The rows of people: their accounts, members of teams, and the directory that speaks SCIM."""

from __future__ import annotations

from teams.models import Role, Team, TeamGroup, User
from tests.architecture.access_table import Codes, Row
from tests.architecture.page_table import EACH, OPERATORS
from tests.factories import add_member, make_invite, make_user

API_ADMIN: Codes = (200, 200, 403, 403, 404, 401)
_OF = "?team=acme"
# Of the directory, which has a token of its own: nobody of a team.
NO_TOKEN: Codes = (401, 401, 401, 401, 401, 401)
_SCIM = {
    "/Users": ("get", "post"),
    "/Users/<str:user_id>": ("get", "put", "patch", "delete"),
    "/Groups": ("get", "post"),
    "/Groups/<str:group_id>": ("get", "put", "patch", "delete"),
    **dict.fromkeys(("/ServiceProviderConfig", "/Schemas", "/Schemas/<str:name>"), ("get",)),
    **dict.fromkeys(("/ResourceTypes", "/ResourceTypes/<str:name>"), ("get",)),
    "/.search": ("post",),
}

PAGES = [
    *(
        Row("get", f"ops/{page}", OPERATORS)
        for page in ("people", "people/<int:person>", "directory")
    ),
    *(
        Row("post", f"ops/{page}", OPERATORS, {"reason": "x"})
        for page in (
            *("people/teams", "people/<int:person>/reset", "people/<int:person>/<slug:act>"),
            *("people/<int:person>/teams/<str:team>", "directory", "directory/rules"),
            *("directory/rules/<int:rule>", "directory/tokens/<int:credential>"),
        )
    ),
    Row("get", "me/data", EACH),
    Row("get", "me/data.json", EACH),
    *(
        Row(method, f"scim/v2{path}", NO_TOKEN)
        for path, methods in _SCIM.items()
        for method in methods
    ),
]

API = [
    Row("get", "member", (200, 200, 200, 200, 404, 401), query=_OF),
    Row("patch", "member/<member_id>", API_ADMIN, {"approver": True}, query=_OF),
    Row("delete", "member/<member_id>", API_ADMIN, query=_OF),
    Row("get", "invitation", API_ADMIN, query=_OF),
    Row("post", "invitation", API_ADMIN, {"role": "viewer"}, query=_OF),
    Row("delete", "invitation/<invitation_id>", API_ADMIN, query=_OF),
    Row("get", "group", API_ADMIN, query=_OF),
    Row("post", "group", API_ADMIN, {"name": "Contractors"}, query=_OF),
    Row("patch", "group/<group_id>", API_ADMIN, {"approver": True}, query=_OF),
    Row("delete", "group/<group_id>", API_ADMIN, query=_OF),
    Row("put", "group/<group_id>/member/<member_id>", API_ADMIN, query=_OF),
    Row("delete", "group/<group_id>/member/<member_id>", API_ADMIN, query=_OF),
    Row("get", "project/<project_id>/access", API_ADMIN),
    Row("put", "project/<project_id>/access", API_ADMIN, {"restricted": True}),
    Row(
        "put",
        "project/<project_id>/access/member",
        API_ADMIN,
        {"group": "{group_id}", "role": "viewer"},
    ),
    Row("put", "session/<session_id>/privacy", API_ADMIN, {"private": True}),
]


def make_people(owner: User, team: Team) -> dict[str, str]:
    """What the routes of these rows name."""
    other = make_user("olga@example.com")
    invite, _ = make_invite(owner, team)
    return {
        "person": str(other.pk),
        "member_id": str(add_member(team, other, Role.MEMBER).pk),
        "invitation_id": invite.pk,
        "user_id": "0",
        "group_id": TeamGroup.objects.create(team=team, name="Reviewers").pk,
    }
