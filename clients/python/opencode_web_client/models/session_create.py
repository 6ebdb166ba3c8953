from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.permission_rule import PermissionRule
    from ..models.session_create_metadata_type_0 import SessionCreateMetadataType0
    from ..models.session_model import SessionModel


T = TypeVar("T", bound="SessionCreate")


@_attrs_define
class SessionCreate:
    """All optional: without a title one is made from the first prompt.

    `worktree` and `branch` are this server's own: whether the session works in a git worktree and
    branch of its own, and the branch of the project that it starts from.

        Attributes:
            agent (None | str | Unset):
            branch (str | Unset):  Default: ''.
            metadata (None | SessionCreateMetadataType0 | Unset):
            model (None | SessionModel | Unset):
            parent_id (None | str | Unset):
            permission (list[PermissionRule] | Unset):
            title (None | str | Unset):
            worktree (bool | None | Unset):
    """

    agent: None | str | Unset = UNSET
    branch: str | Unset = ""
    metadata: None | SessionCreateMetadataType0 | Unset = UNSET
    model: None | SessionModel | Unset = UNSET
    parent_id: None | str | Unset = UNSET
    permission: list[PermissionRule] | Unset = UNSET
    title: None | str | Unset = UNSET
    worktree: bool | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.session_create_metadata_type_0 import SessionCreateMetadataType0
        from ..models.session_model import SessionModel

        agent: None | str | Unset
        if isinstance(self.agent, Unset):
            agent = UNSET
        else:
            agent = self.agent

        branch = self.branch

        metadata: dict[str, Any] | None | Unset
        if isinstance(self.metadata, Unset):
            metadata = UNSET
        elif isinstance(self.metadata, SessionCreateMetadataType0):
            metadata = self.metadata.to_dict()
        else:
            metadata = self.metadata

        model: dict[str, Any] | None | Unset
        if isinstance(self.model, Unset):
            model = UNSET
        elif isinstance(self.model, SessionModel):
            model = self.model.to_dict()
        else:
            model = self.model

        parent_id: None | str | Unset
        if isinstance(self.parent_id, Unset):
            parent_id = UNSET
        else:
            parent_id = self.parent_id

        permission: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.permission, Unset):
            permission = []
            for permission_item_data in self.permission:
                permission_item = permission_item_data.to_dict()
                permission.append(permission_item)

        title: None | str | Unset
        if isinstance(self.title, Unset):
            title = UNSET
        else:
            title = self.title

        worktree: bool | None | Unset
        if isinstance(self.worktree, Unset):
            worktree = UNSET
        else:
            worktree = self.worktree

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if agent is not UNSET:
            field_dict["agent"] = agent
        if branch is not UNSET:
            field_dict["branch"] = branch
        if metadata is not UNSET:
            field_dict["metadata"] = metadata
        if model is not UNSET:
            field_dict["model"] = model
        if parent_id is not UNSET:
            field_dict["parentID"] = parent_id
        if permission is not UNSET:
            field_dict["permission"] = permission
        if title is not UNSET:
            field_dict["title"] = title
        if worktree is not UNSET:
            field_dict["worktree"] = worktree

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.permission_rule import PermissionRule
        from ..models.session_create_metadata_type_0 import SessionCreateMetadataType0
        from ..models.session_model import SessionModel

        d = dict(src_dict)

        def _parse_agent(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        agent = _parse_agent(d.pop("agent", UNSET))

        branch = d.pop("branch", UNSET)

        def _parse_metadata(data: object) -> None | SessionCreateMetadataType0 | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                metadata_type_0 = SessionCreateMetadataType0.from_dict(data)

                return metadata_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | SessionCreateMetadataType0 | Unset, data)

        metadata = _parse_metadata(d.pop("metadata", UNSET))

        def _parse_model(data: object) -> None | SessionModel | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                model_type_0 = SessionModel.from_dict(data)

                return model_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | SessionModel | Unset, data)

        model = _parse_model(d.pop("model", UNSET))

        def _parse_parent_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        parent_id = _parse_parent_id(d.pop("parentID", UNSET))

        _permission = d.pop("permission", UNSET)
        permission: list[PermissionRule] | Unset = UNSET
        if _permission is not UNSET:
            permission = []
            for permission_item_data in _permission:
                permission_item = PermissionRule.from_dict(permission_item_data)

                permission.append(permission_item)

        def _parse_title(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        title = _parse_title(d.pop("title", UNSET))

        def _parse_worktree(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        worktree = _parse_worktree(d.pop("worktree", UNSET))

        session_create = cls(
            agent=agent,
            branch=branch,
            metadata=metadata,
            model=model,
            parent_id=parent_id,
            permission=permission,
            title=title,
            worktree=worktree,
        )

        session_create.additional_properties = d
        return session_create

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
