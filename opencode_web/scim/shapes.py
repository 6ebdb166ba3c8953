"""The part of SCIM's core schemas that is kept here; the rest that is sent is dropped."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field
from scim2_models import (
    URN,
    AuthenticationScheme,
    Bulk,
    CaseExact,
    ChangePassword,
    ComplexAttribute,
    ETag,
    Filter,
    Mutability,
    Patch,
    Reference,
    Required,
    Resource,
    ScimPolicy,
    ScimProvider,
    ServiceProviderConfig,
    Sort,
    Uniqueness,
)

MAX_RESULTS = 200
# As Okta, Entra and others send it.
POLICY = ScimPolicy(
    unknown=ScimPolicy.Unknown.ignore,
    remove_value_as_filter=ScimPolicy.RemoveValue.apply,
    unmatched_path_filter=ScimPolicy.UnmatchedPathFilter.create,
)


class PersonName(ComplexAttribute):
    """The parts of a name."""

    formatted: str | None = Field(None, max_length=255)
    given_name: str | None = Field(None, max_length=120)
    family_name: str | None = Field(None, max_length=120)


class Address(ComplexAttribute):
    """An e-mail address."""

    value: Annotated[str | None, Required.true] = Field(None, max_length=254)
    type: str | None = Field(None, max_length=40)
    primary: bool | None = None


class InGroup(ComplexAttribute):
    """A group that somebody is in."""

    value: Annotated[str | None, Mutability.read_only, CaseExact.true] = None
    display: Annotated[str | None, Mutability.read_only] = None


class User(Resource[Any]):
    """An account of a person."""

    __schema__ = URN("urn:ietf:params:scim:schemas:core:2.0:User")

    external_id: Annotated[str | None, CaseExact.true] = Field(None, max_length=255)
    user_name: Annotated[str | None, Uniqueness.server, Required.true] = Field(None, max_length=255)
    name: PersonName | None = None
    display_name: str | None = Field(None, max_length=255)
    # Both are filled in where a directory leaves them out, and cannot be removed.
    active: Annotated[bool | None, Required.true] = None
    emails: Annotated[list[Address] | None, Required.true] = Field(None, max_length=20)
    groups: Annotated[list[InGroup] | None, Mutability.read_only] = None


class Member(ComplexAttribute):
    """Somebody in a group."""

    value: Annotated[str | None, Mutability.immutable, CaseExact.true] = Field(None, max_length=40)
    ref: Annotated[Reference[User] | None, Mutability.immutable] = Field(
        None, serialization_alias="$ref", validation_alias="$ref"
    )


class Group(Resource[Any]):
    """A group of people."""

    __schema__ = URN("urn:ietf:params:scim:schemas:core:2.0:Group")

    external_id: Annotated[str | None, CaseExact.true] = Field(None, max_length=255)
    display_name: Annotated[str | None, Required.true] = Field(None, max_length=255)
    members: list[Member] | None = Field(None, max_length=20_000)


CONFIG = ServiceProviderConfig(
    patch=Patch(supported=True),
    bulk=Bulk(supported=False, max_operations=0, max_payload_size=0),
    filter=Filter(supported=True, max_results=MAX_RESULTS),
    change_password=ChangePassword(supported=False),
    sort=Sort(supported=False),
    etag=ETag(supported=True),
    authentication_schemes=[
        AuthenticationScheme(
            type=AuthenticationScheme.Type.oauthbearertoken,
            name="Bearer token",
            description="A SCIM token that an operator has made, in the Authorization header.",
            primary=True,
        )
    ],
)
SERVICE = ScimProvider(models=[User, Group], config=CONFIG, policy=POLICY)
