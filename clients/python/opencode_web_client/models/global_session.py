from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.permission_rule import PermissionRule
    from ..models.project_of_session import ProjectOfSession
    from ..models.revert import Revert
    from ..models.session_model import SessionModel
    from ..models.times import Times
    from ..models.tokens import Tokens


T = TypeVar("T", bound="GlobalSession")


@_attrs_define
class GlobalSession:
    """
    Attributes:
        cost (float):
        directory (str):
        id (str):
        project (ProjectOfSession):
        project_id (str):
        slug (str):
        time (Times): Units: milliseconds since the epoch.
        title (str):
        tokens (Tokens): Units: tokens. `input` excludes the cache, `output` excludes reasoning.
        version (str):
        agent (str | Unset):
        model (SessionModel | Unset): The model of a session.
        parent_id (str | Unset):
        permission (list[PermissionRule] | Unset):
        revert (Revert | Unset): The message, or the part of it, from which on everything is rolled back.

            `snapshot` is the worktree before the rollback and `diff` what it changed in the files; both are
            absent when it changed none.
            Source: `Session.revert` of OpenCode's HTTP API.
    """

    cost: float
    directory: str
    id: str
    project: ProjectOfSession
    project_id: str
    slug: str
    time: Times
    title: str
    tokens: Tokens
    version: str
    agent: str | Unset = UNSET
    model: SessionModel | Unset = UNSET
    parent_id: str | Unset = UNSET
    permission: list[PermissionRule] | Unset = UNSET
    revert: Revert | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        cost = self.cost

        directory = self.directory

        id = self.id

        project = self.project.to_dict()

        project_id = self.project_id

        slug = self.slug

        time = self.time.to_dict()

        title = self.title

        tokens = self.tokens.to_dict()

        version = self.version

        agent = self.agent

        model: dict[str, Any] | Unset = UNSET
        if not isinstance(self.model, Unset):
            model = self.model.to_dict()

        parent_id = self.parent_id

        permission: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.permission, Unset):
            permission = []
            for permission_item_data in self.permission:
                permission_item = permission_item_data.to_dict()
                permission.append(permission_item)

        revert: dict[str, Any] | Unset = UNSET
        if not isinstance(self.revert, Unset):
            revert = self.revert.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "cost": cost,
                "directory": directory,
                "id": id,
                "project": project,
                "projectID": project_id,
                "slug": slug,
                "time": time,
                "title": title,
                "tokens": tokens,
                "version": version,
            }
        )
        if agent is not UNSET:
            field_dict["agent"] = agent
        if model is not UNSET:
            field_dict["model"] = model
        if parent_id is not UNSET:
            field_dict["parentID"] = parent_id
        if permission is not UNSET:
            field_dict["permission"] = permission
        if revert is not UNSET:
            field_dict["revert"] = revert

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.permission_rule import PermissionRule
        from ..models.project_of_session import ProjectOfSession
        from ..models.revert import Revert
        from ..models.session_model import SessionModel
        from ..models.times import Times
        from ..models.tokens import Tokens

        d = dict(src_dict)
        cost = d.pop("cost")

        directory = d.pop("directory")

        id = d.pop("id")

        project = ProjectOfSession.from_dict(d.pop("project"))

        project_id = d.pop("projectID")

        slug = d.pop("slug")

        time = Times.from_dict(d.pop("time"))

        title = d.pop("title")

        tokens = Tokens.from_dict(d.pop("tokens"))

        version = d.pop("version")

        agent = d.pop("agent", UNSET)

        _model = d.pop("model", UNSET)
        model: SessionModel | Unset
        if isinstance(_model, Unset):
            model = UNSET
        else:
            model = SessionModel.from_dict(_model)

        parent_id = d.pop("parentID", UNSET)

        _permission = d.pop("permission", UNSET)
        permission: list[PermissionRule] | Unset = UNSET
        if _permission is not UNSET:
            permission = []
            for permission_item_data in _permission:
                permission_item = PermissionRule.from_dict(permission_item_data)

                permission.append(permission_item)

        _revert = d.pop("revert", UNSET)
        revert: Revert | Unset
        if isinstance(_revert, Unset):
            revert = UNSET
        else:
            revert = Revert.from_dict(_revert)

        global_session = cls(
            cost=cost,
            directory=directory,
            id=id,
            project=project,
            project_id=project_id,
            slug=slug,
            time=time,
            title=title,
            tokens=tokens,
            version=version,
            agent=agent,
            model=model,
            parent_id=parent_id,
            permission=permission,
            revert=revert,
        )

        global_session.additional_properties = d
        return global_session

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
